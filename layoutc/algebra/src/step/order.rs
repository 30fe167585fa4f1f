//! The step `order a b c`, which permutes axes by name, outermost first.

use alloc::string::String;
use alloc::vec::Vec;

use super::{StepError, find_axis, identity_item, map_of};
use crate::map::IndexMap;
use crate::symbol::Axis;

/// Argument of the step `order`: the name of an axis, or `...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderEntry {
    /// Current axis with this name.
    Axis(String),
    /// All axes that no other argument names, in their current order, written as `...`.
    Others,
}

/// Permutes `axes` to the order of the entries `places`, outermost first. Each axis must be named exactly once, or
/// covered by the only `...`.
///
/// # Errors
/// [`StepError::UnknownAxis`]; [`StepError::RepeatedAxis`] for an axis that is named twice; [`StepError::MissingAxes`]
/// for axes that are not named, without a `...`; [`StepError::TwoEllipses`].
pub fn order(axes: &[Axis], places: &[OrderEntry]) -> Result<IndexMap, StepError> {
    let mut named = Vec::new();
    for place in places {
        if let OrderEntry::Axis(name) = place {
            let position = find_axis(axes, name)?;
            if named.contains(&position) {
                return Err(StepError::RepeatedAxis(name.clone()));
            }
            named.push(position);
        }
    }
    let others: Vec<usize> = (0..axes.len()).filter(|k| !named.contains(k)).collect();
    match places.iter().filter(|p| **p == OrderEntry::Others).count() {
        0 if !others.is_empty() => {
            let missing =
                others.iter().filter_map(|k| axes.get(*k)).map(|a| a.name.clone()).collect();
            return Err(StepError::MissingAxes(missing));
        }
        0 | 1 => {}
        _ => return Err(StepError::TwoEllipses),
    }
    let mut named = named.into_iter();
    let mut items = Vec::new();
    for place in places {
        match place {
            OrderEntry::Axis(_) => items.extend(named.next().map(|k| identity_item(axes, k))),
            OrderEntry::Others => items.extend(others.iter().map(|k| identity_item(axes, *k))),
        }
    }
    map_of(items)
}
