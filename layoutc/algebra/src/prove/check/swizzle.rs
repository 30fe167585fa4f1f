//! Check of a swizzled layout against the layout before swizzling, which is already proven. Two claims are verified:
//! the swizzle applies to the last physical index, and the inverse undoes it.
//!
//! Two expressions are accepted as equal in three cases: they agree bit by bit with every index written as a sum of
//! bits, they agree at every index of a small shape, or one is the other with the swizzle substituted.

use alloc::vec::Vec;

use super::sums::CheckerContext;
use super::terms::{Factor, Sum};
use super::{CertificateError, points};
use crate::expr::{BinOp, CompareOp, Expr, ExprError, Var};
use crate::layout::Layout;
use crate::layout::swizzle::Swizzle;
use crate::symbol::Symbol;

/// Maximum number of index tuples at which two expressions are compared by value; in a larger shape, expressions that
/// do not agree by bits count as different.
const POINTS: i128 = 1 << 16;

/// Checks that the layout `after` is the layout `before` with its last physical index swizzled: the physical indices,
/// the offset, the inverse and the predicate of `after` follow from those of `before` by the swizzle `after.swizzle`.
/// [`CertificateError`] for the first of them that does not, or if the swizzle does not permute the last physical index
/// within its extent.
pub(crate) fn check_swizzle(before: &Layout, after: &Layout) -> Result<(), CertificateError> {
    let swizzle = after.swizzle.ok_or(CertificateError::Missing)?;
    let last = before.physical_map.len().checked_sub(1).ok_or(CertificateError::Missing)?;
    stays_inside(before, swizzle)?;
    check_involution(swizzle)?;
    let axes: Vec<Expr> = before.logical.iter().map(|axis| axis.extent.clone()).collect();
    let logical = IndexBox::new(&before.symbols, &axes, Var::Axis, swizzle)?;
    for (k, (a, b)) in before.physical_map.iter().zip(&after.physical_map).enumerate() {
        let is_same = if k == last {
            *b == swizzle.apply(a)? || logical.same(&swizzle_definition(swizzle, a)?, b)?
        } else {
            a == b
        };
        if !is_same {
            return Err(CertificateError::Map(k));
        }
    }
    let offset = flat(after)?;
    if offset != after.offset && !logical.same(&offset, &after.offset)? {
        return Err(CertificateError::Map(last + 1));
    }
    check_back(before, after, swizzle, last)
}

/// Offset of a layout: the sum of its physical indices times the strides of their physical axes. Factors of 1
/// are omitted.
fn flat(layout: &Layout) -> Result<Expr, ExprError> {
    let mut flat: Option<Expr> = None;
    for (index, pitch) in layout.physical_map.iter().zip(&layout.physical_strides) {
        let term = match pitch.as_const() {
            Some(1) => index.clone(),
            _ => Expr::binary(BinOp::Mul, index, pitch)?,
        };
        flat = Some(match flat {
            Some(sum) => Expr::binary(BinOp::Add, &sum, &term)?,
            None => term,
        });
    }
    Ok(flat.unwrap_or_else(|| Expr::constant(0)))
}

/// Checks that the inverse and the predicate of `after` are those of `before` with the physical index at position
/// `last` replaced by its swizzled value; the swizzle is its own inverse. [`CertificateError::Inverse`] or
/// [`CertificateError::Predicate`] otherwise, and [`CertificateError::Missing`] if only one of the layouts has an
/// inverse.
fn check_back(
    before: &Layout,
    after: &Layout,
    swizzle: Swizzle,
    last: usize,
) -> Result<(), CertificateError> {
    let physical = IndexBox::new(&before.symbols, &before.physical_shape, Var::Physical, swizzle)?;
    let own = Var::Physical(u32::try_from(last).map_err(|_| CertificateError::Missing)?);
    let put =
        |expr: &Expr, turned: &Expr| expr.substitute(&|var| (var == own).then(|| turned.clone()));
    let (plain, other) =
        (swizzle.apply(&Expr::var(own))?, swizzle_definition(swizzle, &Expr::var(own))?);
    let leads = |a: &Expr, b: &Expr| -> Result<bool, CertificateError> {
        Ok(*b == put(a, &plain)? || physical.same(&put(a, &other)?, b)?)
    };
    let (a, b) = (before.inverse.as_deref(), after.inverse.as_deref());
    if a.map(<[Expr]>::len) != b.map(<[Expr]>::len) {
        return Err(CertificateError::Missing);
    }
    for (k, (a, b)) in a.unwrap_or_default().iter().zip(b.unwrap_or_default()).enumerate() {
        if !leads(a, b)? {
            return Err(CertificateError::Inverse(k));
        }
    }
    let all = |layout: &Layout| -> Vec<(Expr, CompareOp, Expr)> {
        let all = layout.valid.iter().flat_map(|valid| &valid.all);
        all.map(|c| (c.left.clone(), c.op, c.right.clone())).collect()
    };
    let (a, b) = (all(before), all(after));
    if a.len() != b.len() {
        return Err(CertificateError::Predicate(a.len()));
    }
    for (k, (a, b)) in a.iter().zip(&b).enumerate() {
        if a.1 != b.1 || !leads(&a.0, &b.0)? || !leads(&a.2, &b.2)? {
            return Err(CertificateError::Predicate(k));
        }
    }
    Ok(())
}

/// Checks that the swizzle maps the last physical index into its extent: the extent is a multiple of the block of
/// `2^n` indices that the swizzle permutes among themselves. [`CertificateError::Bounds`] otherwise.
fn stays_inside(layout: &Layout, swizzle: Swizzle) -> Result<(), CertificateError> {
    if swizzle.bits() == 0 {
        return Ok(());
    }
    let extent = layout.physical_shape.last().ok_or(CertificateError::Missing)?;
    let (low, distance) = (swizzle.base(), swizzle.shift().unsigned_abs());
    let last = extent.as_const().map(|extent| (extent - 1).max(0));
    let run = if swizzle.shift() >= 0 {
        let mask = (1_i128 << swizzle.bits()) - 1;
        let folded = last.map_or(mask, |last| (last >> (low + distance)) & mask);
        if folded == 0 { 0 } else { low + 128 - folded.leading_zeros() }
    } else if last.is_some_and(|last| last >> low == 0) {
        0
    } else {
        low + distance + swizzle.bits()
    };
    let domain = CheckerContext::of_symbols(&layout.symbols);
    let extent = domain.sum(extent, &|_| None)?;
    let rest = domain.divmod(&extent, &Sum::constant(1 << run))?.1;
    if rest.is_zero() { Ok(()) } else { Err(CertificateError::Bounds(0)) }
}

/// Checks that the emitted expression of the swizzle equals [`swizzle_definition`], and that the swizzle is its own
/// inverse; [`CertificateError::Inverse`] with 0 otherwise.
fn check_involution(swizzle: Swizzle) -> Result<(), CertificateError> {
    let domain = CheckerContext::of_symbols(&[]);
    let number = number(&domain, swizzle, None)?;
    let at = |x: &Sum, expr: &Expr| domain.sum(expr, &|_| Some(x.clone()));
    let own = Expr::var(Var::Physical(0));
    let once = at(&number, &swizzle_definition(swizzle, &own)?)?;
    let same = domain.equal(&at(&number, &swizzle.apply(&own)?)?, &once)?;
    if same && domain.equal(&at(&once, &swizzle_definition(swizzle, &own)?)?, &number)? {
        Ok(())
    } else {
        Err(CertificateError::Inverse(0))
    }
}

/// Definition of a swizzle of `x` in CuTe terms: `x ^ ((x & mask) >> shift)`, where a negative shift is a shift to
/// the left.
fn swizzle_definition(swizzle: Swizzle, x: &Expr) -> Result<Expr, ExprError> {
    let distance = Expr::constant(1 << swizzle.shift().unsigned_abs());
    let is_down = swizzle.shift() >= 0;
    let low = swizzle.base() + if is_down { swizzle.shift().unsigned_abs() } else { 0 };
    let mask = ((1_i128 << swizzle.bits()) - 1) << low;
    let taken = Expr::binary(BinOp::And, x, &Expr::constant(mask))?;
    let op = if is_down { BinOp::FloorDiv } else { BinOp::Mul };
    Expr::binary(BinOp::Xor, x, &Expr::binary(op, &taken, &distance)?)
}

/// Arbitrary value in `0..extent` as a sum of new one-bit digits. The digits may encode values up to the next power of
/// two above `extent`. If the extent is `None` or symbolic, the value is any non-negative one: its digits are one for
/// each bit that the swizzle uses, and one for all bits above these.
fn number(
    domain: &CheckerContext<'_>,
    swizzle: Swizzle,
    extent: Option<&Expr>,
) -> Result<Sum, CertificateError> {
    let bits = swizzle.bits() + swizzle.base() + swizzle.shift().unsigned_abs();
    let (mut sum, mut bits) = (Sum::default(), bits);
    let fixed = extent.and_then(Expr::as_const);
    if let Some(extent) = fixed {
        bits = 128 - extent.saturating_sub(1).max(0).leading_zeros();
    }
    for bit in 0..bits {
        let digit = domain.add_digit(Sum::constant(1), None);
        sum = sum.plus_owned(&Sum::factor(Factor::Digit(digit), 1 << bit))?;
    }
    if fixed.is_none() {
        let digit = domain.add_digit(Sum::constant(1 << (120 - bits)), None);
        sum = sum.plus_owned(&Sum::factor(Factor::Digit(digit), 1 << bits))?;
    }
    Ok(sum)
}

/// Set of all index tuples of a shape, over which two expressions are compared.
struct IndexBox<'a> {
    domain: CheckerContext<'a>,
    numbers: Vec<(Var, Sum)>,
    vars: Vec<Var>,
    extents: Option<Vec<i128>>,
}

impl<'a> IndexBox<'a> {
    fn new(
        symbols: &'a [Symbol],
        shape: &[Expr],
        var: fn(u32) -> Var,
        swizzle: Swizzle,
    ) -> Result<Self, CertificateError> {
        let domain = CheckerContext::of_symbols(symbols);
        let mut numbers = Vec::new();
        for (k, extent) in (0_u32..).zip(shape) {
            numbers.push((var(k), number(&domain, swizzle, Some(extent))?));
        }
        let vars = numbers.iter().map(|(var, _)| *var).collect();
        let extents = shape.iter().map(Expr::as_const).collect();
        Ok(Self { domain, numbers, vars, extents })
    }

    /// True if two expressions are proven equal at every index tuple of the shape, by bits or, for at most [`POINTS`]
    /// index tuples, by evaluation.
    fn same(&self, a: &Expr, b: &Expr) -> Result<bool, CertificateError> {
        let at =
            |var: Var| self.numbers.iter().find(|(own, _)| *own == var).map(|(_, sum)| sum.clone());
        if let (Ok(a), Ok(b)) = (self.domain.sum(a, &at), self.domain.sum(b, &at))
            && self.domain.equal(&a, &b)?
        {
            return Ok(true);
        }
        let Some(extents) = &self.extents else { return Ok(false) };
        if extents.iter().fold(1_i128, |n, e| n.saturating_mul(*e)) > POINTS {
            return Ok(false);
        }
        points::equal_everywhere(a, b, &self.vars, extents)
    }
}
