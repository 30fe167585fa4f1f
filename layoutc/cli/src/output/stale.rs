//! Outputs that nothing asks for any more.
//!
//! A file is taken for one only if it is as layoutc wrote it: the log says so, or layoutc's seal in it holds.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use layoutc_compiler::seal;

use crate::fault::Fault;
use crate::project::paths::slashed;
use crate::project::walk::entries;
use crate::state::fact::Facts;
use crate::state::stat::Stat;

use super::Sweep;
use super::place::has_seal;

/// The largest file that is looked into, in bytes.
const LARGEST: u64 = 64 << 20;

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

/// The paths below `root` of the files that nothing asks for, each with what it is.
pub(super) fn find(
    root: &Path,
    is_asked_for: &dyn Fn(&str) -> bool,
    facts: &Facts,
    sweep: &Sweep,
) -> Result<Vec<(String, Left)>, Fault> {
    let mut found = Vec::new();
    for folder in swept(root, sweep) {
        each_file(&folder, &mut |file| {
            if let Some(path) = file.strip_prefix(root).ok().and_then(slashed)
                && !is_asked_for(&path)
            {
                let left = left(file, &path, facts).map_err(|e| Fault::io("read", file, &e))?;
                found.push((path, left));
            }
            Ok(())
        })?;
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found.dedup();
    Ok(found)
}

fn swept(root: &Path, sweep: &Sweep) -> Vec<PathBuf> {
    match sweep {
        Sweep::Nothing => Vec::new(),
        Sweep::Folders(folders) => folders.iter().map(|folder| root.join(folder)).collect(),
        Sweep::Everything => vec![root.to_owned()],
    }
}

fn left(file: &Path, path: &str, facts: &Facts) -> io::Result<Left> {
    let known = facts.outputs.get(path);
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
    if facts.wrote(path, blake3::hash(&bytes).as_bytes()) {
        return Ok(Left::Ours);
    }
    Ok(match str::from_utf8(&bytes).ok().and_then(seal::holds) {
        Some(true) => Left::Ours,
        Some(false) => Left::Edited,
        None if known.is_some() && !has_seal(&file.to_string_lossy()) => Left::Edited,
        None => Left::Foreign,
    })
}

/// Calls `visit` with every file below `folder`; no link is followed, no hidden name looked at.
fn each_file(
    folder: &Path,
    visit: &mut dyn FnMut(&Path) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
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
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if kind.is_dir() && !is_hidden {
                folders.push(entry.path());
            } else if kind.is_file() && !is_hidden {
                visit(&entry.path())?;
            }
        }
    }
    Ok(())
}
