//! New texts, all or none: temporary files beside their places, then renames.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::fault::Fault;

/// How temporary files begin and end.
pub(crate) const TEMPORARY: (&str, &str) = (".layoutc-", ".tmp");

/// The output folder, locked for as long as this lives. Where a folder cannot be locked (Windows, some network file
/// systems) nothing is: builds at once then still write the same bytes, each file whole.
#[derive(Debug)]
pub(crate) struct Lock {
    _folder: Option<File>,
}

/// Makes the output folder and locks it; `wait` is called if another build holds it.
pub(crate) fn lock(root: &Path, wait: impl FnOnce()) -> Result<Lock, Fault> {
    fs::create_dir_all(root).map_err(|error| Fault::io("make", root, &error))?;
    let folder = File::open(root).ok();
    if let Some(folder) = &folder
        && let Err(TryLockError::WouldBlock) = folder.try_lock()
    {
        wait();
        folder.lock().map_err(|error| Fault::io("lock", root, &error))?;
    }
    Ok(Lock { _folder: folder })
}

/// Temporary files and new folders: gone again unless everything went well.
#[derive(Debug, Default)]
struct Scratch {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is swept by the next build; a folder that holds something stays.
        for file in &self.files {
            drop(fs::remove_file(file));
        }
        for folder in self.folders.iter().rev() {
            drop(fs::remove_dir(folder));
        }
    }
}

/// Writes every text to its path below `root`.
pub(crate) fn all(root: &Path, texts: &[(PathBuf, String)]) -> Result<(), Fault> {
    let mut scratch = Scratch::default();
    for (path, text) in texts {
        let folder = path.parent().unwrap_or(root);
        make_folders(folder, &mut scratch)?;
        let temporary = temporary_name(folder, scratch.files.len());
        write_new(&temporary, text, &mut scratch.files)
            .map_err(|error| Fault::io("write", path, &error))?;
    }
    let temporaries = std::mem::take(&mut scratch.files);
    for (k, (path, _)) in texts.iter().enumerate() {
        if let Err(error) = fs::rename(&temporaries[k], path) {
            scratch.files = temporaries[k..].to_vec();
            return Err(Fault::io("write", path, &error));
        }
    }
    scratch.folders.clear();
    Ok(())
}

fn make_folders(folder: &Path, scratch: &mut Scratch) -> Result<(), Fault> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|f| !f.is_dir()).collect();
    for folder in missing.into_iter().rev() {
        fs::create_dir(folder).map_err(|error| Fault::io("make", folder, &error))?;
        scratch.folders.push(folder.to_owned());
    }
    Ok(())
}

fn temporary_name(folder: &Path, number: usize) -> PathBuf {
    let (head, tail) = TEMPORARY;
    folder.join(format!("{head}{}-{number}{tail}", process::id()))
}

/// A new file, never an existing one and never through a link; noted in `files` before anything can go wrong with it.
fn write_new(path: &Path, text: &str, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let open = || OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = match open() {
        // Left behind by a build of the same process number that was killed.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            open()?
        }
        opened => opened?,
    };
    files.push(path.to_owned());
    file.write_all(text.as_bytes())
}
