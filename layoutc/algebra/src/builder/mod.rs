//! Construction of layouts from steps, each of which maps the current storage axes to new ones.
//!
//! A [`LayoutBuilder`] starts as the row-major layout of the logical axes. Every step applies an [`IndexMap`] to the
//! current storage axes. [`LayoutBuilder::finish`] places the storage axes in memory and proves the layout
//! injective.

pub mod definition;

mod compose;
mod domain;
mod error;
mod finish;
mod inverse;
mod regroup;
mod regroup_placement;
mod swizzle;
mod window;

use alloc::vec::Vec;

use crate::Error;
use crate::expr::parse;
use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::layout::physical::PlacementOptions;
use crate::layout::swizzle::Swizzle;
use crate::layout::symbol_values::samples;
use crate::map::{IndexMap, MapItem, MapScope, resolve};
use crate::normal_form::poly::Poly;
use crate::normal_form::simplify::{Facts, Interval};
use crate::prove::difference_bounds::interval_of_index;
use crate::prove::{EnumerationDomain as Points, Extremes, extremes, value_of};
use crate::step::{MAX_AXES, StepError, find_axis};
use crate::symbol::{Axis, Symbol};

use domain::Domain;
pub use error::BuildError;
pub use finish::FinishError;
pub use regroup::{ElementRegroup, RegroupError};

/// Layout under construction, with symbols, strides, separators, swizzles and alignments.
///
/// ```
/// use layoutc_algebra::{Axis, Error, Expr, LayoutBuilder, SequentialExecutor, Symbol, Var};
///
/// let rows = Symbol { name: "rows".into(), min: 1, max: 4096, multiple: 1 };
/// let r = Axis { name: "r".into(), extent: Expr::var(Var::Symbol(0)) };
/// let c = Axis { name: "c".into(), extent: Expr::constant(6) };
/// let mut builder = LayoutBuilder::new(&[rows], &[r, c], 32)?;
/// builder.map("(r, c) -> (c // 4, r, c % 4)")?;
/// let layout = builder.finish(64, &SequentialExecutor)?;
/// // The second block of 4 channels starts after `rows * 4` slots.
/// assert_eq!(layout.locate(&[2, 5], &[100])?.offset, 100 * 4 + 2 * 4 + 1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LayoutBuilder {
    symbols: Vec<Symbol>,
    logical: Vec<Axis>,
    /// Domain of the elements among the logical indices; `None` if every logical index is an element.
    domain: Option<Domain>,
    facts: Facts,
    storage: Vec<Axis>,
    /// Index of each storage axis over `Var::Axis`, composed from the maps without simplification, as the proof
    /// checker requires. `map` contains the same indices simplified.
    composed: Vec<Expr>,
    map: Vec<Expr>,
    separators: Vec<usize>,
    demands: PlacementOptions,
    explained: bool,
    /// Maps applied since the last call of [`LayoutBuilder::take_recorded`], in order; `None` if maps are not
    /// recorded.
    recorded: Option<Vec<IndexMap>>,
}

impl LayoutBuilder {
    /// Creates the row-major layout of the axes `logical`, outermost first, whose extents are expressions over
    /// `symbols`. Elements have `element_bits` bits.
    ///
    /// # Errors
    /// [`BuildError::Size`] if the number of elements or bytes does not fit 64 bits; [`BuildError::Step`] for too
    /// many axes.
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
        let demands = PlacementOptions { element_bits, ..PlacementOptions::default() };
        Ok(Self {
            symbols: symbols.to_vec(),
            logical: axes.clone(),
            domain: None,
            facts,
            storage: axes,
            composed,
            map,
            separators: Vec::new(),
            demands,
            explained: false,
            recorded: None,
        })
    }

    /// Builder that records every map applied from now on, for [`LayoutBuilder::take_recorded`].
    #[must_use]
    pub fn recording(self) -> Self {
        Self { recorded: Some(Vec::new()), ..self }
    }

    /// Returns the maps recorded since the last call, in order, and clears the record. One step or notation text
    /// may apply any number of maps. Empty without [`LayoutBuilder::recording`].
    pub fn take_recorded(&mut self) -> Vec<IndexMap> {
        self.recorded.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Current storage axes, outermost first.
    pub fn axes(&self) -> &[Axis] {
        &self.storage
    }

    /// Positions of the storage axes that are followed by an axis separator, ascending.
    pub fn separators(&self) -> &[usize] {
        &self.separators
    }

    /// Logical axes, outermost first, with simplified extents.
    pub fn logical(&self) -> &[Axis] {
        &self.logical
    }

    /// Known ranges of the symbols and of the indices along the logical axes.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Explicit strides of the storage axes, in elements, outermost first; `None` if none are set and strides follow
    /// from the extents.
    pub fn element_strides(&self) -> Option<&[Expr]> {
        self.demands.strides.as_deref()
    }

    /// Size of an element in bits.
    pub fn element_bits(&self) -> u32 {
        self.demands.element_bits
    }

    /// True if a step accounts for padding, so that slots without elements are intended: `pad`, `align`, `strides`,
    /// a swizzle, a stated extent, a window or another element size.
    pub fn explains_padding(&self) -> bool {
        self.explained
    }

    /// Applies an index map given as text, such as `(n, c) -> (n, c // 4, c % 4)`. A name in the items is a parameter
    /// of the map (a current axis if the map has no parameter list) or a symbol.
    ///
    /// # Errors
    /// [`Error::Parse`], [`Error::Map`], and [`Error::Build`] as in
    /// [`apply`](Self::apply).
    pub fn map(&mut self, text: &str) -> Result<(), Error> {
        let symbol = |name: &str| {
            let k = self.symbols.iter().position(|symbol| symbol.name == name)?;
            Some(Expr::var(Var::Symbol(u32::try_from(k).ok()?)))
        };
        let scope = MapScope { axes: &self.storage, values: &symbol, facts: &self.facts };
        let map = resolve(&parse::map(text)?, scope)?;
        Ok(self.apply(&map)?)
    }

    /// Applies an index map whose items become the new storage axes: `Var::Storage(k)` in `map` is current storage
    /// axis `k`.
    ///
    /// # Errors
    /// [`BuildError`]; the builder is then unchanged.
    pub fn apply(&mut self, map: &IndexMap) -> Result<(), BuildError> {
        if self.demands.strides.is_some() {
            return Err(BuildError::AfterStrides);
        }
        if !self.separators.is_empty() {
            return Err(BuildError::AfterSeparators);
        }
        if self.demands.swizzle.is_some() {
            return Err(BuildError::AfterSwizzle);
        }
        if !self.demands.alignments.is_empty() || self.demands.tail > 1 || self.demands.origin > 0 {
            return Err(BuildError::AfterAlign);
        }
        if map.items.len() > MAX_AXES {
            return Err(StepError::TooManyAxes(map.items.len()).into());
        }
        let (mut storage, mut composed, mut simple) = (Vec::new(), Vec::new(), Vec::new());
        let mut explained = self.explained;
        for (k, item) in map.items.iter().enumerate() {
            let own = &self.facts.fixed(&item.index)?;
            composed.push(own.substitute(&|var| current(var, &self.composed))?);
            let index = own.substitute(&|var| current(var, &self.map))?;
            let index = self.facts.simplify(&index)?;
            let extent = self.extent(k, item, &index, &mut explained)?;
            storage.push(Axis { name: item.name.clone(), extent });
            simple.push(index);
        }
        check_separators(&map.separators, storage.len())?;
        check_size(storage.iter().map(|a| &a.extent), self.demands.element_bits, &self.facts)?;
        (self.storage, self.composed, self.map) = (storage, composed, simple);
        self.separators.clone_from(&map.separators);
        self.explained = explained;
        if let Some(recorded) = &mut self.recorded {
            recorded.push(map.clone());
        }
        Ok(())
    }

    /// Extent of the storage axis of map item `k`: the stated extent, or the greatest value of `index`, the index over
    /// `Var::Axis`, plus 1. An error if the index is not proven to be in `0..extent`. Sets `explained` if the stated
    /// extent accounts for padding: written for an index other than one axis, or larger than needed.
    fn extent(
        &self,
        k: usize,
        item: &MapItem,
        index: &Expr,
        explained: &mut bool,
    ) -> Result<Expr, BuildError> {
        let range = |var| self.current_range(var);
        let written = interval_of_index(&item.index, &range, &self.facts)?;
        let empty = self.logical.iter().any(|axis| axis.extent.as_const() == Some(0));
        if !empty && !self.facts.at_least_zero(&written.low)? {
            self.check_lower_bound(k, index)?;
        }
        let own = self.facts.render(&written.high.plus(1)?)?;
        let own = self.reached(index)?.unwrap_or(own);
        let own =
            if self.facts.bounds(&own)?.0 < 0 { at_least_zero(&own, &self.facts)? } else { own };
        let Some(stated) = &item.extent else { return Ok(own) };
        let stated = self.facts.simplify(stated)?;
        // Items that a step or a `*` passes through do not state an extent; only an extent that the user wrote accounts
        // for padding.
        *explained |= !item.span.is_empty() && item.index.as_var().is_none();
        if self.facts.proves_ge(&stated, &own)? {
            if !self.facts.proves_eq(&stated, &own)? {
                *explained = true;
            }
            return Ok(stated);
        }
        if !empty {
            self.check_upper_bound(k, index, &stated)?;
        }
        Ok(stated)
    }

    fn current_range(&self, var: Var) -> Option<Interval> {
        let Var::Storage(k) = var else { return None };
        let axis = self.storage.get(usize::try_from(k).ok()?)?;
        let extent = self.facts.normalize(&axis.extent).ok()?;
        Some(Interval { low: Poly::zero(), high: extent.plus(-1).ok()? })
    }

    /// Positions and extents of the logical axes that an index reads, and of all axes that conditions of the domain
    /// connect to them; `None` if the index reads a symbol or an extent is symbolic.
    fn box_of(&self, index: &Expr) -> Option<(Vec<usize>, Vec<i128>)> {
        let (mut axes, mut extents) = (Vec::new(), Vec::new());
        for var in index.vars() {
            let Var::Axis(k) = var else { return None };
            let k = usize::try_from(k).ok()?;
            axes.push(k);
        }
        self.tie(&mut axes);
        for k in &axes {
            extents.push(self.logical.get(*k)?.extent.as_const()?);
        }
        Some((axes, extents))
    }

    fn extremes_of(&self, index: &Expr) -> Result<Option<Extremes>, BuildError> {
        let Some((axes, extents)) = self.box_of(index) else { return Ok(None) };
        let targets = [index.clone()];
        let within = self.within(&axes);
        let domain = Points {
            axes: &axes,
            extents: &extents,
            targets: &targets,
            slots: &[1],
            within: &within,
        };
        let Some(found) = extremes(&domain)? else { return Ok(None) };
        Ok(Some(found.map(|(value, point)| {
            let mut whole = self.an_element().to_vec();
            whole.resize(self.logical.len(), 0);
            for (axis, index) in axes.iter().zip(point) {
                if let Some(slot) = whole.get_mut(*axis) {
                    *slot = index;
                }
            }
            (value, whole)
        })))
    }

    fn check_lower_bound(&self, item: usize, index: &Expr) -> Result<(), BuildError> {
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
        // Symbolic extents: search the corners of the box under sample values of the symbols.
        let extents: Vec<Expr> = self.logical.iter().map(|axis| axis.extent.clone()).collect();
        for symbols in samples(&self.symbols, &extents) {
            for witness in corner_elements(&extents, &symbols) {
                let value = index.evaluate(&|var| value_of(var, &witness, &symbols));
                if let Ok(value) = value
                    && value < 0
                    && self.contains(&witness, &symbols)?
                {
                    return Err(BuildError::Negative { item, witness, value });
                }
            }
        }
        Err(BuildError::Unbounded { item })
    }

    fn check_upper_bound(
        &self,
        item: usize,
        index: &Expr,
        stated: &Expr,
    ) -> Result<(), BuildError> {
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

    /// Puts an axis separator after each of the storage axes at the positions `after`, so that each group becomes a
    /// physical axis. An empty list changes nothing.
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
        check_separators(after, self.storage.len())?;
        self.separators = after.to_vec();
        Ok(())
    }

    /// Rounds the last physical extent up to a multiple of `multiple` elements, at least 1. A second call replaces the
    /// multiple of the first.
    ///
    /// # Errors
    /// [`BuildError::AfterSwizzle`], [`BuildError::AfterStrides`].
    pub fn round_up(&mut self, multiple: i128) -> Result<(), BuildError> {
        if self.demands.swizzle.is_some() {
            return Err(BuildError::AfterSwizzle);
        }
        if self.demands.strides.is_some() {
            return Err(BuildError::AfterStrides);
        }
        self.demands.tail = multiple;
        self.explained |= multiple > 1;
        Ok(())
    }

    /// Swizzles the index along the last physical axis. The extent of that axis is rounded up so that every swizzled
    /// index is inside the axis (see [`Swizzle::reach`]).
    ///
    /// # Errors
    /// [`BuildError::AfterSwizzle`]; [`BuildError::AfterAlign`] if the first element is aligned.
    pub fn swizzle(&mut self, swizzle: Swizzle) -> Result<(), BuildError> {
        if self.demands.origin > 0 {
            return Err(BuildError::AfterAlign);
        }
        if self.demands.swizzle.replace(swizzle).is_some() {
            return Err(BuildError::AfterSwizzle);
        }
        self.explained = true;
        Ok(())
    }

    /// Sets explicit strides of the current storage axes, in elements, outermost first. The axes then form one
    /// physical axis.
    ///
    /// # Errors
    /// [`BuildError::StrideCount`], [`BuildError::NegativeStride`], [`BuildError::AfterSeparators`],
    /// [`BuildError::AfterStrides`], [`BuildError::AfterSwizzle`].
    pub fn strides(&mut self, strides: &[Expr]) -> Result<(), BuildError> {
        if self.demands.swizzle.is_some() {
            return Err(BuildError::AfterSwizzle);
        }
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

    /// Aligns the first element by unused slots before it, so that its byte offset in the buffer becomes a multiple
    /// of `bytes`, a power of two. The largest alignment of several calls applies.
    ///
    /// # Errors
    /// [`BuildError::AfterSwizzle`].
    pub fn align_origin(&mut self, bytes: i128) -> Result<(), BuildError> {
        if self.demands.swizzle.is_some() {
            return Err(BuildError::AfterSwizzle);
        }
        self.demands.origin = self.demands.origin.max(bytes);
        self.explained = true;
        Ok(())
    }

    /// Rounds the stride of the storage axis `name` up to a multiple of `bytes` bytes. Of several calls for one axis,
    /// the first one counts.
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
}

/// Expression `map[k]` for `Var::Storage(k)`; `None` for any other variable.
fn current(var: Var, map: &[Expr]) -> Option<Expr> {
    match var {
        Var::Storage(k) => map.get(usize::try_from(k).ok()?).cloned(),
        _ => None,
    }
}

/// Logical indices at corners of the shape `extents` under the values `symbols`: all axes at 0, each axis alone at
/// its last index, and all axes at their last index.
fn corner_elements(extents: &[Expr], symbols: &[i128]) -> Vec<Vec<i128>> {
    let last = |extent: &Expr| extent.evaluate(&|var| value_of(var, &[], symbols));
    let last: Vec<i128> = extents.iter().map(|extent| last(extent).unwrap_or(1) - 1).collect();
    let alone = |k: usize| {
        last.iter().enumerate().map(|(at, end)| if at == k { *end } else { 0 }).collect()
    };
    let first = alloc::vec![0; last.len()];
    let mut all: Vec<Vec<i128>> = [first].into_iter().chain((0..last.len()).map(alone)).collect();
    all.push(last);
    all
}

/// Checks that separators after the axes at the positions `after`, among `rank` axes, are ascending and leave no
/// group empty.
fn check_separators(after: &[usize], rank: usize) -> Result<(), BuildError> {
    let ascending = after.windows(2).all(|pair| pair.first() < pair.last());
    let inside = after.last().is_none_or(|last| last + 1 < rank);
    if ascending && inside { Ok(()) } else { Err(BuildError::EmptyGroup) }
}

fn at_least_zero(extent: &Expr, facts: &Facts) -> Result<Expr, ExprError> {
    facts.simplify(&Expr::binary(BinOp::Max, extent, &Expr::constant(0))?)
}

/// Checks that the product of the extents, and the size of that many elements in bytes, fit 64 bits for all values
/// of the symbols.
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
