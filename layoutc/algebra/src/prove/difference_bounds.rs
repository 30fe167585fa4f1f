//! Ranges of index expressions that contain differences. For `x + y - y`, the range is that of `x`; interval arithmetic
//! on the expression as written gives a larger one.
//!
//! Terms of a sum that share axes with a subtracted term form a group, which is bounded as a whole: by enumeration if
//! it has few index tuples, otherwise by the normal form. The normal form is computed with unbounded axes (only
//! `axis >= 0` is known), so that the range of `e % k` remains a whole block of `k` values. All other terms keep the
//! interval of the expression as written.

use alloc::vec::Vec;

use crate::expr::{BinOp, Expr, ExprError, ExprNode, Var};
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::{Atom, Monomial};
use crate::normal_form::simplify::{Facts, Interval};
use crate::normal_form::written_extent::{interval, negated, operation};
use crate::prove::{EnumerationDomain, extremes};

/// Extent that stands for an unbounded axis. Sums of products with this extent still fit 128 bits.
const ANY: i128 = 1 << 62;

/// Maximum number of index tuples that are enumerated to bound a group of terms; a larger group is bounded by its
/// normal form.
const VISITED: i128 = 1 << 16;

/// Interval that contains all values of `expr`, an index expression of a map. `range` returns the interval of each
/// variable that is not a symbol; `None` gives [`ExprError::Unbound`]. `facts` has the declared symbols.
pub(crate) fn interval_of_index(
    expr: &Expr,
    range: &dyn Fn(Var) -> Option<Interval>,
    facts: &Facts,
) -> Result<Interval, ExprError> {
    let written = interval(expr, range, facts)?;
    if !subtracts(expr) {
        return Ok(written);
    }
    let mut free = Facts::new(facts.symbols());
    for var in expr.vars() {
        if !matches!(var, Var::Symbol(_)) {
            free.set_extent(var, &Expr::constant(ANY))?;
        }
    }
    DifferenceBounds { range, facts, free }.interval(expr)
}

/// True if the expression contains a difference, a negation or a negative constant outside of the operands of `%`.
/// The range of `e % k` is `0..k` in any case.
fn subtracts(expr: &Expr) -> bool {
    match expr.node() {
        ExprNode::Const(value) => *value < 0,
        ExprNode::Var(_) | ExprNode::Bin(BinOp::Mod, ..) => false,
        ExprNode::Neg(_) | ExprNode::Bin(BinOp::Sub, ..) => true,
        ExprNode::Bin(_, a, b) => subtracts(a) || subtracts(b),
    }
}

/// Term of a sum: `-expr` if `is_subtracted`, `expr` otherwise.
#[derive(Clone)]
struct SignedTerm {
    expr: Expr,
    is_subtracted: bool,
}

/// Terms of a sum that are connected by shared axes, and the variables of these axes.
struct TermGroup {
    terms: Vec<SignedTerm>,
    vars: Vec<Var>,
}

/// Interval analysis of index expressions that contain differences, for axes in the intervals that `range` returns.
struct DifferenceBounds<'a> {
    range: &'a dyn Fn(Var) -> Option<Interval>,
    facts: &'a Facts,
    /// Facts about the symbols, and about every axis with the extent [`ANY`] instead of its known range.
    free: Facts,
}

impl DifferenceBounds<'_> {
    fn interval(&self, expr: &Expr) -> Result<Interval, ExprError> {
        match expr.node() {
            ExprNode::Const(_) | ExprNode::Var(_) | ExprNode::Bin(BinOp::Mod, ..) => {
                interval(expr, self.range, self.facts)
            }
            ExprNode::Bin(BinOp::Add | BinOp::Sub, ..) => self.sum(expr),
            ExprNode::Neg(a) => negated(&self.interval(a)?),
            ExprNode::Bin(op, a, b) => {
                operation(*op, &self.interval(a)?, &self.interval(b)?, self.facts)
            }
        }
    }

    fn sum(&self, expr: &Expr) -> Result<Interval, ExprError> {
        let mut terms = Vec::new();
        collect_terms(expr, false, &mut terms);
        let mut sum = Interval { low: Poly::zero(), high: Poly::zero() };
        for group in groups(&terms) {
            let own = self.group(&group)?;
            sum = Interval {
                low: sum.low.add_owned(&own.low)?,
                high: sum.high.add_owned(&own.high)?,
            };
        }
        Ok(sum)
    }

    fn group(&self, group: &TermGroup) -> Result<Interval, ExprError> {
        let mut written = Interval { low: Poly::zero(), high: Poly::zero() };
        let mut whole = Expr::constant(0);
        for SignedTerm { expr, is_subtracted } in &group.terms {
            let own = self.interval(expr)?;
            let own = if *is_subtracted { negated(&own)? } else { own };
            written = Interval {
                low: written.low.add_owned(&own.low)?,
                high: written.high.add_owned(&own.high)?,
            };
            let op = if *is_subtracted { BinOp::Sub } else { BinOp::Add };
            whole = Expr::binary(op, &whole, expr)?;
        }
        let is_empty =
            |var: &Var| (self.range)(*var).is_some_and(|r| r.high.as_constant() == Some(-1));
        let is_difference =
            group.terms.iter().any(|term| term.is_subtracted || subtracts(&term.expr));
        if !is_difference || group.vars.iter().any(is_empty) {
            return Ok(written);
        }
        if let Some(visited) = self.bounds_by_enumeration(&whole, &group.vars)? {
            return Ok(visited);
        }
        // If the normal form overflows, the syntactic interval remains.
        match self.bounds_of_normal_form(&whole) {
            Ok(normal) => self.intersect(written, normal),
            Err(_) => Ok(written),
        }
    }

    /// Exact bounds of an expression by enumeration, where each of its variables `vars` takes all values from 0 to its
    /// greatest value. `None` if a variable is not a `Var::Storage`, `expr` or a greatest value contains a symbol, or
    /// there are no index tuples or more than [`VISITED`].
    fn bounds_by_enumeration(
        &self,
        expr: &Expr,
        vars: &[Var],
    ) -> Result<Option<Interval>, ExprError> {
        if expr.vars().iter().any(|var| matches!(var, Var::Symbol(_))) {
            return Ok(None);
        }
        let (mut axes, mut extents, mut points) = (Vec::new(), Vec::new(), 1_i128);
        for var in vars {
            let Var::Storage(k) = var else { return Ok(None) };
            let high = (self.range)(*var).and_then(|range| range.high.as_constant());
            let (Some(high), Ok(axis)) = (high, usize::try_from(*k)) else { return Ok(None) };
            let extent = high.saturating_add(1);
            points = points.saturating_mul(extent);
            axes.push(axis);
            extents.push(extent);
        }
        if points > VISITED {
            return Ok(None);
        }
        let targets = [expr.substitute(&|var| match var {
            Var::Storage(k) => Some(Expr::var(Var::Axis(k))),
            _ => None,
        })?];
        let domain = EnumerationDomain {
            axes: &axes,
            extents: &extents,
            targets: &targets,
            slots: &[1],
            within: &[],
        };
        let found = extremes(&domain)?;
        Ok(found.map(|[(low, _), (high, _)]| Interval {
            low: Poly::constant(low),
            high: Poly::constant(high),
        }))
    }

    fn bounds_of_normal_form(&self, expr: &Expr) -> Result<Interval, ExprError> {
        let form = self.free.normalize(expr)?;
        let sum = self.bounds_of_poly(&form)?;
        self.intersect(sum, self.bounds_of_poly(&self.quotients_as_digits(&form)?)?)
    }

    /// Interval of a polynomial: the sum of the intervals of its terms, each computed by interval arithmetic on the
    /// term as an expression.
    fn bounds_of_poly(&self, form: &Poly) -> Result<Interval, ExprError> {
        let mut sum = Interval { low: Poly::zero(), high: Poly::zero() };
        for (monomial, coefficient) in form.terms() {
            let term = self.free.render(&Poly::term(monomial.clone(), coefficient))?;
            let term = interval(&term, self.range, self.facts)?;
            sum = Interval {
                low: sum.low.add_owned(&term.low)?,
                high: sum.high.add_owned(&term.high)?,
            };
        }
        Ok(sum)
    }

    /// Intersection of two intervals. Each bound is the tighter of the two bounds; it is the bound of `a` if the order
    /// of the two is not provable.
    fn intersect(&self, a: Interval, b: Interval) -> Result<Interval, ExprError> {
        let raises = self.facts.at_least_zero(&b.low.sub(&a.low)?)?;
        let lowers = self.facts.at_least_zero(&a.high.sub(&b.high)?)?;
        Ok(Interval {
            low: if raises { b.low } else { a.low },
            high: if lowers { b.high } else { a.high },
        })
    }

    /// Polynomial equal to `form` in which each term `c * (x % k)` is replaced by `c * (x - x // k * k)`. Then pairs of
    /// quotients, of which one is subtracted, are combined to digits: `y % 8 - y % 4` becomes `y // 4 % 2 * 4`.
    fn quotients_as_digits(&self, form: &Poly) -> Result<Poly, ExprError> {
        let mut sum = Poly::zero();
        for (monomial, coefficient) in form.terms() {
            let term = match &**monomial {
                [Atom::Op(BinOp::Mod, x, k)] => {
                    let whole = self.free.floor_div(x, k)?.mul(k)?;
                    x.sub(&whole)?.scale(coefficient)?
                }
                _ => Poly::term(monomial.clone(), coefficient),
            };
            sum = sum.add_owned(&term)?;
        }
        let mut left = sum.len();
        while left > 0
            && let Some(fewer) = self.fold_subtracted_quotient(&sum)?
        {
            sum = fewer;
            left -= 1;
        }
        Ok(sum)
    }

    /// Sum with one subtracted quotient combined to a digit: `c * (x // b) - c*s * (x // (b*s))` becomes
    /// `c * (x // b % s)`. `None` if no such rewrite reduces the number of negative terms.
    fn fold_subtracted_quotient(&self, sum: &Poly) -> Result<Option<Poly>, ExprError> {
        let quotients: Vec<(&Poly, i128, i128)> = sum.terms().filter_map(quotient).collect();
        for (x, divisor, coefficient) in quotients.iter().filter(|(.., c)| *c < 0) {
            let lower = quotients.iter().filter(|(y, by, c)| y == x && divisor % by == 0 && *c > 0);
            for by in lower.map(|(_, by, _)| *by).chain([1]) {
                let steps = divisor / by;
                if steps < 2 || coefficient % steps != 0 {
                    continue;
                }
                let count = -(coefficient / steps);
                let number = self.free.floor_div(x, &Poly::constant(by))?;
                let digit = self.free.modulo(&number, &Poly::constant(steps))?.scale(count)?;
                let quotient = self.free.floor_div(x, &Poly::constant(*divisor))?;
                let rest = sum.sub(&quotient.scale(*coefficient)?)?.sub(&number.scale(count)?)?;
                let changed = rest.add_owned(&digit)?;
                if negative_terms(&changed) < negative_terms(sum) {
                    return Ok(Some(changed));
                }
            }
        }
        Ok(None)
    }
}

/// Appends the terms of a nested sum or difference to `terms`, each with its sign. If `is_subtracted`, all signs are
/// inverted.
fn collect_terms(expr: &Expr, is_subtracted: bool, terms: &mut Vec<SignedTerm>) {
    match expr.node() {
        ExprNode::Bin(BinOp::Add, a, b) => {
            collect_terms(a, is_subtracted, terms);
            collect_terms(b, is_subtracted, terms);
        }
        ExprNode::Bin(BinOp::Sub, a, b) => {
            collect_terms(a, is_subtracted, terms);
            collect_terms(b, !is_subtracted, terms);
        }
        ExprNode::Neg(a) => collect_terms(a, !is_subtracted, terms),
        _ => terms.push(SignedTerm { expr: expr.clone(), is_subtracted }),
    }
}

/// Connected components of the terms of a sum; two terms are connected if they share an axis.
fn groups(terms: &[SignedTerm]) -> Vec<TermGroup> {
    let mut groups: Vec<TermGroup> = Vec::new();
    for term in terms {
        let axes = term.expr.vars().into_iter().filter(|var| !matches!(var, Var::Symbol(_)));
        let mut own = TermGroup { terms: alloc::vec![term.clone()], vars: axes.collect() };
        let (shared, others): (Vec<TermGroup>, Vec<TermGroup>) = groups
            .into_iter()
            .partition(|group| group.vars.iter().any(|var| own.vars.contains(var)));
        for group in shared.into_iter().rev() {
            own.terms = [group.terms, own.terms].concat();
            let new: Vec<Var> =
                group.vars.into_iter().filter(|var| !own.vars.contains(var)).collect();
            own.vars.extend(new);
        }
        groups = others;
        groups.push(own);
    }
    groups
}

/// Number of terms of the sum with a negative coefficient.
fn negative_terms(sum: &Poly) -> usize {
    sum.terms().filter(|(_, coefficient)| *coefficient < 0).count()
}

/// Dividend, divisor and coefficient `(x, k, c)` if the term is `c * (x // k)` with a constant `k`; `None` otherwise.
fn quotient((monomial, coefficient): (&Monomial, i128)) -> Option<(&Poly, i128, i128)> {
    match &**monomial {
        [Atom::Op(BinOp::FloorDiv, x, k)] => Some((x, k.as_constant()?, coefficient)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sum of differences of `x0` and `x1`, each with a constant inside, from the base-7 digits of `seed`.
    fn sum_of(seed: i128) -> Expr {
        let digit = |place: u32, count: i128| seed / 7_i128.pow(place) % count;
        let axes = [0, 1].map(|axis| Expr::var(Var::Storage(axis)));
        let mut sum = Expr::constant(digit(0, 5) - 2);
        for place in 0..3 {
            let axis = &axes[usize::from(digit(place, 2) == 1)];
            let by = Expr::constant(digit(place + 1, 4) + 2);
            let part = match digit(place + 2, 3) {
                0 => Ok(axis.clone()),
                1 => Expr::binary(BinOp::FloorDiv, axis, &by),
                _ => Expr::binary(BinOp::Mod, axis, &by),
            };
            let part = part.expect("a positive divisor");
            let constant = Expr::constant(digit(place + 3, 7));
            let difference = Expr::binary(BinOp::Sub, &constant, &part).expect("small numbers");
            let term = Expr::binary(BinOp::Mul, &by, &difference).expect("small numbers");
            let op = if digit(place + 4, 2) == 0 { BinOp::Add } else { BinOp::Sub };
            sum = Expr::binary(op, &sum, &term).expect("small numbers");
        }
        sum
    }

    /// Checks on small sums that the bounds by normal form contain every value. They are otherwise used only where
    /// enumeration is not possible.
    #[test]
    fn normal_form_bounds_contain_every_value() {
        let extents = [12, 7];
        let (mut facts, mut free) = (Facts::default(), Facts::default());
        for (axis, extent) in (0..).zip(extents) {
            facts.set_extent(Var::Storage(axis), &Expr::constant(extent)).expect("an extent");
            free.set_extent(Var::Storage(axis), &Expr::constant(ANY)).expect("an extent");
        }
        let range = |var: Var| match var {
            Var::Storage(axis) => {
                let extent = *extents.get(usize::try_from(axis).ok()?)?;
                Some(Interval { low: Poly::zero(), high: Poly::constant(extent - 1) })
            }
            _ => None,
        };
        let differences = DifferenceBounds { range: &range, facts: &facts, free };
        for seed in (0..823_543).step_by(331) {
            let sum = sum_of(seed);
            let bounds = differences.bounds_of_normal_form(&sum).expect("bounds");
            let bounds = [bounds.low, bounds.high].map(|bound| bound.as_constant());
            let [Some(low), Some(high)] = bounds else { panic!("{sum:?}: {bounds:?}") };
            for (x, y) in (0..extents[0]).flat_map(|x| (0..extents[1]).map(move |y| (x, y))) {
                let value = sum.evaluate(&|var| Some(if var == Var::Storage(0) { x } else { y }));
                let value = value.expect("a value");
                assert!((low..=high).contains(&value), "{sum:?} is {value}, not {low} to {high}");
            }
        }
    }
}
