//! Cache of normal forms, for expressions in which one subexpression occurs many times: [`MemoizedFacts`] normalizes
//! each shared quotient and remainder once.

use alloc::collections::BTreeMap;
use core::cell::RefCell;

use crate::expr::{BinOp, Expr, ExprError, ExprNode};
use crate::normal_form::poly::Poly;
use crate::normal_form::simplify::Facts;

/// [`Facts`] with a cache of the normal forms of expressions whose root is `//` or `%`.
#[derive(Debug)]
pub(crate) struct MemoizedFacts<'a> {
    facts: &'a Facts,
    /// Pairs `(expression, normal form)` by the address of the expression ([`Expr::identity`]). The entry keeps the
    /// expression alive, so that the address is not reused.
    known: RefCell<BTreeMap<usize, (Expr, Poly)>>,
}

impl<'a> MemoizedFacts<'a> {
    pub(crate) fn new(facts: &'a Facts) -> Self {
        Self { facts, known: RefCell::default() }
    }

    pub(crate) fn facts(&self) -> &Facts {
        self.facts
    }

    /// Normal form of `expr`, the same polynomial that [`Facts::normalize`] returns.
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

    /// Simplified form of `expr`, the same expression that [`Facts::simplify`] returns.
    pub(crate) fn simplify(&self, expr: &Expr) -> Result<Expr, ExprError> {
        self.facts.render(&self.normalize(expr)?)
    }
}
