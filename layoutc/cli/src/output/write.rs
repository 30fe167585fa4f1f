//! Writing of texts: first all to temporary files, then by renames. Temporary files are in the state folder. They are
//! in the folder of the output that they become if there is no state folder, or if the output is on another file
//! system.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::content_hash;
use layoutc_compiler::base::diagnostic::Diagnostic;
use rayon::prelude::*;
use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, fstat, mkdirat, openat, renameat, renameat_with,
    statat, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};

use crate::command_error::CommandError;
use crate::interrupt;
use crate::paths::relative_to_cwd;
use crate::state::fact::Fingerprint;
use crate::state::lock::StateLock;

use super::output_dir::OutputDir;
use super::state_folder::StateFolder;
use super::{NewOutput, OutputStatus, OverwritePolicy, existing_output, folder_of, name_of};

/// Name of the folder of temporary files in the state folder.
pub(super) const TEMPORARY: &str = "tmp";
/// Prefix and suffix of the names of temporary files that are in the folder of the output that they become.
const TEMPORARY_AFFIXES: (&str, &str) = (".layoutc-", ".tmp");

/// Temporary files and new folders of a build. On drop, the temporary files are removed. The new folders are also
/// removed, unless all writes succeeded.
struct TemporaryFiles<'a> {
    state: &'a StateFolder,
    files: Vec<PathBuf>,
    made: Vec<PathBuf>,
}

impl Drop for TemporaryFiles<'_> {
    fn drop(&mut self) {
        // The next build sweeps what remains; a folder that is not empty stays.
        if let Some(dir) = self.state.dir() {
            sweep(dir, &self.state.path());
        }
        for file in &self.files {
            drop(fs::remove_file(file));
        }
        for folder in self.made.iter().rev() {
            drop(fs::remove_dir(folder));
        }
    }
}

/// Removes the temporary files in the state folder, including those of killed builds. `state` is the handle of the
/// state folder, and `folder` its path. The lock of the state folder must be held. Failures are ignored.
pub(super) fn sweep(state: &OwnedFd, folder: &Path) {
    for entry in fs::read_dir(folder.join(TEMPORARY)).into_iter().flatten().flatten() {
        drop(fs::remove_file(entry.path()));
    }
    let _ = unlinkat(state, TEMPORARY, AtFlags::REMOVEDIR);
}

/// Removes the temporary files in the folder at the path `folder`, a folder of outputs. The lock of the state folder
/// must be held, as another build may use the files. Failures are ignored.
pub(super) fn sweep_targets_folder(folder: &Path) {
    let (head, tail) = TEMPORARY_AFFIXES;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(head) && name.ends_with(tail) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

fn device(folder: &OwnedFd) -> Option<u64> {
    fstat(folder).ok().map(|stat| stat.st_dev)
}

/// Output whose text is written to a temporary file first, which is then renamed to the path of the output.
struct PendingWrite<'a> {
    path: &'a str,
    new: NewOutput<'a>,
    /// Name of the temporary file in its folder, without the path.
    name: String,
    /// True if the temporary file is in the state folder, false if it is in the folder of the output.
    is_apart: bool,
}

/// Writes each of the outputs `texts` to its path in the output folder `home`: either all of them, or, on an error
/// before the first rename, none. Returns the fingerprints of the files in the order of the paths. If `lock` is held,
/// temporary files of killed builds are removed from a folder of outputs before new ones are written there.
///
/// # Errors
/// [`CommandError::Input`] if a path is blocked, as by a file that was created meanwhile. [`CommandError::Interrupted`]
/// after an interrupt. [`CommandError::Machine`] if a system call fails.
pub(super) fn all(
    home: &OutputDir,
    state: &StateFolder,
    texts: &BTreeMap<&str, NewOutput<'_>>,
    lock: &StateLock,
) -> Result<Vec<Fingerprint>, CommandError> {
    let mut scratch = TemporaryFiles { state, files: Vec::new(), made: Vec::new() };
    let temporary = temporary(state)?;
    let apart = temporary.as_ref().and_then(device);
    let mut writes: Vec<PendingWrite<'_>> = Vec::new();
    let mut last = None;
    for (k, (path, new)) in texts.iter().enumerate() {
        let parent = folder_of(path);
        let is_apart = match (last, writes.last()) {
            (Some(known), Some(write)) if known == parent => write.is_apart,
            _ => {
                let folder = home.make(parent, &mut scratch.made)?;
                let is_apart = apart.is_some() && device(&folder) == apart;
                if !is_apart && lock.is_held() {
                    sweep_targets_folder(&home.path().join(parent));
                }
                is_apart
            }
        };
        last = Some(parent);
        let name = if is_apart { k.to_string() } else { temporary_name(k) };
        if !is_apart {
            scratch.files.push(home.path().join(parent).join(&name));
        }
        writes.push(PendingWrite { path, new: *new, name, is_apart });
    }
    writes.par_iter().try_for_each(|write| write_temporary(home, temporary.as_ref(), write))?;
    let placed = |folder: &OwnedFd, write: &PendingWrite<'_>| {
        interrupt::check()?;
        rename_into_place(home, temporary.as_ref(), folder, write)
    };
    in_folders(home, &writes, &mut scratch.made, placed)?;
    let known = |folder: &OwnedFd, write: &PendingWrite<'_>| {
        Ok(existing_output::known(folder, name_of(write.path), *write.new.hash))
    };
    let known = in_folders(home, &writes, &mut scratch.made, known)?;
    scratch.made.clear();
    Ok(known)
}

/// Results of `action` for `writes`, the pending writes, in order, up to the first error. The first argument of
/// `action` is the handle of the folder of the output, which is created in the output folder `home` if missing. `made`
/// receives the paths of the created folders.
fn in_folders<T>(
    home: &OutputDir,
    writes: &[PendingWrite<'_>],
    made: &mut Vec<PathBuf>,
    action: impl Fn(&OwnedFd, &PendingWrite<'_>) -> Result<T, CommandError>,
) -> Result<Vec<T>, CommandError> {
    let mut at: Option<(&str, OwnedFd)> = None;
    let mut results = Vec::with_capacity(writes.len());
    for write in writes {
        let parent = folder_of(write.path);
        let folder = match at.take() {
            Some((known, folder)) if known == parent => folder,
            Some(_) | None => home.make(parent, made)?,
        };
        results.push(action(&folder, write)?);
        at = Some((parent, folder));
    }
    Ok(results)
}

/// Handle of the folder of temporary files in the state folder, which is created if missing; `None` without a state
/// folder.
fn temporary(state: &StateFolder) -> Result<Option<OwnedFd>, CommandError> {
    let Some(dir) = state.dir() else { return Ok(None) };
    let path = state.path().join(TEMPORARY);
    match retry_on_intr(|| mkdirat(dir, TEMPORARY, Mode::from_raw_mode(0o777))) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(CommandError::io("create", &path, &error.into())),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = retry_on_intr(|| openat(dir, TEMPORARY, flags, Mode::empty()));
    opened.map(Some).map_err(|error| CommandError::io("open", &path, &error.into()))
}

/// Name of the temporary file with the number `number` in the folder of the output that it becomes.
fn temporary_name(number: usize) -> String {
    let (head, tail) = TEMPORARY_AFFIXES;
    format!("{head}{}-{number}{tail}", std::process::id())
}

fn write_temporary(
    home: &OutputDir,
    temporary: Option<&OwnedFd>,
    write: &PendingWrite<'_>,
) -> Result<(), CommandError> {
    interrupt::check()?;
    let text = write.new.text;
    let written = match temporary.filter(|_| write.is_apart) {
        Some(temporary) => write_new(temporary, &write.name, text),
        None => {
            let folder = home.make(folder_of(write.path), &mut Vec::new())?;
            write_new(&folder, &write.name, text)
        }
    };
    written.map_err(|error| CommandError::io("write", &home.path().join(write.path), &error))
}

/// Renames the temporary file of the pending write `write` to the path of its output. `folder` is the handle of the
/// folder of the output, and `temporary` that of the folder of temporary files in the state folder, if it exists.
///
/// # Errors
/// [`CommandError::Input`] if a file was created at the path of an output that had none. [`CommandError::Machine`] if a
/// system call fails.
fn rename_into_place(
    home: &OutputDir,
    temporary: Option<&OwnedFd>,
    folder: &OwnedFd,
    write: &PendingWrite<'_>,
) -> Result<(), CommandError> {
    let from = temporary.filter(|_| write.is_apart).unwrap_or(folder);
    let file = home.path().join(write.path);
    let (to, is_first) = (name_of(write.path), write.new.is_first);
    let renamed = match rename(from, &write.name, folder, to, is_first) {
        // Another mount of the same file system.
        Err(Errno::XDEV) if write.is_apart => {
            sweep_targets_folder(&home.path().join(folder_of(write.path)));
            let name = temporary_name(0);
            let written = write_new(folder, &name, write.new.text);
            let renamed = written.and_then(|()| Ok(rename(folder, &name, folder, to, is_first)?));
            // The new text if the rename failed, the old one if the files were exchanged.
            let _ = unlinkat(folder, &name, AtFlags::empty());
            renamed
        }
        renamed => renamed.map_err(io::Error::from),
    };
    match renamed {
        Ok(()) => Ok(()),
        // A concurrent build wrote the same text, such as that of the shared runtime.
        Err(error) if is_written(&error, &file, write.new.text) => {
            let _ = unlinkat(from, &write.name, AtFlags::empty());
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let message = format!("`{}` was created during this build", relative_to_cwd(&file));
            let help = "move it, or overwrite it with `--force`";
            Err(CommandError::Input(vec![
                Diagnostic::without_span(Code::OutputForeign, message).help(help),
            ]))
        }
        Err(error) => Err(CommandError::io("write", &file, &error)),
    }
}

/// True if a rename failed because there is a file at `path`, and this file has the text `text`.
fn is_written(error: &io::Error, path: &Path, text: &str) -> bool {
    error.kind() == io::ErrorKind::AlreadyExists
        && fs::read(path).is_ok_and(|found| found == text.as_bytes())
}

/// Renames the file `name` in the folder `from` to `to` in `folder`. If `is_first` is true, there was no file `to`, and
/// the rename fails if there is one, as far as the file system supports that. Otherwise the two files are exchanged, if
/// possible. The old file is removed later, because freeing its blocks may take milliseconds.
fn rename(
    from: &OwnedFd,
    name: &str,
    folder: &OwnedFd,
    to: &str,
    is_first: bool,
) -> Result<(), Errno> {
    let flags = if is_first { RenameFlags::NOREPLACE } else { RenameFlags::EXCHANGE };
    let with_flags = || retry_on_intr(|| renameat_with(from, name, folder, to, flags));
    match with_flags() {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        // The old file is gone.
        Err(Errno::NOENT) if !is_first => {}
        Ok(()) if !is_first && is_folder(from, name) => {
            // The folder appeared meanwhile and must not be replaced.
            with_flags()?;
            return Err(Errno::ISDIR);
        }
        renamed => return renamed,
    }
    retry_on_intr(|| renameat(from, name, folder, to))
}

fn is_folder(folder: &OwnedFd, name: &str) -> bool {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

/// Creates the file `name` with the content `text` in `folder`. A link of that name is not followed. A file of that
/// name, left by a killed build, is removed first.
fn write_new(folder: &OwnedFd, name: &str, text: &str) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || retry_on_intr(|| openat(folder, name, flags, Mode::from_raw_mode(0o666)));
    let opened = match open() {
        // Left by a killed build.
        Err(Errno::EXIST) => {
            unlinkat(folder, name, AtFlags::empty())?;
            open()?
        }
        opened => opened?,
    };
    File::from(opened).write_all(text.as_bytes())
}

/// Removes the file at `path` in the output folder `home`, and the folders that become empty, except the output folder.
/// A missing file is no error.
///
/// # Errors
/// [`CommandError::Machine`] if the file cannot be removed.
pub(super) fn remove(home: &OutputDir, path: &str) -> Result<(), CommandError> {
    let file = home.path().join(path);
    let Ok(Some(folder)) = home.open(folder_of(path))? else { return Ok(()) };
    match retry_on_intr(|| unlinkat(&folder, name_of(path), AtFlags::empty())) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(CommandError::io("remove", &file, &error.into())),
    }
    let mut empty = folder_of(path);
    while !empty.is_empty() {
        let Ok(Some(parent)) = home.open(folder_of(empty))? else { break };
        if unlinkat(&parent, name_of(empty), AtFlags::REMOVEDIR).is_err() {
            break;
        }
        empty = folder_of(empty);
    }
    Ok(())
}

/// Replaces the content of the file at `path` by `text`, by a rename of a temporary file in the same folder; creates
/// the file if it is missing. Returns `Unchanged` without writing if the file has this text already, else `Written`.
///
/// # Errors
/// [`CommandError::Input`] if the path is a link, unless it leads to a file with this text. [`CommandError::Machine`]
/// if the file cannot be written.
pub(crate) fn replace(path: &Path, text: &str) -> Result<OutputStatus, CommandError> {
    if fs::read(path).is_ok_and(|found| found == text.as_bytes()) {
        return Ok(OutputStatus::Unchanged);
    }
    if path.is_symlink() {
        return Err(CommandError::Input(vec![existing_output::link(path)]));
    }
    let temporary = path.parent().unwrap_or(Path::new(".")).join(temporary_name(0));
    let written = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written.map_err(|error| CommandError::io("write", path, &error))?;
    Ok(OutputStatus::Written)
}

/// Replaces the content of the sealed file at `path` by `text` as [`replace`] does, unless a user may have changed it.
/// It is replaced in any case if `strictness` allows overwriting, or if a power failure has damaged it.
///
/// # Errors
/// [`CommandError::Input`] if the file was edited or has no seal, so that it is kept. Any error of [`replace`].
pub(crate) fn replace_own(
    path: &Path,
    text: &str,
    strictness: OverwritePolicy,
) -> Result<OutputStatus, CommandError> {
    let Ok(found) = fs::read(path) else { return replace(path, text) };
    if found != text.as_bytes()
        && strictness != OverwritePolicy::Overwrite
        && !existing_output::is_torn(&found)
    {
        let is_whole = str::from_utf8(&found).ok().and_then(content_hash::verify_seal);
        match is_whole {
            Some(true) => {}
            Some(false) => return Err(CommandError::Input(vec![existing_output::edited(path)])),
            None => return Err(CommandError::Input(vec![existing_output::foreign(path)])),
        }
    }
    replace(path, text)
}
