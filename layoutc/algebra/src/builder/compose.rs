//! Composition and inversion of proven layouts. Every resulting layout is proven again.

use alloc::format;
use alloc::vec::Vec;

use super::{BuildError, LayoutBuilder};
use crate::Error;
use crate::expr::{Expr, ExprError, Var};
use crate::layout::{Layout, Verdict};
use crate::map::{IndexMap, MapItem};
use crate::prove::SequentialExecutor;
use crate::query::equivalence::CompareError;
use crate::symbol::{Axis, Symbol};

impl Layout {
    /// Composes this layout (outer) with `inner`, whose physical axes correspond to the logical axes of this layout.
    /// The result has the logical axes of `inner`: its element `i` is placed where this layout places the element
    /// whose logical index is the physical index of `i` in `inner`.
    ///
    /// `CuTe` calls this operation `composition(self, inner)`, `R(i) = self(inner(i))`; here there is one index per
    /// axis in place of a single index.
    ///
    /// ```
    /// use layoutc_algebra::{Error, Layout};
    ///
    /// let blocked = Layout::builder([("n", 16), ("c", 128)]).map("(n, c) -> (c // 4, n, c % 4)")?.prove()?;
    /// // Every second row.
    /// let rows = Layout::builder([("k", 8), ("c", 128)]).map("(k, c) -> (2 * k | c)")?.prove()?;
    /// let composed = blocked.compose(&rows)?;
    /// assert_eq!(composed.offset_of(&[3, 5])?, blocked.offset_of(&[6, 5])?);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Build`] if, for example, `inner` has another number of physical axes than this layout has logical axes,
    /// or a physical index of `inner` leaves the extent of the logical axis of this layout; [`Error::OuterDomain`] or
    /// [`Error::OuterShards`] if this layout is restricted to a domain or places several shards in one memory;
    /// [`Error::Compare`] if the two layouts declare a symbol differently; [`Error::Proof`] if the result is not proven
    /// injective, for example because `inner` is a read-only view; [`Error::Expr`] if an expression grows too large.
    pub fn compose(&self, inner: &Self) -> Result<Self, Error> {
        if self.domain.is_some() {
            return Err(Error::OuterDomain);
        }
        if inner.physical_map.len() != self.logical.len() {
            let (given, axes) = (inner.physical_map.len(), self.logical.len());
            return Err(BuildError::WindowRank { given, axes }.into());
        }
        let outer = LayoutBuilder::of(self)?;
        let symbols = all_symbols(self, inner)?;
        let inner = inner.clone().over_symbols(&symbols)?;
        let mut window = LayoutBuilder::new(&symbols, &inner.logical, outer.demands.element_bits)?;
        if let Some(domain) = inner.domain {
            window.restrict(domain)?;
        }
        let indices = inner.physical_map.iter().zip(&self.logical);
        let items = indices.map(|(index, axis)| item(index, axis)).collect::<Result<_, _>>()?;
        let composed = outer.window_under(window, &IndexMap { items, separators: Vec::new() })?;
        Ok(composed.finish(self.alignment_bytes, &SequentialExecutor)?)
    }

    /// Inverse of a bijective layout. Its logical axes are the physical axes of this layout, named `p0`, `p1`, …,
    /// and each of its physical axes is a logical axis of this layout.
    ///
    /// ```
    /// use layoutc_algebra::{Error, Layout};
    ///
    /// let blocked = Layout::builder([("n", 16), ("c", 128)]).map("(n, c) -> (c // 4, n, c % 4)")?.prove()?;
    /// assert_eq!(blocked.inverted()?.locate(&[77], &[])?.physical, [3, 5]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Padding`] if the layout is not bijective, and [`Error::NoInverse`] if it was proven by enumeration;
    /// [`Layout::element_at`] also serves such layouts. [`Error::Build`], [`Error::Proof`] or [`Error::Expr`] if the
    /// inverse cannot be built or proven as a layout of its own.
    pub fn inverted(&self) -> Result<Self, Error> {
        if self.verdict != Verdict::Bijective {
            return Err(Error::Padding);
        }
        let inverse = self.inverse.as_ref().ok_or(Error::NoInverse)?;
        let axis =
            |(k, extent): (usize, &Expr)| Axis { name: format!("p{k}"), extent: extent.clone() };
        let axes: Vec<Axis> = self.physical_shape.iter().enumerate().map(axis).collect();
        let bits = self.demands.as_ref().map_or(1, |demands| demands.element_bits);
        let mut builder = LayoutBuilder::new(&self.symbols, &axes, bits)?;
        let indices = inverse.iter().zip(&self.logical);
        let items = indices.map(|(index, axis)| item(index, axis)).collect::<Result<_, _>>()?;
        let separators = (1..self.logical.len()).map(|k| k - 1).collect();
        builder.apply(&IndexMap { items, separators })?;
        Ok(builder.finish(self.alignment_bytes, &SequentialExecutor)?)
    }
}

impl LayoutBuilder {
    /// Builder with the symbols, axes, storage indices, separators and placement options of `layout`, a proven layout
    /// without a domain. The outer layout of a composition is continued from this state. [`Error::OuterShards`] if
    /// `layout` places several shards in one memory.
    fn of(layout: &Layout) -> Result<Self, Error> {
        let demands = layout.demands.clone().ok_or(Error::OuterShards)?;
        Ok(Self {
            symbols: layout.symbols.clone(),
            logical: layout.logical.clone(),
            domain: None,
            facts: layout.facts()?,
            storage: layout.storage.clone(),
            composed: layout.storage_map.clone(),
            map: layout.storage_map.clone(),
            separators: layout.separators.clone(),
            demands,
            explained: true,
            recorded: None,
        })
    }
}

/// Symbols of two layouts, matched by name: those of `outer` first, then those that only `inner` has. Returns
/// [`CompareError::Symbol`] if the layouts declare a symbol differently.
fn all_symbols(outer: &Layout, inner: &Layout) -> Result<Vec<Symbol>, CompareError> {
    let mut symbols = outer.symbols.clone();
    for own in &inner.symbols {
        match symbols.iter().find(|symbol| symbol.name == own.name) {
            None => symbols.push(own.clone()),
            Some(symbol) if symbol == own => {}
            Some(symbol) => return Err(CompareError::Symbol { name: symbol.name.clone() }),
        }
    }
    Ok(symbols)
}

/// Item of an index map with the name and extent of `axis`. Its index is `index` with `Var::Axis(k)` and
/// `Var::Physical(k)` renamed to `Var::Storage(k)`, the variable of an index map for the axis `k` that it is applied
/// to.
fn item(index: &Expr, axis: &Axis) -> Result<MapItem, ExprError> {
    let index = index.substitute(&|var| match var {
        Var::Axis(k) | Var::Physical(k) => Some(Expr::var(Var::Storage(k))),
        _ => None,
    })?;
    let extent = Some(axis.extent.clone());
    Ok(MapItem { name: axis.name.clone(), index, extent, span: 0..0 })
}
