//! An input file that is read in chunks and must not change meanwhile.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;
use rustix::fs::{Advice, fadvise};

use crate::command_error::CommandError;

#[derive(Debug)]
pub(crate) struct InputFile {
    file: File,
    path: PathBuf,
    /// Identity, size and times of the file.
    state: String,
    /// Byte offset of the elements.
    offset: u64,
}

impl InputFile {
    /// Wraps an open file whose elements begin at `offset`.
    pub(crate) fn new(file: File, path: &Path, offset: u64) -> Result<Self, CommandError> {
        let metadata = file.metadata().map_err(|error| CommandError::io("read", path, &error))?;
        // Only a hint for read-ahead.
        let _ = fadvise(&file, 0, None, Advice::Sequential);
        Ok(Self { file, path: path.to_owned(), state: state(&metadata), offset })
    }

    /// Reads bytes at `at`, counted from the first element.
    pub(crate) fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), CommandError> {
        let read = self.file.read_exact_at(bytes, self.offset + at);
        read.map_err(|error| self.fault(&error))
    }

    /// Hints that bytes will be read soon.
    pub(crate) fn prefetch(&self, at: u64, bytes: usize) {
        let bytes = std::num::NonZeroU64::new(bytes as u64);
        let _ = fadvise(&self.file, self.offset + at, bytes, Advice::WillNeed);
    }

    /// Fails if the file changed since it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), CommandError> {
        let metadata = self.file.metadata().map_err(|error| self.fault(&error))?;
        if state(&metadata) == self.state {
            return Ok(());
        }
        let path = self.path.display();
        let message = format!("`{path}` changed while it was being read");
        let help = "run the same command again when no other process writes to it";
        Err(CommandError::Machine(Box::new(
            Diagnostic::without_span(Code::OutputIo, message).help(help),
        )))
    }

    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn fault(&self, error: &io::Error) -> CommandError {
        CommandError::io("read", &self.path, error)
    }
}

/// Device, inode, size, and modification and change times.
fn state(metadata: &Metadata) -> String {
    let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
    format!("{}:{} {} {times:?}", metadata.dev(), metadata.ino(), metadata.len())
}
