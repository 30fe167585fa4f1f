//! Sums whose weights are known only at run time: `i * cols + j` tells both where `cols` is at least the extent of `j`.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{Claim, Component};
use crate::digits::{Chain, Digit, Digits, Form};
use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::monomial::Atom;
use crate::poly::Poly;
use crate::simplify::Facts;

/// An axis of a sum: its weight without the sign, and whether it falls.
struct Term {
    axis: usize,
    extent: Expr,
    weight: Expr,
    is_falling: bool,
}

/// The axes of a component from one of its targets, over `Var::Storage(k)`, k the target's position in the component;
/// `None` where none of them is a sum of all axes whose weights provably nest.
pub(super) fn nest(
    claim: Claim<'_>,
    component: &Component,
) -> Result<Option<Vec<(usize, Expr)>>, ExprError> {
    for (k, target) in (0_u32..).zip(&component.targets) {
        let Some(target) = claim.targets.get(*target) else { continue };
        let Some((terms, constant)) = terms(claim, target, &component.axes)? else { continue };
        let mut value = Expr::binary(BinOp::Sub, &Expr::var(Var::Storage(k)), &constant)?;
        for term in terms.iter().filter(|term| term.is_falling) {
            // -w*d = w*(e-1-d) - w*(e-1)
            let end = Expr::binary(BinOp::Mul, &term.last()?, &term.weight)?;
            value = Expr::binary(BinOp::Add, &value, &end)?;
        }
        let weighed: Vec<(&Expr, &Expr)> =
            terms.iter().map(|term| (&term.weight, &term.extent)).collect();
        let Some(order) = order(&weighed, claim.facts)? else { continue };
        let mut axes = Vec::new();
        for term in order.into_iter().filter_map(|k| terms.get(k)) {
            let mut told = Expr::binary(BinOp::FloorDiv, &value, &term.weight)?;
            value = Expr::binary(BinOp::Mod, &value, &term.weight)?;
            if term.is_falling {
                told = Expr::binary(BinOp::Sub, &term.last()?, &told)?;
            }
            axes.push((term.axis, told));
        }
        return Ok(Some(axes));
    }
    Ok(None)
}

/// Every axis of the component as one digit: what the checker counts with.
pub(super) fn whole(claim: Claim<'_>, component: &Component) -> Digits {
    let mut all = Digits::default();
    for axis in &component.axes {
        let Some(extent) = claim.extents.get(*axis) else { continue };
        let digits = alloc::vec![all.digits.len()];
        all.digits.push(Digit { weight: 1, extent: extent.clone() });
        let axes = alloc::vec![*axis];
        all.chains.push(Chain { axes, of_digit: None, sign: 1, constant: 0, digits });
    }
    all.targets = component.targets.iter().map(|_| Form::default()).collect();
    all
}

impl Term {
    /// The greatest index.
    fn last(&self) -> Result<Expr, ExprError> {
        Expr::binary(BinOp::Sub, &self.extent, &Expr::constant(1))
    }
}

/// The terms of a sum of all these axes, and what is added to it.
fn terms(
    claim: Claim<'_>,
    target: &Expr,
    axes: &[usize],
) -> Result<Option<(Vec<Term>, Expr)>, ExprError> {
    let facts = claim.facts;
    let mut weights: BTreeMap<usize, Poly> = BTreeMap::new();
    let mut constant = Poly::zero();
    for (monomial, coefficient) in facts.normalize(target)?.terms() {
        let is_index = |atom: &Atom| !atom.is_symbolic();
        let Some(at) = monomial.iter().position(is_index) else {
            constant.add_term(monomial, coefficient)?;
            continue;
        };
        let (Some(Atom::Var(Var::Axis(axis))), weight) = (monomial.get(at), monomial.without(at))
        else {
            return Ok(None);
        };
        if weight.iter().any(is_index) {
            return Ok(None);
        }
        let axis = usize::try_from(*axis).map_err(|_| ExprError::Overflow)?;
        weights.entry(axis).or_default().add_term(&weight, coefficient)?;
    }
    let mut terms = Vec::new();
    for axis in axes {
        let extent = claim.extents.get(*axis).cloned().ok_or(ExprError::Unbound)?;
        let Some(weight) = weights.get(axis) else { return Ok(None) };
        let (low, high) = facts.numeric(weight)?;
        let is_falling = high < 0;
        if low < 1 && !is_falling {
            return Ok(None);
        }
        let weight = if is_falling { weight.scale(-1)? } else { weight.clone() };
        terms.push(Term { axis: *axis, extent, weight: facts.render(&weight)?, is_falling });
    }
    Ok(Some((terms, facts.render(&constant)?)))
}

/// The positions of weights, the greatest first, each with the extent of what it weighs; `None` unless each provably
/// reaches beyond all the smaller ones together.
pub(crate) fn order(
    weighed: &[(&Expr, &Expr)],
    facts: &Facts,
) -> Result<Option<Vec<usize>>, ExprError> {
    let mut left: Vec<usize> = (0..weighed.len()).collect();
    let (mut order, mut reach) = (Vec::new(), Expr::constant(1));
    let weighed = |k: usize| weighed.get(k).copied().ok_or(ExprError::Unbound);
    while !left.is_empty() {
        let mut least = None;
        for (at, k) in left.iter().enumerate() {
            let weight = weighed(*k)?.0;
            let mut is_least = facts.proves_ge(weight, &reach)?;
            for other in left.iter().filter(|other| *other != k) {
                is_least = is_least && facts.proves_ge(weighed(*other)?.0, weight)?;
            }
            if is_least {
                least = Some(at);
            }
        }
        let Some(at) = least else { return Ok(None) };
        let k = left.remove(at);
        let (weight, extent) = weighed(k)?;
        let last = Expr::binary(BinOp::Sub, extent, &Expr::constant(1))?;
        let own = Expr::binary(BinOp::Mul, &last, weight)?;
        reach = facts.simplify(&Expr::binary(BinOp::Add, &reach, &own)?)?;
        order.insert(0, k);
    }
    Ok(Some(order))
}
