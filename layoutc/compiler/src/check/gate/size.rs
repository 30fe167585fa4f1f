//! Gates on the size of a layout: no padding (`bijective`), little padding (`padding-below`), number of bytes.

use layoutc_algebra::expr::{BinOp, Expr};
use layoutc_algebra::layout::{Layout, Verdict};
use layoutc_algebra::normal_form::simplify::Facts;

use super::claim::samples;
use super::{GateSubject, GateViolation};
use crate::base::codes::Code;
use crate::check::faults::counted;
use crate::check::index_point::IndexPoint;
use crate::check::symbol_facts::SymbolFact;
use crate::manifest::syntax::Decimal;
use crate::model::layout_bytes;

/// Violation of the gate `bijective`: the layout has padding (slots without an element), or is not proven to have none.
/// `None` if it is proven.
pub(super) fn bijective(subject: &GateSubject<'_>) -> Option<GateViolation> {
    let layout = subject.layout;
    if layout.verdict() == Verdict::Bijective {
        return None;
    }
    let message = format!("`{}` is not bijective", subject.name);
    let padded = |counts: &SlotCounts| counts.slots != counts.elements;
    let broken = GateViolation::new(Code::GateBijective, message).note(figure(layout, &padded));
    Some(broken.otherwise("choose tiles and alignments that divide the extents"))
}

/// Violation of the gate `padding-below`: the fraction of slots that are padding is not proven to be below `limit`.
/// `None` if it is.
pub(super) fn padding(subject: &GateSubject<'_>, limit: &Decimal) -> Option<GateViolation> {
    let layout = subject.layout;
    let parts = 10_i128.checked_pow(limit.places)?;
    // padding / slots < digits / parts, without a division.
    let is_above = |counts: &SlotCounts| {
        let padding = counts.slots.saturating_sub(counts.elements).checked_mul(parts);
        counts.slots > 0 && padding >= counts.slots.checked_mul(limit.digits)
    };
    if holds_for_all(layout, limit, parts) {
        return None;
    }
    let percent = percent(limit.digits, parts);
    let message = format!("`{}` must have less than {percent} padding", subject.name);
    let constant = SlotCounts::at(layout, &[]).filter(|_| layout.symbols().is_empty());
    if constant.as_ref().is_some_and(|counts| !is_above(counts)) {
        return None;
    }
    let broken = GateViolation::new(Code::GatePadding, message).note(figure(layout, &is_above));
    // The least percentage above the actual one.
    let enough = constant.and_then(|counts| {
        let padding = counts.slots.saturating_sub(counts.elements).checked_mul(100)?;
        padding.checked_div(counts.slots)?.checked_add(1)
    });
    let allowed = match enough {
        Some(hundredths @ ..100) => format!("write `padding-below=0.{hundredths:02}`"),
        _ => "allow more".to_owned(),
    };
    Some(broken.otherwise(format!("choose tiles and alignments with less padding, or {allowed}")))
}

/// True if `padding / slots < limit.digits / parts` is proven for all values of the symbols. `parts` is the power of 10
/// by which the digits of `limit` are divided: 100 for 0.25.
fn holds_for_all(layout: &Layout, limit: &Decimal, parts: i128) -> bool {
    let facts = Facts::new(layout.symbols());
    let (all, elements) = (layout.physical_elements(), layout.logical_elements());
    let proven = || {
        let padding = Expr::binary(BinOp::Sub, all, elements)?;
        let padding = Expr::binary(BinOp::Mul, &padding, &Expr::constant(parts))?;
        let padding = Expr::binary(BinOp::Add, &padding, &Expr::constant(1))?;
        let most = Expr::binary(BinOp::Mul, all, &Expr::constant(limit.digits))?;
        facts.proves_ge(&most, &padding)
    };
    proven().unwrap_or(false)
}

/// Violation, with the code `code`, of a limit of `most` bytes on the size of the buffer. `None` if the buffer is
/// proven to have at most `most` bytes for all values of the symbols. `wanted` is the end of the message, after the
/// name of the tensor.
pub(super) fn bytes_at_most(
    subject: &GateSubject<'_>,
    most: i128,
    code: Code,
    wanted: &str,
) -> Option<GateViolation> {
    let layout = subject.layout;
    let bytes = layout_bytes(layout, subject.element_bits);
    let facts = Facts::new(layout.symbols());
    if facts.bounds(&bytes).is_ok_and(|(_, high)| high <= most) {
        return None;
    }
    let at = |symbols: &[i128]| value(&bytes, symbols);
    let over = samples(layout.symbols())
        .into_iter()
        .filter_map(|symbols| at(&symbols).map(|bytes| (bytes, symbols)))
        .max_by_key(|(bytes, _)| *bytes)
        .filter(|(bytes, _)| *bytes > most);
    let message = format!("`{}` {wanted}", subject.name);
    let broken = GateViolation::new(code, message);
    Some(match over {
        Some((bytes, symbols)) => {
            let sizes = sizes(layout, &symbols);
            let hints = hints(layout, &symbols, &|symbols| at(symbols).is_some_and(|b| b <= most));
            let over = counted_bytes(bytes.saturating_sub(most));
            broken
                .note(format!("it has {}{sizes}", counted_bytes(bytes)))
                .otherwise(format!(
                    "reduce it by {over}: less padding, a smaller extent, or elements of fewer bits"
                ))
                .hints(hints)
        }
        None if layout.symbols().is_empty() => return None,
        None => broken
            .note("it cannot be proven for all sizes")
            .otherwise("declare a smaller `max` of a symbol"),
    })
}

/// Pairs (position of a symbol, `Max(v)`): v is the greatest value below the maximum of this symbol for which `fits`
/// returns true while the other symbols have their values in `at`. It is found by bisection, so `fits` must be true up
/// to one value and false above it. A symbol for which there is no such value has no pair.
fn hints(layout: &Layout, at: &[i128], fits: &dyn Fn(&[i128]) -> bool) -> Vec<(usize, SymbolFact)> {
    let mut hints = Vec::new();
    for (k, symbol) in layout.symbols().iter().enumerate() {
        let with = |value: i128| {
            let mut symbols = at.to_vec();
            if let Some(slot) = symbols.get_mut(k) {
                *slot = value;
            }
            fits(&symbols)
        };
        let (mut low, mut high) = (symbol.min.max(1), symbol.max);
        if !with(low) {
            continue;
        }
        while high - low > 1 {
            let middle = low + (high - low).div_euclid(2);
            if with(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        hints.push((k, SymbolFact::Max(low)));
    }
    hints
}

/// Number of elements and of slots of a layout for given values of the symbols.
pub(super) struct SlotCounts {
    pub(super) elements: i128,
    pub(super) slots: i128,
}

impl SlotCounts {
    fn at(layout: &Layout, symbols: &[i128]) -> Option<Self> {
        let elements = value(layout.logical_elements(), symbols)?;
        Some(Self { elements, slots: value(layout.physical_elements(), symbols)? })
    }
}

fn value(expr: &Expr, symbols: &[i128]) -> Option<i128> {
    let point = IndexPoint { axes: Vec::new(), symbols: symbols.to_vec() };
    expr.evaluate(&|var| point.value(var)).ok()
}

/// Note on padding: `20 elements in 24 slots: 16.67 % is padding`. It is for the first sample values of the symbols
/// whose counts violate the gate, for which `is_wrong` returns true. If there are none, the note says that the gate
/// cannot be proven.
fn figure(layout: &Layout, is_wrong: &dyn Fn(&SlotCounts) -> bool) -> String {
    let wrong = samples(layout.symbols()).into_iter().find_map(|symbols| {
        let counts = SlotCounts::at(layout, &symbols).filter(is_wrong)?;
        Some((counts, symbols))
    });
    let Some((SlotCounts { elements, slots }, symbols)) = wrong else {
        return "it cannot be proven for all sizes".to_owned();
    };
    format!(
        "{} in {}{}: {} is padding",
        counted(&elements, "element"),
        counted(&slots, "slot"),
        sizes(layout, &symbols),
        percent(slots - elements, slots)
    )
}

/// Text with the values of symbols, starting with a space: `` for `n` = 1, `m` = 4``; empty without symbols.
pub(super) fn sizes(layout: &Layout, symbols: &[i128]) -> String {
    let one = |(symbol, value): (&layoutc_algebra::symbol::Symbol, &i128)| {
        format!("`{}` = {value}", symbol.name)
    };
    let all: Vec<String> = layout.symbols().iter().zip(symbols).map(one).collect();
    if all.is_empty() { String::new() } else { format!(" for {}", all.join(", ")) }
}

/// Fraction `part / whole` in percent, with at most two decimals: `16.67 %`.
fn percent(part: i128, whole: i128) -> String {
    let hundredths = part
        .checked_mul(10_000)
        .and_then(|n| n.checked_add(whole.div_euclid(2)))
        .and_then(|n| n.checked_div_euclid(whole))
        .unwrap_or(0);
    let (whole, rest) = (hundredths.div_euclid(100), hundredths.rem_euclid(100));
    let text = format!("{whole}.{rest:02}");
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Text of a size in bytes: `67108864 bytes (64 MiB)`.
pub(super) fn counted_bytes(bytes: i128) -> String {
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let Some((unit, shift)) = UNITS.iter().find(|(_, shift)| bytes >> shift > 0) else {
        return counted(&bytes, "byte");
    };
    let hundredths = bytes.saturating_mul(100) >> shift;
    let (whole, rest) = (hundredths.div_euclid(100), hundredths.rem_euclid(100));
    let text = format!("{whole}.{rest:02}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    let about = if (bytes.saturating_mul(100) >> shift) << shift == bytes.saturating_mul(100) {
        ""
    } else {
        "about "
    };
    format!("{bytes} bytes ({about}{text} {unit})")
}
