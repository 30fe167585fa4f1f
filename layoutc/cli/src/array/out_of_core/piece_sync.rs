//! Pieces on their way to the disk: a thread makes them be there, some at a time, and notes it in the journal.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;

use super::input::InputFile;
use super::partial_file::PartialFile;
use crate::command_error::CommandError;

/// How many pieces are written.
#[derive(Debug)]
pub(crate) struct PieceCounter(AtomicU64);

impl PieceCounter {
    /// From so many pieces on.
    pub(crate) fn from(pieces: u64) -> Self {
        Self(AtomicU64::new(pieces))
    }

    /// So many pieces are written.
    pub(crate) fn set(&self, pieces: u64) {
        self.0.store(pieces, Ordering::Relaxed);
    }

    /// How many pieces are written.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What was written: all pieces before this number, the last of so many bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteProgress {
    pub(crate) pieces: u64,
    pub(crate) bytes: u64,
}

/// Makes be on the disk what is told to be written, as soon as it is `batch` bytes, until nothing more is told. The last
/// of it is left to who called.
pub(crate) fn sync(
    told: &Receiver<WriteProgress>,
    batch: u64,
    part: &mut PartialFile,
    input: &InputFile,
) -> Result<(), CommandError> {
    let mut bytes = 0_u64;
    while let Ok(first) = told.recv() {
        let mut last = first;
        bytes = bytes.saturating_add(first.bytes);
        while let Ok(next) = told.try_recv() {
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
