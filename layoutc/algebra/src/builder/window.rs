//! Windows: views of selected or repeated elements of a layout, such as every second row, with logical axes of their
//! own.

use alloc::vec::Vec;

use super::{BuildError, LayoutBuilder};
use crate::expr::{Expr, ExprError, Var};
use crate::map::{IndexMap, MapItem};
use crate::symbol::{Axis, Symbol};

impl LayoutBuilder {
    /// View of the memory of this layout with the logical axes `axes`. `map` has one index per logical axis of this
    /// layout, over the new axes: `Var::Storage(k)` is `axes[k]`. With the map `(k, c) -> (2 * k, c)`, element `(k, c)`
    /// of the view is element `(2 * k, c)` of this layout. `symbols` are the symbols of the view; the list must start
    /// with the symbols of this layout.
    ///
    /// # Errors
    /// [`BuildError::WindowRank`] if `map` has another number of indices than this layout has logical axes;
    /// [`BuildError::Negative`], [`BuildError::ExtentTooSmall`] and [`BuildError::Unbounded`] for an index outside this
    /// layout, with a witness in window indices; and the errors of [`LayoutBuilder::new`] for `axes`.
    pub fn window(
        &self,
        symbols: &[Symbol],
        axes: &[Axis],
        map: &IndexMap,
    ) -> Result<LayoutBuilder, BuildError> {
        if map.items.len() != self.logical.len() {
            let (given, axes) = (map.items.len(), self.logical.len());
            return Err(BuildError::WindowRank { given, axes });
        }
        let window = LayoutBuilder::new(symbols, axes, self.demands.element_bits)?;
        self.window_under(window, map)
    }

    /// View of the memory of this layout with the logical axes of `window`, a builder to which no step has been
    /// applied. `map` is as in [`Self::window`], with the symbols of `window`; its number of indices is not checked.
    pub(super) fn window_under(
        &self,
        mut window: LayoutBuilder,
        map: &IndexMap,
    ) -> Result<LayoutBuilder, BuildError> {
        let inside = |(item, axis): (&MapItem, &Axis)| {
            let extent = Some(axis.extent.clone());
            MapItem { extent, ..item.clone() }
        };
        let items = map.items.iter().zip(&self.logical).map(inside).collect();
        window.apply(&IndexMap { items, separators: Vec::new() })?;
        window.composed = substitute_axes(&self.composed, &window.composed)?;
        let map = substitute_axes(&self.map, &window.map)?;
        window.map =
            map.iter().map(|index| window.facts.simplify(index)).collect::<Result<_, _>>()?;
        window.storage.clone_from(&self.storage);
        window.separators.clone_from(&self.separators);
        window.demands = self.demands.clone();
        window.demands.lead = Some(self.placement()?.lead);
        window.explained = true;
        Ok(window)
    }
}

/// Indices with each logical axis `Var::Axis(k)` replaced by `axes[k]`.
pub(super) fn substitute_axes(indices: &[Expr], axes: &[Expr]) -> Result<Vec<Expr>, ExprError> {
    let axis = |var: Var| match var {
        Var::Axis(k) => axes.get(usize::try_from(k).ok()?).cloned(),
        _ => None,
    };
    indices.iter().map(|index| index.substitute(&axis)).collect()
}
