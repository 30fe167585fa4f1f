//! Single piece: its runs in both buffers, and the region of the tensor that they hold.

use super::super::chains::{Chain, Chains};
use super::super::nest::copy;
use super::super::region::{Region, RegionChain, share, task_count};
use super::Direction;
use super::cut::{Block, Cut, Unit, in_dense, in_slots};
use super::runs::Runs;

/// Piece of a tensor.
#[derive(Debug, Clone)]
pub struct Piece {
    /// Runs of the dense buffer; empty if the piece has only padding.
    pub dense: Runs,
    /// Runs of the buffer of the layout.
    pub slots: Runs,
    /// Padding in the buffer of the layout, outside `slots`, that this piece fills.
    pub gaps: Vec<Runs>,
    /// True if `slots` contains elements only, no padding.
    pub is_full: bool,
    /// Elements of the piece, with the strides of the concatenated runs.
    region: Region,
}

impl Piece {
    /// Piece that consists of the given blocks, one per chain of `all`. `unit` has the sizes of a unit.
    pub(super) fn new(all: &Chains, blocks: &[Block], unit: Unit) -> Self {
        let elements = all.chains.iter().zip(blocks).map(|(chain, block)| {
            [block.m[0].clamp(chain.low, chain.high), block.m[1].clamp(chain.low, chain.high)]
        });
        let elements: Vec<[i64; 2]> = elements.collect();
        let is_empty = elements.iter().any(|[low, high]| low >= high);
        let spans = all.chains.iter().zip(&elements);
        let spans: Vec<_> = spans.map(|(chain, m)| span(chain, *m)).collect();
        let (dense_chains, dense) = in_dense(all, &spans, unit);
        let (slot_digits, slots) = in_slots(all, blocks, unit);
        let mut region = Region { chains: Vec::new(), origin: [0, 0] };
        for (number, (chain, block)) in all.chains.iter().zip(blocks).enumerate() {
            let [low, high] = elements.get(number).copied().unwrap_or_default();
            let level = dense_chains.iter().position(|own| *own == number);
            let step = level.and_then(|level| dense.steps.get(level)).copied().unwrap_or(0);
            let step = step * chain.dense.signum();
            region.origin[0] -= step * if step < 0 { high - 1 } else { low };
            let mut digits = chain.digits.clone();
            for (k, (digit, [first, end])) in digits.iter_mut().zip(&block.digits).enumerate() {
                let level = slot_digits.iter().position(|own| *own == (number, k));
                let step = level.and_then(|level| slots.steps.get(level)).copied().unwrap_or(0);
                digit.stride = step * digit.stride.signum();
                region.origin[1] -= digit.stride * if digit.stride < 0 { end - 1 } else { *first };
            }
            let (m, values) = ([low, high], block.digits.clone());
            region.chains.push(RegionChain { m, dense: step, digits, values });
        }
        let dense = if is_empty { Runs::default() } else { dense.runs };
        let is_full = dense.units() == slots.runs.units();
        Self { dense, slots: slots.runs, gaps: slots.gaps, is_full, region }
    }

    /// Copies every element of the piece from `source` to its position in `target`. Each buffer holds the concatenated
    /// runs of the piece; `bytes` is the size of a unit. `None` if a buffer is too short.
    pub(super) fn copy(
        &self,
        direction: Direction,
        (source, target): (&[u8], &mut [u8]),
        bytes: i64,
    ) -> Option<()> {
        if self.dense.units() == 0 {
            return Some(());
        }
        let unit_bytes = |unit: i64| usize::try_from(unit.checked_mul(bytes)?).ok();
        let several = (direction, task_count(target.len()));
        share(&self.region, several, (unit_bytes, 1), target, |task, window| {
            task.region.inside(&mut |found| {
                let (loops, [from, to]) = found.directed(direction, bytes);
                copy(source, window, (loops, [from, to - task.start * bytes]), bytes)
            })
        })
    }
}

/// Number of elements of a chain, and the range of those with `low <= m < high` among them, in the order of the dense
/// buffer.
fn span(chain: &Chain, [low, high]: [i64; 2]) -> (i64, [i64; 2]) {
    let own = if chain.dense < 0 {
        [chain.high - high, chain.high - low]
    } else {
        [low - chain.low, high - chain.low]
    };
    (chain.high - chain.low, own)
}

/// Blocks of a piece, given the number of the block of each chain.
pub(super) fn blocks(all: &Chains, cuts: &[Cut], numbers: &[i64]) -> Vec<Block> {
    let chains = all.chains.iter().zip(cuts).zip(numbers);
    chains.map(|((chain, cut), number)| cut.block(chain, *number)).collect()
}
