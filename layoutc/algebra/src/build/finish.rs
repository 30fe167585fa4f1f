//! The last step: storage axes placed in memory, the layout proven, its inverse and predicate derived.

use alloc::vec::Vec;

use thiserror::Error;

use super::{BuildError, Builder, check_size, current};
use crate::expr::{BinOp, Cmp, Comparison, Expr, ExprError, Predicate, Var};
use crate::layout::{Axis, DigitTargets, Layout, Proof, Symbol, Verdict};
use crate::monomial::Atom;
use crate::physical::{self, Placement, groups};
use crate::poly::Poly;
use crate::proof::check::{self, Certificate, CheckError, Targets};
use crate::proof::{Claim, Machine, Proven, Refusal, prove};
use crate::remember::Remembering;
use crate::simplify::Facts;

/// Why a layout is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FinishError {
    /// The layout cannot be placed in memory.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The layout is not proven.
    #[error(transparent)]
    Refusal(#[from] Refusal),
    /// Too large, or beyond the integers.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// What is proven one-to-one.
struct Claimed {
    targets: Vec<Expr>,
    composed: Vec<Expr>,
    slots: Vec<Expr>,
}

/// Targets over `Var::Physical`, and conditions of a slot.
struct Readers {
    targets: Vec<Expr>,
    conditions: Vec<(Expr, Cmp, Expr)>,
}

impl Builder {
    /// Places the storage axes in memory and proves the layout.
    ///
    /// # Errors
    /// [`FinishError`].
    pub fn finish(
        self,
        alignment_bytes: u64,
        machine: &dyn Machine,
    ) -> Result<Layout, FinishError> {
        let placement =
            physical::place(&self.storage, &self.separators, &self.demands, &self.facts)?;
        let physical_elements = self.physical_elements(&placement)?;
        check_size([&physical_elements].into_iter(), self.demands.element_bits, &self.facts)?;
        let claimed = self.claim(&placement)?;
        let proven = prove(
            Claim {
                extents: &extents_of(&self.logical),
                targets: &claimed.targets,
                slots: &claimed.slots,
                facts: &self.facts,
            },
            machine,
        )?;
        self.assemble(alignment_bytes, &placement, physical_elements, &claimed, &proven, machine)
    }

    fn physical_elements(&self, placement: &Placement) -> Result<Expr, BuildError> {
        let (Some(extent), Some(pitch)) = (placement.shape.first(), placement.pitches.first())
        else {
            return Ok(Expr::constant(1));
        };
        if placement.shape.iter().any(|extent| extent.as_const() == Some(0)) {
            return Ok(Expr::constant(0));
        }
        Ok(self.facts.simplify(&Expr::binary(BinOp::Mul, extent, pitch)?)?)
    }

    /// What must be one-to-one: the storage axes, or with `strides` the offset itself.
    fn claim(&self, placement: &Placement) -> Result<Claimed, BuildError> {
        if self.demands.strides.is_none() {
            return Ok(Claimed {
                targets: self.map.clone(),
                composed: self.composed.clone(),
                slots: extents_of(&self.storage),
            });
        }
        let offset = |map: &[Expr]| weighted(map, &placement.local_strides);
        Ok(Claimed {
            targets: alloc::vec![self.facts.simplify(&offset(&self.map)?)?],
            composed: alloc::vec![offset(&self.composed)?],
            slots: placement.shape.clone(),
        })
    }

    fn assemble(
        self,
        alignment_bytes: u64,
        placement: &Placement,
        physical_elements: Expr,
        claimed: &Claimed,
        proven: &Proven,
        machine: &dyn Machine,
    ) -> Result<Layout, FinishError> {
        let facts = &self.facts;
        let groups = groups(self.storage.len(), &self.separators);
        let mut physical_map = Vec::new();
        let mut composed_physical = Vec::new();
        for group in &groups {
            let slice = |all: &[Expr]| all.get(group.clone()).unwrap_or_default().to_vec();
            let strides = slice(&placement.local_strides);
            let own = weighted(&slice(&self.map), &strides)?;
            // The checker reads a digit proof through any rewriting, an enumerated map only as written.
            let by_digits = proven.proof == Proof::Digits;
            physical_map.push(if by_digits { facts.simplify(&own)? } else { own });
            composed_physical.push(weighted(&slice(&self.composed), &strides)?);
        }
        let offset = facts.simplify(&weighted(&physical_map, &placement.pitches)?)?;
        let mut strides = Vec::new();
        for (group, pitch) in groups.iter().zip(&placement.pitches) {
            for local in placement.local_strides.get(group.clone()).unwrap_or_default() {
                strides.push(facts.simplify(&Expr::binary(BinOp::Mul, local, pitch)?)?);
            }
        }
        let logical_elements = facts.simplify(&product(self.logical.iter().map(|a| &a.extent))?)?;
        let bijective = facts.proves_eq(&logical_elements, &physical_elements)?;
        let verdict = if bijective { Verdict::Bijective } else { Verdict::Padded };
        let physical_facts = physical_facts(&self.symbols, &placement.shape)?;
        let physical_facts = Remembering::new(&physical_facts);
        let readers = self.readers(placement, &groups)?;
        let (mut inverse, mut valid) = (None, None);
        if let Some(told) = &proven.inverse {
            let at_targets = |expr: &Expr| expr.substitute(&|var| current(var, &readers.targets));
            let indices = told
                .iter()
                .map(|index| physical_facts.simplify(&at_targets(index)?))
                .collect::<Result<Vec<_>, ExprError>>()?;
            if !bijective {
                let predicate = self.predicate(&indices, claimed, &readers, &physical_facts)?;
                valid = (!predicate.all.is_empty()).then_some(predicate);
            }
            inverse = Some(indices);
        }
        let certificate = Certificate {
            composed_physical: &composed_physical,
            composed_targets: &claimed.composed,
            slots: &claimed.slots,
            digits: proven.digits.as_ref(),
            targets: if self.demands.strides.is_some() {
                Targets::Offset
            } else {
                Targets::Storage
            },
        };
        // Digits that are cut up beyond their radix serve the proof, not loops.
        let digits =
            proven.digits.clone().filter(|d| d.chains.iter().all(|chain| chain.of_digit.is_none()));
        let strided = self.demands.strides.is_some();
        let layout = Layout {
            symbols: self.symbols,
            logical: self.logical,
            storage: self.storage,
            storage_map: self.map,
            separators: self.separators,
            physical_shape: placement.shape.clone(),
            physical_strides: placement.pitches.clone(),
            strides,
            physical_map,
            offset,
            inverse,
            valid,
            verdict,
            proof: proven.proof,
            digits,
            digit_targets: if strided { DigitTargets::Offset } else { DigitTargets::Storage },
            logical_elements,
            physical_elements,
            alignment_bytes,
        };
        match check::check(&layout, &certificate, machine) {
            Ok(()) => Ok(layout),
            Err(CheckError::Undecided) => {
                let axes = (0..layout.logical.len()).collect();
                let targets = (0..claimed.targets.len()).collect();
                Err(Refusal::Unproven { axes, targets, points: None, slots: None }.into())
            }
            Err(error) => Err(Refusal::Certificate(error).into()),
        }
    }

    /// The targets, and what else a slot must satisfy, in terms of the physical indices.
    fn readers(
        &self,
        placement: &Placement,
        groups: &[core::ops::Range<usize>],
    ) -> Result<Readers, ExprError> {
        if self.demands.strides.is_some() {
            return Ok(Readers {
                targets: alloc::vec![Expr::var(Var::Physical(0))],
                conditions: Vec::new(),
            });
        }
        let mut targets = Vec::new();
        let mut conditions = Vec::new();
        for (g, group) in (0_u32..).zip(groups) {
            let mut rest = Expr::var(Var::Physical(g));
            for k in group.clone() {
                let (Some(stride), Some(axis)) =
                    (placement.local_strides.get(k), self.storage.get(k))
                else {
                    return Err(ExprError::Unbound);
                };
                let index = Expr::binary(BinOp::FloorDiv, &rest, stride)?;
                rest = Expr::binary(BinOp::Mod, &rest, stride)?;
                conditions.push((index.clone(), Cmp::Lt, axis.extent.clone()));
                targets.push(index);
            }
            // A group without axes has one slot, at 0.
            conditions.push((rest, Cmp::Eq, Expr::constant(0)));
        }
        Ok(Readers { targets, conditions })
    }

    /// True on the slots that hold an element: the index that the inverse gives is inside the shape, and the map
    /// sends it back.
    fn predicate(
        &self,
        inverse: &[Expr],
        claimed: &Claimed,
        readers: &Readers,
        facts: &Remembering<'_>,
    ) -> Result<Predicate, ExprError> {
        let mut all = readers.conditions.clone();
        for (index, axis) in inverse.iter().zip(&self.logical) {
            all.push((index.clone(), Cmp::Ge, Expr::constant(0)));
            all.push((index.clone(), Cmp::Lt, axis.extent.clone()));
        }
        for (target, slot) in claimed.targets.iter().zip(&readers.targets) {
            let back = target.substitute(&|var| match var {
                Var::Axis(k) => inverse.get(usize::try_from(k).ok()?).cloned(),
                _ => None,
            })?;
            all.push((back, Cmp::Eq, slot.clone()));
        }
        let mut predicate = Predicate::default();
        for (left, op, right) in all {
            if let Some(comparison) = reduce(&left, op, &right, facts)?
                && !predicate.all.contains(&comparison)
            {
                predicate.all.push(comparison);
            }
        }
        Ok(predicate)
    }
}

fn extents_of(axes: &[Axis]) -> Vec<Expr> {
    axes.iter().map(|axis| axis.extent.clone()).collect()
}

fn product<'a>(factors: impl Iterator<Item = &'a Expr>) -> Result<Expr, ExprError> {
    let mut product = Expr::constant(1);
    for factor in factors {
        product = Expr::binary(BinOp::Mul, &product, factor)?;
    }
    Ok(product)
}

/// `indices[0] * weights[0] + …`, as written but for factors of 1.
fn weighted(indices: &[Expr], weights: &[Expr]) -> Result<Expr, ExprError> {
    let mut sum: Option<Expr> = None;
    for (index, weight) in indices.iter().zip(weights) {
        let term = match weight.as_const() {
            Some(1) => index.clone(),
            _ => Expr::binary(BinOp::Mul, index, weight)?,
        };
        sum = Some(match sum {
            None => term,
            Some(sum) => Expr::binary(BinOp::Add, &sum, &term)?,
        });
    }
    Ok(sum.unwrap_or_else(|| Expr::constant(0)))
}

fn physical_facts(symbols: &[Symbol], shape: &[Expr]) -> Result<Facts, ExprError> {
    let mut facts = Facts::new(symbols);
    for (k, extent) in (0_u32..).zip(shape) {
        facts.set_extent(Var::Physical(k), extent)?;
    }
    Ok(facts)
}

/// A comparison in its simplest form; `None` when it always holds.
fn reduce(
    left: &Expr,
    op: Cmp,
    right: &Expr,
    remembering: &Remembering<'_>,
) -> Result<Option<Comparison>, ExprError> {
    let facts = remembering.facts();
    let form = remembering.normalize(&Expr::binary(BinOp::Sub, left, right)?)?;
    if always(&form, op, facts)? {
        return Ok(None);
    }
    let difference = facts.render(&form)?;
    if op == Cmp::Eq {
        return Ok(Some(equation(difference, left, right, remembering)?));
    }
    // As it is written it may tell more.
    if always(&facts.normalize(&difference)?, op, facts)? {
        return Ok(None);
    }
    // The constant belongs on the right: `p0 >= 5`, not `p0 - 5 >= 0`.
    let (mut left, mut right) = (remembering.normalize(left)?, remembering.normalize(right)?);
    loop {
        let constant = Poly::constant(left.constant_term());
        (left, right) = (left.sub(&constant)?, right.sub(&constant)?);
        // x // k < c says x < c * k, and x // k >= c says x >= c * k.
        match left.as_atom().cloned() {
            Some(Atom::Op(BinOp::FloorDiv, x, k)) if k.as_constant().is_some() => {
                right = right.mul(&k)?;
                left = Poly::clone(&x);
            }
            _ => break,
        }
    }
    Ok(Some(Comparison { left: facts.render(&left)?, op, right: facts.render(&right)? }))
}

/// Whether a difference compares with 0 on every slot.
fn always(difference: &Poly, op: Cmp, facts: &Facts) -> Result<bool, ExprError> {
    match op {
        Cmp::Eq => Ok(difference.is_zero()),
        Cmp::Lt => facts.at_least_zero(&difference.plus(1)?.scale(-1)?),
        Cmp::Ge => facts.at_least_zero(difference),
    }
}

/// `left == right`, as `x % k == 0` when their difference is a lone remainder.
fn equation(
    difference: Expr,
    left: &Expr,
    right: &Expr,
    facts: &Remembering<'_>,
) -> Result<Comparison, ExprError> {
    use crate::expr::Node;
    let positive = match difference.node() {
        Node::Neg(inner) => inner.clone(),
        _ => difference,
    };
    if let Node::Bin(BinOp::Mod, ..) = positive.node() {
        return Ok(Comparison { left: positive, op: Cmp::Eq, right: Expr::constant(0) });
    }
    Ok(Comparison { left: facts.simplify(left)?, op: Cmp::Eq, right: facts.simplify(right)? })
}
