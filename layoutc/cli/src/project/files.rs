//! The texts of a project: read once, remembered for the report.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use layoutc_compiler::{LoadError, Sources};

use crate::fault::{Fault, plain};

use super::reads::{Content, Reads};

/// The largest text that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// Why there is no text where there is no file.
pub(crate) const MISSING: &str = "there is no such file";

/// Manifests by their paths relative to the project's root.
#[derive(Debug)]
pub(crate) struct Files {
    root: PathBuf,
    done: Mutex<Done>,
}

/// What was read so far.
#[derive(Debug, Default)]
struct Done {
    found: BTreeMap<String, Content>,
    fault: Option<Fault>,
}

impl Files {
    /// The files of the project at `root`.
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), done: Mutex::default() }
    }

    /// Adds every file that was asked for to `reads`.
    pub(crate) fn note(&self, reads: &mut Reads) {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let found = done
            .found
            .iter()
            .map(|(path, content)| (super::paths::normal(&self.root.join(path)), content.clone()));
        reads.files.extend(found);
    }

    /// Every text that was read, by its path.
    ///
    /// # Errors
    /// The machine kept a file from being read that is there: what the compiler made of it says nothing.
    pub(crate) fn into_texts(self) -> Result<BTreeMap<String, Arc<str>>, Fault> {
        let done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let texts = done.found.into_iter().filter_map(|(path, text)| Some((path, text.ok()?)));
        done.fault.map_or_else(|| Ok(texts.collect()), Err)
    }
}

impl Sources for Files {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        let file = self.root.join(path);
        let read = read(&file);
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let content = read.as_deref().map(Arc::from).map_err(Unread::reason);
        done.found.insert(path.to_owned(), content);
        match read {
            Ok(text) => Ok(text),
            Err(Unread::Refused(error)) => Err(error),
            Err(Unread::Machine(error)) => {
                done.fault.get_or_insert_with(|| Fault::io("read", &file, &error));
                Err(LoadError::Other(plain(&error)))
            }
        }
    }
}

/// Why a text was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It is no text for us.
    Refused(LoadError),
    /// The machine would not give it.
    Machine(io::Error),
}

impl Unread {
    /// The reason in words.
    pub(crate) fn reason(&self) -> String {
        match self {
            Unread::Refused(error) => reason(error),
            Unread::Machine(error) => plain(error),
        }
    }
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
            Unread::Refused(LoadError::NotFound)
        } else {
            Unread::Machine(error)
        }
    }
}

/// The text of a regular file.
pub(crate) fn read(path: &Path) -> Result<String, Unread> {
    let refused = |error| Err(Unread::Refused(error));
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return refused(LoadError::Other("it is a folder".to_owned()));
    }
    // A pipe or a device could be read for ever.
    if !metadata.is_file() {
        return refused(LoadError::Other("it is not a regular file".to_owned()));
    }
    if metadata.len() > LARGEST {
        return refused(LoadError::TooLarge { bytes: metadata.len() });
    }
    let text = String::from_utf8(fs::read(path)?);
    text.or_else(|error| {
        refused(LoadError::NotUtf8 { valid_up_to: error.utf8_error().valid_up_to() })
    })
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
