//! Construction of layouts from steps: index maps, which replace the current storage axes by new ones, and requests for
//! their placement in memory, such as strides and alignments.
//!
//! A [`LayoutBuilder`] starts as the row-major layout of the logical axes. [`LayoutBuilder::apply`] applies an
//! [`IndexMap`] to the current storage axes. [`LayoutBuilder::finish`] places the storage axes in memory and proves the
//! layout injective.

pub mod definition;

mod axis_extent;
mod compose;
mod domain;
mod error;
mod finish;
mod inverse;
mod placement;
mod regroup;
mod regroup_placement;
mod swizzle;
mod window;

use alloc::vec::Vec;

use crate::Error;
use crate::expr::parse;
use crate::expr::{Expr, Var};
use crate::layout::physical::PlacementOptions;
use crate::map::{IndexMap, MapScope, resolve};
use crate::normal_form::simplify::Facts;
use crate::step::{MAX_AXES, StepError};
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
    /// [`BuildError::Size`] if the number of elements or bytes does not fit 64 bits; [`BuildError::Step`] for more than
    /// [`MAX_AXES`] axes; [`BuildError::Expr`] if an extent is too large an expression, or a value overflows.
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

    /// True if a step accounts for padding, so that slots without elements are intended. Examples are an alignment,
    /// strides, a swizzle, a window, another element size, and a stated extent that is larger than needed.
    pub fn explains_padding(&self) -> bool {
        self.explained
    }

    /// Applies an index map given as text, such as `(n, c) -> (n, c // 4, c % 4)`. A name in the items is a parameter
    /// of the map (a current axis if the map has no parameter list) or a symbol.
    ///
    /// # Errors
    /// [`Error::Parse`] for a syntax error, [`Error::Map`] for an unknown name or another violation of the rules of
    /// maps, and [`Error::Build`] as in [`apply`](Self::apply).
    pub fn map(&mut self, text: &str) -> Result<(), Error> {
        let symbol = |name: &str| {
            let k = self.symbols.iter().position(|symbol| symbol.name == name)?;
            Some(Expr::var(Var::Symbol(u32::try_from(k).ok()?)))
        };
        let scope = MapScope { axes: &self.storage, values: &symbol, facts: &self.facts };
        let map = resolve(&parse::map(text)?, scope)?;
        Ok(self.apply(&map)?)
    }

    /// Applies an index map whose items become the new storage axes: `Var::Storage(k)` in `map` is current storage axis
    /// `k`. The builder is unchanged after an error.
    ///
    /// # Errors
    /// [`BuildError::Negative`], [`BuildError::ExtentTooSmall`] or [`BuildError::Unbounded`] for an index that is not
    /// proven to be in its extent; [`BuildError::EmptyGroup`] for separators that leave a group empty;
    /// [`BuildError::Size`] or [`BuildError::Step`] if the layout would be too large or have too many axes;
    /// [`BuildError::AfterStrides`], [`BuildError::AfterSeparators`], [`BuildError::AfterSwizzle`] or
    /// [`BuildError::AfterAlign`] if strides, separators, a swizzle, or an alignment or rounding are set already;
    /// [`BuildError::Expr`] if an expression is too large or a value overflows.
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
}

/// Expression that is substituted for `var` when maps are composed: `map[k]` for `Var::Storage(k)`, `None` for any
/// other variable.
fn current(var: Var, map: &[Expr]) -> Option<Expr> {
    match var {
        Var::Storage(k) => map.get(usize::try_from(k).ok()?).cloned(),
        _ => None,
    }
}

/// Checks the separators of a map with `rank` items. `after` contains the positions of the items that a separator
/// follows; they must be ascending without repetition, and the last one must be below `rank - 1`.
/// [`BuildError::EmptyGroup`] otherwise.
fn check_separators(after: &[usize], rank: usize) -> Result<(), BuildError> {
    let ascending = after.windows(2).all(|pair| pair.first() < pair.last());
    let inside = after.last().is_none_or(|last| last + 1 < rank);
    if ascending && inside { Ok(()) } else { Err(BuildError::EmptyGroup) }
}

/// Checks that the product of the extents, with each extent 0 counted as 1, and the size of that many elements in bytes
/// fit 64 bits for all values of the symbols. [`BuildError::Size`] if that is not proven. The size in bytes is not
/// checked if an extent is always 0.
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
