//! Dependencies of a command: the files that it read, and the places where a new file would change its
//! result.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use crate::state::fact::Fingerprint;

use super::files;
use super::globs::SourceGlobs;

/// Fingerprint of a file; the error is the reason why the file could not be read, as text.
pub(crate) type FileState = Result<Fingerprint, String>;

/// States of files by absolute path.
pub(crate) type FileStates = IndexMap<PathBuf, FileState, FxBuildHasher>;

/// Files that a command has read, and the folders and patterns by which it would have read new files.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadSet {
    /// States of the files that the command read, or failed to read, by absolute path.
    pub(crate) files: FileStates,
    /// Absolute paths of the requested manifests.
    pub(crate) manifests: IndexSet<PathBuf, FxBuildHasher>,
    /// Patterns of the manifests of each project, by root.
    pub(crate) sources: BTreeMap<PathBuf, SourceGlobs>,
    /// Folders of manifests outside of any project. In each, every `*.kdl` is a manifest, and every `layoutc.toml` is
    /// the configuration of a project.
    pub(crate) loose: BTreeSet<PathBuf>,
    /// Template folders, each with the folder out of which no link may lead; `None` if links may lead anywhere.
    pub(crate) templates: BTreeMap<PathBuf, Option<PathBuf>>,
    /// Absolute paths of the links to folders, and of the links to missing files, that were found in the searched
    /// folders.
    pub(crate) links: BTreeSet<PathBuf>,
    /// Output folders, in which a watch normally ignores changes.
    pub(crate) written: BTreeSet<PathBuf>,
    /// True if the states and paths of manifests are not recorded, because no later run is compared with this set.
    pub(crate) is_brief: bool,
}

impl ReadSet {
    /// Read set without the states and paths of manifests.
    pub(crate) fn brief() -> Self {
        Self { is_brief: true, ..Self::default() }
    }

    /// Current state of the file at the absolute path `path`. The file is read only if its metadata differs from that
    /// of its recorded state, or if none is recorded.
    pub(crate) fn current_state(&self, path: &Path) -> FileState {
        let known = self.files.get(path).and_then(|seen| seen.as_ref().ok());
        files::hash_if_changed(path, known)
    }

    /// Records the current state of the file at the absolute path `path`. The file is read only if its metadata differs
    /// from that of its state in `before`, or if it has none there.
    pub(crate) fn record_state(&mut self, path: &Path, before: &ReadSet) {
        self.files.insert(path.to_owned(), before.current_state(path));
    }

    /// Adds the contents of `other`. The state of a file that is in both sets is that of `other`.
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
