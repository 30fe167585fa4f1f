//! Writing of the outputs of a build. Only changed outputs are written. A file that layoutc did not write is replaced
//! only with `--force`.
//!
//! A build first examines every output path and collects all reasons to refuse; then it writes every new text to a
//! temporary file; then it renames the temporary files. An error before the first rename leaves every output unchanged.
//! A file counts as written by layoutc if the build log or the seal in its text, a hash, proves it.

mod existing_output;
mod output_dir;
mod stale;
mod state_folder;
#[cfg(test)]
mod tests;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;

use indexmap::IndexSet;
use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;
use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHasher};

use crate::command_error::CommandError;
use crate::interrupt;
use crate::paths::{is_below, is_name};
use crate::state::fact::{BuildFact, BuildFacts, ContentHash};
use crate::state::lock::StateLock;
use crate::state::stat::Timestamp;

use existing_output::ProbeContext;
use stale::StaleOwnership;

pub(crate) use existing_output::{ExistingOutput, ExpectedOutput, has_seal, link};
pub(crate) use output_dir::OutputDir;
pub(crate) use stale::OutputListing;
pub(crate) use state_folder::StateFolder;
pub(crate) use write::{replace, replace_own};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputStatus {
    Written,
    /// Output that is up to date.
    Unchanged,
    /// File that is no longer generated, and is removed.
    Removed,
}

impl OutputStatus {
    /// Name of the status in summaries and JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            OutputStatus::Written => "written",
            OutputStatus::Unchanged => "unchanged",
            OutputStatus::Removed => "removed",
        }
    }
}

/// Policy for files at the paths of outputs, if layoutc did not write them or they were edited since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OverwritePolicy {
    KeepForeign,
    Overwrite,
}

/// Part of the output folder from which outputs that are no longer generated are removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SweepScope {
    /// No part of the output folder, as other manifests may have generated the outputs in it.
    Nothing,
    /// Folders with these paths relative to the output folder, and all folders below them.
    Folders(Vec<String>),
    /// The whole output folder.
    Everything,
}

/// State of the file at the path of an output; the error is the reason why the file must not be replaced.
pub(crate) type ProbeResult = Result<ExistingOutput, Box<Diagnostic>>;

/// States of the files at the paths of expected outputs, by path relative to the output folder. An output in the state
/// [`ExistingOutput::AsRecorded`] is omitted: its fingerprint in the build log proves that it is up to date.
pub(crate) type OutputSurvey = BTreeMap<String, ProbeResult>;

/// Maximum number of outputs of one folder per parallel task.
const AT_ONCE: usize = 192;

/// Examines the files in the output folder `home` at the paths of the outputs `wanted`, and changes none. `facts` are
/// the facts of the build log. `strictness` is the policy for files that layoutc did not write or that were edited. The
/// result has no entry for a file with the expected fingerprint in the log.
///
/// # Errors
/// [`CommandError::Machine`] if a folder or file cannot be examined.
pub(crate) fn survey(
    home: &OutputDir,
    wanted: &[ExpectedOutput<'_>],
    facts: &BuildFacts<'_>,
    strictness: OverwritePolicy,
) -> Result<OutputSurvey, CommandError> {
    let folders = wanted.chunk_by(|a, b| folder_of(a.path) == folder_of(b.path));
    let runs: Vec<&[ExpectedOutput<'_>]> =
        folders.flat_map(|files| files.chunks(AT_ONCE)).collect();
    let surveyed: Vec<Vec<_>> = runs
        .par_iter()
        .map(|files| survey_folder(home, files, facts, strictness))
        .collect::<Result<_, CommandError>>()?;
    Ok(surveyed.into_iter().flatten().collect())
}

/// Examines the files at the paths of the outputs `files` as [`survey`] does, where all these outputs are in one
/// folder. Returns pairs of path and state in the order of `files`, without files that have the expected fingerprint in
/// the log.
fn survey_folder(
    home: &OutputDir,
    files: &[ExpectedOutput<'_>],
    facts: &BuildFacts<'_>,
    strictness: OverwritePolicy,
) -> Result<Vec<(String, ProbeResult)>, CommandError> {
    let folder = files.first().map_or("", |file| folder_of(file.path));
    let (mut survey, now) = (Vec::new(), Timestamp::take());
    let outside = |path: &str| {
        let message = format!("output `{path}` is outside of the output folder");
        Box::new(Diagnostic::without_span(Code::OutputOutside, message))
    };
    let is_inside = folder.is_empty() || is_below(folder);
    let opened = if is_inside { home.open(folder)? } else { Ok(None) };
    let root = home.path();
    let looking = ProbeContext { root: &root, now, facts, strictness };
    for wanted in files {
        let path = wanted.path;
        let standing = match &opened {
            _ if !(is_inside && is_name(name_of(path))) => Err(outside(path)),
            Err(refusal) => Err(refusal.clone()),
            Ok(None) => Ok(ExistingOutput::Nothing),
            Ok(Some(folder)) => existing_output::probe_output(folder, *wanted, looking)?,
        };
        if !matches!(standing, Ok(ExistingOutput::AsRecorded)) {
            survey.push((path.to_owned(), standing));
        }
    }
    Ok(survey)
}

/// Lists the files in the part `sweep` of the output folder `home`.
///
/// # Errors
/// [`CommandError::Machine`] if a folder cannot be read.
pub(crate) fn listing(home: &OutputDir, sweep: &SweepScope) -> Result<OutputListing, CommandError> {
    stale::list(&home.path(), sweep)
}

/// True if the part `sweep` of the output folder `home` contains no other files than the outputs in `facts`, the build
/// log. This is known if an earlier build has recorded it, and the metadata of no folder has changed since.
pub(crate) fn is_tidy(home: &OutputDir, sweep: &SweepScope, facts: &BuildFacts<'_>) -> bool {
    stale::is_settled(&home.path(), sweep, &facts.swept)
}

/// Paths of the outputs in `facts`, the build log, that are in the part `sweep` of the output folder. Relative to the
/// output folder, sorted.
pub(crate) fn known_outputs<'a>(sweep: &SweepScope, facts: &BuildFacts<'a>) -> Vec<&'a str> {
    facts.outputs().into_iter().filter(|path| stale::is_swept(sweep, path)).collect()
}

/// Paths of the files to remove among `listed`, which are paths relative to the output folder `home`: files that
/// layoutc wrote, that were not edited since, and that the build does not generate. The evidence that layoutc wrote a
/// file is `facts`, the build log, or a seal in its text. `is_requested` returns true for the path of an output that
/// the build generates.
///
/// # Errors
/// [`CommandError::Machine`] if an output in the log cannot be read.
pub(crate) fn left_over(
    home: &OutputDir,
    listed: impl Iterator<Item = impl AsRef<str>>,
    is_requested: &dyn Fn(&str) -> bool,
    facts: &BuildFacts<'_>,
) -> Result<Vec<String>, CommandError> {
    let listing = listed.filter(|path| !is_requested(path.as_ref()));
    let listing = listing.map(|path| path.as_ref().to_owned()).collect();
    let found = stale::classify_stale(&home.path(), listing, facts)?;
    Ok(found
        .into_iter()
        .filter(|(_, left)| *left == StaleOwnership::Ours)
        .map(|(path, _)| path)
        .collect())
}

/// Output that must be written, with its text and the hash of the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewOutput<'a> {
    pub(crate) text: &'a str,
    pub(crate) hash: &'a ContentHash,
    /// True if no file exists at the path of the output.
    pub(crate) is_first: bool,
}

/// Writes the outputs `new`, by path relative to the output folder `home`, then removes the outputs at the paths
/// `left_over`. Temporary files are, if possible, in the state folder `state`, whose lock is `lock`. Returns facts for
/// the build log about these files. If `lock` is not held, other builds may be writing to the same folders.
///
/// # Errors
/// [`CommandError::Input`] if a path is blocked, as by a file that was created meanwhile. [`CommandError::Interrupted`]
/// after an interrupt. [`CommandError::Machine`] if a system call fails.
pub(crate) fn apply<'p>(
    home: &OutputDir,
    state: &StateFolder,
    new: &BTreeMap<&'p str, NewOutput<'_>>,
    left_over: &[&'p str],
    lock: &StateLock,
) -> Result<Vec<BuildFact<'p>>, CommandError> {
    let _writing = interrupt::WriteGuard::begin();
    let known = write::all(home, state, new, lock)?;
    let mut facts: Vec<BuildFact<'p>> =
        new.keys().zip(known).map(|(path, known)| BuildFact::Output(path, known)).collect();
    for path in left_over {
        write::remove(home, path)?;
        facts.push(BuildFact::Removed(path));
    }
    Ok(facts)
}

/// Plan of `layoutc clean`: the files in the output folder, each with its origin. A file was written by layoutc and not
/// edited since, was edited since, or is foreign (not written by layoutc).
#[derive(Debug)]
pub(crate) struct CleanPlan {
    home: OutputDir,
    found: Vec<(String, StaleOwnership)>,
}

impl CleanPlan {
    /// Lists the files in the part `sweep` of the output folder `home`, and changes none. `facts` are the facts of the
    /// build log, which give the origin of each file.
    ///
    /// # Errors
    /// [`CommandError::Machine`] if a folder, or an output in the log, cannot be read.
    pub(crate) fn new(
        home: &OutputDir,
        facts: &BuildFacts<'_>,
        sweep: &SweepScope,
    ) -> Result<Self, CommandError> {
        let found = stale::classify_stale(&home.path(), listing(home, sweep)?.files, facts)?;
        Ok(Self { home: home.clone(), found })
    }

    fn paths(&self, left: StaleOwnership) -> impl Iterator<Item = &String> {
        self.found.iter().filter(move |found| found.1 == left).map(|(path, _)| path)
    }

    /// Paths of the files that layoutc wrote and that were not edited since, relative to the output folder.
    /// [`Self::apply`] removes them.
    pub(crate) fn own(&self) -> impl Iterator<Item = &String> {
        self.paths(StaleOwnership::Ours)
    }

    /// Warnings about edited outputs, which are not removed.
    pub(crate) fn preserved(&self) -> Vec<Diagnostic> {
        self.paths(StaleOwnership::Edited)
            .map(|path| existing_output::preserved(&self.home.path().join(path)))
            .collect()
    }

    /// Removes the files of [`Self::own`], and folders that become empty. The lock of the state folder must be held.
    ///
    /// # Errors
    /// [`CommandError::Machine`] if a file cannot be removed.
    pub(crate) fn apply(&self, _lock: &StateLock) -> Result<(), CommandError> {
        let folders: BTreeSet<&str> = self.own().map(|path| folder_of(path)).collect();
        for folder in folders {
            write::sweep_targets_folder(&self.home.path().join(folder));
        }
        self.own().try_for_each(|path| write::remove(&self.home, path))
    }
}

/// Errors about outputs among `paths` whose paths are equal or differ only in case, one for each path after the first
/// of such a group, and about outputs that are folders of others.
pub(crate) fn collisions<'a>(paths: impl Iterator<Item = &'a str> + Clone) -> Vec<Diagnostic> {
    // Fast path: all hashes differ.
    let mut hashes: IndexSet<u64, FxBuildHasher> = IndexSet::default();
    let is_folder = |folder: &str, hashes: &IndexSet<u64, FxBuildHasher>| {
        folder.contains('.') && hashes.contains(&caseless(folder))
    };
    let are_distinct = paths.clone().all(|path| hashes.insert(caseless(path)));
    if are_distinct && !paths.clone().any(|path| folders(path).any(|one| is_folder(one, &hashes))) {
        return Vec::new();
    }
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    let mut refusals = Vec::new();
    for path in paths.clone() {
        if let Some(first) = seen.insert(path.to_lowercase(), path) {
            let message = if first == path {
                format!("two outputs have the path `{path}`")
            } else {
                format!("outputs `{first}` and `{path}` differ only in case")
            };
            let help = "rename one of the manifests, or move it to another folder";
            refusals.push(Diagnostic::without_span(Code::OutputCollision, message).help(help));
        }
    }
    for path in paths {
        if let Some(file) = folders(path).find_map(|folder| seen.get(&folder.to_lowercase())) {
            let message = format!("output `{path}` needs a folder in place of output `{file}`");
            let help = "rename one of the manifests, or move it to another folder";
            refusals.push(Diagnostic::without_span(Code::OutputCollision, message).help(help));
        }
    }
    refusals
}

/// Folders of `path`, the innermost first: `c/x` and `c` for `c/x/a.h`.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices('/').filter_map(|(at, _)| path.get(..at))
}

/// Hash of `path` without regard to case: equal for `A.h` and `a.h`.
fn caseless(path: &str) -> u64 {
    let mut hasher = FxHasher::default();
    if path.is_ascii() {
        path.bytes().for_each(|byte| hasher.write_u8(byte.to_ascii_lowercase()));
    } else {
        path.to_lowercase().bytes().for_each(|byte| hasher.write_u8(byte));
    }
    hasher.finish()
}

/// Folder of `path`, which has `/` as separator: `c/x` for `c/x/a.h`, and empty for a single name.
fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Last component of `path`, which has `/` as separator: `a.h` for `c/x/a.h`.
fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
