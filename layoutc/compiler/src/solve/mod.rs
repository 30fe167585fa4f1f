//! Layouts for graphs: one way for each operator and layouts for all tensors, so that all costs together are least; with
//! a proof. And verification: that every tensor has the layout that its readers ask for.
//!
//! Source: Glow, `TensorLayout.md`, where the solver is left to the future.

mod conversion_costs;
mod graph_plan;
mod measure;
pub mod network;
mod network_build;
mod plan_lowering;
mod recheck;
mod verify;

pub use conversion_costs::bytes_moved;
pub use graph_plan::{GraphPlan, LayoutConversion};
pub use measure::{LayoutChange, changes};
pub use plan_lowering::lay_out;
pub use verify::verify;

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::model::graph::Graph;
use network::{INFINITE, NetworkError, SolverLimits};

/// How a graph is solved.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "the functions say nothing of themselves")]
pub struct SolverOptions<'a> {
    /// How much is tried.
    pub limits: SolverLimits,
    /// What a change of layout costs, by tensor, from and to; the bytes moved where nothing is said.
    pub price: Option<&'a (dyn Fn(usize, usize, usize) -> Option<u64> + Sync)>,
    /// The way of each operator, by position, where it is not to be chosen.
    pub choices: &'a [Option<usize>],
    /// Whether it is time to give what there is.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Default for SolverOptions<'_> {
    fn default() -> Self {
        Self { limits: SolverLimits::default(), price: None, choices: &[], stop: &|| false }
    }
}

/// Why a graph that states not all of its layouts has no plan; `None` if it has one, or is only verified, or that would take
/// longer to find out than to solve it.
pub fn impossible(graph: &Graph) -> Option<Box<Diagnostic>> {
    if graph.is_fixed {
        return None;
    }
    let built = match network_build::build(graph, &bytes_of(graph)) {
        Ok(built) => built,
        Err(error) => return Some(Box::new(too_much(graph, error))),
    };
    let limits = SolverLimits { table: 1 << 16, nodes: 0, sweeps: 0 };
    let found = network::solve(&built.network, &limits, &|| false);
    (found.bound == INFINITE).then(|| Box::new(no_plan(graph, true)))
}

/// The bytes that each conversion moves.
fn bytes_of(graph: &Graph) -> impl Fn(usize, usize, usize) -> Option<u64> + Sync + '_ {
    |tensor, from, to| graph.tensors.get(tensor).map(|tensor| bytes_moved(tensor, from, to))
}

/// There is no plan, or none was found.
fn no_plan(graph: &Graph, is_proven: bool) -> Diagnostic {
    let (message, help) = if is_proven {
        (
            "is possible",
            "what is kept, forbidden or has an attribute of its own leaves an operator no layout",
        )
    } else {
        ("was found", "fewer alternatives, or a longer time limit, may help")
    };
    let message = format!("no plan of `{}` {message}", graph.name);
    Diagnostic::error(Code::GraphPinned, message, graph.place.clone(), "").help(help)
}

/// The network of a graph cannot be made.
fn too_much(graph: &Graph, error: NetworkError) -> Diagnostic {
    let message = format!("the costs of `{}` cannot be added up: {error}", graph.name);
    Diagnostic::error(Code::LimitGraph, message, graph.place.clone(), "")
        .help("state smaller costs, or fewer alternatives")
}

/// The cheapest plan of a graph, or the best that was found with a bound for what is possible. The proof is checked
/// again, and so is the plan.
///
/// # Errors
/// `graph::pinned` where no plan is possible.
pub fn solve(graph: &Graph, settings: &SolverOptions<'_>) -> Result<GraphPlan, Box<Diagnostic>> {
    let bytes = bytes_of(graph);
    let price: &network_build::ConversionPrices<'_> = match settings.price {
        Some(price) => price,
        None => &bytes,
    };
    let large = |error| Box::new(too_much(graph, error));
    let mut built = network_build::build(graph, price).map_err(large)?;
    built.fix(graph, settings.choices).map_err(large)?;
    let solution = network::solve(&built.network, &settings.limits, settings.stop);
    if solution.cost == INFINITE {
        return Err(Box::new(no_plan(graph, solution.bound == INFINITE)));
    }
    let cannot = |what: String| {
        let message = format!("the plan of `{}` is refused: {what}", graph.name);
        let error = Diagnostic::error(Code::GraphPinned, message, graph.place.clone(), "");
        Box::new(error.help("this is a fault of layoutc: please report it with the manifest"))
    };
    network::verify(&built.network, &solution, &settings.limits)
        .map_err(|wrong| cannot(wrong.to_string()))?;
    let [cost, bound] = [solution.cost, solution.bound].map(|weight| built.scale.bytes(weight));
    let plan = built.plan(graph, &solution.values, cost, bound);
    recheck::recheck(graph, &plan, price).map_err(cannot)?;
    Ok(plan)
}
