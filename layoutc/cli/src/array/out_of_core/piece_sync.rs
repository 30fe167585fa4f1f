//! Thread that syncs written chunks in batches and records them in the journal.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;

use super::input::InputFile;
use super::partial_file::PartialFile;
use crate::command_error::CommandError;

/// Number of chunks written.
#[derive(Debug)]
pub(crate) struct PieceCounter(AtomicU64);

impl PieceCounter {
    pub(crate) fn from(pieces: u64) -> Self {
        Self(AtomicU64::new(pieces))
    }

    pub(crate) fn set(&self, pieces: u64) {
        self.0.store(pieces, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Report of a written chunk: the number of chunks written so far, and the size of this one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteProgress {
    pub(crate) pieces: u64,
    pub(crate) bytes: u64,
}

/// Commits written chunks whenever `batch` bytes have accumulated, until the channel closes. The caller commits the
/// rest.
pub(crate) fn sync(
    progress: &Receiver<WriteProgress>,
    batch: u64,
    part: &mut PartialFile,
    input: &InputFile,
) -> Result<(), CommandError> {
    let mut bytes = 0_u64;
    while let Ok(first) = progress.recv() {
        let mut last = first;
        bytes = bytes.saturating_add(first.bytes);
        while let Ok(next) = progress.try_recv() {
            bytes = bytes.saturating_add(next.bytes);
            last = next;
        }
        if bytes >= batch {
            input.check_unchanged()?;
            part.commit(last.pieces)?;
            bytes = 0;
        }
    }
    Ok(())
}
