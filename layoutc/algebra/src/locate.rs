//! Where an element lives, and who lives at a physical index: numbers in, numbers out.

use alloc::vec::Vec;

use thiserror::Error;

use crate::expr::{Expr, ExprError, Var};
use crate::layout::Layout;
use crate::physical::groups;
use crate::proof::{Domain, components, find, value_of};

/// Where an element lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// One index per storage axis.
    pub storage: Vec<i128>,
    /// One index per physical axis.
    pub physical: Vec<i128>,
    /// Elements from the start of the flat buffer.
    pub offset: i128,
}

/// Why a location cannot be given.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LocateError {
    /// Another number of coordinates than axes.
    #[error("{given} coordinates for {axes} axes")]
    Rank {
        /// How many were given.
        given: usize,
        /// How many axes there are.
        axes: usize,
    },
    /// A coordinate that is not below its extent, or negative.
    #[error("coordinate {axis} is {value}, and the extent is {extent}")]
    Outside {
        /// Which coordinate.
        axis: usize,
        /// Its value.
        value: i128,
        /// The extent there.
        extent: i128,
    },
    /// Too large, or beyond the integers.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

impl Layout {
    /// Where the element at `logical` lives; `symbols` gives every symbol its value.
    ///
    /// # Errors
    /// [`LocateError`].
    pub fn place(&self, logical: &[i128], symbols: &[i128]) -> Result<Location, LocateError> {
        let extents = self.logical.iter().map(|axis| &axis.extent);
        inside(logical, extents, symbols)?;
        let at = |var: Var| value_of(var, logical, symbols);
        let all =
            |exprs: &[Expr]| exprs.iter().map(|e| e.evaluate(&at)).collect::<Result<Vec<_>, _>>();
        Ok(Location {
            storage: all(&self.storage_map)?,
            physical: all(&self.physical_map)?,
            offset: self.offset.evaluate(&at)?,
        })
    }

    /// The element that lives at `physical`, or `None` for padding.
    ///
    /// # Errors
    /// [`LocateError`].
    pub fn owner(
        &self,
        physical: &[i128],
        symbols: &[i128],
    ) -> Result<Option<Vec<i128>>, LocateError> {
        inside(physical, self.physical_shape.iter(), symbols)?;
        let at = |var: Var| match var {
            Var::Physical(k) => physical.get(usize::try_from(k).ok()?).copied(),
            other => value_of(other, &[], symbols),
        };
        let Some(inverse) = &self.inverse else { return self.search(physical) };
        if let Some(valid) = &self.valid
            && !valid.evaluate(&at)?
        {
            return Ok(None);
        }
        Ok(Some(inverse.iter().map(|index| index.evaluate(&at)).collect::<Result<_, _>>()?))
    }

    /// The element at a physical index of a layout without an inverse expression: component by component.
    fn search(&self, physical: &[i128]) -> Result<Option<Vec<i128>>, LocateError> {
        let number = |expr: &Expr| expr.as_const().ok_or(ExprError::Unbound);
        let (targets, slots, wanted) = if self.is_strided() {
            (
                alloc::vec![self.offset.clone()],
                self.physical_shape.iter().map(number).collect::<Result<Vec<_>, _>>()?,
                physical.to_vec(),
            )
        } else {
            let mut before = physical.to_vec();
            if let (Some(swizzle), Some(last)) = (self.swizzle, before.last_mut()) {
                *last = swizzle.apply(&Expr::constant(*last))?.evaluate(&|_| None)?;
            }
            let Some(wanted) = self.storage_index(&before)? else { return Ok(None) };
            let slots =
                self.storage.iter().map(|a| number(&a.extent)).collect::<Result<Vec<_>, _>>()?;
            (self.storage_map.clone(), slots, wanted)
        };
        let mut logical = alloc::vec![0; self.logical.len()];
        for component in components(self.logical.len(), &targets) {
            let pick = |all: &[i128]| {
                component.targets.iter().filter_map(|k| all.get(*k)).copied().collect()
            };
            let (slots, wanted): (Vec<i128>, Vec<i128>) = (pick(&slots), pick(&wanted));
            let exprs: Vec<Expr> =
                component.targets.iter().filter_map(|k| targets.get(*k)).cloned().collect();
            let mut extents = Vec::new();
            for axis in &component.axes {
                extents.push(
                    self.logical
                        .get(*axis)
                        .map_or(Err(ExprError::Unbound), |a| number(&a.extent))?,
                );
            }
            let domain =
                Domain { axes: &component.axes, extents: &extents, targets: &exprs, slots: &slots };
            let Some(point) = find(&domain, &wanted)? else { return Ok(None) };
            for (axis, index) in component.axes.iter().zip(point) {
                if let Some(slot) = logical.get_mut(*axis) {
                    *slot = index;
                }
            }
        }
        // Targets without axes must be met too.
        let place = self.place(&logical, &[])?;
        Ok((place.physical == physical).then_some(logical))
    }

    /// Whether `strides` decide the offset: then the storage axes are not told apart by it.
    fn is_strided(&self) -> bool {
        let slots =
            self.storage.iter().try_fold(1_i128, |n, a| n.checked_mul(a.extent.as_const()?));
        let natural =
            self.strides.iter().zip(self.strides.iter().skip(1)).zip(self.storage.iter().skip(1));
        let nested = natural.into_iter().all(|((major, minor), axis)| {
            match (major.as_const(), minor.as_const(), axis.extent.as_const()) {
                (Some(major), Some(minor), Some(extent)) => major >= minor.saturating_mul(extent),
                _ => false,
            }
        });
        // A stride of 0 tells no index.
        let told = self.strides.iter().all(|stride| stride.as_const() != Some(0));
        slots.is_none() || !nested || !told
    }

    /// The storage index at a physical one; `None` where a pitch leaves a gap.
    fn storage_index(&self, physical: &[i128]) -> Result<Option<Vec<i128>>, LocateError> {
        let number = |expr: &Expr| expr.as_const().ok_or(ExprError::Unbound);
        let mut storage = Vec::new();
        for (g, group) in groups(self.storage.len(), &self.separators).into_iter().enumerate() {
            let mut rest = physical.get(g).copied().unwrap_or(0);
            if group.end == self.storage.len() {
                rest -= number(&self.lead)?;
            }
            let pitch = number(self.physical_strides.get(g).ok_or(ExprError::Unbound)?)?;
            for k in group {
                let stride = number(self.strides.get(k).ok_or(ExprError::Unbound)?)? / pitch.max(1);
                let extent = number(&self.storage.get(k).ok_or(ExprError::Unbound)?.extent)?;
                let index = rest.checked_div_euclid(stride).ok_or(ExprError::Divisor)?;
                if index >= extent {
                    return Ok(None);
                }
                storage.push(index);
                rest -= index * stride;
            }
            if rest != 0 {
                return Ok(None);
            }
        }
        Ok(Some(storage))
    }
}

fn inside<'a>(
    index: &[i128],
    extents: impl ExactSizeIterator<Item = &'a Expr>,
    symbols: &[i128],
) -> Result<(), LocateError> {
    if index.len() != extents.len() {
        return Err(LocateError::Rank { given: index.len(), axes: extents.len() });
    }
    for (axis, (value, extent)) in index.iter().zip(extents).enumerate() {
        let extent = extent.evaluate(&|var| value_of(var, &[], symbols))?;
        if *value < 0 || *value >= extent {
            return Err(LocateError::Outside { axis, value: *value, extent });
        }
    }
    Ok(())
}
