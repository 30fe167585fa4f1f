//! Search for two points with equal targets among predicted candidates. The candidates follow from digits that no
//! target determines, and are tried before any enumeration.

use alloc::vec::Vec;

use super::decode::DecodeFailure;
use super::enumerate::EnumerationDomain;
use crate::expr::{Expr, Var};

/// Number of indices along an axis, from 0 up, from which a single candidate step is tried.
const STARTS: i128 = 8;

/// Maximum number of candidate steps of which all triples are tried; further steps are left out of triples.
const MOST_OF_THREE: usize = 16;

/// Two points of a component, each a list of indices in the order of the axes of the component.
pub(super) type PointPair = (Vec<i128>, Vec<i128>);

/// Two points of the domain with equal values of all targets, among the candidates that `undecided` predicts. A
/// candidate is a pair of points that differ in one digit of `undecided.lost`, in the bits of one set of
/// `undecided.kernel`, or by one to three of `undecided.steps`. `None` if no candidate collides, which proves nothing.
pub(super) fn predicted_collision(
    domain: &EnumerationDomain<'_>,
    undecided: &DecodeFailure,
) -> Option<PointPair> {
    let at = |axis: usize| domain.axes.iter().position(|own| *own == axis);
    let origin = alloc::vec![0; domain.axes.len()];
    let collide = |pair: &PointPair| {
        let inside =
            |point: &[i128]| point.iter().zip(domain.extents).all(|(index, extent)| index < extent);
        let value = |point: &[i128], target: &Expr| {
            target.evaluate(&|var| match var {
                Var::Axis(a) => point.get(at(usize::try_from(a).ok()?)?).copied(),
                _ => None,
            })
        };
        let same = |target: &Expr| {
            let first = value(&pair.0, target);
            first.is_ok() && first == value(&pair.1, target)
        };
        let counts = |point: &[i128]| {
            let holds = |margin: &Expr| value(point, margin).is_ok_and(|value| value >= 0);
            domain.within.iter().all(holds)
        };
        let inside = |point: &[i128]| inside(point) && counts(point);
        inside(&pair.0) && inside(&pair.1) && domain.targets.iter().all(same)
    };
    let lost = undecided.lost.iter().filter_map(|digit| {
        let mut second = origin.clone();
        *second.get_mut(at(digit.axis)?)? = digit.weight;
        Some((origin.clone(), second))
    });
    let turned = undecided.kernel.iter().filter_map(|bits| {
        let mut mask = origin.clone();
        for (axis, bit) in bits {
            *mask.get_mut(at(*axis)?)? ^= bit;
        }
        // The highest bit against all others: both values are below any extent that admits the highest bit.
        let first = mask.iter().map(|m| if *m == 0 { 0 } else { 1 << m.ilog2() });
        let first: Vec<i128> = first.collect();
        let second = mask.iter().zip(&first).map(|(m, high)| m ^ high).collect();
        Some((second, first))
    });
    lost.chain(turned).find(&collide).or_else(|| collision_by_steps(domain, undecided, &collide))
}

/// Two colliding points that differ by one, two or three of `undecided.steps`. A single step is tried from the first
/// [`STARTS`] indices of its axis and from the last possible one. Several steps go along different axes, in equal or
/// opposite directions. `collide` is true for two points of the domain with equal targets. `None` if no candidate
/// collides.
fn collision_by_steps(
    domain: &EnumerationDomain<'_>,
    undecided: &DecodeFailure,
    collide: &dyn Fn(&PointPair) -> bool,
) -> Option<PointPair> {
    let at = |axis: usize| domain.axes.iter().position(|own| *own == axis);
    let steps: Vec<(usize, i128)> =
        undecided.steps.iter().filter_map(|(axis, step)| Some((at(*axis)?, *step))).collect();
    let origin = alloc::vec![0_i128; domain.axes.len()];
    let moved = |from: &[i128], (axis, step): (usize, i128)| {
        let mut point = from.to_vec();
        if let Some(index) = point.get_mut(axis) {
            *index = index.saturating_add(step);
        }
        point
    };
    for (axis, step) in &steps {
        let last = domain.extents.get(*axis).copied().unwrap_or(1) - 1 - step;
        for from in (0..STARTS).chain([last]).filter(|from| (0..=last).contains(from)) {
            let first = moved(&origin, (*axis, from));
            let pair = (first.clone(), moved(&first, (*axis, *step)));
            if collide(&pair) {
                return Some(pair);
            }
        }
    }
    for (k, one) in steps.iter().enumerate() {
        for other in steps.iter().skip(k + 1).filter(|other| other.0 != one.0) {
            let apart = (moved(&origin, *one), moved(&origin, *other));
            let together = (origin.clone(), moved(&apart.0, *other));
            if let Some(pair) = [apart, together].into_iter().find(|pair| collide(pair)) {
                return Some(pair);
            }
        }
    }
    along_three(domain, &steps, collide)
}

/// Two colliding points that differ by one step along each of three axes, of which one step may be opposite to the
/// others; `None` if no candidate collides. `steps` are pairs `(axis, distance)`, where `axis` is a position in
/// `domain.axes`. `collide` is true for two points of the domain with equal targets.
fn along_three(
    domain: &EnumerationDomain<'_>,
    steps: &[(usize, i128)],
    collide: &dyn Fn(&PointPair) -> bool,
) -> Option<PointPair> {
    let steps: Vec<(usize, i128)> = steps
        .iter()
        .copied()
        .filter(|(axis, step)| domain.extents.get(*axis).is_some_and(|extent| step < extent))
        .take(MOST_OF_THREE)
        .collect();
    for (k, one) in steps.iter().enumerate() {
        for (l, other) in steps.iter().enumerate().skip(k + 1).filter(|(_, o)| o.0 != one.0) {
            let rest = steps.iter().skip(l + 1).filter(|s| s.0 != one.0 && s.0 != other.0);
            for third in rest {
                // At most one of the three goes in the opposite direction.
                for against in [None, Some(one), Some(other), Some(third)] {
                    let mut pair =
                        (alloc::vec![0; domain.axes.len()], alloc::vec![0; domain.axes.len()]);
                    for step in [one, other, third] {
                        let side = if against == Some(step) { &mut pair.1 } else { &mut pair.0 };
                        if let Some(index) = side.get_mut(step.0) {
                            *index = step.1;
                        }
                    }
                    if collide(&pair) {
                        return Some(pair);
                    }
                }
            }
        }
    }
    None
}
