//! Sums with symbolic weights: `i * cols + j` determines `i` and `j` if `cols` is at least the extent of `j`.

use alloc::vec::Vec;

use super::{Claim, Component};
use crate::digits::{Chain, Digit, Digits, LinearForm};
use crate::expr::{BinOp, Expr, ExprError};
use crate::normal_form::simplify::Facts;

/// Digits of a component in which every axis is a single digit. The linear forms of the targets are empty. The checker
/// of proofs takes these digits as a hint for a proof by elimination.
pub(super) fn whole(claim: Claim<'_>, component: &Component) -> Digits {
    let mut all = Digits::default();
    for axis in &component.axes {
        let Some(extent) = claim.extents.get(*axis) else { continue };
        let digits = alloc::vec![all.digits.len()];
        all.digits.push(Digit { weight: 1, extent: extent.clone() });
        let axes = alloc::vec![*axis];
        all.chains.push(Chain { axes, of_digit: None, sign: 1, constant: 0, digits });
    }
    all.targets = component.targets.iter().map(|_| LinearForm::default()).collect();
    all
}

/// Order of the terms `weight * index` of a sum, where `index` is in `0..extent`: positions of their pairs
/// `(weight, extent)` in `weighed`, by descending weight. `None` unless each weight provably exceeds the greatest value
/// of the sum of all terms with smaller weights. The greatest value of a term is `weight * (extent - 1)`.
pub(crate) fn order(
    weighed: &[(&Expr, &Expr)],
    facts: &Facts,
) -> Result<Option<Vec<usize>>, ExprError> {
    let mut left: Vec<usize> = (0..weighed.len()).collect();
    let (mut order, mut reach) = (Vec::new(), Expr::constant(1));
    let weighed = |k: usize| weighed.get(k).copied().ok_or(ExprError::Unbound);
    while !left.is_empty() {
        let mut least = None;
        for (at, k) in left.iter().enumerate() {
            let weight = weighed(*k)?.0;
            let mut is_least = facts.proves_ge(weight, &reach)?;
            for other in left.iter().filter(|other| *other != k) {
                is_least = is_least && facts.proves_ge(weighed(*other)?.0, weight)?;
            }
            if is_least {
                least = Some(at);
            }
        }
        let Some(at) = least else { return Ok(None) };
        let k = left.remove(at);
        let (weight, extent) = weighed(k)?;
        let last = Expr::binary(BinOp::Sub, extent, &Expr::constant(1))?;
        let own = Expr::binary(BinOp::Mul, &last, weight)?;
        reach = facts.simplify(&Expr::binary(BinOp::Add, &reach, &own)?)?;
        order.insert(0, k);
    }
    Ok(Some(order))
}
