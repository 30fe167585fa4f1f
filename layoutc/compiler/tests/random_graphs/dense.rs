//! Reference evaluation of a random graph on dense arrays.

use super::generate::{Formula, Sample};
use layoutc_testing::Random;

/// Elements of every tensor, row-major; inputs and constants are random.
pub(super) fn interpreted(graph: &Sample, random: &mut Random) -> Vec<Vec<u64>> {
    let mut values: Vec<Vec<u64>> = graph
        .tensors
        .iter()
        .map(|tensor| {
            (0..tensor.elements()).map(|_| random.below(tensor.element.modulus)).collect()
        })
        .collect();
    for formula in graph.nodes.iter().flat_map(|node| &node.formulas) {
        values[formula.result] = computed(formula, graph, &|k| &values[k]);
    }
    values
}

/// Elements of the result of a formula.
pub(super) fn computed<'v>(
    formula: &Formula,
    graph: &Sample,
    of: &dyn Fn(usize) -> &'v [u64],
) -> Vec<u64> {
    let modulus = graph.tensors[formula.result].element.modulus;
    let one = |(place, plus): (usize, &u64)| {
        let terms = formula.terms.iter().filter_map(|(operand, factor, places)| {
            Some(factor.wrapping_mul(of(*operand)[places[place]?]))
        });
        terms.fold(*plus, u64::wrapping_add) % modulus
    };
    formula.plus.iter().enumerate().map(one).collect()
}
