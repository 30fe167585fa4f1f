//! Conversion of a tensor in chunks that are boxes of elements. A pipeline of three threads reads the contiguous runs
//! of a chunk from the input, converts its elements, and writes its runs to the output.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use layoutc_compiler::pack::PackError;
use layoutc_compiler::pack::pieces::{Direction, Piece, Pieces, Runs};

use super::part_file::PartFile;
use super::{RelayoutJob, WrittenChunks, join_thread, repeat};
use crate::command_error::CommandError;
use crate::interrupt;

/// Number of chunk buffers for the input, and also for the output. With two, a thread fills one buffer while the next
/// thread empties the other.
const BUFFERS: usize = 2;
/// Length in bytes below which a contiguous run of the input is prefetched, as the operating system's own read-ahead
/// does not predict runs that short.
const SHORT: usize = 1 << 20;

/// Chunk in the pipeline. `piece` has the contiguous runs of the chunk in the dense file and in the file of the layout.
/// `stored` has its bytes, in the format of the input before conversion, and of the output after it.
struct PieceBuffer {
    piece: Piece,
    stored: Vec<u8>,
}

/// Channel of free chunk buffers: a thread that has emptied a buffer sends it, and a thread that fills buffers receives
/// it.
struct BufferPool {
    give: Sender<Vec<u8>>,
    take: Receiver<Vec<u8>>,
}

impl BufferPool {
    fn new() -> Self {
        let (give, take) = channel();
        for _ in 0..BUFFERS {
            drop(give.send(Vec::new()));
        }
        Self { give, take }
    }
}

/// State that the threads of the pipeline share: the conversion, the chunks and the output file.
struct PiecePipeline<'a> {
    job: &'a RelayoutJob<'a>,
    pieces: &'a Pieces,
    output: &'a File,
}

/// Converts all chunks of the tensor in a pipeline of threads.
pub(super) fn run(
    job: &RelayoutJob<'_>,
    pieces: &Pieces,
    part: &PartFile<'_>,
    chunks: WrittenChunks<'_>,
) -> Result<(), CommandError> {
    let all = &PiecePipeline { job, pieces, output: &part.file };
    let (sources, targets) = (BufferPool::new(), BufferPool::new());
    let (load, loaded) = sync_channel(1);
    let (store, stored) = sync_channel(1);
    let (source_back, target_back) = (sources.give, targets.give);
    thread::scope(|scope| {
        let reads = scope.spawn(move || all.read(&sources.take, &load));
        let moves =
            scope.spawn(move || all.relayout_pieces(&loaded, &targets.take, &source_back, &store));
        let writes = scope.spawn(move || {
            all.write(&stored, &target_back, &chunks)
                .map_err(|error| CommandError::io("write", &part.path, &error))
        });
        // An error downstream is the reason why the threads before it stopped.
        let ended = [join_thread(writes), join_thread(moves), join_thread(reads)];
        ended.into_iter().collect()
    })
}

impl PiecePipeline<'_> {
    fn sides<'p>(&self, piece: &'p Piece) -> [&'p Runs; 2] {
        match self.job.direction {
            Direction::Pack => [&piece.dense, &piece.slots],
            Direction::Unpack => [&piece.slots, &piece.dense],
        }
    }

    /// Pair of the sizes in bytes of a unit in the input and in the output. A unit is a group of `unit_elements`
    /// consecutive elements, in which [`Runs`] counts lengths.
    fn units(&self) -> [usize; 2] {
        let elements = self.pieces.unit_elements;
        let dense = usize::try_from(self.job.file.element_bits).unwrap_or(8);
        let dense = elements.saturating_mul(dense).div_ceil(8);
        let slots = self.pieces.unit_bytes();
        match self.job.direction {
            Direction::Pack => [dense, slots],
            Direction::Unpack => [slots, dense],
        }
    }

    /// Reads the runs of each chunk from the input into a buffer from `free`, and sends the chunk to `load` for
    /// conversion.
    fn read(
        &self,
        free: &Receiver<Vec<u8>>,
        load: &SyncSender<PieceBuffer>,
    ) -> Result<(), CommandError> {
        let [unit, _] = self.units();
        let mut pieces = (0..self.pieces.count()).map(|number| self.pieces.piece(number));
        let mut next = pieces.next();
        while let Some(piece) = next {
            interrupt::check()?;
            next = pieces.next();
            if let Some(next) = &next {
                self.prefetch(next, unit);
            }
            let Ok(mut stored) = free.recv() else { return Ok(()) };
            let [runs, _] = self.sides(&piece);
            stored.resize(runs.units().saturating_mul(unit), 0);
            for run in runs.each(unit) {
                let there =
                    stored.get_mut(run.held..).and_then(|stored| stored.get_mut(..run.length));
                let there = there.ok_or_else(|| self.job.relayout_error(&PackError::Outside))?;
                self.job.input.read(run.at, there)?;
            }
            self.job.codec.swap_bytes(&mut stored);
            if load.send(PieceBuffer { piece, stored }).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Tells the operating system that the runs of `piece` that are shorter than [`SHORT`] will be read soon. `unit` is
    /// the number of bytes per unit in the input.
    fn prefetch(&self, piece: &Piece, unit: usize) {
        let [runs, _] = self.sides(piece);
        for run in runs.each(unit).filter(|run| run.length < SHORT) {
            self.job.input.prefetch(run.at, run.length);
        }
    }

    /// Converts the elements of each chunk from `loaded` into a buffer from `free`. Returns the input buffer through
    /// `back`, and sends the chunk through `store` for writing.
    fn relayout_pieces(
        &self,
        loaded: &Receiver<PieceBuffer>,
        free: &Receiver<Vec<u8>>,
        back: &Sender<Vec<u8>>,
        store: &SyncSender<PieceBuffer>,
    ) -> Result<(), CommandError> {
        let mut own = Vec::new();
        for PieceBuffer { piece, stored } in loaded {
            let Ok(mut target) = free.recv() else { return Ok(()) };
            match self.job.direction {
                Direction::Pack => self.pack(&piece, &stored, &mut own, &mut target)?,
                Direction::Unpack => self.unpack(&piece, &stored, &mut own, &mut target)?,
            }
            drop(back.send(stored));
            if store.send(PieceBuffer { piece, stored: target }).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn pack(
        &self,
        piece: &Piece,
        stored: &[u8],
        own: &mut Vec<u8>,
        target: &mut Vec<u8>,
    ) -> Result<(), CommandError> {
        let (job, unit) = (self.job, self.pieces.unit_bytes());
        let dense = if job.codec.is_plain() {
            stored
        } else {
            own.resize(piece.dense.units().saturating_mul(unit), 0);
            let [file_unit, _] = self.units();
            let element = |at: usize| element(&piece.dense, (file_unit, job.file.element_bits), at);
            job.codec.decode(stored, own).map_err(|error| job.refused(&error, element))?;
            own.as_slice()
        };
        target.resize(piece.slots.units().saturating_mul(unit), 0);
        if !piece.is_full {
            repeat(job.padding.as_deref(), target);
        }
        let moved = self.pieces.run(piece, Direction::Pack, dense, target);
        moved.map_err(|error| job.relayout_error(&error))
    }

    fn unpack(
        &self,
        piece: &Piece,
        stored: &[u8],
        own: &mut Vec<u8>,
        target: &mut Vec<u8>,
    ) -> Result<(), CommandError> {
        let (job, unit) = (self.job, self.pieces.unit_bytes());
        let [_, file_unit] = self.units();
        let units = piece.dense.units();
        target.resize(units.saturating_mul(file_unit), 0);
        if job.codec.is_plain() {
            let moved = self.pieces.run(piece, Direction::Unpack, stored, target);
            return moved.map_err(|error| job.relayout_error(&error));
        }
        own.resize(units.saturating_mul(unit), 0);
        let moved = self.pieces.run(piece, Direction::Unpack, stored, own);
        moved.map_err(|error| job.relayout_error(&error))?;
        let elements = units.saturating_mul(self.pieces.unit_elements);
        let encoded = job.codec.encode((own, elements), target);
        encoded.map_err(|error| job.refused(&error, |at| at as u64))
    }

    /// Writes the runs of each chunk from `stored` to the output, and the padding that belongs to the chunk. Returns
    /// the buffers through `back`.
    fn write(
        &self,
        stored: &Receiver<PieceBuffer>,
        back: &Sender<Vec<u8>>,
        chunks: &WrittenChunks<'_>,
    ) -> std::io::Result<()> {
        let [_, unit] = self.units();
        let header = self.job.header.len() as u64;
        let mut fill = Vec::new();
        for PieceBuffer { piece, stored } in stored {
            let [_, runs] = self.sides(&piece);
            for run in runs.each(unit) {
                let bytes = stored.get(run.held..).and_then(|stored| stored.get(..run.length));
                self.output.write_all_at(bytes.unwrap_or_default(), header + run.at)?;
            }
            // Bytes of the output that are never written are 0.
            if let (Some(padding), Direction::Pack) = (&self.job.padding, self.job.direction) {
                for run in piece.gaps.iter().flat_map(|gap| gap.each(unit)) {
                    self.job.fill(self.output, padding, (run.at, run.length), &mut fill)?;
                }
            }
            let bytes = stored.len() as u64;
            drop(back.send(stored));
            if !chunks.add(bytes) {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Index in the dense file of the element at byte offset `at` of a chunk. The chunk holds the runs `runs` of the dense
/// file one after another. A unit of `runs` has `unit` bytes, and an element `bits` bits.
fn element(runs: &Runs, (unit, bits): (usize, u32), at: usize) -> u64 {
    let run = runs.each(unit).find(|run| (run.held..run.held + run.length).contains(&at));
    let byte = run.map_or(at as u64, |run| run.at + (at - run.held) as u64);
    (byte * 8).checked_div(u64::from(bits)).unwrap_or(byte)
}
