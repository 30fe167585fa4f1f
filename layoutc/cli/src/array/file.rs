//! Reads and writes of files as bytes. A regular output file is first written to a temporary file next to it, which
//! then replaces it.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

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

/// Maximum number of bytes that are read from a regular file before the caller decides between a conversion in memory
/// and one in chunks.
const FIRST: u64 = 128 << 10;

/// Opened input with its first bytes: up to `FIRST` bytes of a regular file, or all bytes of any other input.
#[derive(Debug)]
pub(crate) struct ByteSource {
    /// Handle of the input if it is a regular file, with the cursor after the bytes of `first`.
    file: Option<File>,
    first: Vec<u8>,
    length: u64,
}

impl ByteSource {
    /// Opens the file at `path`, or standard input if the path is `-`.
    pub(crate) fn open(path: &Path) -> Result<Self, CommandError> {
        let read = if is_standard(path) {
            let mut first = Vec::new();
            let read = io::stdin().lock().read_to_end(&mut first);
            read.map(|length| Self { file: None, first, length: length as u64 })
        } else {
            File::open(path).and_then(Self::begin)
        };
        read.map_err(|error| unread(path, &error))
    }

    fn begin(mut file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let mut first = Vec::new();
        if metadata.is_file() {
            (&file).take(FIRST).read_to_end(&mut first)?;
            let length = metadata.len().max(first.len() as u64);
            return Ok(Self { file: Some(file), first, length });
        }
        let length = file.read_to_end(&mut first)? as u64;
        Ok(Self { file: None, first, length })
    }

    /// First bytes of the input: up to `FIRST` bytes of a regular file, or all bytes of any other input.
    pub(crate) fn first(&self) -> &[u8] {
        &self.first
    }

    /// Length of the input in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// True if the input is a regular file.
    pub(crate) fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// Handle of the input. A regular file is already open, with the cursor after the bytes of [`Self::first()`]. For
    /// any other input, the file at `path` is opened, with the cursor at the start.
    pub(crate) fn file(self, path: &Path) -> Result<File, CommandError> {
        self.file.map_or_else(|| File::open(path), Ok).map_err(|error| unread(path, &error))
    }

    pub(crate) fn read_all(self, path: &Path) -> Result<Vec<u8>, CommandError> {
        let Self { file: Some(mut file), first: mut bytes, length } = self else {
            return Ok(self.first);
        };
        let more = usize::try_from(length).unwrap_or(usize::MAX).saturating_sub(bytes.len());
        let read = match bytes.try_reserve_exact(more) {
            Ok(()) => file.read_to_end(&mut bytes),
            Err(_) => Err(ErrorKind::OutOfMemory.into()),
        };
        read.map(|_| bytes).map_err(|error| unread(path, &error))
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
