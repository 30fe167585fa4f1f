//! Memoized computation of normal forms, for expressions with shared subtrees.

use alloc::collections::BTreeMap;
use core::cell::RefCell;

use crate::expr::{BinOp, Expr, ExprError, ExprNode};
use crate::normal_form::poly::Poly;
use crate::normal_form::simplify::Facts;

/// Facts together with a cache of the normal forms of quotients and remainders.
#[derive(Debug)]
pub(crate) struct MemoizedFacts<'a> {
    facts: &'a Facts,
    /// Cached normal forms by [`Expr::identity`]. Each entry keeps its expression alive, so that the address is
    /// not reused.
    known: RefCell<BTreeMap<usize, (Expr, Poly)>>,
}

impl<'a> MemoizedFacts<'a> {
    pub(crate) fn new(facts: &'a Facts) -> Self {
        Self { facts, known: RefCell::default() }
    }

    pub(crate) fn facts(&self) -> &Facts {
        self.facts
    }

    /// Normal form of `expr`, equal to that of [`Facts::normalize`].
    pub(crate) fn normalize(&self, expr: &Expr) -> Result<Poly, ExprError> {
        let form = |part: &Expr| self.normalize(part);
        // Only divisions are expensive enough to cache.
        let ExprNode::Bin(BinOp::FloorDiv | BinOp::Mod, ..) = expr.node() else {
            return self.facts.combine(expr, &form);
        };
        if let Some((_, known)) = self.known.borrow().get(&expr.identity()) {
            return Ok(known.clone());
        }
        let found = self.facts.combine(expr, &form)?;
        self.known.borrow_mut().insert(expr.identity(), (expr.clone(), found.clone()));
        Ok(found)
    }

    /// Simplified form of `expr`, equal to that of [`Facts::simplify`].
    pub(crate) fn simplify(&self, expr: &Expr) -> Result<Expr, ExprError> {
        self.facts.render(&self.normalize(expr)?)
    }
}
