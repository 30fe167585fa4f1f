//! Conversion of tensors larger than memory: in chunks, and resumable after a kill.
//!
//! The output is written as `<output>.part`, with a journal of the chunks that are on disk, and renamed when complete.

mod codec;
mod input;
mod journal;
pub(crate) mod memory;
mod partial_file;
mod piece_pipeline;
mod piece_sync;
mod windows;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::query::abi::abi;
use layoutc_compiler::run::RunError;
use layoutc_compiler::run::pieces::{DenseFile, Direction, InPieces, Recast, padding};

use super::tensor_file::{SymbolValues, relayout_error};
use crate::command_error::CommandError;
use crate::console::{Console, write_plainly};
use crate::interrupt::{self, WriteGuard};
use crate::progress::{Progress, ProgressTask, ProgressUnit, percent};

pub(crate) use codec::{ElementCodec, UnpackedBits, dense_bits};
pub(crate) use input::InputFile;
pub(crate) use partial_file::{discard_leftover, names};

use codec::CodecError;
use journal::Provenance;
use partial_file::{PartialFile, PartialFileSpec};
use piece_sync::PieceCounter;

/// Upper bound of the memory for chunks: longer runs are no faster.
const PIECES: usize = 256 << 20;
/// Bytes of padding per write call.
const FILL: usize = 64 << 10;

/// Conversion of one tensor from file to file.
#[derive(Debug)]
pub(crate) struct RelayoutJob<'a> {
    pub(crate) tensor: &'a Tensor,
    pub(crate) values: &'a SymbolValues,
    pub(crate) direction: Direction,
    pub(crate) input: InputFile,
    /// Output path as given.
    pub(crate) output: &'a Path,
    /// Output path with links resolved.
    pub(crate) place: PathBuf,
    /// Header of the output.
    pub(crate) header: Vec<u8>,
    /// Bytes of the elements in the input and the output, without headers.
    pub(crate) bytes: [u64; 2],
    /// Element format of the dense file.
    pub(crate) file: DenseFile,
    pub(crate) codec: ElementCodec,
    /// Fill pattern of padding; `None`: 0.
    pub(crate) padding: Option<Vec<u8>>,
    /// Memory limit of the chunks.
    pub(crate) memory: usize,
    /// True to restart instead of resuming.
    pub(crate) is_fresh: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RelayoutStats {
    /// Number of chunks.
    pub(crate) pieces: u64,
    /// Number of chunks done by an earlier run.
    pub(crate) resumed: u64,
}

impl RelayoutJob<'_> {
    pub(crate) fn run(mut self, console: &Console) -> Result<RelayoutStats, CommandError> {
        let unmoved = |error: RunError| relayout_error(self.tensor, &error);
        self.codec.recast =
            Recast::of(self.tensor, self.values, self.direction).map_err(unmoved)?;
        if self.direction == Direction::Pack {
            self.padding = padding(self.tensor).map_err(unmoved)?;
        }
        let memory = self.memory.min(PIECES);
        let how = (self.direction, self.file);
        let pieces = InPieces::new(self.tensor, self.values, how, memory).map_err(unmoved)?;
        let header = self.header.len() as u64;
        let wanted = PartialFileSpec {
            origin: self.origin(&pieces)?,
            header: &self.header,
            bytes: header + self.bytes[1],
            is_fresh: self.is_fresh,
            output: self.output,
        };
        let mut part = PartialFile::open(&self.place, &wanted, |cut| {
            pieces.recut(cut, self.memory).is_some()
        })?;
        let pieces = pieces.recut(&part.cut, self.memory).unwrap_or(pieces);
        let count = self.count(&pieces);
        let first = part.done.min(count);
        self.report_resume(&part, first, count, console);
        let done = PieceCounter::from(first);
        let moved = self.all(&pieces, &mut part, (&done, count), console);
        let moved =
            moved.and_then(|()| self.input.check_unchanged()).and_then(|()| part.commit(count));
        match moved {
            Ok(()) => {
                part.finish()?;
                Ok(RelayoutStats { pieces: count, resumed: first })
            }
            Err(fault) => Err(self.early_end_error(fault, part, [done.get(), count])),
        }
    }

    /// Provenance of the partial file of this job.
    fn origin(&self, pieces: &InPieces) -> Result<Provenance, CommandError> {
        let Self { tensor, values, direction, header, bytes, file, codec, .. } = self;
        let (abi, fill, from) = (abi(tensor).text, tensor.fill, tensor.pack_from);
        let layout = format!(
            "{abi}\n{fill:?} {from:?}\n{values:?}\n{direction:?} {bytes:?} {file:?}\n{codec:?}\n{header:?}"
        );
        Ok(Provenance {
            input: self.input.hash()?,
            layout: blake3::hash(layout.as_bytes()).to_hex().to_string(),
            cut: pieces.cut(),
            part: String::new(),
        })
    }

    fn count(&self, pieces: &InPieces) -> u64 {
        match pieces {
            InPieces::Boxes(pieces) => pieces.count(),
            InPieces::Indexed(indexed) => windows::count(self, indexed),
        }
    }

    /// Bytes to write between syncs.
    fn batch(&self, pieces: u64) -> u64 {
        let piece = self.bytes[1].checked_div(pieces.max(1)).unwrap_or(0);
        (self.memory.min(PIECES) as u64).max(piece)
    }

    /// Reports resuming or restarting.
    fn report_resume(&self, part: &PartialFile, first: u64, count: u64, console: &Console) {
        if console.quiet || console.is_for_programs() {
            return;
        }
        let output = self.output.display();
        if let Some(reason) = part.restart_reason {
            write_plainly(&format!("restarting `{output}`: {reason}\n"));
        } else if first > 0 {
            let percent = percent(first, count);
            write_plainly(&format!("resuming `{output}` at {percent} %\n"));
        }
    }

    /// Converts the remaining chunks and displays the progress.
    fn all(
        &self,
        pieces: &InPieces,
        part: &mut PartialFile,
        (done, count): (&PieceCounter, u64),
        console: &Console,
    ) -> Result<(), CommandError> {
        interrupt::install()?;
        let _writing = WriteGuard::begin();
        let all = self.bytes[1];
        let progress = || {
            let share = u128::from(all) * u128::from(done.get());
            let bytes = share.checked_div(u128::from(count)).unwrap_or(0);
            (u64::try_from(bytes).unwrap_or(all), all)
        };
        let doing = match self.direction {
            Direction::Pack => "packing",
            Direction::Unpack => "unpacking",
        };
        let work = ProgressTask { doing, unit: ProgressUnit::Bytes, progress: &progress };
        thread::scope(|scope| {
            let _progress = Progress::show(scope, work, console);
            match pieces {
                InPieces::Boxes(pieces) => piece_pipeline::run(self, pieces, part, done),
                InPieces::Indexed(indexed) => windows::run(self, indexed, part, done),
            }
        })
    }

    /// Keeps the partial file if it is resumable, and adds how to resume it to the error.
    fn early_end_error(
        &self,
        fault: CommandError,
        mut part: PartialFile,
        [done, count]: [u64; 2],
    ) -> CommandError {
        let path = part.path().display().to_string();
        let help = |done| {
            let percent = percent(done, count);
            format!("`{path}` holds {percent} %; run the same command to resume")
        };
        match fault {
            CommandError::Interrupted => {
                write_plainly(&format!("interrupted: {}\n", help(done)));
                drop(part.commit(done));
                CommandError::Interrupted
            }
            // A failed sync may have lost data even if a later one succeeds.
            CommandError::Machine(diagnostic) if self.input.check_unchanged().is_ok() => {
                CommandError::Machine(Box::new(diagnostic.help(help(part.done))))
            }
            // A changed or invalid input makes the partial file useless.
            fault => {
                part.discard();
                fault
            }
        }
    }

    fn relayout_error(&self, error: &RunError) -> CommandError {
        relayout_error(self.tensor, error)
    }

    /// Error about elements; `element` maps a byte offset in the chunk to the number of an element.
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

    /// Writes padding to a range of the output.
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

/// Fills `bytes` with a repeated pattern; 0 without one.
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

/// Result of a thread; an error if it panicked.
fn join_thread(thread: ScopedJoinHandle<'_, Result<(), CommandError>>) -> Result<(), CommandError> {
    thread.join().unwrap_or_else(|_| {
        let message = "a worker thread panicked".to_owned();
        Err(CommandError::Machine(Box::new(Diagnostic::without_span(Code::OutputIo, message))))
    })
}
