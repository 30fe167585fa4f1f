//! Transpositions in registers: source and destination are both accessed by words of several elements although they
//! disagree on the fastest digit.
//!
//! With `f` the fastest digit of the source and `t` that of the destination, a thread reads words along `f` for several
//! values of `t`, transposes them in registers, and writes words along `t`, one for each value of `f`.

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::symbol::Symbol;

use crate::loops::arith::{is_multiple, typical};
use crate::loops::error::PlanError;
use crate::loops::gpu_relayout::digits::{Chain, Digit, Digits, quotient};
use crate::loops::gpu_relayout::schedule::TransposeTile;
use crate::loops::heuristics::gpu_words::{End, holds, is_aligned};
use crate::machine::GPU;

/// Pair of the digits in which each transpose tile is one value, followed by two digits that count inside a tile, and
/// of the transpose tile. `None` if source or destination has no contiguous digit, if both have the same one, or if no
/// words of several elements are possible. `element_bytes` is the size of what is transposed as one element.
///
/// If padding is filled (`fills`), a word that is written may contain padding. Otherwise, a word that is read may end
/// in padding if all of it is inside the source's `source_elements` slots.
pub(crate) fn transposed(
    digits: &Digits,
    element_bytes: i64,
    fills: bool,
    source_elements: &Algebra,
    symbols: &[Symbol],
) -> Result<Option<(Digits, TransposeTile)>, PlanError> {
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
    let all_there = widest(&|word| holds(digits, f, word, &[End::From], symbols));
    let columns = match digits.end {
        // If the slots end inside of the digits' range, words of the source are not joined.
        Some(_) => 1,
        None if is_late(f) || fills => all_there,
        None => all_there.max(widest(&|word| {
            is_multiple(source_elements, word, symbols)
                && is_aligned(digits, f, word, &[End::From], symbols)
        })),
    };
    let whole = widest(&|word| holds(digits, t, word, &[End::To], symbols));
    let rows = match fills {
        _ if run.saturating_mul(i128::from(element_bytes)) < GPU.sector_bytes => 1,
        true => widest(&|word| is_aligned(digits, t, word, &[End::To], symbols)),
        false => whole,
    };
    if columns == 1 && rows == 1 {
        return Ok(None);
    }
    let mut blocks =
        digits.by_words([f, t], [columns, rows].map(i128::from), symbols)?.without_units();
    let row = blocks.list.len();
    blocks.chains.push(Chain { low: None, high: None });
    let free = (blocks.chains.len() - 1, 1);
    // A digit inside a word whose values may be partly padding belongs to the chain of the word's digit, so that it is
    // guarded.
    let counted = |digit: usize, may_be_padding: bool| {
        let counted = digits.list.get(digit).map(|digit| (digit.chain, digit.weight));
        counted.filter(|_| may_be_padding).unwrap_or(free)
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
    blocks.list.push(inside("row", of_row, rows, step(t, |digit| &digit.from, columns)?, none()));
    blocks.list.push(inside(
        "column",
        of_column,
        columns,
        none(),
        step(f, |digit| &digit.to, rows)?,
    ));
    Ok(Some((blocks, TransposeTile { columns, rows, row, column: row + 1 })))
}
