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

/// The state of a project: its current texts, and the results of the last check.
#[derive(Debug, Clone, Default)]
pub struct ProjectSnapshot {
    /// Its manifests and those that they use.
    pub files: EditorFiles,
    /// The items that were checked without errors, by manifest.
    pub models: BTreeMap<String, Arc<Manifest>>,
    /// The recorded effect of each layout step, by tensor.
    pub steps: StepRecords,
}
