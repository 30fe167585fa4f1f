//! Diagnostics of layouts that are not injective: the colliding elements, the characters at fault, and a fix.

use layoutc_algebra::builder::{BuildError, FinishError};
use layoutc_algebra::expr::parse::{IndexAst, IndexAstKind, MapItemText, Span};
use layoutc_algebra::expr::{BinOp, ExprError, ExprNode, Var};
use layoutc_algebra::map::MapItem;
use layoutc_algebra::notation::Notation;
use layoutc_algebra::prove::{InjectivityError, MAX_POINTS, MAX_SLOTS, UndeterminedDigit};
use layoutc_algebra::symbol::{Axis, Symbol};

use super::domain;
use super::expr::{overflow, place_in};
use super::faults::{index, size, text};
use super::layout_attributes::{AppliedMap, ForeignText};
use super::replay::LayoutSource;
use super::strides::StrideSource;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan, Fix};

/// Context of a layout that the prover refused: where its parts are written in the manifest.
pub(super) struct RefusalContext<'a> {
    pub(super) tensor: &'a str,
    pub(super) logical: &'a [Axis],
    pub(super) symbols: &'a [Symbol],
    /// Last map of the layout; `None` if it has no map.
    pub(super) site: Option<&'a AppliedMap>,
    /// Strides of the layout as they are written; `None` if it has none.
    pub(super) strides: Option<&'a StrideSource>,
    /// Last text of the layout in a foreign notation; `None` if there is none.
    pub(super) foreign: Option<&'a ForeignText>,
    /// Steps of the layout; `None` if they cannot be replayed.
    pub(super) recipe: Option<LayoutSource<'a>>,
    /// Location of the layout's node, or of the tensor's name if it has none.
    pub(super) place: FileSpan,
}

/// Diagnostic of a layout that could not be finished.
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

/// Diagnostic of a layout without a manifest that could not be finished.
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

/// The axis and divisor of an index `axis % n` alone, as in a ring buffer of n elements.
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

/// Part of a layout's text that is at fault: its span, a label, and a suggested fix.
struct Culprit {
    place: FileSpan,
    label: String,
    suggestion: Option<Suggestion>,
}

/// Help text with the edit that it describes.
struct Suggestion {
    help: String,
    fix: Option<Fix>,
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
                divisor_suggestion(site, &items)
                    .or_else(|| xor_suggestion(site, &items))
                    .or_else(|| product_suggestion(context, site, &items))
            };
            let place = place_in(&site.text, &(start..end), &site.file);
            culprit(place, "maps both to one slot".to_string(), suggestion)
        }
        _ => culprit(whole(site), String::new(), None),
    }
}

/// Help for strides of which some overlap.
const OVERLAP: &str = "make each stride larger than the span of the smaller ones";

/// The blame if no map of the layout itself is at fault: strides, or a foreign text.
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

/// Fix for a lone `a ^ b`: keeps one of its operands as a further index, which determines the other.
fn xor_suggestion(site: &AppliedMap, items: &[&MapItem]) -> Option<Suggestion> {
    let [item] = items else { return None };
    let k = site.parsed.items.iter().position(
        |text| matches!(text, MapItemText::Expr { expr, .. } if expr.span == item.span),
    )?;
    let MapItemText::Expr { expr, .. } = site.parsed.items.get(k)? else { return None };
    let IndexAstKind::Bin(BinOp::Xor, _, left, right) = &expr.kind else { return None };
    let is_name = |side: &&IndexAst| matches!(side.kind, IndexAstKind::Name(_));
    let side = [right.as_ref(), left.as_ref()].into_iter().find(is_name)?;
    let text = site.text.value.get(side.span.clone())?.to_owned();
    let items = with_items(site, &[MapInsertion { text, kind: "it", at: InsertPoint::After(k) }]);
    let help = format!("`^` is exclusive or, not a power: keep one of its operands too: `{items}`");
    Some(Suggestion { help, fix: Some(Fix { place: items_place(site), text: items }) })
}

/// Fix for the product of two axes: the row-major index of both.
fn product_suggestion(
    context: &RefusalContext<'_>,
    site: &AppliedMap,
    items: &[&MapItem],
) -> Option<Suggestion> {
    let [item] = items else { return None };
    let written = site.parsed.items.iter().find_map(|text| match text {
        MapItemText::Expr { expr, .. } if expr.span == item.span => Some(expr),
        _ => None,
    })?;
    let IndexAstKind::Bin(BinOp::Mul, _, a, b) = &written.kind else { return None };
    let (IndexAstKind::Name(a), IndexAstKind::Name(b)) = (&a.kind, &b.kind) else { return None };
    let axis = (0..context.logical.len()).find(|k| axis_name(site, *k, context.logical) == *b)?;
    let extent = text(&context.logical.get(axis)?.extent, context.logical, context.symbols);
    let is_name = extent.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let extent = if is_name { extent } else { format!("({extent})") };
    let text = format!("{a} * {extent} + {b}");
    let help = format!(
        "a product of two axes is not unique; write their row-major index: `{text}`, where {extent} is the extent of `{b}`"
    );
    let place = place_in(&site.text, &written.span, &site.file);
    Some(Suggestion { help, fix: Some(Fix { place, text }) })
}

/// Fix for a quotient and a remainder of one expression with different divisors: `c // 4, c % 3`.
fn divisor_suggestion(site: &AppliedMap, items: &[&MapItem]) -> Option<Suggestion> {
    let asts: Vec<&IndexAst> = site
        .parsed
        .items
        .iter()
        .filter_map(|item| match item {
            MapItemText::Expr { expr, .. } => Some(expr),
            MapItemText::Star(..) => None,
        })
        .filter(|ast| items.iter().any(|item| item.span == ast.span))
        .collect();
    let written = |span: &Span| site.text.value.get(span.clone()).unwrap_or_default();
    let parts = |wanted: BinOp| {
        asts.iter().filter_map(move |ast| match &ast.kind {
            IndexAstKind::Bin(op, _, what, by) if *op == wanted => {
                Some((*ast, written(&what.span), written(&by.span)))
            }
            _ => None,
        })
    };
    parts(BinOp::FloorDiv).find_map(|(_, what, by)| {
        let apart = |part: &(&IndexAst, &str, &str)| part.1 == what && part.2 != by;
        let (remainder, _, _) = parts(BinOp::Mod).find(apart)?;
        let text = format!("{what} % {by}");
        let help = format!(
            "use one divisor for quotient and remainder: write `{text}` in place of `{}`",
            written(&remainder.span)
        );
        let place = place_in(&site.text, &remainder.span, &site.file);
        Some(Suggestion { help, fix: Some(Fix { place, text }) })
    })
}

/// Help for a quotient and a remainder of one expression with different divisors; `None` if the map has none.
pub(super) fn one_divisor(site: &AppliedMap) -> Option<String> {
    divisor_suggestion(site, &site.map.items.iter().collect::<Vec<_>>()).map(|found| found.help)
}

/// Span and text of the last item of a map that repeats another one; `None` if all differ.
fn repeated(site: &AppliedMap) -> Option<(FileSpan, &str)> {
    let written = |item: &MapItemText| site.text.value.get(item_span(item));
    let items = &site.parsed.items;
    items.iter().enumerate().rev().find_map(|(k, item)| {
        let text = written(item)?;
        let is_repeated = items.iter().take(k).any(|other| written(other) == Some(text));
        is_repeated.then(|| (place_in(&site.text, &item_span(item), &site.file), text))
    })
}

/// Location of a map's items, including their parentheses.
fn items_place(site: &AppliedMap) -> FileSpan {
    let text = &site.text.value;
    let arrow = text.find("->").filter(|_| site.parsed.params.is_some());
    let after = arrow.map_or(0, |at| at + "->".len());
    let blanks = text.get(after..).map_or(0, |rest| rest.len() - rest.trim_start().len());
    place_in(&site.text, &(after + blanks..text.len()), &site.file)
}

fn whole(site: &AppliedMap) -> FileSpan {
    place_in(&site.text, &(0..site.text.value.len()), &site.file)
}

fn is_sum(text: &str) -> bool {
    text.contains('+') && !text.contains(['&', '^'])
}

/// `drops c // 4`, with the tensor's own axis names; empty if no digit of an axis is at fault.
fn drops(context: &RefusalContext<'_>, lost: &[UndeterminedDigit]) -> String {
    let digit = lost.iter().find(|digit| digit.plain);
    let name = digit.and_then(|digit| context.logical.get(digit.axis));
    match (digit, name) {
        (Some(digit), Some(axis)) => format!("drops {}", digit_text(&axis.name, digit).0),
        _ => String::new(),
    }
}

/// Item that a suggestion inserts in a map.
struct MapInsertion {
    text: String,
    /// Word for the item in the help, such as `the quotient` or `it`.
    kind: &'static str,
    at: InsertPoint,
}

/// Position among a map's items at which an item is inserted.
#[derive(PartialEq, Eq)]
enum InsertPoint {
    Before(usize),
    After(usize),
    End,
}

/// Everything that a map drops: axes that no item reads, and digits of the other axes.
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

/// `c // 4`, `c % 4` or `c // 4 % 8`, with a noun for it.
fn digit_text(name: &str, digit: &UndeterminedDigit) -> (String, &'static str) {
    match (digit.weight, digit.count, digit.top) {
        (1, Some(count), false) => (format!("{name} % {count}"), "the remainder"),
        (1, _, _) => (name.to_string(), "the index"),
        (weight, Some(count), false) => (format!("{name} // {weight} % {count}"), "the digit"),
        (weight, _, _) => (format!("{name} // {weight}"), "the quotient"),
    }
}

/// Name of a logical axis in the map's text: that of its parameter, `*outer` for one that matches several axes.
fn axis_name(site: &AppliedMap, axis: usize, logical: &[Axis]) -> String {
    let Some(params) = &site.parsed.params else {
        return logical.get(axis).map(|a| a.name.clone()).unwrap_or_default();
    };
    let name = |k: usize| params.get(k).map(|param| param.name.clone()).unwrap_or_default();
    let Some(star) = params.iter().position(|param| param.star) else { return name(axis) };
    let taken = logical.len().saturating_sub(params.len() - 1);
    if axis < star {
        name(axis)
    } else if axis < star + taken {
        format!("*{}", name(star))
    } else {
        name(axis + 1 - taken)
    }
}

/// The map's items as written, with insertions.
fn with_items(site: &AppliedMap, parts: &[MapInsertion]) -> String {
    let mut out = String::from("(");
    let mut first = true;
    let mut push = |text: &str, separator: &str| {
        if !first {
            out.push_str(separator);
        }
        first = false;
        out.push_str(text);
    };
    for (k, item) in site.parsed.items.iter().enumerate() {
        let separated = site.parsed.separators.iter().any(|(after, _)| *after == k);
        let mut separator = if separated { " | " } else { ", " };
        for part in parts.iter().filter(|part| part.at == InsertPoint::Before(k)) {
            push(&part.text, separator);
            separator = ", ";
        }
        push(site.text.value.get(item_span(item)).unwrap_or_default(), separator);
        for part in parts.iter().filter(|part| part.at == InsertPoint::After(k)) {
            push(&part.text, ", ");
        }
    }
    for part in parts.iter().filter(|part| part.at == InsertPoint::End) {
        push(&part.text, ", ");
    }
    out.push(')');
    out
}

/// Bytes of an item, including its name and extent.
fn item_span(item: &MapItemText) -> Span {
    match item {
        MapItemText::Star(_, span) => span.clone(),
        MapItemText::Expr { name, expr, extent } => {
            let start = name.as_ref().map_or(expr.span.start, |(_, span)| span.start);
            start..extent.as_ref().map_or(expr.span.end, |extent| extent.span.end)
        }
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
