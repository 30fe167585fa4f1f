//! Editor queries on manifests: names and references, hover texts, completion, outline, rename. They work on text that
//! is being edited and may be malformed, and never fail.

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

/// State of a project in the editor: its current texts, and the results of the last check.
#[derive(Debug, Clone, Default)]
pub struct ProjectSnapshot {
    /// Manifests of the project and those that they use, by path.
    pub files: EditorFiles,
    /// Items that the last check found without errors, by manifest path.
    pub models: BTreeMap<String, Arc<Manifest>>,
    /// Axes after each layout step, as the last check recorded them, by tensor.
    pub steps: StepRecords,
}
