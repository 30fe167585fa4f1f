//! Printing of layout expressions with the names of axes and symbols, for JSON, reports and diagnostics.

use layoutc_algebra::expr::print;
use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::symbol::{Axis, Symbol};

use crate::model::Tensor;

/// Name of a variable: of an axis or symbol its own, of physical index k `p0`, `p1`, ….
pub fn variable(var: Var, logical: &[Axis], storage: &[Axis], symbols: &[Symbol]) -> String {
    let name = |found: Option<&String>, letter: char, k: u32| {
        found.cloned().unwrap_or_else(|| format!("{letter}{k}"))
    };
    let at = |k: u32| usize::try_from(k).unwrap_or(usize::MAX);
    match var {
        Var::Axis(k) => name(logical.get(at(k)).map(|axis| &axis.name), 'i', k),
        Var::Storage(k) => name(storage.get(at(k)).map(|axis| &axis.name), 's', k),
        Var::Symbol(k) => name(symbols.get(at(k)).map(|symbol| &symbol.name), 'n', k),
        Var::Physical(k) => format!("p{k}"),
        Var::Digit(k) => format!("d{k}"),
    }
}

/// Expression over symbols in the manifest's syntax.
pub fn symbol_expr(expr: &Expr, symbols: &[Symbol]) -> String {
    print::expr(expr, &|var| variable(var, &[], &[], symbols))
}

/// Expression of a layout in the manifest's syntax.
pub fn layout_expr(expr: &Expr, layout: &Layout) -> String {
    print::expr(expr, &|var| variable(var, layout.logical(), layout.storage(), layout.symbols()))
}

/// Domain of a tensor as the text of `where`; `None` if every index is an element.
pub fn domain(tensor: &Tensor) -> Option<String> {
    let layout = &tensor.layout;
    let names = |var| variable(var, layout.logical(), layout.storage(), layout.symbols());
    layout.domain().map(|domain| print::predicate(domain, &names))
}
