//! Padding regions of a relayout's destination: slots whose digits give an index beyond the extent of an axis. A slot
//! is a position in memory of the size of one element.

use crate::loops::relayout::digits::{CommonDigit, DigitRefinement};
use crate::machine::CPU;

/// Padding region: loops around contiguous runs of slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PaddingRegion {
    /// First slot, as an offset in the destination.
    pub(crate) start: i128,
    /// Loops around the run, outermost first.
    pub(crate) loops: Vec<StridedLoop>,
    /// Length of a run, in slots.
    pub(crate) run: i128,
}

/// Loop of `count` iterations, whose first slots are `stride` slots apart. `name` is the preferred name of its
/// variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StridedLoop {
    pub(crate) name: String,
    pub(crate) count: i128,
    pub(crate) stride: i128,
}

/// Digit with its stride in the destination (in slots) and its extent, and the subrange `first..first + count` of its
/// values.
#[derive(Debug, Clone)]
struct Span<'a> {
    digit: &'a CommonDigit,
    stride: i128,
    extent: i128,
    first: i128,
    count: i128,
}

/// All padding regions of a destination of `slots` slots; they may overlap. `None` if digits do not count every slot
/// once, bounds are not constant, or the elements of a chain do not start at 0.
pub(crate) fn padding_regions(
    refinement: &DigitRefinement,
    slots: i128,
) -> Option<Vec<PaddingRegion>> {
    let digits = dense(refinement, slots)?;
    let mut padding_regions = Vec::new();
    for (chain, bounds) in refinement.chains.iter().enumerate() {
        if bounds.low.as_const() != Some(0) {
            return None;
        }
        let high = bounds.high.as_const()?;
        padding_regions.extend(beyond(&digits, chain, high));
    }
    Some(padding_regions)
}

/// True if writing the padding regions alone touches less than half the bytes of a destination of `slots` slots. A run
/// counts as at least one cache line.
pub(crate) fn are_worth(
    padding_regions: &[PaddingRegion],
    slots: i128,
    element_bytes: i128,
) -> bool {
    let touched = padding_regions.iter().map(|region| {
        let runs = region.loops.iter().map(|l| l.count).product::<i128>();
        runs.saturating_mul(region.run.saturating_mul(element_bytes).max(CPU.line_bytes))
    });
    touched.sum::<i128>() < slots.saturating_mul(element_bytes) / 2
}

/// Digits of the destination by increasing stride; `None` if they do not count every slot exactly once.
fn dense(refinement: &DigitRefinement, slots: i128) -> Option<Vec<Span<'_>>> {
    let span = |digit| -> Option<Span<'_>> {
        let digit: &CommonDigit = digit;
        let (stride, extent) = (digit.to_stride.as_const()?, digit.extent.as_const()?);
        Some(Span { digit, stride, extent, first: 0, count: extent })
    };
    let digits = refinement.digits.iter().filter(|digit| !digit.is_unit());
    let mut digits: Vec<Span<'_>> = digits.map(span).collect::<Option<_>>()?;
    digits.sort_by_key(|digit| digit.stride);
    let mut next = 1_i128;
    for digit in &digits {
        if digit.stride != next || digit.extent < 1 {
            return None;
        }
        next = next.checked_mul(digit.extent)?;
    }
    (next == slots && refinement.to_constant.as_const() == Some(0)).then_some(digits)
}

/// Padding regions in which `m` of `chain` is at least `high`, at most one for each digit: the more significant digits
/// equal those of `high`, and this one is greater, or for the last digit also equal.
fn beyond(digits: &[Span<'_>], chain: usize, high: i128) -> Vec<PaddingRegion> {
    let mut of_chain: Vec<usize> = (0..digits.len())
        .filter(|k| digits.get(*k).is_some_and(|digit| digit.digit.chain == chain))
        .collect();
    of_chain.sort_by_key(|k| std::cmp::Reverse(digits.get(*k).map_or(0, |d| d.digit.weight)));
    let mut left = high;
    let mut equal = digits.to_vec();
    let mut regions = Vec::new();
    for (place, k) in of_chain.iter().enumerate() {
        let Some(digit) = equal.get_mut(*k) else { continue };
        let value = left.div_euclid(digit.digit.weight.max(1));
        left -= value.saturating_mul(digit.digit.weight);
        // The last digit may be equal: `high` itself is out of bounds.
        let first = if place + 1 == of_chain.len() { value } else { value + 1 };
        let greater = Span { first, count: digit.extent - first, ..digit.clone() };
        *digit = Span { first: value, count: 1, ..digit.clone() };
        let (there, inside) = (greater.count > 0, value < digit.extent);
        let mut region = equal.clone();
        if let (true, Some(digit)) = (there, region.get_mut(*k)) {
            *digit = greater;
            regions.push(product_region(&region));
        }
        if !inside {
            break;
        }
    }
    regions
}

/// Padding region of the slots whose digits are in the subranges of `digits`, which are given by increasing stride.
fn product_region(digits: &[Span<'_>]) -> PaddingRegion {
    let mut region = PaddingRegion { start: 0, loops: Vec::new(), run: 1 };
    let mut whole = true;
    for digit in digits {
        region.start += digit.first * digit.stride;
        if whole {
            region.run = digit.stride * digit.count;
            whole = digit.count == digit.extent;
            continue;
        }
        // A loop that continues where the previous one ends is merged with it.
        match region.loops.last_mut() {
            Some(last) if last.stride * last.count == digit.stride => last.count *= digit.count,
            _ if digit.count > 1 => region.loops.push(StridedLoop {
                name: digit.digit.name.clone(),
                count: digit.count,
                stride: digit.stride,
            }),
            _ => {}
        }
    }
    region.loops.reverse();
    region
}
