//! Sources of manifests: a [`SourceLoader`], which the caller provides, maps a path to the text of the manifest.

use std::collections::BTreeMap;

/// Reason why the text of a manifest cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadError {
    /// The file does not exist.
    NotFound,
    /// The file is not UTF-8.
    NotUtf8 {
        /// Number of bytes at the start of the file that are valid UTF-8.
        valid_up_to: usize,
    },
    /// The file exceeds the size limit for manifests.
    TooLarge {
        /// Size of the file in bytes.
        bytes: u64,
    },
    /// Another error, with the message of the operating system.
    Other(String),
}

/// Loader of manifests by path. Paths use `/` as the separator, and are given by the caller or resolved from the `use`
/// of another manifest.
pub trait SourceLoader: Sync {
    /// Returns the text of the manifest at `path`.
    ///
    /// # Errors
    /// [`LoadError::NotFound`] if the file does not exist, [`LoadError::TooLarge`] if it exceeds the size limit,
    /// [`LoadError::NotUtf8`] if it is not UTF-8, [`LoadError::Other`] if it cannot be read for another reason.
    fn load(&self, path: &str) -> Result<String, LoadError>;
}

/// Manifests in memory, as texts by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemorySources(BTreeMap<String, String>);

impl MemorySources {
    /// Creates a loader of one manifest with the text `text` at `path`.
    pub fn of(path: &str, text: impl AsRef<str>) -> Self {
        Self(BTreeMap::from([(path.to_owned(), text.as_ref().to_owned())]))
    }

    /// Text of the manifest at a path; `None` if there is none.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// Adds a manifest at `path`, or replaces the text of the one that exists there.
    pub fn insert(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.0.insert(path.into(), text.into());
    }
}

impl<P: Into<String>, T: Into<String>> FromIterator<(P, T)> for MemorySources {
    fn from_iter<I: IntoIterator<Item = (P, T)>>(texts: I) -> Self {
        Self(texts.into_iter().map(|(path, text)| (path.into(), text.into())).collect())
    }
}

impl SourceLoader for MemorySources {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        self.0.get(path).cloned().ok_or(LoadError::NotFound)
    }
}
