//! Reads and writes of files as bytes. A regular output file is first written to a temporary file next to it, which
//! then replaces it.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::npy;
use crate::command_error::CommandError;
use crate::console::Console;

/// Path that denotes standard input or output.
pub(crate) const STANDARD: &str = "-";

pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD
}

/// Name of the file at `path` for messages. For the path `-` it is the argument `standard`, such as `standard input`.
pub(crate) fn display_name(path: &Path, standard: &str) -> String {
    if is_standard(path) { standard.to_owned() } else { path.display().to_string() }
}

/// Bytes of the file at `path`, or of standard input if the path is `-`.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CommandError> {
    ByteSource::open(path)?.read_all(path)
}

/// Maximum length of the header of a .npy file that is read, in bytes.
const HEADER: u64 = 128 << 10;

/// Length of an input, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputLength {
    /// Length of a regular file, or of a stream that has ended.
    Exactly(u64),
    /// Lower bound of the length of a stream: the number of bytes read, after which it has not ended.
    MoreThan(u64),
}

impl InputLength {
    /// Number of bytes in the text of the length.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::Exactly(bytes) | Self::MoreThan(bytes) => bytes,
        }
    }

    /// Length of the rest of the input, behind its first `start` bytes.
    #[must_use]
    pub(crate) fn behind(self, start: u64) -> Self {
        match self {
            Self::Exactly(bytes) => Self::Exactly(bytes.saturating_sub(start)),
            Self::MoreThan(bytes) => Self::MoreThan(bytes.saturating_sub(start)),
        }
    }

    /// Text of a length whose number is written as `number`: `60`, `more than 60`.
    pub(crate) fn text(self, number: &str) -> String {
        match self {
            Self::Exactly(_) => number.to_owned(),
            Self::MoreThan(_) => format!("more than {number}"),
        }
    }
}

/// Opened input with the bytes that are read of it.
#[derive(Debug)]
pub(crate) struct ByteSource {
    /// Handle of the input, with the cursor after the bytes of `first`.
    file: File,
    /// True for a regular file with contents; false for a stream, which ends at an unknown length.
    is_regular: bool,
    first: Vec<u8>,
    length: InputLength,
}

impl ByteSource {
    /// Opens the file at `path`, or standard input if the path is `-`. Nothing is read.
    pub(crate) fn open(path: &Path) -> Result<Self, CommandError> {
        let opened = if is_standard(path) {
            // A buffered reader would read beyond the tensor.
            io::stdin().as_fd().try_clone_to_owned().map(File::from)
        } else {
            File::open(path)
        };
        let opened = opened.and_then(|file| {
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(ErrorKind::IsADirectory.into());
            }
            // Some files without a length, such as those in /proc, have contents.
            let is_regular = metadata.is_file() && metadata.len() > 0 && !is_standard(path);
            let length = if is_regular {
                InputLength::Exactly(metadata.len())
            } else {
                InputLength::MoreThan(0)
            };
            Ok(Self { file, is_regular, first: Vec::new(), length })
        });
        opened.map_err(|error| unread(path, &error))
    }

    /// Reads on until `bytes` bytes are read, or the input ends.
    fn read_until(&mut self, bytes: u64, path: &Path) -> Result<(), CommandError> {
        let more = bytes.saturating_sub(self.first.len() as u64);
        let read = (&mut self.file).take(more).read_to_end(&mut self.first);
        read.map_err(|error| unread(path, &error))?;
        let length = self.first.len() as u64;
        if !self.is_regular && length < bytes {
            self.length = InputLength::Exactly(length);
        }
        Ok(())
    }

    /// Header of a .npy file, with no bytes behind it; what there is of it if it is cut off or longer than 128 KiB.
    pub(crate) fn npy_header(&mut self, path: &Path) -> Result<&[u8], CommandError> {
        self.read_until(npy::PREFIX, path)?;
        self.read_until(npy::header_length(&self.first).min(HEADER), path)?;
        Ok(&self.first)
    }

    /// Reads a stream that should have `bytes` bytes, and at most one byte more. [`Self::length`] is exact then unless
    /// the stream is longer.
    pub(crate) fn read_stream(&mut self, bytes: u64, path: &Path) -> Result<(), CommandError> {
        if let InputLength::MoreThan(_) = self.length {
            self.read_until(bytes.saturating_add(1), path)?;
        }
        if let InputLength::MoreThan(_) = self.length {
            self.length = InputLength::MoreThan(bytes);
        }
        Ok(())
    }

    pub(crate) fn length(&self) -> InputLength {
        self.length
    }

    /// True if the input is a regular file with contents.
    pub(crate) fn is_file(&self) -> bool {
        self.is_regular
    }

    /// Handle of the input.
    pub(crate) fn into_file(self) -> File {
        self.file
    }

    /// All bytes of the input. A regular file that has grown since it was opened is read up to its former length.
    pub(crate) fn read_all(mut self, path: &Path) -> Result<Vec<u8>, CommandError> {
        let read = match self.length {
            InputLength::MoreThan(_) => self.file.read_to_end(&mut self.first),
            InputLength::Exactly(length) => {
                let more = length.saturating_sub(self.first.len() as u64);
                match self.first.try_reserve_exact(usize::try_from(more).unwrap_or(usize::MAX)) {
                    Ok(()) => self.file.take(more).read_to_end(&mut self.first),
                    Err(_) => Err(ErrorKind::OutOfMemory.into()),
                }
            }
        };
        read.map(|_| self.first).map_err(|error| unread(path, &error))
    }
}

fn unread(path: &Path, error: &io::Error) -> CommandError {
    match error.kind() {
        ErrorKind::NotFound => CommandError::Usage(format!("`{}` does not exist", path.display())),
        ErrorKind::IsADirectory => {
            CommandError::Usage(format!("`{}` is a folder, expected a file", path.display()))
        }
        _ => CommandError::io("read", path, error),
    }
}

/// Error if `output` is the same regular file as one of `inputs`, or a link to a missing file. Standard output is never
/// an error.
pub(crate) fn check_not_input(inputs: &[&Path], output: &Path) -> Result<(), CommandError> {
    let identity = |path: &Path| {
        let metadata = fs::metadata(path).ok().filter(Metadata::is_file);
        metadata.map(|metadata| (metadata.dev(), metadata.ino()))
    };
    if is_standard(output) {
        return Ok(());
    }
    let is_link = fs::symlink_metadata(output).is_ok_and(|metadata| metadata.is_symlink());
    if is_link && fs::metadata(output).is_err() {
        let output = output.display();
        let message = format!("`{output}` is a link to a missing file");
        return Err(CommandError::Usage(format!("{message}; remove the link, or create the file")));
    }
    let there = identity(output);
    match inputs.iter().find(|input| there.is_some() && identity(input) == there) {
        Some(input) => {
            let (input, output) = (input.display(), output.display());
            Err(CommandError::Usage(format!(
                "output `{output}` would overwrite the input `{input}`"
            )))
        }
        None => Ok(()),
    }
}

/// True if an output at `path` is replaced atomically when it is written: it is a regular file, or no file can be
/// examined there, for example because it does not exist. False for standard output, a folder, a device or a pipe.
pub(crate) fn is_placed(path: &Path) -> bool {
    !is_standard(path) && fs::metadata(path).map_or(true, |metadata| metadata.is_file())
}

/// Writes the parts `bytes` one after another to the output `path`. The path `-` is standard output, which is written
/// through `console`. A device or pipe is written directly; any other file is replaced atomically. A folder is an
/// error.
pub(crate) fn write(
    path: &Path,
    bytes: &[&[u8]],
    console: &mut Console,
) -> Result<(), CommandError> {
    if is_standard(path) {
        bytes.iter().for_each(|part| console.bytes(part));
        return Ok(());
    }
    let fault = |error: io::Error| match error.kind() {
        ErrorKind::NotFound => {
            CommandError::Usage(format!("the folder of `{}` does not exist", path.display()))
        }
        _ => CommandError::io("write", path, &error),
    };
    let all = |mut file: File| bytes.iter().try_for_each(|part| file.write_all(part));
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            return Err(CommandError::Usage(format!(
                "`{}` is a folder, expected a file",
                path.display()
            )));
        }
        Ok(metadata) if !metadata.is_file() => {
            return File::options().write(true).open(path).and_then(all).map_err(fault);
        }
        Ok(_) | Err(_) => {}
    }
    // Write through a link to its target.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let temporary = format!(".layoutc-{}-array.tmp", std::process::id());
    let temporary = place.parent().unwrap_or(Path::new("")).join(temporary);
    let written = File::create(&temporary).and_then(all);
    let renamed = written.and_then(|()| fs::rename(&temporary, &place));
    if renamed.is_err() {
        drop(fs::remove_file(&temporary));
    }
    renamed.map_err(fault)
}
