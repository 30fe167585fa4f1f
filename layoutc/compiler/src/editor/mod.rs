//! What an editor asks of manifests: who names what, what a place means, what may stand there. It answers for a text as
//! it is while it is typed, from what can be told of it, and never refuses.

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

/// What is known of a project: its texts as they stand, and what they meant when they were checked last.
#[derive(Debug, Clone, Default)]
pub struct ProjectSnapshot {
    /// Its manifests and those that they use.
    pub files: EditorFiles,
    /// The good items of its manifests.
    pub models: BTreeMap<String, Arc<Manifest>>,
    /// What the steps of their tensors did.
    pub steps: StepRecords,
}
