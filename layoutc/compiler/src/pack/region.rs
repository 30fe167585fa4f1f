//! Part of a tensor: an interval of each chain and a range of values of each digit, with the strides of both in two
//! buffers, and its decomposition into strided boxes.

use rayon::prelude::*;

use super::Direction;
use super::boxes::{StridedBox, Values, boxes};
use super::chains::{Chain, Chains, Digit};
use super::nest::Loop;
use crate::machine::CPU;

/// Part of a tensor whose elements are moved together. Offsets are in units, those of the dense buffer first: the sum
/// over all chains of `m * dense` and `digit * stride`, plus `origin`.
#[derive(Debug, Clone)]
pub(super) struct Region {
    pub(super) chains: Vec<RegionChain>,
    /// Offsets with `m` and all digits 0, which may be outside the buffers.
    pub(super) origin: [i64; 2],
}

/// Part of a chain that a region covers.
#[derive(Debug, Clone)]
pub(super) struct RegionChain {
    /// First value and exclusive end of `m`.
    pub(super) m: [i64; 2],
    /// Stride of `m` in the dense buffer.
    pub(super) dense: i64,
    /// Digits, most significant first, with their strides in the buffer of the layout.
    pub(super) digits: Vec<Digit>,
    /// First value and exclusive end of each digit.
    pub(super) values: Vec<[i64; 2]>,
}

/// Digit or chain of a region as one of the nested strides of a buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    chain: usize,
    /// Position of the digit in the chain; `None` for `m`.
    digit: Option<usize>,
    is_reversed: bool,
    /// Absolute value of the stride.
    pub(super) stride: i64,
    pub(super) extent: i64,
    /// First value and exclusive end, in memory order.
    pub(super) values: [i64; 2],
}

/// Part of a region that writes a window of its own of the destination, which starts at offset `start`.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) start: i64,
    pub(super) region: Region,
}

impl RegionChain {
    fn whole(chain: &Chain) -> Self {
        Self {
            m: [chain.low, chain.high],
            dense: chain.dense,
            digits: chain.digits.clone(),
            values: chain.digits.iter().map(|digit| [0, digit.extent]).collect(),
        }
    }

    /// Boxes that cover the values of the digits with `m` in `interval`.
    fn boxes(&self, interval: [i64; 2]) -> Vec<StridedBox> {
        let weights: Vec<i64> = self.digits.iter().map(|digit| digit.weight).collect();
        let all = boxes(&weights, interval);
        all.into_iter().filter_map(|values| self.restricted(&values)).collect()
    }

    /// Box with the values of each digit that are in `values` and in the region; `None` if a digit has none.
    fn restricted(&self, values: &[Values]) -> Option<StridedBox> {
        let mut found = StridedBox::default();
        for ((digit, (first, count)), own) in self.digits.iter().zip(values).zip(&self.values) {
            let (start, end) = ((*first).max(own[0]), (first + count).min(own[1]));
            if start >= end {
                return None;
            }
            let (from, to) = (self.dense * digit.weight, digit.stride);
            found.start = [found.start[0] + from * start, found.start[1] + to * start];
            found.loops.push(Loop { count: end - start, from, to });
        }
        // An element of a chain without digits is at its `m`.
        if self.digits.is_empty() {
            found.start[0] = self.dense * self.m[0];
        }
        Some(found)
    }

    /// Exclusive end of the values of `m` that the digits count.
    fn total(&self) -> i64 {
        self.digits.first().map_or(1, |digit| digit.weight * digit.extent)
    }
}

impl Region {
    /// Region of all elements of a tensor, with the strides of the whole buffers.
    pub(super) fn whole(chains: &Chains) -> Self {
        let first = |chain: &Chain| {
            let start = if chain.dense < 0 { chain.high - 1 } else { chain.low };
            -start * chain.dense
        };
        let dense = chains.chains.iter().map(first).sum();
        let parts = chains.chains.iter().map(RegionChain::whole).collect();
        Self { chains: parts, origin: [dense, chains.zero] }
    }

    /// Calls `one` for every box of elements of the region.
    pub(super) fn inside(&self, one: &mut dyn FnMut(&StridedBox) -> Option<()>) -> Option<()> {
        let all: Vec<Vec<StridedBox>> =
            self.chains.iter().map(|chain| chain.boxes(chain.m)).collect();
        self.products(&all, one)
    }

    /// Calls `one` for every box of digit values of the region without an element. The boxes are disjoint.
    pub(super) fn outside(&self, one: &mut dyn FnMut(&StridedBox)) {
        let mut all: Vec<Vec<StridedBox>> =
            self.chains.iter().map(|chain| chain.boxes([0, chain.total()])).collect();
        for (number, chain) in self.chains.iter().enumerate() {
            let [low, high] = chain.m;
            let mut beyond = chain.boxes([0, low]);
            beyond.extend(chain.boxes([high, chain.total()]));
            if let (Some(own), false) = (all.get_mut(number), beyond.is_empty()) {
                *own = beyond;
                let _: Option<()> = self.products(&all, &mut |found| {
                    one(found);
                    Some(())
                });
            }
            // Boxes of the next chains have elements along this one.
            if let Some(own) = all.get_mut(number) {
                *own = chain.boxes(chain.m);
            }
        }
    }

    /// Calls `one` for every combination of one box of each chain.
    fn products(
        &self,
        all: &[Vec<StridedBox>],
        one: &mut dyn FnMut(&StridedBox) -> Option<()>,
    ) -> Option<()> {
        if all.iter().any(Vec::is_empty) {
            return Some(());
        }
        let mut chosen = vec![0_usize; all.len()];
        loop {
            let mut product = StridedBox { start: self.origin, loops: Vec::new() };
            for (boxes, chosen) in all.iter().zip(&chosen) {
                let part = boxes.get(*chosen)?;
                let [dense, slot] = part.start;
                product.start = [product.start[0] + dense, product.start[1] + slot];
                product.loops.extend_from_slice(&part.loops);
            }
            one(&product)?;
            let mut is_over = true;
            for (chosen, boxes) in chosen.iter_mut().zip(all).rev() {
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

    /// Levels of the destination, from the smallest to the largest stride: digits for [`Direction::Pack`], chains for
    /// [`Direction::Unpack`].
    pub(super) fn levels(&self, direction: Direction) -> Vec<Level> {
        let mut levels = Vec::new();
        let mut push = |at: (usize, Option<usize>),
                        stride: i64,
                        extent: i64,
                        [first, end]: [i64; 2]| {
            let is_reversed = stride < 0;
            let values = if is_reversed { [extent - end, extent - first] } else { [first, end] };
            let (chain, digit) = at;
            levels.push(Level { chain, digit, is_reversed, stride: stride.abs(), extent, values });
        };
        for (number, chain) in self.chains.iter().enumerate() {
            let count = chain.m[1] - chain.m[0];
            match direction {
                Direction::Pack => {
                    for (k, (digit, values)) in chain.digits.iter().zip(&chain.values).enumerate() {
                        push((number, Some(k)), digit.stride, digit.extent, *values);
                    }
                }
                Direction::Unpack if count > 1 => {
                    push((number, None), chain.dense, count, [0, count]);
                }
                Direction::Unpack => {}
            }
        }
        levels.sort_by_key(|level| level.stride);
        levels
    }

    /// True if the stride of each level is at least the span of the faster ones, in both buffers.
    pub(super) fn nests(&self) -> bool {
        [Direction::Pack, Direction::Unpack].iter().all(|side| nest(&self.levels(*side)))
    }

    /// Smallest offset of the region in the destination.
    fn first(&self, direction: Direction) -> i64 {
        let least =
            |stride: i64, [first, end]: [i64; 2]| stride * if stride < 0 { end - 1 } else { first };
        let [dense, slot] = self.origin;
        match direction {
            Direction::Pack => {
                let digits = self.chains.iter().flat_map(|c| c.digits.iter().zip(&c.values));
                slot + digits.map(|(digit, values)| least(digit.stride, *values)).sum::<i64>()
            }
            Direction::Unpack => {
                dense + self.chains.iter().map(|chain| least(chain.dense, chain.m)).sum::<i64>()
            }
        }
    }

    /// Tasks that cover the region, about `several`, in the order of their windows of the destination, which start at
    /// multiples of `group`. One task if the strides do not nest.
    pub(super) fn split(&self, direction: Direction, several: i64, group: i64) -> Vec<Task> {
        let (first, levels) = (self.first(direction), self.levels(direction));
        let is_multiple = |value: i64| value.checked_rem(group) == Some(0);
        let mut tasks = vec![Task { start: first, region: self.clone() }];
        let can_split = is_multiple(first) && nest(&levels);
        let mut left = several;
        for level in levels.iter().rev() {
            if left < 2 || !can_split || !is_multiple(level.stride) {
                break;
            }
            let [first, end] = level.values;
            let count = ceil(end - first, left);
            let split = |Task { start, region }: &Task| {
                let mut finer = Vec::new();
                let mut value = first;
                while value < end {
                    let next = (value + count).min(end);
                    let start = start + (value - first) * level.stride;
                    finer.push(Task { start, region: region.restricted(*level, [value, next]) });
                    value = next;
                }
                finer
            };
            tasks = tasks.iter().flat_map(split).collect();
            if count > 1 {
                break;
            }
            left = ceil(several, i64::try_from(tasks.len()).unwrap_or(several));
        }
        // The first window includes the slots in front of the first element.
        if let Some(task) = tasks.first_mut() {
            task.start = 0;
        }
        tasks
    }

    /// Region with the values `first..end` of a level, in memory order.
    fn restricted(&self, level: Level, [first, end]: [i64; 2]) -> Self {
        let mut region = self.clone();
        let extent = level.extent;
        let [first, end] =
            if level.is_reversed { [extent - end, extent - first] } else { [first, end] };
        if let Some(chain) = region.chains.get_mut(level.chain) {
            match level.digit.map(|k| chain.values.get_mut(k)) {
                Some(Some(values)) => *values = [first, end],
                Some(None) => {}
                None => chain.m = [chain.m[0] + first, chain.m[0] + end],
            }
        }
        region
    }
}

/// True if the stride of each level is at least the span of the faster ones.
pub(super) fn nest(levels: &[Level]) -> bool {
    let mut span = 1;
    levels.iter().all(|level| {
        let is_over = level.stride >= span;
        span = level.stride.saturating_mul(level.values[1] - level.values[0]);
        is_over
    })
}

fn ceil(a: i64, b: i64) -> i64 {
    let b = b.max(1);
    a.div_euclid(b) + i64::from(a.rem_euclid(b) > 0)
}

/// Runs `one` for the window of each task in parallel, if `target` is large: the buffer that `region` is written to.
/// Windows start at multiples of `unit.1` units; `unit.0` is the offset of a unit in bytes. `None` if a window is
/// outside the buffer, or if `one` returns it.
pub(super) fn share(
    region: &Region,
    (direction, several): (Direction, i64),
    (unit_bytes, group): (impl Fn(i64) -> Option<usize>, i64),
    target: &mut [u8],
    one: impl Fn(&Task, &mut [u8]) -> Option<()> + Sync,
) -> Option<()> {
    let tasks = region.split(direction, several, group);
    let (mut windows, mut rest) = (Vec::new(), target);
    for (task, next) in tasks.iter().zip(tasks.iter().skip(1)) {
        let bytes = unit_bytes(next.start)?.checked_sub(unit_bytes(task.start)?)?;
        let (window, behind) = rest.split_at_mut_checked(bytes)?;
        windows.push(window);
        rest = behind;
    }
    windows.push(rest);
    windows.into_par_iter().zip(&tasks).try_for_each(|(window, task)| one(task, window))
}

/// Number of tasks for a destination of `bytes` bytes.
pub(super) fn task_count(bytes: usize) -> i64 {
    let threads = i64::try_from(rayon::current_num_threads()).unwrap_or(1);
    let is_shared = threads > 1 && bytes >= CPU.shared_move_bytes;
    if is_shared { threads.saturating_mul(CPU.pieces_per_thread) } else { 1 }
}
