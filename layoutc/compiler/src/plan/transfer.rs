//! What has to move where: two arrangements of one logical tensor, cut into digits that both are linear in.

use layoutc_algebra::expr::{BinOp, Expr, ExprError};
use layoutc_algebra::symbol::{Axis, Symbol};

use super::arith::{ceil_div, fold, is_multiple, product, scale, sum};
use super::side::{Side, SideChain};

/// A loop of a transfer: one digit that both sides are linear in.
#[derive(Debug, Clone)]
pub struct Cut {
    /// Position in [`Transfer::chains`].
    pub chain: usize,
    /// What one step adds to the chain's `m`.
    pub weight: i128,
    /// How many values it takes; over symbols.
    pub extent: Expr,
    /// Elements between steps in the source.
    pub from_stride: Expr,
    /// Elements between steps in the destination.
    pub to_stride: Expr,
    /// What it may be called.
    pub name: String,
}

/// The bounds of a chain: the elements are where `low <= m < high`.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// The least `m` of an element.
    pub low: Expr,
    /// One past the greatest `m` of an element.
    pub high: Expr,
}

/// A transfer that is linear in every loop.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// The loops, by chain, most significant first.
    pub cuts: Vec<Cut>,
    /// One per chain.
    pub chains: Vec<Bounds>,
    /// The source's offset where every loop variable is 0.
    pub from_constant: Expr,
    /// The destination's offset where every loop variable is 0.
    pub to_constant: Expr,
}

impl Cut {
    /// Whether there is nothing to loop over.
    pub fn is_unit(&self) -> bool {
        self.extent.as_const() == Some(1)
    }

    /// Whether neighbours are neighbours on both sides.
    pub fn is_run(&self) -> bool {
        [&self.from_stride, &self.to_stride].iter().all(|stride| stride.as_const() == Some(1))
    }
}

impl Transfer {
    /// Whether the last loop of a chain starts or ends elsewhere than its digit does.
    pub fn is_guarded(&self, chain: usize, symbols: &[Symbol]) -> bool {
        self.chains
            .get(chain)
            .is_some_and(|bounds| self.ends_early(chain, bounds, symbols) || bounds.starts_late())
    }

    /// Whether the digits of a chain reach beyond its elements.
    pub fn ends_early(&self, chain: usize, bounds: &Bounds, symbols: &[Symbol]) -> bool {
        let several = self.cuts.iter().filter(|cut| cut.chain == chain).count() > 1;
        several && !is_multiple(&bounds.high, self.top_weight(chain), symbols)
    }

    /// The weight of a chain's most significant digit.
    pub fn top_weight(&self, chain: usize) -> i128 {
        let cuts = self.cuts.iter().filter(|cut| cut.chain == chain);
        cuts.map(|cut| cut.weight).max().unwrap_or(1)
    }
}

impl Bounds {
    /// Whether the first digits of the chain come before its elements.
    pub fn starts_late(&self) -> bool {
        self.low.as_const().is_none_or(|low| low > 0)
    }
}

/// The common refinement of two sides; `None` where their digits do not divide each other.
///
/// `axes` are the logical axes that both sides count.
///
/// # Errors
/// [`ExprError`] where a stride leaves the integer range.
pub fn transfer(
    from: &Side,
    to: &Side,
    axes: &[Axis],
    symbols: &[Symbol],
) -> Result<Option<Transfer>, ExprError> {
    let mut cuts = Vec::new();
    let mut chains = Vec::new();
    for (position, chain) in to.chains.iter().enumerate() {
        let same = |other: &&SideChain| {
            (&other.axes, other.sign, other.constant) == (&chain.axes, chain.sign, chain.constant)
        };
        let Some(source) = from.chains.iter().find(same) else { return Ok(None) };
        let bounds = bounds(chain, axes)?;
        let Some(refined) = refine(position, [source, chain], &bounds, symbols)? else {
            return Ok(None);
        };
        let count = refined.len();
        for (place, (mut cut, storage)) in refined.into_iter().enumerate() {
            cut.name = cut_name(chain, axes, storage, place, count);
            cuts.push(cut);
        }
        chains.push(bounds);
    }
    Ok(Some(Transfer {
        cuts,
        chains,
        from_constant: from.constant.clone(),
        to_constant: to.constant.clone(),
    }))
}

/// The axis' name where the digit is all of it, the name of a storage axis that is the digit, or the axis' name with
/// what is left to say.
fn cut_name(
    chain: &SideChain,
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

/// Where the elements of a chain are.
fn bounds(chain: &SideChain, axes: &[Axis]) -> Result<Bounds, ExprError> {
    let mut count = Expr::constant(1);
    for axis in chain.axes.iter().filter_map(|axis| axes.get(*axis)) {
        count = product(&count, &axis.extent)?;
    }
    let constant = Expr::constant(chain.constant);
    let (low, high) = if chain.sign < 0 {
        // index = constant - m, so m runs from constant - (count - 1) to constant.
        let above = sum(&constant, &Expr::constant(1))?;
        (fold(BinOp::Sub, &above, &count)?, above)
    } else {
        let low = fold(BinOp::Sub, &Expr::constant(0), &constant)?;
        let high = sum(&count, &low)?;
        (low, high)
    };
    Ok(Bounds { low, high })
}

/// A cut, and the storage axis that it is.
type Named = (Cut, Option<String>);

fn refine(
    chain: usize,
    [from, to]: [&SideChain; 2],
    bounds: &Bounds,
    symbols: &[Symbol],
) -> Result<Option<Vec<Named>>, ExprError> {
    let mut weights: Vec<i128> =
        from.digits.iter().chain(&to.digits).map(|digit| digit.weight).collect();
    weights.sort_unstable();
    weights.dedup();
    let mut cuts = Vec::new();
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
        let cut = Cut { chain, weight, extent, from_stride, to_stride, name: String::new() };
        cuts.push((cut, storage));
        above = Some(weight);
    }
    Ok(Some(cuts))
}

/// What one step of `weight` adds to the side's offset; `None` where no digit of the side divides it.
fn stride_at(chain: &SideChain, weight: i128) -> Result<Option<Expr>, ExprError> {
    // A chain without digits carries an axis of one element.
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

/// The storage axis of the side's digit from `weight` up to `above`, where it has just that one.
fn storage_at(chain: &SideChain, weight: i128, above: Option<i128>) -> Option<String> {
    let digit = chain.digits.iter().find(|digit| digit.weight == weight)?;
    let next = chain.digits.iter().map(|digit| digit.weight).filter(|w| *w > weight).min();
    if next == above { digit.storage.clone() } else { None }
}
