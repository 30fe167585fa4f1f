//! Blocks that an item turns in registers: the source is read, and the destination written, by words of several elements,
//! though the two disagree on which elements are next to each other.
//!
//! Where the source's fastest digit is `f` and the destination's is `t`, an item reads a word of values of `f` for each of
//! several values of `t`, and has of these elements a word of values of `t` for each value of `f`.

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::symbol::Symbol;

use super::digits::{Chain, Digit, Digits, quotient};
use super::wide::{Side, holds, lies_right};
use crate::machine::GPU;
use crate::plan::arith::{is_multiple, typical};
use crate::plan::lower::PlanError;

/// How an item's block lies among the digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    /// Elements of a word of the source.
    pub(super) columns: i64,
    /// Elements of a word of the destination.
    pub(super) rows: i64,
    /// The digit that counts a block's words of the source.
    pub(super) row: usize,
    /// The digit that counts its words of the destination.
    pub(super) column: usize,
}

/// The digits with blocks taken as one, and two more for what is inside a block. `None` where neither side can be reached
/// by words.
///
/// Where padding is filled, a word that is written may be filled in part. A word that is read may have padding behind its
/// elements, where all of it is in the source, which has so many elements in all; unless that would be written for a fill.
pub(super) fn turned(
    digits: &Digits,
    element_bytes: i64,
    fills: bool,
    source_elements: &Algebra,
    symbols: &[Symbol],
) -> Result<Option<(Digits, Turn)>, PlanError> {
    let fastest = |stride: fn(&Digit) -> &Algebra| {
        let several = |digit: &Digit| digit.room.as_const() != Some(1);
        digits.list.iter().position(|d| several(d) && stride(d).as_const() == Some(1))
    };
    let (Some(f), Some(t)) = (fastest(|digit| &digit.from), fastest(|digit| &digit.to)) else {
        return Ok(None);
    };
    let most = GPU.transposed_word_bytes.checked_div(element_bytes).unwrap_or(1);
    let run = digits.list.get(f).map_or(0, |digit| typical(&digit.extent, symbols));
    if f == t || most < 2 || element_bytes.count_ones() != 1 {
        return Ok(None);
    }
    let widest = |holds: &dyn Fn(i128) -> bool| {
        let mut word = most;
        while word > 1 && !holds(i128::from(word)) {
            word /= 2;
        }
        word
    };
    let is_late = |digit: usize| {
        let chain = digits.list.get(digit).and_then(|digit| digits.chains.get(digit.chain));
        chain.is_some_and(|chain| chain.low.is_some())
    };
    let all_there = widest(&|word| holds(digits, f, word, &[Side::From], symbols));
    let columns = match digits.end {
        // Which slots there are is no matter of whole words of the source.
        Some(_) => 1,
        None if is_late(f) || fills => all_there,
        None => all_there.max(widest(&|word| {
            is_multiple(source_elements, word, symbols)
                && lies_right(digits, f, word, &[Side::From], symbols)
        })),
    };
    let whole = widest(&|word| holds(digits, t, word, &[Side::To], symbols));
    let rows = match fills {
        _ if run.saturating_mul(i128::from(element_bytes)) < GPU.sector_bytes => 1,
        true => widest(&|word| lies_right(digits, t, word, &[Side::To], symbols)),
        false => whole,
    };
    if columns == 1 && rows == 1 {
        return Ok(None);
    }
    let mut turned =
        digits.by_words([f, t], [columns, rows].map(i128::from), symbols)?.without_units();
    let row = turned.list.len();
    turned.chains.push(Chain { low: None, high: None });
    let free = (turned.chains.len() - 1, 1);
    // Values that may be padding apart from others of their word are counted with the digit.
    let counted = |digit: usize, apart: bool| {
        let counted = digits.list.get(digit).map(|digit| (digit.chain, digit.weight));
        counted.filter(|_| apart).unwrap_or(free)
    };
    let (of_row, of_column) = (counted(t, rows > whole), counted(f, columns > all_there));
    let step = |digit: usize, stride: fn(&Digit) -> &Algebra, word: i64| {
        let stride = digits.list.get(digit).map_or(&digits.from, stride);
        quotient(stride, i128::from(word), symbols)
    };
    let inside = |name: &str, (chain, weight), room: i64, from: Algebra, to: Algebra| Digit {
        name: name.to_owned(),
        chain,
        weight,
        extent: Algebra::constant(i128::from(room)),
        room: Algebra::constant(i128::from(room)),
        lead: 0,
        from,
        to,
    };
    let none = || Algebra::constant(0);
    turned.list.push(inside("row", of_row, rows, step(t, |digit| &digit.from, columns)?, none()));
    turned.list.push(inside(
        "column",
        of_column,
        columns,
        none(),
        step(f, |digit| &digit.to, rows)?,
    ));
    Ok(Some((turned, Turn { columns, rows, row, column: row + 1 })))
}
