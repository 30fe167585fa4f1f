//! MLIR's memory layouts: `affine_map<(d0, d1) -> (d0 floordiv 4, d1, d0 mod 4)>` and `strided<[8, 1]>`.
//!
//! Source: MLIR, affine maps and the strided layout attribute. The results of a map are the storage axes in
//! row-major order, as in -normalize-memrefs. MLIR also accepts maps that are not injective. An offset, which
//! moves the first element, is not supported.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{NotationError, NotationExtras, NotationFault, count_fault};
use crate::builder::LayoutBuilder;
use crate::expr::parse::Span;
use crate::expr::{BinOp, Expr, ExprNode, Var};
use crate::map::{IndexMap, MapItem, unique};
use crate::symbol::Axis;
use crate::text::cursor::Cursor;

/// Maximum nesting depth of parentheses and negations in an expression; a deeper nesting is a fault.
const MAX_DEPTH: usize = 256;

/// Applies an affine map, with or without `affine_map<…>` around it, or the strides of a strided layout to the current
/// axes of `builder`.
pub(super) fn apply(
    text: &str,
    builder: &mut LayoutBuilder,
) -> Result<NotationExtras, NotationError> {
    let mut cursor = Cursor::new(text);
    cursor.skip_blanks();
    if cursor.eat("strided") {
        let axes = builder.axes();
        let strides = strided(&mut cursor).map_err(|fault| match (&fault.help, dense(axes)) {
            (None, Some(dense)) => fault.help(format!("it is written as in `{dense}`")),
            _ => fault,
        })?;
        if strides.len() != axes.len() {
            return Err(count_fault(strides.len(), "stride", axes, 0..text.len()).into());
        }
        builder.strides(&strides)?;
        return Ok(NotationExtras::default());
    }
    let is_wrapped = cursor.eat("affine_map");
    if is_wrapped {
        cursor.token("<")?;
    }
    let names = names(&mut cursor)?;
    let axes = builder.axes();
    if names.len() != axes.len() {
        return Err(count_fault(names.len(), "dimension", axes, 0..text.len()).into());
    }
    cursor.skip_blanks();
    if cursor.peek() == Some('[') {
        let at = cursor.at();
        let fault = NotationFault::unsupported(at..at + 1, "symbols have no values here");
        return Err(fault.help("write the map with the manifest's symbols: `map \"…\"`").into());
    }
    cursor.token("->")?;
    let results = results(&mut cursor, &names)?;
    if is_wrapped {
        cursor.token(">")?;
    }
    cursor.skip_blanks();
    cursor.expect_end()?;
    let mut taken = BTreeSet::new();
    let items = results.into_iter().enumerate().map(|(k, index)| {
        let name = unique(&derived(&index, axes, k), &mut taken);
        MapItem { name, index, extent: None, span: 0..0 }
    });
    let map = IndexMap { items: items.collect(), separators: Vec::new() };
    builder.apply(&map)?;
    Ok(NotationExtras::default())
}

/// Pair `(names, any_extents)`. `names` are the names of the dimensions of a memory layout, in order. `any_extents` is
/// true for an affine map, which fits any extents, and false for strides, which require constant extents.
/// `affine_map<(i, j) -> (j, i)>` gives i, j and true; `strided<[8, 1]>` gives d0, d1 and false. The results of a map
/// are not parsed.
pub(super) fn dimensions(text: &str) -> Result<(Vec<String>, bool), NotationFault> {
    let mut cursor = Cursor::new(text);
    cursor.skip_blanks();
    if cursor.eat("strided") {
        let strides = strided(&mut cursor)?;
        return Ok((strides.iter().enumerate().map(|(k, _)| format!("d{k}")).collect(), false));
    }
    if cursor.eat("affine_map") {
        cursor.token("<")?;
    }
    Ok((names(&mut cursor)?, true))
}

/// Strided layout of a dense row-major tensor with these axes, such as `strided<[8, 1]>`; `None` if an extent
/// is symbolic or a stride overflows.
fn dense(axes: &[Axis]) -> Option<String> {
    let mut strides = Vec::new();
    let mut next = 1_i128;
    for axis in axes.iter().rev() {
        strides.push(next.to_string());
        next = next.checked_mul(axis.extent.as_const()?)?;
    }
    strides.reverse();
    Some(format!("strided<[{}]>", strides.join(", ")))
}

/// Parses the strides of `<[8, 1]>` or `<[8, 1], offset: 0>`, in elements, after the word `strided` and up to the
/// end of the text. An offset other than 0 is a fault.
fn strided(cursor: &mut Cursor<'_>) -> Result<Vec<Expr>, NotationFault> {
    cursor.token("<")?;
    cursor.token("[")?;
    let mut strides = Vec::new();
    cursor.skip_blanks();
    while !cursor.eat("]") {
        strides.push(Expr::constant(fixed(cursor, "a stride")?.0));
        cursor.skip_blanks();
        if cursor.peek() != Some(']') {
            cursor.token(",")?;
            cursor.skip_blanks();
        }
    }
    cursor.skip_blanks();
    if cursor.eat(",") {
        cursor.token("offset")?;
        cursor.token(":")?;
        cursor.skip_blanks();
        let (offset, span) = fixed(cursor, "an offset")?;
        if offset != 0 {
            let message = "an offset before the first element is not supported";
            let fault = NotationFault::unsupported(span, message);
            return Err(fault.help("`pad … before=` leaves room before the first element"));
        }
    }
    cursor.token(">")?;
    cursor.skip_blanks();
    cursor.expect_end()?;
    Ok(strides)
}

fn fixed(cursor: &mut Cursor<'_>, what: &str) -> Result<(i128, Span), NotationFault> {
    if cursor.peek() == Some('?') {
        let at = cursor.at();
        let message = format!("{what} known only at run time is not supported");
        let fault = NotationFault::unsupported(at..at + 1, message);
        return Err(fault.help("write a number; the step `strides` accepts symbols"));
    }
    cursor.expect_number(what)
}

/// Parses the names of dimensions, such as `(d0, d1)`, in order; a repeated name is a fault.
fn names(cursor: &mut Cursor<'_>) -> Result<Vec<String>, NotationFault> {
    cursor.token("(")?;
    let mut names: Vec<String> = Vec::new();
    cursor.skip_blanks();
    while !cursor.eat(")") {
        let (name, span) = word(cursor);
        if name.is_empty() {
            return Err(cursor.expected("the name of a dimension"));
        }
        if names.iter().any(|known| known == name) {
            let fault = NotationFault::value(span, format!("`{name}` occurs twice"));
            return Err(fault.help("give each dimension a name of its own"));
        }
        names.push(name.to_string());
        cursor.skip_blanks();
        if cursor.peek() != Some(')') {
            cursor.token(",")?;
            cursor.skip_blanks();
        }
    }
    Ok(names)
}

fn word<'t>(cursor: &mut Cursor<'t>) -> (&'t str, Span) {
    if cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
        let at = cursor.at();
        return ("", at..at);
    }
    cursor.take_while(|c| c.is_ascii_alphanumeric() || "_$.-".contains(c) && c != '-')
}

fn results(cursor: &mut Cursor<'_>, names: &[String]) -> Result<Vec<Expr>, NotationError> {
    cursor.token("(")?;
    let mut results = Vec::new();
    cursor.skip_blanks();
    while !cursor.eat(")") {
        results.push(sum(cursor, names, 0)?);
        cursor.skip_blanks();
        if cursor.peek() != Some(')') {
            cursor.token(",").map_err(|fault| operators(fault, cursor))?;
            cursor.skip_blanks();
        }
    }
    Ok(results)
}

/// Adds help to `fault` if `cursor` is at a C operator: to write `floordiv` instead of `/`, or `mod` instead of `%`.
/// Otherwise returns `fault` unchanged.
fn operators(fault: NotationFault, cursor: &Cursor<'_>) -> NotationFault {
    match cursor.peek() {
        Some('/') => fault.help("write a quotient as `d0 floordiv 4`"),
        Some('%') => fault.help("write a remainder as `d0 mod 4`"),
        _ => fault,
    }
}

fn sum(cursor: &mut Cursor<'_>, names: &[String], depth: usize) -> Result<Expr, NotationError> {
    let mut left = product(cursor, names, depth)?;
    loop {
        cursor.skip_blanks();
        let is_arrow = cursor.rest().starts_with("->");
        let op = match cursor.peek() {
            Some('+') => BinOp::Add,
            Some('-') if !is_arrow => BinOp::Sub,
            _ => return Ok(left),
        };
        cursor.next();
        let right = product(cursor, names, depth)?;
        left = Expr::binary(op, &left, &right)?;
    }
}

fn product(cursor: &mut Cursor<'_>, names: &[String], depth: usize) -> Result<Expr, NotationError> {
    cursor.skip_blanks();
    let start = cursor.at();
    let mut left = factor(cursor, names, depth)?;
    loop {
        cursor.skip_blanks();
        let op = ["*", "floordiv", "ceildiv", "mod"].into_iter().find(|op| {
            let after = cursor.rest().strip_prefix(op).and_then(|rest| rest.chars().next());
            cursor.rest().starts_with(op)
                && (*op == "*" || !after.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_'))
        });
        let Some(op) = op else { return Ok(left) };
        cursor.eat(op);
        cursor.skip_blanks();
        let at = cursor.at();
        let right = factor(cursor, names, depth)?;
        let is_constant = |expr: &Expr| expr.vars().is_empty();
        if op == "*" && !is_constant(&left) && !is_constant(&right) {
            let message = "a product needs a constant on one side";
            let fault = NotationFault::value(start..cursor.at(), message);
            return Err(fault.help("multiply a dimension by a number: `d0 * 4`").into());
        }
        if op != "*" {
            let divisor = if is_constant(&right) { right.evaluate(&|_| None).ok() } else { None };
            if divisor.is_none_or(|divisor| divisor < 1) {
                let message = format!("the right side of `{op}` is not a constant above 0");
                let fault = NotationFault::value(at..cursor.at(), message);
                return Err(fault.help(format!("write a number from 1: `d0 {op} 4`")).into());
            }
        }
        left = match op {
            "*" => Expr::binary(BinOp::Mul, &left, &right)?,
            "mod" => Expr::binary(BinOp::Mod, &left, &right)?,
            "floordiv" => Expr::binary(BinOp::FloorDiv, &left, &right)?,
            _ => {
                let up = Expr::binary(BinOp::Sub, &right, &Expr::constant(1))?;
                let up = Expr::binary(BinOp::Add, &left, &up)?;
                Expr::binary(BinOp::FloorDiv, &up, &right)?
            }
        };
    }
}

fn factor(cursor: &mut Cursor<'_>, names: &[String], depth: usize) -> Result<Expr, NotationError> {
    cursor.skip_blanks();
    let at = cursor.at();
    if depth > MAX_DEPTH {
        let message = format!("parentheses nest more than {MAX_DEPTH} deep");
        let fault = NotationFault::syntax(at..at + 1, message);
        return Err(fault.help("leave parentheses out that are not needed").into());
    }
    if cursor.eat("(") {
        let inner = sum(cursor, names, depth + 1)?;
        cursor.token(")")?;
        return Ok(inner);
    }
    if cursor.eat("-") {
        return Ok(Expr::negate(&factor(cursor, names, depth + 1)?)?);
    }
    if let Some((value, _)) = cursor.number()? {
        return Ok(Expr::constant(value));
    }
    let (name, span) = word(cursor);
    if name.is_empty() {
        return Err(cursor.expected("a dimension, an integer or `(`").into());
    }
    match names.iter().position(|known| known == name) {
        Some(position) => Ok(Expr::var(Var::Storage(u32::try_from(position).unwrap_or(u32::MAX)))),
        None => {
            let message = format!("`{name}` is not a dimension of the map");
            let help = format!("dimensions here: {}", names.join(", "));
            Err(NotationFault::value(span, message).help(help).into())
        }
    }
}

/// Name for the storage axis at `position`, derived from its index, an expression over `axes`: `c` for the axis `c`
/// itself, `c_outer` for a quotient of `c`, `c_inner` for a remainder of `c`. Any other index at position 2 gives
/// `axis2`.
fn derived(index: &Expr, axes: &[Axis], position: usize) -> String {
    let axis = |expr: &Expr| match expr.as_var() {
        Some(Var::Storage(k)) => usize::try_from(k).ok().and_then(|k| axes.get(k)),
        _ => None,
    };
    let named = match index.node() {
        ExprNode::Bin(BinOp::FloorDiv, x, _) => axis(x).map(|axis| format!("{}_outer", axis.name)),
        ExprNode::Bin(BinOp::Mod, x, _) => axis(x).map(|axis| format!("{}_inner", axis.name)),
        _ => axis(index).map(|axis| axis.name.clone()),
    };
    named.unwrap_or_else(|| format!("axis{position}"))
}
