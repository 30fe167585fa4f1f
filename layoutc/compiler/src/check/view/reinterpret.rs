//! Reinterpretations: views with another shape and layout of the base's bytes. All physical extents but the last must
//! be those of the base.

use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::{Axis, Symbol};

use super::{CheckedView, ViewBase};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic};
use crate::check::faults::counted;
use crate::check::tensor::{self, ManifestContext};
use crate::manifest::syntax::{LayoutItem, SpannedText, StepItem, StepKind, TensorItem, ViewItem};
use crate::model::layout_names;
use crate::model::{MemoryOwner, Tensor, View, ViewKind};

/// Tensor item with the texts of the view `item`. The map of a window becomes a layout. The element type is that of the
/// view, or of the base `seen` if the view gives none.
pub(super) fn as_tensor(item: &ViewItem, seen: &Tensor) -> TensorItem {
    let same =
        SpannedText { value: seen.dtype.to_string(), span: item.of.span.clone(), quoted: false };
    let map = item.map.as_ref().map(|map| {
        let (span, name_span) = (map.span.clone(), map.span.clone());
        let steps =
            vec![StepItem { kind: StepKind::Map(map.clone()), span: span.clone(), name_span }];
        LayoutItem { steps, span }
    });
    let dtype = item.dtype.clone().unwrap_or(same);
    TensorItem {
        shape: item.shape.clone(),
        layout: map.or_else(|| item.layout.clone()),
        ..TensorItem::new(item.name.clone(), dtype, item.span.clone())
    }
}

/// Copy of `tensor_item` with `axes` as its shape. Their extents are over the symbols of the base `seen`.
pub(super) fn with_axes(tensor_item: TensorItem, axes: &[Axis], seen: ViewBase<'_>) -> TensorItem {
    let symbols = seen.builder.facts().symbols();
    let shape = tensor::shape_item(axes, symbols, &tensor_item.name.span);
    TensorItem { shape: Some(shape), ..tensor_item }
}

/// Checks the reinterpretation `item` of the base `seen`, and returns the view with its warnings. `tensor_item` is
/// `item` in the form of a tensor, see [`as_tensor`].
pub(super) fn view(
    tensor_item: &TensorItem,
    place: ManifestContext<'_>,
    item: &ViewItem,
    seen: ViewBase<'_>,
) -> CheckResult<(CheckedView, Vec<Diagnostic>)> {
    let mut checked = tensor::check(tensor_item, place)?;
    checked.record_steps(place.recorder);
    let tensor::CheckedTensor { tensor, builder, warnings, .. } = checked;
    covers(&tensor, seen.tensor)?;
    let affine = tensor.layout.affine().unwrap_or(None);
    let tensor = Tensor {
        owner: Some(MemoryOwner::of(seen.tensor, &tensor.layout)),
        memory: seen.tensor.memory,
        space: seen.tensor.space.clone(),
        targets: seen.tensor.targets.clone(),
        high_first: seen.tensor.high_first,
        layout: tensor.layout.at_base(seen.tensor.layout.alignment_bytes()),
        ..tensor
    };
    let view = View {
        tensor,
        of: seen.of,
        of_name: item.of.value.clone(),
        buffer: seen.buffer,
        seeing: ViewKind::Reinterpret,
        affine,
    };
    Ok((CheckedView { view, builder, depth: seen.depth.saturating_add(1) }, warnings))
}

/// Checks that a view provably has as many bytes as its base `seen`, as many physical axes, and the same physical
/// extents except the last.
fn covers(view: &Tensor, seen: &Tensor) -> CheckResult<()> {
    let (own, other) = (&view.layout, &seen.layout);
    let refused = |message: String, notes: [String; 2], help: String| {
        let [first, second] = notes;
        let error = Diagnostic::error(Code::ShapeView, message, view.places.layout.clone(), "");
        Err(vec![error.note(first).note(second).help(help)])
    };
    let shape = |tensor: &Tensor| {
        let Tensor { name, dtype, layout, .. } = tensor;
        let extents = layout_names::list(layout.physical_shape(), layout.symbols());
        format!("`{name}` is [{extents}] elements of {dtype} in memory")
    };
    if own.physical_shape().len() != other.physical_shape().len() {
        let message = format!(
            "`{}` has {} and `{}` has {}",
            view.name,
            axes(own.physical_shape().len()),
            seen.name,
            other.physical_shape().len()
        );
        let help = match other.physical_shape().len() {
            0 | 1 => format!("remove the separators of `{}`", view.name),
            more => {
                let separators = counted(&(more - 1), "separator");
                format!("write {separators} in its layout, with `axis-separators`")
            }
        };
        return refused(message, [shape(view), shape(seen)], help);
    }
    let rows = own.physical_shape().len().saturating_sub(1);
    let equal = own.physical_shape().iter().zip(other.physical_shape()).take(rows);
    if !equal.into_iter().all(|(a, b)| same((a, own), (b, other))) {
        let message =
            format!("`{}` and `{}` have different physical extents", view.name, seen.name);
        let help = "choose a layout with the same physical extents, except the last";
        return refused(message, [shape(view), shape(seen)], help.to_owned());
    }
    let (own_bytes, other_bytes) = (view.counts().bytes, seen.counts().bytes);
    if !same((&own_bytes, own), (&other_bytes, other)) {
        let bytes = |tensor: &Tensor, bytes: &Expr| {
            let bytes = layout_names::symbol_expr(bytes, tensor.layout.symbols());
            format!("`{}` has {bytes} bytes", tensor.name)
        };
        let message = format!("`{}` does not cover the memory of `{}`", view.name, seen.name);
        let bits = other_bytes.as_const().and_then(|bytes| bytes.checked_mul(8));
        let whole = i128::from(view.dtype.element_bits());
        let slots = bits.filter(|bits| bits.checked_rem(whole) == Some(0));
        let all = match slots.and_then(|bits| bits.checked_div(whole)) {
            Some(slots) => format!("make it {slots} slots of {}", view.dtype),
            None => "give it the same number of bytes".to_owned(),
        };
        let help = format!("{all}, or make it a window with a `map`");
        return refused(message, [bytes(view, &own_bytes), bytes(seen, &other_bytes)], help);
    }
    Ok(())
}

fn axes(count: usize) -> String {
    if count == 1 { "1 physical axis".to_owned() } else { format!("{count} physical axes") }
}

/// True if `a` and `b` are proven equal for all values of the symbols. `a` is over the symbols of the layout `of_a`,
/// `b` over those of `of_b`; symbols with equal names are equal.
fn same((a, of_a): (&Expr, &Layout), (b, of_b): (&Expr, &Layout)) -> bool {
    let mut symbols: Vec<Symbol> = of_a.symbols().to_vec();
    for symbol in of_b.symbols() {
        if symbols.iter().all(|known| known.name != symbol.name) {
            symbols.push(symbol.clone());
        }
    }
    let renamed = b.substitute(&|var| {
        let Var::Symbol(k) = var else { return None };
        let name = &of_b.symbols().get(usize::try_from(k).ok()?)?.name;
        let own = symbols.iter().position(|symbol| symbol.name == *name)?;
        Some(Expr::var(Var::Symbol(u32::try_from(own).ok()?)))
    });
    renamed.is_ok_and(|b| Facts::new(&symbols).proves_eq(a, &b).unwrap_or(false))
}
