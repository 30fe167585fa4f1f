//! Dependencies of a command: files read, and places where a new file would change the result.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use crate::state::fact::Fingerprint;

use super::files;
use super::globs::SourceGlobs;

/// Fingerprint of the content at a path, or the error text.
pub(crate) type FileState = Result<Fingerprint, String>;

/// States by absolute path.
pub(crate) type FileStates = IndexMap<PathBuf, FileState, FxBuildHasher>;

/// Files read, and places where others would have been read.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadSet {
    /// Includes files that could not be read.
    pub(crate) files: FileStates,
    /// Requested manifests.
    pub(crate) manifests: IndexSet<PathBuf, FxBuildHasher>,
    /// Roots of projects, with the patterns of their manifests.
    pub(crate) sources: BTreeMap<PathBuf, SourceGlobs>,
    /// Folders in which every `*.kdl` is a manifest and every `layoutc.toml` a project.
    pub(crate) loose: BTreeSet<PathBuf>,
    /// Template folders, each with the folder that links must not leave; `None`: unrestricted.
    pub(crate) templates: BTreeMap<PathBuf, Option<PathBuf>>,
    /// Links to folders, and dangling links, found in these folders.
    pub(crate) links: BTreeSet<PathBuf>,
    /// Output folders, never read.
    pub(crate) written: BTreeSet<PathBuf>,
    /// True if manifests are not recorded.
    pub(crate) is_brief: bool,
}

impl ReadSet {
    /// Read set that does not record manifests.
    pub(crate) fn brief() -> Self {
        Self { is_brief: true, ..Self::default() }
    }

    /// Current state of `path`; read only if it may have changed since it was recorded.
    pub(crate) fn current_state(&self, path: &Path) -> FileState {
        let known = self.files.get(path).and_then(|seen| seen.as_ref().ok());
        files::hash_if_changed(path, known)
    }

    /// Records the current state of `path`; `before` avoids reading unchanged files.
    pub(crate) fn record_state(&mut self, path: &Path, before: &ReadSet) {
        self.files.insert(path.to_owned(), before.current_state(path));
    }

    /// Adds the reads of `other`, which win for files that both read.
    pub(crate) fn merge(&mut self, other: ReadSet) {
        self.files.extend(other.files);
        self.manifests.extend(other.manifests);
        self.sources.extend(other.sources);
        self.loose.extend(other.loose);
        self.templates.extend(other.templates);
        self.links.extend(other.links);
        self.written.extend(other.written);
        self.is_brief |= other.is_brief;
    }
}
