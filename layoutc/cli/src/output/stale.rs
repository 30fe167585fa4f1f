//! Stale outputs: files that are no longer generated.
//!
//! A file counts as an output only if its text is as layoutc wrote it, or as a power failure left it. The evidence is
//! the build log, or the seal in the text, which is a hash of the text.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use layoutc_compiler::base::content_hash;

use crate::command_error::CommandError;
use crate::project::file_tree::entries;
use crate::state::fact::{BuildFacts, ContentHash};
use crate::state::stat::{FileStat, Timestamp};

use super::SweepScope;
use super::existing_output::{LARGEST, has_seal, is_torn};

/// Origin of a file in the output folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StaleOwnership {
    /// File that layoutc wrote, and that is unchanged since, or as a power failure left it.
    Ours,
    /// File that layoutc wrote, and that was edited since.
    Edited,
    /// File that layoutc did not write.
    Foreign,
}

/// Files and folders in the swept part of the output folder.
#[derive(Debug, Default)]
pub(crate) struct OutputListing {
    /// Paths of the files in the swept folders, without hidden ones, relative to the output folder, sorted.
    pub(crate) files: Vec<String>,
    /// Visited folders with their metadata before the visit. The metadata is `None` if the folder changed so recently
    /// that a later change might leave it equal.
    pub(crate) folders: Vec<(String, Option<FileStat>)>,
}

/// Lists the files in the part `sweep` of the output folder at `root`, without hidden ones.
///
/// # Errors
/// [`CommandError::Machine`] if a folder cannot be read.
pub(super) fn list(root: &Path, sweep: &SweepScope) -> Result<OutputListing, CommandError> {
    let (mut listing, now) = (OutputListing::default(), Timestamp::take());
    for folder in swept(sweep) {
        listing.add(root, folder, now)?;
    }
    listing.files.sort_unstable();
    listing.files.dedup();
    Ok(listing)
}

/// True if the set of files in the part `sweep` of the output folder at `root` is unchanged since a build. `folders`
/// are the folders that this build swept, with their metadata in the log. They must include all folders of `sweep`, and
/// none may have changed since. False if `folders` is empty.
pub(super) fn is_settled(root: &Path, sweep: &SweepScope, folders: &[(&str, FileStat)]) -> bool {
    let is_among = |start: &String| folders.iter().any(|(folder, _)| folder == start);
    let stands = |(folder, stat): &(&str, FileStat)| {
        let path = if folder.is_empty() { root.to_owned() } else { root.join(folder) };
        fs::symlink_metadata(path).is_ok_and(|m| m.is_dir() && FileStat::of(&m) == *stat)
    };
    !folders.is_empty() && swept(sweep).iter().all(is_among) && folders.iter().all(stands)
}

/// True if the file at `path`, relative to the output folder, is in the part `sweep` of that folder.
pub(super) fn is_swept(sweep: &SweepScope, path: &str) -> bool {
    let is_in = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    swept(sweep).iter().any(|folder| folder.is_empty() || is_in(folder))
}

/// Pairs of path and origin for the files at `paths`, relative to `root`. A file with the metadata that `facts` has for
/// it is unchanged. Of other files, a missing or special one and one larger than [`LARGEST`] count as foreign, and so
/// does an unreadable file that `facts` does not contain as an output.
///
/// # Errors
/// [`CommandError::Machine`] if an output in `facts` cannot be read.
pub(super) fn classify_stale(
    root: &Path,
    paths: Vec<String>,
    facts: &BuildFacts<'_>,
) -> Result<Vec<(String, StaleOwnership)>, CommandError> {
    let with_kind = |path: String| {
        let file = root.join(&path);
        let left =
            ownership(&file, &path, facts).map_err(|e| CommandError::io("read", &file, &e))?;
        Ok((path, left))
    };
    paths.into_iter().map(with_kind).collect()
}

/// Paths of the folders in the part `sweep` of the output folder, relative to that folder, which itself is the empty
/// path. Folders below them are not listed.
fn swept(sweep: &SweepScope) -> Vec<String> {
    match sweep {
        SweepScope::Nothing => Vec::new(),
        SweepScope::Folders(folders) => folders.clone(),
        SweepScope::Everything => vec![String::new()],
    }
}

fn ownership(file: &Path, path: &str, facts: &BuildFacts<'_>) -> io::Result<StaleOwnership> {
    let known = facts.output(path);
    // Files of others may be unreadable.
    let unseen = |error| if known.is_some() { Err(error) } else { Ok(StaleOwnership::Foreign) };
    let metadata = match fs::symlink_metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(StaleOwnership::Foreign),
        Err(error) => return unseen(error),
    };
    if known.is_some_and(|known| known.stat == Some(FileStat::of(&metadata))) {
        return Ok(StaleOwnership::Ours);
    }
    let is_small = metadata.is_file() && metadata.len() <= LARGEST;
    if !is_small {
        return Ok(StaleOwnership::Foreign);
    }
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(StaleOwnership::Foreign),
        Err(error) => return unseen(error),
    };
    if facts.wrote(path, &ContentHash::of(&bytes)) || known.is_some() && is_torn(&bytes) {
        return Ok(StaleOwnership::Ours);
    }
    Ok(match str::from_utf8(&bytes).ok().and_then(content_hash::verify_seal) {
        Some(true) => StaleOwnership::Ours,
        Some(false) => StaleOwnership::Edited,
        None if known.is_some() && !has_seal(&file.to_string_lossy()) => StaleOwnership::Edited,
        None => StaleOwnership::Foreign,
    })
}

impl OutputListing {
    /// Adds the files in and below the folder `start`, a path relative to `root`, and the folders that were visited.
    /// `now` is a time before the visit. Follows no links, and skips hidden and non-Unicode names.
    fn add(&mut self, root: &Path, start: String, now: Timestamp) -> Result<(), CommandError> {
        let mut folders = vec![start];
        while let Some(below) = folders.pop() {
            let folder = if below.is_empty() { root.to_owned() } else { root.join(&below) };
            let fault = |error| CommandError::io("read", &folder, &error);
            let stat = match fs::symlink_metadata(&folder) {
                Ok(metadata) if metadata.is_dir() => FileStat::of(&metadata).if_settled(now),
                Ok(_) => continue,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(fault(error)),
            };
            for entry in entries(&folder).map_err(fault)? {
                let (entry, kind) = entry.map_err(fault)?;
                let name = entry.file_name();
                let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else {
                    continue;
                };
                let gap = if below.is_empty() { "" } else { "/" };
                if kind.is_dir() {
                    folders.push([&below, gap, name].concat());
                } else if kind.is_file() {
                    self.files.push([&below, gap, name].concat());
                }
            }
            self.folders.push((below, stat));
        }
        Ok(())
    }
}
