//! The files that a build writes: only what changed, all or none of it, and nothing that is not layoutc's own.
//!
//! A build first looks at everything that stands where an output goes and finds all reasons to refuse; then it
//! writes every new text to a temporary file beside its place; then it renames them. A fault before the first rename
//! leaves every output as it was. Nothing is recorded on disk: a file is known to be layoutc's by the seal in its
//! text, and one that no manifest asks for any more is found by looking through the output folder.

mod place;
mod stale;
#[cfg(test)]
mod tests;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use layoutc_compiler::Output;
use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::Diagnostic;

use crate::fault::{Fault, placeless};
use crate::project::paths::is_below;

pub(crate) use place::link;
pub(crate) use write::{Lock, lock};

/// What became of an output, or would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Its text is new.
    Written,
    /// It stands there already, to the byte.
    Unchanged,
    /// Nothing asks for it any more.
    Removed,
}

impl Status {
    /// The word in summaries and JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Status::Written => "written",
            Status::Unchanged => "unchanged",
            Status::Removed => "removed",
        }
    }
}

/// What may stand in the way of an output without stopping it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// Files of others, and files edited since, are left alone.
    Careful,
    /// They are overwritten.
    Force,
}

/// Which of layoutc's files are removed when no output of this build is in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sweep {
    /// None: others than this build's manifests may have asked for them.
    Nothing,
    /// Those below these folders of the output folder.
    Folders(Vec<String>),
    /// All in the output folder.
    Everything,
}

/// What a build will do to its output folder.
#[derive(Debug)]
pub(crate) struct Plan {
    root: PathBuf,
    /// Paths below the root, with what becomes of them.
    pub(crate) files: BTreeMap<String, (Status, String)>,
}

impl Plan {
    /// Compares outputs with what stands in the folder `root`; touches nothing. All refusals are found.
    pub(crate) fn new(
        root: &Path,
        outputs: Vec<Output>,
        strictness: Strictness,
        sweep: &Sweep,
    ) -> Result<Self, Fault> {
        let mut refusals = collisions(&outputs);
        let mut files = BTreeMap::new();
        for output in outputs {
            if !is_below(&output.path) {
                let message = format!("the output `{}` would leave the output folder", output.path);
                refusals.push(placeless(Code::OutputOutside, message));
                continue;
            }
            match place::look(root, &output.path, &output.text, strictness)? {
                Ok(status) => drop(files.insert(output.path, (status, output.text))),
                Err(refusal) => refusals.push(*refusal),
            }
        }
        if !refusals.is_empty() {
            return Err(Fault::Input(refusals));
        }
        for path in stale::find(root, &files, sweep)? {
            files.insert(path, (Status::Removed, String::new()));
        }
        Ok(Self { root: root.to_owned(), files })
    }

    /// Writes what is new and removes what is left over. The folder must be locked, unless it is not there.
    pub(crate) fn apply(&self, _lock: &Lock) -> Result<(), Fault> {
        let texts = |(path, (status, text)): (&String, &(Status, String))| {
            (*status == Status::Written).then(|| (self.root.join(path), text.clone()))
        };
        let written: Vec<(PathBuf, String)> = self.files.iter().filter_map(texts).collect();
        let touched = self.files.iter().filter(|(_, (status, _))| *status != Status::Unchanged);
        let folders: BTreeSet<PathBuf> = touched
            .filter_map(|(path, _)| Some(self.root.join(path).parent()?.to_owned()))
            .collect();
        folders.iter().for_each(|folder| stale::sweep_temporaries(folder));
        write::all(&self.root, &written)?;
        let removed = self.files.iter().filter(|(_, (status, _))| *status == Status::Removed);
        removed.map(|(path, _)| path).try_for_each(|path| stale::remove(&self.root, path))
    }

    /// Whether there is nothing to do.
    pub(crate) fn is_current(&self) -> bool {
        self.files.values().all(|(status, _)| *status == Status::Unchanged)
    }
}

/// What is removed from an output folder without a build, and what is not.
#[derive(Debug)]
pub(crate) struct Cleaning {
    plan: Plan,
    edited: Vec<String>,
}

impl Cleaning {
    /// Looks through the folder `root`; touches nothing.
    pub(crate) fn new(root: &Path, sweep: &Sweep) -> Result<Self, Fault> {
        let plan = Plan::new(root, Vec::new(), Strictness::Careful, sweep)?;
        Ok(Self { plan, edited: stale::edited(root, sweep)? })
    }

    /// The paths below the root of what is removed.
    pub(crate) fn own(&self) -> impl Iterator<Item = &String> {
        self.plan.files.keys()
    }

    /// Names what layoutc wrote and somebody changed since.
    pub(crate) fn kept(&self) -> Vec<Diagnostic> {
        self.edited.iter().map(|path| place::kept(&self.plan.root.join(path))).collect()
    }

    /// Removes layoutc's own files, and the folders that are empty without them.
    pub(crate) fn apply(&self, lock: &Lock) -> Result<(), Fault> {
        self.plan.apply(lock)
    }
}

/// Outputs that would be one file where case does not count.
fn collisions(outputs: &[Output]) -> Vec<Diagnostic> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    let mut refusals = Vec::new();
    for output in outputs {
        if let Some(first) = seen.insert(output.path.to_lowercase(), &output.path) {
            let message = format!("two outputs would be one file: `{first}` and `{}`", output.path);
            let help = "rename one of the manifests, or move it to another folder";
            refusals.push(placeless(Code::OutputCollision, message).help(help));
        }
    }
    refusals
}
