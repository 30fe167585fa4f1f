//! Intervals of integer values, and proofs that a value is a valid index of an axis.

use layoutc_algebra::expr::{BinOp, Expr, Var};
use layoutc_algebra::normal_form::simplify::Facts;

use super::types::{index_operator, is_integer, limits};
use super::value::ValueBuilder;
use crate::model::compute::{Arithmetic, BufferRef, MathFunction, TypedExpr, TypedExprKind};

/// Lower and upper bound of an integer value, both inclusive.
type ValueInterval = [i128; 2];

impl ValueBuilder<'_> {
    /// Interval of a value of an integer type; the range of the type if no tighter interval is known.
    pub(super) fn interval(&self, value: &TypedExpr) -> ValueInterval {
        let Some((low, high)) = limits(value.ty) else { return [i128::MIN, i128::MAX] };
        let fits = |found: &ValueInterval| low <= found[0] && found[1] <= high;
        // A value that overflows its type wraps.
        self.exact(value).filter(fits).unwrap_or([low, high])
    }

    /// Interval of the result of the operation at the root of `value` in exact arithmetic, before the result wraps to
    /// its type; `None` if no interval is known.
    fn exact(&self, value: &TypedExpr) -> Option<ValueInterval> {
        let of = |value: &TypedExpr| is_integer(value.ty).then(|| self.interval(value));
        Some(match &value.kind {
            TypedExprKind::Integer(number) => [*number; 2],
            TypedExprKind::Index(expr) => {
                let (low, high) = self.domain.facts.bounds(expr).ok()?;
                [low, high]
            }
            TypedExprKind::Read(read) => {
                let own = self.elements_of(read.buffer);
                match &read.outside {
                    Some(outside) => hull(own, of(&outside.value)?),
                    None => own,
                }
            }
            TypedExprKind::Gather(gather) => {
                let own = self.elements_of(gather.buffer);
                let is_checked = gather.index.iter().any(|index| index.is_checked);
                if is_checked { hull(own, of(&gather.outside)?) } else { own }
            }
            TypedExprKind::Convert(a) => of(a)?,
            TypedExprKind::Negate(a) => {
                let [low, high] = of(a)?;
                [high.checked_neg()?, low.checked_neg()?]
            }
            TypedExprKind::Select(_, a, b) => hull(of(a)?, of(b)?),
            TypedExprKind::Binary(op, a, b) => operated(*op, of(a)?, of(b)?)?,
            TypedExprKind::Call(MathFunction::Abs, args) => {
                let [low, high] = of(args.first()?)?;
                [low.max(0).max(high.checked_neg()?), high.max(low.checked_neg()?)]
            }
            TypedExprKind::Float(_)
            | TypedExprKind::Reduced
            | TypedExprKind::Bool(_)
            | TypedExprKind::Not(_)
            | TypedExprKind::Compare(..)
            | TypedExprKind::Call(..) => return None,
        })
    }

    /// Interval of the elements of an integer tensor: from 0 to less than its declared bound, or the range of its
    /// element type.
    fn elements_of(&self, buffer: BufferRef) -> ValueInterval {
        let elements = (self.elements)(buffer);
        let below = elements.below.and_then(|below| self.domain.facts.bounds(&below).ok());
        below.map_or(elements.limits, |(_, most)| [0, most.saturating_sub(1).max(0)])
    }

    /// True if the value is proven to be at least 0 and less than `extent`, which may be symbolic.
    pub(super) fn is_proven(&self, value: &TypedExpr, extent: &Expr) -> bool {
        let mut facts = self.domain.facts.clone();
        let mut elements = 0_u32;
        let Some(expr) = self.expr(value, &mut facts, &mut elements) else { return false };
        let last = Expr::binary(BinOp::Sub, extent, &Expr::constant(1));
        facts.proves_ge(&expr, &Expr::constant(0)) == Ok(true)
            && last.is_ok_and(|last| facts.proves_ge(&last, &expr) == Ok(true))
    }

    /// Index expression that is equal to the integer `value`; `Var::Storage(n)` stands for the n-th element, from 0,
    /// that the value reads. The bounds of these variables are added to `facts`, and their number to `elements`. `None`
    /// if, for example, an operation has no index expression, its result may wrap, or the kernel declares no range for
    /// the elements that are read; `facts` and `elements` may then have changed.
    fn expr(&self, value: &TypedExpr, facts: &mut Facts, elements: &mut u32) -> Option<Expr> {
        let expr = match &value.kind {
            TypedExprKind::Integer(number) => Expr::constant(*number),
            TypedExprKind::Index(expr) => expr.clone(),
            TypedExprKind::Read(read) if read.outside.is_none() => {
                let below = (self.elements)(read.buffer).below?;
                let var = Var::Storage(*elements);
                *elements = elements.checked_add(1)?;
                facts.set_extent(var, &below).ok()?;
                Expr::var(var)
            }
            TypedExprKind::Convert(a) if is_integer(a.ty) => self.expr(a, facts, elements)?,
            TypedExprKind::Binary(op, a, b) => {
                let op = index_operator(*op)?;
                let (a, b) = (self.expr(a, facts, elements)?, self.expr(b, facts, elements)?);
                let divides = matches!(op, BinOp::FloorDiv | BinOp::Mod);
                if divides && facts.bounds(&b).ok()?.0 < 1 {
                    return None;
                }
                facts.simplify(&Expr::binary(op, &a, &b).ok()?).ok()?
            }
            _ => return None,
        };
        let (low, high) = facts.bounds(&expr).ok()?;
        let (least, most) = limits(value.ty)?;
        (least <= low && high <= most).then_some(expr)
    }
}

fn hull(a: ValueInterval, b: ValueInterval) -> ValueInterval {
    [a[0].min(b[0]), a[1].max(b[1])]
}

/// Interval of `x op y` in exact arithmetic, for x in `a` and y in `b`. `None` if a bound overflows 128 bits, for a
/// quotient or remainder whose divisor may be below 1, and for operators without a rule, such as the division of
/// floats.
fn operated(op: Arithmetic, a: ValueInterval, b: ValueInterval) -> Option<ValueInterval> {
    let ends = |apply: &dyn Fn(i128, i128) -> Option<i128>| {
        let corners = [(a[0], b[0]), (a[0], b[1]), (a[1], b[0]), (a[1], b[1])];
        let all: Vec<i128> =
            corners.into_iter().map(|(a, b)| apply(a, b)).collect::<Option<_>>()?;
        Some([*all.iter().min()?, *all.iter().max()?])
    };
    match op {
        Arithmetic::Add => ends(&i128::checked_add),
        Arithmetic::Subtract => ends(&i128::checked_sub),
        Arithmetic::Multiply => ends(&i128::checked_mul),
        Arithmetic::FloorDivide if b[0] > 0 => ends(&i128::checked_div_euclid),
        Arithmetic::Modulo if b[0] > 0 => {
            let most = b[1].checked_sub(1)?;
            Some(if a[0] >= 0 { [0, most.min(a[1])] } else { [0, most] })
        }
        Arithmetic::Min => Some([a[0].min(b[0]), a[1].min(b[1])]),
        Arithmetic::Max => Some([a[0].max(b[0]), a[1].max(b[1])]),
        _ => None,
    }
}
