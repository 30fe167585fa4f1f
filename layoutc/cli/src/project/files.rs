//! Reading of the source texts of a project. Texts are kept for the display of diagnostics. Files are hashed to detect
//! changes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use layoutc_compiler::{LoadError, SourceLoader};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, statat};
use rustix::io::{Errno, retry_on_intr};

use crate::command_error::{CommandError, os_error_text};
use crate::paths;
use crate::state::fact::{ContentHash, Fingerprint};
use crate::state::stat::{FileStat, Timestamp};

use super::read_set::{FileState, ReadSet};

/// Maximum size in bytes of a source text; a larger file is refused.
const LARGEST: u64 = 64 << 20;

/// Error message for a missing file.
pub(crate) const MISSING: &str = "no such file";

/// Loader of manifests by their paths relative to the root of the project. It keeps every text and every error.
#[derive(Debug)]
pub(crate) struct ProjectFiles {
    root: PathBuf,
    done: Mutex<FileCache>,
}

/// Files that were loaded so far by path, each with its text or the reason why it was not read, and the first error of
/// the system.
#[derive(Debug, Default)]
struct FileCache {
    found: BTreeMap<String, Result<FileText, String>>,
    fault: Option<CommandError>,
}

/// Text of a file with its fingerprint.
#[derive(Debug, Clone)]
pub(crate) struct FileText {
    pub(crate) text: Arc<str>,
    /// Hash of the text, and the metadata of the file when it was read.
    pub(crate) known: Fingerprint,
}

impl ProjectFiles {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), done: Mutex::default() }
    }

    /// Adds the state of every file that was loaded, or failed to load, to `reads`, by absolute path.
    pub(crate) fn note(&self, reads: &mut ReadSet) {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let found = done.found.iter().map(|(path, read)| {
            let seen = read.as_ref().map(|text| text.known).map_err(Clone::clone);
            (paths::normal(&self.root.join(path)), seen)
        });
        reads.files.extend(found);
    }

    /// Texts of the files that were read, by path relative to the root of the project.
    ///
    /// # Errors
    /// [`CommandError::Machine`] if a system error prevented the read of an existing file; the result of the compiler
    /// is then meaningless.
    pub(crate) fn into_texts(self) -> Result<BTreeMap<String, FileText>, CommandError> {
        let done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let texts = done.found.into_iter().filter_map(|(path, text)| Some((path, text.ok()?)));
        done.fault.map_or_else(|| Ok(texts.collect()), Err)
    }
}

impl SourceLoader for ProjectFiles {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        let file = self.root.join(path);
        let read = read(&file);
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(text) => {
                let own = text.text.as_ref().to_owned();
                done.found.insert(path.to_owned(), Ok(text));
                Ok(own)
            }
            Err(unread) => {
                done.found.insert(path.to_owned(), Err(unread.reason()));
                match unread {
                    FileReadError::Refused(error) => Err(error),
                    FileReadError::Machine(error) => {
                        done.fault.get_or_insert_with(|| CommandError::io("read", &file, &error));
                        Err(LoadError::Other(os_error_text(&error)))
                    }
                }
            }
        }
    }
}

/// Reason why the text of a file was not read.
#[derive(Debug)]
pub(crate) enum FileReadError {
    /// File that is missing, not UTF-8, too large or not a regular file, or whose path is too long or a loop of links.
    Refused(LoadError),
    /// Error of the system in reading the file.
    Machine(io::Error),
}

impl FileReadError {
    pub(crate) fn reason(&self) -> String {
        match self {
            FileReadError::Refused(error) => reason(error),
            FileReadError::Machine(error) => os_error_text(error),
        }
    }
}

impl From<io::Error> for FileReadError {
    fn from(error: io::Error) -> Self {
        // Link loops and invalid names are errors of the user, not of the system.
        let is_name = [Errno::LOOP, Errno::NAMETOOLONG];
        if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
            FileReadError::Refused(LoadError::NotFound)
        } else if Errno::from_io_error(&error).is_some_and(|errno| is_name.contains(&errno)) {
            FileReadError::Refused(LoadError::Other(os_error_text(&error)))
        } else {
            FileReadError::Machine(error)
        }
    }
}

/// Reads the text of the regular file at `path`.
///
/// # Errors
/// [`FileReadError::Refused`] if the file is missing, not a regular file, larger than [`LARGEST`], or not UTF-8, or if
/// its path is invalid. [`FileReadError::Machine`] for any other error of the system.
pub(crate) fn read(path: &Path) -> Result<FileText, FileReadError> {
    let OpenFile { mut file, bytes, stat } = open(path, LARGEST)?;
    let mut text = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0));
    file.read_to_end(&mut text)?;
    let known = Fingerprint { stat, hash: ContentHash::of(&text) };
    let text = String::from_utf8(text).map_err(|error| {
        FileReadError::Refused(LoadError::NotUtf8 { valid_up_to: error.utf8_error().valid_up_to() })
    })?;
    Ok(FileText { text: Arc::from(text), known })
}

/// Fingerprint of the file at `path`. If its metadata equals that of `known`, an earlier fingerprint, the file is not
/// read, and the result is `known`. The error is the reason why the file cannot be read, or is not a regular file, or
/// is larger than [`LARGEST`], as text.
pub(crate) fn hash_if_changed(path: &Path, known: Option<&Fingerprint>) -> FileState {
    hash_if_changed_up_to(LARGEST, path, known)
}

/// Handle of the folder at `path`. `statat` of a file by this handle is faster than by its full path.
pub(crate) fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?)
}

/// True if the file at the path `name` relative to `folder` is a regular file with the metadata of `known`, so that its
/// content counts as unchanged.
pub(crate) fn is_unchanged(folder: &OwnedFd, name: &str, known: &Fingerprint) -> bool {
    let raw = statat(folder, name, AtFlags::empty());
    raw.is_ok_and(|raw| {
        known.stat == Some(FileStat::of_raw(&raw))
            && FileType::from_raw_mode(raw.st_mode) == FileType::RegularFile
    })
}

/// Fingerprint of the file at `path` as [`hash_if_changed`] computes it, except that the maximum size of the file is
/// `largest` bytes.
pub(crate) fn hash_if_changed_up_to(
    largest: u64,
    path: &Path,
    known: Option<&Fingerprint>,
) -> FileState {
    let unread = |error: FileReadError| error.reason();
    let metadata = fs::metadata(path).map_err(|error| unread(error.into()))?;
    let stat = Some(FileStat::of(&metadata));
    if let Some(known) = known.filter(|known| known.stat == stat && metadata.is_file()) {
        return Ok(*known);
    }
    let OpenFile { file, stat, .. } = open(path, largest).map_err(unread)?;
    let hash = ContentHash::of_file(file).map_err(|error| unread(error.into()))?;
    Ok(Fingerprint { stat, hash })
}

/// Regular file that is open for reading.
struct OpenFile {
    file: File,
    bytes: u64,
    /// Metadata of the file before it was read; `None` if a later change might leave it equal.
    stat: Option<FileStat>,
}

fn open(path: &Path, largest: u64) -> Result<OpenFile, FileReadError> {
    let refused = |error| Err(FileReadError::Refused(error));
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return refused(LoadError::Other("it is a folder".to_owned()));
    }
    // Reading a pipe or a device may never end.
    if !metadata.is_file() {
        return refused(LoadError::Other("it is not a regular file".to_owned()));
    }
    if metadata.len() > largest {
        return refused(LoadError::TooLarge { bytes: metadata.len() });
    }
    let now = Timestamp::take();
    let file = File::open(path)?;
    // Taken from the open file, before it is read.
    let stat = FileStat::of(&file.metadata()?).if_settled(now);
    Ok(OpenFile { file, bytes: metadata.len(), stat })
}

fn reason(error: &LoadError) -> String {
    match error {
        LoadError::NotFound => MISSING.to_owned(),
        LoadError::NotUtf8 { valid_up_to } => format!("invalid UTF-8 at byte {valid_up_to}"),
        LoadError::TooLarge { bytes } => format!("too large: {bytes} bytes"),
        LoadError::Other(reason) => reason.clone(),
    }
}
