//! Where an element is, loop by loop: what a round of each loop adds to an offset.

use layoutc_algebra::expr::{BinOp, Expr, ExprError};

use super::super::arith::{product, sum};
use super::domain::{Domain, digit, var};

/// An offset as a sum of what each loop adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Steps {
    /// What each loop adds a round, over symbols; loops that add nothing are not there.
    pub(super) strides: Vec<(usize, Expr)>,
    /// What is left, over symbols and the loops of which it is no multiple.
    pub(super) rest: Expr,
}

impl Steps {
    /// Takes an expression over the loops apart.
    ///
    /// # Errors
    /// [`ExprError`] where an expression grows too large.
    pub(super) fn of(expr: &Expr, domain: &Domain) -> Result<Self, ExprError> {
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
            let again = sum(&first, &product(&stride, &digit(number)?)?)?;
            if facts.proves_eq(&rest, &again)? {
                rest = first;
                if stride.as_const() != Some(0) {
                    strides.push((number, stride));
                }
            }
        }
        Ok(Self { strides, rest })
    }

    /// What a round of a loop adds; `None` where that differs from round to round.
    pub(super) fn stride(&self, number: usize, domain: &Domain) -> Option<Expr> {
        if domain.mentioned(&self.rest).contains(&number) {
            return None;
        }
        let found = self.strides.iter().find(|(other, _)| *other == number);
        Some(found.map_or_else(|| Expr::constant(0), |(_, stride)| stride.clone()))
    }
}
