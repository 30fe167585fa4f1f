//! Check that the indices, counts and byte sizes of a tensor fit the index type of the target.

use layoutc_algebra::expr::{Expr, ExprNode, Var};

use super::Settings;
use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;
use crate::loops::range::Range;
use crate::lower::context::{Context, Naming};
use crate::lower::expr::{Binding, Scope, range};
use crate::lower::index;
use crate::lower::index::{buffer_bytes, logical_bytes};
use crate::model::Tensor;

/// Diagnostic for a tensor that does not fit the index type of the target, with the value that exceeds the type. `None`
/// if the tensor fits or has no elements, or if a size cannot be computed. A 64-bit index type is not checked, because
/// the checker rejects larger values.
pub(super) fn index_fault(
    tensor: &Tensor,
    naming: &Naming<'_>,
    settings: &Settings,
) -> Option<Diagnostic> {
    let dialect = settings.dialect;
    // A tensor without elements has no index.
    let empty = tensor.layout.logical_elements().as_const() == Some(0);
    if dialect.index_max == i64::MAX || empty {
        return None;
    }
    let context = Context::new(tensor, naming);
    // A kernel computes the end of the byte that it writes, up to 8 one-bit elements after its start.
    let ahead = if dialect.counts_bytes || !context.is_packed() { 0 } else { 8 };
    let max = i128::from(dialect.index_max) - ahead;
    let what = excess(&context, max, dialect.counts_bytes)?;
    let message = format!("`{}` does not fit `{}`: {what}", tensor.name, dialect.index);
    let fault = Diagnostic::error(Code::LimitIndexType, message, tensor.places.layout.clone(), "");
    let wider = settings.language.wider_index;
    let key = format!("set `index-type = \"{wider}\"` in `[target.{}]`", settings.target);
    let help = if context.symbols.is_empty() {
        format!("{key}, or split the tensor")
    } else {
        format!("{key}, or give the symbols a smaller `max`")
    };
    Some(fault.help(help))
}

/// Text about the first quantity of a tensor that exceeds `max`: its size in bytes (only if `counts_bytes` is true),
/// then its number of elements, then the greatest value of its index arithmetic. `None` if none does, or if a size
/// cannot be expressed.
fn excess(context: &Context<'_>, max: i128, counts_bytes: bool) -> Option<String> {
    let layout = context.layout;
    let symbol = |var| context.symbol(var);
    let logical = |var: Var| match var {
        Var::Axis(k) => {
            let axis = layout.logical().get(usize::try_from(k).ok()?)?;
            Some(counted(&axis.extent, &symbol))
        }
        other => context.symbol(other),
    };
    let physical = |var: Var| match var {
        Var::Physical(k) => {
            Some(counted(layout.physical_shape().get(usize::try_from(k).ok()?)?, &symbol))
        }
        other => context.symbol(other),
    };
    let counts = [layout.physical_elements(), layout.logical_elements()];
    let all_bytes = [
        buffer_bytes(context, layout.physical_elements()).ok()?,
        logical_bytes(context, &index::count(layout.logical()).ok()?).ok()?,
    ];
    for bytes in all_bytes.into_iter().filter(|_| counts_bytes) {
        if let Some(what) = over(&bytes, &symbol, max, "bytes") {
            return Some(what);
        }
    }
    let whole = index::count(context.tensor.whole_axes()).ok()?;
    let mut counts = counts.into_iter().chain([&whole]);
    if let Some(what) = counts.find_map(|count| over(count, &symbol, max, "elements")) {
        return Some(what);
    }
    let extents = layout.logical().iter().chain(layout.storage()).map(|axis| &axis.extent);
    let over_symbols = extents.chain(layout.strides()).chain(layout.physical_shape());
    let over_axes =
        layout.storage_map().iter().chain(layout.physical_map()).chain([layout.offset()]);
    let valid = layout.valid().into_iter().flat_map(|valid| &valid.all);
    let over_slots =
        layout.inverse().into_iter().flatten().chain(valid.flat_map(|c| [&c.left, &c.right]));
    let reached = over_symbols
        .map(|expr| reach(expr, &symbol))
        .chain(over_axes.map(|expr| reach(expr, &logical)))
        .chain(over_slots.map(|expr| reach(expr, &physical)));
    reached
        .filter(|reached| *reached > max)
        .max()
        .map(|reached| format!("its index arithmetic reaches {reached}, the type {max}"))
}

/// Binding of an index variable that takes the values `0..extent`. `symbol` has the ranges of the symbols in `extent`.
fn counted(extent: &Expr, symbol: &Scope<'_>) -> Binding {
    let high = range(extent, symbol).high.map(|extent| extent.saturating_sub(1));
    Binding { tree: crate::ir::Expr::int(0), range: Range { low: Some(0), high } }
}

fn over(count: &Expr, symbol: &Scope<'_>, max: i128, unit: &str) -> Option<String> {
    let most = reach(count, symbol);
    (most > max).then(|| format!("it takes up to {most} {unit}, and the type ends at {max}"))
}

/// Upper bound of the magnitudes of an expression and of all its subexpressions, for the ranges of the variables in
/// `scope`; `i128::MAX` if none is known.
fn reach(expr: &Expr, scope: &Scope<'_>) -> i128 {
    let own = range(expr, scope);
    let magnitude = |bound: Option<i128>| bound.map_or(i128::MAX, i128::saturating_abs);
    let own = magnitude(own.low).max(magnitude(own.high));
    match expr.node() {
        ExprNode::Const(_) | ExprNode::Var(_) => own,
        ExprNode::Neg(a) => own.max(reach(a, scope)),
        ExprNode::Bin(_, a, b) => own.max(reach(a, scope)).max(reach(b, scope)),
    }
}
