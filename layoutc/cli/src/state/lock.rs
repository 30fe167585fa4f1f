//! Lock of a state folder, which admits one build at a time to an output folder.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, openat, statat};
use rustix::io::{Errno, retry_on_intr};

use crate::command_error::CommandError;

const NAME: &str = "lock";

/// Lock of the state folder, which is released on drop or at the end of the process. Some network file systems do not
/// support locks. Concurrent builds there write the same bytes, each file atomically.
#[derive(Debug)]
pub(crate) struct StateLock {
    file: Option<File>,
}

impl StateLock {
    /// Lock that is not held, for builds that need no lock or cannot have one.
    pub(crate) fn nothing() -> Self {
        Self { file: None }
    }

    /// True if the folder is locked, so that no other build runs in it.
    pub(crate) fn is_held(&self) -> bool {
        self.file.is_some()
    }
}

/// Locks the state folder with the handle `dir` and the path `folder`. If another build holds the lock, calls `wait`
/// with a description of that build, then waits for its end. `None` if the folder was removed meanwhile. The lock is
/// not held if the file system does not support locks.
///
/// # Errors
/// [`CommandError::Machine`] if the lock file cannot be opened, and any error of `wait`.
pub(crate) fn lock(
    folder: &Path,
    dir: &OwnedFd,
    wait: &mut dyn FnMut(&str) -> Result<(), CommandError>,
) -> Result<Option<StateLock>, CommandError> {
    let fault = |error: io::Error| CommandError::io("lock", &folder.join(NAME), &error);
    loop {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o666);
        let opened = retry_on_intr(|| openat(dir, NAME, flags, mode));
        let mut file = match opened {
            Ok(file) => File::from(file),
            // The folder was removed.
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(fault(error.into())),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                wait(&holder(&mut file))?;
                // An interrupted wait is retried; other errors mean that locks are not supported.
                while file.lock().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {}
            }
            // Locks are not supported.
            Err(TryLockError::Error(_)) => return Ok(Some(StateLock::nothing())),
        }
        // The locked file may have been removed and created again by others.
        let stands = statat(dir, NAME, AtFlags::SYMLINK_NOFOLLOW).ok();
        let inode = |stat: &rustix::fs::Stat| (stat.st_dev, stat.st_ino);
        let own = rustix::fs::fstat(&file).map_err(|error| fault(error.into()))?;
        if stands.as_ref().map(inode) == Some(inode(&own)) {
            sign(&mut file);
            return Ok(Some(StateLock { file: Some(file) }));
        }
    }
}

/// Locks the state folder with the handle `dir` if no other build holds the lock. `None` if one does, if there is no
/// lock file, or if the file system does not support locks.
pub(crate) fn try_lock(dir: &OwnedFd) -> Option<StateLock> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(openat(dir, NAME, flags, Mode::empty()).ok()?);
    file.try_lock().ok()?;
    Some(StateLock { file: Some(file) })
}

/// Writes a description of this process to the lock file `file`, such as ``process 12 (`layoutc build`)``, for the
/// messages of builds that wait. Failures are ignored.
fn sign(file: &mut File) {
    let command = std::env::args().nth(1).unwrap_or_default();
    let text = format!("process {} (`layoutc {command}`)\n", std::process::id());
    // Truncated afterwards: emptying the file first would free its block, which may take milliseconds.
    let written = file.rewind().and_then(|()| file.write_all(text.as_bytes()));
    drop(written.and_then(|()| file.set_len(text.len() as u64)));
}

/// Description of the process that holds the lock, from the lock file; `another build` if the file has no valid one.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(200).read_to_string(&mut text));
    let line = text.lines().next().unwrap_or_default();
    let is_clean = |c: char| !c.is_control();
    match read {
        Ok(_) if !line.is_empty() && line.chars().all(is_clean) => line.to_owned(),
        Ok(_) | Err(_) => "another build".to_owned(),
    }
}
