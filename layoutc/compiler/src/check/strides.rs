//! Suggestions for strides with which elements overlap: injective strides, in the notation of the manifest's text.

use layoutc_algebra::expr::Expr;
use layoutc_algebra::notation::Notation;
use layoutc_algebra::symbol::Axis;

use crate::base::diagnostic::{FileSpan, Fix};
use crate::manifest::syntax::IntegerExpr;

/// Strides that a layout gives explicitly, with corrections that diagnostics suggest.
#[derive(Debug, Clone)]
pub(super) struct StrideSource {
    /// Span of the strides in the manifest.
    pub(super) place: FileSpan,
    /// Suggestion of injective strides, as a pair (text, edit): their text in the notation of the given strides, and
    /// the edit that replaces the given strides by them, `None` if no edit can be applied. The whole is `None` if there
    /// is no suggestion, for example for symbolic strides, or if it cannot be written in their notation.
    pub(super) apart: Option<(String, Option<Fix>)>,
    /// Text of a `strides` step with the strides in elements, if the given strides look like byte strides: they are
    /// dense when they are counted in bytes. `None` for all other strides.
    pub(super) bytes: Option<String>,
}

impl StrideSource {
    /// Creates the source for a `strides` step at `place`. `bounds` are the numbers of the step, which the suggested
    /// edit replaces. `strides` are the injective strides to suggest, in elements; `None` for no suggestion.
    pub(super) fn step(
        place: FileSpan,
        bounds: &[IntegerExpr],
        strides: Option<Vec<i128>>,
    ) -> Self {
        let apart = strides.map(|strides| {
            let written = joined(&strides, " ");
            let spans: Vec<_> = bounds.iter().map(IntegerExpr::span).collect();
            // Adjacent strides are one space apart; otherwise the edit could remove a comment between them.
            let is_plain = spans.windows(2).all(|pair| pair[0].end + 1 == pair[1].start)
                && bounds.iter().all(|bound| matches!(bound, IntegerExpr::Integer(_)));
            let ends = spans.first().zip(spans.last()).filter(|_| is_plain);
            let fix = ends.map(|(first, last)| Fix {
                place: FileSpan::new(&place.file, first.start..last.end),
                text: written.clone(),
            });
            (format!("strides {written}"), fix)
        });
        Self { place, apart, bytes: None }
    }

    /// Creates the source for a text with strides in a foreign notation at `place`. `strides` are the injective strides
    /// to suggest, in elements; `None` for no suggestion. Only texts of MLIR, mdspan and `NumPy` get one. That of
    /// `NumPy` is in bytes; there is none if a stride of elements of `element_bits` bits is no whole number of bytes.
    pub(super) fn foreign(
        notation: Notation,
        place: FileSpan,
        strides: Option<Vec<i128>>,
        element_bits: u32,
    ) -> Self {
        let written = strides.and_then(|strides| match notation {
            Notation::Mlir => Some(format!("strided<[{}]>", joined(&strides, ", "))),
            Notation::Mdspan => Some(format!("layout_stride<{}>", joined(&strides, ", "))),
            Notation::Numpy => {
                let bytes = |stride: &i128| {
                    let bits = stride.checked_mul(i128::from(element_bits))?;
                    (bits % 8 == 0).then_some(bits / 8)
                };
                let bytes: Vec<i128> = strides.iter().map(bytes).collect::<Option<_>>()?;
                let comma = if bytes.len() == 1 { "," } else { "" };
                Some(format!("({}{comma})", joined(&bytes, ", ")))
            }
            _ => None,
        });
        let apart = written.map(|text| {
            let fix = Fix { place: place.clone(), text: text.clone() };
            (text, Some(fix))
        });
        Self { place, apart, bytes: None }
    }
}

/// Text `strides 4 1` of a step with strides in elements, if `strides`, one for each of `axes`, are dense when they are
/// counted in bytes. `None` for any other strides, for symbolic ones, and for elements that have fewer than 2 bytes or
/// a fractional number of bytes.
pub(super) fn strides_of_bytes(
    axes: &[Axis],
    strides: &[Expr],
    element_bits: u32,
) -> Option<String> {
    let bytes = i128::from(element_bits / 8);
    if !element_bits.is_multiple_of(8) || bytes < 2 || axes.len() != strides.len() {
        return None;
    }
    let mut rows = Vec::new();
    let mut elements = Vec::new();
    for (axis, stride) in axes.iter().zip(strides) {
        let (extent, stride) = (axis.extent.as_const()?, stride.as_const()?);
        if stride < 1 || stride % bytes != 0 {
            return None;
        }
        rows.push((stride / bytes, extent));
        elements.push(stride / bytes);
    }
    rows.sort_unstable();
    let dense = rows.iter().try_fold(1_i128, |reach, (stride, extent)| {
        if *stride == reach { reach.checked_mul(*extent) } else { None }
    });
    dense.map(|_| format!("strides {}", joined(&elements, " ")))
}

fn joined(numbers: &[i128], between: &str) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

/// Injective strides close to `strides`, in elements, one for each of `axes`: each exceeds the largest offset reached
/// with the smaller ones, except along axes of extent 0 or 1, whose strides are not changed. `None` if `strides` have
/// this property already, if a stride or extent is symbolic, or if a result exceeds 64 bits.
pub(super) fn injective_strides(axes: &[Axis], strides: &[Expr]) -> Option<Vec<i128>> {
    let extents: Option<Vec<i128>> = axes.iter().map(|axis| axis.extent.as_const()).collect();
    let given: Option<Vec<i128>> = strides.iter().map(Expr::as_const).collect();
    let (extents, given) = (extents?, given?);
    let mut order: Vec<usize> = (0..given.len().min(extents.len())).collect();
    // Zero strides come last; of equal strides the later axis is the minor one.
    order.sort_by_key(|&k| (given[k] == 0, given[k], std::cmp::Reverse(k)));
    let mut found = given.clone();
    let mut reach = 0_i128;
    for k in order {
        if extents[k] > 1 {
            found[k] = given[k].max(reach.checked_add(1)?);
            reach = reach.checked_add(found[k].checked_mul(extents[k] - 1)?)?;
        }
    }
    let most = found.iter().all(|stride| i64::try_from(*stride).is_ok());
    (found != given && most).then_some(found)
}
