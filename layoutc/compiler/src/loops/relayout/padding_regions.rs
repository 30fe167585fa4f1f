//! Padding regions of a relayout's destination: slots whose digits give an index beyond the extent of an axis.

use crate::loops::relayout::digits::{Cut, Transfer};
use crate::machine::CPU;

/// Padding region: loops around contiguous runs of slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Border {
    /// First slot.
    pub(crate) start: i128,
    /// Loops around the run, outermost first.
    pub(crate) loops: Vec<Rounds>,
    /// Length of a run, in slots.
    pub(crate) run: i128,
}

/// Loop over runs, `stride` slots apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rounds {
    pub(crate) name: String,
    pub(crate) count: i128,
    pub(crate) stride: i128,
}

/// Digit of the destination, and the subrange `first..first + count` of its values.
#[derive(Debug, Clone)]
struct Span<'a> {
    cut: &'a Cut,
    stride: i128,
    extent: i128,
    first: i128,
    count: i128,
}

/// All padding regions of a destination of `slots` slots; they may overlap. `None` if digits do not count every slot
/// once, bounds are not constant, or the elements of a chain do not start at 0.
pub(crate) fn borders(transfer: &Transfer, slots: i128) -> Option<Vec<Border>> {
    let digits = dense(transfer, slots)?;
    let mut borders = Vec::new();
    for (chain, bounds) in transfer.chains.iter().enumerate() {
        if bounds.low.as_const() != Some(0) {
            return None;
        }
        let high = bounds.high.as_const()?;
        borders.extend(beyond(&digits, chain, high));
    }
    Some(borders)
}

/// True if writing the padding regions alone touches less than half the bytes of the destination, with whole cache
/// lines.
pub(crate) fn are_worth(borders: &[Border], slots: i128, element_bytes: i128) -> bool {
    let touched = borders.iter().map(|border| {
        let runs = border.loops.iter().map(|l| l.count).product::<i128>();
        runs.saturating_mul(border.run.saturating_mul(element_bytes).max(CPU.line_bytes))
    });
    touched.sum::<i128>() < slots.saturating_mul(element_bytes) / 2
}

/// Digits of the destination by increasing stride; `None` if they do not count every slot exactly once.
fn dense(transfer: &Transfer, slots: i128) -> Option<Vec<Span<'_>>> {
    let span = |cut| -> Option<Span<'_>> {
        let cut: &Cut = cut;
        let (stride, extent) = (cut.to_stride.as_const()?, cut.extent.as_const()?);
        Some(Span { cut, stride, extent, first: 0, count: extent })
    };
    let cuts = transfer.cuts.iter().filter(|cut| !cut.is_unit());
    let mut digits: Vec<Span<'_>> = cuts.map(span).collect::<Option<_>>()?;
    digits.sort_by_key(|digit| digit.stride);
    let mut next = 1_i128;
    for digit in &digits {
        if digit.stride != next || digit.extent < 1 {
            return None;
        }
        next = next.checked_mul(digit.extent)?;
    }
    (next == slots && transfer.to_constant.as_const() == Some(0)).then_some(digits)
}

/// Regions where the index of `chain` is at least `high`: for each digit, the more significant digits equal those of
/// `high` and this one is greater.
fn beyond(digits: &[Span<'_>], chain: usize, high: i128) -> Vec<Border> {
    let mut of_chain: Vec<usize> = (0..digits.len())
        .filter(|k| digits.get(*k).is_some_and(|digit| digit.cut.chain == chain))
        .collect();
    of_chain.sort_by_key(|k| std::cmp::Reverse(digits.get(*k).map_or(0, |d| d.cut.weight)));
    let mut left = high;
    let mut equal = digits.to_vec();
    let mut borders = Vec::new();
    for (place, k) in of_chain.iter().enumerate() {
        let Some(digit) = equal.get_mut(*k) else { continue };
        let value = left.div_euclid(digit.cut.weight.max(1));
        left -= value.saturating_mul(digit.cut.weight);
        // The last digit may be equal: `high` itself is out of bounds.
        let first = if place + 1 == of_chain.len() { value } else { value + 1 };
        let greater = Span { first, count: digit.extent - first, ..digit.clone() };
        *digit = Span { first: value, count: 1, ..digit.clone() };
        let (there, inside) = (greater.count > 0, value < digit.extent);
        let mut region = equal.clone();
        if let (true, Some(digit)) = (there, region.get_mut(*k)) {
            *digit = greater;
            borders.push(border(&region));
        }
        if !inside {
            break;
        }
    }
    borders
}

/// Loops around runs, for a product of digit ranges given by increasing stride.
fn border(digits: &[Span<'_>]) -> Border {
    let mut border = Border { start: 0, loops: Vec::new(), run: 1 };
    let mut whole = true;
    for digit in digits {
        border.start += digit.first * digit.stride;
        if whole {
            border.run = digit.stride * digit.count;
            whole = digit.count == digit.extent;
            continue;
        }
        // A loop that continues where the previous one ends is merged with it.
        match border.loops.last_mut() {
            Some(last) if last.stride * last.count == digit.stride => last.count *= digit.count,
            _ if digit.count > 1 => border.loops.push(Rounds {
                name: digit.cut.name.clone(),
                count: digit.count,
                stride: digit.stride,
            }),
            _ => {}
        }
    }
    border.loops.reverse();
    border
}
