//! Outputs that nothing asks for any more.
//!
//! A file is taken for one only if it is as layoutc wrote it: the log says so, or layoutc's seal in it holds.

use std::fs;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use layoutc_compiler::seal;

use crate::fault::Fault;
use crate::project::paths::slashed;
use crate::state::fact::Known;
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
    outputs: &IndexMap<String, Known>,
    sweep: &Sweep,
) -> Result<Vec<(String, Left)>, Fault> {
    let mut found = Vec::new();
    for folder in swept(root, sweep) {
        each_file(&folder, &mut |file| {
            if let Some(path) = file.strip_prefix(root).ok().and_then(slashed)
                && !is_asked_for(&path)
            {
                let left = left(file, outputs.get(&path));
                found.push((path, left));
            }
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

fn left(file: &Path, known: Option<&Known>) -> Left {
    let Ok(metadata) = fs::symlink_metadata(file) else { return Left::Foreign };
    if known.is_some_and(|known| known.stat == Some(Stat::of(&metadata))) {
        return Left::Ours;
    }
    let is_small = metadata.is_file() && metadata.len() <= LARGEST;
    let Some(bytes) = is_small.then(|| fs::read(file).ok()).flatten() else { return Left::Foreign };
    if known.is_some_and(|known| known.hash == *blake3::hash(&bytes).as_bytes()) {
        return Left::Ours;
    }
    match str::from_utf8(&bytes).ok().and_then(seal::holds) {
        Some(true) => Left::Ours,
        Some(false) => Left::Edited,
        None if known.is_some() && !has_seal(&file.to_string_lossy()) => Left::Edited,
        None => Left::Foreign,
    }
}

/// Calls `visit` with every file below `folder`; no link is followed, no hidden name looked at.
fn each_file(folder: &Path, visit: &mut dyn FnMut(&Path)) -> Result<(), Fault> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let fault = |error| Fault::io("read", &folder, &error);
        let is_folder = fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_dir());
        if !is_folder {
            continue;
        }
        for entry in fs::read_dir(&folder).map_err(fault)? {
            let entry = entry.map_err(fault)?;
            let kind = entry.file_type().map_err(fault)?;
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if kind.is_dir() && !is_hidden {
                folders.push(entry.path());
            } else if kind.is_file() && !is_hidden {
                visit(&entry.path());
            }
        }
    }
    Ok(())
}
