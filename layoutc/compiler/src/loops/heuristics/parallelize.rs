//! Choice of the parallel loop of a relayout, of those with enough bytes whose iterations write disjoint bytes: the
//! outermost one with iterations for all threads, or else the one with the most iterations.

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::symbol::Symbol;

use crate::base::dtype::byte_group;
use crate::ir::LoopKind;
use crate::loops::arith::typical;
use crate::loops::range::{Range, Ranges};
use crate::loops::relayout::digits::{CommonDigit, DigitRefinement};
use crate::loops::relayout::schedule::{RelayoutLoop, RelayoutPrimitive, RelayoutSchedule};
use crate::machine::CPU;

/// Threads that run the loops of a relayout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cores {
    /// The calling thread only.
    One,
    /// All threads, if there is enough work.
    All,
}

impl Cores {
    /// Kind of a loop whose iterations may run on these threads.
    pub(crate) fn kind(self) -> LoopKind {
        match self {
            Self::One => LoopKind::Serial,
            Self::All => LoopKind::Parallel,
        }
    }
}

/// Loop of a nest, as a candidate to run in parallel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Loop {
    /// Lower bound of the trip count for all values of the symbols.
    pub least: i128,
    /// Trip count for large values of the symbols.
    pub typical: i128,
    /// True if the loop may run in parallel: its iterations are known to write disjoint bytes, for fixed iterations of
    /// the outer loops, and no copy of a run replaces it.
    pub is_disjoint: bool,
}

impl Loop {
    /// Loop over `extent` values whose iterations write disjoint bytes. `ranges` are the ranges of the symbols.
    pub(crate) fn over(extent: &Algebra, symbols: &[Symbol], ranges: &Ranges<'_>) -> Self {
        let least = Range::of(extent, ranges).low.unwrap_or(0);
        Self { least, typical: typical(extent, symbols), is_disjoint: true }
    }
}

/// Position in `loops` of the loop to parallelize; `None` if no loop is suitable. `loops` is a nest, outermost first,
/// whose innermost loop writes one element of `element_bits` bits in each iteration.
pub(crate) fn choose(loops: &[Loop], element_bits: i128) -> Option<usize> {
    choose_from(loops, element_bits, CPU.parallel_bytes)
}

/// Like [`choose`], with `least` as the minimum number of bytes of a parallel loop.
fn choose_from(loops: &[Loop], element_bits: i128, least: i128) -> Option<usize> {
    let mut bits = element_bits;
    let mut candidates = Vec::new();
    for (k, inner) in loops.iter().enumerate().rev() {
        bits = bits.saturating_mul(inner.typical);
        if inner.is_disjoint && inner.typical > 1 && bits / 8 >= least {
            candidates.push((k, inner));
        }
    }
    // The innermost candidate is the first.
    let enough = candidates.iter().rev().find(|(_, inner)| inner.least >= CPU.parallel_iterations);
    let most = || {
        let rounds = |inner: &Loop| inner.least.max(1).saturating_mul(inner.typical);
        candidates.iter().max_by_key(|(_, inner)| rounds(inner))
    };
    enough.or_else(most).map(|(k, _)| *k)
}

/// True if iterations of a loop with the stride `stride` are known to write disjoint bytes: each iteration writes
/// inside its own aligned window of `stride` elements. `in_whole` is the least number of elements that fills whole
/// bytes. `outer` are the strides of the outer loops, `inner` the pairs (stride, greatest index) of all other loops,
/// `constant` is the offset with all loops at 0. Strides and `constant` are in elements.
pub(crate) fn writes_are_disjoint(
    stride: i128,
    in_whole: i128,
    outer: &[i128],
    inner: &[(i128, i128)],
    constant: i128,
) -> bool {
    let window = stride.saturating_abs();
    if window == 0 || window % in_whole != 0 || outer.iter().any(|outer| outer % window != 0) {
        return false;
    }
    let (mut low, mut high) = (constant, constant);
    for (stride, greatest) in inner {
        let reach = stride.saturating_mul(*greatest);
        low = low.saturating_add(reach.min(0));
        high = high.saturating_add(reach.max(0));
    }
    low.div_euclid(window) == high.div_euclid(window)
}

/// Loop of the nest of `refinement` to parallelize, of the loops in the schedule; `None` if no loop is suitable.
/// `ranges` are the ranges of the symbols, `written_bits` is the size of an element in the destination, in bits.
pub(crate) fn level(
    refinement: &DigitRefinement,
    RelayoutSchedule { levels, inner }: &RelayoutSchedule,
    symbols: &[Symbol],
    ranges: &Ranges<'_>,
    written_bits: i128,
) -> Option<RelayoutLoop> {
    let block_of = |k: usize| {
        levels.iter().find_map(|level| match level {
            RelayoutLoop::Tiles { digit, size } if *digit == k => Some(i128::from(*size)),
            _ => None,
        })
    };
    let is_whole = written_bits >= 8;
    let one = |(at, level): (usize, &RelayoutLoop)| {
        let k = level.digit();
        let digit = refinement.digits.get(k)?;
        let all = Loop::over(&digit.extent, symbols, ranges);
        let (least, typical) = match (level, block_of(k)) {
            (RelayoutLoop::Digit(_), None) => (all.least, all.typical),
            (RelayoutLoop::Digit(_), Some(block)) => (block.min(all.least), block.min(all.typical)),
            (RelayoutLoop::Tiles { .. }, block) => {
                let block = block.unwrap_or(1);
                let blocks = |extent: i128| extent.saturating_add(block - 1).div_euclid(block);
                (blocks(all.least), blocks(all.typical))
            }
        };
        let around: Vec<usize> =
            levels.iter().take(at).filter_map(RelayoutLoop::single_value_digit).collect();
        let innermost = at + 1 == levels.len() && *inner == RelayoutPrimitive::Element;
        let copied = innermost && block_of(k).is_none() && digit.is_run() && is_whole;
        let is_disjoint = !copied && (is_whole || is_apart(refinement, k, &around, written_bits));
        Some(Loop { least, typical, is_disjoint })
    };
    // Digits inside a primitive are not loops of this function.
    let moved = inner.digits().map(|k| {
        let digit = refinement.digits.get(k)?;
        let typical = typical(&digit.extent, symbols).min(block_of(k).unwrap_or(i128::MAX));
        Some(Loop { least: 1, typical, is_disjoint: false })
    });
    let loops: Option<Vec<Loop>> = levels.iter().enumerate().map(one).chain(moved).collect();
    let run = levels
        .last()
        .and_then(|level| refinement.digits.get(level.digit()))
        .is_some_and(CommonDigit::is_run);
    let by_elements = !is_whole || (*inner == RelayoutPrimitive::Element && !run);
    let least = if by_elements { CPU.parallel_bytes } else { CPU.parallel_run_bytes };
    levels.get(choose_from(&loops?, written_bits, least)?).copied()
}

/// True if different values of digit `k` are known to write disjoint bytes of the destination, for fixed values of the
/// digits `around`. `bits` is the size of an element in the destination.
fn is_apart(refinement: &DigitRefinement, k: usize, around: &[usize], bits: i128) -> bool {
    let in_whole = elements_of_whole_bytes(bits);
    let steps = |digits: &[usize]| -> Option<Vec<i128>> {
        digits.iter().map(|digit| refinement.digits.get(*digit)?.to_stride.as_const()).collect()
    };
    let (Some(step), Some(outer)) = (steps(&[k]), steps(around)) else { return false };
    let inner = (0..refinement.chains.len())
        .map(|chain| reach(refinement, chain, &[&[k], around].concat()))
        .collect::<Option<Vec<_>>>();
    match (step.as_slice(), inner, refinement.to_constant.as_const()) {
        ([step], Some(inner), Some(constant)) => {
            writes_are_disjoint(*step, in_whole, &outer, &inner.concat(), constant)
        }
        _ => false,
    }
}

/// Pairs (stride in the destination in elements, greatest value) of the digits of a chain, without the digits `given`.
/// If no digit of the chain is given, a single pair may stand for the chain's `m` instead: the stride of `m`, and the
/// greatest `m` of an element. `None` if a stride or extent is not constant.
fn reach(refinement: &DigitRefinement, chain: usize, given: &[usize]) -> Option<Vec<(i128, i128)>> {
    let digits = refinement.digits.iter().enumerate().filter(|(_, digit)| digit.chain == chain);
    let (given, free): (Vec<_>, Vec<_>) = digits.partition(|(k, _)| given.contains(k));
    let one = |(_, digit): &(usize, &CommonDigit)| {
        Some((
            digit.to_stride.as_const()?,
            digit.extent.as_const()?.saturating_sub(1),
            digit.weight,
        ))
    };
    let digits: Vec<(i128, i128, i128)> = free.iter().map(one).collect::<Option<_>>()?;
    let high = refinement.chains.get(chain)?.high.as_const();
    let least = digits.iter().min_by_key(|(.., weight)| *weight);
    if let (Some((step, _, 1)), Some(high), true) = (least, high, given.is_empty())
        && digits.iter().all(|(other, _, weight)| step.checked_mul(*weight) == Some(*other))
    {
        return Some(vec![(*step, high.saturating_sub(1))]);
    }
    Some(digits.into_iter().map(|(step, most, _)| (step, most)).collect())
}

/// Smallest number of elements of `bits` bits that fills whole bytes: 2 for 4 bits, 8 for 3 bits.
pub(crate) fn elements_of_whole_bytes(bits: i128) -> i128 {
    u32::try_from(bits).map_or(1, |bits| byte_group(bits).0.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(least: i128, typical: i128) -> Loop {
        Loop { least, typical, is_disjoint: true }
    }

    #[test]
    fn outermost_loop_with_enough_iterations_is_parallelized() {
        assert_eq!(choose(&[rounds(64, 64), rounds(64, 64), rounds(64, 64)], 32), Some(0));
        assert_eq!(choose(&[rounds(2, 2), rounds(64, 64), rounds(9999, 9999)], 32), Some(1));
        assert_eq!(choose(&[rounds(1, 256), rounds(16, 16), rounds(5000, 5000)], 32), Some(1));
        assert_eq!(choose(&[rounds(1, 256), rounds(2, 2), rounds(3, 99_999)], 32), Some(2));
        assert_eq!(choose(&[rounds(4, 4), rounds(9, 9), rounds(8, 8)], 32), None);
        assert_eq!(choose(&[], 512), None);
    }

    #[test]
    fn small_loops_are_not_parallelized() {
        assert_eq!(choose(&[rounds(2, 2), rounds(200, 200), rounds(200, 200)], 32), Some(0));
        assert_eq!(choose(&[rounds(64, 64)], 32), None);
    }

    #[test]
    fn loops_with_overlapping_writes_are_not_parallelized() {
        let shared = Loop { least: 512, typical: 512, is_disjoint: false };
        assert_eq!(choose(&[shared, rounds(999, 999)], 4), None);
        assert_eq!(choose(&[shared, rounds(1999, 1999), shared], 4), Some(1));
    }

    #[test]
    fn iterations_with_whole_byte_windows_are_disjoint() {
        assert!(writes_are_disjoint(10, 2, &[], &[(1, 9)], 0));
        assert!(!writes_are_disjoint(9, 2, &[], &[(1, 8)], 0), "rows of nine nibbles share a byte");
        assert!(!writes_are_disjoint(10, 2, &[], &[(1, 9)], 1), "shifted rows reach into the next");
        assert!(writes_are_disjoint(10, 2, &[], &[(1, 7)], 1));
        assert!(writes_are_disjoint(10, 2, &[40], &[(1, 9)], 0));
        assert!(!writes_are_disjoint(10, 2, &[45], &[(1, 9)], 0));
        assert!(writes_are_disjoint(-10, 2, &[], &[(-1, 9)], 59), "reversed rows");
        assert!(!writes_are_disjoint(0, 2, &[], &[], 0));
    }
}
