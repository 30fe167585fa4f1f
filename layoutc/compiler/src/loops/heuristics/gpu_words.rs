//! Width of the accesses of a GPU relayout: contiguous runs of elements are joined to words of 2 to 16 bytes, if these
//! are aligned in source and destination.

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::symbol::Symbol;

use crate::loops::arith::is_multiple;
use crate::loops::error::PlanError;
use crate::loops::gpu_relayout::digits::{Digit, Digits};
use crate::machine::GPU;

/// Pair of the digits with the most elements joined to one word, and of the number of elements of a word. `None` if no
/// digit is contiguous in source and destination, or no word of several elements is possible. `element_bytes` is the
/// size of an element.
pub(crate) fn widen(
    digits: &Digits,
    element_bytes: i64,
    symbols: &[Symbol],
) -> Result<Option<(Digits, i64)>, PlanError> {
    let is_run = |digit: &Digit| [&digit.from, &digit.to].iter().all(|s| s.as_const() == Some(1));
    let run = digits.list.iter().position(|d| is_run(d) && d.room.as_const() != Some(1));
    let Some(run) = run else { return Ok(None) };
    let mut together = GPU.access_bytes.checked_div(element_bytes).unwrap_or(1);
    if element_bytes.count_ones() != 1 {
        return Ok(None);
    }
    while together > 1 {
        let word = i128::from(together);
        if holds(digits, run, word, &[End::From, End::To], symbols) {
            return Ok(Some((digits.by_words([run; 2], [word; 2], symbols)?, together)));
        }
        together /= 2;
    }
    Ok(None)
}

/// Memory of a relayout: the source (`From`) or the destination (`To`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    From,
    To,
}

impl End {
    fn stride(self, digit: &Digit) -> &Algebra {
        match self {
            Self::From => &digit.from,
            Self::To => &digit.to,
        }
    }

    /// Offset if every digit is 0, in elements.
    fn constant(self, digits: &Digits) -> &Algebra {
        match self {
            Self::From => &digits.from,
            Self::To => &digits.to,
        }
    }
}

/// True if words of `together` values of digit `run`, which is contiguous in the memories `ends`, are known to be
/// aligned there, and each to be all elements or all padding.
pub(crate) fn holds(
    digits: &Digits,
    run: usize,
    together: i128,
    ends: &[End],
    symbols: &[Symbol],
) -> bool {
    is_aligned(digits, run, together, ends, symbols) && is_whole(digits, run, together, symbols)
}

/// True if words of `together` values of digit `run`, which is contiguous in the memories `ends`, are known to be
/// aligned there: they start at multiples of `together` elements.
pub(crate) fn is_aligned(
    digits: &Digits,
    run: usize,
    together: i128,
    ends: &[End],
    symbols: &[Symbol],
) -> bool {
    let multiple = |expr: &Algebra| is_multiple(expr, together, symbols);
    let Some(own) = digits.list.get(run) else { return false };
    let mut others = digits.list.iter().filter(|other| !std::ptr::eq(*other, own));
    others.all(|other| ends.iter().all(|end| multiple(end.stride(other))))
        && own.lead.checked_rem(together) == Some(0)
        && digits.end.iter().all(multiple)
        && [&own.extent, &own.room].into_iter().all(multiple)
        && ends.iter().all(|end| multiple(end.constant(digits)))
}

/// True if each group of `together` values of digit `run` is known to be all elements or all padding.
fn is_whole(digits: &Digits, run: usize, together: i128, symbols: &[Symbol]) -> bool {
    let Some(own) = digits.list.get(run) else { return false };
    let weight = own.weight.saturating_mul(together);
    let chain = digits.chains.get(own.chain);
    let bounds = chain.into_iter().flat_map(|chain| chain.low.iter().chain(&chain.high));
    let mut bounds = bounds.peekable();
    let others = digits.list.iter().filter(|other| !std::ptr::eq(*other, own));
    let mut of_chain = others.filter(|other| other.chain == own.chain);
    bounds.peek().is_none()
        || bounds.all(|bound| is_multiple(bound, weight, symbols))
            && of_chain.all(|other| other.weight.checked_rem(weight) == Some(0))
}
