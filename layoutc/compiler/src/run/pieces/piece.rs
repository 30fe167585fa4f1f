//! Single piece: its runs in both buffers, and the copy of its elements between them.

use super::boxes::{Values, boxes};
use super::carry::{Along, carry};
use super::cut::{Block, Cut, Unit, in_dense, in_slots};
use super::runs::Runs;
use super::terms::{Chain, Terms};

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
    chains: Vec<Part>,
}

/// Part of a chain that a piece covers.
#[derive(Debug, Clone)]
struct Part {
    /// Weight of each digit, and its stride in the concatenated runs of the layout, in units.
    digits: Vec<(i64, i64)>,
    /// First value and exclusive end of `m`, relative to the first `m` of the block.
    m: [i64; 2],
    /// Stride of `m` in the concatenated dense runs, and offset there of the first `m` of the block, in units.
    dense: [i64; 2],
    /// Offset of the first digit values of the block in the concatenated runs of the layout, in units.
    slot: i64,
}

impl Piece {
    /// Piece that consists of the given blocks, one per chain of `terms`. `unit` has the sizes of a unit.
    pub(super) fn new(terms: &Terms, blocks: &[Block], unit: Unit) -> Self {
        let elements = terms.chains.iter().zip(blocks).map(|(chain, block)| {
            [block.m[0].clamp(chain.low, chain.high), block.m[1].clamp(chain.low, chain.high)]
        });
        let elements: Vec<[i64; 2]> = elements.collect();
        let is_empty = elements.iter().any(|[low, high]| low >= high);
        let spans = terms.chains.iter().zip(&elements);
        let spans: Vec<_> = spans.map(|(chain, m)| span(chain, *m)).collect();
        let (dense_chains, dense) = in_dense(terms, &spans, unit);
        let (slot_digits, slots) = in_slots(terms, blocks, unit);
        let mut chains = Vec::new();
        for (number, (chain, block)) in terms.chains.iter().zip(blocks).enumerate() {
            let [low, high] = elements.get(number).copied().unwrap_or_default();
            let level = dense_chains.iter().position(|own| *own == number);
            let step = level.and_then(|level| dense.steps.get(level)).copied().unwrap_or(0);
            let start = if chain.dense < 0 { high - 1 } else { low };
            let step = step * chain.dense.signum();
            let mut part = Part {
                digits: Vec::new(),
                m: [low - block.m[0], high - block.m[0]],
                dense: [step, (block.m[0] - start) * step],
                slot: 0,
            };
            for (k, digit) in chain.digits.iter().enumerate() {
                let level = slot_digits.iter().position(|own| *own == (number, k));
                let step = level.and_then(|level| slots.steps.get(level)).copied().unwrap_or(0);
                let step = step * digit.stride.signum();
                if step < 0 {
                    let values = block.digits.get(k).map_or(1, |[first, end]| end - first);
                    part.slot -= step * (values - 1);
                }
                part.digits.push((digit.weight, step));
            }
            chains.push(part);
        }
        let dense = if is_empty { Runs::default() } else { dense.runs };
        let is_full = dense.units() == slots.runs.units();
        Self { dense, slots: slots.runs, gaps: slots.gaps, is_full, chains }
    }

    /// Copies every element from `dense` to its position in `slots`. Each buffer holds the concatenated runs of the
    /// piece; `bytes` is the size of a unit. `None` if a buffer is too short.
    pub(super) fn pack(&self, dense: &[u8], slots: &mut [u8], bytes: i64) -> Option<()> {
        self.boxes(bytes, &mut |digits, [dense_at, slot_at]| {
            carry(dense, slots, digits, [dense_at, slot_at], bytes)
        })
    }

    /// Copies every element from `slots` to its position in `dense`, the inverse of [`Piece::pack`].
    pub(super) fn unpack(&self, slots: &[u8], dense: &mut [u8], bytes: i64) -> Option<()> {
        self.boxes(bytes, &mut |digits, [dense_at, slot_at]| {
            let turned = |a: Along| Along { from: a.to, to: a.from, ..a };
            let digits = digits.into_iter().map(turned).collect();
            carry(slots, dense, digits, [slot_at, dense_at], bytes)
        })
    }

    /// Calls `one` for every box of elements, with its digits (source strides are those of the dense side) and the
    /// offsets of its first element in the dense runs and in the runs of the layout, in bytes.
    fn boxes(
        &self,
        bytes: i64,
        one: &mut dyn FnMut(Vec<Along>, [i64; 2]) -> Option<()>,
    ) -> Option<()> {
        if self.dense.units() == 0 {
            return Some(());
        }
        let all: Vec<Vec<Vec<Values>>> = self.chains.iter().map(Part::boxes).collect();
        let mut chosen = vec![0_usize; all.len()];
        loop {
            let mut digits = Vec::new();
            let mut start = [0, 0];
            for ((part, boxes), chosen) in self.chains.iter().zip(&all).zip(&chosen) {
                start = [start[0] + part.dense[1], start[1] + part.slot];
                for ((weight, slot), (first, count)) in part.digits.iter().zip(boxes.get(*chosen)?)
                {
                    let dense = part.dense[0] * weight;
                    start = [start[0] + dense * first, start[1] + slot * first];
                    digits.push(Along { count: *count, from: dense * bytes, to: slot * bytes });
                }
            }
            one(digits, start.map(|at| at * bytes))?;
            let mut is_over = true;
            for (chosen, boxes) in chosen.iter_mut().zip(&all).rev() {
                *chosen += 1;
                if *chosen < boxes.len() {
                    is_over = false;
                    break;
                }
                *chosen = 0;
            }
            if is_over {
                return Some(());
            }
        }
    }
}

impl Part {
    /// Boxes of digit values that cover the elements, relative to the first digit values of the block.
    fn boxes(&self) -> Vec<Vec<Values>> {
        let weights: Vec<i64> = self.digits.iter().map(|(weight, _)| *weight).collect();
        boxes(&weights, self.m)
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
pub(super) fn blocks(terms: &Terms, cuts: &[Cut], numbers: &[i64]) -> Vec<Block> {
    let chains = terms.chains.iter().zip(cuts).zip(numbers);
    chains.map(|((chain, cut), number)| cut.block(chain, *number)).collect()
}
