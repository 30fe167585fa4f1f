//! Construction of a cost function network from a graph, and of a plan from an assignment of the network's variables.
//!
//! Variables of the network:
//! - one per operator, for its choice
//! - one per input without a declared layout, for its candidate
//! - one per constant without a declared layout that is not unconstrained ([`GraphTensor::is_unconstrained`]), for its
//!   candidate
//! - one per tensor with several readers that require layouts, for the set of these layouts, so that a shared
//!   conversion is counted once; none for an unconstrained constant

use std::collections::BTreeSet;

use super::conversion_costs::{ConversionCosts, ConversionPrice, ConversionStep, CostScale};
use super::graph_plan::{GraphPlan, LayoutConversion};
use super::network::{Cost, CostNetwork, INFINITE, NetworkError, Variable};
use crate::model::graph::{
    Compatibility, Graph, GraphNode, GraphTensor, LayoutCandidate, OperatorChoice,
    OperatorLowering, TensorRole,
};

/// Function `prices(tensor, from, to)` that returns the cost in bytes of a layout conversion; `None` if there is no
/// such conversion. Its arguments are the position of the tensor, and the positions of the source and the destination
/// among its candidates.
pub(super) type ConversionPrices<'a> = dyn Fn(usize, usize, usize) -> Option<u64> + Sync + 'a;

/// Cost function network of a graph, with the scale of its costs. `nodes` are the variables of the nodes' choices.
/// `producers` and `tensors` have an entry for each tensor: where its layout comes from, and the layouts that it must
/// have.
pub(super) struct GraphNetwork {
    pub(super) network: CostNetwork,
    pub(super) scale: CostScale,
    nodes: Vec<Variable>,
    producers: Vec<Producer>,
    tensors: Vec<TensorDemand>,
}

/// Layout in which a tensor is produced, or passed to the graph: always one candidate, or one that a variable
/// determines.
#[derive(Debug, Clone)]
enum Producer {
    /// Candidate layout at this position in the tensor's list of candidates, in every assignment.
    Fixed(usize),
    /// Candidate layout that depends on the variable. The list has the position of the candidate for each value of the
    /// variable.
    Open(Variable, Vec<usize>),
}

/// Layouts of a tensor that the graph's outputs, its declaration and its readers require, and the costs of conversions
/// to them.
struct TensorDemand {
    moves: ConversionCosts,
    /// Positions of the candidates that some output, declaration or reader requires, ascending.
    targets: Vec<usize>,
    /// Bit mask over `targets` of the candidates that outputs or a declaration require, whatever the readers choose.
    fixed: usize,
    /// Pairs (node, masks) of the readers that require a layout. `node` is the position of the reader. `masks` has a
    /// bit mask over `targets` for each of the reader's choices: the candidates that the choice requires.
    readers: Vec<(usize, Vec<usize>)>,
}

/// Builds the cost function network of a graph. `prices` gives the costs of conversions in bytes.
///
/// # Errors
/// [`NetworkError::TooLarge`] if the costs overflow, [`NetworkError::Empty`] if an operator has no choice, or if a
/// tensor whose layout is open has no candidate.
pub(super) fn build(
    graph: &Graph,
    prices: &ConversionPrices<'_>,
) -> Result<GraphNetwork, NetworkError> {
    let mut network = CostNetwork::new();
    let scale = scale(graph, prices);
    let nodes: Result<Vec<Variable>, NetworkError> = graph
        .nodes
        .iter()
        .map(|node| {
            let cost = |choice: &OperatorChoice| {
                let mut written = node.outputs.iter().zip(&choice.outputs);
                let is_forbidden = written.any(|(tensor, k)| {
                    let tensor = graph.tensors.get(*tensor);
                    tensor.and_then(|t| t.candidates.get(*k)).is_none_or(|c| c.is_forbidden)
                });
                match choice.lowering {
                    _ if is_forbidden => INFINITE,
                    OperatorLowering::Conversion => scale.conversion(choice.cost),
                    OperatorLowering::Operator | OperatorLowering::Alias => scale.of(choice.cost),
                }
            };
            network.add_variable(node.choices.iter().map(cost).collect())
        })
        .collect();
    let nodes = nodes?;
    let mut producers = Vec::new();
    for tensor in &graph.tensors {
        producers.push(producer(graph, tensor, &nodes, &mut network)?);
    }
    let mut tensors = Vec::new();
    for (k, tensor) in graph.tensors.iter().enumerate() {
        // A constant is converted once at load time, which costs nothing.
        let price = |from: usize, to: usize| match tensor.role {
            TensorRole::Constant => Some(0),
            TensorRole::Input | TensorRole::Result { .. } => prices(k, from, to),
        };
        let side = side(graph, k, tensor, (&price, scale));
        if let Some(producer) = producers.get(k).filter(|_| !tensor.is_unconstrained()) {
            connect(&side, producer, &nodes, &mut network)?;
        }
        tensors.push(side);
    }
    Ok(GraphNetwork { network, scale, nodes, producers, tensors })
}

/// Cost scale of a graph. It is computed from upper bounds on the number of conversions and on the bytes of a plan.
/// `prices` gives the costs of conversions in bytes.
fn scale(graph: &Graph, prices: &ConversionPrices<'_>) -> CostScale {
    let choices = |node: &GraphNode| {
        node.choices.iter().map(|choice| choice.cost).max().map_or(0, u128::from)
    };
    let mut bytes: u128 = graph.nodes.iter().map(choices).sum();
    let transposed = graph.nodes.iter().filter(|node| node.transposed.is_some()).count();
    let mut conversions = u64::try_from(transposed).unwrap_or(u64::MAX);
    for (k, tensor) in graph.tensors.iter().enumerate().filter(|(_, t)| !t.is_unconstrained()) {
        let count = tensor.candidates.len();
        let all = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        let dearest = all.filter_map(|(from, to)| prices(k, from, to)).max().map_or(0, u128::from);
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        bytes = bytes.saturating_add(dearest.saturating_mul(count.into()));
        conversions = count.saturating_add(conversions);
    }
    CostScale::new(conversions, bytes)
}

fn producer(
    graph: &Graph,
    tensor: &GraphTensor,
    nodes: &[Variable],
    network: &mut CostNetwork,
) -> Result<Producer, NetworkError> {
    Ok(match (tensor.role, tensor.declared) {
        (TensorRole::Result { node, result }, _) => {
            let choices = graph.nodes.get(node).map_or(&[][..], |node| &node.choices);
            let given = choices.iter().map(|choice| choice.outputs.get(result).copied());
            let given: Vec<usize> = given.map(Option::unwrap_or_default).collect();
            match nodes.get(node) {
                Some(variable) => Producer::Open(*variable, given),
                None => Producer::Fixed(0),
            }
        }
        (TensorRole::Input | TensorRole::Constant, Some(declared)) => Producer::Fixed(declared),
        (TensorRole::Constant, None) if tensor.is_unconstrained() => Producer::Fixed(0),
        (TensorRole::Input | TensorRole::Constant, None) => {
            let cost = |candidate: &LayoutCandidate| {
                if candidate.is_forbidden { INFINITE } else { 0 }
            };
            let variable = network.add_variable(tensor.candidates.iter().map(cost).collect())?;
            Producer::Open(variable, (0..tensor.candidates.len()).collect())
        }
    })
}

/// Layouts of the tensor at `position` that the graph's outputs, its declaration and its readers require, and the costs
/// of its conversions. `price` gives these costs in bytes, which `scale` scales.
fn side(
    graph: &Graph,
    position: usize,
    tensor: &GraphTensor,
    (price, scale): (&ConversionPrice<'_>, CostScale),
) -> TensorDemand {
    let moves = ConversionCosts::new(tensor, price, scale);
    let stated = tensor.declared.filter(|_| matches!(tensor.role, TensorRole::Result { .. }));
    let wanted = graph.outputs.iter().filter(|wanted| wanted.tensor == position);
    let always: BTreeSet<usize> =
        wanted.filter_map(|wanted| wanted.candidate).chain(stated).collect();
    let mut readers: Vec<usize> = graph.readers(position).map(|(node, _)| node).collect();
    readers.dedup();
    let masks_of = |node: usize| -> Vec<BTreeSet<usize>> {
        let Some(node) = graph.nodes.get(node) else { return Vec::new() };
        let of = |choice: &OperatorChoice| {
            let reads = node.inputs.iter().zip(&choice.inputs);
            reads.filter(|(tensor, _)| **tensor == position).filter_map(|(_, k)| *k).collect()
        };
        node.choices.iter().map(of).collect()
    };
    let required: Vec<(usize, Vec<BTreeSet<usize>>)> =
        readers.into_iter().map(|node| (node, masks_of(node))).collect();
    let mut targets = always.clone();
    targets.extend(required.iter().flat_map(|(_, sets)| sets.iter().flatten().copied()));
    let targets: Vec<usize> = targets.into_iter().collect();
    let mask = |set: &BTreeSet<usize>| {
        let bits = targets.iter().enumerate().filter(|(_, target)| set.contains(target));
        bits.fold(0_usize, |mask, (bit, _)| mask | 1 << bit)
    };
    let readers = required
        .iter()
        .map(|(node, sets)| (*node, sets.iter().map(mask).collect::<Vec<usize>>()))
        .filter(|(_, masks)| masks.iter().any(|mask| *mask != 0))
        .collect();
    TensorDemand { fixed: mask(&always), targets, readers, moves }
}

/// Adds the conversion costs of a tensor to the network, as a function of the layout in which the tensor is produced
/// and of the choices of its readers. `side` has the required layouts, `producer` the layout in which the tensor is
/// produced, and `nodes` the variables of the nodes' choices.
fn connect(
    side: &TensorDemand,
    producer: &Producer,
    nodes: &[Variable],
    network: &mut CostNetwork,
) -> Result<(), NetworkError> {
    if side.targets.is_empty() {
        return Ok(());
    }
    let trees = side.moves.trees(&side.targets);
    let roots = match producer {
        Producer::Fixed(root) => vec![*root],
        Producer::Open(_, roots) => roots.clone(),
    };
    // The variable that determines the set of required candidates, and the set, a bit mask, for each of its values.
    let (reader, masks) = match side.readers.as_slice() {
        [] => (None, vec![side.fixed]),
        [(node, masks)] => (nodes.get(*node).copied(), masks.clone()),
        several => {
            let sets = unions(side.fixed, several);
            let owned = network.add_variable(vec![0; sets.len()])?;
            for (node, masks) in several {
                let table = sets.iter().flat_map(|set| {
                    masks.iter().map(move |mask| if mask & set == *mask { 0 } else { INFINITE })
                });
                if let Some(node) = nodes.get(*node) {
                    network.add_pair(owned, *node, table.collect())?;
                }
            }
            (Some(owned), sets)
        }
    };
    let table = roots.iter().flat_map(|root| {
        masks.iter().map(|mask| trees.cost(*root, mask | side.fixed)).collect::<Vec<_>>()
    });
    let table: Vec<Cost> = table.collect();
    match (producer, reader) {
        (Producer::Open(variable, _), Some(reader)) => network.add_pair(*variable, reader, table),
        (Producer::Open(variable, _), None) => network.add_unary(*variable, &table),
        (Producer::Fixed(_), Some(reader)) => network.add_unary(reader, &table),
        (Producer::Fixed(_), None) => network.add_constant(table.first().copied().unwrap_or(0)),
    }
}

/// Sets of candidates that the readers can require together, as bit masks, ascending. Each is the union of `fixed` and
/// of one mask of each reader.
fn unions(fixed: usize, readers: &[(usize, Vec<usize>)]) -> Vec<usize> {
    let mut sets = BTreeSet::from([fixed]);
    for (_, masks) in readers {
        sets = sets.iter().flat_map(|set| masks.iter().map(move |mask| set | mask)).collect();
    }
    sets.into_iter().collect()
}

impl GraphNetwork {
    /// Fixes the choices of operators to the positions in `choices`, in the order of the nodes. `None` leaves a choice
    /// open, and so does a list that ends before the node.
    pub(super) fn fix(
        &mut self,
        graph: &Graph,
        choices: &[Option<usize>],
    ) -> Result<(), NetworkError> {
        for ((variable, node), choice) in self.nodes.iter().zip(&graph.nodes).zip(choices) {
            let Some(choice) = choice else { continue };
            let costs = (0..node.choices.len()).map(|k| if k == *choice { 0 } else { INFINITE });
            self.network.add_unary(*variable, &costs.collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Plan for the assignment `values`, which has one value per variable of the network. `cost` and `lower_bound` are
    /// those of the plan, in bytes.
    pub(super) fn plan(
        &self,
        graph: &Graph,
        values: &[usize],
        cost: u64,
        lower_bound: u64,
    ) -> GraphPlan {
        let value = |variable: &Variable| values.get(variable.number()).copied().unwrap_or(0);
        let choices: Vec<usize> = self.nodes.iter().map(value).collect();
        let (mut stored, mut conversions) = (Vec::new(), Vec::new());
        for (k, tensor) in graph.tensors.iter().enumerate() {
            let Some((producer, side)) = self.producers.get(k).zip(self.tensors.get(k)) else {
                continue;
            };
            let mut root = match producer {
                Producer::Fixed(root) => *root,
                Producer::Open(variable, roots) => roots.get(value(variable)).copied().unwrap_or(0),
            };
            let required = side.readers.iter().map(|(node, masks)| {
                let choice = choices.get(*node).copied().unwrap_or(0);
                masks.get(choice).copied().unwrap_or(0)
            });
            let mask = required.fold(side.fixed, |all, mask| all | mask);
            if tensor.is_unconstrained() {
                root = constant_root(tensor, side, mask);
                conversions.extend(at_load(k, tensor, side, (root, mask)));
            } else {
                let steps = side.moves.trees(&side.targets).steps(root, mask);
                conversions.extend(steps.into_iter().map(|step| {
                    let weight = side.moves.cost(step);
                    LayoutConversion::new(k, step, self.scale.bytes(weight), is_free(tensor, step))
                }));
            }
            stored.push(root);
        }
        GraphPlan { choices, stored, conversions, cost, lower_bound }
    }
}

/// Position of the candidate in which an unconstrained constant is passed to the graph: the declared layout, else the
/// first one in `mask` (a bit mask over the targets of `side`), else 0.
fn constant_root(tensor: &GraphTensor, side: &TensorDemand, mask: usize) -> usize {
    let required = side.targets.iter().enumerate().find(|(bit, _)| mask >> bit & 1 == 1);
    tensor.declared.or(required.map(|(_, target)| *target)).unwrap_or(0)
}

/// True if the source and the destination of the conversion `step` are compatible layouts, so that it moves no byte.
fn is_free(tensor: &GraphTensor, step: ConversionStep) -> bool {
    tensor.compatibility(step.from, step.to) == Compatibility::Satisfied
}

/// Conversions of an unconstrained constant at load time, from the candidate at position `root` to every candidate in
/// `mask`, a bit mask over the targets of `side`. Their cost is 0.
fn at_load(
    position: usize,
    tensor: &GraphTensor,
    side: &TensorDemand,
    (root, mask): (usize, usize),
) -> Vec<LayoutConversion> {
    let required = side.targets.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1);
    required
        .map(|(_, to)| ConversionStep { from: root, to: *to })
        .filter(|step| step.from != step.to)
        .map(|step| LayoutConversion::new(position, step, 0, is_free(tensor, step)))
        .collect()
}
