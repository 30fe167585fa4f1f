//! Digits over which a GPU relayout iterates, and the number of the destination's slots along each.

use layoutc_algebra::expr::{BinOp, Expr as Algebra};
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::Symbol;

use crate::loops::arith::{ceil_div, divisor, fold, is_multiple, product, scale, sum, typical};
use crate::loops::error::PlanError;
use crate::loops::range::{Range, Ranges};
use crate::loops::relayout::digits::{DigitRefinement, ValidRange};

/// Digit in which the offsets of source and destination are both linear: a dimension of the kernel's iterations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Digit {
    pub(crate) name: String,
    /// Position in [`Digits::chains`].
    pub(crate) chain: usize,
    /// Weight of the digit in `m`, the sum of its chain's digits times their weights.
    pub(crate) weight: i128,
    /// Number of values of the digit for which there are elements.
    pub(crate) extent: Algebra,
    /// Number of values that the kernel iterates over: `extent`, or with padding the number of slots along the digit.
    pub(crate) room: Algebra,
    /// First value of the digit for which there are elements; they have the values `lead..lead + extent`.
    pub(crate) lead: i128,
    /// Stride in the source: in elements, or after [`Digits::by_words`] in words of the source.
    pub(crate) from: Algebra,
    /// Stride in the destination: in elements, or after [`Digits::by_words`] in words of the destination.
    pub(crate) to: Algebra,
}

/// Digits of a relayout, and the bounds of the elements in their value ranges. Offsets and strides are in elements, or
/// in words after [`Digits::by_words`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Digits {
    pub(crate) list: Vec<Digit>,
    pub(crate) chains: Vec<Chain>,
    /// Offset in the source if every digit is 0.
    pub(crate) from: Algebra,
    /// Offset in the destination if every digit is 0.
    pub(crate) to: Algebra,
    /// Number of slots of the destination, if the digits also count offsets beyond the last slot; otherwise `None`.
    pub(crate) end: Option<Algebra>,
}

/// Bounds of the elements in a chain: `low <= m < high`, `m` being the sum of the chain's digits times their weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chain {
    /// Least `m` of an element; `None` if it is 0.
    pub(crate) low: Option<Algebra>,
    /// Greatest `m` of an element, plus one; `None` if all values of the digits are below it.
    pub(crate) high: Option<Algebra>,
}

impl Digits {
    /// Digits of a refinement, with `room` equal to `extent`.
    pub(crate) fn new(refinement: &DigitRefinement, symbols: &[Symbol]) -> Self {
        let digits = refinement.digits.iter().map(|digit| Digit {
            name: digit.name.clone(),
            chain: digit.chain,
            weight: digit.weight,
            extent: digit.extent.clone(),
            room: digit.extent.clone(),
            lead: 0,
            from: digit.from_stride.clone(),
            to: digit.to_stride.clone(),
        });
        let chain = |(k, bounds): (usize, &ValidRange)| Chain {
            low: bounds.starts_late().then(|| bounds.low.clone()),
            high: refinement.ends_early(k, bounds, symbols).then(|| bounds.high.clone()),
        };
        Self {
            list: digits.collect(),
            chains: refinement.chains.iter().enumerate().map(chain).collect(),
            from: refinement.from_constant.clone(),
            to: refinement.to_constant.clone(),
            end: None,
        }
    }

    /// Digits that count every one of the destination's `slots` slots exactly once: an axis `c` of 10 padded to 12 gets
    /// room for 12; after a halo of 1 its elements start at 1. `None` if the digits are not known to do so.
    pub(crate) fn over_slots(
        &self,
        slots: &Algebra,
        symbols: &[Symbol],
        ranges: &Ranges<'_>,
    ) -> Result<Option<Self>, PlanError> {
        let facts = Facts::new(symbols);
        let mut all = self.clone();
        // The digit of an axis with one element has stride 0.
        let steps = self.list.iter().filter(|digit| digit.to.as_const() != Some(0));
        if steps.map(|digit| typical(&digit.to, symbols)).min().is_some_and(|least| least > 1) {
            all.push_gap();
        }
        let size = |k: &usize| {
            all.list.get(*k).map(|d| (typical(&d.to, symbols), typical(&d.extent, symbols)))
        };
        let mut order: Vec<usize> = (0..all.list.len()).collect();
        order.sort_by_key(size);
        order.retain(|k| all.list.get(*k).is_some_and(|d| d.to.as_const() != Some(0)));
        let steps: Vec<Algebra> =
            order.iter().filter_map(|k| all.list.get(*k)).map(|d| d.to.clone()).collect();
        if steps.first().is_none_or(|step| step.as_const() != Some(1)) {
            return Ok(None);
        }
        let next = steps.iter().skip(1).chain([slots]);
        for (k, next) in order.iter().zip(next) {
            let Some(digit) = all.list.get_mut(*k) else { return Ok(None) };
            let run = product(&digit.to, &digit.extent)?;
            if run.as_const() == next.as_const() && run.as_const().is_some()
                || facts.proves_eq(&run, next)?
            {
                continue;
            }
            // Every offset of an element is below the number of slots.
            let last = std::ptr::eq(next, slots);
            let Some(step) = digit.to.as_const() else { return Ok(None) };
            let whole = is_multiple(next, step, symbols);
            let ends = last && steps.iter().all(|step| step.as_const().is_some());
            if !(whole || ends) {
                return Ok(None);
            }
            let room = if whole {
                quotient(next, step, symbols)?
            } else {
                all.end = Some(slots.clone());
                ceil_div(slots, step)?
            };
            let least = Range::of(&room, ranges).low;
            let most = Range::of(&digit.extent, ranges).high;
            let within = most.zip(least).is_some_and(|(most, least)| most <= least);
            if !within && !last && !facts.proves_ge(&room, &digit.extent)? {
                return Ok(None);
            }
            digit.room = room;
        }
        Ok(if all.lead(&order, ranges)? { Some(all) } else { None })
    }

    /// Appends a digit of stride 1 in the destination, of whose values only 0 has elements, for the gaps between
    /// elements of strides above 1.
    fn push_gap(&mut self) {
        self.list.push(Digit {
            name: "gap".to_owned(),
            chain: self.chains.len(),
            weight: 1,
            extent: Algebra::constant(1),
            room: Algebra::constant(1),
            lead: 0,
            from: Algebra::constant(0),
            to: Algebra::constant(1),
        });
        self.chains.push(Chain { low: None, high: None });
    }

    /// Distributes the destination's constant offset over the digits as their `lead`, and moves the source's offset and
    /// the bounds of the chains accordingly. `order` has the digits by ascending stride in the destination. Returns
    /// false if the constant is symbolic or negative, or is not known to fit the digits' room.
    fn lead(&mut self, order: &[usize], ranges: &Ranges<'_>) -> Result<bool, PlanError> {
        let Some(mut left) = self.to.as_const().filter(|left| *left >= 0) else {
            return Ok(false);
        };
        let last = order.last().copied();
        for k in order.iter().rev() {
            if left == 0 {
                break;
            }
            let Some(digit) = self.list.get_mut(*k) else { return Ok(false) };
            let Some(step) = digit.to.as_const().filter(|step| *step > 0) else {
                if Range::of(&digit.to, ranges).low.is_none_or(|least| least <= left) {
                    return Ok(false);
                }
                continue;
            };
            let lead = left.div_euclid(step);
            left = left.rem_euclid(step);
            if lead == 0 {
                continue;
            }
            let sizes = digit.extent.as_const().zip(digit.room.as_const());
            // Every offset of an element is below the number of slots.
            let fits = sizes.map_or(last == Some(*k), |(extent, room)| lead + extent <= room);
            if !fits {
                return Ok(false);
            }
            digit.lead = lead;
            let before = scale(&digit.from, lead)?;
            self.from = fold(BinOp::Sub, &self.from, &before)?;
            if let Some(chain) = self.chains.get_mut(digit.chain) {
                let more = Algebra::constant(lead.saturating_mul(digit.weight));
                for bound in chain.low.iter_mut().chain(&mut chain.high) {
                    *bound = sum(bound, &more)?;
                }
            }
        }
        self.to = Algebra::constant(0);
        Ok(left == 0)
    }

    /// Digits with `read` values of digit `f`, the fastest in the source, and `written` values of digit `t`, the
    /// fastest in the destination, joined to words. Strides and offsets are in words of `read` elements in the source
    /// and of `written` elements in the destination. `f` and `t` may be the same digit if `read` equals `written`.
    pub(crate) fn by_words(
        &self,
        [f, t]: [usize; 2],
        [read, written]: [i128; 2],
        symbols: &[Symbol],
    ) -> Result<Self, PlanError> {
        let mut taken = self.clone();
        for (k, digit) in taken.list.iter_mut().enumerate() {
            let word = match k {
                _ if k == f => read,
                _ if k == t => written,
                _ => 1,
            };
            digit.extent = quotient(&digit.extent, word, symbols)?;
            digit.room = quotient(&digit.room, word, symbols)?;
            digit.lead = digit.lead.checked_div(word).unwrap_or(0);
            digit.weight = digit.weight.saturating_mul(word);
            let whole = Algebra::constant(word);
            if k != f {
                digit.from = product(&quotient(&digit.from, read, symbols)?, &whole)?;
            }
            if k != t {
                digit.to = product(&quotient(&digit.to, written, symbols)?, &whole)?;
            }
        }
        if let Some(end) = &mut taken.end {
            *end = quotient(end, written, symbols)?;
        }
        taken.from = quotient(&taken.from, read, symbols)?;
        taken.to = quotient(&taken.to, written, symbols)?;
        Ok(taken)
    }

    /// Digits without those whose room is 1.
    pub(crate) fn without_units(mut self) -> Self {
        self.list.retain(|digit| digit.room.as_const() != Some(1));
        self
    }
}

/// Quotient `expr / by`, for a `by` that divides every value of `expr`.
pub(crate) fn quotient(expr: &Algebra, by: i128, symbols: &[Symbol]) -> Result<Algebra, PlanError> {
    use layoutc_algebra::expr::ExprNode;
    if by == 1 || expr.as_const() == Some(0) {
        return Ok(expr.clone());
    }
    Ok(match expr.node() {
        ExprNode::Bin(BinOp::Mul, a, b) if is_multiple(a, by, symbols) => {
            product(&quotient(a, by, symbols)?, b)?
        }
        ExprNode::Bin(BinOp::Mul, a, b) if is_multiple(b, by, symbols) => {
            product(a, &quotient(b, by, symbols)?)?
        }
        ExprNode::Bin(op @ (BinOp::Add | BinOp::Sub), a, b)
            if divisor(a, symbols).checked_rem(by) == Some(0) =>
        {
            fold(*op, &quotient(a, by, symbols)?, &quotient(b, by, symbols)?)?
        }
        _ => fold(BinOp::FloorDiv, expr, &Algebra::constant(by))?,
    })
}
