//! Inverse of the placement in memory: from the physical indices of a slot to storage indices, and the predicate for
//! slots that hold an element.

use alloc::vec::Vec;

use super::LayoutBuilder;
use super::finish::InjectivityClaim;
use crate::expr::{BinOp, CompareOp, Expr, ExprComparison, ExprError, Predicate, Var};
use crate::layout::physical::MemoryPlacement;
use crate::normal_form::memo::MemoizedFacts;
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::Atom;
use crate::normal_form::simplify::Facts;
use crate::prove::order;

/// Inverse of the placement at a slot, over `Var::Physical`. `targets` are the values that the targets of the proof
/// (the storage indices, or the offset) have for an element in the slot. `conditions` are comparisons
/// `(left, op, right)` that hold on every slot with an element.
pub(super) struct InverseTargets {
    pub(super) targets: Vec<Expr>,
    pub(super) conditions: Vec<(Expr, CompareOp, Expr)>,
}

impl LayoutBuilder {
    /// Positions of the storage axes in descending order of their explicit strides, without axes of extent 1, if the
    /// strides nest: each exceeds the largest offset that all axes with smaller strides reach together. `None` if this
    /// is not proven, if no stride or extent is symbolic, if there are no explicit strides, or if there are leading
    /// slots.
    pub(super) fn nested_storage_order(
        &self,
        placement: &MemoryPlacement,
    ) -> Result<Option<Vec<usize>>, ExprError> {
        let is_symbolic = |expr: &Expr| expr.as_const().is_none();
        let extents = self.storage.iter().map(|axis| &axis.extent);
        let strides = self.demands.strides.iter().flatten();
        let is_plain = self.demands.strides.is_none() || placement.lead.as_const() != Some(0);
        if is_plain || !extents.chain(strides).any(is_symbolic) {
            return Ok(None);
        }
        let several: Vec<usize> = (0..self.storage.len()).filter(|k| !self.is_single(*k)).collect();
        let weighed =
            |k: &usize| Some((placement.local_strides.get(*k)?, &self.storage.get(*k)?.extent));
        let weighed: Option<Vec<(&Expr, &Expr)>> = several.iter().map(weighed).collect();
        let order = order(&weighed.ok_or(ExprError::Unbound)?, &self.facts)?;
        let named = |k: usize| several.get(k).copied();
        Ok(order.map(|order| order.into_iter().filter_map(named).collect()))
    }

    /// Inverse of `placement` for the targets of `claimed`. Storage indices are quotients of a physical index, without
    /// the leading slots, by the strides, each of the remainder that the previous one leaves: for the strides 32, 4 and
    /// 1, `p0 // 32`, `p0 % 32 // 4` and `p0 % 4`. The offset as a target is `p0` itself. `groups[g]` is the range of
    /// positions of the storage axes that form physical axis `g`.
    pub(super) fn inverse_targets(
        &self,
        placement: &MemoryPlacement,
        groups: &[core::ops::Range<usize>],
        claimed: &InjectivityClaim,
    ) -> Result<InverseTargets, ExprError> {
        if claimed.is_offset {
            return Ok(InverseTargets {
                targets: alloc::vec![Expr::var(Var::Physical(0))],
                conditions: Vec::new(),
            });
        }
        let nested = self.nested_storage_order(placement)?;
        let mut targets = alloc::vec![Expr::constant(0); self.storage.len()];
        let mut conditions = Vec::new();
        for (g, group) in (0_u32..).zip(groups) {
            let order = nested.clone().unwrap_or_else(|| group.clone().collect());
            let mut rest = Expr::var(Var::Physical(g));
            if group.end == self.storage.len() && placement.lead.as_const() != Some(0) {
                rest = Expr::binary(BinOp::Sub, &rest, &placement.lead)?;
                conditions.push((rest.clone(), CompareOp::Ge, Expr::constant(0)));
            }
            for k in order {
                let (Some(stride), Some(axis)) =
                    (placement.local_strides.get(k), self.storage.get(k))
                else {
                    return Err(ExprError::Unbound);
                };
                let index = Expr::binary(BinOp::FloorDiv, &rest, stride)?;
                rest = Expr::binary(BinOp::Mod, &rest, stride)?;
                conditions.push((index.clone(), CompareOp::Lt, axis.extent.clone()));
                if let Some(target) = targets.get_mut(k) {
                    *target = index;
                }
            }
            // A physical axis without storage axes has a single slot, at index 0.
            conditions.push((rest, CompareOp::Eq, Expr::constant(0)));
        }
        Ok(InverseTargets { targets, conditions })
    }

    /// Predicate over the physical indices that is true exactly on slots with an element. It requires that the
    /// conditions of `readers` hold, that the logical index `inverse` of the slot is in the logical shape, and that the
    /// targets of `claimed` have at this index the values that `readers` computes from the slot. `facts` are the ranges
    /// of the physical indices and symbols.
    pub(super) fn predicate(
        &self,
        inverse: &[Expr],
        claimed: &InjectivityClaim,
        readers: &InverseTargets,
        facts: &MemoizedFacts<'_>,
    ) -> Result<Predicate, ExprError> {
        let mut all = readers.conditions.clone();
        for (index, axis) in inverse.iter().zip(&self.logical) {
            all.push((index.clone(), CompareOp::Ge, Expr::constant(0)));
            all.push((index.clone(), CompareOp::Lt, axis.extent.clone()));
        }
        for (target, slot) in claimed.targets.iter().zip(&readers.targets) {
            let back = target.substitute(&|var| match var {
                Var::Axis(k) => inverse.get(usize::try_from(k).ok()?).cloned(),
                _ => None,
            })?;
            all.push((back, CompareOp::Eq, slot.clone()));
        }
        let mut predicate = Predicate::default();
        for (left, op, right) in all {
            if let Some(comparison) = simplify_comparison(&left, op, &right, facts)?
                && !predicate.all.contains(&comparison)
            {
                predicate.all.push(comparison);
            }
        }
        Ok(predicate)
    }
}

/// Simplified form of `left op right`. An inequality has its constants on the right: `p0 - 5 >= 0` becomes `p0 >= 5`.
/// `None` if the comparison is proven to hold on every slot. `remembering` contains the ranges of the physical indices
/// and symbols, and caches results.
fn simplify_comparison(
    left: &Expr,
    op: CompareOp,
    right: &Expr,
    remembering: &MemoizedFacts<'_>,
) -> Result<Option<ExprComparison>, ExprError> {
    let facts = remembering.facts();
    let form = remembering.normalize(&Expr::binary(BinOp::Sub, left, right)?)?;
    if always(&form, op, facts)? {
        return Ok(None);
    }
    let difference = facts.render(&form)?;
    if op == CompareOp::Eq {
        return Ok(Some(equation(difference, left, right, remembering)?));
    }
    // A second normalization, of the rendered difference, may prove the comparison.
    if always(&facts.normalize(&difference)?, op, facts)? {
        return Ok(None);
    }
    // Move constants to the right: `p0 >= 5`, not `p0 - 5 >= 0`.
    let (mut left, mut right) = (remembering.normalize(left)?, remembering.normalize(right)?);
    loop {
        let constant = Poly::constant(left.constant_term());
        (left, right) = (left.sub(&constant)?, right.sub(&constant)?);
        // x // k < c is x < c * k, and x // k >= c is x >= c * k
        match left.as_atom().cloned() {
            Some(Atom::Op(BinOp::FloorDiv, x, k)) if k.as_constant().is_some() => {
                right = right.mul(&k)?;
                left = Poly::clone(&x);
            }
            _ => break,
        }
    }
    Ok(Some(ExprComparison { left: facts.render(&left)?, op, right: facts.render(&right)? }))
}

/// True if the comparison `difference op 0` is proven for all physical indices and symbols in the ranges of `facts`.
fn always(difference: &Poly, op: CompareOp, facts: &Facts) -> Result<bool, ExprError> {
    match op {
        CompareOp::Eq => Ok(difference.is_zero()),
        CompareOp::Lt => facts.at_least_zero(&difference.plus(1)?.scale(-1)?),
        CompareOp::Ge => facts.at_least_zero(difference),
    }
}

/// Equation `left == right` in simplified form. If `difference`, which equals `left - right`, is a remainder `x % k` or
/// the negation of one, the equation is `x % k == 0`. `facts` contains the ranges of the physical indices and symbols.
fn equation(
    difference: Expr,
    left: &Expr,
    right: &Expr,
    facts: &MemoizedFacts<'_>,
) -> Result<ExprComparison, ExprError> {
    use crate::expr::ExprNode;
    let positive = match difference.node() {
        ExprNode::Neg(inner) => inner.clone(),
        _ => difference,
    };
    if let ExprNode::Bin(BinOp::Mod, ..) = positive.node() {
        return Ok(ExprComparison { left: positive, op: CompareOp::Eq, right: Expr::constant(0) });
    }
    Ok(ExprComparison {
        left: facts.simplify(left)?,
        op: CompareOp::Eq,
        right: facts.simplify(right)?,
    })
}
