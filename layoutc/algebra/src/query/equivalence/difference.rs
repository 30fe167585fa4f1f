//! Search for the first logical index at which two lists of expressions over the logical axes differ. The difference
//! of each pair is split into terms that share no axis, and each term is decomposed into digits, or enumerated.

use alloc::vec::Vec;

use crate::digits::{self, BitSplit};
use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::Monomial;
use crate::normal_form::simplify::Facts;
use crate::prove::{EnumerationDomain, Executor, first_nonzero, value_of};

/// Maximum number of points (index tuples) at which a term is evaluated if it has too many points for a complete
/// enumeration.
const FIRST_POINTS: i128 = 1 << 20;

/// Result of the search for a logical index at which the two expressions of a pair differ, over one or several pairs.
pub(super) enum DifferenceResult {
    Equal,
    /// First logical index, in row-major order, at which the two expressions of a pair differ.
    First(Vec<i128>),
    /// Neither equality nor a difference is proven. Contains the number of points (index tuples) that a proof has to
    /// enumerate; `None` if the number depends on a symbol.
    Undecided(Option<i128>),
}

impl DifferenceResult {
    /// Result for several pairs, from the results for two parts of them. Two indices `First` give the earlier one. Two
    /// numbers of `Undecided` give the larger one, or `None` if one of the two is `None`. `Undecided` takes precedence
    /// over `First`, because an undecided pair may differ at an earlier index.
    fn combine(self, other: Self) -> Self {
        match (self, other) {
            (Self::Equal, found) | (found, Self::Equal) => found,
            (Self::First(a), Self::First(b)) => Self::First(a.min(b)),
            (Self::Undecided(a), Self::Undecided(b)) => {
                Self::Undecided(a.zip(b).map(|(a, b)| a.max(b)))
            }
            (open @ Self::Undecided(_), Self::First(_)) | (Self::First(_), open) => open,
        }
    }
}

/// Context of the search for a difference: the extents of the logical axes, facts about the variables, the limit of
/// enumerations, and the executor that runs them.
#[derive(Clone, Copy)]
pub(super) struct DifferenceScope<'a> {
    pub(super) extents: &'a [Expr],
    /// Facts about the ranges of symbols and axes.
    pub(super) facts: &'a Facts,
    /// Maximum number of points (index tuples) that may be enumerated.
    pub(super) most: i128,
    pub(super) executor: &'a dyn Executor,
}

/// Result of the comparison of all pairs over the whole logical shape: `Equal`, the first logical index in row-major
/// order at which the two expressions of a pair differ, or `Undecided`.
pub(super) fn decide(
    pairs: &[(Expr, Expr)],
    scope: DifferenceScope<'_>,
) -> Result<DifferenceResult, ExprError> {
    if scope.extents.iter().any(|extent| extent.as_const() == Some(0)) {
        return Ok(DifferenceResult::Equal);
    }
    let mut found = DifferenceResult::Equal;
    for (a, b) in pairs {
        found = found.combine(difference(a, b, scope)?);
    }
    Ok(found)
}

/// Result of the comparison of all pairs like [`decide`], but only at the elements, the indices at which all
/// expressions of `within` are non-negative. If `within` is not empty and the pairs are not proven equal on the whole
/// shape, all elements are enumerated; `Undecided` if the shape is symbolic or has more than `scope.most` points.
pub(super) fn decide_within(
    pairs: &[(Expr, Expr)],
    within: &[Expr],
    scope: DifferenceScope<'_>,
) -> Result<DifferenceResult, ExprError> {
    let found = decide(pairs, scope)?;
    if within.is_empty() || matches!(found, DifferenceResult::Equal) {
        return Ok(found);
    }
    let extents: Option<Vec<i128>> = scope.extents.iter().map(Expr::as_const).collect();
    let Some(extents) = extents else { return Ok(DifferenceResult::Undecided(None)) };
    let points = extents.iter().fold(1_i128, |n, extent| n.saturating_mul(*extent));
    if points > scope.most {
        return Ok(DifferenceResult::Undecided(Some(points)));
    }
    let axes: Vec<usize> = (0..extents.len()).collect();
    let mut found = DifferenceResult::Equal;
    for (a, b) in pairs {
        let target = [Expr::binary(BinOp::Sub, a, b)?];
        let domain = EnumerationDomain {
            axes: &axes,
            extents: &extents,
            targets: &target,
            slots: &[1],
            within,
        };
        if let Some(point) = first_nonzero(&domain, scope.executor)? {
            found = found.combine(DifferenceResult::First(point));
        }
    }
    Ok(found)
}

/// Term of the difference of two expressions: a sum of monomials that reads no axis of another term.
struct DifferenceTerm {
    /// Positions of the axes that the term reads, ascending.
    axes: Vec<usize>,
    sum: Poly,
}

/// Result of the search for the first logical index at which `a - b` is not 0. The terms of the difference share no
/// axes, so each term is compared with its value at index 0 by itself.
fn difference(
    a: &Expr,
    b: &Expr,
    scope: DifferenceScope<'_>,
) -> Result<DifferenceResult, ExprError> {
    let DifferenceScope { extents, facts, .. } = scope;
    let whole = facts.normalize(a)?.sub(&facts.normalize(b)?)?;
    if whole.is_zero() {
        return Ok(DifferenceResult::Equal);
    }
    let origin = alloc::vec![0; extents.len()];
    let is_symbol = |var| matches!(var, Var::Symbol(_));
    let mut at_origin = whole.constant_term();
    let mut found = DifferenceResult::Equal;
    for part in parts(&whole, extents.len())? {
        let sum = facts.render(&part.sum)?;
        let is_symbolic = |axis: &usize| extents.get(*axis).is_some_and(|e| e.as_const().is_none());
        if part.sum.mentions(&is_symbol) || part.axes.iter().any(is_symbolic) {
            // For some values of the symbols a digit's axis may be too short to reach it: only equality is certain.
            match by_digits(&part.axes, &sum, scope)? {
                Some((value, None)) => {
                    at_origin = at_origin.checked_add(value).ok_or(ExprError::Overflow)?;
                }
                _ => found = found.combine(DifferenceResult::Undecided(None)),
            }
            continue;
        }
        let value = sum.evaluate(&|var| value_of(var, &origin, &[]))?;
        at_origin = at_origin.checked_add(value).ok_or(ExprError::Overflow)?;
        found = found.combine(static_part(&part.axes, &sum, value, scope)?);
    }
    Ok(match found {
        DifferenceResult::Undecided(_) => found,
        _ if at_origin != 0 => DifferenceResult::First(origin),
        found => found,
    })
}

/// Terms of `whole`, the difference of two expressions. Each is a sum of monomials, and no two of them read a common
/// axis: `2*i - i*j + k` has the terms `2*i - i*j` and `k`. The constant of `whole` is omitted; all monomials over
/// symbols alone form one term without axes. `rank` is the number of logical axes: a monomial is searched for the axes
/// `0..rank`.
fn parts(whole: &Poly, rank: usize) -> Result<Vec<DifferenceTerm>, ExprError> {
    let mut parts: Vec<DifferenceTerm> = Vec::new();
    for (monomial, coefficient) in whole.terms().filter(|(monomial, _)| !monomial.is_empty()) {
        let axes = axes_of(monomial, rank);
        let shares = |part: &DifferenceTerm| {
            part.axes.iter().any(|axis| axes.contains(axis))
                || (part.axes.is_empty() && axes.is_empty())
        };
        let (shared, rest): (Vec<DifferenceTerm>, Vec<DifferenceTerm>) =
            parts.into_iter().partition(shares);
        parts = rest;
        let mut merged = DifferenceTerm { axes, sum: Poly::zero() };
        merged.sum.add_term(monomial, coefficient)?;
        for part in shared {
            merged.axes.extend(part.axes);
            merged.sum = merged.sum.add_owned(&part.sum)?;
        }
        merged.axes.sort_unstable();
        merged.axes.dedup();
        parts.push(merged);
    }
    Ok(parts)
}

fn axes_of(monomial: &Monomial, rank: usize) -> Vec<usize> {
    let is = |var, axis: usize| matches!(var, Var::Axis(k) if usize::try_from(k) == Ok(axis));
    let reads = |axis: &usize| monomial.iter().any(|atom| atom.mentions(&|var| is(var, *axis)));
    (0..rank).filter(reads).collect()
}

/// Pair `(value, change)` for the term `sum`, which reads the axes at the positions `axes`. `value` is the value of the
/// term at index 0. `change` is the first index in row-major order at which it has another value, as `(axis, index)`
/// with 0 on all other axes; `None` if the term is constant. The outer `None`: the change cannot be read from the
/// digits, for example because these are derived, or belong to fused, offset, reversed or symbolic axes.
#[expect(clippy::type_complexity, reason = "a pair, or nothing")]
fn by_digits(
    axes: &[usize],
    sum: &Expr,
    DifferenceScope { extents, facts, .. }: DifferenceScope<'_>,
) -> Result<Option<(i128, Option<(usize, i128)>)>, ExprError> {
    let targets = core::slice::from_ref(sum);
    let Some(read) = digits::read(axes, extents, targets, facts, BitSplit::AtDivisors)? else {
        return Ok(None);
    };
    let Some(form) = read.targets.first() else { return Ok(None) };
    if form.terms.is_empty() {
        return Ok(Some((form.constant, None)));
    }
    // A derived digit need not leave 0 where the digits that it is derived from do.
    if !read.derived.is_empty() {
        return Ok(None);
    }
    // Row-major order reaches a change in the innermost axis first.
    let mut last: Option<(usize, i128)> = None;
    for chain in &read.chains {
        let weights = chain.digits.iter().filter_map(|position| {
            let is_read = form.terms.iter().any(|(digit, _)| digit == position);
            read.digits.get(*position).filter(|_| is_read).map(|digit| digit.weight)
        });
        let Some(index) = weights.min() else { continue };
        let [axis] = chain.axes.as_slice() else { return Ok(None) };
        let extent = extents.get(*axis).and_then(Expr::as_const);
        if chain.sign != 1 || chain.constant != 0 || extent.is_none() {
            return Ok(None);
        }
        // A chain of digits may span more than the extent of the axis.
        if extent > Some(index) && last.is_none_or(|(other, _)| other < *axis) {
            last = Some((*axis, index));
        }
    }
    Ok(Some((form.constant, last)))
}

/// Result of the search for the first logical index at which the term `sum`, without symbols, differs from `value`, its
/// value at index 0. `axes` are the positions of the axes that the term reads. If a full enumeration exceeds
/// `scope.most` points, only the first points are searched, and `Undecided` means no difference among these.
fn static_part(
    axes: &[usize],
    sum: &Expr,
    value: i128,
    scope: DifferenceScope<'_>,
) -> Result<DifferenceResult, ExprError> {
    let DifferenceScope { extents, most, executor, .. } = scope;
    let mut index = alloc::vec![0; extents.len()];
    if let Some((_, difference)) = by_digits(axes, sum, scope)? {
        let Some((axis, own)) = difference else { return Ok(DifferenceResult::Equal) };
        if let Some(slot) = index.get_mut(axis) {
            *slot = own;
        }
        return Ok(DifferenceResult::First(index));
    }
    let number = |axis: &usize| extents.get(*axis).and_then(Expr::as_const);
    let mut own: Vec<i128> = axes.iter().filter_map(number).collect();
    let points = own.iter().fold(1_i128, |n, extent| n.saturating_mul(*extent));
    if points > most {
        // Too many points: enumerates a prefix in row-major order, which may contain a difference.
        let mut left = most.min(FIRST_POINTS);
        for extent in own.iter_mut().rev() {
            *extent = (*extent).min(left).max(1);
            left /= *extent;
        }
    }
    let target = [Expr::binary(BinOp::Sub, sum, &Expr::constant(value))?];
    let domain =
        EnumerationDomain { axes, extents: &own, targets: &target, slots: &[1], within: &[] };
    let Some(point) = first_nonzero(&domain, executor)? else {
        return Ok(if points > most {
            DifferenceResult::Undecided(Some(points))
        } else {
            DifferenceResult::Equal
        });
    };
    for (axis, own) in axes.iter().zip(point) {
        if let Some(slot) = index.get_mut(*axis) {
            *slot = own;
        }
    }
    Ok(DifferenceResult::First(index))
}
