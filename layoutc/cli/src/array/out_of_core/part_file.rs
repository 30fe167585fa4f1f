//! Part file of an output that is being written: `<output>.part` in the folder of the output. It is renamed to the
//! output when it is complete, and removed otherwise. A killed run leaves it behind, and the next run replaces it.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;
use rustix::fs::{FallocateFlags, OFlags, fallocate};
use rustix::io::Errno;

use crate::command_error::CommandError;
use crate::report::size;

/// Part file of an output. It is open until this value is dropped, and locked if the file system supports locks.
#[derive(Debug)]
pub(crate) struct PartFile<'a> {
    /// Handle of the part file, open for reading and writing.
    pub(crate) file: File,
    pub(crate) path: PathBuf,
    /// Path of the output, to which the part file is renamed.
    place: &'a Path,
    is_renamed: bool,
}

/// Path of the part file of an output: `<output>.part`.
pub(crate) fn part_path(place: &Path) -> PathBuf {
    let mut name = OsString::from(place.file_name().unwrap_or_default());
    name.push(".part");
    place.with_file_name(name)
}

impl<'a> PartFile<'a> {
    /// Creates the part file of the output at `place`, with `bytes` bytes that begin with `header`. Messages call the
    /// output `output`.
    ///
    /// # Errors
    /// [`CommandError::Usage`] if the folder does not exist, or if the path of the part file is not that of a regular
    /// file. [`CommandError::Machine`] if another process has locked the part file, and for system errors.
    pub(crate) fn create(
        place: &'a Path,
        output: &Path,
        header: &[u8],
        bytes: u64,
    ) -> Result<Self, CommandError> {
        let path = part_path(place);
        if fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            let shown = part_path(output);
            let line = format!("`{}` is not a file; remove or rename it", shown.display());
            return Err(CommandError::Usage(line));
        }
        let part = Self { file: locked(&path, output)?, path, place, is_renamed: false };
        allocate(&part.file, header, bytes).map_err(|error| {
            match CommandError::io("write", &part.path, &error) {
                CommandError::Machine(diagnostic) if error.kind() == ErrorKind::StorageFull => {
                    let help = format!("the output needs {}", size(bytes));
                    CommandError::Machine(Box::new(diagnostic.help(help)))
                }
                fault => fault,
            }
        })?;
        Ok(part)
    }

    /// Syncs the part file to disk and renames it to the output.
    pub(crate) fn finish(mut self) -> Result<(), CommandError> {
        let synced = self.file.sync_all();
        let renamed = synced.and_then(|()| fs::rename(&self.path, self.place));
        renamed.map_err(|error| CommandError::io("write", self.place, &error))?;
        self.is_renamed = true;
        // Makes the rename durable, where the file system can.
        let folder = self.place.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = File::open(folder.unwrap_or(Path::new(".")));
        drop(folder.and_then(|folder| folder.sync_all()));
        Ok(())
    }
}

impl Drop for PartFile<'_> {
    fn drop(&mut self) {
        if !self.is_renamed {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// Opens or creates the part file at `path` and locks it, if the file system supports locks. Messages call the output
/// `output`. It is an error if another process has locked the file.
fn locked(path: &Path, output: &Path) -> Result<File, CommandError> {
    loop {
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        let opened = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .custom_flags(flags)
            .open(path);
        let file = opened.map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                CommandError::Usage(format!("the folder of `{}` does not exist", output.display()))
            }
            _ => CommandError::io("write", path, &error),
        })?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(busy(output)),
            // The file system does not support locks.
            Err(TryLockError::Error(_)) => return Ok(file),
        }
        // The previous holder may have renamed or removed the file that it locked.
        let own = file.metadata().map_err(|error| CommandError::io("read", path, &error))?;
        let stands = fs::symlink_metadata(path).ok();
        if stands.is_some_and(|stands| (stands.dev(), stands.ino()) == (own.dev(), own.ino())) {
            return Ok(file);
        }
    }
}

fn busy(output: &Path) -> CommandError {
    let output = output.display();
    let message = format!("another process is writing `{output}`");
    let help = "wait until it ends, or choose another output";
    CommandError::Machine(Box::new(Diagnostic::without_span(Code::OutputIo, message).help(help)))
}

/// Empties the part file, writes its header and reserves its blocks if the file system can; the other bytes
/// are 0.
fn allocate(file: &File, header: &[u8], bytes: u64) -> io::Result<()> {
    file.set_len(0)?;
    match fallocate(file, FallocateFlags::empty(), 0, bytes.max(1)) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {}
        Err(error) => return Err(error.into()),
    }
    file.set_len(bytes)?;
    file.write_all_at(header, 0)
}
