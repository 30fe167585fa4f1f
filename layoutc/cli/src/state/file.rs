//! Operations on files of a state folder by the folder's handle: read whole, append, replace.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::{Errno, retry_on_intr};

/// Pair of the name of a file in the state folder, and the name of the new file that replaces it by a rename.
pub(crate) type FileNames = [&'static str; 2];

/// Durability of a write to a file of the state folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Write that is synced to disk before the call returns. It is for facts about outputs, whose loss later builds
    /// could not detect.
    Synced,
    /// Write that is not synced, because its loss only causes more work in later builds.
    Hint,
}

/// Content and metadata of the file with the first of the two names in the state folder `dir`. `None` if the file is
/// missing, inaccessible or not a regular file.
///
/// # Errors
/// Any other error of the system.
pub(super) fn read(dir: &OwnedFd, [name, _]: FileNames) -> io::Result<Option<(Vec<u8>, Metadata)>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut file = match retry_on_intr(|| openat(dir, name, flags, Mode::empty())) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::LOOP | Errno::NXIO | Errno::ACCESS | Errno::PERM) => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(Some((bytes, metadata)))
}

/// Writes `bytes` after the first `valid_bytes` bytes of the file with the first of the two names in the state folder
/// `dir`, and drops its former content from there on. If the write fails, the file is cut to its first `valid_bytes`
/// bytes.
pub(super) fn append(
    dir: &OwnedFd,
    [name, _]: FileNames,
    valid_bytes: u64,
    bytes: &[u8],
    durability: Durability,
) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(retry_on_intr(|| openat(dir, name, flags, Mode::empty()))?);
    if file.metadata()?.len() != valid_bytes {
        file.set_len(valid_bytes)?;
    }
    file.seek(SeekFrom::Start(valid_bytes))?;
    let written = file.write_all(bytes).and_then(|()| sync(&file, durability));
    if written.is_err() {
        // A partial record is ignored in any case.
        drop(file.set_len(valid_bytes));
    }
    written
}

/// Replaces the content of the file with the first of the two names in the state folder `dir` by `bytes`: writes a file
/// with the second name, then renames it. On an error, the file has its former content.
pub(super) fn replace(
    dir: &OwnedFd,
    [name, new]: FileNames,
    bytes: &[u8],
    durability: Durability,
) -> io::Result<()> {
    let written = write_new(dir, new, bytes, durability)
        .and_then(|()| Ok(retry_on_intr(|| renameat(dir, new, dir, name))?));
    if written.is_err() {
        let _ = unlinkat(dir, new, AtFlags::empty());
    }
    written
}

/// Creates the file `name` in the folder `dir` with the content `bytes`, or overwrites one that a killed build left
/// behind.
fn write_new(dir: &OwnedFd, name: &str, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let flags =
        OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o666);
    let mut file = File::from(retry_on_intr(|| openat(dir, name, flags, mode))?);
    file.write_all(bytes)?;
    sync(&file, durability)
}

fn sync(file: &File, durability: Durability) -> io::Result<()> {
    match durability {
        Durability::Synced => file.sync_data(),
        Durability::Hint => Ok(()),
    }
}
