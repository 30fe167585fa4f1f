//! The texts of a project: read once, remembered for the report.

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
use crate::state::fact::{ContentHash, Fingerprint};
use crate::state::stat::{FileStat, Timestamp};

use super::read_set::{FileState, ReadSet};

/// The largest text that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// Why there is no text where there is no file.
pub(crate) const MISSING: &str = "there is no such file";

/// Manifests by their paths relative to the project's root.
#[derive(Debug)]
pub(crate) struct ProjectFiles {
    root: PathBuf,
    done: Mutex<FileCache>,
}

/// What was read so far.
#[derive(Debug, Default)]
struct FileCache {
    found: BTreeMap<String, Result<FileText, String>>,
    fault: Option<CommandError>,
}

/// A text, and what tells it from another.
#[derive(Debug, Clone)]
pub(crate) struct FileText {
    /// The text.
    pub(crate) text: Arc<str>,
    /// Its hash, and what its file had when it was read.
    pub(crate) known: Fingerprint,
}

impl ProjectFiles {
    /// The files of the project at `root`.
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), done: Mutex::default() }
    }

    /// Adds every file that was asked for to `reads`.
    pub(crate) fn note(&self, reads: &mut ReadSet) {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let found = done.found.iter().map(|(path, read)| {
            let seen = read.as_ref().map(|text| text.known).map_err(Clone::clone);
            (super::paths::normal(&self.root.join(path)), seen)
        });
        reads.files.extend(found);
    }

    /// Every text that was read, by its path.
    ///
    /// # Errors
    /// The machine kept a file from being read that is there: what the compiler made of it says nothing.
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

/// Why a text was not read.
#[derive(Debug)]
pub(crate) enum FileReadError {
    /// It is no text for us.
    Refused(LoadError),
    /// The machine would not give it.
    Machine(io::Error),
}

impl FileReadError {
    /// The reason in words.
    pub(crate) fn reason(&self) -> String {
        match self {
            FileReadError::Refused(error) => reason(error),
            FileReadError::Machine(error) => os_error_text(error),
        }
    }
}

impl From<io::Error> for FileReadError {
    fn from(error: io::Error) -> Self {
        // A loop of links and a name that no file can have are the user's, not the machine's.
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

/// The text of a regular file.
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

/// What stands at `path`, by its hash. It is only read if it is not certain that it is still what was `known` of it.
pub(crate) fn hash_if_changed(path: &Path, known: Option<&Fingerprint>) -> FileState {
    hash_if_changed_up_to(LARGEST, path, known)
}

/// A folder by its handle: what is below it is found faster than by whole paths.
pub(crate) fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?)
}

/// Whether it is certain, without reading it, that the file `name` below a folder is still what was `known` of it.
pub(crate) fn is_unchanged(folder: &OwnedFd, name: &str, known: &Fingerprint) -> bool {
    let raw = statat(folder, name, AtFlags::empty());
    raw.is_ok_and(|raw| {
        known.stat == Some(FileStat::of_raw(&raw))
            && FileType::from_raw_mode(raw.st_mode) == FileType::RegularFile
    })
}

/// The same as [`glance`] for a file of up to `largest` bytes.
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

/// A regular file that is about to be read.
struct OpenFile {
    file: File,
    /// Its length.
    bytes: u64,
    /// What it had before it was read.
    stat: Option<FileStat>,
}

fn open(path: &Path, largest: u64) -> Result<OpenFile, FileReadError> {
    let refused = |error| Err(FileReadError::Refused(error));
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return refused(LoadError::Other("it is a folder".to_owned()));
    }
    // A pipe or a device could be read for ever.
    if !metadata.is_file() {
        return refused(LoadError::Other("it is not a regular file".to_owned()));
    }
    if metadata.len() > largest {
        return refused(LoadError::TooLarge { bytes: metadata.len() });
    }
    let now = Timestamp::take();
    let file = File::open(path)?;
    // Of the file that is read, and before it is.
    let stat = FileStat::of(&file.metadata()?).if_settled(now);
    Ok(OpenFile { file, bytes: metadata.len(), stat })
}

/// What kept a text from being read, in words.
fn reason(error: &LoadError) -> String {
    match error {
        LoadError::NotFound => MISSING.to_owned(),
        LoadError::NotUtf8 { valid_up_to } => format!("it is not UTF-8 at byte {valid_up_to}"),
        LoadError::TooLarge { bytes } => format!("{bytes} bytes are too many"),
        LoadError::Other(reason) => reason.clone(),
    }
}
