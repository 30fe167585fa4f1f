//! What a reading asks for, and how it is carried out: cuts, shifts, reflections, fusions.

use alloc::vec::Vec;

use crate::expr::Expr;
use crate::poly::{Poly, gcd};

/// How often the count of a chain may be moved: two remainders that want other counts would move it for ever.
const MAX_SHIFTS: u8 = 3;
/// How many numbers on the way may have a chain of their own.
const MAX_NUMBERS: usize = 16;
/// What such a number starts from is a multiple of all that divides it, up to this.
const MAX_BLOCK: i128 = 1 << 40;

/// What a chain counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChainSource {
    /// The axes of the plan.
    Axes,
    /// A digit that is cut up: the position of its plan, and its weight there.
    Digit(usize, i128),
    /// A number on the way, and what divides it.
    Number(Poly, i128),
}

/// A chain to be: what it counts, how, and where it is cut.
#[derive(Debug, Clone)]
pub(super) struct ChainPlan {
    pub(super) of: ChainSource,
    /// The logical axes, outermost first; none unless it counts them.
    pub(super) axes: Vec<usize>,
    pub(super) sign: i128,
    pub(super) constant: i128,
    /// Weights at which a digit starts, ascending, from 1.
    pub(super) cuts: Vec<i128>,
    /// How often the count was moved.
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

    /// Counts axes upwards from 0, cut or not.
    pub(super) fn is_plain(&self) -> bool {
        self.sign == 1 && self.constant == 0 && self.of == ChainSource::Axes
    }

    /// Where a cut at this weight goes among the others, if it nests in them.
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

/// What a reading asks for, of the plans at these positions.
#[derive(Debug, Clone)]
pub(super) enum Refinement {
    /// A digit of chain `.0` starts at weight `.1`.
    Split(usize, i128),
    /// Chain `.0` is counted from `.1` lower.
    Shift(usize, i128),
    /// Chain `.0` is counted backwards.
    Reflect(usize),
    /// The chains, outermost first, are one number.
    Fuse(Vec<usize>),
    /// The number, never below `least`, has a chain of its own, for it is divided by `by`.
    NewDividend { number: Poly, least: i128, by: i128 },
    /// No digits.
    Impossible,
}

/// Carries out a request; false when it cannot be.
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
            // Not a multiple of what is above: the digit is cut up on its own.
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
            let mut kept: Vec<ChainPlan> = Vec::new();
            for (k, plan) in plans.iter().enumerate() {
                if !chains.contains(&k) && plan.of == ChainSource::Axes {
                    kept.push(plan.clone());
                }
            }
            kept.push(ChainPlan { axes, ..ChainPlan::counting(ChainSource::Axes) });
            *plans = kept;
            true
        }
        Refinement::NewDividend { number, least, by } => add_dividend(plans, number, *least, *by),
    }
}

/// Gives a number a chain, or lets it start lower; false where it is there already.
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
