//! Layout with values of its symbols: integer extents and strides, and evaluation of the maps.

use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::Layout;

use crate::query::locate::NamedLocateError;

/// Layout whose symbols have values, so that extents and strides are integers. Lists of axes are outermost first.
#[derive(Debug)]
pub(super) struct ConcreteLayout<'a> {
    pub(super) layout: &'a Layout,
    /// Values of the layout's symbols, in the order of the layout's list of symbols.
    pub(super) symbols: Vec<i128>,
    /// Extents of the logical axes.
    pub(super) logical: Vec<i128>,
    /// Extents of the storage axes.
    pub(super) storage: Vec<i128>,
    /// Strides of the storage axes, in slots.
    pub(super) strides: Vec<i128>,
    /// Extents of the physical axes.
    pub(super) physical: Vec<i128>,
    /// Strides of the physical axes, in slots.
    pub(super) pitches: Vec<i128>,
    /// Number of slots of the flat buffer.
    pub(super) slots: i128,
}

/// Location in memory of a logical index, which need not be that of an element. `storage` is the index along the
/// storage axes, `physical` the index along the physical axes, and `offset` the offset in slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ElementAddress {
    pub(super) storage: Vec<i128>,
    pub(super) physical: Vec<i128>,
    pub(super) offset: i128,
}

impl<'a> ConcreteLayout<'a> {
    pub(super) fn new(layout: &'a Layout, symbols: Vec<i128>) -> Result<Self, NamedLocateError> {
        let number = |expr: &Expr| {
            expr.evaluate(&|var| at(var, &[], &symbols))
                .map_err(|error| NamedLocateError::Value(error.to_string()))
        };
        let all = |exprs: &[Expr]| exprs.iter().map(number).collect::<Result<Vec<_>, _>>();
        let logical = layout.logical().iter().map(|axis| number(&axis.extent));
        let storage = layout.storage().iter().map(|axis| number(&axis.extent));
        let (logical, storage) =
            (logical.collect::<Result<_, _>>()?, storage.collect::<Result<_, _>>()?);
        let (strides, physical) = (all(layout.strides())?, all(layout.physical_shape())?);
        let (pitches, slots) =
            (all(layout.physical_strides())?, number(layout.physical_elements())?);
        Ok(Self { layout, symbols, logical, storage, strides, physical, pitches, slots })
    }

    /// True if a logical extent is 0, so that the tensor has no elements.
    pub(super) fn is_empty(&self) -> bool {
        self.logical.contains(&0)
    }

    /// Index along storage axis `axis` of the element at `logical`; `None` if the map cannot be evaluated.
    pub(super) fn storage_at(&self, axis: usize, logical: &[i128]) -> Option<i128> {
        self.layout.storage_map().get(axis)?.evaluate(&|var| at(var, logical, &self.symbols)).ok()
    }

    /// Location to which the layout maps the index `logical`, which need not be that of an element. `None` if the
    /// location is outside the extents of the storage axes or of the physical axes, or if a map cannot be evaluated.
    pub(super) fn spot(&self, logical: &[i128]) -> Option<ElementAddress> {
        let number = |expr: &Expr| expr.evaluate(&|var| at(var, logical, &self.symbols)).ok();
        let all = |exprs: &[Expr]| exprs.iter().map(number).collect::<Option<Vec<_>>>();
        let storage = all(self.layout.storage_map())?;
        let physical = all(self.layout.physical_map())?;
        let offset = number(self.layout.offset())?;
        let inside = is_inside(&storage, &self.storage) && is_inside(&physical, &self.physical);
        inside.then_some(ElementAddress { storage, physical, offset })
    }

    /// True if `logical` is the index of an element: within the extents, and in the domain.
    pub(super) fn has(&self, logical: &[i128]) -> bool {
        is_inside(logical, &self.logical)
            && self.layout.contains(logical, &self.symbols).unwrap_or(false)
    }

    /// Logical index of the element at the physical index `physical`. `None` for padding, and if the layout has no
    /// expression of its inverse or evaluation fails.
    pub(super) fn owner(&self, physical: &[i128]) -> Option<Vec<i128>> {
        self.layout.inverse()?;
        self.layout.element_at(physical, &self.symbols).ok()?
    }

    /// True if `spot`, the location of the index `logical`, is padding of that index: the slot holds no element, and
    /// the inverse of the layout maps it back to `logical`. False if the layout has no expression of its inverse.
    pub(super) fn is_padding_of(&self, logical: &[i128], spot: &ElementAddress) -> bool {
        let Some(inverse) = self.layout.inverse() else { return false };
        let value = |var| match var {
            Var::Physical(k) => spot.physical.get(usize::try_from(k).ok()?).copied(),
            other => at(other, &[], &self.symbols),
        };
        let back: Option<Vec<i128>> =
            inverse.iter().map(|expr| expr.evaluate(&value).ok()).collect();
        back.as_deref() == Some(logical) && self.owner(&spot.physical).is_none()
    }

    /// Offset in the flat buffer of the slot at a physical index, in slots.
    pub(super) fn offset(&self, physical: &[i128]) -> i128 {
        let terms = physical.iter().zip(&self.pitches);
        terms.fold(0_i128, |sum, (index, pitch)| sum.saturating_add(index.saturating_mul(*pitch)))
    }
}

fn at(var: Var, logical: &[i128], symbols: &[i128]) -> Option<i128> {
    match var {
        Var::Axis(k) => logical.get(usize::try_from(k).ok()?).copied(),
        Var::Symbol(k) => symbols.get(usize::try_from(k).ok()?).copied(),
        Var::Storage(_) | Var::Physical(_) | Var::Digit(_) => None,
    }
}

fn is_inside(index: &[i128], extents: &[i128]) -> bool {
    index.len() == extents.len()
        && index.iter().zip(extents).all(|(index, extent)| (0..*extent).contains(index))
}
