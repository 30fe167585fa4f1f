//! A layout that is not proven: the elements at fault, the characters that lose them, the change that keeps them.

use layoutc_algebra::build::FinishError;
use layoutc_algebra::expr::Var;
use layoutc_algebra::layout::{Axis, Symbol};
use layoutc_algebra::map::Item;
use layoutc_algebra::parse::ItemText;
use layoutc_algebra::proof::{Lost, MAX_POINTS, MAX_SLOTS, Refusal};

use super::expr::place_in;
use super::faults::{index, size};
use super::steps::Site;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Place};

/// What a refusal is told with.
pub(super) struct Told<'a> {
    pub(super) tensor: &'a str,
    pub(super) logical: &'a [Axis],
    pub(super) symbols: &'a [Symbol],
    /// The last map of the layout, if it has one.
    pub(super) site: Option<&'a Site>,
    /// The layout's node, or the tensor's name when it has none.
    pub(super) place: Place,
}

/// The diagnostic of a layout that could not be finished.
pub(super) fn fault(error: &FinishError, told: &Told<'_>) -> Diagnostic {
    let plain =
        |code: Code, message: String| Diagnostic::error(code, message, told.place.clone(), "");
    match error {
        FinishError::Refusal(Refusal::NotInjective {
            first,
            second,
            target,
            symbols,
            lost,
            targets,
        }) => collision(told, [first, second], target, symbols, lost, targets),
        FinishError::Refusal(Refusal::Unproven { axes, points, slots, .. }) => {
            unproven(told, axes, *points, *slots)
        }
        FinishError::Refusal(Refusal::Certificate(inner)) => {
            let message =
                format!("the proof of `{}` does not hold when checked again", told.tensor);
            plain(Code::MapUnproven, message)
                .note(inner.to_string())
                .help("this is a fault of layoutc, not of the manifest: please report it with the manifest")
        }
        FinishError::Build(layoutc_algebra::build::BuildError::Size) => {
            size(told.tensor, told.logical, told.symbols, told.place.clone())
        }
        FinishError::Build(inner) => plain(Code::ExprOverflow, inner.to_string()),
        FinishError::Expr(inner) | FinishError::Refusal(Refusal::Expr(inner)) => plain(
            Code::ExprOverflow,
            format!("the layout of `{}` is too large: {inner}", told.tensor),
        ),
    }
}

fn collision(
    told: &Told<'_>,
    [first, second]: [&[i128]; 2],
    target: &[i128],
    symbols: &[i128],
    lost: &[Lost],
    targets: &[usize],
) -> Diagnostic {
    let tensor = told.tensor;
    let message = format!("two elements of `{tensor}` share a slot");
    let at = format!("({})", target.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
    let mut note =
        format!("{tensor}{} and {tensor}{} both land at {at}", index(first), index(second));
    if !symbols.is_empty() {
        let values: Vec<String> = told
            .symbols
            .iter()
            .zip(symbols)
            .map(|(symbol, v)| format!("{} = {v}", symbol.name))
            .collect();
        note = format!("{note} for {}", values.join(", "));
    }
    let (place, label, help) = blame(told, lost, targets, first, second);
    let mut error = Diagnostic::error(Code::MapNotInjective, message, place, label).note(note);
    error.help.extend(help);
    error.witness(vec![first.to_vec(), second.to_vec()])
}

/// The characters at fault, what they do, and the change that mends it.
fn blame(
    told: &Told<'_>,
    lost: &[Lost],
    targets: &[usize],
    first: &[i128],
    second: &[i128],
) -> (Place, String, Option<String>) {
    let Some(site) = told.site else { return (told.place.clone(), String::new(), None) };
    let whole = place_in(&site.text, &(0..site.text.value.len()), &site.file);
    if !site.direct {
        return (whole, String::new(), None);
    }
    // An axis in which the two differ and that nothing reads.
    let differing = (0..first.len()).filter(|k| first.get(*k) != second.get(*k));
    for axis in differing {
        let name = axis_name(site, axis, told.logical);
        if !site.map.items.iter().any(|item| reads(item, axis)) {
            let help = format!("keep it: `{}`", with_item(site, &name, None));
            return (whole, format!("{name} is in no index"), Some(help));
        }
    }
    if let Some(digit) = lost.iter().find(|digit| digit.plain)
        && let Some(position) = site.map.items.iter().position(|item| reads(item, digit.axis))
        && let Some(item) = site.map.items.get(position)
    {
        let name = axis_name(site, digit.axis, told.logical);
        let (part, kind) = digit_text(&name, digit);
        let at = if digit.weight == 1 { position + 1 } else { position };
        let help = format!("keep the {kind} too: `{}`", with_item(site, &part, Some(at)));
        return (place_in(&site.text, &item.span, &site.file), format!("drops {part}"), Some(help));
    }
    // All the items that read the axes at fault.
    let spans: Vec<_> =
        targets.iter().filter_map(|k| site.map.items.get(*k)).map(|item| &item.span).collect();
    let start = spans.iter().map(|span| span.start).min();
    let end = spans.iter().map(|span| span.end).max();
    match (start, end) {
        (Some(start), Some(end)) if start < end => (
            place_in(&site.text, &(start..end), &site.file),
            "does not tell them apart".to_string(),
            None,
        ),
        _ => (whole, String::new(), None),
    }
}

fn reads(item: &Item, axis: usize) -> bool {
    item.index.mentions(&|var| matches!(var, Var::Storage(k) if usize::try_from(k) == Ok(axis)))
}

/// `c // 4`, `c % 4` or `c // 4 % 8`, and what to call it.
fn digit_text(name: &str, digit: &Lost) -> (String, &'static str) {
    match (digit.weight, digit.count, digit.top) {
        (1, Some(count), false) => (format!("{name} % {count}"), "remainder"),
        (1, _, _) => (name.to_string(), "index"),
        (weight, Some(count), false) => (format!("{name} // {weight} % {count}"), "digit"),
        (weight, _, _) => (format!("{name} // {weight}"), "quotient"),
    }
}

/// The name that the map's text has for a logical axis.
fn axis_name(site: &Site, axis: usize, logical: &[Axis]) -> String {
    let own = || logical.get(axis).map(|a| a.name.clone()).unwrap_or_default();
    match &site.parsed.params {
        Some(params) if params.iter().all(|p| !p.star) => {
            params.get(axis).map_or_else(own, |param| param.name.clone())
        }
        _ => own(),
    }
}

/// The map's items as written, with one more at a position (or last).
fn with_item(site: &Site, part: &str, at: Option<usize>) -> String {
    let text = |item: &ItemText| {
        let span = match item {
            ItemText::Star(_, span) => span.clone(),
            ItemText::Expr { name, expr, extent } => {
                let start = name.as_ref().map_or(expr.span.start, |(_, span)| span.start);
                start..extent.as_ref().map_or(expr.span.end, |extent| extent.span.end)
            }
        };
        site.text.value.get(span).unwrap_or_default().to_string()
    };
    let items: Vec<String> = site.parsed.items.iter().map(text).collect();
    let at = at.unwrap_or(items.len()).min(items.len());
    let mut out = String::from("(");
    let join = |out: &mut String, part: &str, separated: bool| {
        if out.len() > 1 {
            out.push_str(if separated { " | " } else { ", " });
        }
        out.push_str(part);
    };
    for (k, item) in items.iter().enumerate() {
        let separated = site.parsed.separators.iter().any(|(after, _)| *after == k);
        if k == at {
            join(&mut out, part, separated);
        }
        // What is put in right after a separator takes it along.
        join(&mut out, item, separated && k != at);
    }
    if at == items.len() {
        join(&mut out, part, false);
    }
    out.push(')');
    out
}

fn unproven(
    told: &Told<'_>,
    axes: &[usize],
    points: Option<i128>,
    slots: Option<i128>,
) -> Diagnostic {
    let names: Vec<String> = axes
        .iter()
        .filter_map(|k| told.logical.get(*k))
        .map(|axis| format!("`{}`", axis.name))
        .collect();
    let names = layoutc_algebra::proof::listed(&names);
    let message = format!("the layout of `{}` could not be proven one-to-one", told.tensor);
    let place = match told.site {
        Some(site) => place_in(&site.text, &(0..site.text.value.len()), &site.file),
        None => told.place.clone(),
    };
    let error =
        Diagnostic::error(Code::MapUnproven, message, place, format!("undecided in {names}"));
    match (points, slots) {
        (Some(points), Some(slots)) => error
            .note(format!(
                "no digits could be read, and {points} elements over {slots} slots are more than are visited \
                 one by one ({MAX_POINTS} elements, {MAX_SLOTS} slots)"
            ))
            .help("write the index as quotients and remainders of the axes, or make the axes smaller"),
        _ => error
            .note("no digits could be read, and an extent that is known only at run time cannot be visited")
            .help("write the index as quotients and remainders of the axes, or give the axis a fixed extent"),
    }
}
