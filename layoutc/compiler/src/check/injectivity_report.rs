//! Diagnostics of layouts that are not injective or not proven so: the colliding elements, the characters at fault, and
//! a fix.

use layoutc_algebra::builder::{BuildError, FinishError};
use layoutc_algebra::expr::parse::MapItemText;
use layoutc_algebra::expr::{BinOp, ExprError, ExprNode, Var};
use layoutc_algebra::map::MapItem;
use layoutc_algebra::notation::Notation;
use layoutc_algebra::prove::{InjectivityError, MAX_POINTS, MAX_SLOTS, UndeterminedDigit};
use layoutc_algebra::symbol::{Axis, Symbol};

use super::domain;
use super::expr::{overflow, place_in};
use super::faults::{index, size};
use super::layout_attributes::{AppliedMap, ForeignText};
use super::map_suggestion::{
    InsertPoint, MapInsertion, Suggestion, axis_name, divisor_suggestion, item_span, items_place,
    product_suggestion, with_items, xor_suggestion,
};
use super::replay::LayoutSource;
use super::strides::StrideSource;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan, Fix};

/// Context of a layout that the prover refused, from which its diagnostic is made: the tensor's axes and symbols, and
/// the texts in the manifest that define the layout.
pub(super) struct RefusalContext<'a> {
    pub(super) tensor: &'a str,
    pub(super) logical: &'a [Axis],
    pub(super) symbols: &'a [Symbol],
    /// Last map of the layout; `None` if it has no map.
    pub(super) site: Option<&'a AppliedMap>,
    /// Explicit strides of the layout, with their location; `None` if it has none, or only in a foreign notation in a
    /// transform.
    pub(super) strides: Option<&'a StrideSource>,
    /// Last text in a foreign notation in the layout itself, not in a transform; `None` if there is none.
    pub(super) foreign: Option<&'a ForeignText>,
    /// Steps of the layout, which advice applies again under other facts of the symbols; `None` for a layout without
    /// steps in a manifest.
    pub(super) recipe: Option<LayoutSource<'a>>,
    /// Location of the diagnostic if no narrower text is at fault, such as the layout's node.
    pub(super) place: FileSpan,
}

/// Diagnostic of a layout whose proof failed, as the prover reports it in `error`.
pub(super) fn fault(error: &FinishError, context: &RefusalContext<'_>) -> Diagnostic {
    let plain =
        |code: Code, message: String| Diagnostic::error(code, message, context.place.clone(), "");
    match error {
        FinishError::Injectivity(InjectivityError::NotInjective {
            first,
            second,
            target,
            symbols,
            lost,
            targets,
            ..
        }) => collision(context, [first, second], target, symbols, lost, targets),
        FinishError::Injectivity(InjectivityError::Unproven { axes, points, slots, .. }) => {
            unproven(context, axes, *points, *slots)
        }
        FinishError::Injectivity(InjectivityError::Certificate(inner)) => {
            let message = format!("the certificate of `{}` fails its check", context.tensor);
            plain(Code::MapUnproven, message)
                .note(inner.to_string())
                .help("report this bug in layoutc with the manifest")
        }
        FinishError::Build(BuildError::Size) => {
            size(context.tensor, context.logical, context.symbols, context.place.clone())
        }
        FinishError::Build(BuildError::Expr(inner)) => {
            overflow(inner, inner.to_string(), context.place.clone())
        }
        FinishError::Build(inner) => {
            overflow(&ExprError::Overflow, inner.to_string(), context.place.clone())
        }
        FinishError::Expr(inner) | FinishError::Injectivity(InjectivityError::Expr(inner)) => {
            let message = format!("the layout of `{}` is too large: {inner}", context.tensor);
            overflow(inner, message, context.place.clone())
        }
    }
}

/// Diagnostic of a failed proof for a layout without steps in a manifest, such as that of a view, located at `place`.
pub(crate) fn bare_fault(
    error: &FinishError,
    tensor: &str,
    logical: &[Axis],
    symbols: &[Symbol],
    place: FileSpan,
) -> Diagnostic {
    let context = RefusalContext {
        tensor,
        logical,
        symbols,
        site: None,
        strides: None,
        foreign: None,
        recipe: None,
        place,
    };
    fault(error, &context)
}

fn collision(
    context: &RefusalContext<'_>,
    [first, second]: [&[i128]; 2],
    target: &[i128],
    symbols: &[i128],
    lost: &[UndeterminedDigit],
    targets: &[usize],
) -> Diagnostic {
    let tensor = context.tensor;
    let message = format!("two elements of `{tensor}` share a slot");
    let at = format!("({})", target.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
    let mut note =
        format!("{tensor}{} and {tensor}{} both map to {at}", index(first), index(second));
    if !symbols.is_empty() {
        let values: Vec<String> = context
            .symbols
            .iter()
            .zip(symbols)
            .map(|(symbol, v)| format!("{} = {v}", symbol.name))
            .collect();
        note = format!("{note} for {}", values.join(", "));
    }
    let Culprit { place, label, suggestion } = blame(context, lost, targets, first, second);
    let mut error = Diagnostic::error(Code::MapNotInjective, message, place, label).note(note);
    if let Some(condition) = domain::missing(context) {
        error.add_help(format!(
            "if only indices with `{condition}` are elements, write `where \"{condition}\"` in the shape"
        ));
        return error.witness(vec![first.to_vec(), second.to_vec()]);
    }
    if let Some(Suggestion { help, fix }) = suggestion {
        error.add_help(help);
        let is_own = context.site.is_none_or(|site| site.is_own);
        error.fixes.extend(fix.filter(|_| is_own));
    }
    if let Some((axis, held)) = ringed(context, lost) {
        error.add_help(format!(
            "for a ring buffer of {held} indices of `{axis}`, write `{axis}` in the map and `ring {axis}={held}` in the tensor"
        ));
    }
    error.witness(vec![first.to_vec(), second.to_vec()])
}

/// Pair `(axis, n)` for a map that stores `axis` as in a ring buffer of `n` elements: the first item that reads the
/// axis is `axis % n`, and `axis // n` is the only digit in `lost`. `lost` has the digits of logical indices that the
/// layout does not determine. `None` for any other map, for a layout with explicit strides, and if steps before the map
/// change the axes.
fn ringed<'a>(context: &RefusalContext<'a>, lost: &[UndeterminedDigit]) -> Option<(&'a str, i128)> {
    let site = context.site.filter(|site| site.direct && context.strides.is_none())?;
    let [digit] = lost else { return None };
    let item = site.map.items.iter().find(|item| reads(item, digit.axis))?;
    let ExprNode::Bin(BinOp::Mod, of, by) = item.index.node() else { return None };
    let is_axis =
        matches!(of.as_var(), Some(Var::Storage(k)) if usize::try_from(k) == Ok(digit.axis));
    let is_whole = digit.plain && digit.top && by.as_const() == Some(digit.weight);
    let axis = context.logical.get(digit.axis)?;
    (is_axis && is_whole).then_some((axis.name.as_str(), digit.weight))
}

/// Text of a layout that causes two elements to share a slot: its span, the label shown there, and a suggested fix,
/// `None` if there is none.
struct Culprit {
    place: FileSpan,
    label: String,
    suggestion: Option<Suggestion>,
}

fn blame(
    context: &RefusalContext<'_>,
    lost: &[UndeterminedDigit],
    targets: &[usize],
    first: &[i128],
    second: &[i128],
) -> Culprit {
    let culprit = |place, label, suggestion| Culprit { place, label, suggestion };
    let site = match context.site {
        Some(site) if site.direct && context.strides.is_none_or(|s| s.apart.is_none()) => site,
        Some(site) if site.only && context.strides.is_none() && context.foreign.is_none() => {
            return culprit(whole(site), drops(context, lost), None);
        }
        _ => return blame_text(context, lost),
    };
    // An axis in which the two elements differ and that no item reads.
    let unread: Vec<usize> = (0..context.logical.len())
        .filter(|k| !site.map.items.iter().any(|i| reads(i, *k)))
        .collect();
    let parts = missing(site, context.logical, lost, &unread);
    let suggestion = || {
        if let [only] = parts.as_slice()
            && let Some((place, again)) = repeated(site)
        {
            let help = format!("write `{}` in place of the second `{again}`", only.text);
            return Some(Suggestion { help, fix: Some(Fix { place, text: only.text.clone() }) });
        }
        let items = with_items(site, &parts);
        let help = match parts.as_slice() {
            [] => return None,
            [only] => format!("keep {} too: `{items}`", only.kind),
            _ => format!("keep the dropped parts: `{items}`"),
        };
        Some(Suggestion { help, fix: Some(Fix { place: items_place(site), text: items }) })
    };
    if let Some(axis) = unread.into_iter().find(|k| first.get(*k) != second.get(*k)) {
        let name = axis_name(site, axis, context.logical);
        return culprit(whole(site), format!("no index contains {name}"), suggestion());
    }
    if let Some(digit) = lost.iter().find(|digit| digit.plain)
        && let Some(item) = site.map.items.iter().find(|item| reads(item, digit.axis))
    {
        let (part, _) = digit_text(&axis_name(site, digit.axis, context.logical), digit);
        let place = place_in(&site.text, &item.span, &site.file);
        return culprit(place, format!("drops {part}"), suggestion());
    }
    if let Some(strides) = context.strides {
        let suggestion = Some(Suggestion { help: OVERLAP.to_owned(), fix: None });
        return culprit(strides.place.clone(), "maps both to one slot".to_string(), suggestion);
    }
    // All items that read the axes at fault.
    let items: Vec<&MapItem> = targets.iter().filter_map(|k| site.map.items.get(*k)).collect();
    let start = items.iter().map(|item| item.span.start).min();
    let end = items.iter().map(|item| item.span.end).max();
    match (start, end) {
        (Some(start), Some(end)) if start < end => {
            let overlap = items.len() == 1 && site.text.value.get(start..end).is_some_and(is_sum);
            let heavier = "give each term a weight above the sum of the smaller terms' maxima";
            let suggestion = if overlap {
                Some(Suggestion { help: heavier.to_owned(), fix: None })
            } else {
                divisor_suggestion(site, &items).or_else(|| xor_suggestion(site, &items)).or_else(
                    || product_suggestion((context.logical, context.symbols), site, &items),
                )
            };
            let place = place_in(&site.text, &(start..end), &site.file);
            culprit(place, "maps both to one slot".to_string(), suggestion)
        }
        _ => culprit(whole(site), String::new(), None),
    }
}

/// Help for strides with which two elements share a slot.
const OVERLAP: &str = "make each stride larger than the span of the smaller ones";

/// Text to blame in a layout whose faults cannot be traced to the items of one map: the explicit strides if there are
/// any, otherwise the text in a foreign notation if there is one, otherwise the whole layout. `lost` are the digits of
/// logical indices that the layout does not determine.
fn blame_text(context: &RefusalContext<'_>, lost: &[UndeterminedDigit]) -> Culprit {
    let label = drops(context, lost);
    if let Some(StrideSource { place, apart, .. }) = context.strides {
        let suggestion = match apart {
            Some((text, fix)) => {
                Suggestion { help: format!("{OVERLAP}: `{text}`"), fix: fix.clone() }
            }
            None => Suggestion { help: OVERLAP.to_owned(), fix: None },
        };
        return Culprit { place: place.clone(), label, suggestion: Some(suggestion) };
    }
    let Some(ForeignText { notation, place, names }) = context.foreign else {
        return Culprit { place: context.place.clone(), label, suggestion: None };
    };
    let digit = lost.iter().find(|digit| digit.plain);
    let help = match (notation, digit) {
        (Notation::Mlir, Some(digit)) => {
            let own = context.logical.get(digit.axis).map(|axis| axis.name.as_str());
            let name = names.get(digit.axis).map(String::as_str).or(own).unwrap_or_default();
            let (text, kind) = digit_text(name, digit);
            let text = text.replace("//", "floordiv").replace('%', "mod");
            format!("keep {kind} too: add the result `{text}`")
        }
        (Notation::Triton, _) => {
            "make the images linearly independent over GF(2): none is zero or the xor of others"
                .to_owned()
        }
        _ => "keep every digit of each axis in the text".to_owned(),
    };
    Culprit { place: place.clone(), label, suggestion: Some(Suggestion { help, fix: None }) }
}

/// Span and text of the last map item that repeats an earlier one; `None` if all differ.
fn repeated(site: &AppliedMap) -> Option<(FileSpan, &str)> {
    let written = |item: &MapItemText| site.text.value.get(item_span(item));
    let items = &site.parsed.items;
    items.iter().enumerate().rev().find_map(|(k, item)| {
        let text = written(item)?;
        let is_repeated = items.iter().take(k).any(|other| written(other) == Some(text));
        is_repeated.then(|| (place_in(&site.text, &item_span(item), &site.file), text))
    })
}

fn whole(site: &AppliedMap) -> FileSpan {
    place_in(&site.text, &(0..site.text.value.len()), &site.file)
}

fn is_sum(text: &str) -> bool {
    text.contains('+') && !text.contains(['&', '^'])
}

/// Label such as `drops c // 4`, with the first digit in `lost` that is taken from the index of an axis itself, not
/// from the index plus a constant or from the reversed index. Empty if there is no such digit.
fn drops(context: &RefusalContext<'_>, lost: &[UndeterminedDigit]) -> String {
    let digit = lost.iter().find(|digit| digit.plain);
    let name = digit.and_then(|digit| context.logical.get(digit.axis));
    match (digit, name) {
        (Some(digit), Some(axis)) => format!("drops {}", digit_text(&axis.name, digit).0),
        _ => String::new(),
    }
}

/// Items to insert in the map of `site` so that it determines the logical indices: one for each digit in `lost` whose
/// axis an item reads, and one for each axis in `unread`. `lost` are the digits that the map does not determine; those
/// of an index plus a constant or of a reversed index get no item. `unread` are the positions of the axes that no item
/// reads.
fn missing(
    site: &AppliedMap,
    logical: &[Axis],
    lost: &[UndeterminedDigit],
    unread: &[usize],
) -> Vec<MapInsertion> {
    let mut parts: Vec<MapInsertion> = Vec::new();
    for digit in lost.iter().filter(|digit| digit.plain && !unread.contains(&digit.axis)) {
        let Some(item) = site.map.items.iter().find(|item| reads(item, digit.axis)) else {
            continue;
        };
        let written = |text: &MapItemText| match text {
            MapItemText::Star(_, span) => *span == item.span,
            MapItemText::Expr { expr, .. } => expr.span == item.span,
        };
        let at = match site.parsed.items.iter().position(written) {
            Some(k) if digit.weight == 1 => InsertPoint::After(k),
            Some(k) => InsertPoint::Before(k),
            None => InsertPoint::End,
        };
        let (text, kind) = digit_text(&axis_name(site, digit.axis, logical), digit);
        parts.push(MapInsertion { text, kind, at });
    }
    for axis in unread {
        let text = axis_name(site, *axis, logical);
        if parts.iter().all(|part| part.text != text) {
            parts.push(MapInsertion { text, kind: "it", at: InsertPoint::End });
        }
    }
    parts
}

fn reads(item: &MapItem, axis: usize) -> bool {
    item.index.mentions(&|var| matches!(var, Var::Storage(k) if usize::try_from(k) == Ok(axis)))
}

/// Pair `(text, noun)` for the digit `digit` of the axis `name`: (`c // 4`, "the quotient"), (`c % 4`, "the
/// remainder"), (`c // 4 % 8`, "the digit"), or (`c`, "the index") for a digit that is the whole index.
fn digit_text(name: &str, digit: &UndeterminedDigit) -> (String, &'static str) {
    match (digit.weight, digit.count, digit.top) {
        (1, Some(count), false) => (format!("{name} % {count}"), "the remainder"),
        (1, _, _) => (name.to_string(), "the index"),
        (weight, Some(count), false) => (format!("{name} // {weight} % {count}"), "the digit"),
        (weight, _, _) => (format!("{name} // {weight}"), "the quotient"),
    }
}

fn unproven(
    context: &RefusalContext<'_>,
    axes: &[usize],
    points: Option<i128>,
    slots: Option<i128>,
) -> Diagnostic {
    let names: Vec<String> = axes
        .iter()
        .filter_map(|k| context.logical.get(*k))
        .map(|axis| format!("`{}`", axis.name))
        .collect();
    let names = layoutc_algebra::prove::listed(&names);
    let message = format!("cannot prove that the layout of `{}` is injective", context.tensor);
    let place = match context.site {
        Some(site) => place_in(&site.text, &(0..site.text.value.len()), &site.file),
        None => context.place.clone(),
    };
    let error =
        Diagnostic::error(Code::MapUnproven, message, place, format!("undecided in {names}"));
    match (points, slots) {
        (Some(points), Some(slots)) => error
            .note(format!(
                "the index has no digit form, and {points} elements over {slots} slots are too many to enumerate \
                 (the limit is {MAX_POINTS} elements, {MAX_SLOTS} slots)"
            ))
            .help("write the index as quotients and remainders of the axes, or reduce the extents"),
        _ => error
            .note("the index has no digit form, and a run-time extent cannot be enumerated")
            .help("write the index as quotients and remainders of the axes, or give the axis a constant extent"),
    }
}
