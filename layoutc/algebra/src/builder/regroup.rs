//! Reinterpretation of memory with another element size ([`LayoutBuilder::regroup_elements`]): joins adjacent
//! elements into wider ones, or splits elements into narrower ones.

use alloc::string::String;
use alloc::vec::Vec;

use thiserror::Error;

use super::LayoutBuilder;
use super::window::substitute_axes;
use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::layout::physical::{MemoryPlacement, groups};
use crate::normal_form::simplify::Facts;
use crate::symbol::Axis;

/// Change of the element size: join or split of elements, with the number of narrow elements per wide element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementRegroup {
    /// Joins this number of adjacent elements into one wider element.
    Join(i128),
    /// Splits each element into this number of narrower elements.
    Split(i128),
}

/// Error from joining or splitting elements. `lanes` is the number of narrow elements per wide element. The contiguous
/// storage axis is the one of stride 1 in the last physical axis; the contiguous logical axis is the one along which
/// elements are joined or split.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RegroupError {
    /// No storage axis of the last physical axis has stride 1, or no logical axis advances the index along that storage
    /// axis in steps of 1.
    #[error("no axis is contiguous in memory")]
    NoAxis,
    /// The extent of the logical axis `axis` is not proven to be a multiple of the number of lanes.
    #[error("the extent of axis {axis} is not a multiple of {lanes}")]
    Extent {
        /// Position of the innermost logical axis in the index of the contiguous storage axis, from 0, outermost first.
        axis: usize,
        /// Number of narrow elements per wide element.
        lanes: i128,
    },
    /// Elements to be joined are not proven to be adjacent for every index, or not proven to start at an offset that is
    /// a multiple of the number of lanes.
    #[error("the elements along axis {axis} are not contiguous runs of {lanes}")]
    NotContiguous {
        /// Position of the innermost logical axis in the index of the contiguous storage axis, from 0, outermost first.
        axis: usize,
        /// Number of narrow elements per wide element.
        lanes: i128,
    },
    /// A stride in narrow elements is not a multiple of the number of lanes, so that it is no whole number of wide
    /// elements; or the new layout would have a stride of another size in memory, for example because of an alignment.
    #[error("the stride of `{axis}` is not a multiple of {lanes}")]
    Stride {
        /// Name of the storage axis with this stride.
        axis: String,
        /// Stride of the axis in narrow elements, over symbols.
        stride: Expr,
        /// Number of narrow elements per wide element.
        lanes: i128,
    },
    /// The extent of the contiguous storage axis, or of the last physical axis, is not a multiple of the number of
    /// lanes; or the new layout would have other physical extents or physical strides in memory, for example because of
    /// an alignment.
    #[error("the number of elements along `{axis}` is not a multiple of {lanes}")]
    StorageExtent {
        /// Name of the contiguous storage axis.
        axis: String,
        /// Extent in narrow elements, over symbols: of the contiguous storage axis if `lanes` does not divide that
        /// extent, otherwise of the last physical axis.
        extent: Expr,
        /// Number of narrow elements per wide element.
        lanes: i128,
    },
    /// A swizzle moves elements apart that would be joined into one, or cannot be converted to the new element size:
    /// the number of lanes is not a power of two, or the bits of the swizzle leave their range.
    #[error("a swizzle separates runs of {lanes} elements")]
    Swizzled {
        /// Number of narrow elements per wide element.
        lanes: i128,
    },
    /// An alignment of the first element is requested, for which slots are inserted before it.
    #[error("leading slots align the first element")]
    Origin,
    /// An index or stride of the new layout is too large an expression, or a value overflows.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

impl LayoutBuilder {
    /// Reinterprets the memory with elements of another size, as `lanes` states. Returns the pair `(builder, axis)`:
    /// `builder` is the layout with the new elements, and `axis` is the position of the contiguous logical axis (see
    /// [`RegroupError`]), whose extent changes. When four f32 are joined, `c` of extent 128 becomes extent 32, and
    /// index `c` covers the former indices `4 * c` to `4 * c + 3`.
    ///
    /// # Errors
    /// [`RegroupError::Origin`] if the first element is aligned; [`RegroupError::NoAxis`] if no axis is contiguous;
    /// [`RegroupError::Extent`], [`RegroupError::NotContiguous`], [`RegroupError::Stride`] or
    /// [`RegroupError::StorageExtent`] if the elements do not form whole wide elements; [`RegroupError::Swizzled`];
    /// [`RegroupError::Expr`].
    pub fn regroup_elements(
        &self,
        lanes: ElementRegroup,
    ) -> Result<(LayoutBuilder, usize), RegroupError> {
        if self.demands.origin > 0 {
            return Err(RegroupError::Origin);
        }
        let placement = self.placement()?;
        let last = groups(self.storage.len(), &self.separators).pop().unwrap_or_default();
        let is_dense =
            |k: &usize| placement.local_strides.get(*k).and_then(Expr::as_const) == Some(1);
        // Prefer an axis with more than one element; if there is none, any dense axis serves.
        let several = last.clone().rev().find(|k| is_dense(k) && !self.is_single(*k));
        let run = several.or_else(|| last.rev().find(is_dense)).ok_or(RegroupError::NoAxis)?;
        let (builder, axis) = match lanes {
            ElementRegroup::Join(lanes) => self.join(&placement, run, lanes)?,
            ElementRegroup::Split(lanes) => self.cut(run, lanes)?,
        };
        let own = builder.placement()?;
        match lanes {
            ElementRegroup::Join(lanes) => {
                self.check_placements_agree(&placement, &own, run, lanes)?;
            }
            ElementRegroup::Split(lanes) => {
                builder.check_placements_agree(&own, &placement, run, lanes)?;
            }
        }
        Ok((builder, axis))
    }

    fn join(
        &self,
        placement: &MemoryPlacement,
        run: usize,
        lanes: i128,
    ) -> Result<(LayoutBuilder, usize), RegroupError> {
        self.check_divisible(placement, run, lanes)?;
        let mut refused = RegroupError::NoAxis;
        for axis in self.axes_of(run).into_iter().rev() {
            match self.check_contiguous(axis, run, lanes) {
                Ok(()) => {
                    let k = u32::try_from(axis).map_err(|_| ExprError::Unbound)?;
                    let first = times(&Expr::var(Var::Axis(k)), lanes)?;
                    let fewer = |expr: &Expr| quotient(expr, lanes);
                    let changed =
                        self.with_axis_replaced(axis, run, &first, &fewer, &|index| fewer(index))?;
                    let demands = self.demands.widened(run, lanes, &self.facts)?;
                    return Ok((LayoutBuilder { demands, ..changed }, axis));
                }
                // If no axis qualifies, the error of the innermost logical axis is reported.
                Err(RegroupError::Expr(error)) => return Err(error.into()),
                Err(error) if refused == RegroupError::NoAxis => refused = error,
                Err(_) => {}
            }
        }
        Err(refused)
    }

    fn cut(&self, run: usize, lanes: i128) -> Result<(LayoutBuilder, usize), RegroupError> {
        let axis = self.unit_stride_axis(run)?.ok_or(RegroupError::NoAxis)?;
        let k = u32::try_from(axis).map_err(|_| ExprError::Unbound)?;
        let own = Expr::var(Var::Axis(k));
        let whole = quotient(&own, lanes)?;
        let part = Expr::binary(BinOp::Mod, &own, &Expr::constant(lanes))?;
        let more = |expr: &Expr| times(expr, lanes);
        let index = |index: &Expr| Expr::binary(BinOp::Add, &more(index)?, &part);
        let changed = self.with_axis_replaced(axis, run, &whole, &more, &index)?;
        let demands = self.demands.narrowed(run, lanes, &self.facts)?;
        Ok((LayoutBuilder { demands, ..changed }, axis))
    }

    /// Builder in which the extents of the logical axis `axis` and of the storage axis `run` are changed to
    /// `extent(old)`. In every storage index, `value` is substituted for the logical axis; the index along `run` is
    /// then changed to `index(old)`. The placement options are unchanged. A join of 4 elements along `c` has the value
    /// `4 * c`, and divides the extents and the index by 4.
    fn with_axis_replaced(
        &self,
        axis: usize,
        run: usize,
        value: &Expr,
        extent: &dyn Fn(&Expr) -> Result<Expr, ExprError>,
        index: &dyn Fn(&Expr) -> Result<Expr, ExprError>,
    ) -> Result<LayoutBuilder, ExprError> {
        let mut changed = self.clone();
        let facts = Facts::new(&self.symbols);
        let resized = |axes: &mut [Axis], at: usize| {
            let Some(axis) = axes.get_mut(at) else { return Err(ExprError::Unbound) };
            axis.extent = facts.simplify(&extent(&axis.extent)?)?;
            Ok(())
        };
        resized(&mut changed.logical, axis)?;
        resized(&mut changed.storage, run)?;
        changed.facts = facts_of(self, &changed.logical)?;
        let mut axes: Vec<Expr> =
            (0_u32..).zip(&self.logical).map(|(k, _)| Expr::var(Var::Axis(k))).collect();
        if let Some(slot) = axes.get_mut(axis) {
            slot.clone_from(value);
        }
        changed.composed = substitute_axes(&self.composed, &axes)?;
        changed.map = substitute_axes(&self.map, &axes)?;
        for indices in [&mut changed.composed, &mut changed.map] {
            if let Some(slot) = indices.get_mut(run) {
                *slot = index(slot)?;
            }
        }
        for slot in &mut changed.map {
            *slot = changed.facts.simplify(slot)?;
        }
        changed.explained = true;
        Ok(changed)
    }

    /// Positions of the logical axes that occur in the index of the storage axis at position `storage`, ascending.
    fn axes_of(&self, storage: usize) -> Vec<usize> {
        let vars = self.map.get(storage).map(Expr::vars).unwrap_or_default();
        let axis = |var: Var| match var {
            Var::Axis(k) => usize::try_from(k).ok(),
            _ => None,
        };
        vars.into_iter().filter_map(axis).collect()
    }

    /// Checks that elements can be joined along the logical axis `axis`: the `lanes` elements from a multiple of
    /// `lanes` on have consecutive indices along the storage axis `run`, the first of which is also a multiple of
    /// `lanes`, and equal indices along all other storage axes. [`RegroupError::Extent`] if `lanes` does not divide the
    /// extent of `axis`, [`RegroupError::NotContiguous`] if another check fails.
    fn check_contiguous(&self, axis: usize, run: usize, lanes: i128) -> Result<(), RegroupError> {
        let extent =
            self.logical.get(axis).map(|a| a.extent.clone()).ok_or(RegroupError::NoAxis)?;
        if !is_multiple(&extent, lanes, &self.facts)? {
            return Err(RegroupError::Extent { axis, lanes });
        }
        let mut axes = self.logical.clone();
        if let Some(axis) = axes.get_mut(axis) {
            axis.extent = self.facts.simplify(&quotient(&axis.extent, lanes)?)?;
        }
        axes.push(Axis { name: String::new(), extent: Expr::constant(lanes) });
        let facts = facts_of(self, &axes)?;
        let number = |k: usize| u32::try_from(k).map_err(|_| ExprError::Unbound);
        let lane = Expr::var(Var::Axis(number(self.logical.len())?));
        let first = times(&Expr::var(Var::Axis(number(axis)?)), lanes)?;
        let any = Expr::binary(BinOp::Add, &first, &lane)?;
        let with = |index: &Expr, value: &Expr| {
            index.substitute(&|var| match var {
                Var::Axis(k) if usize::try_from(k) == Ok(axis) => Some(value.clone()),
                _ => None,
            })
        };
        for (k, index) in self.map.iter().enumerate() {
            let (begin, at) = (with(index, &first)?, with(index, &any)?);
            let wanted = if k == run {
                if !is_multiple(&begin, lanes, &facts)? {
                    return Err(RegroupError::NotContiguous { axis, lanes });
                }
                Expr::binary(BinOp::Add, &begin, &lane)?
            } else {
                begin
            };
            if !facts.proves_eq(&at, &wanted)? {
                return Err(RegroupError::NotContiguous { axis, lanes });
            }
        }
        Ok(())
    }

    /// Position of the innermost logical axis whose step from index 0 to 1 advances the index along the storage axis at
    /// position `storage` by 1. If that index reads no axis, the position of the innermost logical axis of extent 1.
    /// `None` if there is no such axis.
    fn unit_stride_axis(&self, storage: usize) -> Result<Option<usize>, ExprError> {
        let Some(index) = self.map.get(storage) else { return Ok(None) };
        let facts = Facts::new(&self.symbols);
        let at = |one: Option<usize>| {
            index.substitute(&|var| match var {
                Var::Axis(k) => Some(Expr::constant(i128::from(usize::try_from(k).ok() == one))),
                _ => None,
            })
        };
        let first = Expr::binary(BinOp::Add, &at(None)?, &Expr::constant(1))?;
        let read = self.axes_of(storage);
        for axis in read.iter().rev() {
            if facts.proves_eq(&at(Some(*axis))?, &first)? {
                return Ok(Some(*axis));
            }
        }
        let single = |axis: &Axis| axis.extent.as_const() == Some(1);
        Ok(if read.is_empty() { self.logical.iter().rposition(single) } else { None })
    }
}

fn facts_of(builder: &LayoutBuilder, axes: &[Axis]) -> Result<Facts, ExprError> {
    let mut facts = Facts::new(&builder.symbols);
    for (k, axis) in (0_u32..).zip(axes) {
        facts.set_extent(Var::Axis(k), &axis.extent)?;
    }
    Ok(facts)
}

pub(super) fn is_multiple(expr: &Expr, k: i128, facts: &Facts) -> Result<bool, ExprError> {
    let rest = Expr::binary(BinOp::Mod, expr, &Expr::constant(k))?;
    Ok(facts.simplify(&rest)?.as_const() == Some(0))
}

pub(super) fn times(expr: &Expr, k: i128) -> Result<Expr, ExprError> {
    Expr::binary(BinOp::Mul, expr, &Expr::constant(k))
}

pub(super) fn quotient(expr: &Expr, k: i128) -> Result<Expr, ExprError> {
    Expr::binary(BinOp::FloorDiv, expr, &Expr::constant(k))
}
