//! The texts of a project: read once, remembered for the report.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use layoutc_compiler::{LoadError, Sources};

/// The largest text that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// Manifests by their paths relative to the project's root.
#[derive(Debug)]
pub(crate) struct Files {
    root: PathBuf,
    read: Mutex<BTreeMap<String, Arc<str>>>,
}

impl Files {
    /// The files of the project at `root`.
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), read: Mutex::default() }
    }

    /// Every text that was read, by its path.
    pub(crate) fn into_texts(self) -> BTreeMap<String, Arc<str>> {
        self.read.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sources for Files {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        let text = read(&self.root.join(path))?;
        let mut texts = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        texts.insert(path.to_owned(), Arc::from(text.as_str()));
        Ok(text)
    }
}

/// The text of a regular file.
pub(crate) fn read(path: &Path) -> Result<String, LoadError> {
    let metadata = fs::metadata(path).map_err(|error| failure(&error))?;
    if metadata.is_dir() {
        return Err(LoadError::Other("it is a folder".to_owned()));
    }
    // A pipe or a device could be read for ever.
    if !metadata.is_file() {
        return Err(LoadError::Other("it is not a regular file".to_owned()));
    }
    if metadata.len() > LARGEST {
        return Err(LoadError::TooLarge { bytes: metadata.len() });
    }
    let bytes = fs::read(path).map_err(|error| failure(&error))?;
    String::from_utf8(bytes)
        .map_err(|error| LoadError::NotUtf8 { valid_up_to: error.utf8_error().valid_up_to() })
}

fn failure(error: &io::Error) -> LoadError {
    if error.kind() == ErrorKind::NotFound {
        LoadError::NotFound
    } else {
        LoadError::Other(crate::fault::plain(error))
    }
}

/// What kept a text from being read, in words.
pub(crate) fn reason(error: &LoadError) -> String {
    match error {
        LoadError::NotFound => "there is no such file".to_owned(),
        LoadError::NotUtf8 { valid_up_to } => format!("it is not UTF-8 at byte {valid_up_to}"),
        LoadError::TooLarge { bytes } => format!("{bytes} bytes are too many"),
        LoadError::Other(reason) => reason.clone(),
    }
}
