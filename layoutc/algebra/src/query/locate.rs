//! Lookups in a proven layout with integer indices: the [`ElementLocation`] of an element, and the element in a slot.

use alloc::vec::Vec;

use thiserror::Error;

use crate::expr::{Expr, ExprError, Var};
use crate::layout::Layout;
use crate::prove::{EnumerationDomain, find, value_of};
use crate::query::decomposition::{LayoutComponent, LayoutDecomposition};

/// Location of an element in memory, for given values of the symbols. Lists of indices are outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementLocation {
    /// Indices of the element along the storage axes, one per axis.
    pub storage: Vec<i128>,
    /// Indices of the element along the physical axes, one per axis.
    pub physical: Vec<i128>,
    /// Offset of the element in the flat buffer, in elements.
    pub offset: i128,
}

/// Reason why an element or a slot cannot be looked up.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ElementLocationError {
    /// The number of coordinates differs from the number of logical axes, or of physical axes for a slot.
    #[error("{given} coordinates for {axes} axes")]
    Rank {
        /// Number of coordinates in the logical index or slot that was looked up.
        given: usize,
        /// Number of logical or physical axes, which is the number of coordinates required.
        axes: usize,
    },
    /// A coordinate is negative, or not below the extent of its axis, as in coordinate 16 for the extent 16.
    #[error("coordinate {axis} is {value}, outside the extent {extent}")]
    OutOfBounds {
        /// Position of the logical or physical axis, from 0, outermost first; 0 for an offset in the flat buffer, whose
        /// extent is the number of slots.
        axis: usize,
        /// Value of the coordinate that is out of bounds.
        value: i128,
        /// Extent of the axis, for the given values of the symbols.
        extent: i128,
    },
    /// The logical index is within the extents, but does not satisfy the domain condition of the layout.
    #[error("index outside the domain")]
    NoElement,
    /// An expression of the layout overflows, or contains a symbol without a value.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

impl Layout {
    /// Location of the element at logical index `logical`, one coordinate per logical axis. `symbols[k]` is the value
    /// of `Var::Symbol(k)`.
    ///
    /// # Errors
    /// [`ElementLocationError::Rank`] or [`ElementLocationError::OutOfBounds`] if `logical` is not in the logical
    /// shape, [`ElementLocationError::NoElement`] if it is not in the domain, [`ElementLocationError::Expr`] if an
    /// expression cannot be evaluated, for example because `symbols` is too short.
    pub fn locate(
        &self,
        logical: &[i128],
        symbols: &[i128],
    ) -> Result<ElementLocation, ElementLocationError> {
        let extents = self.logical.iter().map(|axis| &axis.extent);
        inside(logical, extents, symbols)?;
        let at = |var: Var| value_of(var, logical, symbols);
        if !self.contains(logical, symbols)? {
            return Err(ElementLocationError::NoElement);
        }
        let all =
            |exprs: &[Expr]| exprs.iter().map(|e| e.evaluate(&at)).collect::<Result<Vec<_>, _>>();
        Ok(ElementLocation {
            storage: all(&self.storage_map)?,
            physical: all(&self.physical_map)?,
            offset: self.offset.evaluate(&at)?,
        })
    }

    /// True if the logical index `logical`, which is within the shape, is the index of an element: it satisfies the
    /// domain condition of the layout, or the layout has none. `symbols[k]` is the value of `Var::Symbol(k)`.
    ///
    /// # Errors
    /// [`ExprError`] when the domain condition cannot be evaluated.
    pub fn contains(&self, logical: &[i128], symbols: &[i128]) -> Result<bool, ExprError> {
        let at = |var: Var| value_of(var, logical, symbols);
        self.domain.as_ref().map_or(Ok(true), |domain| domain.evaluate(&at))
    }

    /// Logical index of the element at the physical indices `physical`, one per physical axis; `None` if the slot is
    /// padding. `symbols[k]` is the value of `Var::Symbol(k)`.
    ///
    /// # Errors
    /// [`ElementLocationError::Rank`] or [`ElementLocationError::OutOfBounds`] if `physical` is not in the physical
    /// shape, [`ElementLocationError::Expr`] if an expression cannot be evaluated.
    pub fn element_at(
        &self,
        physical: &[i128],
        symbols: &[i128],
    ) -> Result<Option<Vec<i128>>, ElementLocationError> {
        inside(physical, self.physical_shape.iter(), symbols)?;
        let at = |var: Var| match var {
            Var::Physical(k) => physical.get(usize::try_from(k).ok()?).copied(),
            other => value_of(other, &[], symbols),
        };
        let Some(inverse) = &self.inverse else { return self.search(physical, symbols) };
        if let Some(valid) = &self.valid
            && !valid.evaluate(&at)?
        {
            return Ok(None);
        }
        Ok(Some(inverse.iter().map(|index| index.evaluate(&at)).collect::<Result<_, _>>()?))
    }

    /// Logical index of the element at the physical indices `physical`, for a layout without an inverse expression;
    /// `None` if the slot is padding. `symbols[k]` is the value of `Var::Symbol(k)`. Each independent component of axes
    /// is solved by itself.
    fn search(
        &self,
        physical: &[i128],
        symbols: &[i128],
    ) -> Result<Option<Vec<i128>>, ElementLocationError> {
        let number = |expr: &Expr| expr.evaluate(&|var| value_of(var, &[], symbols));
        let parts = self.decompose()?;
        let at = |var: Var| match var {
            Var::Physical(k) => physical.get(usize::try_from(k).ok()?).copied(),
            other => value_of(other, &[], symbols),
        };
        let wanted = parts.at.iter().map(|at_slot| at_slot.evaluate(&at));
        let wanted = wanted.collect::<Result<Vec<_>, _>>()?;
        let slots = parts.slots.iter().map(number).collect::<Result<Vec<_>, _>>()?;
        if wanted.iter().zip(&slots).any(|(value, slots)| *value < 0 || value >= slots) {
            return Ok(None);
        }
        let mut logical = alloc::vec![0; self.logical.len()];
        for part in &parts.components {
            let Some(point) = self.solve_component(part, &parts, (&wanted, symbols))? else {
                return Ok(None);
            };
            for (axis, index) in part.axes.iter().zip(point) {
                let extent = self
                    .logical
                    .get(*axis)
                    .map_or(Err(ExprError::Unbound), |axis| number(&axis.extent))?;
                match logical.get_mut(*axis) {
                    Some(slot) if (0..extent).contains(&index) => *slot = index,
                    _ => return Ok(None),
                }
            }
        }
        // Also checks targets without axes and gaps, which no component covers.
        if !self.contains(&logical, symbols)? {
            return Ok(None);
        }
        let place = self.locate(&logical, symbols)?;
        Ok((place.physical == physical).then_some(logical))
    }

    /// Indices along the axes of the component `part` of the decomposition `parts`, in the order of `part.axes`, at
    /// which the target at each position `k` in `part.targets` has the value `wanted[k]`. `symbols[k]` is the value of
    /// `Var::Symbol(k)`. The inverse of the component gives the indices, arbitrary ones if no index has these values.
    /// Without an inverse, they are searched for; `None` if the search finds none.
    fn solve_component(
        &self,
        part: &LayoutComponent,
        parts: &LayoutDecomposition,
        (wanted, symbols): (&[i128], &[i128]),
    ) -> Result<Option<Vec<i128>>, ElementLocationError> {
        if let Some(inverse) = &part.inverse {
            let value = |var: Var| match var {
                Var::Storage(k) => wanted.get(usize::try_from(k).ok()?).copied(),
                other => value_of(other, &[], symbols),
            };
            let point = inverse.iter().map(|index| index.evaluate(&value));
            return Ok(Some(point.collect::<Result<_, _>>()?));
        }
        let number = |expr: &Expr| expr.evaluate(&|var| value_of(var, &[], symbols));
        let fixed = |expr: &Expr| {
            expr.substitute(&|var| match var {
                Var::Symbol(_) => value_of(var, &[], symbols).map(Expr::constant),
                _ => None,
            })
        };
        let of_targets = |k: &usize| {
            let target = parts.targets.get(*k).ok_or(ExprError::Unbound)?;
            let slots = number(parts.slots.get(*k).ok_or(ExprError::Unbound)?)?;
            let value = *wanted.get(*k).ok_or(ExprError::Unbound)?;
            Ok((fixed(target)?, slots, value))
        };
        let all = part.targets.iter().map(of_targets).collect::<Result<Vec<_>, ExprError>>()?;
        let targets: Vec<Expr> = all.iter().map(|(target, ..)| target.clone()).collect();
        let slots: Vec<i128> = all.iter().map(|(_, slots, _)| *slots).collect();
        let wanted: Vec<i128> = all.iter().map(|(.., value)| *value).collect();
        let extents = part
            .axes
            .iter()
            .map(|axis| number(&self.logical.get(*axis).ok_or(ExprError::Unbound)?.extent));
        let extents = extents.collect::<Result<Vec<_>, _>>()?;
        let within = part.within.iter().map(fixed).collect::<Result<Vec<_>, _>>()?;
        let domain = EnumerationDomain {
            axes: &part.axes,
            extents: &extents,
            targets: &targets,
            slots: &slots,
            within: &within,
        };
        Ok(find(&domain, &wanted)?)
    }

    /// True if the storage indices cannot be computed from the offset by division: a stride is 0, the strides do not
    /// nest (each at least the next inner stride times its extent), an extent contains symbols, or a stride does in a
    /// layout of several storage axes.
    pub(crate) fn is_strided(&self) -> bool {
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
        // A storage index whose stride is 0 does not affect the offset.
        let nonzero = self.strides.iter().all(|stride| stride.as_const() != Some(0));
        slots.is_none() || !nested || !nonzero
    }
}

fn inside<'a>(
    index: &[i128],
    extents: impl ExactSizeIterator<Item = &'a Expr>,
    symbols: &[i128],
) -> Result<(), ElementLocationError> {
    if index.len() != extents.len() {
        return Err(ElementLocationError::Rank { given: index.len(), axes: extents.len() });
    }
    for (axis, (value, extent)) in index.iter().zip(extents).enumerate() {
        let extent = extent.evaluate(&|var| value_of(var, &[], symbols))?;
        if *value < 0 || *value >= extent {
            return Err(ElementLocationError::OutOfBounds { axis, value: *value, extent });
        }
    }
    Ok(())
}
