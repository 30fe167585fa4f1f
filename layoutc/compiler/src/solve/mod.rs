//! Layouts for graphs: one way for each operator and layouts for all tensors, so that all costs together are least; with
//! a proof. And verification: that every tensor has the layout that its readers ask for.
//!
//! Source: Glow, `TensorLayout.md`, where the solver is left to the future.

mod build;
mod lay_out;
mod measure;
mod moves;
pub mod network;
mod plan;
mod recheck;
mod verify;

pub use lay_out::lay_out;
pub use measure::{Change, changes};
pub use moves::bytes_moved;
pub use plan::{Conversion, Plan};
pub use verify::verify;

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::model::graph::Graph;
use network::{Failure, Limits};

/// How a graph is solved.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "the functions say nothing of themselves")]
pub struct Settings<'a> {
    /// How much is tried.
    pub limits: Limits,
    /// What a change of layout costs, by tensor, from and to; the bytes moved where nothing is said.
    pub price: Option<&'a (dyn Fn(usize, usize, usize) -> Option<u64> + Sync)>,
    /// The way of each operator, by position, where it is not to be chosen.
    pub choices: &'a [Option<usize>],
    /// Whether it is time to give what there is.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self { limits: Limits::default(), price: None, choices: &[], stop: &|| false }
    }
}

/// Why a graph that states not all of its layouts has no plan; `None` if it has one, or is only verified.
pub fn impossible(graph: &Graph) -> Option<Box<Diagnostic>> {
    if graph.is_fixed { None } else { solve(graph, &Settings::default()).err() }
}

/// The cheapest plan of a graph, or the best that was found with a bound for what is possible. The proof is checked
/// again, and so is the plan.
///
/// # Errors
/// `graph::pinned` where no plan is possible.
pub fn solve(graph: &Graph, settings: &Settings<'_>) -> Result<Plan, Box<Diagnostic>> {
    let bytes = |tensor: usize, from: usize, to: usize| {
        graph.tensors.get(tensor).map(|tensor| bytes_moved(tensor, from, to))
    };
    let price: &build::Prices<'_> = match settings.price {
        Some(price) => price,
        None => &bytes,
    };
    let mut built = build::build(graph, price);
    built.fix(graph, settings.choices);
    let solution = network::solve(&built.network, &settings.limits, settings.stop);
    let solution = solution.map_err(|failure| {
        let (message, help) = match failure {
            Failure::Impossible => (
                "is possible",
                "what is kept, forbidden or has an attribute of its own leaves an operator no layout",
            ),
            Failure::GaveUp => {
                ("was found", "fewer alternatives, or a longer time limit, may help")
            }
        };
        let error = Diagnostic::error(
            Code::GraphPinned,
            format!("no plan of `{}` {message}", graph.name),
            graph.place.clone(),
            "",
        );
        Box::new(error.help(help))
    })?;
    let cannot = |what: String| {
        let message = format!("the plan of `{}` is refused: {what}", graph.name);
        Box::new(Diagnostic::error(Code::GraphPinned, message, graph.place.clone(), ""))
    };
    network::verify(&built.network, &solution).map_err(|wrong| cannot(wrong.to_string()))?;
    let (cost, bound) = (moves::bytes(solution.cost), moves::bytes(solution.bound));
    let plan = built.plan(graph, &solution.values, cost, bound);
    recheck::recheck(graph, &plan, price).map_err(cannot)?;
    Ok(plan)
}
