//! The files that a build writes: only what changed, all or none of it, and nothing that is not layoutc's own.
//!
//! A build first looks at everything that stands where an output goes and finds all reasons to refuse; then it
//! writes every new text to a temporary file; then it renames them to their places. A fault before the first rename
//! leaves every output as it was. A file is known to be layoutc's by the log, or by the seal in its text.

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
use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::Diagnostic;
use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHasher};

use crate::command_error::CommandError;
use crate::interrupt;
use crate::project::paths::{is_below, is_name};
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

/// What became of an output, or would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputStatus {
    /// Its text is new.
    Written,
    /// It stands there already, to the byte.
    Unchanged,
    /// Nothing asks for it any more.
    Removed,
}

impl OutputStatus {
    /// The word in summaries and JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            OutputStatus::Written => "written",
            OutputStatus::Unchanged => "unchanged",
            OutputStatus::Removed => "removed",
        }
    }
}

/// What may stand in the way of an output without stopping it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OverwritePolicy {
    /// Files of others, and files edited since, are left alone.
    KeepForeign,
    /// They are overwritten.
    Overwrite,
}

/// Which of layoutc's files are removed when no output of this build is in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SweepScope {
    /// None: others than this build's manifests may have asked for them.
    Nothing,
    /// Those below these folders of the output folder.
    Folders(Vec<String>),
    /// All in the output folder.
    Everything,
}

/// What stands in the place of an output, or why it must not be replaced.
pub(crate) type ProbeResult = Result<ExistingOutput, Box<Diagnostic>>;

/// The same of each output of which something is new: what is as layoutc left it is not among them.
pub(crate) type OutputSurvey = BTreeMap<String, ProbeResult>;

/// Outputs of one folder that are looked at in one go.
const AT_ONCE: usize = 192;

/// Looks at the places of outputs; touches nothing. `facts` tells what layoutc wrote before.
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

/// The same for outputs of one folder.
fn survey_folder(
    home: &OutputDir,
    files: &[ExpectedOutput<'_>],
    facts: &BuildFacts<'_>,
    strictness: OverwritePolicy,
) -> Result<Vec<(String, ProbeResult)>, CommandError> {
    let folder = files.first().map_or("", |file| folder_of(file.path));
    let (mut survey, now) = (Vec::new(), Timestamp::take());
    let outside = |path: &str| {
        let message = format!("the output `{path}` would leave the output folder");
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

/// The files in the output folder that may be left over.
pub(crate) fn listing(home: &OutputDir, sweep: &SweepScope) -> Result<OutputListing, CommandError> {
    stale::list(&home.path(), sweep)
}

/// Whether there is no file in what is swept but outputs that `facts` knows: it was so, and no folder changed since.
pub(crate) fn is_tidy(home: &OutputDir, sweep: &SweepScope, facts: &BuildFacts<'_>) -> bool {
    stale::is_settled(&home.path(), sweep, &facts.swept)
}

/// The outputs in what is swept of which anything is known.
pub(crate) fn known_outputs<'a>(sweep: &SweepScope, facts: &BuildFacts<'a>) -> Vec<&'a str> {
    facts.outputs().into_iter().filter(|path| stale::is_swept(sweep, path)).collect()
}

/// Those files of a listing that layoutc wrote, that nobody changed, and that `is_asked_for` does not know.
pub(crate) fn left_over(
    home: &OutputDir,
    listed: impl Iterator<Item = impl AsRef<str>>,
    is_asked_for: &dyn Fn(&str) -> bool,
    facts: &BuildFacts<'_>,
) -> Result<Vec<String>, CommandError> {
    let listing = listed.filter(|path| !is_asked_for(path.as_ref()));
    let listing = listing.map(|path| path.as_ref().to_owned()).collect();
    let found = stale::classify_stale(&home.path(), listing, facts)?;
    Ok(found
        .into_iter()
        .filter(|(_, left)| *left == StaleOwnership::Ours)
        .map(|(path, _)| path)
        .collect())
}

/// A text that is to be written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewOutput<'a> {
    /// The text.
    pub(crate) text: &'a str,
    /// Its hash.
    pub(crate) hash: &'a ContentHash,
    /// Whether nothing stands in its place.
    pub(crate) is_first: bool,
}

/// Writes what is new and removes what is left over, both by path; the facts that follow. Where no lock is held, other
/// builds may be at work in the same folders.
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

/// What is removed from an output folder without a build, and what is not.
#[derive(Debug)]
pub(crate) struct CleanPlan {
    home: OutputDir,
    found: Vec<(String, StaleOwnership)>,
}

impl CleanPlan {
    /// Looks through the output folder; touches nothing. `facts` tells what layoutc wrote before.
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

    /// The paths in the output folder of what is removed.
    pub(crate) fn own(&self) -> impl Iterator<Item = &String> {
        self.paths(StaleOwnership::Ours)
    }

    /// Names what layoutc wrote and somebody changed since.
    pub(crate) fn kept(&self) -> Vec<Diagnostic> {
        self.paths(StaleOwnership::Edited)
            .map(|path| existing_output::kept(&self.home.path().join(path)))
            .collect()
    }

    /// Removes layoutc's own files, and the folders that are empty without them.
    pub(crate) fn apply(&self, _lock: &StateLock) -> Result<(), CommandError> {
        let folders: BTreeSet<&str> = self.own().map(|path| folder_of(path)).collect();
        for folder in folders {
            write::sweep_beside(&self.home.path().join(folder));
        }
        self.own().try_for_each(|path| write::remove(&self.home, path))
    }
}

/// Outputs that would be one file where case does not count.
pub(crate) fn collisions<'a>(paths: impl Iterator<Item = &'a str> + Clone) -> Vec<Diagnostic> {
    // Almost always there is none, and then no two hashes are the same.
    let mut hashes: IndexSet<u64, FxBuildHasher> = IndexSet::default();
    if paths.clone().all(|path| hashes.insert(caseless(path))) {
        return Vec::new();
    }
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    let mut refusals = Vec::new();
    for path in paths {
        if let Some(first) = seen.insert(path.to_lowercase(), path) {
            let message = format!("two outputs would be one file: `{first}` and `{path}`");
            let help = "rename one of the manifests, or move it to another folder";
            refusals.push(Diagnostic::without_span(Code::OutputCollision, message).help(help));
        }
    }
    refusals
}

/// A hash of a path that is the same whatever its case.
fn caseless(path: &str) -> u64 {
    let mut hasher = FxHasher::default();
    if path.is_ascii() {
        path.bytes().for_each(|byte| hasher.write_u8(byte.to_ascii_lowercase()));
    } else {
        path.to_lowercase().bytes().for_each(|byte| hasher.write_u8(byte));
    }
    hasher.finish()
}

/// The folder of a path with `/`; empty: none.
fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of a path with `/`.
fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
