//! Stride of the output along a loop of a statement ([`LoopStride`]), before and after splits.

use layoutc_algebra::digits::Chain;
use layoutc_algebra::expr::{BinOp, Expr, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::normal_form::simplify::Facts;

use crate::model::splits_at_digits;

/// Distance in the output between consecutive iterations of a loop, in elements.
#[derive(Debug, Clone)]
pub(super) enum LoopStride {
    /// Loop over a reduced axis: all iterations contribute to the same elements.
    Reduced,
    /// Digits of the loop's index, most significant first, as pairs `(weight, stride)`: an index `16*a + b` with the
    /// digits `(16, 512), (1, 4)` is at `512*a + 4*b`. The stride of the loop is constant if there is one digit, of
    /// weight 1.
    Digits(Vec<(i128, Expr)>),
    /// The offset is no sum of digits of the loop's index.
    Irregular,
}

impl LoopStride {
    /// Creates the stride of a loop whose consecutive iterations are `stride` elements apart.
    pub(super) fn constant(stride: Expr) -> Self {
        Self::Digits(vec![(1, stride)])
    }

    /// Creates the stride along logical axis `k` of an output with the layout `layout` that is a view with gaps between
    /// its elements, see `Tensor::is_window`. `Irregular` if the offset is neither affine nor a sum of digits of the
    /// axis.
    pub(super) fn of_window(layout: &Layout, k: usize) -> Self {
        if let Some(affine) = layout.affine().ok().flatten() {
            return affine.strides.get(k).cloned().map_or(Self::Irregular, Self::constant);
        }
        digits(layout, k).map_or(Self::Irregular, Self::Digits)
    }

    /// Constant stride; `None` if the loop is reduced, or the stride is not known to be constant.
    pub(super) fn value(&self) -> Option<&Expr> {
        match self {
            Self::Digits(digits) => match digits.as_slice() {
                [(1, stride)] => Some(stride),
                _ => None,
            },
            Self::Reduced | Self::Irregular => None,
        }
    }

    /// True for a loop over a reduced axis.
    pub(super) fn is_reduced(&self) -> bool {
        matches!(self, Self::Reduced)
    }

    /// Largest factor by which a split gives an inner loop of constant stride 1; `None` if the stride is constant, or
    /// no inner loop has stride 1.
    pub(super) fn unit_factor(&self) -> Option<i128> {
        let Self::Digits(digits) = self else { return None };
        match digits.as_slice() {
            [.., (by, _), (1, stride)] if stride.as_const() == Some(1) => Some(*by),
            _ => None,
        }
    }

    /// Strides of the outer and the inner part of a split by `by`, which is at least 1. The outer part is `Irregular`
    /// if the split does not separate digits, such as a split by 6 of digits with the weights 4 and 1. A loop that is
    /// `Reduced` or `Irregular` has two parts of its own variant.
    pub(super) fn split(&self, by: i64) -> [Self; 2] {
        let by = i128::from(by);
        let Self::Digits(digits) = self else { return [self.clone(), self.clone()] };
        let first_inner = digits.iter().position(|(weight, _)| *weight < by);
        let (high, low) = digits.split_at(first_inner.unwrap_or(digits.len()));
        let mut outer: Option<Vec<(i128, Expr)>> = high
            .iter()
            .map(|(weight, stride)| (weight % by == 0).then(|| (weight / by, stride.clone())))
            .collect();
        let ends_at_digit = high.last().is_some_and(|(weight, _)| *weight == by);
        if let Some((weight, stride)) = low.first().filter(|_| !ends_at_digit) {
            let times = Expr::constant(by / weight);
            let rest = Expr::binary(BinOp::Mul, stride, &times).ok().filter(|_| by % weight == 0);
            outer = outer.zip(rest).map(|(mut outer, stride)| {
                outer.push((1, stride));
                outer
            });
        }
        // The inner loop of a split by 1 has one iteration.
        let inner = if low.is_empty() {
            digits.last().into_iter().cloned().collect()
        } else {
            low.to_vec()
        };
        [outer.map_or(Self::Irregular, Self::Digits), Self::Digits(inner)]
    }
}

/// Digits of axis `k` of a layout, as in [`LoopStride::Digits`]; `None` if the axis has no digits of its own, or if
/// splits of the axis do not separate digits, see [`splits_at_digits`].
fn digits(layout: &Layout, k: usize) -> Option<Vec<(i128, Expr)>> {
    let all = layout.digits()?;
    let is_it = |chain: &&Chain| chain.axes == [k] && splits_at_digits(chain, all);
    let chain = all.chains.iter().find(is_it)?;
    let facts = Facts::new(layout.symbols());
    let axis = u32::try_from(k).ok()?;
    let at = |number: i128| {
        let index = chain.sign.checked_mul(number)?.checked_add(chain.constant)?;
        let value = |var| match var {
            Var::Axis(own) => Some(Expr::constant(if own == axis { index } else { 0 })),
            _ => None,
        };
        layout.offset().substitute(&value).ok()
    };
    let digit = |k: &usize| {
        let weight = all.digits.get(*k)?.weight;
        let step = Expr::binary(BinOp::Sub, &at(weight)?, &at(0)?).ok()?;
        let signed = Expr::binary(BinOp::Mul, &step, &Expr::constant(chain.sign)).ok()?;
        Some((weight, facts.simplify(&signed).ok()?))
    };
    chain.digits.iter().map(digit).collect()
}
