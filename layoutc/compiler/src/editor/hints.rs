//! What stands beside the steps of a layout: the axes after each, with their extents.

use std::collections::BTreeMap;

use super::{ProjectSnapshot, describe};

/// A text that is shown behind a byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisHint {
    /// The byte.
    pub offset: usize,
    /// `n 16, c_outer 32, c_inner 4`.
    pub text: String,
}

/// The hints of the manifest at `path`, in its order. A transform has none: what its axes are depends on who applies
/// it.
pub fn hints(known: &ProjectSnapshot, path: &str) -> Vec<AxisHint> {
    let Some(model) = known.models.get(path) else { return Vec::new() };
    let mut found = BTreeMap::new();
    for tensor in &model.tensors {
        let key = (tensor.places.layout.file.clone(), tensor.name.clone());
        let layout = &tensor.layout;
        for step in known.steps.get(&key).into_iter().flatten() {
            // The last step of a transform counts for the step that applies it.
            let place = step.within.as_ref().unwrap_or(&step.place);
            if place.file.as_ref() == path {
                let text = describe::axes(&step.axes, &layout.symbols, &step.separators);
                found.insert(place.end, text);
            }
        }
    }
    found.into_iter().map(|(offset, text)| AxisHint { offset, text }).collect()
}
