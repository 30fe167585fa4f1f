//! Snapshot of the inputs of a build, and its differences from the inputs that the last build read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::build::SelectArgs;
use crate::paths::relative_to_cwd;
use crate::project::files::MISSING;
use crate::project::read_set::{FileState, FileStates, ReadSet};
use crate::project::{self, Project, file_tree};
use crate::report::Report;
use crate::state::fact::ContentHash;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangeKind {
    Changed,
    Added,
    Removed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InputChange {
    path: PathBuf,
    how: ChangeKind,
    /// True if the file is empty or was removed, which may be an intermediate state of a save.
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

    /// Change as JSON: `{"path": …, "how": "changed"}`.
    pub(super) fn json(&self) -> Value {
        json!({ "path": relative_to_cwd(&self.path), "how": self.word() })
    }

    /// Change as text: `layouts/a.kdl changed`.
    pub(super) fn text(&self) -> String {
        format!("{} {}", relative_to_cwd(&self.path), self.word())
    }
}

/// States of all inputs of a build at one time.
#[derive(Debug, Clone)]
pub(super) struct InputSnapshot {
    /// Files that the discovery of projects, manifests and templates found, with their states. Also the folders that it
    /// searched.
    listing: ReadSet,
    /// States of the files that the last build read and that are not in `listing`.
    others: FileStates,
    /// Projects of the build. `None` if the discovery fails, or a configuration is invalid; then the inputs of the last
    /// build still count.
    projects: Option<Arc<Vec<Project>>>,
}

impl InputSnapshot {
    /// Takes the states of all files that a build of `select` in the folder `home` would read. `known` are the inputs
    /// of the last build.
    pub(super) fn take(select: &SelectArgs, home: &Path, known: &ReadSet) -> Self {
        let (mut listing, mut report) = (ReadSet::default(), Report::default());
        let (paths, root) = (&select.paths, select.root.as_deref());
        // If the folder is gone, so is everything below it.
        let found = std::env::set_current_dir(home)
            .ok()
            .and_then(|()| project::discover(paths, root, &mut report, &mut listing).ok());
        let projects = found.filter(|_| !report.has_errors()).map(Arc::new);
        let manifests: Vec<&PathBuf> = listing.manifests.iter().collect();
        let seen = |path: &&PathBuf| ((*path).clone(), known.current_state(path));
        let seen: Vec<(PathBuf, FileState)> = manifests.par_iter().map(seen).collect();
        listing.files.extend(seen);
        for (folder, root) in listing.templates.clone() {
            // An unreadable folder is reported by the build.
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

    /// Pair of the projects of the build, and the states of their files by absolute path; `None` if the projects cannot
    /// be discovered, or a configuration is invalid.
    pub(super) fn found(&self) -> Option<(&[Project], &FileStates)> {
        self.projects.as_ref().map(|projects| (projects.as_slice(), &self.listing.files))
    }

    fn files(&self) -> impl Iterator<Item = (&PathBuf, &FileState)> {
        self.listing.files.iter().chain(&self.others)
    }

    /// Changes of the inputs since the build that read `known`, sorted by path, at most one per file.
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
            // A manifest that still exists but now belongs to another project.
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

    /// True if an input was emptied or removed since the build that read `known`, which may be an intermediate state of
    /// a save.
    pub(super) fn is_halfway(&self, known: &ReadSet) -> bool {
        self.changes(known).iter().any(|change| change.is_halfway)
    }

    /// True if this snapshot and `other` have the same files, with equal contents or equal errors.
    pub(super) fn agrees_with(&self, other: &InputSnapshot) -> bool {
        let same = |(a, b): ((&PathBuf, &FileState), (&PathBuf, &FileState))| {
            a.0 == b.0 && is_same(a.1, b.1)
        };
        self.files().count() == other.files().count() && self.files().zip(other.files()).all(same)
    }

    /// Inputs with which the next snapshot is compared: the files that the discovery found, and `reads`, the files that
    /// the build after this snapshot read. If the discovery failed, also the inputs in `before`, which were known
    /// before, in their current states.
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

/// True if two states `a` and `b` are of files with equal contents, or of files that could not be read for equal
/// reasons.
fn is_same(a: &FileState, b: &FileState) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => a.hash == b.hash,
        (Err(a), Err(b)) => a == b,
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

/// Kind of change of an input from the state `before` to the state `now`; `None` if it did not change. `before` is
/// `None` if the file was no input before.
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
