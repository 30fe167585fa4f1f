//! Completion of a layout under construction by [`LayoutBuilder::finish`]: placement in memory, proof, inverse, and
//! the predicate for slots that hold an element.

use alloc::vec::Vec;

use thiserror::Error;

use super::swizzle::{swizzle_layout, with_swizzle};
use super::{BuildError, LayoutBuilder, check_size, current};
use crate::digits::{self, BitSplit, Digits};
use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::layout::physical::{self, MemoryPlacement, groups};
use crate::layout::{AlignedOrigin, DigitTargets, Layout, ProofMethod, Verdict};
use crate::normal_form::memo::MemoizedFacts;
use crate::normal_form::simplify::Facts;
use crate::prove::check::{self, Certificate, CertificateError, ClaimTargets};
use crate::prove::{
    Claim, Executor, InjectivityError, InjectivityProof, ProverSet, components, prove, solve_axes,
};
use crate::symbol::{Axis, Symbol};

/// Error of [`LayoutBuilder::finish`], which places a layout in memory and proves it injective.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FinishError {
    /// The layout cannot be placed in memory, for example because its size exceeds 64 bits.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The layout is not proven injective, or another claim about it is not, such as the alignment of its first
    /// element.
    #[error(transparent)]
    Injectivity(#[from] InjectivityError),
    /// An expression of the layout, such as an index or a stride, is too large, or a value overflows.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// Claim to be proven about a layout: any two elements have different values of at least one target in `targets`, and
/// the value of target `k` is in `0..slots[k]`. `composed` contains the targets without simplification.
pub(super) struct InjectivityClaim {
    /// True if the only target is the offset; otherwise the targets are the storage indices.
    pub(super) is_offset: bool,
    pub(super) targets: Vec<Expr>,
    composed: Vec<Expr>,
    slots: Vec<Expr>,
}

/// Addresses of elements in memory, as expressions over the logical index `Var::Axis`.
struct Addresses {
    physical_map: Vec<Expr>,
    /// Physical indices composed from the maps of the steps without simplification, one per physical axis.
    composed_physical: Vec<Expr>,
    offset: Expr,
    strides: Vec<Expr>,
}

impl LayoutBuilder {
    /// Places the storage axes in memory, and proves that the layout is injective. The base address is aligned to
    /// `alignment_bytes`, or to the alignment of the first element if that is larger. `executor` runs enumerations, for
    /// example in parallel.
    ///
    /// # Errors
    /// [`FinishError::Injectivity`] if the layout is not proven injective, or its first element not proven aligned;
    /// [`FinishError::Build`] if the layout is too large; [`FinishError::Build`] or [`FinishError::Expr`] if an
    /// expression is too large or a value overflows.
    pub fn finish(
        self,
        alignment_bytes: u64,
        executor: &dyn Executor,
    ) -> Result<Layout, FinishError> {
        if let Some(layout) = self.of_box(alignment_bytes, executor)? {
            return Ok(layout);
        }
        let placement = self.placement()?;
        let physical_elements = self.physical_elements(&placement)?;
        check_size([&physical_elements].into_iter(), self.demands.element_bits, &self.facts)?;
        let claimed = self.claim(&placement)?;
        let place = (alignment_bytes, &placement, &claimed);
        // The checker knows fewer rules than the provers, so weaker provers are tried in turn; it can follow any
        // enumeration.
        for level in [ProverSet::All, ProverSet::Sums, ProverSet::Elimination] {
            if self.domain.is_some() {
                break;
            }
            if level == ProverSet::Elimination && self.symbols.is_empty() {
                continue;
            }
            let proven = self.prove(&claimed, level, executor)?;
            if proven.proof == ProofMethod::Enumeration {
                return self.assemble(place, physical_elements, &proven, executor);
            }
            match self.clone().assemble(place, physical_elements.clone(), &proven, executor) {
                Err(FinishError::Injectivity(
                    InjectivityError::Certificate(_) | InjectivityError::Unproven { .. },
                )) => {}
                assembled => return assembled,
            }
        }
        let proven = self.prove(&claimed, ProverSet::EnumerationOnly, executor)?;
        self.assemble(place, physical_elements, &proven, executor)
    }

    /// Technique of the first proof that is found for the injectivity of the layout. In contrast to [`Self::finish`],
    /// which may use another technique, the proof is not checked. `executor` runs enumerations.
    ///
    /// # Errors
    /// [`FinishError::Build`] or [`FinishError::Expr`] if an expression is too large or a value overflows,
    /// [`FinishError::Injectivity`] if the layout is not proven injective.
    pub fn proof(&self, executor: &dyn Executor) -> Result<ProofMethod, FinishError> {
        let claimed = self.claim(&self.placement()?)?;
        Ok(self.prove(&claimed, ProverSet::All, executor)?.proof)
    }

    fn prove(
        &self,
        claimed: &InjectivityClaim,
        level: ProverSet,
        executor: &dyn Executor,
    ) -> Result<InjectivityProof, InjectivityError> {
        let claim = Claim {
            extents: &extents_of(&self.logical),
            targets: &claimed.targets,
            slots: &claimed.slots,
            facts: &self.facts,
            within: self.conditions(),
            origin: self.an_element(),
        };
        prove(claim, level, executor)
    }

    /// True if every component of the layout without its domain is proven injective without enumeration. A component is
    /// a set of logical axes that shares no target with other axes.
    pub(super) fn is_proven_without_enumeration(&self) -> Result<bool, FinishError> {
        let claimed = self.claim(&self.placement()?)?;
        let extents = extents_of(&self.logical);
        let claim = Claim {
            extents: &extents,
            targets: &claimed.targets,
            slots: &claimed.slots,
            facts: &self.facts,
            within: &[],
            origin: &[],
        };
        for component in components(extents.len(), &claimed.targets, &[]) {
            if solve_axes(claim, &component)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Number of slots of the layout in its current state, including all padding, as an expression over symbols.
    ///
    /// # Errors
    /// [`BuildError::Expr`] if an expression is too large, or a constant overflows.
    pub fn slots(&self) -> Result<Expr, BuildError> {
        self.physical_elements(&self.placement()?)
    }

    pub(super) fn placement(&self) -> Result<MemoryPlacement, ExprError> {
        let wanted = self.map.iter().filter(|_| self.demands.origin > 0);
        let first = wanted.map(|index| self.facts.simplify(&at_first(index)?));
        let first = first.collect::<Result<Vec<_>, _>>()?;
        physical::place(&self.storage, &self.separators, &first, &self.demands, &self.facts)
    }

    /// Alignment of the first element, the one at the logical index 0. `offset` is the offset of an element, over
    /// `Var::Axis`. `None` if no alignment is requested, or if the layout is a window of another layout.
    /// [`InjectivityError::Unproven`] if the alignment is not proven for all values of the symbols; this is not checked
    /// if the layout has no elements because a logical extent is the constant 0.
    fn origin(&self, offset: &Expr) -> Result<Option<AlignedOrigin>, FinishError> {
        let bytes = self.demands.origin;
        if bytes == 0 || self.demands.lead.is_some() {
            return Ok(None);
        }
        let offset = self.facts.simplify(&at_first(offset)?)?;
        let whole = Expr::constant(self.demands.elements(bytes));
        let rest = Expr::binary(BinOp::Mod, &offset, &whole)?;
        let is_empty = self.logical.iter().any(|axis| axis.extent.as_const() == Some(0));
        if !is_empty && !self.facts.proves_eq(&rest, &Expr::constant(0))? {
            let axes = (0..self.logical.len()).collect();
            let targets = (0..self.storage.len()).collect();
            return Err(
                InjectivityError::Unproven { axes, targets, points: None, slots: None }.into()
            );
        }
        let alignment_bytes = u64::try_from(bytes).map_err(|_| ExprError::Overflow)?;
        let element_bits = self.demands.element_bits;
        Ok(Some(AlignedOrigin { offset, alignment_bytes, element_bits }))
    }

    fn physical_elements(&self, placement: &MemoryPlacement) -> Result<Expr, BuildError> {
        let (Some(extent), Some(pitch)) = (placement.shape.first(), placement.pitches.first())
        else {
            return Ok(Expr::constant(1));
        };
        if placement.shape.iter().any(|extent| extent.as_const() == Some(0)) {
            return Ok(Expr::constant(0));
        }
        Ok(self.facts.simplify(&Expr::binary(BinOp::Mul, extent, pitch)?)?)
    }

    /// Claim from which the injectivity of the layout follows. Its targets are the storage indices if the layout has no
    /// explicit strides, or if `nested_storage_order` returns an order of these. Otherwise, the offset is the only
    /// target.
    fn claim(&self, placement: &MemoryPlacement) -> Result<InjectivityClaim, BuildError> {
        if self.demands.strides.is_none() || self.nested_storage_order(placement)?.is_some() {
            return Ok(InjectivityClaim {
                is_offset: false,
                targets: self.map.clone(),
                composed: self.composed.clone(),
                slots: extents_of(&self.storage),
            });
        }
        let offset =
            |map: &[Expr]| plus(&weighted(map, &placement.local_strides)?, &placement.lead);
        Ok(InjectivityClaim {
            is_offset: true,
            targets: alloc::vec![self.facts.simplify(&offset(&self.map)?)?],
            composed: alloc::vec![offset(&self.composed)?],
            slots: placement.shape.clone(),
        })
    }

    fn assemble(
        self,
        (alignment_bytes, placement, claimed): (u64, &MemoryPlacement, &InjectivityClaim),
        physical_elements: Expr,
        proven: &InjectivityProof,
        executor: &dyn Executor,
    ) -> Result<Layout, FinishError> {
        let facts = &self.facts;
        let groups = groups(self.storage.len(), &self.separators);
        // The checker follows a digit proof through any rewriting, but an enumeration only over the composed map.
        let by_digits = proven.proof != ProofMethod::Enumeration;
        let Addresses { physical_map, composed_physical, offset, strides } =
            self.addresses(placement, &groups, by_digits)?;
        let logical_elements = match &self.domain {
            Some(domain) => domain.elements.clone(),
            None => facts.simplify(&product(self.logical.iter().map(|a| &a.extent))?)?,
        };
        let bijective = facts.proves_eq(&logical_elements, &physical_elements)?;
        let verdict = if bijective { Verdict::Bijective } else { Verdict::Padded };
        let physical_facts = physical_facts(&self.symbols, &placement.shape)?;
        let physical_facts = MemoizedFacts::new(&physical_facts);
        let readers = self.inverse_targets(placement, &groups, claimed)?;
        let (mut inverse, mut valid) = (None, None);
        if let Some(solved) = &proven.inverse {
            let at_targets = |expr: &Expr| expr.substitute(&|var| current(var, &readers.targets));
            let indices = solved
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
            targets: if claimed.is_offset { ClaimTargets::Offset } else { ClaimTargets::Storage },
        };
        let digits = proven.digits.clone().filter(is_plain).filter(|_| proven.targets_are_sums);
        let strided = claimed.is_offset;
        let origin = self.origin(&offset)?;
        let alignment_bytes = alignment_bytes.max(origin.as_ref().map_or(1, |o| o.alignment_bytes));
        let layout = Layout {
            symbols: self.symbols,
            logical: self.logical,
            domain: self.domain.map(|domain| domain.predicate),
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
            lead: placement.lead.clone(),
            origin,
            swizzle: None,
            demands: Some(self.demands.clone()),
        };
        match check::check(&layout, &certificate, executor) {
            Ok(()) => match self.demands.swizzle {
                Some(swizzle) => swizzle_layout(&layout, swizzle),
                None => Ok(layout),
            },
            Err(CertificateError::Undecided) => {
                let axes = (0..layout.logical.len()).collect();
                let targets = (0..claimed.targets.len()).collect();
                Err(InjectivityError::Unproven { axes, targets, points: None, slots: None }.into())
            }
            Err(error) => Err(InjectivityError::Certificate(error).into()),
        }
    }

    /// Physical indices, offset and strides of the elements under `placement`. `groups[g]` is the range of positions of
    /// the storage axes that form physical axis `g`. The physical indices are simplified if `simplified` is true;
    /// otherwise they are sums of the simplified storage indices times their strides.
    fn addresses(
        &self,
        placement: &MemoryPlacement,
        groups: &[core::ops::Range<usize>],
        simplified: bool,
    ) -> Result<Addresses, ExprError> {
        let facts = &self.facts;
        let (mut physical_map, mut composed_physical) = (Vec::new(), Vec::new());
        for (g, group) in groups.iter().enumerate() {
            let zero = Expr::constant(0);
            let lead = if g + 1 == groups.len() { &placement.lead } else { &zero };
            let slice = |all: &[Expr]| all.get(group.clone()).unwrap_or_default().to_vec();
            let strides = slice(&placement.local_strides);
            let own = plus(&weighted(&slice(&self.map), &strides)?, lead)?;
            physical_map.push(if simplified { facts.simplify(&own)? } else { own });
            composed_physical.push(plus(&weighted(&slice(&self.composed), &strides)?, lead)?);
        }
        let offset = match (physical_map.as_slice(), placement.pitches.as_slice()) {
            // The offset is the only physical index, of stride 1, which is simplified already.
            ([index], [pitch]) if simplified && pitch.as_const() == Some(1) => index.clone(),
            _ => facts.simplify(&weighted(&physical_map, &placement.pitches)?)?,
        };
        let mut strides = Vec::new();
        for (group, pitch) in groups.iter().zip(&placement.pitches) {
            for local in placement.local_strides.get(group.clone()).unwrap_or_default() {
                strides.push(facts.simplify(&Expr::binary(BinOp::Mul, local, pitch)?)?);
            }
        }
        Ok(Addresses { physical_map, composed_physical, offset, strides })
    }

    /// Completes a read-only view, in which elements may share slots, without a proof. The base address is aligned to
    /// `alignment_bytes`. The layout has no inverse and no domain, even if the builder has one; its verdict is
    /// [`Verdict::Broadcast`].
    ///
    /// # Errors
    /// [`FinishError::Build`] or [`FinishError::Expr`] if an expression is too large or a value overflows.
    pub fn finish_overlapping(self, alignment_bytes: u64) -> Result<Layout, FinishError> {
        let placement = self.placement()?;
        let physical_elements = self.physical_elements(&placement)?;
        let claimed = self.claim(&placement)?;
        let groups = groups(self.storage.len(), &self.separators);
        let Addresses { physical_map, offset, strides, .. } =
            self.addresses(&placement, &groups, true)?;
        let axes: Vec<usize> = (0..self.logical.len()).collect();
        let extents = extents_of(&self.logical);
        let digits =
            digits::read(&axes, &extents, &claimed.targets, &self.facts, BitSplit::AtDivisors)?;
        let (strided, swizzle) = (claimed.is_offset, self.demands.swizzle);
        let logical_elements =
            self.facts.simplify(&product(self.logical.iter().map(|axis| &axis.extent))?)?;
        let layout = Layout {
            symbols: self.symbols,
            logical: self.logical,
            domain: None,
            storage: self.storage,
            storage_map: self.map,
            separators: self.separators,
            physical_shape: placement.shape,
            physical_strides: placement.pitches,
            strides,
            physical_map,
            offset,
            inverse: None,
            valid: None,
            verdict: Verdict::Broadcast,
            proof: ProofMethod::Digits,
            digits: digits.filter(is_plain),
            digit_targets: if strided { DigitTargets::Offset } else { DigitTargets::Storage },
            logical_elements,
            physical_elements,
            alignment_bytes,
            lead: placement.lead,
            origin: None,
            swizzle: None,
            demands: Some(self.demands),
        };
        let Some(swizzle) = swizzle else { return Ok(layout) };
        let plain = |expr: &Expr| Ok(expr.clone());
        Ok(with_swizzle(&layout, swizzle, &plain, &plain)?)
    }
}

/// True if no digit is derived or subdivided by another chain, so that loops can iterate over all digits.
fn is_plain(digits: &Digits) -> bool {
    digits.derived.is_empty() && digits.chains.iter().all(|chain| chain.of_digit.is_none())
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

/// Value of `index` at the first element, where every logical index is 0.
fn at_first(index: &Expr) -> Result<Expr, ExprError> {
    index.substitute(&|var| matches!(var, Var::Axis(_)).then(|| Expr::constant(0)))
}

/// Sum `a + b`, or `a` alone if `b` is the constant 0.
fn plus(a: &Expr, b: &Expr) -> Result<Expr, ExprError> {
    if b.as_const() == Some(0) { Ok(a.clone()) } else { Expr::binary(BinOp::Add, a, b) }
}

/// Weighted sum `indices[0] * weights[0] + …`, without factors of 1; 0 if there are no indices.
pub(super) fn weighted(indices: &[Expr], weights: &[Expr]) -> Result<Expr, ExprError> {
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

pub(super) fn physical_facts(symbols: &[Symbol], shape: &[Expr]) -> Result<Facts, ExprError> {
    let mut facts = Facts::new(symbols);
    for (k, extent) in (0_u32..).zip(shape) {
        facts.set_extent(Var::Physical(k), extent)?;
    }
    Ok(facts)
}
