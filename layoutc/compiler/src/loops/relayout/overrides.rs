//! Loops of a relayout for which the manifest makes some choices. Each choice applies to the parts that allow it; a
//! choice that no part allows is an error.

use layoutc_algebra::symbol::Symbol;

use crate::loops::error::PlanError;
use crate::loops::heuristics::{relayout_primitive, small_tiles};
use crate::loops::relayout::digits::{CommonDigit, DigitRefinement};
use crate::loops::relayout::schedule::{RelayoutPrimitive, RelayoutSchedule, block, levels, loops};
use crate::model::{ConvertSchedule, InnerKernel, Spanned};

/// Schedule of each part, in order. `element`: size of an element in bytes, `None` if only single elements can be
/// copied; `large`: true if the whole relayout exceeds the last-level cache; `choices`: directives of the manifest.
///
/// # Errors
/// [`PlanError::Choice`] for a choice that no part allows, and for an `order` that names a digit of a tile whose sizes
/// the manifest chooses.
pub(crate) fn schedules(
    parts: &[DigitRefinement],
    symbols: &[Symbol],
    element: Option<u32>,
    large: bool,
    choices: &ConvertSchedule,
) -> Result<Vec<RelayoutSchedule>, PlanError> {
    let inners = inners(parts, symbols, element, choices)?;
    let parts: Vec<(&DigitRefinement, RelayoutPrimitive)> = parts.iter().zip(inners).collect();
    let edges = choices.block.as_ref();
    if let Some(edges) = edges
        && parts.iter().all(|(part, inner)| block(part, symbols, *inner).is_none())
    {
        return Err(no_block(edges));
    }
    let orders = orders(&parts, symbols, &choices.order)?;
    if edges.is_some()
        && let Some(digit) = in_block(&parts, symbols, &choices.order)
    {
        return Err(inside_block(digit));
    }
    let edges = edges.map(|edges| edges.value);
    let one = |((part, inner), first): (&(&DigitRefinement, RelayoutPrimitive), Vec<usize>)| {
        RelayoutSchedule {
            levels: levels(part, symbols, *inner, &first, edges, large),
            inner: *inner,
        }
    };
    Ok(parts.iter().zip(orders).map(one).collect())
}

/// Primitive of each part: the manifest's if the part allows it, otherwise the planner's. A [`PlanError::Choice`] if no
/// part allows the manifest's.
fn inners(
    parts: &[DigitRefinement],
    symbols: &[Symbol],
    element: Option<u32>,
    choices: &ConvertSchedule,
) -> Result<Vec<RelayoutPrimitive>, PlanError> {
    let is_ordered = |digit: &CommonDigit| choices.order.iter().any(|own| own.value == digit.name);
    let primitive = |part: &DigitRefinement, kind: Option<InnerKernel>| {
        let may_share =
            |k: usize| choices.block.is_none() && !part.digits.get(k).is_some_and(is_ordered);
        match kind {
            None => Some(relayout_primitive::best(part, symbols, element, &may_share)),
            Some(kind) => relayout_primitive::of(part, symbols, element, kind)
                .map(|inner| small_tiles::together(part, symbols, inner, &may_share)),
        }
    };
    let wanted = choices.inside.as_ref();
    let kind = wanted.map(|wanted| wanted.value);
    let found: Vec<_> = parts.iter().map(|part| primitive(part, kind)).collect();
    match wanted {
        Some(wanted) if found.iter().all(Option::is_none) && !parts.is_empty() => {
            Err(no_such_inside(wanted))
        }
        _ => {
            let own = parts.iter().zip(found);
            Ok(own.filter_map(|(part, found)| found.or_else(|| primitive(part, None))).collect())
        }
    }
}

/// Digits that each part's outermost loops iterate over, in the order of `names`; a name that the part lacks is
/// skipped. A [`PlanError::Choice`] for a name that all parts lack.
fn orders(
    parts: &[(&DigitRefinement, RelayoutPrimitive)],
    symbols: &[Symbol],
    names: &[Spanned<String>],
) -> Result<Vec<Vec<usize>>, PlanError> {
    let named = |(part, inner): &(&DigitRefinement, RelayoutPrimitive)| -> Vec<(usize, String)> {
        let digit = |k: usize| Some((k, part.digits.get(k)?.name.clone()));
        loops(part, symbols, *inner).into_iter().filter_map(digit).collect()
    };
    let loops: Vec<Vec<(usize, String)>> = parts.iter().map(named).collect();
    let known = |name: &str| loops.iter().flatten().any(|(_, known)| known == name);
    if let Some(unknown) = names.iter().find(|name| !known(&name.value)) {
        return Err(no_loop(unknown, parts, &loops));
    }
    let of_part = |loops: &Vec<(usize, String)>| {
        let found = |name: &Spanned<String>| loops.iter().find(|(_, known)| *known == name.value);
        names.iter().filter_map(found).map(|(k, _)| *k).collect()
    };
    Ok(loops.iter().map(of_part).collect())
}

/// First of `names`, the loops that the manifest orders outermost, that is a digit of a tile, whose loops are
/// innermost; `None` if there is none.
fn in_block<'c>(
    parts: &[(&DigitRefinement, RelayoutPrimitive)],
    symbols: &[Symbol],
    names: &'c [Spanned<String>],
) -> Option<&'c Spanned<String>> {
    let is_in = |name: &&Spanned<String>| {
        parts.iter().any(|(part, inner)| {
            let digits = block(part, symbols, *inner).into_iter().flatten();
            digits.filter_map(|k| part.digits.get(k)).any(|digit| digit.name == name.value)
        })
    };
    names.iter().find(is_in)
}

fn inside_block(name: &Spanned<String>) -> PlanError {
    PlanError::Choice {
        message: format!("`{}` is a digit of the block, whose loops are the innermost", name.value),
        help: "leave it out of `order`, or leave `block` out".into(),
        place: name.place.clone(),
    }
}

fn no_loop(
    name: &Spanned<String>,
    parts: &[(&DigitRefinement, RelayoutPrimitive)],
    loops: &[Vec<(usize, String)>],
) -> PlanError {
    let is_inside = |(part, inner): &(&DigitRefinement, RelayoutPrimitive)| {
        inner.digits().any(|k| part.digits.get(k).is_some_and(|digit| digit.name == name.value))
    };
    let mut names: Vec<&str> = Vec::new();
    for (_, known) in loops.iter().flatten() {
        if !names.contains(&known.as_str()) {
            names.push(known);
        }
    }
    let (message, help) = if parts.iter().any(is_inside) {
        let message = format!("`{}` has no loop: it is moved inside all of them", name.value);
        (message, "`inside elements` makes a loop of every digit".to_owned())
    } else if names.is_empty() {
        (format!("there is no loop `{}`: this conversion has none", name.value), String::new())
    } else {
        let message = format!("there is no loop `{}`", name.value);
        (message, format!("the loops are `{}`, outermost first", names.join("`, `")))
    };
    PlanError::Choice { message, help, place: name.place.clone() }
}

fn no_block(edges: &Spanned<[i64; 2]>) -> PlanError {
    PlanError::Choice {
        message: "there is no block: source and destination agree on their fastest digit".into(),
        help: "leave it out; `layoutc inspect --plan` prints what is inside the loops".into(),
        place: edges.place.clone(),
    }
}

fn no_such_inside(wanted: &Spanned<InnerKernel>) -> PlanError {
    let (message, help) = match wanted.value {
        InnerKernel::CopyRuns => (
            "there are no runs: no digit is contiguous in both tensors, or nothing counts runs",
            "write `inside blocks` or `inside elements`, or leave it to the planner",
        ),
        InnerKernel::Transpose | InnerKernel::Elementwise => (
            "no block can be transposed: the fastest digits agree, or hold other than 1, 2, 4, 8 or 16 bytes together",
            "write `inside runs` or `inside elements`, or leave it to the planner",
        ),
    };
    PlanError::Choice { message: message.into(), help: help.into(), place: wanted.place.clone() }
}
