//! Conversion of tensors larger than memory, in chunks. The output is written to `<output>.part`, which is
//! renamed when it is complete.

mod codec;
mod input;
pub(crate) mod memory;
mod part_file;
mod piece_pipeline;
mod windows;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, ScopedJoinHandle};

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::pack::PackError;
use layoutc_compiler::pack::pieces::{DenseFile, Direction, InPieces, Recast, padding};

use super::tensor_file::{SymbolValues, relayout_error};
use crate::command_error::CommandError;
use crate::console::Console;
use crate::interrupt::{self, WriteGuard};
use crate::progress::{Progress, ProgressTask, ProgressUnit};

pub(crate) use codec::{ElementCodec, UnpackedBits, dense_bits};
pub(crate) use input::InputFile;
pub(crate) use part_file::part_path;

use codec::CodecError;
use part_file::PartFile;

/// Maximum memory for chunks in bytes; a conversion with larger chunks is not faster.
const PIECES: usize = 256 << 20;
/// Maximum number of bytes of padding that one call writes; a longer fill pattern is written in one call.
const FILL: usize = 64 << 10;

/// Conversion of one tensor from an input file to an output file.
#[derive(Debug)]
pub(crate) struct RelayoutJob<'a> {
    pub(crate) tensor: &'a Tensor,
    pub(crate) values: &'a SymbolValues,
    pub(crate) direction: Direction,
    pub(crate) input: InputFile,
    /// Path of the output as the user gave it.
    pub(crate) output: &'a Path,
    /// Path of the output with links resolved.
    pub(crate) place: PathBuf,
    /// Header of the output file, which precedes the elements; empty for raw bytes.
    pub(crate) header: Vec<u8>,
    /// Pair of the sizes in bytes of all elements in the input and in the output, without headers.
    pub(crate) bytes: [u64; 2],
    /// Order (C or Fortran) of the elements in the dense file, and their width in bits.
    pub(crate) file: DenseFile,
    pub(crate) codec: ElementCodec,
    /// Bytes of the pattern that is repeated over the padding of the output, or of a window that is unpacked; `None`
    /// for zeros.
    pub(crate) padding: Option<Vec<u8>>,
    /// Maximum memory for the chunk buffers of the conversion, in bytes.
    pub(crate) memory: usize,
}

/// Record of the written chunks: `count` is their number, for the progress display, and `bytes` sends the size of each
/// chunk to the thread that syncs the output to disk.
struct WrittenChunks<'a> {
    count: &'a AtomicU64,
    bytes: Sender<u64>,
}

impl WrittenChunks<'_> {
    /// Counts a written chunk of `bytes` bytes. Returns false if the syncing thread has ended, as after an error.
    fn add(&self, bytes: u64) -> bool {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.send(bytes).is_ok()
    }
}

impl RelayoutJob<'_> {
    /// Converts the tensor, and renames the complete output to `place`. Returns the number of chunks. On an error, a
    /// file at `place` is unchanged.
    pub(crate) fn run(mut self, console: &Console) -> Result<u64, CommandError> {
        let unmoved = |error: PackError| relayout_error(self.tensor, &error);
        self.codec.recast = Recast::of(self.tensor, self.direction).map_err(unmoved)?;
        self.padding = padding(self.tensor, self.direction).map_err(unmoved)?;
        self.memory = self.memory.min(PIECES);
        let how = (self.direction, self.file);
        let pieces = InPieces::new(self.tensor, self.values, how, self.memory).map_err(unmoved)?;
        let bytes = self.header.len() as u64 + self.bytes[1];
        interrupt::install()?;
        let _writing = WriteGuard::begin();
        let part = PartFile::create(&self.place, self.output, &self.header, bytes)?;
        self.all(&pieces, &part, console)?;
        self.input.check_unchanged()?;
        part.finish()?;
        Ok(self.count(&pieces))
    }

    fn count(&self, pieces: &InPieces) -> u64 {
        match pieces {
            InPieces::Boxes(pieces) => pieces.count(),
            InPieces::Windows(windows) => windows::count(self, windows),
        }
    }

    /// Converts all chunks. Meanwhile, other threads display the progress and sync the output to disk.
    fn all(
        &self,
        pieces: &InPieces,
        part: &PartFile<'_>,
        console: &Console,
    ) -> Result<(), CommandError> {
        let (all, count, done) = (self.bytes[1], self.count(pieces), AtomicU64::new(0));
        let progress = || {
            let share = u128::from(all) * u128::from(done.load(Ordering::Relaxed));
            let bytes = share.checked_div(u128::from(count)).unwrap_or(0);
            (u64::try_from(bytes).unwrap_or(all), all)
        };
        let doing = match self.direction {
            Direction::Pack => "packing",
            Direction::Unpack => "unpacking",
        };
        let work = ProgressTask { doing, unit: ProgressUnit::Bytes, progress: &progress };
        let (bytes, written) = channel();
        let chunks = WrittenChunks { count: &done, bytes };
        thread::scope(|scope| {
            let _progress = Progress::show(scope, work, console);
            let syncs = scope.spawn(move || self.sync(part, &written));
            let moved = match pieces {
                InPieces::Boxes(pieces) => piece_pipeline::run(self, pieces, part, chunks),
                InPieces::Windows(windows) => {
                    let moved = windows::run(self, windows, part, &chunks);
                    // The syncing thread ends with the last sender.
                    drop(chunks);
                    moved
                }
            };
            join_thread(syncs).and(moved)
        })
    }

    /// Syncs the output to disk each time that as many bytes as the memory limit are written, so that little is left to
    /// sync at the end. `written` delivers the size in bytes of each written chunk. Returns after all senders of
    /// `written` are dropped, or on an error.
    fn sync(&self, part: &PartFile<'_>, written: &Receiver<u64>) -> Result<(), CommandError> {
        let mut bytes = 0_u64;
        while let Ok(first) = written.recv() {
            bytes = written.try_iter().fold(bytes.saturating_add(first), u64::saturating_add);
            if bytes >= self.memory as u64 {
                let synced = part.file.sync_data();
                synced.map_err(|error| CommandError::io("write", &part.path, &error))?;
                bytes = 0;
            }
        }
        Ok(())
    }

    fn relayout_error(&self, error: &PackError) -> CommandError {
        relayout_error(self.tensor, error)
    }

    /// Command error for a failed conversion of a chunk. For [`CodecError::Value`], `element` converts the offset in
    /// the chunk to the index of the element in the dense file, which the message contains.
    fn refused(&self, error: &CodecError, element: impl FnOnce(usize) -> u64) -> CommandError {
        match error {
            CodecError::Run(error) => self.relayout_error(error),
            CodecError::Value { at, byte, dtype } => {
                let kind = self.codec.unpacked_bits.map_or('u', |spread| spread.kind);
                super::tensor_file::invalid_value_error(
                    &self.input.name(),
                    (element(*at), *byte),
                    kind,
                    *dtype,
                )
            }
        }
    }

    /// Fills `bytes` bytes of the file `output`, from byte offset `at` of its elements on, with copies of the pattern
    /// `padding`. `room` is a buffer that is reused between calls.
    fn fill(
        &self,
        output: &File,
        padding: &[u8],
        (at, bytes): (u64, usize),
        room: &mut Vec<u8>,
    ) -> io::Result<()> {
        let some = (FILL - FILL.checked_rem(padding.len()).unwrap_or(0)).max(padding.len());
        room.resize(some.min(bytes), 0);
        repeat(Some(padding), room);
        let mut done = 0;
        while done < bytes {
            let some = room.len().min(bytes - done);
            let part = room.get(..some).unwrap_or_default();
            output.write_all_at(part, self.header.len() as u64 + at + done as u64)?;
            done += some;
        }
        Ok(())
    }
}

/// Fills `bytes` with copies of `pattern`, the last one possibly in part, or with zeros if it is `None`.
fn repeat(pattern: Option<&[u8]>, bytes: &mut [u8]) {
    match pattern {
        None => bytes.fill(0),
        Some([byte]) => bytes.fill(*byte),
        Some(pattern) => {
            for part in bytes.chunks_mut(pattern.len().max(1)) {
                let length = part.len();
                part.copy_from_slice(pattern.get(..length).unwrap_or_default());
            }
        }
    }
}

/// Waits for a thread and returns its result, or an error if it panicked.
fn join_thread(thread: ScopedJoinHandle<'_, Result<(), CommandError>>) -> Result<(), CommandError> {
    thread.join().unwrap_or_else(|_| {
        let message = "a worker thread panicked".to_owned();
        Err(CommandError::Machine(Box::new(Diagnostic::without_span(Code::OutputIo, message))))
    })
}
