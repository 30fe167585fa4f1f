//! Outputs that nothing asks for any more.
//!
//! A file is taken for one only if layoutc's seal in it holds: it was written by layoutc and not edited since.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use layoutc_compiler::seal;

use crate::fault::Fault;
use crate::project::paths::slashed;

use super::write::TEMPORARY;
use super::{Status, Sweep};

/// The largest file that is looked into, in bytes.
const LARGEST: u64 = 64 << 20;

/// The paths below `root` of layoutc's own files that are not among `files`.
pub(crate) fn find(
    root: &Path,
    files: &BTreeMap<String, (Status, String)>,
    sweep: &Sweep,
) -> Result<Vec<String>, Fault> {
    let mut found = Vec::new();
    each_swept(root, sweep, &mut |path, file| {
        if !files.contains_key(&path) && seal_holds(file) == Some(true) {
            found.push(path);
        }
    })?;
    found.sort();
    found.dedup();
    Ok(found)
}

/// The paths below `root` of layoutc's files that were edited since.
pub(crate) fn edited(root: &Path, sweep: &Sweep) -> Result<Vec<String>, Fault> {
    let mut found = Vec::new();
    each_swept(root, sweep, &mut |path, file| {
        if seal_holds(file) == Some(false) {
            found.push(path);
        }
    })?;
    found.sort();
    found.dedup();
    Ok(found)
}

fn each_swept(
    root: &Path,
    sweep: &Sweep,
    visit: &mut dyn FnMut(String, &Path),
) -> Result<(), Fault> {
    swept(root, sweep).iter().try_for_each(|folder| {
        each_file(folder, &mut |file| {
            if let Some(path) = file.strip_prefix(root).ok().and_then(slashed) {
                visit(path, file);
            }
        })
    })
}

fn swept(root: &Path, sweep: &Sweep) -> Vec<PathBuf> {
    match sweep {
        Sweep::Nothing => Vec::new(),
        Sweep::Folders(folders) => folders.iter().map(|folder| root.join(folder)).collect(),
        Sweep::Everything => vec![root.to_owned()],
    }
}

/// Whether a file is as layoutc wrote it; `None` if layoutc did not.
fn seal_holds(file: &Path) -> Option<bool> {
    let is_small = fs::metadata(file).is_ok_and(|metadata| metadata.len() <= LARGEST);
    let text = is_small.then(|| fs::read_to_string(file).ok()).flatten()?;
    seal::holds(&text)
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

/// Removes the file `path` below `root`, and the folders that are empty without it.
pub(crate) fn remove(root: &Path, path: &str) -> Result<(), Fault> {
    let file = root.join(path);
    match fs::remove_file(&file) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(Fault::io("remove", &file, &error)),
    }
    let folders = file.ancestors().skip(1).take_while(|folder| *folder != root);
    for folder in folders {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

/// Removes the temporary files of builds that were killed. The output folder must be locked.
pub(crate) fn sweep_temporaries(folder: &Path) {
    let (head, tail) = TEMPORARY;
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(head) && name.ends_with(tail) {
            // One that stays does no harm.
            drop(fs::remove_file(entry.path()));
        }
    }
}
