//! Editor queries on manifests: names and references, hover texts, completion, outline, rename. They also work on
//! malformed text, as it occurs during editing.

pub mod completion;
pub mod describe;
pub mod file;
pub mod hints;
pub mod hover;
mod keywords;
pub mod line_index;
pub mod names;
pub mod outline;
pub mod rename;

#[cfg(test)]
mod grammar;
#[cfg(test)]
mod query;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use file::{EditorFile, EditorFiles};

use crate::check::StepRecords;
use crate::model::Manifest;

/// State of a project in the editor: the current texts of its manifests, and the results of the last check.
#[derive(Debug, Clone, Default)]
pub struct ProjectSnapshot {
    /// Manifests of the project and manifests that they use, by path relative to the project.
    pub files: EditorFiles,
    /// Checked items of each manifest, those without errors in the last check, by manifest path.
    pub models: BTreeMap<String, Arc<Manifest>>,
    /// Axes after each layout step, recorded by the last check, by file and name of the tensor.
    pub steps: StepRecords,
}
