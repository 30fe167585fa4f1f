//! Affine form of an offset or index over the loops: a stride per loop, and a base.

use layoutc_algebra::expr::{BinOp, Expr, ExprError};

use crate::loops::arith::{product, sum};
use crate::loops::domain::{IterationDomain, loop_index, var};

/// Offset or index in affine form: `rest`, plus the index of each loop in `strides` times its stride.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AffineAccess {
    /// Pairs (loop number, stride). The number is a position in [`IterationDomain::loops`], the stride the increment
    /// per iteration, over symbols. Loops with stride 0 are omitted.
    pub(crate) strides: Vec<(usize, Expr)>,
    /// Value at index 0 of all loops in `strides`, over symbols. It also has the terms of loops in which the offset is
    /// not affine, over the indices of these loops.
    pub(crate) rest: Expr,
}

impl AffineAccess {
    /// Affine form of `expr`, an expression over the loops of `domain` and symbols.
    ///
    /// # Errors
    /// [`ExprError`] if a value overflows or an expression becomes too large.
    pub(crate) fn of(expr: &Expr, domain: &IterationDomain) -> Result<Self, ExprError> {
        let facts = &domain.facts;
        let mut rest = expr.clone();
        let mut strides = Vec::new();
        for number in domain.mentioned(expr) {
            let own = var(number)?;
            let at = |round: i128| {
                let there =
                    rest.substitute(&|other| (other == own).then(|| Expr::constant(round)))?;
                facts.simplify(&there)
            };
            let first = at(0)?;
            let stride = facts.simplify(&Expr::binary(BinOp::Sub, &at(1)?, &first)?)?;
            if !domain.mentioned(&stride).is_empty() {
                continue;
            }
            let again = sum(&first, &product(&stride, &loop_index(number)?)?)?;
            if facts.proves_eq(&rest, &again)? {
                rest = first;
                if stride.as_const() != Some(0) {
                    strides.push((number, stride));
                }
            }
        }
        Ok(Self { strides, rest })
    }

    /// Stride along the loop `number`; 0 if the offset does not depend on the loop, `None` if it is not affine in the
    /// loop.
    pub(crate) fn stride(&self, number: usize, domain: &IterationDomain) -> Option<Expr> {
        if domain.mentioned(&self.rest).contains(&number) {
            return None;
        }
        let found = self.strides.iter().find(|(other, _)| *other == number);
        Some(found.map_or_else(|| Expr::constant(0), |(_, stride)| stride.clone()))
    }
}
