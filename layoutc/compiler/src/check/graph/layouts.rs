//! Checks and proofs of graph tensors in their candidate layouts, as for tensors of the manifest. Results are cached by
//! shape and layout text.

use std::collections::BTreeMap;

use layoutc_algebra::layout::Layout;
use layoutc_algebra::notation::{Notation, glow};
use layoutc_algebra::query::equivalence::{LayoutEquivalence, compare};

use super::tensor_types::{GraphTensorType, StaticAxis};
use crate::base::diagnostic::CheckResult;
use crate::check::tensor::{self, ManifestContext};
use crate::env::executor::RayonExecutor;
use crate::manifest::syntax::{
    Extent, GraphTensorItem, IntegerExpr, LayoutItem, SpannedText, StepItem, StepKind, TensorItem,
};
use crate::model::graph::{Compatibility, LayoutCandidate};
use crate::model::{Fill, Tensor, TensorSpans};

/// Text of the row-major layout without padding.
pub(super) const ROW_MAJOR: &str = "row-major";

/// Cache of two kinds of results: `made` has checked tensors, by (shape, layout text); `fits` has comparisons of
/// layouts, by (shape, layout text, text of the required layout).
pub(super) struct LayoutCache<'a> {
    place: ManifestContext<'a>,
    made: BTreeMap<(String, String), Tensor>,
    fits: BTreeMap<(String, String, String), Compatibility>,
}

impl<'a> LayoutCache<'a> {
    pub(super) fn new(place: ManifestContext<'a>) -> Self {
        Self { place, made: BTreeMap::new(), fits: BTreeMap::new() }
    }

    /// Checked tensor `item` in the layout `text`. All spans of the result are that of `text`, taken as a span in the
    /// manifest of the graph.
    ///
    /// # Errors
    /// Faults of the tensor's element type, of its shape, or of the layout.
    pub(super) fn tensor(
        &mut self,
        item: &GraphTensorItem,
        text: &SpannedText,
    ) -> CheckResult<Tensor> {
        let key = (shape(item), text.value.clone());
        let made = match self.made.get(&key) {
            Some(made) => made.clone(),
            // Faults are not cached, as they are reported for each tensor.
            None => tensor::check(&as_tensor(item, text), self.place)?.tensor,
        };
        self.made.insert(key, made.clone());
        let places = self
            .place
            .files
            .syntax(self.place.file)
            .map(|syntax| TensorSpans::at(&text.at(&syntax.file)));
        let places = places.unwrap_or_else(|| made.places.clone());
        Ok(Tensor { name: item.name.value.clone(), places, ..made })
    }

    /// Axes, element type and name of the tensor `item`; `None` if the tensor is invalid or has a symbolic extent.
    pub(super) fn known(&mut self, item: &GraphTensorItem) -> Option<GraphTensorType> {
        let span = item.name.span.clone();
        let text = SpannedText { value: ROW_MAJOR.to_owned(), span, quoted: false };
        let tensor = self.tensor(item, &text).ok()?;
        let axis = |axis: &layoutc_algebra::symbol::Axis| {
            Some(StaticAxis { name: axis.name.clone(), extent: axis.extent.as_const()? })
        };
        let axes = tensor.layout.logical().iter().map(axis).collect::<Option<Vec<_>>>()?;
        Some(GraphTensorType { name: item.name.value.clone(), axes, dtype: tensor.dtype })
    }

    /// Compatibility of the layout `has` of the tensor `item` with the layout `required`, which a reader of the tensor
    /// requires. Computed once for each shape and pair of layout texts.
    pub(super) fn fit(
        &mut self,
        item: &GraphTensorItem,
        has: &LayoutCandidate,
        required: &LayoutCandidate,
    ) -> Compatibility {
        let key = (shape(item), has.text.clone(), required.text.clone());
        if let Some(fit) = self.fits.get(&key) {
            return *fit;
        }
        let fit = self.compared(has, required, &required.tensor.layout);
        self.fits.insert(key, fit);
        fit
    }

    /// True if a transposition needs no copy, so that its result may use the buffer of its operand. `has` is the layout
    /// of the operand, `given` that of the result. Axis `p` of the operand is axis `place[p]` of the result. `text` is
    /// the text of `has`, translated to the axes of the result; `None` if it cannot be translated. If `given` is
    /// opaque, its text must equal `text`; otherwise `text` is not used.
    pub(super) fn is_alias(
        &self,
        has: &LayoutCandidate,
        given: &LayoutCandidate,
        place: &[usize],
        text: Option<&str>,
    ) -> bool {
        if given.is_opaque() {
            return text == Some(given.text.as_str());
        }
        let layout = given.tensor.layout.permuted(place);
        layout.is_ok_and(|layout| self.holds(has, given, &layout))
    }

    /// Compatibility of the layout `has` with the layout `required`, whose checked index map is `layout`. Equal texts
    /// are always compatible.
    fn compared(
        &self,
        has: &LayoutCandidate,
        required: &LayoutCandidate,
        layout: &Layout,
    ) -> Compatibility {
        if has.text == required.text {
            return Compatibility::Satisfied;
        }
        if !self.holds(has, required, layout) {
            return Compatibility::Differs;
        }
        match has.glow_satisfaction(required) {
            Some(glow::Satisfaction::Unknown(_)) => Compatibility::Unknown,
            Some(glow::Satisfaction::Satisfied) => Compatibility::Satisfied,
            _ if required.is_opaque() => Compatibility::Differs,
            _ => Compatibility::Satisfied,
        }
    }

    /// True if a buffer in the layout `has` can be read as `layout`, the map of `required`: every element is at the
    /// same offset, sub-byte elements have the same order in a byte, the buffer is large enough and sufficiently
    /// aligned, and its padding has the required fill value.
    fn holds(&self, has: &LayoutCandidate, required: &LayoutCandidate, layout: &Layout) -> bool {
        let (own, other) = (&has.tensor, &required.tensor);
        let slots = |layout: &Layout| layout.physical_elements().as_const();
        let sizes = slots(&own.layout).zip(slots(layout));
        let is_large_enough = sizes.is_some_and(|(has, required)| has >= required);
        let is_full = slots(layout) == layout.logical_elements().as_const();
        let is_filled = is_full || other.fill == Fill::Nothing || own.fill == other.fill;
        let is_aligned = own.layout.alignment_bytes() >= layout.alignment_bytes();
        is_large_enough
            && is_filled
            && is_aligned
            && own.high_first == other.high_first
            && matches!(
                compare(&own.layout, layout, &RayonExecutor(self.place.memo)),
                Ok(LayoutEquivalence::Same { .. })
            )
    }
}

/// Cache key of a tensor's shape: the element type and the axes with their extents, `f32;N 1;C 16`.
fn shape(item: &GraphTensorItem) -> String {
    let mut key = item.dtype.value.clone();
    for axis in &item.shape.axes {
        let extent = match &axis.extent {
            Extent::Bound(IntegerExpr::Integer(number)) => number.value.to_string(),
            Extent::Bound(IntegerExpr::Text(text)) => format!("`{}`", text.value),
            Extent::Labels(labels) => labels.len().to_string(),
            Extent::Fields => "?".to_owned(),
        };
        key.push_str(&format!(";{} {extent}", axis.name.value));
    }
    key
}

/// Manifest item that declares the graph tensor `item` with the layout `text`.
fn as_tensor(item: &GraphTensorItem, text: &SpannedText) -> TensorItem {
    let (notation, start) = notation(&text.value);
    let span = text.span.start + start..text.span.end;
    let value = text.value.get(start..).unwrap_or_default().to_owned();
    let kind = StepKind::Notation {
        notation,
        text: SpannedText { value, span, quoted: text.quoted },
        sizes: Vec::new(),
    };
    let step = StepItem { kind, span: text.span.clone(), name_span: text.span.clone() };
    let layout = LayoutItem { steps: vec![step], span: text.span.clone() };
    TensorItem {
        shape: Some(item.shape.clone()),
        layout: (text.value != ROW_MAJOR).then_some(layout),
        ..TensorItem::new(item.name.clone(), item.dtype.clone(), item.span.clone())
    }
}

/// Notation of a layout text, and the byte offset of the layout in it. A prefix as in `onednn:aBcd16b` selects the
/// notation; text without blocks, or with brackets, is Glow's; blocks with upper-case outer axes are TVM's (`NCHW16c`),
/// other blocks are oneDNN's (`nChw16c`).
pub(super) fn notation(text: &str) -> (Notation, usize) {
    let explicit =
        text.split_once(':').and_then(|(word, _)| Some((Notation::of(word)?, word.len() + 1)));
    if let Some(explicit) = explicit {
        return explicit;
    }
    let is_blocked = !text.contains('[') && text.bytes().any(|b| b.is_ascii_digit());
    if !is_blocked {
        return (Notation::Glow, 0);
    }
    // A letter that does not follow a digit is an outer axis.
    let mut digit = false;
    let is_lower = text.bytes().any(|b| {
        let outer = b.is_ascii_lowercase() && !digit;
        digit = b.is_ascii_digit();
        outer
    });
    (if is_lower { Notation::Onednn } else { Notation::Tvm }, 0)
}

/// True if a layout text accepts every layout of its rank: `****` for rank 4.
pub(super) fn is_any(text: &str) -> bool {
    let parsed = glow::parse(text);
    let any = |dim: &glow::GlowAxis| dim.is_any() && dim.extensions().is_empty();
    parsed.is_ok_and(|layout| layout.rank() > 0 && layout.dims().iter().all(any))
}

/// Glow layout that a text describes; `None` for `row-major`, for other notations, and for invalid text.
pub(super) fn string(text: &str) -> Option<glow::GlowLayout> {
    let (notation, start) = notation(text);
    let text = text.get(start..).filter(|_| notation == Notation::Glow && text != ROW_MAJOR)?;
    glow::parse(text).ok()
}
