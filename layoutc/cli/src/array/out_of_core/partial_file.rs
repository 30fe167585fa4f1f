//! A file in the making: its part beside the place where it goes, with a journal of what is done, kept when the program
//! ends early.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::Diagnostic;
use rustix::fs::{FallocateFlags, OFlags, fallocate};
use rustix::io::Errno;

use super::journal::{Journal, JournalState, Provenance};
use crate::command_error::CommandError;
use crate::report::size;

/// What a new part is made from, and how.
#[derive(Debug)]
pub(crate) struct PartialFileSpec<'a> {
    /// What it is of; the part itself is not known yet.
    pub(crate) origin: Provenance,
    /// What the file begins with.
    pub(crate) header: &'a [u8],
    /// Bytes of the whole file.
    pub(crate) bytes: u64,
    /// Whether a part that is there counts for nothing.
    pub(crate) is_fresh: bool,
    /// Where the whole file goes, as the user calls it.
    pub(crate) output: &'a Path,
}

/// A part that is open, and nobody else's as long as this lives.
#[derive(Debug)]
pub(crate) struct PartialFile {
    /// Where the whole file goes.
    place: PathBuf,
    path: PathBuf,
    journal_path: PathBuf,
    journal: Journal,
    /// The part, to be read and written.
    pub(crate) file: File,
    /// How the tensor is cut into pieces.
    pub(crate) cut: String,
    /// How many pieces are on the disk.
    pub(crate) done: u64,
    /// Why what was there counts for nothing, where something was.
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
    /// Opens the part of the file that goes to `place`, or begins it. `fits` says whether pieces that were cut so may be
    /// gone on with.
    ///
    /// # Errors
    /// The machine's, and that another process is at it.
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
                "`{shown}` is there and no journal; move it away, or give its place up by `--no-resume`"
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
            // Nothing is done yet that would be worth keeping.
            drop(fs::remove_file(&path));
            drop(fs::remove_file(&journal_path));
            let help = format!("the whole output takes {}", size(wanted.bytes));
            match CommandError::io("write", &path, &error) {
                CommandError::Machine(said) if error.kind() == ErrorKind::StorageFull => {
                    CommandError::Machine(Box::new(said.help(help)))
                }
                fault => fault,
            }
        })?;
        let (place, cut) = (place.to_owned(), wanted.origin.cut.clone());
        Ok(Self { place, path, journal_path, journal, file, cut, done: 0, restart_reason: known })
    }

    /// Says that so many pieces are on the disk; what was written before is made to be there first.
    pub(crate) fn commit(&mut self, pieces: u64) -> Result<(), CommandError> {
        self.file.sync_data().map_err(|error| CommandError::io("write", &self.path, &error))?;
        let noted = self.journal.done(pieces);
        noted.map_err(|error| CommandError::io("write", &self.journal_path, &error))?;
        self.done = pieces;
        Ok(())
    }

    /// Another handle of the part.
    pub(crate) fn handle(&self) -> Result<File, CommandError> {
        self.file.try_clone().map_err(|error| CommandError::io("open", &self.path, &error))
    }

    /// The part becomes the file.
    pub(crate) fn finish(self) -> Result<(), CommandError> {
        let synced = self.file.sync_all();
        let renamed = synced.and_then(|()| fs::rename(&self.path, &self.place));
        renamed.map_err(|error| CommandError::io("write", &self.place, &error))?;
        sync_folder(&self.place);
        drop(fs::remove_file(&self.journal_path));
        Ok(())
    }

    /// Removes what is of no use to anybody.
    pub(crate) fn discard(self) {
        drop(fs::remove_file(&self.path));
        drop(fs::remove_file(&self.journal_path));
    }

    /// Where the part is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Removes the part and the journal that were left beside `place` by what ended early: the file is whole now. What has
/// no journal of ours stays, and so does what another process is at.
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

/// Refuses to take the place of a file that has no journal: it is somebody else's.
fn check_owned(path: &Path, journal: &Path, is_fresh: bool) -> Result<(), CommandError> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
    let shown = path.display();
    if !metadata.is_file() {
        return Err(CommandError::Usage(format!("`{shown}` is no file; its place is needed")));
    }
    if is_fresh || fs::symlink_metadata(journal).is_ok() {
        return Ok(());
    }
    let journal = journal.display();
    Err(CommandError::Usage(format!(
        "`{shown}` is there, and no `{journal}` says what it is part of; move it away, or give its place up by `--no-resume`"
    )))
}

/// The journal, which nobody else has open.
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
                CommandError::Usage(format!("the folder of `{}` is not there", output.display()))
            }
            _ => CommandError::io("write", path, &error),
        })?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(busy(output)),
            // Nothing can be locked here.
            Err(TryLockError::Error(_)) => return Ok(file),
        }
        // Who held it may have removed it at the end.
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
    let help = "wait until it has ended, or name another output";
    CommandError::Machine(Box::new(Diagnostic::without_span(Code::OutputIo, message).help(help)))
}

/// The part that a journal tells of, how it is cut and how many of its pieces are done; else why it counts for nothing.
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
        return Err(Some("the input is another, or was changed"));
    }
    if origin.layout != wanted.origin.layout {
        return Err(Some("the tensor or its layout is another"));
    }
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let opened = File::options().read(true).write(true).custom_flags(flags).open(path);
    let Ok(file) = opened else { return Err(Some("the part itself is gone")) };
    let Ok(metadata) = file.metadata() else { return Err(Some("the part itself is gone")) };
    if identity(&metadata) != origin.part || metadata.len() != wanted.bytes {
        return Err(Some("the part itself is another"));
    }
    if fits(&origin.cut) {
        Ok((file, origin.cut, done))
    } else {
        Err(Some("its pieces take more memory"))
    }
}

fn identity(metadata: &fs::Metadata) -> String {
    format!("{}:{}", metadata.dev(), metadata.ino())
}

/// A new part, with all its blocks where the file system can give them, and a journal that tells of it.
fn begin(path: &Path, journal: &mut Journal, wanted: &PartialFileSpec<'_>) -> io::Result<File> {
    // The journal of another part must not be there when this one is.
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

/// Makes names last. Where that cannot be asked for, they are as good as the file system makes them.
fn sync_folder(file: &Path) {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = File::open(folder.unwrap_or(Path::new(".")));
    drop(folder.and_then(|folder| folder.sync_all()));
}
