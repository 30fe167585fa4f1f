//! Local search that improves an assignment by changing one variable at a time.

use super::data::{Cost, CostNetwork, INFINITE};

/// Maximum number of passes over all variables; the search ends then.
const SWEEPS: usize = 100;

/// Local search: sets each of `variables`, in order, to the cheapest of its remaining values while all other variables
/// keep theirs; of equally cheap values it takes the smallest. Repeats until no value changes, at most [`SWEEPS`]
/// times. `values` is the assignment by variable number, `left` has the remaining values, and `pairs_of` the positions
/// of the pairs of each variable.
pub(super) fn improve(
    network: &CostNetwork,
    pairs_of: &[Vec<usize>],
    left: &[Vec<usize>],
    variables: &[usize],
    values: &mut [usize],
) {
    for _ in 0..SWEEPS {
        let mut changed = false;
        for &variable in variables {
            let candidates = left.get(variable).map_or(&[][..], Vec::as_slice);
            let cost = |&value: &usize| neighbor_cost(network, pairs_of, variable, value, values);
            let best = candidates.iter().copied().min_by_key(|value| (cost(value), *value));
            if let (Some(best), Some(value)) = (best, values.get_mut(variable)) {
                changed |= *value != best;
                *value = best;
            }
        }
        if !changed {
            return;
        }
    }
}

/// Cost of one value of `variable`: its unary cost, plus the costs of its pairs at the current `values` of the other
/// variables. `pairs_of` holds the positions of each variable's pairs.
fn neighbor_cost(
    network: &CostNetwork,
    pairs_of: &[Vec<usize>],
    variable: usize,
    value: usize,
    values: &[usize],
) -> Cost {
    let alone = network.unaries.get(variable).and_then(|costs| costs.get(value));
    let numbers = pairs_of.get(variable).map_or(&[][..], Vec::as_slice);
    let together = numbers.iter().filter_map(|&number| network.pairs.get(number)).map(|pair| {
        let other = values.get(pair.other(variable)).copied().unwrap_or(usize::MAX);
        pair.cost_from(variable, value, other)
    });
    together.fold(alone.copied().unwrap_or(INFINITE), Cost::saturating_add)
}
