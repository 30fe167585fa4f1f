//! Arrangement of a tensor in a flat buffer, as a stride for each digit.

use layoutc_algebra::digits::Digits;
use layoutc_algebra::expr::{Expr, ExprError};
use layoutc_algebra::layout::{DigitTargets, Layout};
use layoutc_algebra::symbol::Axis;

use crate::loops::arith::{product, scale, sum};
use crate::loops::error::PlanError;

/// Arrangement of a logical tensor in a flat buffer: the offset is a weighted sum of digits of its axes.
#[derive(Debug, Clone)]
pub(crate) struct AddressMap {
    /// Chains; every logical axis is in exactly one.
    pub chains: Vec<AddressChain>,
    /// Constant term of the offset, in elements.
    pub constant: Expr,
}

/// Chain of digits: `m = sum(digit * weight)`; the row-major index of its axes is `sign * m + constant`.
#[derive(Debug, Clone)]
pub(crate) struct AddressChain {
    /// Logical axes, outermost first.
    pub axes: Vec<usize>,
    /// Direction of the chain: `1` or `-1`.
    pub sign: i128,
    /// Constant term of the row-major index.
    pub constant: i128,
    /// Digits, most significant first.
    pub digits: Vec<AddressDigit>,
}

/// Digit of a chain.
#[derive(Debug, Clone)]
pub(crate) struct AddressDigit {
    /// Weight of the digit in the sum `m` of its chain.
    pub weight: i128,
    /// Stride of the digit, in elements; over symbols.
    pub stride: Expr,
    /// Name of the storage axis that consists of this digit alone; `None` if there is none.
    pub storage: Option<String>,
}

/// Address map of a layout in its physical memory. `digits` is the normal form of the layout, [`Layout::digits`].
///
/// # Errors
/// [`ExprError`] if a stride overflows or becomes too large.
pub(crate) fn physical_address_map(
    layout: &Layout,
    digits: &Digits,
) -> Result<AddressMap, ExprError> {
    let offset = [Expr::constant(1)];
    let (target_strides, names) = match layout.digit_targets() {
        DigitTargets::Storage => (layout.strides(), layout.storage()),
        DigitTargets::Offset => (offset.as_slice(), [].as_slice()),
    };
    // The normal form of an offset includes the lead.
    let mut constant = match layout.digit_targets() {
        DigitTargets::Storage => layout.lead().clone(),
        DigitTargets::Offset => Expr::constant(0),
    };
    let mut strides = vec![Expr::constant(0); digits.digits.len()];
    let mut alone: Vec<Option<String>> = vec![None; digits.digits.len()];
    for (target, (form, stride)) in digits.targets.iter().zip(target_strides).enumerate() {
        constant = sum(&constant, &scale(stride, form.constant)?)?;
        for (digit, weight) in &form.terms {
            if let Some(sum_so_far) = strides.get_mut(*digit) {
                *sum_so_far = sum(sum_so_far, &scale(stride, *weight)?)?;
            }
        }
        if let [(digit, 1)] = form.terms.as_slice()
            && let Some(alone) = alone.get_mut(*digit)
        {
            *alone = names.get(target).map(|axis| axis.name.clone());
        }
    }
    let address_digit = |k: &usize| {
        let digit = digits.digits.get(*k)?;
        Some(AddressDigit {
            weight: digit.weight,
            stride: strides.get(*k)?.clone(),
            storage: alone.get(*k)?.clone(),
        })
    };
    let chains = digits.chains.iter().map(|chain| AddressChain {
        axes: chain.axes.clone(),
        sign: chain.sign,
        constant: chain.constant,
        digits: chain.digits.iter().filter_map(address_digit).collect(),
    });
    Ok(AddressMap { chains: chains.collect(), constant })
}

/// Address map of the dense row-major buffer of a tensor with the logical axes `axes`, with the chains of `like`.
/// `None` if a chain fuses axes that are not consecutive.
///
/// # Errors
/// [`ExprError`] if a stride overflows or becomes too large.
pub(crate) fn dense_address_map(
    axes: &[Axis],
    like: &AddressMap,
) -> Result<Option<AddressMap>, ExprError> {
    let strides = dense_strides(axes)?;
    let mut map = AddressMap { chains: Vec::new(), constant: Expr::constant(0) };
    for chain in &like.chains {
        if chain.axes.windows(2).any(|pair| matches!(pair, [a, b] if a + 1 != *b)) {
            return Ok(None);
        }
        let Some(stride) = chain.axes.last().and_then(|axis| strides.get(*axis)) else {
            continue;
        };
        map.constant = sum(&map.constant, &scale(stride, chain.constant)?)?;
        map.chains.push(AddressChain {
            axes: chain.axes.clone(),
            sign: chain.sign,
            constant: chain.constant,
            digits: vec![AddressDigit {
                weight: 1,
                stride: scale(stride, chain.sign)?,
                storage: None,
            }],
        });
    }
    Ok(Some(map))
}

/// Strides of a dense row-major buffer, in elements: `[3, 4, 5]` gives `[20, 5, 1]`.
///
/// # Errors
/// [`ExprError`] if a stride overflows or becomes too large.
pub(crate) fn dense_strides(axes: &[Axis]) -> Result<Vec<Expr>, ExprError> {
    let mut stride = Expr::constant(1);
    let mut strides = Vec::with_capacity(axes.len());
    for axis in axes.iter().rev() {
        strides.push(stride.clone());
        stride = product(&axis.extent, &stride)?;
    }
    strides.reverse();
    Ok(strides)
}

/// Renumbers the axes of an address map: axis `k` becomes `axes[k]`.
#[must_use]
pub(crate) fn renumber(mut map: AddressMap, axes: &[usize]) -> AddressMap {
    for axis in map.chains.iter_mut().flat_map(|chain| chain.axes.iter_mut()) {
        *axis = axes.get(*axis).copied().unwrap_or(*axis);
    }
    map
}

/// Address maps of source and destination of a relayout, in this order, over the logical axes of the destination.
/// `axes[k]` is the position in the destination of axis `k` of the source. `None` if a layout has no normal form.
///
/// # Errors
/// [`PlanError::Expr`] if a stride overflows or becomes too large.
pub(crate) fn address_maps(
    from: &Layout,
    to: &Layout,
    axes: &[usize],
) -> Result<Option<(AddressMap, AddressMap)>, PlanError> {
    let (Some(a), Some(b)) = (from.digits(), to.digits()) else { return Ok(None) };
    Ok(Some((renumber(physical_address_map(from, a)?, axes), physical_address_map(to, b)?)))
}
