//! The inputs as they stand now, and how they differ from what the last build read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::args::SelectArgs;
use crate::project::files::MISSING;
use crate::project::read_set::{FileState, FileStates, ReadSet};
use crate::project::{self, Project, file_tree, relative_to_cwd};
use crate::report::Report;
use crate::state::fact::ContentHash;

/// What became of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangeKind {
    Changed,
    Added,
    Removed,
}

/// An input that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InputChange {
    path: PathBuf,
    how: ChangeKind,
    /// It holds nothing any more, as between the two halves of many a save.
    is_halfway: bool,
}

impl InputChange {
    fn word(&self) -> &'static str {
        match self.how {
            ChangeKind::Changed => "changed",
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
        }
    }

    /// `{"path": …, "how": "changed"}`.
    pub(super) fn json(&self) -> Value {
        json!({ "path": relative_to_cwd(&self.path), "how": self.word() })
    }

    /// `layouts/a.kdl changed`.
    pub(super) fn text(&self) -> String {
        format!("{} {}", relative_to_cwd(&self.path), self.word())
    }
}

/// Every input, read again.
#[derive(Debug, Clone)]
pub(super) struct InputSnapshot {
    /// What is found by looking for projects, manifests and templates.
    listing: ReadSet,
    /// The other files that the last build read.
    others: FileStates,
    /// The projects; `None`: they cannot be found now, and the last build's inputs still count.
    projects: Option<Arc<Vec<Project>>>,
}

impl InputSnapshot {
    /// Reads all that a build of `select` would read, as far as `known`, what the last one read, tells.
    pub(super) fn take(select: &SelectArgs, home: &Path, known: &ReadSet) -> Self {
        let (mut listing, mut report) = (ReadSet::default(), Report::default());
        let (paths, root) = (&select.paths, select.root.as_deref());
        // Where the folder is gone, so is all below it.
        let found = std::env::set_current_dir(home)
            .ok()
            .and_then(|()| project::discover(paths, root, &mut report, &mut listing).ok());
        let projects = found.filter(|_| !report.has_errors()).map(Arc::new);
        let manifests: Vec<&PathBuf> = listing.manifests.iter().collect();
        let seen = |path: &&PathBuf| ((*path).clone(), known.current_state(path));
        let seen: Vec<(PathBuf, FileState)> = manifests.par_iter().map(seen).collect();
        listing.files.extend(seen);
        for (folder, root) in listing.templates.clone() {
            // A folder that cannot be read is the build's to tell.
            let found = file_tree::within(&folder, root.as_deref()).unwrap_or_default();
            for file in found.files() {
                listing.record_state(&file, known);
            }
            listing.links.extend(found.links);
        }
        let mut others = ReadSet::default();
        for file in known.files.keys().filter(|file| !listing.files.contains_key(*file)) {
            others.record_state(file, known);
        }
        Self { listing, others: others.files, projects }
    }

    /// The projects, and what was seen of their files; `None` where they cannot be found.
    pub(super) fn found(&self) -> Option<(&[Project], &FileStates)> {
        self.projects.as_ref().map(|projects| (projects.as_slice(), &self.listing.files))
    }

    fn files(&self) -> impl Iterator<Item = (&PathBuf, &FileState)> {
        self.listing.files.iter().chain(&self.others)
    }

    /// How the inputs differ from those in `known`, by path.
    pub(super) fn changes(&self, known: &ReadSet) -> Vec<InputChange> {
        let mut changes: Vec<InputChange> = self
            .files()
            .filter_map(|(path, now)| Some((path, change_kind(known.files.get(path), now)?, now)))
            .map(|(path, how, now)| {
                let is_empty = now.as_ref().is_ok_and(|now| now.hash == ContentHash::of(b""));
                let is_halfway = how == ChangeKind::Removed || is_empty;
                InputChange { path: path.clone(), how, is_halfway }
            })
            .collect();
        if self.projects.is_some() {
            // A manifest that is still there, but now another project's.
            let left = known.manifests.difference(&self.listing.manifests);
            let left = left.filter(|path| self.others.get(*path).is_some_and(Result::is_ok));
            changes.extend(left.map(|path| InputChange {
                path: path.clone(),
                how: ChangeKind::Removed,
                is_halfway: false,
            }));
        }
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        changes.dedup_by(|a, b| a.path == b.path);
        changes
    }

    /// Whether something was emptied or taken away, which may be half of a save.
    pub(super) fn is_halfway(&self, known: &ReadSet) -> bool {
        self.changes(known).iter().any(|change| change.is_halfway)
    }

    /// Whether both looks saw the same.
    pub(super) fn agrees_with(&self, other: &InputSnapshot) -> bool {
        let same = |(a, b): ((&PathBuf, &FileState), (&PathBuf, &FileState))| {
            a.0 == b.0 && is_same(a.1, b.1)
        };
        self.files().count() == other.files().count() && self.files().zip(other.files()).all(same)
    }

    /// What is known after a build that read `reads`; `before` is what was known before it.
    pub(super) fn into_known(self, before: &ReadSet, reads: ReadSet) -> ReadSet {
        let mut known = ReadSet::default();
        if self.projects.is_none() {
            known.merge(before.clone());
            known.files.extend(self.others);
        }
        known.merge(self.listing);
        known.merge(reads);
        known
    }
}

/// Whether the same content, or the same lack of one, was seen.
fn is_same(a: &FileState, b: &FileState) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => a.hash == b.hash,
        (Err(a), Err(b)) => a == b,
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

/// How an input changed; `None` if it did not.
fn change_kind(before: Option<&FileState>, now: &FileState) -> Option<ChangeKind> {
    let is_there = |content: &FileState| content.as_ref().err().is_none_or(|why| why != MISSING);
    match before {
        Some(before) if is_same(before, now) => None,
        Some(before) => Some(match (is_there(before), is_there(now)) {
            (false, true) => ChangeKind::Added,
            (true, false) => ChangeKind::Removed,
            (true, true) | (false, false) => ChangeKind::Changed,
        }),
        None => is_there(now).then_some(ChangeKind::Added),
    }
}
