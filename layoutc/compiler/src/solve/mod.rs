//! Layout assignment for graphs. It chooses an alternative for each operator and a layout for each tensor, so that the
//! total cost in bytes is least. It proves a lower bound of that cost, and lowers the plan to a schedule.
//!
//! Source: Glow, `TensorLayout.md`, which leaves the solver to future work.

mod conversion_costs;
mod graph_plan;
mod measure;
pub mod network;
mod network_build;
mod plan_lowering;
mod recheck;

pub use conversion_costs::bytes_moved;
pub use graph_plan::{GraphPlan, LayoutConversion};
pub use measure::{LayoutChange, changes};
pub use plan_lowering::lay_out;

use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;
use crate::model::graph::Graph;
use network::{INFINITE, NetworkError, SolverLimits};

/// Options of the layout solver.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "closures have no Debug")]
pub struct SolverOptions<'a> {
    /// Limits on the memory and the work of the solver.
    pub limits: SolverLimits,
    /// Function `price(tensor, from, to)` that returns the cost in bytes of a layout conversion, or `None` if there is
    /// no such conversion. Its arguments are the position of the tensor, and the positions of the source and the
    /// destination among its candidates. If the field is `None`, the cost is the number of bytes that the conversion
    /// reads and writes.
    pub price: Option<&'a (dyn Fn(usize, usize, usize) -> Option<u64> + Sync)>,
    /// Positions of the choices to which the nodes are fixed, in the order of the nodes. `None` leaves the choice of a
    /// node to the solver, and so does a list that ends before the node.
    pub choices: &'a [Option<usize>],
    /// Function that returns true to end the search; the best result found so far is returned then.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Default for SolverOptions<'_> {
    fn default() -> Self {
        Self { limits: SolverLimits::default(), price: None, choices: &[], stop: &|| false }
    }
}

/// Diagnostic for a graph that is proven to have no plan, or whose costs overflow. `None` if the graph has a plan, if
/// [`Graph::is_fixed`] is true, or if the search, which runs with small limits, leaves the question open.
pub(crate) fn impossible(graph: &Graph) -> Option<Box<Diagnostic>> {
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

/// Answer to the question if the tensors of a graph can have one layout each, so that no tensor must be converted.
/// Conversions that move no bytes, and permitted conversions of constants, do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consistency {
    /// An assignment without conversions exists, or the costs of the graph overflow.
    Consistent,
    /// Every assignment needs a conversion.
    Inconsistent,
    /// No assignment without conversions was found within the limits of the solver.
    Unknown,
}

/// Decides if a graph has an assignment of layouts that needs no conversion, as defined at [`Consistency`].
pub(crate) fn consistency(graph: &Graph) -> Consistency {
    let Ok(built) = network_build::build(graph, &|_, _, _| None) else {
        return Consistency::Consistent;
    };
    let found = network::solve(&built.network, &SolverLimits::default(), &|| false);
    match (found.cost, found.bound) {
        (INFINITE, INFINITE) => Consistency::Inconsistent,
        (INFINITE, _) => Consistency::Unknown,
        _ => Consistency::Consistent,
    }
}

/// Function `price(tensor, from, to)` that returns the number of bytes that a conversion reads and writes. Its
/// arguments are the position of the tensor, and the positions of the source and the destination among its candidates.
/// `None` if the graph has no tensor at the position.
fn bytes_of(graph: &Graph) -> impl Fn(usize, usize, usize) -> Option<u64> + Sync + '_ {
    |tensor, from, to| graph.tensors.get(tensor).map(|tensor| bytes_moved(tensor, from, to))
}

/// Diagnostic for a graph without a plan. `is_proven` is true if no plan exists, and false if the search found none
/// before it reached a limit.
fn no_plan(graph: &Graph, is_proven: bool) -> Diagnostic {
    let fault = |message: &str| {
        let message = format!("no plan of `{}` {message}", graph.name);
        Diagnostic::error(Code::GraphPinned, message, graph.place.clone(), "")
    };
    if !is_proven {
        return fault("was found").help("remove alternatives, or raise the time limit");
    }
    let fault = fault("is possible")
        .note("pinned, forbidden or opaque layouts leave an operator without an alternative");
    let kept = graph.tensors.iter().filter(|tensor| tensor.is_pinned);
    let kept = kept.map(|tensor| format!("`keep {}`", tensor.name));
    let forbidden = graph.tensors.iter().flat_map(|tensor| {
        let candidates = tensor.candidates.iter().filter(|candidate| candidate.is_forbidden);
        candidates.map(|candidate| format!("`forbid {} layout={}`", tensor.name, candidate.text))
    });
    let pins: Vec<String> = kept.chain(forbidden).collect();
    fault.help(match pins.as_slice() {
        [] => "add an alternative that accepts the layouts of its tensors".to_owned(),
        [only] => format!("remove {only}: the tensor can then be converted"),
        _ => format!("remove one of {}", pins.join(", ")),
    })
}

/// Diagnostic for a graph whose total cost overflows [`LARGEST`](network::LARGEST).
fn too_much(graph: &Graph, error: NetworkError) -> Diagnostic {
    let message = format!("the costs of `{}` overflow: {error}", graph.name);
    Diagnostic::error(Code::LimitGraph, message, graph.place.clone(), "")
        .help("declare smaller costs, or fewer alternatives")
}

/// Finds the cheapest plan of a graph. If a limit or `stop` ends the search early, the plan is the best one found; its
/// lower bound is proven in any case. The proof and the plan are checked by code that the solver does not share.
///
/// # Errors
/// `graph::pinned` if no plan exists, none was found, or the check rejects the plan; `limit::graph` if the costs
/// overflow.
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
        let message = format!("the plan of `{}` failed verification: {what}", graph.name);
        let error = Diagnostic::error(Code::GraphPinned, message, graph.place.clone(), "");
        Box::new(error.help("this is a bug in layoutc: please report it with the manifest"))
    };
    network::verify(&built.network, &solution, &settings.limits)
        .map_err(|wrong| cannot(wrong.to_string()))?;
    let [cost, bound] = [solution.cost, solution.bound].map(|weight| built.scale.bytes(weight));
    let plan = built.plan(graph, &solution.values, cost, bound);
    recheck::recheck(graph, &plan, price).map_err(cannot)?;
    Ok(plan)
}
