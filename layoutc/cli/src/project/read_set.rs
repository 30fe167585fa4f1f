//! What a command read: every file that its outcome depends on, and where a new file would change it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use crate::state::fact::Fingerprint;

use super::files;
use super::globs::SourceGlobs;

/// What was found at a path: a content, by its hash, or why there is none.
pub(crate) type FileState = Result<Fingerprint, String>;

/// What was found, by absolute path.
pub(crate) type FileStates = IndexMap<PathBuf, FileState, FxBuildHasher>;

/// Files read, and the places where others would have been.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadSet {
    /// Also those that could not be read.
    pub(crate) files: FileStates,
    /// Those of them that are manifests asked for.
    pub(crate) manifests: IndexSet<PathBuf, FxBuildHasher>,
    /// Folders of projects, and the patterns that choose their manifests.
    pub(crate) sources: BTreeMap<PathBuf, SourceGlobs>,
    /// Folders in which every `*.kdl` is a manifest and every `layoutc.toml` a project.
    pub(crate) loose: BTreeSet<PathBuf>,
    /// Folders of templates, each with the folder that no link leads out of; `None`: links lead anywhere.
    pub(crate) templates: BTreeMap<PathBuf, Option<PathBuf>>,
    /// Links to folders, and to nothing, that were found in these.
    pub(crate) links: BTreeSet<PathBuf>,
    /// Folders that are written, never read.
    pub(crate) written: BTreeSet<PathBuf>,
    /// Whether manifests are left out: nobody asks which were read.
    pub(crate) is_brief: bool,
}

impl ReadSet {
    /// Reads without the manifests.
    pub(crate) fn brief() -> Self {
        Self { is_brief: true, ..Self::default() }
    }

    /// What stands at `path` now. It is only read if it may have changed since it was noted here.
    pub(crate) fn current_state(&self, path: &Path) -> FileState {
        let known = self.files.get(path).and_then(|seen| seen.as_ref().ok());
        files::hash_if_changed(path, known)
    }

    /// Notes what stands at `path` now; `before` spares reading what has not changed since.
    pub(crate) fn record_state(&mut self, path: &Path, before: &ReadSet) {
        self.files.insert(path.to_owned(), before.current_state(path));
    }

    /// Takes over what `other` read; of a file that both read, what `other` found.
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
