//! Intermediate tensors with memory: checked as if they were tensors of the manifest.

use std::collections::{BTreeMap, BTreeSet};

use layoutc_algebra::layout::{Axis, Symbol};

use super::value::Checked;
use crate::check::tensor::{self, Good, Place};
use crate::manifest::syntax::{
    AxisItem, Bound, Extent, LocalItem, Name, Number, Shape, TensorItem, Text,
};
use crate::wording;

/// The tensor of a local item, with the axes of the statement that writes it; its steps are read in the scope of `home`.
///
/// # Errors
/// As for any tensor.
pub(super) fn tensor(
    item: &LocalItem,
    axes: &[Axis],
    symbols: &[Symbol],
    (place, home): (Place<'_>, usize),
) -> Checked<Good> {
    let span = item.name.span.clone();
    let axis = |axis: &Axis| {
        let extent = match axis.extent.as_const() {
            Some(value) => Bound::Integer(Number { value, span: span.clone() }),
            None => {
                let value = wording::over(&axis.extent, symbols);
                Bound::Text(Text { value, span: span.clone(), quoted: true })
            }
        };
        let name = Name { value: axis.name.clone(), span: span.clone() };
        AxisItem { name, extent: Extent::Bound(extent) }
    };
    let shape = Shape { axes: axes.iter().map(axis).collect(), span: span.clone() };
    let item = TensorItem {
        name: item.name.clone(),
        dtype: Some(item.dtype.clone()),
        record: None,
        like: None,
        shape: Some(shape),
        layout: item.layout.clone(),
        memory: None,
        gates: Vec::new(),
        targets: None,
        nibbles: None,
        pack_from: None,
        span: item.span.clone(),
    };
    let (named, viewed) = (BTreeMap::new(), BTreeSet::new());
    let place = Place { file: home, recorder: None, named: &named, viewed: &viewed, ..place };
    tensor::check(&item, place)
}
