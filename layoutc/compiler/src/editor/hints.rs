//! Inlay hints behind the steps of a layout: the axes after each step, with their extents.

use std::collections::BTreeMap;

use super::{ProjectSnapshot, describe};

/// Inlay hint after a layout step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisHint {
    /// Byte offset in the manifest after which the hint is shown.
    pub offset: usize,
    /// Text of the hint, the axes after the step: `n 16, c_outer 32, c_inner 4`.
    pub text: String,
}

/// Inlay hints of the manifest at `path`, in the order of the text, from the results of the last check. There are none
/// for a tensor with errors, and for an unknown path. The steps of a transform have none, because their axes depend on
/// the layout that applies the transform.
pub fn hints(known: &ProjectSnapshot, path: &str) -> Vec<AxisHint> {
    let Some(model) = known.models.get(path) else { return Vec::new() };
    let mut found = BTreeMap::new();
    for tensor in &model.tensors {
        let key = (tensor.places.layout.file.clone(), tensor.name.clone());
        let layout = &tensor.layout;
        for step in known.steps.get(&key).into_iter().flatten() {
            // Steps inside a transform are shown at the `apply` step: the last one wins.
            let place = step.within.as_ref().unwrap_or(&step.place);
            if place.file.as_ref() == path {
                let text = describe::axes(&step.axes, layout.symbols(), &step.separators);
                found.insert(place.end, text);
            }
        }
    }
    found.into_iter().map(|(offset, text)| AxisHint { offset, text }).collect()
}
