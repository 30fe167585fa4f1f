//! Extents of storage axes. An index of a map is proven to be inside the extent of its storage axis, or refuted by an
//! element whose index is outside. [`BuildError::Unbounded`] reports an index for which neither succeeds.

use alloc::vec::Vec;

use super::{BuildError, LayoutBuilder};
use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::layout::symbol_values::samples;
use crate::map::MapItem;
use crate::normal_form::poly::Poly;
use crate::normal_form::simplify::{Facts, Interval};
use crate::prove::difference_bounds::interval_of_index;
use crate::prove::{EnumerationDomain as Points, Extremes, extremes, value_of};

impl LayoutBuilder {
    /// Extent of the storage axis that `item`, at position `k` of its map, defines: the extent that the item states or,
    /// without one, the upper bound of its index plus 1. The bound is computed on the index as written: `e % 4` has the
    /// extent 4 for any `e`. If a domain connects several axes of the index and can be enumerated, the bound is the
    /// maximum over the elements instead. `index` is the index of the item over `Var::Axis`. Sets `explained` to true
    /// if the stated extent accounts for padding: it is not proven equal to the extent that is needed, or the user
    /// wrote it for an index other than a single axis.
    ///
    /// # Errors
    /// [`BuildError::Negative`], [`BuildError::ExtentTooSmall`] or [`BuildError::Unbounded`] if `index` is not proven
    /// to be in `0..extent`; [`BuildError::Expr`] if an expression is too large, or a value overflows.
    pub(super) fn extent(
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

    /// Pair `(axes, extents)`. `axes` are the positions, ascending, of the logical axes that `index` reads and of those
    /// that domain conditions connect to these. `extents` are the extents of `axes`. `None` if `index` reads a symbol,
    /// or if one of the extents is symbolic.
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

    pub(super) fn extremes_of(&self, index: &Expr) -> Result<Option<Extremes>, BuildError> {
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
}

/// Logical indices at corners of the shape `extents` under the values `symbols`: all axes at 0, each axis alone at its
/// last index, and all axes at their last index. For the extents 2 and 3: `[0, 0]`, `[1, 0]`, `[0, 2]` and `[1, 2]`.
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

fn at_least_zero(extent: &Expr, facts: &Facts) -> Result<Expr, ExprError> {
    facts.simplify(&Expr::binary(BinOp::Max, extent, &Expr::constant(0))?)
}
