//! Directives of a `convert` that state a given plan.

use layoutc_algebra::symbol::Symbol;

use crate::base::diagnostic::FileSpan;
use crate::loops::relayout::plan::{RelayoutPart, RelayoutPlan};
use crate::loops::relayout::schedule::{RelayoutLoop, RelayoutPrimitive, block};
use crate::model::{ConvertSchedule, FillStrategy, InnerKernel, Spanned};

/// Sets of directives that may state `plan`, the most complete first; the last has none for loops. `fill` is the
/// treatment of padding in the plan, `choices` has the manifest's directive for stores, and `place` becomes the
/// location of all others. A directive holds for all parts of a relayout, so that the caller has to plan with each set,
/// and to take the first that gives the same plan.
pub(crate) fn candidates(
    plan: &RelayoutPlan,
    symbols: &[Symbol],
    fill: Option<FillStrategy>,
    choices: &ConvertSchedule,
    place: &FileSpan,
) -> Vec<ConvertSchedule> {
    let order: Vec<Spanned<String>> =
        order(plan).into_iter().map(|name| spanned(name, place)).collect();
    let block =
        plan.parts.iter().find_map(|part| tile(part, symbols)).map(|sizes| spanned(sizes, place));
    let inside = plan.parts.first().map(kind);
    let inside = inside.filter(|kind| plan.parts.iter().all(|part| self::kind(part) == *kind));
    let inside = inside.map(|kind| spanned(kind, place));
    let fill = fill.map(|fill| spanned(fill, place));
    let mut all: Vec<ConvertSchedule> = Vec::new();
    for choice in 0..8_u32 {
        let [has_order, has_block, has_inside] = [4, 1, 2].map(|bit| choice & bit == 0);
        let candidate = ConvertSchedule {
            order: if has_order { order.clone() } else { Vec::new() },
            block: block.clone().filter(|_| has_block),
            inside: inside.clone().filter(|_| has_inside),
            stores: choices.stores.clone(),
            fill: fill.clone(),
        };
        if !all.contains(&candidate) {
            all.push(candidate);
        }
    }
    all
}

fn spanned<T>(value: T, place: &FileSpan) -> Spanned<T> {
    Spanned { value, place: place.clone() }
}

/// Names of the loops over digits that are not split into tiles, of all parts, outermost first. A loop that only a
/// later part has follows the loop around it.
fn order(plan: &RelayoutPlan) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for RelayoutPart { refinement, schedule, .. } in &plan.parts {
        let is_tiled = |k: usize| {
            let mut levels = schedule.levels.iter();
            levels.any(|own| matches!(own, RelayoutLoop::Tiles { digit, .. } if *digit == k))
        };
        let mut next = 0;
        let digits = schedule.levels.iter().filter_map(RelayoutLoop::single_value_digit);
        for digit in digits.filter(|k| !is_tiled(*k)).filter_map(|k| refinement.digits.get(k)) {
            match all.iter().position(|name| *name == digit.name) {
                Some(at) => next = at.saturating_add(1),
                None => {
                    all.insert(next, digit.name.clone());
                    next = next.saturating_add(1);
                }
            }
        }
    }
    all
}

/// Numbers of rows and columns of the tiles of a part; the extent of a digit that is not tiled. `None` without tiles,
/// or if an extent is not constant.
fn tile(part: &RelayoutPart, symbols: &[Symbol]) -> Option<[i64; 2]> {
    let RelayoutPart { refinement, schedule, .. } = part;
    let mut has_tiles = matches!(schedule.inner, RelayoutPrimitive::Transpose { .. });
    let mut size = |digit: usize| {
        let tiles = schedule.levels.iter().find_map(|level| match level {
            RelayoutLoop::Tiles { digit: own, size } if *own == digit => Some(*size),
            _ => None,
        });
        has_tiles |= tiles.is_some();
        let extent = || refinement.digits.get(digit)?.extent.as_const();
        tiles.or_else(|| i64::try_from(extent()?).ok())
    };
    let [rows, columns] = block(refinement, symbols, schedule.inner)?;
    let sizes = [size(rows)?, size(columns)?];
    has_tiles.then_some(sizes)
}

fn kind(part: &RelayoutPart) -> InnerKernel {
    match part.schedule.inner {
        RelayoutPrimitive::Element => InnerKernel::Elementwise,
        RelayoutPrimitive::Transpose { .. } => InnerKernel::Transpose,
        RelayoutPrimitive::Runs { .. } => InnerKernel::CopyRuns,
    }
}
