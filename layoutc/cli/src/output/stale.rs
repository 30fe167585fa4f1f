//! Outputs that nothing asks for any more.
//!
//! A file is taken for one only if it is as layoutc wrote it, or as a power failure left it: the log says so, or layoutc's
//! seal in it holds.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use layoutc_compiler::seal;

use crate::fault::Fault;
use crate::project::walk::entries;
use crate::state::fact::{Facts, Hash};
use crate::state::stat::Stat;

use super::Sweep;
use super::place::{LARGEST, has_seal, lost};

/// What became of a file that nothing asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// It is as layoutc wrote it.
    Ours,
    /// Somebody changed it since.
    Edited,
    /// It was never layoutc's.
    Foreign,
}

/// The paths below `root` of all files in what is swept.
pub(super) fn list(root: &Path, sweep: &Sweep) -> Result<Vec<String>, Fault> {
    let mut paths = Vec::new();
    for folder in swept(sweep) {
        each_file(root, folder, &mut |path| paths.push(path))?;
    }
    paths.sort_unstable();
    paths.dedup();
    Ok(paths)
}

/// What each of these files is, of which nothing asks for any.
pub(super) fn sort_out(
    root: &Path,
    paths: Vec<String>,
    facts: &Facts<'_>,
) -> Result<Vec<(String, Left)>, Fault> {
    let with_kind = |path: String| {
        let file = root.join(&path);
        let left = left(&file, &path, facts).map_err(|e| Fault::io("read", &file, &e))?;
        Ok((path, left))
    };
    paths.into_iter().map(with_kind).collect()
}

/// The folders that are looked through, below the output folder; empty: itself.
fn swept(sweep: &Sweep) -> Vec<String> {
    match sweep {
        Sweep::Nothing => Vec::new(),
        Sweep::Folders(folders) => folders.clone(),
        Sweep::Everything => vec![String::new()],
    }
}

fn left(file: &Path, path: &str, facts: &Facts<'_>) -> io::Result<Left> {
    let known = facts.output(path);
    // What others have there need not be open to us.
    let unseen = |error| if known.is_some() { Err(error) } else { Ok(Left::Foreign) };
    let metadata = match fs::symlink_metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Left::Foreign),
        Err(error) => return unseen(error),
    };
    if known.is_some_and(|known| known.stat == Some(Stat::of(&metadata))) {
        return Ok(Left::Ours);
    }
    let is_small = metadata.is_file() && metadata.len() <= LARGEST;
    if !is_small {
        return Ok(Left::Foreign);
    }
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) => return unseen(error),
    };
    if facts.wrote(path, &Hash::of(&bytes)) || known.is_some() && lost(&bytes) {
        return Ok(Left::Ours);
    }
    Ok(match str::from_utf8(&bytes).ok().and_then(seal::holds) {
        Some(true) => Left::Ours,
        Some(false) => Left::Edited,
        None if known.is_some() && !has_seal(&file.to_string_lossy()) => Left::Edited,
        None => Left::Foreign,
    })
}

/// Calls `visit` with the path below `root` of every file in its folder `start`; no link is followed, no name looked at
/// that is hidden or no Unicode.
fn each_file(root: &Path, start: String, visit: &mut dyn FnMut(String)) -> Result<(), Fault> {
    let mut folders = vec![start];
    while let Some(below) = folders.pop() {
        let folder = if below.is_empty() { root.to_owned() } else { root.join(&below) };
        let fault = |error| Fault::io("read", &folder, &error);
        match fs::symlink_metadata(&folder) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => continue,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(fault(error)),
        }
        for entry in entries(&folder).map_err(fault)? {
            let entry = entry.map_err(fault)?;
            let kind = entry.file_type().map_err(fault)?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let gap = if below.is_empty() { "" } else { "/" };
            if kind.is_dir() {
                folders.push([&below, gap, name].concat());
            } else if kind.is_file() {
                visit([&below, gap, name].concat());
            }
        }
    }
    Ok(())
}
