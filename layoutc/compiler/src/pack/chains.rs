//! Offsets in both buffers as sums of the same digits, for given values of the symbols.

use std::collections::BTreeMap;

use layoutc_algebra::digits::{self, Digits};
use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::{DigitTargets, Layout};

use super::PackError;
use super::shape::number;
use crate::model::Tensor;

/// Exclusive upper limit of the number of slots and elements, so that sums of a few offsets stay within 64 bits.
const MOST: i64 = 1 << 59;

/// Storage order of the axes in a dense buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Row-major, as in C.
    LastFastest,
    /// Column-major, as in Fortran.
    FirstFastest,
}

/// Digit: weight in the `m` of its chain, number of values, and stride in the buffer of the layout, in units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digit {
    pub(super) weight: i64,
    pub(super) extent: i64,
    /// Not 0; negative for a reversed axis.
    pub(super) stride: i64,
}

/// Chain of digits, with `m = sum(digit * weight)`. Elements exist where `low <= m < high`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) low: i64,
    pub(super) high: i64,
    /// Stride of `m` in the dense buffer, in units; not 0.
    pub(super) dense: i64,
    /// Digits with more than one value, most significant first.
    pub(super) digits: Vec<Digit>,
}

/// Offsets of the elements of a tensor in both buffers, in units.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "it is what the field holds")]
pub(super) struct Chains {
    /// Chains; an element has one value of `m` in each.
    pub(super) chains: Vec<Chain>,
    /// Offset in the buffer of the layout with all digits 0.
    pub(super) zero: i64,
    /// Size of the dense buffer, in units.
    pub(super) dense: i64,
    /// Size of the buffer of the layout, in units.
    pub(super) slots: i64,
}

impl Chains {
    /// Chains of a tensor for the values `symbols` and a dense buffer with the axes in `order`, in units of one
    /// element. `None` if the offsets in both buffers are not known to be sums of the same digits, or if the tensor is
    /// empty or too large.
    pub(super) fn of(
        tensor: &Tensor,
        symbols: &BTreeMap<String, i128>,
        order: Order,
    ) -> Result<Option<Self>, PackError> {
        let layout = &tensor.layout;
        let Some(digits) = layout.digits() else { return Ok(None) };
        let value = |expr: &Expr| number(tensor, expr, symbols);
        let extents = layout.logical().iter().map(|axis| value(&axis.extent));
        let extents: Vec<i128> = extents.collect::<Result<_, PackError>>()?;
        let (strides, zero) = strides(layout, digits, &value)?;
        let slots = value(layout.physical_elements())?;
        let chains = digits.chains.iter();
        let chains = chains.map(|chain| Chain::of((chain, digits), &strides, &extents, order));
        let Some(chains) = chains.collect::<Option<Vec<_>>>() else { return Ok(None) };
        let elements = extents.iter().try_fold(1_i128, |all, extent| all.checked_mul(*extent));
        let sizes =
            [zero, elements.unwrap_or(i128::MAX), slots].map(|size| i64::try_from(size).ok());
        let [Some(zero), Some(dense), Some(slots)] = sizes else { return Ok(None) };
        let chains = Self { chains, zero, dense, slots };
        let is_valid = chains.first() >= 0 && dense > 0 && dense < MOST && slots < MOST;
        Ok(is_valid.then_some(chains))
    }

    /// Smallest slot that the digits address.
    pub(super) fn first(&self) -> i64 {
        let digits = self.chains.iter().flat_map(|chain| &chain.digits);
        let back = digits.map(|digit| (digit.stride * (digit.extent - 1)).min(0));
        back.fold(self.zero, i64::saturating_add)
    }

    /// Digits of all chains, from the smallest to the largest stride in the buffer of the layout: chain, position in
    /// the chain, digit.
    pub(super) fn by_stride(&self) -> Vec<(usize, usize, Digit)> {
        let mut all = Vec::new();
        for (chain, of) in self.chains.iter().enumerate() {
            all.extend(of.digits.iter().enumerate().map(|(k, digit)| (chain, k, *digit)));
        }
        all.sort_by_key(|(.., digit)| digit.stride.abs());
        all
    }

    /// Chains in units of `several` elements, a power of two. If it is greater than 1, `None` unless one digit has
    /// stride 1 in both buffers and a multiple of `several` values, and all other strides and the sizes are multiples
    /// of `several`.
    pub(super) fn in_units_of(mut self, several: i64) -> Option<Self> {
        if several == 1 {
            return Some(self);
        }
        let is_run = |chain: &Chain| {
            let last = chain.digits.last();
            chain.dense == 1 && last.is_some_and(|digit| (digit.weight, digit.stride) == (1, 1))
        };
        let run = self.chains.iter().position(is_run)?;
        let part = |value: i64| {
            (value.checked_rem(several) == Some(0)).then(|| value.checked_div(several)).flatten()
        };
        for (number, chain) in self.chains.iter_mut().enumerate() {
            if number != run {
                chain.dense = part(chain.dense)?;
                for digit in &mut chain.digits {
                    digit.stride = part(digit.stride)?;
                }
                continue;
            }
            (chain.low, chain.high) = (part(chain.low)?, part(chain.high)?);
            let (last, others) = chain.digits.split_last_mut()?;
            last.extent = part(last.extent)?;
            for digit in others {
                (digit.weight, digit.stride) = (part(digit.weight)?, part(digit.stride)?);
            }
            chain.digits.retain(|digit| digit.extent > 1);
        }
        self.zero = part(self.zero)?;
        self.dense = part(self.dense)?;
        self.slots = part(self.slots)?;
        Some(self)
    }
}

impl Chain {
    /// Chain of a normal form, whose digits have the strides `strides` in the buffer of the layout; `extents` are those
    /// of the logical axes. `None` if the dense offset is not linear in `m`, if a weight does not divide the next one,
    /// if a stride is 0, or if a value is too large.
    fn of(
        (chain, all): (&digits::Chain, &Digits),
        strides: &[i128],
        extents: &[i128],
        order: Order,
    ) -> Option<Self> {
        let counts = chain.axes.iter().map(|axis| extents.get(*axis).copied());
        let counts = counts.collect::<Option<Vec<_>>>()?;
        let count = counts.into_iter().try_fold(1_i128, i128::checked_mul)?;
        // The row-major index of the axes is `sign * m + constant`.
        let low = if chain.sign < 0 { chain.constant - (count - 1) } else { -chain.constant };
        let high = low.checked_add(count)?;
        let (mut digits, mut above) = (Vec::new(), None);
        for k in &chain.digits {
            let weight = all.digits.get(*k)?.weight;
            let extent = match above {
                None => (high + weight - 1).checked_div_euclid(weight)?,
                Some(above) => (above % weight == 0).then(|| above / weight)?,
            };
            above = Some(weight);
            let [weight, extent, stride] = [weight, extent, *strides.get(*k)?];
            if extent > 1 {
                // A span below 2^59 keeps sums of a few offsets within 64 bits.
                let span = stride.checked_mul(extent)?.checked_abs()?;
                (stride != 0 && span < i128::from(MOST)).then_some(())?;
                let int = |value: i128| i64::try_from(value).ok();
                let (weight, extent) = (int(weight)?, int(extent)?);
                digits.push(Digit { weight, extent, stride: int(stride)? });
            }
        }
        let ends = digits.last().is_none_or(|digit| digit.weight == 1);
        let total = digits.first().map_or(1, |digit| digit.weight.saturating_mul(digit.extent));
        let dense = i64::try_from(dense_stride(chain, extents, order)?).ok()?;
        let (low, high) = (i64::try_from(low).ok()?, i64::try_from(high).ok()?);
        let is_valid = ends && (0..high).contains(&low) && high <= total && dense != 0;
        is_valid.then_some(Self { low, high, dense, digits })
    }
}

/// Stride of each digit in the buffer of the layout, and the offset with all digits 0, in elements. Values that exceed
/// 128 bits are clamped.
fn strides(
    layout: &Layout,
    digits: &Digits,
    value: &dyn Fn(&Expr) -> Result<i128, PackError>,
) -> Result<(Vec<i128>, i128), PackError> {
    // The normal form of an offset includes the lead.
    let (targets, mut zero) = match layout.digit_targets() {
        DigitTargets::Storage => {
            let targets: Vec<i128> =
                layout.strides().iter().map(value).collect::<Result<_, _>>()?;
            (targets, value(layout.lead())?)
        }
        DigitTargets::Offset => (vec![1], 0),
    };
    let mut strides = vec![0_i128; digits.digits.len()];
    for (form, target) in digits.targets.iter().zip(targets) {
        zero = zero.saturating_add(form.constant.saturating_mul(target));
        for (digit, weight) in &form.terms {
            if let Some(stride) = strides.get_mut(*digit) {
                *stride = stride.saturating_add(weight.saturating_mul(target));
            }
        }
    }
    Ok((strides, zero))
}

/// Stride of the `m` of a chain in the dense buffer, in elements. `None` if the chain has several axes that are not
/// consecutive or whose `order` is not row-major, or if the stride is too large.
fn dense_stride(chain: &digits::Chain, extents: &[i128], order: Order) -> Option<i128> {
    let first = *chain.axes.first()?;
    let are_consecutive = chain.axes.iter().zip(first..).all(|(axis, k)| *axis == k);
    let faster = match (order, chain.axes.len()) {
        (Order::LastFastest, _) => extents.get(chain.axes.last()? + 1..)?,
        (Order::FirstFastest, 1) => extents.get(..first)?,
        (Order::FirstFastest, _) => return None,
    };
    let stride = faster.iter().try_fold(chain.sign, |all, extent| all.checked_mul(*extent))?;
    are_consecutive.then_some(stride)
}
