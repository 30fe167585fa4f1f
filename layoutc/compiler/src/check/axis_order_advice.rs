//! Advice on the order of a tensor's axes: finds the order that needs the fewest slots if the layout's steps follow it.

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::layout::Layout;
use layoutc_algebra::map::IndexMap;
use layoutc_algebra::step;
use layoutc_algebra::symbol::Axis;

use super::replay::{LayoutSource, ReplayOutcome};
use super::steps::StepLowering;

/// Maximum number of axis orders that are tried after the declared order for a rank above [`MOST_AXES`]. The search
/// then ends with the best order found so far. 720 is the number of orders of 6 axes.
const MOST_ORDERS: usize = 720;

/// Maximum rank for which all axis orders are tried. For a higher rank, pairs of axes are swapped while that reduces
/// the number of slots, see [`best_by_swaps`].
const MOST_AXES: usize = 6;

/// Help text that suggests to add an `order` step before the steps of `recipe`, and states the number of slots that the
/// layout then has and the share of padding in them. `layout` is the layout that the steps give, `axes` are its logical
/// axes. `None` if there are fewer than two axes, if the layout has symbols, or if no tried order needs fewer slots
/// than `layout` and is proven injective. Only the four best orders are proven.
pub(super) fn order(recipe: LayoutSource<'_>, axes: &[Axis], layout: &Layout) -> Option<String> {
    let (elements, slots) =
        (layout.logical_elements().as_const()?, layout.physical_elements().as_const()?);
    if axes.len() < 2 || !layout.symbols().is_empty() {
        return None;
    }
    let counted = |order: &[usize]| {
        let applied = recipe.apply_steps(axes, &[], Some(&first(axes, order)?)).ok()?;
        let StepLowering { builder, .. } = applied;
        LayoutBuilder::slots(&builder).ok()?.as_const()
    };
    let found = if axes.len() <= MOST_AXES {
        best_of_all(axes.len(), &counted)
    } else {
        best_by_swaps(axes.len(), &counted)
    };
    // The order with the fewest slots that is also proven injective: steps may lose elements of another order.
    for (needed, order) in found.into_iter().filter(|(needed, _)| *needed < slots).take(4) {
        if let ReplayOutcome::Proven(_) = recipe.replay(axes, &[], Some(&first(axes, &order)?)) {
            let names: Vec<&str> =
                order.iter().filter_map(|k| axes.get(*k)).map(|axis| axis.name.as_str()).collect();
            let share = (needed - elements).checked_mul(100)?.checked_div(needed)?;
            let words = format!(
                "`order {}` before the other steps needs the fewest slots",
                names.join(" ")
            );
            return Some(format!("{words}: {needed} slots, {share} % of them padding"));
        }
    }
    None
}

/// Index map that permutes `axes` into the order `order`, a list of positions in `axes`, outermost first. `None` if
/// `order` omits or repeats an axis.
fn first(axes: &[Axis], order: &[usize]) -> Option<IndexMap> {
    let places: Vec<step::OrderEntry> = order
        .iter()
        .filter_map(|k| axes.get(*k))
        .map(|axis| step::OrderEntry::Axis(axis.name.clone()))
        .collect();
    step::order(axes, &places).ok()
}

/// Pairs `(slots, order)`, one for each order of `rank` axes, fewest slots first. `order` lists the positions of the
/// axes, outermost first. `slots` is the result of `counted` for this order, the number of slots of the layout. An
/// order for which `counted` returns `None` has no pair.
fn best_of_all(rank: usize, counted: &dyn Fn(&[usize]) -> Option<i128>) -> Vec<(i128, Vec<usize>)> {
    let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..rank {
        let longer = |order: &Vec<usize>| {
            let rest = (0..rank).filter(|k| !order.contains(k));
            rest.map(|k| order.iter().copied().chain([k]).collect()).collect::<Vec<Vec<usize>>>()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    let mut found: Vec<(i128, Vec<usize>)> =
        orders.into_iter().filter_map(|order| Some((counted(&order)?, order))).collect();
    found.sort();
    found
}

/// List with one pair `(slots, order)` for a good order of `rank` axes: `order` lists the positions of the axes,
/// outermost first, and `slots` is the result of `counted` for it. The search starts at the order 0, 1, …, and applies
/// the best swap of two axes until no swap leads to fewer slots, or until `counted` is called [`MOST_ORDERS`] times
/// after the start. Empty if `counted` returns `None` for the order 0, 1, ….
fn best_by_swaps(
    rank: usize,
    counted: &dyn Fn(&[usize]) -> Option<i128>,
) -> Vec<(i128, Vec<usize>)> {
    let mut order: Vec<usize> = (0..rank).collect();
    let Some(mut least) = counted(&order) else { return Vec::new() };
    let mut left = MOST_ORDERS;
    loop {
        let pairs = (0..rank).flat_map(|a| (a + 1..rank).map(move |b| (a, b)));
        let mut better: Option<(i128, Vec<usize>)> = None;
        for (a, b) in pairs {
            let Some(rest) = left.checked_sub(1) else { break };
            left = rest;
            let mut swapped = order.clone();
            swapped.swap(a, b);
            let best = better.as_ref().map_or(least, |(needed, _)| *needed);
            if let Some(needed) = counted(&swapped).filter(|needed| *needed < best) {
                better = Some((needed, swapped));
            }
        }
        match better {
            Some((needed, swapped)) => (least, order) = (needed, swapped),
            None => return vec![(least, order)],
        }
    }
}
