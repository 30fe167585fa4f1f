//! What has to move where: two arrangements of one logical tensor, cut into digits that both are linear in.

use layoutc_algebra::digits::Digits;
use layoutc_algebra::expr::{BinOp, Expr, ExprError, Var};
use layoutc_algebra::layout::{Axis, Layout, Symbol};

use super::arith::{ceil_div, fold, is_multiple, product, scale, sum, typical};

/// One arrangement of a logical tensor in a flat buffer: an offset that is a weighted sum of digits of its axes.
#[derive(Debug, Clone)]
pub struct Side {
    /// The chains; every logical axis is in exactly one.
    pub chains: Vec<SideChain>,
    /// Added to the weighted sum, in elements.
    pub constant: Expr,
}

/// One chain of digits: `m = sum(digit * weight)`, `index = sign * m + constant` of the axes taken row-major.
#[derive(Debug, Clone)]
pub struct SideChain {
    /// The logical axes, outermost first.
    pub axes: Vec<usize>,
    /// `1` or `-1`.
    pub sign: i128,
    /// Added to `sign * m`.
    pub constant: i128,
    /// Most significant first.
    pub digits: Vec<SideDigit>,
}

/// One digit of a chain.
#[derive(Debug, Clone)]
pub struct SideDigit {
    /// What one step adds to the chain's `m`.
    pub weight: i128,
    /// What one step adds to the offset, in elements; over symbols.
    pub stride: Expr,
    /// The storage axis that is this digit and nothing else.
    pub storage: Option<usize>,
}

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

/// The physical side of a layout that has a normal form; `None` where that form does not give the layout's offset.
///
/// The form's targets are the storage axes, or the offset itself for a layout with `strides`. A few elements tell.
///
/// # Errors
/// [`ExprError`] where a stride leaves the integer range.
pub fn physical_side(layout: &Layout, digits: &Digits) -> Result<Option<Side>, ExprError> {
    let one = [Expr::constant(1)];
    for (strides, named) in [(layout.strides.as_slice(), true), (one.as_slice(), false)] {
        if strides.len() == digits.targets.len() {
            let side = weighted_side(digits, strides, named)?;
            if agrees(layout, digits, &side) {
                return Ok(Some(side));
            }
        }
    }
    Ok(None)
}

/// The side in which a step of target `k` is `target_strides[k]` elements; `named` where targets are storage axes.
fn weighted_side(digits: &Digits, target_strides: &[Expr], named: bool) -> Result<Side, ExprError> {
    let mut constant = Expr::constant(0);
    let mut strides = vec![Expr::constant(0); digits.digits.len()];
    let mut alone = vec![None; digits.digits.len()];
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
            *alone = named.then_some(target);
        }
    }
    let side_digit = |k: &usize| {
        let digit = digits.digits.get(*k)?;
        Some(SideDigit {
            weight: digit.weight,
            stride: strides.get(*k)?.clone(),
            storage: *alone.get(*k)?,
        })
    };
    let chains = digits.chains.iter().map(|chain| SideChain {
        axes: chain.axes.clone(),
        sign: chain.sign,
        constant: chain.constant,
        digits: chain.digits.iter().filter_map(side_digit).collect(),
    });
    Ok(Side { chains: chains.collect(), constant })
}

/// Whether a side gives the layout's offset for the first element, and for the second and the last along each axis.
fn agrees(layout: &Layout, digits: &Digits, side: &Side) -> bool {
    let extents: Vec<i128> =
        layout.logical.iter().map(|axis| typical(&axis.extent, &layout.symbols)).collect();
    if extents.contains(&0) {
        return true;
    }
    let mut probes = vec![vec![0; extents.len()]];
    for (axis, extent) in extents.iter().enumerate() {
        for index in [1, extent - 1] {
            let mut probe = vec![0; extents.len()];
            if let Some(place) = probe.get_mut(axis) {
                *place = index.min(extent - 1);
            }
            probes.push(probe);
        }
    }
    probes.iter().all(|probe| {
        let place = side_offset(layout, digits, side, &extents, probe);
        let value = |var| {
            let Var::Axis(k) = var else { return None };
            probe.get(usize::try_from(k).ok()?).copied()
        };
        let fixed = layout.offset.substitute(&|var| value(var).map(Expr::constant));
        fixed.is_ok_and(|offset| place == Some(typical(&offset, &layout.symbols)))
    })
}

/// The offset of one element by the digits.
fn side_offset(
    layout: &Layout,
    digits: &Digits,
    side: &Side,
    extents: &[i128],
    index: &[i128],
) -> Option<i128> {
    let mut offset = typical(&side.constant, &layout.symbols);
    for (chain, form) in side.chains.iter().zip(&digits.chains) {
        let mut whole = 0_i128;
        for axis in &chain.axes {
            whole = whole.checked_mul(*extents.get(*axis)?)?.checked_add(*index.get(*axis)?)?;
        }
        let mut rest = chain.sign.checked_mul(whole.checked_sub(chain.constant)?)?;
        for (digit, _) in chain.digits.iter().zip(&form.digits) {
            let steps = rest.checked_div_euclid(digit.weight)?;
            rest = rest.checked_rem_euclid(digit.weight)?;
            let stride = typical(&digit.stride, &layout.symbols);
            offset = offset.checked_add(steps.checked_mul(stride)?)?;
        }
    }
    Some(offset)
}

/// The dense row-major buffer of the logical tensor, cut into the chains of `like`. `None` where a chain fuses axes
/// that do not follow one another.
///
/// # Errors
/// [`ExprError`] where a stride leaves the integer range.
pub fn logical_side(axes: &[Axis], like: &Side) -> Result<Option<Side>, ExprError> {
    let strides = dense_strides(axes)?;
    let mut side = Side { chains: Vec::new(), constant: Expr::constant(0) };
    for chain in &like.chains {
        if chain.axes.windows(2).any(|pair| matches!(pair, [a, b] if a + 1 != *b)) {
            return Ok(None);
        }
        let Some(stride) = chain.axes.last().and_then(|axis| strides.get(*axis)) else {
            continue;
        };
        side.constant = sum(&side.constant, &scale(stride, chain.constant)?)?;
        side.chains.push(SideChain {
            axes: chain.axes.clone(),
            sign: chain.sign,
            constant: chain.constant,
            digits: vec![SideDigit {
                weight: 1,
                stride: scale(stride, chain.sign)?,
                storage: None,
            }],
        });
    }
    Ok(Some(side))
}

/// Elements between neighbours along each axis of a dense row-major buffer: `[3, 4, 5]` gives `[20, 5, 1]`.
///
/// # Errors
/// [`ExprError`] where a stride leaves the integer range.
pub fn dense_strides(axes: &[Axis]) -> Result<Vec<Expr>, ExprError> {
    let mut stride = Expr::constant(1);
    let mut strides = Vec::with_capacity(axes.len());
    for axis in axes.iter().rev() {
        strides.push(stride.clone());
        stride = product(&axis.extent, &stride)?;
    }
    strides.reverse();
    Ok(strides)
}

/// The same side with its axes renumbered: axis `k` becomes `axes[k]`.
#[must_use]
pub fn renumber(mut side: Side, axes: &[usize]) -> Side {
    for axis in side.chains.iter_mut().flat_map(|chain| chain.axes.iter_mut()) {
        *axis = axes.get(*axis).copied().unwrap_or(*axis);
    }
    side
}

/// The common refinement of two sides; `None` where their digits do not divide each other.
///
/// `axes` are the logical axes that both sides count; `storage` names the destination's storage axes, or the
/// source's where the destination is the logical buffer.
///
/// # Errors
/// [`ExprError`] where a stride leaves the integer range.
pub fn transfer(
    from: &Side,
    to: &Side,
    axes: &[Axis],
    storage: &[Axis],
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
        for (place, (mut cut, alone)) in refined.into_iter().enumerate() {
            cut.name = cut_name(chain, axes, alone.and_then(|s| storage.get(s)), place, count);
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

fn cut_name(
    chain: &SideChain,
    axes: &[Axis],
    storage: Option<&Axis>,
    place: usize,
    count: usize,
) -> String {
    let names: Vec<&str> =
        chain.axes.iter().filter_map(|a| axes.get(*a)).map(|axis| axis.name.as_str()).collect();
    let whole = names.join("_");
    match (storage, place, count) {
        (None, _, 1) => whole,
        (Some(_), _, 1) if chain.axes.len() == 1 => whole,
        (Some(axis), ..) => axis.name.clone(),
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

type Named = (Cut, Option<usize>);

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
        let (Some(source), Some(target)) = (stride_at(from, weight)?, stride_at(to, weight)?)
        else {
            return Ok(None);
        };
        let alone = target.1.or(source.1);
        let cut = Cut {
            chain,
            weight,
            extent,
            from_stride: source.0,
            to_stride: target.0,
            name: String::new(),
        };
        cuts.push((cut, alone));
        above = Some(weight);
    }
    Ok(Some(cuts))
}

/// What one step of `weight` adds to the side's offset, and the storage axis if it is one; `None` where no digit of
/// the side divides it.
fn stride_at(chain: &SideChain, weight: i128) -> Result<Option<(Expr, Option<usize>)>, ExprError> {
    // A chain without digits carries an axis of one element.
    if chain.digits.is_empty() {
        return Ok(Some((Expr::constant(0), None)));
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
    let alone = if times == 1 { digit.storage } else { None };
    Ok(Some((scale(&digit.stride, times)?, alone)))
}
