//! Where texts come from: the compiler asks, the caller reads.

/// Why a text cannot be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadError {
    /// There is no such file.
    NotFound,
    /// The file is not UTF-8: so many bytes at its start are.
    NotUtf8 {
        /// Bytes before the first one that is not.
        valid_up_to: usize,
    },
    /// The file is larger than a manifest may be.
    TooLarge {
        /// Its size.
        bytes: u64,
    },
    /// The machine's own words.
    Other(String),
}

/// Gives the text of a manifest by its path, written with `/`, as the caller gave it or as another manifest's `use`
/// makes it from there.
pub trait SourceLoader: Sync {
    /// The text of the file at `path`.
    ///
    /// # Errors
    /// [`LoadError`].
    fn load(&self, path: &str) -> Result<String, LoadError>;
}
