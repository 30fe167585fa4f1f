//! Layouts with an affine offset: an origin plus a stride times the index for each logical axis. Origin and strides may
//! contain symbols.

use alloc::vec::Vec;

use crate::expr::{BinOp, Expr, ExprError, ExprNode, Var};
use crate::layout::Layout;
use crate::normal_form::simplify::Facts;

/// Offset of the form `origin + i0 * strides[0] + i1 * strides[1] + …`, in elements, where `i0`, `i1`, … are the
/// logical indices. The origin and the strides are expressions over symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AffineOffset {
    /// Offset of the element whose logical indices are all 0, in elements.
    pub origin: Expr,
    /// Strides of the logical axes, in elements, one per axis; 0 for an axis of extent 0 or 1.
    pub strides: Vec<Expr>,
}

/// Pair `(w, c)` if `index` is equal to `w * var + c` and consists of `var`, constants, `+`, `-` and products with
/// constants: `(2, 3)` for `2 * var + 3`. `None` for any other expression, or if a coefficient overflows.
pub(crate) fn linear_coefficients(index: &Expr, var: Var) -> Option<(i128, i128)> {
    let sum =
        |(a, b): (i128, i128), (c, d): (i128, i128)| Some((a.checked_add(c)?, b.checked_add(d)?));
    let times = |(a, b): (i128, i128), k: i128| Some((a.checked_mul(k)?, b.checked_mul(k)?));
    match index.node() {
        ExprNode::Const(value) => Some((0, *value)),
        ExprNode::Var(own) => (*own == var).then_some((1, 0)),
        ExprNode::Neg(a) => times(linear_coefficients(a, var)?, -1),
        ExprNode::Bin(BinOp::Add, a, b) => {
            sum(linear_coefficients(a, var)?, linear_coefficients(b, var)?)
        }
        ExprNode::Bin(BinOp::Sub, a, b) => {
            sum(linear_coefficients(a, var)?, times(linear_coefficients(b, var)?, -1)?)
        }
        ExprNode::Bin(BinOp::Mul, a, b) => {
            match (linear_coefficients(a, var)?, linear_coefficients(b, var)?) {
                (a, (0, k)) | ((0, k), a) => times(a, k),
                _ => None,
            }
        }
        ExprNode::Bin(..) => None,
    }
}

impl Layout {
    /// Origin and strides of the offset as an affine function of the logical indices; `None` if the offset is not
    /// proven affine.
    ///
    /// # Errors
    /// [`ExprError::Overflow`] if a constant leaves the integer range, [`ExprError::TooLarge`] if an expression grows
    /// too large.
    pub fn affine(&self) -> Result<Option<AffineOffset>, ExprError> {
        let mut facts = Facts::new(&self.symbols);
        for (k, axis) in (0_u32..).zip(&self.logical) {
            facts.set_extent(Var::Axis(k), &axis.extent)?;
        }
        let offset = facts.simplify(&self.offset)?;
        // The offset where axis `one` has index 1 and all others 0.
        let at = |one: Option<u32>| {
            let at = offset.substitute(&|var| match var {
                Var::Axis(k) => Some(Expr::constant(i128::from(Some(k) == one))),
                _ => None,
            })?;
            facts.simplify(&at)
        };
        let origin = at(None)?;
        let (mut strides, mut sum) = (Vec::new(), origin.clone());
        for (k, _) in (0_u32..).zip(&self.logical) {
            let stride = facts.simplify(&Expr::binary(BinOp::Sub, &at(Some(k))?, &origin)?)?;
            let term = Expr::binary(BinOp::Mul, &Expr::var(Var::Axis(k)), &stride)?;
            sum = Expr::binary(BinOp::Add, &sum, &term)?;
            strides.push(stride);
        }
        Ok(facts.proves_eq(&offset, &sum)?.then_some(AffineOffset { origin, strides }))
    }
}

impl Layout {
    /// True if the offset is a sum of terms that read at most one logical axis each, such as
    /// `n * 128 + c // 4 * 64 + c % 4`, also within products with factors that read no axis. The distance in memory
    /// between two indices of one axis then does not depend on the indices along the other axes. False for an offset
    /// that is written in another form, even if it is equal to such a sum.
    pub fn is_separable(&self) -> bool {
        is_separable(&self.offset)
    }
}

fn is_separable(expr: &Expr) -> bool {
    let axes = |expr: &Expr| expr.vars().iter().filter(|var| matches!(var, Var::Axis(_))).count();
    if axes(expr) <= 1 {
        return true;
    }
    match expr.node() {
        ExprNode::Neg(a) => is_separable(a),
        ExprNode::Bin(BinOp::Add | BinOp::Sub, a, b) => is_separable(a) && is_separable(b),
        ExprNode::Bin(BinOp::Mul, a, b) => {
            (axes(a) == 0 && is_separable(b)) || (axes(b) == 0 && is_separable(a))
        }
        ExprNode::Bin(..) | ExprNode::Const(_) | ExprNode::Var(_) => false,
    }
}
