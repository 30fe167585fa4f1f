//! Conversion of a tensor whose offset is evaluated for every single element. A chunk is a window of consecutive
//! elements of the dense array.
//!
//! Packing scatters the elements of a window over the output. Therefore the whole output is filled with the pattern of
//! the padding first, in separate chunks, unless that pattern is zeros.

use std::io;
use std::os::unix::fs::FileExt;

use layoutc_compiler::pack::PackError;
use layoutc_compiler::pack::pieces::{Direction, Span, WindowSlot, Windows};

use super::part_file::PartFile;
use super::{RelayoutJob, WrittenChunks, repeat};
use crate::array::tensor_file::packing;
use crate::command_error::CommandError;
use crate::interrupt;

/// Maximum number of bytes that a chunk of padding fills, unless the fill pattern is longer.
const FILLED: u64 = 15 << 20;

/// Number of bytes that a chunk of padding fills, except the last one: a multiple of the length of the fill pattern, so
/// that each chunk starts with the pattern.
fn chunk_bytes(job: &RelayoutJob<'_>) -> u64 {
    let pattern = job.padding.as_ref().map_or(1, |pattern| pattern.len().max(1)) as u64;
    (FILLED - FILLED % pattern).max(pattern)
}

/// Number of chunks of padding, 0 if no padding is written.
fn fills(job: &RelayoutJob<'_>) -> u64 {
    let is_filled = job.padding.is_some() && job.direction == Direction::Pack;
    if is_filled { job.bytes[1].div_ceil(chunk_bytes(job)) } else { 0 }
}

/// Total number of chunks of a conversion: the chunks of padding, and one chunk per window.
pub(super) fn count(job: &RelayoutJob<'_>, windows: &Windows) -> u64 {
    fills(job) + windows.count() as u64
}

/// Converts all chunks of the tensor: first the chunks of padding, then the windows in dense order.
pub(super) fn run(
    job: &RelayoutJob<'_>,
    windows: &Windows,
    part: &PartFile<'_>,
    chunks: &WrittenChunks<'_>,
) -> Result<(), CommandError> {
    WindowedRelayout { job, windows, part }.all(chunks)
}

struct WindowedRelayout<'a> {
    job: &'a RelayoutJob<'a>,
    windows: &'a Windows,
    part: &'a PartFile<'a>,
}

/// Reused buffers for the elements of a window.
#[derive(Default)]
struct WindowBuffer {
    slots: Vec<WindowSlot>,
    /// Elements of the window in the format of the dense file.
    outer: Vec<u8>,
    /// Elements of the window in the format of memory. Empty if both formats are equal, so that `outer` is used for
    /// both.
    own: Vec<u8>,
    span: Vec<u8>,
}

impl WindowedRelayout<'_> {
    fn all(&self, chunks: &WrittenChunks<'_>) -> Result<(), CommandError> {
        let fills = fills(self.job);
        let mut room = WindowBuffer::default();
        for number in 0..count(self.job, self.windows) {
            interrupt::check()?;
            let bytes = match number.checked_sub(fills) {
                None => self.fill(number, &mut room.span)?,
                Some(window) => self.window(usize::try_from(window).unwrap_or(0), &mut room)?,
            };
            if !chunks.add(bytes) {
                break;
            }
        }
        Ok(())
    }

    fn fault(&self, error: &io::Error) -> CommandError {
        CommandError::io("write", &self.part.path, error)
    }

    fn outside(&self) -> CommandError {
        self.job.relayout_error(&PackError::Outside)
    }

    /// Fills chunk `number`, from 0, of the output with the pattern of the padding; returns its size in bytes. `room`
    /// is a buffer that is reused between calls.
    fn fill(&self, number: u64, room: &mut Vec<u8>) -> Result<u64, CommandError> {
        let chunk = chunk_bytes(self.job);
        let first = number * chunk;
        let bytes = (self.job.bytes[1] - first).min(chunk);
        let run = (first, usize::try_from(bytes).unwrap_or(0));
        let padding = self.job.padding.as_deref().unwrap_or(&[0]);
        let filled = self.job.fill(&self.part.file, padding, run, room);
        filled.map_err(|error| self.fault(&error))?;
        Ok(bytes)
    }

    /// Converts the elements of window `window`, numbered from 0 in dense order; returns their size in the dense file
    /// in bytes. `room` holds buffers that are reused between calls.
    fn window(&self, window: usize, room: &mut WindowBuffer) -> Result<u64, CommandError> {
        let (job, windows) = (self.job, self.windows);
        let first = window * windows.window;
        let elements = windows.window.min(windows.elements - first);
        let bytes = |bits: u32, elements: usize| {
            let bits = usize::try_from(bits).unwrap_or(8);
            elements.saturating_mul(bits).div_ceil(8)
        };
        let file_bits = job.file.element_bits;
        let at = bytes(file_bits, first) as u64;
        windows.slots(window, &mut room.slots);
        room.outer.resize(bytes(file_bits, elements), 0);
        room.own.clear();
        if !job.codec.is_plain() {
            room.own.resize(bytes(job.tensor.dtype.element_bits(), elements), 0);
        }
        let written = room.outer.len() as u64;
        if job.direction == Direction::Pack {
            job.input.read(at, &mut room.outer)?;
            job.codec.swap_bytes(&mut room.outer);
            if !job.codec.is_plain() {
                let element = |at: usize| (first + at) as u64;
                let decoded = job.codec.decode(&room.outer, &mut room.own);
                decoded.map_err(|error| job.refused(&error, element))?;
            }
            self.scatter(room)?;
        } else {
            self.fill_outside(room, elements);
            self.gather(room)?;
            if !job.codec.is_plain() {
                let encoded = job.codec.encode((&room.own, elements), &mut room.outer);
                encoded.map_err(|error| job.refused(&error, |at| at as u64))?;
            }
            let written = self.part.file.write_all_at(&room.outer, job.header.len() as u64 + at);
            written.map_err(|error| self.fault(&error))?;
        }
        Ok(written)
    }

    /// Fills the buffer that [`Self::gather`] writes to, of `elements` elements, with the pattern of indices outside
    /// the domain.
    fn fill_outside(&self, room: &mut WindowBuffer, elements: usize) {
        let is_plain = self.job.codec.is_plain();
        let bytes = if is_plain { &mut room.outer } else { &mut room.own };
        repeat(self.job.padding.as_deref(), bytes);
        if let Some(packing) = packing(self.job.tensor) {
            packing.clear_unused(bytes, elements);
        }
    }

    /// Writes the elements of a window to their offsets in the output.
    fn scatter(&self, room: &mut WindowBuffer) -> Result<(), CommandError> {
        let WindowBuffer { slots, outer, own, span: bytes } = room;
        let dense: &[u8] = if self.job.codec.is_plain() { outer } else { own };
        let header = self.job.header.len() as u64;
        for span in self.windows.spans(slots) {
            bytes.resize(span.bytes, 0);
            if !span.is_full {
                let read = self.part.file.read_exact_at(bytes, header + span.at);
                read.map_err(|error| self.fault(&error))?;
            }
            let moved = self.windows.pack(&span, slots, dense, bytes);
            moved.ok_or_else(|| self.outside())?;
            let written = self.part.file.write_all_at(bytes, header + span.at);
            written.map_err(|error| self.fault(&error))?;
        }
        Ok(())
    }

    /// Reads the elements of a window from their offsets in the input.
    fn gather(&self, room: &mut WindowBuffer) -> Result<(), CommandError> {
        let WindowBuffer { slots, outer, own, span: bytes } = room;
        let dense: &mut [u8] = if self.job.codec.is_plain() { outer } else { own };
        for span in self.windows.spans(slots) {
            bytes.resize(span.bytes, 0);
            self.read(&span, bytes)?;
            let moved = self.windows.unpack(&span, slots, bytes, dense);
            moved.ok_or_else(|| self.outside())?;
        }
        Ok(())
    }

    fn read(&self, span: &Span, bytes: &mut [u8]) -> Result<(), CommandError> {
        self.job.input.read(span.at, bytes)?;
        self.job.codec.swap_bytes(bytes);
        Ok(())
    }
}
