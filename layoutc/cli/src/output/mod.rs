//! The files that a build writes: only what changed, all or none of it, and nothing that is not layoutc's own.
//!
//! A build first looks at everything that stands where an output goes and finds all reasons to refuse; then it
//! writes every new text to a temporary file; then it renames them to their places. A fault before the first rename
//! leaves every output as it was. A file is known to be layoutc's by the log, or by the seal in its text.

mod folder;
mod place;
mod stale;
mod state;
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

use crate::fault::Fault;
use crate::interrupt;
use crate::project::paths::{is_below, is_name};
use crate::state::fact::{Fact, Facts, Hash};
use crate::state::lock::Lock;
use crate::state::stat::Now;

use place::Looking;
use stale::Left;

pub(crate) use folder::Home;
pub(crate) use place::{Standing, Wanted, has_seal, link};
pub(crate) use stale::Listing;
pub(crate) use state::StateFolder;
pub(crate) use write::{replace, replace_own};

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

/// What stands in the place of an output, or why it must not be replaced.
pub(crate) type Found = Result<Standing, Box<Diagnostic>>;

/// The same of each output of which something is new: what is as layoutc left it is not among them.
pub(crate) type Survey = BTreeMap<String, Found>;

/// Outputs of one folder that are looked at in one go.
const AT_ONCE: usize = 192;

/// Looks at the places of outputs; touches nothing. `facts` tells what layoutc wrote before.
pub(crate) fn survey(
    home: &Home,
    wanted: &[Wanted<'_>],
    facts: &Facts<'_>,
    strictness: Strictness,
) -> Result<Survey, Fault> {
    let folders = wanted.chunk_by(|a, b| folder_of(a.path) == folder_of(b.path));
    let runs: Vec<&[Wanted<'_>]> = folders.flat_map(|files| files.chunks(AT_ONCE)).collect();
    let surveyed: Vec<Vec<_>> = runs
        .par_iter()
        .map(|files| survey_folder(home, files, facts, strictness))
        .collect::<Result<_, Fault>>()?;
    Ok(surveyed.into_iter().flatten().collect())
}

/// The same for outputs of one folder.
fn survey_folder(
    home: &Home,
    files: &[Wanted<'_>],
    facts: &Facts<'_>,
    strictness: Strictness,
) -> Result<Vec<(String, Found)>, Fault> {
    let folder = files.first().map_or("", |file| folder_of(file.path));
    let (mut survey, now) = (Vec::new(), Now::take());
    let outside = |path: &str| {
        let message = format!("the output `{path}` would leave the output folder");
        Box::new(Diagnostic::placeless(Code::OutputOutside, message))
    };
    let is_inside = folder.is_empty() || is_below(folder);
    let opened = if is_inside { home.open(folder)? } else { Ok(None) };
    let root = home.path();
    let looking = Looking { root: &root, now, facts, strictness };
    for wanted in files {
        let path = wanted.path;
        let standing = match &opened {
            _ if !(is_inside && is_name(name_of(path))) => Err(outside(path)),
            Err(refusal) => Err(refusal.clone()),
            Ok(None) => Ok(Standing::Nothing),
            Ok(Some(folder)) => place::look(folder, *wanted, looking)?,
        };
        if !matches!(standing, Ok(Standing::AsKnown)) {
            survey.push((path.to_owned(), standing));
        }
    }
    Ok(survey)
}

/// The files in the output folder that may be left over.
pub(crate) fn listing(home: &Home, sweep: &Sweep) -> Result<Listing, Fault> {
    stale::list(&home.path(), sweep)
}

/// Whether there is no file in what is swept but outputs that `facts` knows: it was so, and no folder changed since.
pub(crate) fn is_tidy(home: &Home, sweep: &Sweep, facts: &Facts<'_>) -> bool {
    stale::is_settled(&home.path(), sweep, &facts.swept)
}

/// The outputs in what is swept of which anything is known.
pub(crate) fn known_outputs<'a>(sweep: &Sweep, facts: &Facts<'a>) -> Vec<&'a str> {
    facts.outputs().into_iter().filter(|path| stale::is_swept(sweep, path)).collect()
}

/// Those files of a listing that layoutc wrote, that nobody changed, and that `is_asked_for` does not know.
pub(crate) fn left_over(
    home: &Home,
    listed: impl Iterator<Item = impl AsRef<str>>,
    is_asked_for: &dyn Fn(&str) -> bool,
    facts: &Facts<'_>,
) -> Result<Vec<String>, Fault> {
    let listing = listed.filter(|path| !is_asked_for(path.as_ref()));
    let listing = listing.map(|path| path.as_ref().to_owned()).collect();
    let found = stale::sort_out(&home.path(), listing, facts)?;
    Ok(found.into_iter().filter(|(_, left)| *left == Left::Ours).map(|(path, _)| path).collect())
}

/// A text that is to be written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct New<'a> {
    /// The text.
    pub(crate) text: &'a str,
    /// Its hash.
    pub(crate) hash: &'a Hash,
    /// Whether nothing stands in its place.
    pub(crate) is_first: bool,
}

/// Writes what is new and removes what is left over, both by path; the facts that follow. Where no lock is held, other
/// builds may be at work in the same folders.
pub(crate) fn apply<'p>(
    home: &Home,
    state: &StateFolder,
    new: &BTreeMap<&'p str, New<'_>>,
    left_over: &[&'p str],
    lock: &Lock,
) -> Result<Vec<Fact<'p>>, Fault> {
    let _writing = interrupt::Writing::begin();
    let known = write::all(home, state, new, lock)?;
    let mut facts: Vec<Fact<'p>> =
        new.keys().zip(known).map(|(path, known)| Fact::Output(path, known)).collect();
    for path in left_over {
        write::remove(home, path)?;
        facts.push(Fact::Removed(path));
    }
    Ok(facts)
}

/// What is removed from an output folder without a build, and what is not.
#[derive(Debug)]
pub(crate) struct Cleaning {
    home: Home,
    found: Vec<(String, Left)>,
}

impl Cleaning {
    /// Looks through the output folder; touches nothing. `facts` tells what layoutc wrote before.
    pub(crate) fn new(home: &Home, facts: &Facts<'_>, sweep: &Sweep) -> Result<Self, Fault> {
        let found = stale::sort_out(&home.path(), listing(home, sweep)?.files, facts)?;
        Ok(Self { home: home.clone(), found })
    }

    fn paths(&self, left: Left) -> impl Iterator<Item = &String> {
        self.found.iter().filter(move |found| found.1 == left).map(|(path, _)| path)
    }

    /// The paths in the output folder of what is removed.
    pub(crate) fn own(&self) -> impl Iterator<Item = &String> {
        self.paths(Left::Ours)
    }

    /// Names what layoutc wrote and somebody changed since.
    pub(crate) fn kept(&self) -> Vec<Diagnostic> {
        self.paths(Left::Edited).map(|path| place::kept(&self.home.path().join(path))).collect()
    }

    /// Removes layoutc's own files, and the folders that are empty without them.
    pub(crate) fn apply(&self, _lock: &Lock) -> Result<(), Fault> {
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
            refusals.push(Diagnostic::placeless(Code::OutputCollision, message).help(help));
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
