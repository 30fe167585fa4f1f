//! From steps to a proven layout.
//!
//! A [`Builder`] starts as the row-major layout of the logical axes. Every step is an [`IndexMap`] on the current axes;
//! [`Builder::finish`] places the storage axes in memory and proves the whole.

use alloc::vec::Vec;

use thiserror::Error;

use crate::expr::{BinOp, Cmp, Comparison, Expr, ExprError, Predicate, Var};
use crate::layout::{Axis, Layout, Proof, Symbol, Verdict};
use crate::map::{IndexMap, Item};
use crate::physical::{self, Demands, Placement, groups};
use crate::poly::Poly;
use crate::proof::check::{self, Certificate, CheckError, Targets};
use crate::proof::{Claim, Domain, Parallel, Proven, Refusal, extremes, prove};
use crate::range::interval;
use crate::simplify::{Facts, Interval};
use crate::step::{MAX_AXES, StepError, find_axis};

/// Why a step cannot follow those before it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BuildError {
    /// A step that changes axes after separators.
    #[error("separators stand already: no later step may change the axes")]
    AfterSeparators,
    /// A step that changes axes, or separators, after `strides`.
    #[error("strides stand already: no later step may change the axes or group them")]
    AfterStrides,
    /// A number of strides that is not the number of axes.
    #[error("{given} strides for {axes} axes")]
    StrideCount {
        /// How many strides were given.
        given: usize,
        /// How many axes there are.
        axes: usize,
    },
    /// A stride below 0.
    #[error("a stride is below 0")]
    NegativeStride,
    /// A separator that leaves a group empty, or stands twice.
    #[error("a separator leaves a group of axes empty")]
    EmptyGroup,
    /// An index that goes below 0.
    #[error("the index goes below 0: it is {value}")]
    Negative {
        /// Which item of the map.
        item: usize,
        /// The logical index for which it does.
        witness: Vec<i128>,
        /// The index there.
        value: i128,
    },
    /// A stated extent that some index does not fit.
    #[error("the stated extent is too small: an index is {value}")]
    ExtentTooSmall {
        /// Which item of the map.
        item: usize,
        /// The logical index that does not fit; empty when that depends on a symbol.
        witness: Vec<i128>,
        /// The index there.
        value: i128,
        /// The extent that would do, over symbols.
        needed: Expr,
    },
    /// An index that may go below 0, or beyond its stated extent, for all that can be proven.
    #[error("the index could not be proven to stay inside")]
    Unbounded {
        /// Which item of the map.
        item: usize,
    },
    /// More elements or bytes than 64 bits count.
    #[error("the tensor does not fit 64 bits")]
    Size,
    /// A step's own fault.
    #[error(transparent)]
    Step(#[from] StepError),
    /// Too large, or beyond the integers.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// A layout in the making.
#[derive(Debug, Clone)]
pub struct Builder {
    symbols: Vec<Symbol>,
    logical: Vec<Axis>,
    facts: Facts,
    storage: Vec<Axis>,
    /// One index per storage axis over `Var::Axis`: as composed, and simplified.
    composed: Vec<Expr>,
    map: Vec<Expr>,
    separators: Vec<usize>,
    demands: Demands,
    explained: bool,
}

impl Builder {
    /// The row-major layout of `logical`; extents are expressions over symbols.
    ///
    /// # Errors
    /// [`BuildError::Size`] when the tensor's elements or bytes do not fit 64 bits.
    pub fn new(
        symbols: &[Symbol],
        logical: &[Axis],
        element_bits: u32,
    ) -> Result<Self, BuildError> {
        if logical.len() > MAX_AXES {
            return Err(StepError::TooManyAxes(logical.len()).into());
        }
        let mut facts = Facts::new(symbols);
        let mut axes = Vec::new();
        for (k, axis) in (0_u32..).zip(logical) {
            let extent = facts.simplify(&axis.extent)?;
            facts.set_extent(Var::Axis(k), &extent)?;
            axes.push(Axis { name: axis.name.clone(), extent });
        }
        check_size(axes.iter().map(|a| &a.extent), element_bits, &facts)?;
        let composed: Vec<Expr> =
            (0_u32..).zip(&axes).map(|(k, _)| Expr::var(Var::Axis(k))).collect();
        let map = composed.iter().map(|e| facts.simplify(e)).collect::<Result<_, _>>()?;
        let demands = Demands { element_bits, ..Demands::default() };
        Ok(Self {
            symbols: symbols.to_vec(),
            logical: axes.clone(),
            facts,
            storage: axes,
            composed,
            map,
            separators: Vec::new(),
            demands,
            explained: false,
        })
    }

    /// The current axes.
    pub fn axes(&self) -> &[Axis] {
        &self.storage
    }

    /// The logical axes, extents simplified.
    pub fn logical(&self) -> &[Axis] {
        &self.logical
    }

    /// Facts of symbols and logical axes.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether a step so far explains padding (`pad`, `align`, `strides`, a stated extent).
    pub fn explains_padding(&self) -> bool {
        self.explained
    }

    /// Applies a map to the current axes.
    ///
    /// # Errors
    /// [`BuildError`]; the builder is left as it was.
    pub fn apply(&mut self, map: &IndexMap) -> Result<(), BuildError> {
        if self.demands.strides.is_some() {
            return Err(BuildError::AfterStrides);
        }
        if !self.separators.is_empty() {
            return Err(BuildError::AfterSeparators);
        }
        if map.items.len() > MAX_AXES {
            return Err(StepError::TooManyAxes(map.items.len()).into());
        }
        let mut next = self.clone();
        next.storage = Vec::new();
        next.composed = Vec::new();
        next.map = Vec::new();
        for (k, item) in map.items.iter().enumerate() {
            let composed = item.index.substitute(&|var| self.current(var, &self.composed))?;
            let simple = item.index.substitute(&|var| self.current(var, &self.map))?;
            let simple = self.facts.simplify(&simple)?;
            let extent = self.extent(k, item, &simple, &mut next.explained)?;
            next.storage.push(Axis { name: item.name.clone(), extent });
            next.composed.push(composed);
            next.map.push(simple);
        }
        next.separate(&map.separators)?;
        check_size(next.storage.iter().map(|a| &a.extent), next.demands.element_bits, &next.facts)?;
        *self = next;
        Ok(())
    }

    fn current(&self, var: Var, map: &[Expr]) -> Option<Expr> {
        match var {
            Var::Storage(k) => map.get(usize::try_from(k).ok()?).cloned(),
            _ => None,
        }
    }

    /// The extent of a storage axis: see the language's section 3.
    fn extent(
        &self,
        k: usize,
        item: &Item,
        index: &Expr,
        explained: &mut bool,
    ) -> Result<Expr, BuildError> {
        let range = |var| self.current_range(var);
        let written = interval(&item.index, &range, &self.facts)?;
        let empty = self.logical.iter().any(|axis| axis.extent.as_const() == Some(0));
        if !empty && !self.facts.at_least_zero(&written.low)? {
            self.stays_above(k, index)?;
        }
        let own = self.facts.render(&written.high.plus(1)?)?;
        let own =
            if self.facts.bounds(&own)?.0 < 0 { at_least_zero(&own, &self.facts)? } else { own };
        let Some(stated) = &item.extent else { return Ok(own) };
        let stated = self.facts.simplify(stated)?;
        if self.facts.proves_ge(&stated, &own)? {
            if !self.facts.proves_eq(&stated, &own)? {
                *explained = true;
            }
            return Ok(stated);
        }
        if !empty {
            self.stays_below(k, index, &stated)?;
        }
        Ok(stated)
    }

    fn current_range(&self, var: Var) -> Option<Interval> {
        let Var::Storage(k) = var else { return None };
        let axis = self.storage.get(usize::try_from(k).ok()?)?;
        let extent = self.facts.normalize(&axis.extent).ok()?;
        Some(Interval { low: Poly::zero(), high: extent.plus(-1).ok()? })
    }

    /// The box of the logical axes that an expression reads, when it is static.
    fn domain_of(&self, index: &Expr) -> Option<(Vec<usize>, Vec<i128>)> {
        let (mut axes, mut extents) = (Vec::new(), Vec::new());
        for var in index.vars() {
            let Var::Axis(k) = var else { return None };
            let k = usize::try_from(k).ok()?;
            axes.push(k);
            extents.push(self.logical.get(k)?.extent.as_const()?);
        }
        Some((axes, extents))
    }

    fn extremes_of(&self, index: &Expr) -> Result<Option<[(i128, Vec<i128>); 2]>, BuildError> {
        let Some((axes, extents)) = self.domain_of(index) else { return Ok(None) };
        let targets = [index.clone()];
        let domain = Domain { axes: &axes, extents: &extents, targets: &targets, slots: &[1] };
        let Some(found) = extremes(&domain)? else { return Ok(None) };
        Ok(Some(found.map(|(value, point)| {
            let mut whole = alloc::vec![0; self.logical.len()];
            for (axis, index) in axes.iter().zip(point) {
                if let Some(slot) = whole.get_mut(*axis) {
                    *slot = index;
                }
            }
            (value, whole)
        })))
    }

    fn stays_above(&self, item: usize, index: &Expr) -> Result<(), BuildError> {
        if self.facts.proves_ge(index, &Expr::constant(0))? {
            return Ok(());
        }
        if let Some([(value, witness), _]) = self.extremes_of(index)? {
            return if value < 0 {
                Err(BuildError::Negative { item, witness, value })
            } else {
                Ok(())
            };
        }
        // With symbols: the first element is as good a witness as any.
        let witness = alloc::vec![0; self.logical.len()];
        let least: Vec<i128> = self.symbols.iter().map(|s| s.min.max(1)).collect();
        let value = index.evaluate(&|var| crate::proof::value_of(var, &witness, &least));
        match value {
            Ok(value) if value < 0 => Err(BuildError::Negative { item, witness, value }),
            _ => Err(BuildError::Unbounded { item }),
        }
    }

    fn stays_below(&self, item: usize, index: &Expr, stated: &Expr) -> Result<(), BuildError> {
        let next = Expr::binary(BinOp::Add, index, &Expr::constant(1))?;
        if self.facts.proves_ge(stated, &next)? {
            return Ok(());
        }
        match (self.extremes_of(index)?, stated.as_const()) {
            (Some([_, (value, witness)]), Some(stated)) if value >= stated => {
                let needed = Expr::constant(value + 1);
                Err(BuildError::ExtentTooSmall { item, witness, value, needed })
            }
            (Some(_), Some(_)) => Ok(()),
            _ => Err(BuildError::Unbounded { item }),
        }
    }

    /// Puts a separator after each of these storage axes, by position.
    ///
    /// # Errors
    /// [`BuildError::EmptyGroup`], [`BuildError::AfterStrides`], [`BuildError::AfterSeparators`].
    pub fn separate(&mut self, after: &[usize]) -> Result<(), BuildError> {
        if after.is_empty() {
            return Ok(());
        }
        if self.demands.strides.is_some() {
            return Err(BuildError::AfterStrides);
        }
        if !self.separators.is_empty() {
            return Err(BuildError::AfterSeparators);
        }
        let ascending = after.windows(2).all(|pair| pair.first() < pair.last());
        let inside = after.last().is_some_and(|last| last + 1 < self.storage.len());
        if !ascending || !inside {
            return Err(BuildError::EmptyGroup);
        }
        self.separators = after.to_vec();
        Ok(())
    }

    /// Lays the current axes out with these element strides, major to minor: one group of rank 1.
    ///
    /// # Errors
    /// [`BuildError::StrideCount`], [`BuildError::NegativeStride`], [`BuildError::AfterSeparators`].
    pub fn strides(&mut self, strides: &[Expr]) -> Result<(), BuildError> {
        if self.demands.strides.is_some() {
            return Err(BuildError::AfterStrides);
        }
        if !self.separators.is_empty() {
            return Err(BuildError::AfterSeparators);
        }
        if strides.len() != self.storage.len() {
            return Err(BuildError::StrideCount { given: strides.len(), axes: self.storage.len() });
        }
        let strides: Vec<Expr> =
            strides.iter().map(|s| self.facts.simplify(s)).collect::<Result<_, _>>()?;
        for stride in &strides {
            if self.facts.bounds(stride)?.0 < 0 {
                return Err(BuildError::NegativeStride);
            }
        }
        self.demands.strides = Some(strides);
        self.explained = true;
        Ok(())
    }

    /// Makes every step along the storage axis `name` a multiple of `bytes`.
    ///
    /// # Errors
    /// [`StepError::UnknownAxis`] through [`BuildError::Step`]; [`BuildError::AfterStrides`].
    pub fn align_axis(&mut self, name: &str, bytes: i128) -> Result<(), BuildError> {
        if self.demands.strides.is_some() {
            return Err(BuildError::AfterStrides);
        }
        let axis = find_axis(&self.storage, name)?;
        self.demands.alignments.push((axis, bytes));
        self.explained = true;
        Ok(())
    }

    /// Places the storage axes in memory and proves the layout.
    ///
    /// # Errors
    /// [`FinishError`].
    pub fn finish(
        self,
        alignment_bytes: u64,
        parallel: &dyn Parallel,
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
            parallel,
        )?;
        self.assemble(alignment_bytes, &placement, physical_elements, &claimed, proven, parallel)
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
        proven: Proven,
        parallel: &dyn Parallel,
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
        let readers = self.readers(placement, &groups)?;
        let (mut inverse, mut valid) = (None, None);
        if let Some(told) = &proven.inverse {
            let at_targets =
                |expr: &Expr| expr.substitute(&|var| self.current(var, &readers.targets));
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
            logical_elements,
            physical_elements,
            alignment_bytes,
        };
        match check::check(&layout, &certificate, parallel) {
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
        facts: &Facts,
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

fn at_least_zero(extent: &Expr, facts: &Facts) -> Result<Expr, ExprError> {
    facts.simplify(&Expr::binary(BinOp::Max, extent, &Expr::constant(0))?)
}

/// A comparison in its simplest form; `None` when it always holds.
fn reduce(
    left: &Expr,
    op: Cmp,
    right: &Expr,
    facts: &Facts,
) -> Result<Option<Comparison>, ExprError> {
    let difference = facts.simplify(&Expr::binary(BinOp::Sub, left, right)?)?;
    let zero = Expr::constant(0);
    let always = match op {
        Cmp::Eq => difference.as_const() == Some(0),
        Cmp::Lt => facts.proves_ge(&Expr::constant(-1), &difference)?,
        Cmp::Ge => facts.proves_ge(&difference, &zero)?,
    };
    if always {
        return Ok(None);
    }
    if op == Cmp::Eq {
        return Ok(Some(equation(difference, left, right, facts)?));
    }
    Ok(Some(Comparison { left: facts.simplify(left)?, op, right: facts.simplify(right)? }))
}

/// `left == right`, as `x % k == 0` when their difference is a lone remainder.
fn equation(
    difference: Expr,
    left: &Expr,
    right: &Expr,
    facts: &Facts,
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

/// Elements and bytes must fit 64 bits, for all values of the symbols.
fn check_size<'a>(
    extents: impl Iterator<Item = &'a Expr>,
    element_bits: u32,
    facts: &Facts,
) -> Result<(), BuildError> {
    let mut elements = 1_i128;
    let mut empty = false;
    for extent in extents {
        let (_, most) = facts.bounds(extent).map_err(|_| BuildError::Size)?;
        empty |= most <= 0;
        elements = elements.checked_mul(most.max(1)).ok_or(BuildError::Size)?;
        if elements > i128::from(i64::MAX) {
            return Err(BuildError::Size);
        }
    }
    let bits = elements.checked_mul(i128::from(element_bits)).ok_or(BuildError::Size)?;
    if !empty && bits / 8 > i128::from(i64::MAX) { Err(BuildError::Size) } else { Ok(()) }
}
