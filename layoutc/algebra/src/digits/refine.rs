//! Refinements of chain plans and their application: splits, shifts, reflections, fusions and new dividends.

use alloc::vec::Vec;

use crate::expr::Expr;
use crate::expr::gcd;
use crate::normal_form::poly::Poly;

/// Maximum number of shifts of a chain, each of which lowers the number from which the chain counts
/// ([`Refinement::Shift`]). [`refine`] refuses a further shift. Without a limit, two remainders that need different
/// offsets would shift the chain forever.
const MAX_SHIFTS: u8 = 3;
/// Maximum number of chains that encode intermediate values ([`ChainSource::Number`]), such as `(i + j) % 7`.
/// [`refine`] refuses a further one, and the reader represents the quotients and remainders of its value by derived
/// digits.
const MAX_NUMBERS: usize = 16;
/// Maximum common multiple of the numbers by which an intermediate value is divided; the chain of the value starts at a
/// multiple of that common multiple. [`refine`] refuses a chain beyond the limit.
const MAX_BLOCK: i128 = 1 << 40;

/// Value that a chain decomposes into digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChainSource {
    /// Index of the axis in [`ChainPlan::axes`], or the row-major index of several axes.
    Axes,
    /// Digit of another chain: the position of the plan of that chain, and the weight of the digit in it.
    Digit(usize, i128),
    /// Intermediate value, such as `(i + j) % 7`, and the common multiple of the numbers by which the value is
    /// divided.
    Number(Poly, i128),
}

/// Plan of a chain: the value that it encodes, and its offset, direction and splits.
#[derive(Debug, Clone)]
pub(super) struct ChainPlan {
    pub(super) of: ChainSource,
    /// Positions of the logical axes that the chain encodes, outermost first; empty unless `of` is
    /// [`ChainSource::Axes`].
    pub(super) axes: Vec<usize>,
    pub(super) sign: i128,
    pub(super) constant: i128,
    /// Weights of the digits of the chain, ascending; the first is 1. A digit takes the values below the ratio of the
    /// next weight to its own; the last digit takes all values that remain. The weights 1, 4 and 12 give digits of 4, 3
    /// and the remaining number of values.
    pub(super) cuts: Vec<i128>,
    /// Number of applied [`Refinement::Shift`] requests, each of which has lowered the start of the chain; at most
    /// [`MAX_SHIFTS`].
    pub(super) shifts: u8,
}

impl ChainPlan {
    pub(super) fn whole(axis: usize) -> Self {
        Self { axes: alloc::vec![axis], ..Self::counting(ChainSource::Axes) }
    }

    fn counting(of: ChainSource) -> Self {
        let (axes, cuts) = (Vec::new(), alloc::vec![1]);
        Self { of, axes, sign: 1, constant: 0, cuts, shifts: 0 }
    }

    /// True if the chain encodes axes, and counts their index up from 0: without a reflection or a shift.
    pub(super) fn is_plain(&self) -> bool {
        self.sign == 1 && self.constant == 0 && self.of == ChainSource::Axes
    }

    /// Position in `cuts` at which `weight` would be inserted; `None` unless `weight` is no entry yet, a multiple of
    /// the next smaller entry and, if there is a larger one, a divisor of the next larger entry. For the entries 1 and
    /// 8, weight 4 has position 1, and weight 3 has none.
    pub(super) fn split_position(&self, weight: i128) -> Option<usize> {
        let at = self.cuts.partition_point(|cut| *cut < weight);
        let below = at.checked_sub(1).and_then(|k| self.cuts.get(k));
        let is_below = below.is_some_and(|cut| weight % cut == 0);
        let is_above = self.cuts.get(at).is_none_or(|cut| *cut != weight && cut % weight == 0);
        (is_below && is_above).then_some(at)
    }

    pub(super) fn counts(&self, number: &Poly) -> bool {
        matches!(&self.of, ChainSource::Number(own, _) if own == number)
    }
}

/// Change of the chain plans without which a target is not a weighted sum of digits. Chains are given by the
/// positions of their plans.
#[derive(Debug, Clone)]
pub(super) enum Refinement {
    /// Chain `.0` needs a digit of weight `.1`: weight 4 for `x // 4`.
    Split(usize, i128),
    /// The number that chain `.0` encodes must start `.1` lower, so that its digits add up to `x + 5` in place of `x`,
    /// as `(x + 5) // 8` requires.
    Shift(usize, i128),
    /// Chain `.0` must count its index backwards, from `extent - 1` down to 0.
    Reflect(usize),
    /// The chains of these plans, outermost first, must be fused into one row-major index.
    Fuse(Vec<usize>),
    /// The intermediate value `number` needs a chain of its own, which starts at `least` or below, because it is
    /// divided by `by`.
    NewDividend { number: Poly, least: i128, by: i128 },
    /// No refinement makes the target a weighted sum of digits.
    Impossible,
}

/// Applies a refinement to the plans. `extents` are the extents of all logical axes. False if the refinement is
/// inapplicable, exceeds a limit or makes no progress; `plans` may then be changed and must not be used further.
pub(super) fn refine(plans: &mut Vec<ChainPlan>, request: &Refinement, extents: &[Expr]) -> bool {
    match request {
        Refinement::Impossible => false,
        Refinement::Split(chain, weight) => {
            let Some(plan) = plans.get_mut(*chain) else { return false };
            if let Some(at) = plan.split_position(*weight) {
                plan.cuts.insert(at, *weight);
                return true;
            }
            let at = plan.cuts.partition_point(|cut| cut < weight);
            let below = at.checked_sub(1).and_then(|k| plan.cuts.get(k)).copied();
            let above = plan.cuts.get(at).copied();
            // The split does not nest in the weight above: subdivide the digit itself.
            match below {
                Some(cut) if above != Some(*weight) && weight % cut == 0 => {
                    let of = ChainSource::Digit(*chain, cut);
                    let new = plans.iter().all(|plan| plan.of != of);
                    plans.push(ChainPlan {
                        cuts: alloc::vec![1, weight / cut],
                        ..ChainPlan::counting(of)
                    });
                    new
                }
                _ => false,
            }
        }
        Refinement::Shift(chain, by) => {
            let Some(plan) = plans.get_mut(*chain) else { return false };
            if plan.axes.len() != 1 || plan.sign != 1 || plan.shifts >= MAX_SHIFTS {
                return false;
            }
            plan.shifts += 1;
            plan.constant -= by;
            plan.cuts.truncate(1);
            let started = *by != 0 && plan.constant <= 0;
            plans.retain(|plan| plan.of == ChainSource::Axes);
            started
        }
        Refinement::Reflect(chain) => {
            let Some(plan) = plans.get_mut(*chain) else { return false };
            let extent = plan.axes.first().and_then(|a| extents.get(*a)).and_then(Expr::as_const);
            match extent {
                Some(extent) if plan.axes.len() == 1 && plan.sign == 1 && plan.constant == 0 => {
                    plan.sign = -1;
                    plan.constant = extent - 1;
                    plan.cuts.truncate(1);
                    plans.retain(|plan| plan.of == ChainSource::Axes);
                    true
                }
                _ => false,
            }
        }
        Refinement::Fuse(chains) => {
            let mut axes = Vec::new();
            for chain in chains {
                match plans.get(*chain) {
                    Some(plan) if plan.is_plain() => axes.extend(plan.axes.iter().copied()),
                    _ => return false,
                }
            }
            let mut remaining: Vec<ChainPlan> = Vec::new();
            for (k, plan) in plans.iter().enumerate() {
                if !chains.contains(&k) && plan.of == ChainSource::Axes {
                    remaining.push(plan.clone());
                }
            }
            remaining.push(ChainPlan { axes, ..ChainPlan::counting(ChainSource::Axes) });
            *plans = remaining;
            true
        }
        Refinement::NewDividend { number, least, by } => add_dividend(plans, number, *least, *by),
    }
}

/// Adds a plan for a chain of the intermediate value `number`, which is divided by `by`. The chain starts at `least` or
/// below, at a multiple of all divisors of the value. If a plan for the value exists, lowers the start of its chain.
/// False beyond [`MAX_NUMBERS`] or [`MAX_BLOCK`], if the common multiple of the divisors overflows, or if the start of
/// an existing chain does not change.
fn add_dividend(plans: &mut Vec<ChainPlan>, number: &Poly, least: i128, by: i128) -> bool {
    let numbers = plans.iter().filter(|plan| matches!(plan.of, ChainSource::Number(..))).count();
    let at = plans.iter().position(|plan| plan.counts(number));
    let known = at.and_then(|at| plans.get(at)).and_then(|plan| match plan.of {
        ChainSource::Number(_, block) => Some((block, plan.constant)),
        _ => None,
    });
    let (block, start) = known.unwrap_or((1, 0));
    let Some(block) = (by / gcd(block, by).max(1)).checked_mul(block) else { return false };
    let start = least.min(start).div_euclid(block) * block;
    if block > MAX_BLOCK || (known.is_none() && numbers == MAX_NUMBERS) {
        return false;
    }
    let of = ChainSource::Number(number.clone(), block);
    match at.and_then(|at| plans.get_mut(at)) {
        Some(plan) => {
            let moved = plan.constant != start;
            (plan.of, plan.constant) = (of, start);
            moved
        }
        None => {
            plans.push(ChainPlan { constant: start, ..ChainPlan::counting(of) });
            true
        }
    }
}
