//! Choice of the partition into pieces: the digit values of each chain that a piece covers, and the cost model.
//!
//! Each piece is a box of the logical tensor: for each chain, an interval of its number `m` (see [`Chain`]) that is
//! aligned to a digit. Longer runs in one buffer may mean shorter runs in the other, and a system call costs as much as
//! `CPU.system_call_bytes` bytes.

use super::super::chains::{Chain, Chains};
use super::runs::{Level, Place, Whole, place};

use crate::machine::CPU;

/// Largest cost relative to the cheapest cut, as a fraction. Among the cuts within this limit, the one whose pieces
/// take the least buffer memory is taken, because small pieces stay in the caches.
const MORE: [i128; 2] = [103, 100];

/// Partition of a chain into blocks. A block has up to `count` consecutive values of one digit, all values of the less
/// significant digits, and one value of each more significant digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// Position of the digit in [`Chain::digits`], most significant first.
    pub(super) digit: usize,
    pub(super) count: i64,
}

/// Block of a chain: the digit values that one piece covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// First value and exclusive end of each digit.
    pub(super) digits: Vec<[i64; 2]>,
    /// First value and exclusive end of `m`.
    pub(super) m: [i64; 2],
}

impl Cut {
    /// Smallest cut with at least `wanted` values of `m` in a full block; the whole chain if it has fewer.
    fn of(chain: &Chain, wanted: i64) -> Self {
        let fits = chain.digits.iter().enumerate().rev().find_map(|(digit, of)| {
            let count = wanted.checked_add(of.weight - 1)?.checked_div(of.weight)?;
            (count <= of.extent).then_some(Self { digit, count })
        });
        fits.unwrap_or(Self { digit: 0, count: chain.digits.first().map_or(1, |d| d.extent) })
    }

    /// Number of blocks of a chain.
    pub(super) fn blocks(self, chain: &Chain) -> i64 {
        let greater = chain.digits.iter().take(self.digit).map(|digit| digit.extent);
        greater.product::<i64>() * self.rounds(chain)
    }

    /// Number of blocks along the digit of the cut.
    fn rounds(self, chain: &Chain) -> i64 {
        chain.digits.get(self.digit).map_or(1, |d| ceil(d.extent, self.count))
    }

    /// Block `number` of a chain, counted from 0; `m` grows with the number.
    pub(super) fn block(self, chain: &Chain, number: i64) -> Block {
        let rounds = self.rounds(chain);
        let (mut outer, round) = (number.div_euclid(rounds), number.rem_euclid(rounds));
        let mut digits = vec![[0, 1]; chain.digits.len()];
        let mut first = 0;
        for (k, (of, values)) in chain.digits.iter().zip(&mut digits).enumerate().rev() {
            *values = match k.cmp(&self.digit) {
                std::cmp::Ordering::Greater => [0, of.extent],
                std::cmp::Ordering::Equal => {
                    let start = round * self.count;
                    [start, (start + self.count).min(of.extent)]
                }
                std::cmp::Ordering::Less => {
                    let value = outer.rem_euclid(of.extent);
                    outer = outer.div_euclid(of.extent);
                    [value, value + 1]
                }
            };
            first += of.weight * values[0];
        }
        let own = chain.digits.get(self.digit).zip(digits.get(self.digit));
        let length = own.map_or(1, |(of, [start, end])| of.weight * (end - start));
        Block { digits, m: [first, first + length] }
    }
}

/// Sizes of a unit, the group of elements that [`super::Pieces`] counts offsets in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    /// Size in the layout's file and in memory, in bytes.
    pub(super) own: i64,
    /// Size in the dense file, in bytes.
    pub(super) dense: i64,
    /// Buffer memory for a unit of the dense side, in bytes: two buffers of the file's contents, plus the conversion
    /// buffers.
    pub(super) dense_held: i64,
}

/// Memory and cost of a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Price {
    /// Buffer memory, in bytes.
    memory: i128,
    /// Bytes read and written, plus `CPU.system_call_bytes` for each call.
    cost: i128,
}

/// Cuts, one per chain, whose pieces take at most `memory` bytes. Of the cuts that [`with_runs`] finds for powers of
/// two, they are those with the smallest memory among those with nearly the least cost ([`MORE`]). The finest cuts if
/// none fit.
pub(super) fn choose(all: &Chains, unit: Unit, memory: i128) -> Vec<Cut> {
    let mut found: Vec<(Price, Vec<Cut>)> = Vec::new();
    let bits = |units: i64| i64::BITS - units.leading_zeros();
    for dense in 0..=bits(all.dense) {
        for slots in 0..=bits(all.slots) {
            let cuts = with_runs(all, [1 << dense, 1 << slots]);
            if found.last().is_some_and(|(_, last)| *last == cuts) {
                break;
            }
            let price = price(all, &cuts, unit);
            if price.memory <= memory {
                found.push((price, cuts));
            }
        }
    }
    let least = found.iter().map(|(price, _)| price.cost).min().unwrap_or(0);
    let is_cheap = |price: &Price| price.cost * MORE[1] <= least * MORE[0];
    let cheap = found.into_iter().filter(|(price, _)| is_cheap(price));
    let best = cheap.min_by_key(|(price, _)| (price.memory, price.cost));
    best.map_or_else(|| with_runs(all, [1, 1]), |(_, cuts)| cuts)
}

/// Cuts, one per chain, for pieces whose runs have at least `dense` units in the dense buffer and `slots` units in the
/// layout, as far as the tensor permits.
fn with_runs(all: &Chains, [dense, slots]: [i64; 2]) -> Vec<Cut> {
    let mut wanted = vec![1_i64; all.chains.len()];
    let mut want = |chain: usize, values: i64| {
        if let Some(wanted) = wanted.get_mut(chain) {
            *wanted = values.max(*wanted);
        }
    };
    let mut chains: Vec<usize> = (0..all.chains.len()).collect();
    let of = |chain: &usize| all.chains.get(*chain);
    chains.sort_by_key(|chain| of(chain).map_or(0, |chain| chain.dense.abs()));
    let mut run = 1;
    for chain in chains {
        let Some(count) = of(&chain).map(|chain| chain.high - chain.low) else { continue };
        let needed = ceil(dense, run);
        // The digits may have values beyond both ends of the elements; `i64::MAX` requests all of them.
        want(chain, if needed < count { needed } else { i64::MAX });
        if needed <= count {
            break;
        }
        run = run.saturating_mul(count);
    }
    for (chain, _, digit) in all.by_stride() {
        let needed = ceil(slots, digit.stride.abs());
        want(chain, digit.weight.saturating_mul(needed.clamp(1, digit.extent)));
        if needed <= digit.extent {
            break;
        }
    }
    all.chains.iter().zip(wanted).map(|(chain, wanted)| Cut::of(chain, wanted)).collect()
}

fn price(all: &Chains, cuts: &[Cut], unit: Unit) -> Price {
    let chains = || all.chains.iter().zip(cuts);
    let pieces: i128 = chains().map(|(chain, cut)| i128::from(cut.blocks(chain))).product();
    let blocks: Vec<Block> = chains().map(|(chain, cut)| cut.block(chain, 0)).collect();
    let spans = chains().zip(&blocks).map(|((chain, _), block)| {
        let count = chain.high - chain.low;
        (count, [0, (block.m[1] - block.m[0]).min(count)])
    });
    let spans: Vec<_> = spans.collect();
    let dense = in_dense(all, &spans, unit).1;
    let slots = in_slots(all, &blocks, unit).1;
    let most = |place: &Place| i128::from(place.runs.length() + place.more) * count(place);
    let calls = (count(&dense) + count(&slots)) * pieces;
    let bytes = units(&dense) * i128::from(unit.dense) + units(&slots) * i128::from(unit.own);
    Price {
        // Double buffering: one buffer of each side is filled while the other one is written.
        memory: most(&dense) * i128::from(unit.dense_held)
            + most(&slots) * i128::from(2 * unit.own),
        cost: bytes * pieces + calls * CPU.system_call_bytes,
    }
}

fn count(place: &Place) -> i128 {
    i128::from(place.runs.count())
}

fn units(place: &Place) -> i128 {
    i128::from(place.runs.length()) * count(place)
}

/// Pair of the chains with more than one element, fastest first, and the placement of a box in the dense buffer, which
/// has one level for each of them. `spans` holds for each chain the number of its elements, and the first one and
/// exclusive end of those in the box, in memory order.
pub(super) fn in_dense(all: &Chains, spans: &[(i64, [i64; 2])], unit: Unit) -> (Vec<usize>, Place) {
    let mut chains: Vec<usize> = (0..all.chains.len()).collect();
    let stride = |chain: usize| all.chains.get(chain).map_or(0, |chain| chain.dense.abs());
    // The stride of a chain with one element is irrelevant.
    chains.retain(|chain| spans.get(*chain).is_some_and(|(extent, _)| *extent > 1));
    chains.sort_by_key(|chain| stride(*chain));
    let level = |chain: &usize| {
        let (extent, [first, end]) = *spans.get(*chain)?;
        Some(Level { stride: stride(*chain), extent, first, end })
    };
    let levels: Vec<Level> = chains.iter().filter_map(level).collect();
    let narrow = CPU.gap_bytes.checked_div(unit.dense).unwrap_or(0);
    (chains, place(&levels, Whole { first: 0, units: all.dense, narrow }))
}

/// Pair of the levels, each as (chain, position of the digit in the chain), fastest first, and the placement of a box
/// in the buffer of the layout. `blocks` are the blocks of the box, one per chain.
pub(super) fn in_slots(all: &Chains, blocks: &[Block], unit: Unit) -> (Vec<(usize, usize)>, Place) {
    let (mut digits, mut levels) = (Vec::new(), Vec::new());
    for (chain, k, digit) in all.by_stride() {
        let values = blocks.get(chain).and_then(|block| block.digits.get(k));
        let Some([first, end]) = values.copied() else { continue };
        let extent = digit.extent;
        let (first, end) =
            if digit.stride < 0 { (extent - end, extent - first) } else { (first, end) };
        digits.push((chain, k));
        levels.push(Level { stride: digit.stride.abs(), extent, first, end });
    }
    let narrow = CPU.gap_bytes.checked_div(unit.own).unwrap_or(0);
    (digits, place(&levels, Whole { first: all.first(), units: all.slots, narrow }))
}

fn ceil(a: i64, b: i64) -> i64 {
    let b = b.max(1);
    a.div_euclid(b) + i64::from(a.rem_euclid(b) > 0)
}
