//! Outputs that nothing asks for any more.
//!
//! A file is taken for one only if it is as layoutc wrote it, or as a power failure left it: the log says so, or layoutc's
//! seal in it holds.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use layoutc_compiler::content_hash;

use crate::command_error::CommandError;
use crate::project::file_tree::entries;
use crate::state::fact::{BuildFacts, ContentHash};
use crate::state::stat::{FileStat, Timestamp};

use super::SweepScope;
use super::existing_output::{LARGEST, has_seal, is_torn};

/// What became of a file that nothing asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StaleOwnership {
    /// It is as layoutc wrote it.
    Ours,
    /// Somebody changed it since.
    Edited,
    /// It was never layoutc's.
    Foreign,
}

/// What is in the folders that are swept.
#[derive(Debug, Default)]
pub(crate) struct OutputListing {
    /// The paths below the output folder of all files, in order.
    pub(crate) files: Vec<String>,
    /// Every folder that was looked into, with what it had before; `None`: it may change within the same tick.
    pub(crate) folders: Vec<(String, Option<FileStat>)>,
}

/// All files below `root` in what is swept.
pub(super) fn list(root: &Path, sweep: &SweepScope) -> Result<OutputListing, CommandError> {
    let (mut listing, now) = (OutputListing::default(), Timestamp::take());
    for folder in swept(sweep) {
        listing.add(root, folder, now)?;
    }
    listing.files.sort_unstable();
    listing.files.dedup();
    Ok(listing)
}

/// Whether all that is swept lies in `folders` below `root`, each of which still has what it had: then the files in it
/// are those that were there.
pub(super) fn is_settled(root: &Path, sweep: &SweepScope, folders: &[(&str, FileStat)]) -> bool {
    let is_among = |start: &String| folders.iter().any(|(folder, _)| folder == start);
    let stands = |(folder, stat): &(&str, FileStat)| {
        let path = if folder.is_empty() { root.to_owned() } else { root.join(folder) };
        fs::symlink_metadata(path).is_ok_and(|m| m.is_dir() && FileStat::of(&m) == *stat)
    };
    !folders.is_empty() && swept(sweep).iter().all(is_among) && folders.iter().all(stands)
}

/// Whether a file is in what is swept.
pub(super) fn is_swept(sweep: &SweepScope, path: &str) -> bool {
    let is_in = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    swept(sweep).iter().any(|folder| folder.is_empty() || is_in(folder))
}

/// What each of these files is, of which nothing asks for any.
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

/// The folders that are looked through, below the output folder; empty: itself.
fn swept(sweep: &SweepScope) -> Vec<String> {
    match sweep {
        SweepScope::Nothing => Vec::new(),
        SweepScope::Folders(folders) => folders.clone(),
        SweepScope::Everything => vec![String::new()],
    }
}

fn ownership(file: &Path, path: &str, facts: &BuildFacts<'_>) -> io::Result<StaleOwnership> {
    let known = facts.output(path);
    // What others have there need not be open to us.
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
    /// Adds every file below `root` in its folder `start`; no link is followed, no name looked at that is hidden or no
    /// Unicode.
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
