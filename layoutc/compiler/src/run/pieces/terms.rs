//! Offsets in both buffers as sums of the same digits, for given values of the symbols.

use std::collections::BTreeMap;

use layoutc_algebra::expr::Expr;

use super::super::RunError;
use super::super::shape::number;
use super::Order;
use crate::loops::error::PlanError;
use crate::loops::relayout::address_map::{AddressChain, dense_address_map, physical_address_map};
use crate::loops::relayout::digits::{DigitRefinement, common_refinement};
use crate::model::Tensor;

/// Exclusive upper limit of the number of slots and elements, so that sums of a few offsets stay within 64 bits.
const MOST: i64 = 1 << 59;

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
pub(super) struct Terms {
    /// Chains; an element has one value of `m` in each.
    pub(super) chains: Vec<Chain>,
    /// Smallest slot that the digits address.
    pub(super) first: i64,
    /// Size of the dense buffer, in units.
    pub(super) dense: i64,
    /// Size of the buffer of the layout, in units.
    pub(super) slots: i64,
}

impl Terms {
    /// Terms of a tensor for the values `symbols` and a dense buffer with the axes in `order`, in units of one element.
    /// `None` if the offsets in both buffers are not known to be sums of the same digits, if these do not nest in
    /// memory, or if the tensor is empty or too large.
    pub(super) fn of(
        tensor: &Tensor,
        symbols: &BTreeMap<String, i128>,
        order: Order,
    ) -> Result<Option<Self>, RunError> {
        let layout = &tensor.layout;
        let Some(digits) = layout.digits() else { return Ok(None) };
        let physical = physical_address_map(layout, digits).map_err(PlanError::from)?;
        let logical = dense_address_map(layout.logical(), &physical).map_err(PlanError::from)?;
        let Some(logical) = logical else { return Ok(None) };
        let both = common_refinement(&logical, &physical, layout.logical(), layout.symbols());
        let Some(both) = both.map_err(PlanError::from)? else { return Ok(None) };
        let value = |expr: &Expr| number(tensor, expr, symbols);
        let extents: Vec<i128> = layout
            .logical()
            .iter()
            .map(|axis| value(&axis.extent))
            .collect::<Result<_, RunError>>()?;
        let mut chains = Vec::new();
        for (number, chain) in physical.chains.iter().enumerate() {
            let Some(dense) = dense(chain, &extents, order) else { return Ok(None) };
            let Some(chain) = chain_of(&both, number, dense, &value)? else { return Ok(None) };
            chains.push(chain);
        }
        let first = value(&both.to_constant)?;
        let slots = value(layout.physical_elements())?;
        let terms = Self::new(chains, first, extents.iter().product(), slots);
        Ok(terms.filter(Self::nests))
    }

    fn new(chains: Vec<Chain>, zero: i128, dense: i128, slots: i128) -> Option<Self> {
        let back = chains.iter().flat_map(|chain| &chain.digits).map(|digit| {
            let far = i128::from(digit.stride) * i128::from(digit.extent - 1);
            far.min(0)
        });
        let first = i64::try_from(zero + back.sum::<i128>()).ok()?;
        let (dense, slots) = (i64::try_from(dense).ok()?, i64::try_from(slots).ok()?);
        let is_possible = first >= 0 && dense > 0 && dense < MOST && slots < MOST;
        is_possible.then_some(Self { chains, first, dense, slots })
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

    /// True if the stride of each digit is at least the span of the faster ones, and the chains cover the dense buffer
    /// contiguously.
    fn nests(&self) -> bool {
        let mut end = 1;
        let nests = self.by_stride().iter().all(|(.., digit)| {
            let step = digit.stride.abs();
            let is_over = step >= end;
            end = step.saturating_mul(digit.extent);
            is_over && end < MOST
        });
        let mut end = 1;
        let mut chains: Vec<&Chain> = self.chains.iter().filter(|c| c.high - c.low > 1).collect();
        chains.sort_by_key(|chain| chain.dense.abs());
        let is_dense = chains.iter().all(|chain| {
            let follows = chain.dense.abs() == end;
            end = end.saturating_mul(chain.high - chain.low);
            follows
        });
        nests && is_dense && end == self.dense
    }

    /// Terms in units of `several` elements, a power of two. If it is greater than 1, `None` unless one digit has
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
        self.first = part(self.first)?;
        self.dense = part(self.dense)?;
        self.slots = part(self.slots)?;
        Some(self)
    }
}

/// Stride of the `m` of a chain in the dense buffer, in elements. `None` if the chain has several axes and `order` is
/// not row-major, or if the stride is too large.
fn dense(chain: &AddressChain, extents: &[i128], order: Order) -> Option<i64> {
    let (before, after) = match chain.axes.as_slice() {
        [axis] => (extents.get(..*axis)?, extents.get(axis + 1..)?),
        axes if order == Order::LastFastest => (&[][..], extents.get(axes.last()? + 1..)?),
        _ => return None,
    };
    let faster = if order == Order::LastFastest { after } else { before };
    let step = faster.iter().try_fold(chain.sign, |all, extent| all.checked_mul(*extent))?;
    i64::try_from(step).ok()
}

fn chain_of(
    both: &DigitRefinement,
    number: usize,
    dense: i64,
    value: &dyn Fn(&Expr) -> Result<i128, RunError>,
) -> Result<Option<Chain>, RunError> {
    let int = |expr: &Expr| -> Result<_, RunError> { Ok(i64::try_from(value(expr)?).ok()) };
    let Some(bounds) = both.chains.get(number) else { return Ok(None) };
    let (Some(low), Some(high)) = (int(&bounds.low)?, int(&bounds.high)?) else { return Ok(None) };
    let mut digits = Vec::new();
    for digit in both.digits.iter().filter(|digit| digit.chain == number) {
        let parts = (i64::try_from(digit.weight).ok(), int(&digit.extent)?, int(&digit.to_stride)?);
        let (Some(weight), Some(extent), Some(stride)) = parts else { return Ok(None) };
        if extent > 1 {
            digits.push(Digit { weight, extent, stride });
        }
    }
    let is_valid = low >= 0 && high > low && dense != 0 && digits.iter().all(|d| d.stride != 0);
    Ok(is_valid.then_some(Chain { low, high, dense, digits }))
}
