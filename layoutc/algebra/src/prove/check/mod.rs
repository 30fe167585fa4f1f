//! Independent checker of layouts. [`check()`] derives the claims of a layout again from its [`Certificate`], without
//! trusting the provers or the simplifier.
//!
//! The checker shares with the provers only the expression type and its evaluation, the partition of axes into
//! components, and small helpers. A digit proof supplies chains of digits as a hint. The checker verifies that the
//! chains cover every index of every axis. It evaluates the map composed from the steps, the emitted map and the
//! emitted inverse on the digits (see `sums`), and accepts if the two maps agree and the inverse of the map returns the
//! index: a map with a left inverse is injective. An enumeration is repeated by separate code in another order (see
//! `points`).

use alloc::vec::Vec;

use thiserror::Error;

use super::{Executor, value_of};
use crate::digits::Digits;
use crate::expr::{BinOp, CompareOp, Expr, ExprError, ExprNode, Predicate, Var};
use crate::layout::physical::groups;
use crate::layout::symbol_values::samples;
use crate::layout::{Layout, ProofMethod, Verdict};
use crate::symbol::Symbol;

mod bits;
mod collision_sweep;
mod curves;
mod division;
mod points;
mod predicate;
mod program;
mod ranges;
mod ratios;
mod signs;
mod sums;
mod swizzle;
mod terms;
#[cfg(test)]
mod tests;

use sums::CheckerContext;
pub(crate) use swizzle::check_swizzle;
use terms::Sum;

/// Evidence for the claims of a layout: the index maps as composed from its steps before simplification, and the digits
/// of its proof.
#[derive(Debug, Clone, Copy)]
pub struct Certificate<'a> {
    /// Physical indices of an element over `Var::Axis`, one per physical axis, as composed from the steps.
    pub composed_physical: &'a [Expr],
    /// Targets of the proof: indices over `Var::Axis` that are claimed injective as a tuple, as composed from the
    /// steps.
    pub composed_targets: &'a [Expr],
    /// Number of values of each target, over symbols: target `k` is claimed to be in `0..slots[k]`.
    pub slots: &'a [Expr],
    /// Chains and digits of a digit proof; `None` if the layout was proven without digits, by enumeration or because it
    /// has no elements.
    pub digits: Option<&'a Digits>,
    /// Kind of the indices in `composed_targets`: the storage indices, or the offset.
    pub targets: ClaimTargets,
}

/// Indices of a layout that are the targets of its injectivity proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimTargets {
    /// The targets are the storage indices, each with the extent of its storage axis.
    Storage,
    /// The only target is the offset, for layouts with explicit strides. If strides or extents are symbolic and the
    /// strides are proven to nest, the targets may be [`ClaimTargets::Storage`] instead.
    Offset,
}

/// Reason why the checker rejects a certificate.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CertificateError {
    /// The chains of digits do not cover every index along this logical axis exactly once. For a wrong chain of fused
    /// axes, it is the outermost of them. 0 also stands for a chain that does not cover the digit that it subdivides.
    #[error("the digits do not cover axis {0}")]
    Chains(usize),
    /// The emitted index of the physical axis at this position is not proven equal to the index composed from the
    /// steps. The number of physical axes stands for the emitted offset.
    ///
    /// For a proof by enumeration, the position is that of a physical axis whose emitted index is not the sum of its
    /// storage indices times their strides, or that of the first target of a component in
    /// [`Certificate::composed_targets`]; any target of the component may differ from the emitted one.
    #[error("the map of physical axis {0} is not the composition of the steps")]
    Map(usize),
    /// The emitted inverse for this logical axis, applied to the emitted map, is not proven to return the logical
    /// index. For a swizzled layout, the inverse does not undo the swizzle; 0 also stands for a swizzle that is not its
    /// own inverse.
    #[error("the inverse of axis {0} does not return its index")]
    Inverse(usize),
    /// The target at this position in [`Certificate::composed_targets`] is not proven to be at least 0 and below its
    /// number of slots. 0 also stands for a swizzle that moves an index out of the extent of its physical axis.
    ///
    /// For a proof by enumeration, the position is that of the first target of a component; any target of the component
    /// may be the wrong one.
    #[error("storage axis {0} exceeds its extent")]
    Bounds(usize),
    /// The comparison at this position in the predicate `valid` of the layout is not proven true on every element. The
    /// position `usize::MAX` means that the predicate as a whole is true on a padding slot, or false on a slot with an
    /// element. For a swizzled layout, the comparison is not the one before swizzling with the swizzle applied; the
    /// position is the number of comparisons before swizzling if the numbers of comparisons differ.
    #[error("comparison {0} of the predicate does not hold on every element")]
    Predicate(usize),
    /// The verdict of the layout contradicts its number of elements or its number of slots, or its number of elements
    /// is wrong.
    #[error("the verdict contradicts the number of slots")]
    Verdict,
    /// The first element is not at its declared offset, or its offset is not a multiple of the alignment, or the
    /// padding before it is negative.
    #[error("the first element is not aligned")]
    Origin,
    /// Two elements have equal values of all targets of the proof, and so share a slot.
    #[error("two points share a slot")]
    Collision,
    /// The Hilbert curve of a grid with these numbers of rows and columns does not visit every cell exactly once.
    #[error("the curve of {0} rows and {1} columns does not visit every cell once")]
    Curve(u32, u32),
    /// An expression of the layout cannot be evaluated by the checker.
    #[error("the checker cannot evaluate an expression: {0}")]
    Expr(#[from] ExprError),
    /// The claims are neither verified for all values of the symbols nor refuted by the sampled values.
    #[error("neither verified for all values of the symbols nor refuted")]
    Undecided,
    /// The certificate or the layout lacks a part that the check needs, such as the digits or the inverse, or a number
    /// of an enumerated layout is not a constant of 64 bits.
    #[error("the certificate is incomplete")]
    Missing,
}

/// Verifies a layout against its certificate: its map, inverse, predicate, verdict and alignment. `executor` runs and
/// caches enumerations.
///
/// # Errors
/// [`CertificateError`] for the first claim that is refuted or cannot be verified.
pub fn check(
    layout: &Layout,
    certificate: &Certificate<'_>,
    executor: &dyn Executor,
) -> Result<(), CertificateError> {
    check_verdict(layout)?;
    check_origin(layout)?;
    if empty(layout) {
        return Ok(());
    }
    match layout.proof {
        ProofMethod::Digits | ProofMethod::Gf2 => {
            match check_digits(layout, certificate, executor) {
                Ok(()) => {}
                // Loops are generated from the chains: incomplete ones are wrong regardless of the map.
                Err(error @ CertificateError::Chains(_)) if layout.symbols.is_empty() => {
                    return Err(error);
                }
                Err(error) => check_undecided(layout, certificate, error)?,
            }
        }
        ProofMethod::Enumeration => points::check(layout, certificate, executor)?,
    }
    predicate::check_padding(layout)
}

/// Decides by evaluation the claims that the digit check rejected with `error`. In a layout without symbols, all
/// elements are checked; if [`points::check_elements`] skips the layout, the result is `error`. In a layout with
/// symbols, elements are checked for sample values of the symbols: this can refute a claim, but not prove it, so that
/// otherwise the result is `Undecided`.
fn check_undecided(
    layout: &Layout,
    certificate: &Certificate<'_>,
    error: CertificateError,
) -> Result<(), CertificateError> {
    if layout.symbols.is_empty() {
        let visited = points::check_elements(layout, certificate, &[])?;
        return if visited { Ok(()) } else { Err(error) };
    }
    for values in samples(&layout.symbols, &extents(layout)) {
        let _ = points::check_elements(layout, certificate, &values)?;
    }
    Err(CertificateError::Undecided)
}

/// Checks for sample values of the symbols that the element at index 0 is at its declared offset, that its offset in
/// bits is a multiple of the alignment, and that the padding before it is not negative. [`CertificateError::Origin`]
/// otherwise. A layout without a declared alignment passes.
fn check_origin(layout: &Layout) -> Result<(), CertificateError> {
    let Some(origin) = &layout.origin else { return Ok(()) };
    for symbols in samples(&layout.symbols, &extents(layout)) {
        let zeros = alloc::vec![0_i128; layout.logical.len()];
        let at = |expr: &Expr| expr.evaluate(&|var| value_of(var, &zeros, &symbols));
        let (offset, whole) = (at(&layout.offset)?, i128::from(origin.alignment_bytes) * 8);
        let bits =
            offset.checked_mul(i128::from(origin.element_bits)).ok_or(ExprError::Overflow)?;
        let is_aligned = bits.rem_euclid(whole) == 0 || empty(layout);
        if !is_aligned || offset != at(&origin.offset)? || at(&layout.lead)? < 0 {
            return Err(CertificateError::Origin);
        }
    }
    Ok(())
}

fn extents(layout: &Layout) -> Vec<Expr> {
    layout.logical.iter().map(|axis| axis.extent.clone()).collect()
}

/// True if an extent of the layout is the constant 0, so that it has no elements and every claim about them
/// holds.
fn empty(layout: &Layout) -> bool {
    layout.logical.iter().any(|axis| axis.extent.as_const() == Some(0))
}

/// Symbols of the layout, with their minima raised by [`raise`] to the values that follow from extents of at least 1 on
/// all logical axes.
fn nonempty_symbols(layout: &Layout) -> Vec<Symbol> {
    let mut symbols = layout.symbols.clone();
    for axis in &layout.logical {
        raise(&axis.extent, 1, &mut symbols);
    }
    symbols
}

/// Raises the minimum of each symbol in `extent` to the value that follows from `extent >= least`: `n // 4 >= 1` gives
/// `n >= 4`. Handles single symbols, quotients by constants and, if `least` is 1, products; any other extent changes no
/// minimum.
fn raise(extent: &Expr, least: i128, symbols: &mut [Symbol]) {
    match extent.node() {
        ExprNode::Var(Var::Symbol(k)) => {
            if let Some(symbol) = usize::try_from(*k).ok().and_then(|k| symbols.get_mut(k)) {
                symbol.min = symbol.min.max(least);
            }
        }
        // A product of non-negative factors is at least 1 only if each factor is.
        ExprNode::Bin(BinOp::Mul, a, b) if least == 1 => {
            raise(a, 1, symbols);
            raise(b, 1, symbols);
        }
        ExprNode::Bin(BinOp::FloorDiv, a, b) => {
            if let Some(least) = b.as_const().and_then(|by| by.checked_mul(least)) {
                raise(a, least, symbols);
            }
        }
        ExprNode::Const(_) | ExprNode::Var(_) | ExprNode::Neg(_) | ExprNode::Bin(..) => {}
    }
}

fn check_verdict(layout: &Layout) -> Result<(), CertificateError> {
    let symbols = nonempty_symbols(layout);
    let domain = CheckerContext::of_symbols(&symbols);
    let logical = domain.sum(&layout.logical_elements, &|_| None)?;
    let physical = domain.sum(&layout.physical_elements, &|_| None)?;
    let mut product = Sum::constant(1);
    for axis in &layout.logical {
        product = product.times(&domain.sum(&axis.extent, &|_| None)?)?;
    }
    let equal = logical.minus(&physical)?.is_zero();
    let bijective = layout.verdict == Verdict::Bijective;
    // Elements of a domain are counted by enumeration.
    let counted = layout.domain.is_some() || product.minus(&logical)?.is_zero();
    // With symbols, the verdict may be padded although the two numbers are equal, because their equality was not
    // proven.
    let hides = equal && !bijective && symbols.is_empty();
    if !counted || hides || (bijective && (!equal || layout.valid.is_some())) {
        return Err(CertificateError::Verdict);
    }
    Ok(())
}

fn check_digits(
    layout: &Layout,
    certificate: &Certificate<'_>,
    executor: &dyn Executor,
) -> Result<(), CertificateError> {
    let (Some(digits), Some(inverse)) = (certificate.digits, &layout.inverse) else {
        return Err(CertificateError::Missing);
    };
    let symbols = nonempty_symbols(layout);
    let mut domain = CheckerContext::of_digits(&symbols, digits, &layout.logical)?;
    domain.curves = curves::visited(certificate, executor)?;
    let physical = check_maps(layout, certificate, &domain)?;
    let targets = check_bounds(layout, certificate, &domain)?;
    let back_sums = match certificate.targets {
        ClaimTargets::Offset => physical,
        ClaimTargets::Storage => physical_of_storage(layout, &domain, &targets)?,
    };
    let back = |var: Var| match var {
        Var::Physical(k) => back_sums.get(usize::try_from(k).ok()?).cloned(),
        _ => None,
    };
    for (k, index) in inverse.iter().enumerate() {
        if !domain.is_axis(k, index, &back)? {
            return Err(CertificateError::Inverse(k));
        }
    }
    check_predicate(layout.valid.as_ref(), &domain, &back)
}

/// Checks two claims: the emitted index of every physical axis equals the index composed from the steps, and the
/// emitted offset equals the sum of these indices times their strides. Returns the composed indices as sums over the
/// digits.
fn check_maps(
    layout: &Layout,
    certificate: &Certificate<'_>,
    domain: &CheckerContext<'_>,
) -> Result<Vec<Sum>, CertificateError> {
    let axis = |var: Var| match var {
        Var::Axis(k) => domain.axis(usize::try_from(k).ok()?),
        _ => None,
    };
    let mut physical = Vec::new();
    for (k, (emitted, composed)) in
        layout.physical_map.iter().zip(certificate.composed_physical).enumerate()
    {
        let (emitted, composed) = (domain.sum(emitted, &axis)?, domain.sum(composed, &axis)?);
        if !domain.equal(&emitted, &composed)? {
            return Err(CertificateError::Map(k));
        }
        physical.push(composed);
    }
    check_offset(layout, domain, &physical, &axis)?;
    Ok(physical)
}

/// Checks that every target of the certificate is non-negative and below its number of slots. Returns pairs
/// `(target, slots)` of sums, one for each target.
fn check_bounds(
    layout: &Layout,
    certificate: &Certificate<'_>,
    domain: &CheckerContext<'_>,
) -> Result<Vec<(Sum, Sum)>, CertificateError> {
    let axis = |var: Var| match var {
        Var::Axis(k) => domain.axis(usize::try_from(k).ok()?),
        _ => None,
    };
    let mut targets = Vec::new();
    for (k, (target, slots)) in
        certificate.composed_targets.iter().zip(certificate.slots).enumerate()
    {
        let sum = domain.sum(target, &axis)?;
        let slots = domain.sum(slots, &|_| None)?;
        if !domain.stays_inside(&sum, &slots)? && !points::stays_inside(target, &slots, layout)? {
            return Err(CertificateError::Bounds(k));
        }
        targets.push((sum, slots));
    }
    Ok(targets)
}

/// Physical indices of an element, one per physical axis, as sums over new digits of `domain`. `targets` are pairs of
/// storage index and extent. Each storage index becomes one digit, times its stride within its physical axis. The
/// leading padding is added on the last physical axis.
fn physical_of_storage(
    layout: &Layout,
    domain: &CheckerContext<'_>,
    targets: &[(Sum, Sum)],
) -> Result<Vec<Sum>, CertificateError> {
    let (indices, extents): (Vec<Sum>, Vec<Sum>) = targets.iter().cloned().unzip();
    let stand_ins = domain.add_storage(&indices, &extents)?;
    let mut physical = Vec::new();
    for (g, group) in groups(layout.storage.len(), &layout.separators).into_iter().enumerate() {
        let pitch = layout.physical_strides.get(g).ok_or(CertificateError::Missing)?;
        let is_last = group.end == layout.storage.len();
        let mut sum = if is_last { domain.sum(&layout.lead, &|_| None)? } else { Sum::constant(0) };
        for k in group {
            let (stride, index) = (
                layout.strides.get(k).ok_or(CertificateError::Missing)?,
                stand_ins.get(k).ok_or(CertificateError::Missing)?,
            );
            let local = Expr::binary(BinOp::FloorDiv, stride, pitch)?;
            sum = sum.plus(&index.times(&domain.sum(&local, &|_| None)?)?)?;
        }
        physical.push(sum);
    }
    Ok(physical)
}

/// Checks that the emitted offset is the sum of the physical indices times the strides of their physical axes. `axis`
/// returns the sum that `Var::Axis` stands for.
fn check_offset(
    layout: &Layout,
    domain: &CheckerContext<'_>,
    physical: &[Sum],
    axis: &dyn Fn(Var) -> Option<Sum>,
) -> Result<(), CertificateError> {
    let mut flat = Sum::constant(0);
    for (index, pitch) in physical.iter().zip(&layout.physical_strides) {
        flat = flat.plus(&index.times(&domain.sum(pitch, &|_| None)?)?)?;
    }
    let emitted = domain.sum(&layout.offset, axis)?;
    if domain.equal(&emitted, &flat)? { Ok(()) } else { Err(CertificateError::Map(physical.len())) }
}

/// Checks that every comparison of the predicate `valid` holds on every element; `None` is a predicate that is always
/// true. `back` returns the physical index of the element that `Var::Physical` stands for.
fn check_predicate(
    valid: Option<&Predicate>,
    domain: &CheckerContext<'_>,
    back: &dyn Fn(Var) -> Option<Sum>,
) -> Result<(), CertificateError> {
    let Some(valid) = valid else { return Ok(()) };
    for (k, comparison) in valid.all.iter().enumerate() {
        let (left, right) =
            (domain.sum(&comparison.left, back)?, domain.sum(&comparison.right, back)?);
        let holds = match comparison.op {
            CompareOp::Eq => domain.equal(&left, &right)?,
            CompareOp::Ge => domain.never_negative(&left.minus(&right)?)?,
            CompareOp::Lt => {
                domain.never_negative(&right.minus(&left)?.minus(&Sum::constant(1))?)?
            }
        };
        if !holds {
            return Err(CertificateError::Predicate(k));
        }
    }
    Ok(())
}
