//! Suggested fixes for maps that are not injective, as edits of their text.

use layoutc_algebra::expr::BinOp;
use layoutc_algebra::expr::parse::{IndexAst, IndexAstKind, MapItemText, Span};
use layoutc_algebra::map::MapItem;
use layoutc_algebra::symbol::{Axis, Symbol};

use super::expr::place_in;
use super::faults::text;
use super::layout_attributes::AppliedMap;
use crate::base::diagnostic::{FileSpan, Fix};

/// Help text, with the edit that it describes if there is one.
pub(super) struct Suggestion {
    pub(super) help: String,
    pub(super) fix: Option<Fix>,
}

/// Fix for a map that gives two elements one slot because of an XOR. `items` are the items that read the axes at fault;
/// the fix applies if they are a single item `a ^ b` with a name as an operand. It adds the operand `b` (`a` if only
/// `a` is a name) as a further item, so that both operands are determined. `None` otherwise.
pub(super) fn xor_suggestion(site: &AppliedMap, items: &[&MapItem]) -> Option<Suggestion> {
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

/// Fix for a map that gives two elements one slot because of a product of axes. `items` are the items that read the
/// axes at fault; the fix applies if they are a single product `a * b` of two names, and `b` is an axis. It replaces
/// the product by the row-major index `a * extent + b`, where `extent` is the extent of `b`. `None` otherwise. The
/// first argument is the pair (logical axes, symbols) of the tensor.
pub(super) fn product_suggestion(
    (logical, symbols): (&[Axis], &[Symbol]),
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
    let axis = (0..logical.len()).find(|k| axis_name(site, *k, logical) == *b)?;
    let extent = text(&logical.get(axis)?.extent, logical, symbols);
    let is_name = extent.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let extent = if is_name { extent } else { format!("({extent})") };
    let text = format!("{a} * {extent} + {b}");
    let help = format!(
        "a product of two axes is not unique; write their row-major index: `{text}`, where {extent} is the extent of `{b}`"
    );
    let place = place_in(&site.text, &written.span, &site.file);
    Some(Suggestion { help, fix: Some(Fix { place, text }) })
}

/// Fix for a quotient and a remainder of one expression by different divisors: `c // 4, c % 4` for `c // 4, c % 3`.
/// `None` if `items`, items of the map of `site`, have no such pair.
pub(super) fn divisor_suggestion(site: &AppliedMap, items: &[&MapItem]) -> Option<Suggestion> {
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

/// Help text for a map with a quotient and a remainder of one expression by different divisors, `c // 4, c % 3`; `None`
/// if the map has no such pair.
pub(super) fn one_divisor(site: &AppliedMap) -> Option<String> {
    divisor_suggestion(site, &site.map.items.iter().collect::<Vec<_>>()).map(|found| found.help)
}

/// Span of a map's items, including their parentheses: `(n, c // 4)` in `(n, c) -> (n, c // 4)`.
pub(super) fn items_place(site: &AppliedMap) -> FileSpan {
    let text = &site.text.value;
    let arrow = text.find("->").filter(|_| site.parsed.params.is_some());
    let after = arrow.map_or(0, |at| at + "->".len());
    let blanks = text.get(after..).map_or(0, |rest| rest.len() - rest.trim_start().len());
    place_in(&site.text, &(after + blanks..text.len()), &site.file)
}

/// Item that a suggestion inserts in a map.
pub(super) struct MapInsertion {
    pub(super) text: String,
    /// Noun phrase for the item in help texts: `the quotient` for `c // 4`, or `it` for an item that is no digit.
    pub(super) kind: &'static str,
    pub(super) at: InsertPoint,
}

/// Position of an inserted item: before or after the item at this position in the map's text, counted from 0, or at the
/// end of the map.
#[derive(PartialEq, Eq)]
pub(super) enum InsertPoint {
    Before(usize),
    After(usize),
    End,
}

/// Name of the logical axis at position `axis` in the map's text: its parameter, `*outer` for a `*` parameter, or its
/// own name if the map has no parameters.
pub(super) fn axis_name(site: &AppliedMap, axis: usize, logical: &[Axis]) -> String {
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

/// Text of the map's items in parentheses, with the items `parts` inserted.
pub(super) fn with_items(site: &AppliedMap, parts: &[MapInsertion]) -> String {
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

/// Byte range of a map item in the map's text, including its name and extent: `co = c // 4 : 4`.
pub(super) fn item_span(item: &MapItemText) -> Span {
    match item {
        MapItemText::Star(_, span) => span.clone(),
        MapItemText::Expr { name, expr, extent } => {
            let start = name.as_ref().map_or(expr.span.start, |(_, span)| span.start);
            start..extent.as_ref().map_or(expr.span.end, |extent| extent.span.end)
        }
    }
}
