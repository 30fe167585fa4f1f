//! A partial file next to the output, with a journal of the chunks done; it survives an early end of the program.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;
use rustix::fs::{FallocateFlags, OFlags, fallocate};
use rustix::io::Errno;

use super::journal::{Journal, JournalState, Provenance};
use crate::command_error::CommandError;
use crate::report::size;

/// Content of a new partial file.
#[derive(Debug)]
pub(crate) struct PartialFileSpec<'a> {
    /// Provenance; its `part` is not known yet.
    pub(crate) origin: Provenance,
    /// Header of the output.
    pub(crate) header: &'a [u8],
    /// Size of the complete file in bytes.
    pub(crate) bytes: u64,
    /// True if an existing partial file is discarded.
    pub(crate) is_fresh: bool,
    /// Output path as given.
    pub(crate) output: &'a Path,
}

/// An open partial file, locked while this lives.
#[derive(Debug)]
pub(crate) struct PartialFile {
    /// Path of the output.
    place: PathBuf,
    path: PathBuf,
    journal_path: PathBuf,
    journal: Journal,
    /// Open for reading and writing.
    pub(crate) file: File,
    /// Division of the tensor into chunks.
    pub(crate) cut: String,
    /// Number of chunks on disk.
    pub(crate) done: u64,
    /// Reason why an existing partial file was discarded.
    pub(crate) restart_reason: Option<&'static str>,
}

/// `<output>.part` and `<output>.part.journal`.
pub(crate) fn names(place: &Path) -> [PathBuf; 2] {
    let with = |end: &str| {
        let mut name = OsString::from(place.file_name().unwrap_or_default());
        name.push(end);
        place.with_file_name(name)
    };
    [with(".part"), with(".part.journal")]
}

impl PartialFile {
    /// Opens the partial file for the output at `place`, or creates it. `fits` decides whether a division into chunks
    /// may be resumed.
    ///
    /// # Errors
    /// System errors, and a lock held by another process.
    pub(crate) fn open(
        place: &Path,
        wanted: &PartialFileSpec<'_>,
        fits: impl FnOnce(&str) -> bool,
    ) -> Result<Self, CommandError> {
        let [path, journal_path] = names(place);
        check_owned(&path, &journal_path, wanted.is_fresh)?;
        let file = locked(&journal_path, wanted.output)?;
        let opened =
            Journal::open(file).map_err(|error| CommandError::io("read", &journal_path, &error))?;
        let (mut journal, found) = opened;
        if found == JournalState::Foreign && !wanted.is_fresh {
            let shown = journal_path.display();
            return Err(CommandError::Usage(format!(
                "`{shown}` exists and is not a journal; move it, or overwrite it with `--no-resume`"
            )));
        }
        let known = match resume_point(&path, wanted, found, fits) {
            Ok((file, cut, done)) => {
                let place = place.to_owned();
                let restart_reason = None;
                return Ok(Self {
                    place,
                    path,
                    journal_path,
                    journal,
                    file,
                    cut,
                    done,
                    restart_reason,
                });
            }
            Err(reason) => reason,
        };
        let begun = begin(&path, &mut journal, wanted);
        let file = begun.map_err(|error| {
            // No chunk is done, so nothing is worth keeping.
            drop(fs::remove_file(&path));
            drop(fs::remove_file(&journal_path));
            let help = format!("the output needs {}", size(wanted.bytes));
            match CommandError::io("write", &path, &error) {
                CommandError::Machine(diagnostic) if error.kind() == ErrorKind::StorageFull => {
                    CommandError::Machine(Box::new(diagnostic.help(help)))
                }
                fault => fault,
            }
        })?;
        let (place, cut) = (place.to_owned(), wanted.origin.cut.clone());
        Ok(Self { place, path, journal_path, journal, file, cut, done: 0, restart_reason: known })
    }

    /// Syncs the file, then records that `pieces` chunks are on disk.
    pub(crate) fn commit(&mut self, pieces: u64) -> Result<(), CommandError> {
        self.file.sync_data().map_err(|error| CommandError::io("write", &self.path, &error))?;
        let noted = self.journal.done(pieces);
        noted.map_err(|error| CommandError::io("write", &self.journal_path, &error))?;
        self.done = pieces;
        Ok(())
    }

    /// Duplicates the handle of the file.
    pub(crate) fn handle(&self) -> Result<File, CommandError> {
        self.file.try_clone().map_err(|error| CommandError::io("open", &self.path, &error))
    }

    /// Syncs the file and renames it to the output.
    pub(crate) fn finish(self) -> Result<(), CommandError> {
        let synced = self.file.sync_all();
        let renamed = synced.and_then(|()| fs::rename(&self.path, &self.place));
        renamed.map_err(|error| CommandError::io("write", &self.place, &error))?;
        sync_folder(&self.place);
        drop(fs::remove_file(&self.journal_path));
        Ok(())
    }

    /// Removes the file and its journal.
    pub(crate) fn discard(self) {
        drop(fs::remove_file(&self.path));
        drop(fs::remove_file(&self.journal_path));
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Removes the partial file and journal of an earlier run next to `place`, which is complete now. Keeps them if the
/// journal is not ours or another process holds the lock.
pub(crate) fn discard_leftover(place: &Path) {
    let [path, journal_path] = names(place);
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let opened = File::options().read(true).write(true).custom_flags(flags).open(&journal_path);
    let Some(file) = opened.ok().filter(|file| file.try_lock().is_ok()) else { return };
    let is_ours = Journal::open(file).is_ok_and(|(_, found)| found != JournalState::Foreign);
    let is_file = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    if is_ours && is_file(&journal_path) {
        if is_file(&path) {
            drop(fs::remove_file(&path));
        }
        drop(fs::remove_file(&journal_path));
    }
}

/// Rejects a file without a journal at the path of the partial file: it is not ours.
fn check_owned(path: &Path, journal: &Path, is_fresh: bool) -> Result<(), CommandError> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    let shown = path.display();
    if !metadata.is_file() {
        return Err(CommandError::Usage(format!("`{shown}` is not a file; remove or rename it")));
    }
    if is_fresh || fs::symlink_metadata(journal).is_ok() {
        return Ok(());
    }
    let journal = journal.display();
    Err(CommandError::Usage(format!(
        "`{shown}` exists without its journal `{journal}`; move it, or overwrite it with `--no-resume`"
    )))
}

/// Opens and locks the journal.
fn locked(path: &Path, output: &Path) -> Result<File, CommandError> {
    loop {
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        let opened = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .custom_flags(flags)
            .open(path);
        let file = opened.map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                CommandError::Usage(format!("the folder of `{}` does not exist", output.display()))
            }
            _ => CommandError::io("write", path, &error),
        })?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(busy(output)),
            // The file system does not support locks.
            Err(TryLockError::Error(_)) => return Ok(file),
        }
        // The previous holder may have removed the file it locked.
        let own = file.metadata().map_err(|error| CommandError::io("read", path, &error))?;
        let stands = fs::symlink_metadata(path).ok();
        if stands.is_some_and(|stands| (stands.dev(), stands.ino()) == (own.dev(), own.ino())) {
            return Ok(file);
        }
    }
}

fn busy(output: &Path) -> CommandError {
    let output = output.display();
    let message = format!("another process is writing `{output}`");
    let help = "wait until it ends, or choose another output";
    CommandError::Machine(Box::new(Diagnostic::without_span(Code::OutputIo, message).help(help)))
}

/// Partial file of the journal, its division and the chunks done; else the reason why it cannot be resumed.
fn resume_point(
    path: &Path,
    wanted: &PartialFileSpec<'_>,
    found: JournalState,
    fits: impl FnOnce(&str) -> bool,
) -> Result<(File, String, u64), Option<&'static str>> {
    let (origin, done) = match found {
        JournalState::Nothing | JournalState::Foreign => return Err(None),
        JournalState::Damaged => return Err(Some("its journal is damaged")),
        JournalState::Part(..) if wanted.is_fresh => return Err(Some("`--no-resume` is given")),
        JournalState::Part(origin, done) => (origin, done),
    };
    if origin.input != wanted.origin.input {
        return Err(Some("the input is a different file or changed"));
    }
    if origin.layout != wanted.origin.layout {
        return Err(Some("the tensor or its layout changed"));
    }
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let opened = File::options().read(true).write(true).custom_flags(flags).open(path);
    let Ok(file) = opened else { return Err(Some("the partial file is missing")) };
    let Ok(metadata) = file.metadata() else { return Err(Some("the partial file is missing")) };
    if identity(&metadata) != origin.part || metadata.len() != wanted.bytes {
        return Err(Some("the partial file was replaced"));
    }
    if fits(&origin.cut) {
        Ok((file, origin.cut, done))
    } else {
        Err(Some("its chunks need more memory"))
    }
}

fn identity(metadata: &fs::Metadata) -> String {
    format!("{}:{}", metadata.dev(), metadata.ino())
}

/// Creates a partial file, preallocated where the file system allows it, and its journal.
fn begin(path: &Path, journal: &mut Journal, wanted: &PartialFileSpec<'_>) -> io::Result<File> {
    // The old journal must never describe the new file.
    journal.clear()?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = File::options().read(true).write(true).create_new(true).open(path)?;
    match fallocate(&file, FallocateFlags::empty(), 0, wanted.bytes.max(1)) {
        Ok(()) => {}
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {}
        Err(error) => return Err(error.into()),
    }
    file.set_len(wanted.bytes)?;
    file.write_all_at(wanted.header, 0)?;
    file.sync_all()?;
    sync_folder(path);
    let part = identity(&file.metadata()?);
    journal.begin(&Provenance { part, ..wanted.origin.clone() })?;
    Ok(file)
}

/// Syncs the folder, to make a rename durable; ignores file systems that cannot.
fn sync_folder(file: &Path) {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = File::open(folder.unwrap_or(Path::new(".")));
    drop(folder.and_then(|folder| folder.sync_all()));
}
