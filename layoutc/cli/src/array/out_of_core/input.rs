//! Input file of a conversion. It is read in chunks, and a change of the file during the conversion is an error.

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
    /// Text of the device, inode, size and times of the file when it was opened; a different text shows a change.
    state: String,
    /// Byte offset of the first element in the file.
    offset: u64,
}

impl InputFile {
    /// Input file for the open handle `file`, whose elements begin at byte `offset`.
    pub(crate) fn new(file: File, path: &Path, offset: u64) -> Result<Self, CommandError> {
        let metadata = file.metadata().map_err(|error| CommandError::io("read", path, &error))?;
        // Only a hint for read-ahead.
        let _ = fadvise(&file, 0, None, Advice::Sequential);
        Ok(Self { file, path: path.to_owned(), state: state(&metadata), offset })
    }

    /// Fills `bytes` from the file, from byte offset `at` of the elements on.
    pub(crate) fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), CommandError> {
        let read = self.file.read_exact_at(bytes, self.offset + at);
        read.map_err(|error| self.fault(&error))
    }

    /// Tells the operating system that `bytes` bytes at byte offset `at` of the elements will be read soon.
    pub(crate) fn prefetch(&self, at: u64, bytes: usize) {
        let bytes = std::num::NonZeroU64::new(bytes as u64);
        let _ = fadvise(&self.file, self.offset + at, bytes, Advice::WillNeed);
    }

    /// Fails if the size or the times of the file changed since it was opened.
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

/// Text of a file's device, inode, size in bytes, and modification and change times.
fn state(metadata: &Metadata) -> String {
    let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
    format!("{}:{} {} {times:?}", metadata.dev(), metadata.ino(), metadata.len())
}
