//! The digits of a move as its kernel counts them, and the slots that a destination has along each.

use layoutc_algebra::expr::{BinOp, Expr as Algebra};
use layoutc_algebra::layout::Symbol;
use layoutc_algebra::simplify::Facts;

use crate::plan::arith::{divisor, fold, is_multiple, product, sum, typical};
use crate::plan::lower::{PlanError, Scope, range};
use crate::plan::transfer::{Bounds, Transfer};

/// A digit that source and destination are both linear in.
#[derive(Debug, Clone)]
pub(super) struct Digit {
    pub(super) name: String,
    /// Position in [`Digits::chains`].
    pub(super) chain: usize,
    /// What one step adds to the chain's `m`.
    pub(super) weight: i128,
    /// How many values elements have.
    pub(super) extent: Algebra,
    /// How many values the kernel goes through: the same, or as many as the destination has slots for.
    pub(super) room: Algebra,
    /// Elements between steps in the source.
    pub(super) from: Algebra,
    /// Elements between steps in the destination.
    pub(super) to: Algebra,
}

/// The digits of a move, and where elements are among their values.
#[derive(Debug, Clone)]
pub(super) struct Digits {
    pub(super) digits: Vec<Digit>,
    pub(super) chains: Vec<Chain>,
    /// The source's offset where every digit is 0.
    pub(super) from: Algebra,
    /// The destination's.
    pub(super) to: Algebra,
}

/// The elements are where `low <= m < high`, `m` being the sum of the chain's digits times their weights.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    /// `None` where no digits come before the elements.
    pub(super) low: Option<Algebra>,
    /// `None` where the digits end with the elements.
    pub(super) high: Option<Algebra>,
}

impl Digits {
    /// Those of a transfer, which go through its elements.
    pub(super) fn new(transfer: &Transfer, symbols: &[Symbol]) -> Self {
        let digits = transfer.cuts.iter().map(|cut| Digit {
            name: cut.name.clone(),
            chain: cut.chain,
            weight: cut.weight,
            extent: cut.extent.clone(),
            room: cut.extent.clone(),
            from: cut.from_stride.clone(),
            to: cut.to_stride.clone(),
        });
        let chain = |(k, bounds): (usize, &Bounds)| Chain {
            low: bounds.starts_late().then(|| bounds.low.clone()),
            high: transfer.ends_early(k, bounds, symbols).then(|| bounds.high.clone()),
        };
        Self {
            digits: digits.collect(),
            chains: transfer.chains.iter().enumerate().map(chain).collect(),
            from: transfer.from_constant.clone(),
            to: transfer.to_constant.clone(),
        }
    }

    /// The same digits with room for every slot of the destination, each slot once: `c` of 10 that are padded to 12 has
    /// room for 12. `None` where the digits do not count the slots.
    pub(super) fn over_slots(
        &self,
        slots: &Algebra,
        symbols: &[Symbol],
        scope: &Scope<'_>,
    ) -> Result<Option<Self>, PlanError> {
        let facts = Facts::new(symbols);
        let size = |k: &usize| {
            self.digits.get(*k).map(|d| (typical(&d.to, symbols), typical(&d.extent, symbols)))
        };
        let mut order: Vec<usize> = (0..self.digits.len()).collect();
        order.sort_by_key(size);
        // An axis of one element that no digit stands for.
        order.retain(|k| self.digits.get(*k).is_some_and(|d| d.to.as_const() != Some(0)));
        let steps: Vec<&Algebra> =
            order.iter().filter_map(|k| self.digits.get(*k)).map(|d| &d.to).collect();
        let starts = steps.first().is_none_or(|step| step.as_const() == Some(1));
        if !starts || self.to.as_const() != Some(0) || order.is_empty() {
            return Ok(None);
        }
        let mut all = self.clone();
        let next = steps.iter().copied().skip(1).chain([slots]);
        for (k, next) in order.iter().zip(next) {
            let Some(digit) = all.digits.get_mut(*k) else { return Ok(None) };
            let run = product(&digit.to, &digit.extent)?;
            if run.as_const() == next.as_const() && run.as_const().is_some()
                || facts.proves_eq(&run, next)?
            {
                continue;
            }
            let Some(step) = digit.to.as_const() else { return Ok(None) };
            if !is_multiple(next, step, symbols) {
                return Ok(None);
            }
            let room = quotient(next, step, symbols)?;
            let least = range(&room, scope).low;
            let most = range(&digit.extent, scope).high;
            let within = most.zip(least).is_some_and(|(most, least)| most <= least);
            // Every offset of an element is below the number of slots.
            let last = std::ptr::eq(next, slots);
            if !within && !last && !facts.proves_ge(&room, &digit.extent)? {
                return Ok(None);
            }
            digit.room = room;
        }
        Ok(Some(all))
    }

    /// The digits that have more than one value.
    pub(super) fn without_units(mut self) -> Self {
        self.digits.retain(|digit| digit.room.as_const() != Some(1));
        self
    }

    /// Whether offsets stay within 32 bits if counts of elements do, also where a tile starts in padding.
    pub(super) fn stay_near(&self, scope: &Scope<'_>) -> Result<bool, PlanError> {
        let most = i128::from(i32::MAX);
        let mut reached = [Algebra::constant(0), Algebra::constant(0)];
        let mut elements = Algebra::constant(1);
        for digit in &self.digits {
            elements = product(&elements, &digit.extent)?;
            let last = fold(BinOp::Sub, &digit.room, &Algebra::constant(1))?;
            for (sum_so_far, stride) in reached.iter_mut().zip([&digit.from, &digit.to]) {
                let magnitude = range(stride, scope);
                let backwards = magnitude.high.is_some_and(|high| high < 0);
                let stride =
                    if backwards { product(stride, &Algebra::constant(-1))? } else { stride.clone() };
                *sum_so_far = sum(sum_so_far, &product(&last, &stride)?)?;
            }
        }
        let high = |expr| range(expr, scope).high;
        let narrow = high(&elements).is_some_and(|count| count <= most);
        let far = reached.iter().any(|offset| high(offset).is_some_and(|offset| offset > most));
        Ok(!(narrow && far))
    }
}

/// `expr / by`, where `by` divides every value of it.
pub(super) fn quotient(
    expr: &Algebra,
    by: i128,
    symbols: &[Symbol],
) -> Result<Algebra, PlanError> {
    use layoutc_algebra::expr::Node;
    if by == 1 || expr.as_const() == Some(0) {
        return Ok(expr.clone());
    }
    Ok(match expr.node() {
        Node::Bin(BinOp::Mul, a, b) if is_multiple(a, by, symbols) => {
            product(&quotient(a, by, symbols)?, b)?
        }
        Node::Bin(BinOp::Mul, a, b) if is_multiple(b, by, symbols) => {
            product(a, &quotient(b, by, symbols)?)?
        }
        Node::Bin(op @ (BinOp::Add | BinOp::Sub), a, b)
            if divisor(a, symbols).checked_rem(by) == Some(0) =>
        {
            fold(*op, &quotient(a, by, symbols)?, &quotient(b, by, symbols)?)?
        }
        _ => fold(BinOp::FloorDiv, expr, &Algebra::constant(by))?,
    })
}
