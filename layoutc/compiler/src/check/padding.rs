//! Checks of a tensor's padding (slots without an element): an error if it is forbidden, warnings if no step explains
//! it or if it exceeds the configured limit.

use std::collections::BTreeSet;

use layoutc_algebra::digits::{self, BitSplit, Digits, LinearForm};
use layoutc_algebra::expr::{BinOp, Expr, ExprNode, Var};
use layoutc_algebra::layout::{Layout, Verdict};
use layoutc_algebra::normal_form::simplify::Facts;

use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::check::faults::counted;
use crate::manifest::syntax::PaddingRule;
use crate::model::Tensor;
use crate::model::layout_names;

/// Explanation of the padding (slots without an element) of a layout: the steps that add it.
#[derive(Debug)]
pub(super) struct PaddingOrigin {
    /// True if the padding is intended: the layout has a step that states it (`pad`, `align` of an axis or the origin,
    /// `strides`, a swizzle or a stated extent), or steps that round up, such as `tile`, account for all slots. False
    /// if a map may have added slots.
    pub(super) is_explained: bool,
    /// Location of the last step that may add slots: one after which there are more slots than before it, or not
    /// provably as few, or any `strides`, `swizzle`, `align` of an axis or `align … at=origin`. For a map or a foreign
    /// notation, that of its text. `None` if the layout has no such step.
    pub(super) grown: Option<FileSpan>,
    /// Period of the swizzle in elements if the step at `grown` is a swizzle; `None` otherwise.
    pub(super) swizzle_block: Option<i128>,
}

/// Functions that compute help about padding, called only if the help is shown.
pub(super) struct PaddingAdvice<'a> {
    /// Function that returns a help text that suggests an order of the axes which needs fewer slots; `None` if there is
    /// none.
    pub(super) order: &'a dyn Fn() -> Option<String>,
    /// Function that returns a help text that suggests facts of symbols under which the layout has no padding; `None`
    /// if there are none.
    pub(super) facts: &'a dyn Fn() -> Option<String>,
}

/// Warnings about the padding of `tensor`. With a `rule` that allows padding there are none; with a `rule` that forbids
/// it, padding is an `Err`. Without a rule, padding is a warning if neither the steps (see [`PaddingOrigin`]) nor tiles
/// explain it, or if its fraction of the slots, from 0 to 1, exceeds `warn_above`.
pub(super) fn check(
    tensor: &Tensor,
    rule: Option<&(PaddingRule, FileSpan)>,
    padding: &PaddingOrigin,
    warn_above: f64,
    advice: &PaddingAdvice<'_>,
) -> CheckResult<Vec<Diagnostic>> {
    let layout = &tensor.layout;
    if layout.verdict() == Verdict::Bijective {
        return Ok(Vec::new());
    }
    // A step inside a transform may be applied by other layouts too, so the whole layout is labeled.
    let whole = &tensor.places.layout;
    let inside = |place: &&FileSpan| {
        place.file == whole.file && whole.start <= place.start && place.end <= whole.end
    };
    let place = padding.grown.as_ref().filter(inside).unwrap_or(whole).clone();
    let figure = figure(layout);
    match rule {
        Some((PaddingRule::Allow, _)) => return Ok(Vec::new()),
        Some((PaddingRule::Forbid, rule)) => {
            let message = format!("`{}` has padding, which is forbidden", tensor.name);
            let error =
                Diagnostic::error(Code::PaddingForbidden, message, rule.clone(), "forbidden here");
            let mut error = error.with_label(place, "padded here").note(figure);
            error.help.extend((advice.facts)());
            if error.help.is_empty() {
                error.add_help(less_padding(padding));
            }
            return Err(vec![error]);
        }
        None => {}
    }
    let share = share(layout);
    if !padding.is_explained && is_unexplained(layout) {
        let message = format!("`{}` has padding that does not come from rounding up", tensor.name);
        let warning = Diagnostic::warning(Code::PaddingUnexplained, message, place, "");
        let figure = match share {
            Some(share) => format!("{figure}: {:.0} % is padding", share * 100.0),
            None => figure,
        };
        return Ok(vec![warning.note(figure).help(
            "write `padding allow` if it is intended; otherwise use one divisor for quotient and remainder",
        )]);
    }
    let Some(share) = share.filter(|share| *share > warn_above) else { return Ok(Vec::new()) };
    let message = format!("{:.0} % of `{}` is padding", share * 100.0, tensor.name);
    let warning = Diagnostic::warning(Code::PaddingLarge, message, place, "");
    let mut warning = warning.note(figure);
    warning.help.extend((advice.order)());
    Ok(vec![warning.help(less_padding(padding))])
}

/// Help that names what to change to reduce the padding: the swizzle, or tiles and alignments.
fn less_padding(padding: &PaddingOrigin) -> String {
    match padding.swizzle_block {
        Some(block) => format!(
            "the swizzle permutes blocks of up to {block} elements: reduce its base or its shift, or write `padding allow`"
        ),
        None => "choose tiles and alignments that divide the extents, or write `padding allow`"
            .to_owned(),
    }
}

fn figure(layout: &Layout) -> String {
    let text = |count: &Expr| layout_names::layout_expr(count, layout);
    let elements = counted(&text(layout.logical_elements()), "element");
    format!("{elements} in {}", counted(&text(layout.physical_elements()), "slot"))
}

/// Fraction of the slots that hold no element, 0 to 1; `None` if it depends on a symbol, or if there are no slots.
#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn share(layout: &Layout) -> Option<f64> {
    let (elements, slots) =
        (layout.logical_elements().as_const()?, layout.physical_elements().as_const()?);
    (slots > 0).then(|| (slots - elements) as f64 / slots as f64)
}

/// False if rounding up to tiles explains the padding of the layout: its storage indices are proven to reach all slots
/// when each of their digits (`c // 4`, `c % 4`) takes all values of its extent. Also false if a product overflows.
/// True otherwise. Storage indices that are not sums of digits are first simplified by [`straightened`].
fn is_unexplained(layout: &Layout) -> bool {
    match layout.digits() {
        Some(digits) => {
            let extents: Vec<Expr> = layout.storage().iter().map(|a| a.extent.clone()).collect();
            is_beyond(layout, digits, &extents)
        }
        None => !straightened(layout)
            .into_iter()
            .any(|(digits, extents)| !is_beyond(layout, &digits, &extents)),
    }
}

/// True unless it is proven that the layout has at most as many slots as its storage indices can reach when each digit
/// takes all its values; false on overflow. `digits` are the storage indices as weighted sums of digits. An index
/// without digits, and one that is a number in mixed radix in digits that no earlier such index has, reaches its whole
/// extent in `extents`.
fn is_beyond(layout: &Layout, digits: &Digits, extents: &[Expr]) -> bool {
    let facts = Facts::new(layout.symbols());
    let mut filled = Vec::new();
    let mut used_digits = BTreeSet::new();
    for (form, extent) in digits.targets.iter().zip(extents) {
        // A target that is a mixed radix number in digits of its own fills its whole extent.
        let own = form.terms.iter().all(|(digit, _)| !used_digits.contains(digit));
        if form.terms.is_empty() || (own && is_number(form, digits)) {
            used_digits.extend(form.terms.iter().map(|(digit, _)| *digit));
            filled.push(extent);
        }
    }
    let others = digits.digits.iter().enumerate().filter(|(k, _)| !used_digits.contains(k));
    filled.extend(others.map(|(_, digit)| &digit.extent));
    let slots = product(layout.storage().iter().map(|axis| &axis.extent));
    match (product(filled), slots) {
        (Some(filled), Some(slots)) => !facts.proves_ge(&filled, &slots).unwrap_or(false),
        _ => false,
    }
}

/// Maximum number of digit forms that [`straightened`] tries for a layout; further ones are ignored.
const MAX_ALTERNATIVES: usize = 64;

/// Pairs `(digits, extents)` of a layout whose storage indices contain operations that permute slots without adding
/// any. `digits` are the storage indices as sums of digits after each such operation is replaced by a simpler one: a
/// Hilbert curve by its row and column, `a ^ b` by `a` or by `b`, `(a + b) % n` by `a % n` or by `b % n`, if it is not
/// kept. `extents` are the extents of these indices. There is one pair for each combination of replacements that gives
/// sums of digits, of at most [`MAX_ALTERNATIVES`] combinations that are tried.
fn straightened(layout: &Layout) -> Vec<(Digits, Vec<Expr>)> {
    let mut alternatives: Vec<(Vec<Expr>, Vec<Expr>)> = vec![(Vec::new(), Vec::new())];
    for (index, axis) in layout.storage_map().iter().zip(layout.storage()) {
        let (own, extents) = match index.node() {
            ExprNode::Bin(BinOp::Hilbert(grid), row, column)
                if axis.extent.as_const() == Some(grid.cells().into()) =>
            {
                let sides = [grid.rows(), grid.columns()];
                let extents = sides.map(|side| Expr::constant(side.into())).to_vec();
                (vec![vec![row.clone(), column.clone()]], extents)
            }
            _ => {
                let own = straight(index).into_iter().map(|index| vec![index]).collect();
                (own, vec![axis.extent.clone()])
            }
        };
        let each = |(targets, sizes): &(Vec<Expr>, Vec<Expr>)| {
            let with = |own: &Vec<Expr>| {
                ([targets.as_slice(), own].concat(), [sizes.as_slice(), &extents].concat())
            };
            own.iter().map(with).collect::<Vec<_>>()
        };
        alternatives = alternatives.iter().flat_map(each).take(MAX_ALTERNATIVES).collect();
    }
    let logical: Vec<Expr> = layout.logical().iter().map(|axis| axis.extent.clone()).collect();
    let mut facts = Facts::new(layout.symbols());
    for (k, extent) in (0_u32..).zip(&logical) {
        if facts.set_extent(Var::Axis(k), extent).is_err() {
            return Vec::new();
        }
    }
    let axes: Vec<usize> = (0..logical.len()).collect();
    let as_digits = |(targets, extents): (Vec<Expr>, Vec<Expr>)| {
        let targets: Result<Vec<Expr>, _> = targets.iter().map(|t| facts.simplify(t)).collect();
        let digits =
            digits::read(&axes, &logical, &targets.ok()?, &facts, BitSplit::AtDivisors).ok()??;
        digits.derived.is_empty().then_some((digits, extents))
    };
    alternatives.into_iter().filter_map(as_digits).collect()
}

/// Alternatives of an index. Each `sum % n` either stays as it is, with any XOR in it, or is replaced by `term % n`,
/// with one term of the sum that is not constant. Each other XOR is replaced by one of its operands: `(a ^ b) + c` has
/// the alternatives `a + c` and `b + c`. At most [`MAX_ALTERNATIVES`]; further ones are ignored.
fn straight(index: &Expr) -> Vec<Expr> {
    let one = |expr: &Expr| vec![expr.clone()];
    let mut alternatives = match index.node() {
        ExprNode::Const(_) | ExprNode::Var(_) => one(index),
        ExprNode::Neg(a) => straight(a).iter().filter_map(|a| Expr::negate(a).ok()).collect(),
        ExprNode::Bin(BinOp::Xor, a, b) => [straight(a), straight(b)].concat(),
        ExprNode::Bin(BinOp::Mod, sum, by) => {
            let mut terms = Vec::new();
            put_terms(sum, &mut terms);
            let terms = terms.into_iter().filter(|term| !term.vars().is_empty());
            let of = |term: Expr| {
                let alternatives = straight(&term).into_iter();
                alternatives
                    .filter_map(|alternative| Expr::binary(BinOp::Mod, &alternative, by).ok())
                    .collect::<Vec<_>>()
            };
            let whole = one(index).into_iter();
            whole.chain(terms.flat_map(of)).collect()
        }
        ExprNode::Bin(op, a, b) => {
            let (left, right) = (straight(a), straight(b));
            let with = |a: &Expr| {
                let each = |b: &Expr| Expr::binary(*op, a, b).ok();
                right.iter().filter_map(each).collect::<Vec<_>>()
            };
            left.iter().flat_map(with).collect()
        }
    };
    alternatives.truncate(MAX_ALTERNATIVES);
    alternatives
}

/// Adds the terms of `sum`, without their signs, to `terms`: `a` and `b` for `a - b`.
fn put_terms(sum: &Expr, terms: &mut Vec<Expr>) {
    match sum.node() {
        ExprNode::Bin(BinOp::Add | BinOp::Sub, a, b) => {
            put_terms(a, terms);
            put_terms(b, terms);
        }
        ExprNode::Neg(a) => put_terms(a, terms),
        _ => terms.push(sum.clone()),
    }
}

/// True if the weighted sum `form` is a number in mixed radix: it has no constant, and each weight is the product of
/// the extents of all digits with smaller weights. An example is `8 * d0 + d1` if `d1` has extent 8.
fn is_number(form: &LinearForm, digits: &Digits) -> bool {
    let mut terms: Vec<_> = form
        .terms
        .iter()
        .filter_map(|(k, weight)| digits.digits.get(*k).map(|digit| (*weight, &digit.extent)))
        .collect();
    terms.sort_by_key(|(weight, _)| *weight);
    let mut reach = Some(1_i128);
    for (weight, extent) in &terms {
        if reach != Some(*weight) {
            return false;
        }
        reach = extent.as_const().and_then(|extent| weight.checked_mul(extent));
    }
    form.constant == 0 && !terms.is_empty()
}

/// Product of the extents `factors`, 1 for none; `None` if it overflows or becomes too large an expression.
pub(super) fn product<'a>(factors: impl IntoIterator<Item = &'a Expr>) -> Option<Expr> {
    let mut product = Expr::constant(1);
    for factor in factors {
        product = Expr::binary(BinOp::Mul, &product, factor).ok()?;
    }
    Some(product)
}
