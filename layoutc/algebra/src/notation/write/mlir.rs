//! Export to MLIR's affine maps and strided layouts.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::flat::FlatLayout;
use super::strides::elements;
use super::{Inexpressible, NotationText};
use crate::expr::{BinOp, Expr, ExprNode, Var};
use crate::layout::Layout;

/// Candidate texts for a layout, in the order of trial: an affine map to the storage axes, a strided layout, an affine
/// map to the offset. A text that MLIR cannot express is omitted.
pub(super) fn write(layout: &Layout) -> Result<Vec<NotationText>, Inexpressible> {
    let rank = layout.physical_map.len();
    if rank != 1 {
        return Err(Inexpressible::Separators { rank });
    }
    let names: Vec<String> = (0..layout.logical.len()).map(|k| format!("d{k}")).collect();
    let map = |results: &[Expr]| {
        let results = results.iter().map(sum).collect::<Option<Vec<_>>>()?;
        Some(format!("affine_map<({}) -> ({})>", names.join(", "), results.join(", ")))
    };
    let strided = || {
        let strides = elements(&FlatLayout::of(layout).ok()?, layout).ok()?;
        let strides: Vec<String> = strides.iter().map(ToString::to_string).collect();
        Some(format!("strided<[{}]>", strides.join(", ")))
    };
    let texts = [map(&layout.storage_map), strided(), map(&layout.physical_map)];
    let texts: Vec<NotationText> = texts.into_iter().flatten().map(NotationText::from).collect();
    if texts.is_empty() {
        let is_symbol = |var| matches!(var, Var::Symbol(_));
        let is_symbolic = layout.physical_map.iter().any(|index| index.mentions(&is_symbol));
        return Err(if is_symbolic { Inexpressible::Symbolic } else { Inexpressible::Swizzle });
    }
    Ok(texts)
}

/// Text of the expression `index` in MLIR's affine syntax. `None` if `index` contains a symbol, or an operator that
/// MLIR lacks.
fn sum(index: &Expr) -> Option<String> {
    match index.node() {
        ExprNode::Bin(op @ (BinOp::Add | BinOp::Sub), a, b) => {
            let sign = if *op == BinOp::Add { "+" } else { "-" };
            let is_sum = matches!(b.node(), ExprNode::Bin(BinOp::Add | BinOp::Sub, ..));
            let (a, b) = (sum(a)?, sum(b)?);
            Some(if is_sum { format!("{a} {sign} ({b})") } else { format!("{a} {sign} {b}") })
        }
        _ => product(index),
    }
}

fn product(index: &Expr) -> Option<String> {
    match index.node() {
        ExprNode::Const(value) => Some(value.to_string()),
        ExprNode::Var(Var::Axis(k)) => Some(format!("d{k}")),
        ExprNode::Neg(a) => Some(format!("-{}", factor(a)?)),
        ExprNode::Bin(op, a, b) => {
            let sign = match op {
                BinOp::Mul => "*",
                BinOp::FloorDiv => "floordiv",
                BinOp::Mod => "mod",
                _ => return None,
            };
            let left = match a.node() {
                ExprNode::Bin(BinOp::Mul | BinOp::FloorDiv | BinOp::Mod, ..) => product(a)?,
                _ => factor(a)?,
            };
            Some(format!("{left} {sign} {}", factor(b)?))
        }
        ExprNode::Var(_) => None,
    }
}

fn factor(index: &Expr) -> Option<String> {
    match index.node() {
        ExprNode::Bin(..) | ExprNode::Neg(_) => Some(format!("({})", sum(index)?)),
        _ => product(index),
    }
}
