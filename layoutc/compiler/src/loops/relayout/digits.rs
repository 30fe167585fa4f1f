//! Common refinement of two arrangements of one logical tensor: digits in which both offsets are linear.

use layoutc_algebra::expr::{BinOp, Expr, ExprError};
use layoutc_algebra::symbol::{Axis, Symbol};

use crate::loops::arith::{ceil_div, fold, is_multiple, product, scale, sum};
use crate::loops::relayout::address_map::{AddressChain, AddressMap};

/// Loop of a refinement: a digit in which the offsets in source and destination are both linear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommonDigit {
    /// Position of the digit's chain in [`DigitRefinement::chains`].
    pub chain: usize,
    /// Weight of the digit in `m`, the sum of the chain's digits times their weights.
    pub weight: i128,
    /// Number of values of the digit; over symbols.
    pub extent: Expr,
    /// Stride in the source, in elements.
    pub from_stride: Expr,
    /// Stride in the destination, in elements.
    pub to_stride: Expr,
    /// Preferred name of the loop variable.
    pub name: String,
}

/// Range of `m`, the sum of a chain's digits times their weights, in which the chain has elements: `low <= m < high`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidRange {
    /// Least `m` of an element.
    pub low: Expr,
    /// Greatest `m` of an element, plus one.
    pub high: Expr,
}

/// Common refinement of the arrangements of one logical tensor in a source and a destination: a copy whose offsets are
/// linear in every loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigitRefinement {
    /// Loops; those of one chain are in order, most significant first.
    pub digits: Vec<CommonDigit>,
    /// Range of each chain in which it has elements.
    pub chains: Vec<ValidRange>,
    /// Offset in the source with all loop variables 0, in elements.
    pub from_constant: Expr,
    /// Offset in the destination with all loop variables 0, in elements.
    pub to_constant: Expr,
}

impl CommonDigit {
    /// True if the loop is known to have exactly one iteration.
    pub fn is_unit(&self) -> bool {
        self.extent.as_const() == Some(1)
    }

    /// True if the loop is known to be contiguous in source and destination: both strides are 1.
    pub fn is_run(&self) -> bool {
        [&self.from_stride, &self.to_stride].iter().all(|stride| stride.as_const() == Some(1))
    }
}

impl DigitRefinement {
    /// True unless it is known that the elements of a chain start and end at the bounds of its digits. Loops over a
    /// guarded chain need adjusted bounds.
    pub fn is_guarded(&self, chain: usize, symbols: &[Symbol]) -> bool {
        self.chains
            .get(chain)
            .is_some_and(|bounds| self.ends_early(chain, bounds, symbols) || bounds.starts_late())
    }

    /// True if the digits of a chain may have values past its last element. `bounds` are the bounds of the chain.
    pub fn ends_early(&self, chain: usize, bounds: &ValidRange, symbols: &[Symbol]) -> bool {
        let several = self.digits.iter().filter(|digit| digit.chain == chain).count() > 1;
        several && !is_multiple(&bounds.high, self.top_weight(chain), symbols)
    }

    /// Weight of the most significant digit of a chain; 1 for a chain without digits.
    pub fn top_weight(&self, chain: usize) -> i128 {
        let digits = self.digits.iter().filter(|digit| digit.chain == chain);
        digits.map(|digit| digit.weight).max().unwrap_or(1)
    }
}

impl ValidRange {
    /// True if the chain may have digit values before its first element.
    pub fn starts_late(&self) -> bool {
        self.low.as_const().is_none_or(|low| low > 0)
    }
}

/// Common refinement of the address maps `from` and `to` of two tensors with the same logical axes, `axes`. `None` if
/// the maps have different chains, or the weights of the digits of a chain do not divide each other.
///
/// # Errors
/// [`ExprError`] if a stride or extent overflows or becomes too large.
pub(crate) fn common_refinement(
    from: &AddressMap,
    to: &AddressMap,
    axes: &[Axis],
    symbols: &[Symbol],
) -> Result<Option<DigitRefinement>, ExprError> {
    let mut digits = Vec::new();
    let mut chains = Vec::new();
    for (position, chain) in to.chains.iter().enumerate() {
        let same = |other: &&AddressChain| {
            (&other.axes, other.sign, other.constant) == (&chain.axes, chain.sign, chain.constant)
        };
        let Some(source) = from.chains.iter().find(same) else { return Ok(None) };
        let bounds = bounds(chain, axes)?;
        let Some(refined) = refine(position, [source, chain], &bounds, symbols)? else {
            return Ok(None);
        };
        let count = refined.len();
        for (place, (mut digit, storage)) in refined.into_iter().enumerate() {
            digit.name = digit_name(chain, axes, storage, place, count);
            digits.push(digit);
        }
        chains.push(bounds);
    }
    Ok(Some(DigitRefinement {
        digits,
        chains,
        from_constant: from.constant.clone(),
        to_constant: to.constant.clone(),
    }))
}

/// Name of the loop over digit `place` of the `count` digits of a chain: the name of the axis if the digit is all of a
/// single axis, that of the storage axis `storage` that consists of the digit, or the name of the axis with `_outer`,
/// `_inner` or `place`. Names of fused axes are joined by `_`.
fn digit_name(
    chain: &AddressChain,
    axes: &[Axis],
    storage: Option<String>,
    place: usize,
    count: usize,
) -> String {
    let names: Vec<&str> =
        chain.axes.iter().filter_map(|a| axes.get(*a)).map(|axis| axis.name.as_str()).collect();
    let whole = names.join("_");
    match (storage, place, count) {
        (Some(_), _, 1) if chain.axes.len() == 1 => whole,
        (Some(storage), ..) => storage,
        (None, _, 1) => whole,
        (None, 0, 2) => format!("{whole}_outer"),
        (None, 1, 2) => format!("{whole}_inner"),
        (None, place, _) => format!("{whole}_{place}"),
    }
}

/// Range of a chain's `m` in which all its axes have indices within their extents.
fn bounds(chain: &AddressChain, axes: &[Axis]) -> Result<ValidRange, ExprError> {
    let mut count = Expr::constant(1);
    for axis in chain.axes.iter().filter_map(|axis| axes.get(*axis)) {
        count = product(&count, &axis.extent)?;
    }
    let constant = Expr::constant(chain.constant);
    let (low, high) = if chain.sign < 0 {
        // index = constant - m, so m is in constant - (count - 1)..=constant.
        let above = sum(&constant, &Expr::constant(1))?;
        (fold(BinOp::Sub, &above, &count)?, above)
    } else {
        let low = fold(BinOp::Sub, &Expr::constant(0), &constant)?;
        let high = sum(&count, &low)?;
        (low, high)
    };
    Ok(ValidRange { low, high })
}

/// Digit, and the name of the storage axis that consists of it; `None` if there is none.
type Named = (CommonDigit, Option<String>);

fn refine(
    chain: usize,
    [from, to]: [&AddressChain; 2],
    bounds: &ValidRange,
    symbols: &[Symbol],
) -> Result<Option<Vec<Named>>, ExprError> {
    let mut weights: Vec<i128> =
        from.digits.iter().chain(&to.digits).map(|digit| digit.weight).collect();
    weights.sort_unstable();
    weights.dedup();
    let mut digits = Vec::new();
    let mut above: Option<i128> = None;
    for weight in weights.iter().rev().copied() {
        let extent = match above {
            None if is_multiple(&bounds.high, weight, symbols) => {
                fold(BinOp::FloorDiv, &bounds.high, &Expr::constant(weight))?
            }
            None => ceil_div(&bounds.high, weight)?,
            Some(above) if above.checked_rem(weight) == Some(0) => {
                Expr::constant(above.checked_div(weight).unwrap_or(1))
            }
            Some(_) => return Ok(None),
        };
        let (Some(from_stride), Some(to_stride)) =
            (stride_at(from, weight)?, stride_at(to, weight)?)
        else {
            return Ok(None);
        };
        let storage = storage_at(to, weight, above).or_else(|| storage_at(from, weight, above));
        let digit =
            CommonDigit { chain, weight, extent, from_stride, to_stride, name: String::new() };
        digits.push((digit, storage));
        above = Some(weight);
    }
    Ok(Some(digits))
}

/// Stride of a digit of the weight `weight` in a chain, in elements: a multiple of the stride of the chain's digit with
/// the greatest weight up to `weight`; 0 for a chain without digits. `None` if the chain has digits but none of a
/// weight up to `weight`, or that weight does not divide `weight`.
fn stride_at(chain: &AddressChain, weight: i128) -> Result<Option<Expr>, ExprError> {
    // A chain without digits consists of an axis of one element.
    if chain.digits.is_empty() {
        return Ok(Some(Expr::constant(0)));
    }
    let Some(digit) =
        chain.digits.iter().filter(|d| d.weight <= weight).max_by_key(|digit| digit.weight)
    else {
        return Ok(None);
    };
    if weight.checked_rem(digit.weight) != Some(0) {
        return Ok(None);
    }
    let times = weight.checked_div(digit.weight).unwrap_or(1);
    Ok(Some(scale(&digit.stride, times)?))
}

/// Name of the storage axis that consists of the chain's digit with the weight `weight`, if the next greater weight of
/// the chain is `above` (`None`: there is none). `None` if the chain has no such digit, or the digit is not a storage
/// axis.
fn storage_at(chain: &AddressChain, weight: i128, above: Option<i128>) -> Option<String> {
    let digit = chain.digits.iter().find(|digit| digit.weight == weight)?;
    let next = chain.digits.iter().map(|digit| digit.weight).filter(|w| *w > weight).min();
    if next == above { digit.storage.clone() } else { None }
}
