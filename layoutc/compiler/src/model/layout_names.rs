//! Printing of layout expressions with the names of axes and symbols, for JSON, reports and diagnostics.

use layoutc_algebra::expr::print;
use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::symbol::{Axis, Symbol};

use crate::model::Tensor;

/// Name of the variable `var` in printed expressions. `Var::Axis(k)`, `Var::Storage(k)` and `Var::Symbol(k)` have the
/// name of element `k` of `logical`, `storage` and `symbols`; beyond the end of the list, `i{k}`, `s{k}` and `n{k}`.
/// `Var::Physical(k)` is `p{k}`, and `Var::Digit(k)` is `d{k}`.
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

/// Text of an expression in the syntax of manifests, `4 * n`; `Var::Symbol(k)` is element `k` of `symbols`.
pub fn symbol_expr(expr: &Expr, symbols: &[Symbol]) -> String {
    print::expr(expr, &|var| variable(var, &[], &[], symbols))
}

/// Texts of expressions over `symbols`, joined by commas: `16, 4 * n`.
pub fn list(exprs: &[Expr], symbols: &[Symbol]) -> String {
    let texts: Vec<String> = exprs.iter().map(|expr| symbol_expr(expr, symbols)).collect();
    texts.join(", ")
}

/// Texts of axes with their extents, one string per axis: `n 16`, `h 4 * m`.
pub fn axes(axes: &[Axis], symbols: &[Symbol]) -> Vec<String> {
    let one = |axis: &Axis| format!("{} {}", axis.name, symbol_expr(&axis.extent, symbols));
    axes.iter().map(one).collect()
}

/// Axes with their extents over symbols, as a shape in a manifest: `{ n 16; h 64 }`.
pub fn shape(axes: &[Axis], symbols: &[Symbol]) -> String {
    match self::axes(axes, symbols).join("; ").as_str() {
        "" => "{}".to_owned(),
        axes => format!("{{ {axes} }}"),
    }
}

/// Texts of axes joined by commas, with `|` in place of the comma after each axis whose position is in `separators`:
/// `n, c_outer, h | w, c_inner` for `[2]`.
pub fn separated(axes: &[String], separators: &[usize]) -> String {
    let last = axes.len().saturating_sub(1);
    let after = |k| match k {
        k if k == last => "",
        k if separators.contains(&k) => " | ",
        _ => ", ",
    };
    axes.iter().enumerate().flat_map(|(k, axis)| [axis.as_str(), after(k)]).collect()
}

/// Text of an expression over the axes and symbols of `layout`, in the syntax of manifests: `c // 4`.
pub fn layout_expr(expr: &Expr, layout: &Layout) -> String {
    print::expr(expr, &|var| variable(var, layout.logical(), layout.storage(), layout.symbols()))
}

/// Text of the condition that selects the elements of a tensor among its indices, as after `where` in a manifest:
/// `j <= i`; `None` if every index is an element.
pub fn domain(tensor: &Tensor) -> Option<String> {
    let layout = &tensor.layout;
    let names = |var| variable(var, layout.logical(), layout.storage(), layout.symbols());
    layout.domain().map(|domain| print::predicate(domain, &names))
}
