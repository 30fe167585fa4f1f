//! One build at a time in an output folder.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, openat, statat};
use rustix::io::{Errno, retry_on_intr};

use crate::command_error::CommandError;

/// The file's name.
const NAME: &str = "lock";

/// The state folder, locked for as long as this lives; the system unlocks it if this process dies. Where nothing can
/// be locked (some network file systems) nothing is: builds at once then still write the same bytes, each file whole.
#[derive(Debug)]
pub(crate) struct StateLock {
    file: Option<File>,
}

impl StateLock {
    /// Where nothing can be locked.
    pub(crate) fn nothing() -> Self {
        Self { file: None }
    }

    /// Whether no other build is at work here.
    pub(crate) fn is_held(&self) -> bool {
        self.file.is_some()
    }
}

/// Locks the state folder `dir`, which stands at `folder`. If another build holds the lock, `wait` is told which one.
/// `None` where the folder was removed meanwhile.
///
/// # Errors
/// The machine's, and what `wait` says against waiting.
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
            // Nothing can be made in a folder that is gone.
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(fault(error.into())),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                wait(&holder(&mut file))?;
                // The system may say that it cannot wait; then it could not lock either.
                while file.lock().is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {}
            }
            // Nothing can be locked here.
            Err(TryLockError::Error(_)) => return Ok(Some(StateLock { file: Some(file) })),
        }
        // Another may have removed the file that was locked, and a third one made it anew.
        let stands = statat(dir, NAME, AtFlags::SYMLINK_NOFOLLOW).ok();
        let inode = |stat: &rustix::fs::Stat| (stat.st_dev, stat.st_ino);
        let own = rustix::fs::fstat(&file).map_err(|error| fault(error.into()))?;
        if stands.as_ref().map(inode) == Some(inode(&own)) {
            sign(&mut file);
            return Ok(Some(StateLock { file: Some(file) }));
        }
    }
}

/// The same if nobody holds it; else nothing.
pub(crate) fn try_lock(dir: &OwnedFd) -> Option<StateLock> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(openat(dir, NAME, flags, Mode::empty()).ok()?);
    file.try_lock().ok()?;
    Some(StateLock { file: Some(file) })
}

/// Says in the file who holds it. It is for people: nothing goes wrong without it.
fn sign(file: &mut File) {
    let command = std::env::args().nth(1).unwrap_or_default();
    let text = format!("process {} (`layoutc {command}`)\n", std::process::id());
    // Cut to its length afterwards: a file that is emptied first gives its block back, which may take milliseconds.
    let written = file.rewind().and_then(|()| file.write_all(text.as_bytes()));
    drop(written.and_then(|()| file.set_len(text.len() as u64)));
}

/// Who holds the lock, in words.
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
