//! The solver beside what others do: networks as they are imported, with the cost of each one's plan.
//!
//! `cargo bench -p layoutc-compiler --bench graphs` prints the table of `bench/graphs/results.md`. The times are medians of
//! 15 runs; the costs are bytes and depend on no machine.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::panic,
    reason = "a bench that measures and prints"
)]

use std::path::Path;
use std::time::Instant;

use layoutc_compiler::config::Config;
use layoutc_compiler::import::{ImportOptions, import_onnx};
use layoutc_compiler::model::graph::{Compatibility, Graph, TensorRole};
use layoutc_compiler::solve::network::{self, CostNetwork, INFINITE, SolverLimits};
use layoutc_compiler::solve::{GraphPlan, SolverOptions, bytes_moved, solve};
use layoutc_compiler::{Compiler, MemorySources};

/// Backend of a device that prefers blocks of 16 channels for convolutions, and channels last for depthwise ones.
const BACKEND: &str = "backend device like=onnx {
    op Conv {
        accepts cost-per-byte=0.5 when=\"group == 1\" { in NHWC OHWI; out NHWC }
        accepts cost-per-byte=0.5 when=\"group == 1\" { in NHWC OHWI C; out NHWC }
        accepts cost-per-byte=0.6 when=\"group == 1\" { in NCHW OIHW; out NCHW }
        accepts cost-per-byte=0.6 when=\"group == 1\" { in NCHW OIHW C; out NCHW }
        accepts cost-per-byte=0.3 when=\"group == 1\" { in NCHW16c OIHW16i16o; out NCHW16c }
        accepts cost-per-byte=0.3 when=\"group == 1\" { in NCHW16c OIHW16i16o C; out NCHW16c }
        accepts cost-per-byte=0.2 when=\"group > 1\" { in NHWC OHWI; out NHWC }
        accepts cost-per-byte=0.6 when=\"group > 1\" { in NCHW OIHW; out NCHW }
        accepts cost-per-byte=0.5 when=\"group > 1\" { in NCHW16c OIHW; out NCHW16c }
    }
    op MaxPool {
        accepts cost-per-byte=0.2 { in NHWC; out NHWC }
        accepts cost-per-byte=0.2 { in NCHW; out NCHW }
        accepts cost-per-byte=0.1 { in NCHW16c; out NCHW16c }
    }
    op GlobalAveragePool {
        accepts cost-per-byte=0.2 { in NHWC; out NHWC }
        accepts cost-per-byte=0.2 { in NCHW; out NCHW }
        accepts cost-per-byte=0.1 { in NCHW16c; out NCHW16c }
    }
}
";

/// The model of `bench/graphs`, for the device.
fn imported(stem: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/graphs");
    let file = std::fs::read(folder.join(format!("{stem}.onnx"))).unwrap();
    let asked = ImportOptions { name: stem, backend: "device", ..ImportOptions::default() };
    format!("{BACKEND}{}", import_onnx(file, &asked).unwrap().text)
}

fn graph(text: &str) -> Graph {
    let checked = Compiler::new(&MemorySources::of("a.kdl", text), &Config::default())
        .check(&["a.kdl".to_owned()]);
    assert_eq!(checked.diagnostics, []);
    checked.manifests[0].graphs[0].clone()
}

/// The plan whose operators are done in these ways.
fn with(graph: &Graph, choices: &[usize]) -> GraphPlan {
    let choices: Vec<Option<usize>> = choices.iter().copied().map(Some).collect();
    solve(graph, &SolverOptions { choices: &choices, ..SolverOptions::default() }).unwrap()
}

/// The texts of a way: of everything that is no constant.
fn texts(graph: &Graph, node: usize, choice: usize) -> Vec<&str> {
    let node = &graph.nodes[node];
    let choice = &node.choices[choice];
    let reads = node.inputs.iter().zip(&choice.inputs).filter_map(|(k, c)| Some((*k, (*c)?)));
    let all = reads.chain(node.outputs.iter().copied().zip(choice.outputs.iter().copied()));
    let data = all.filter(|(k, _)| !graph.tensors[*k].is_constant());
    data.map(|(k, candidate)| graph.tensors[k].text(candidate)).collect()
}

/// The cheapest way by itself, of those that `wanted` allows.
fn cheapest(graph: &Graph, node: usize, wanted: &dyn Fn(&[&str]) -> bool) -> usize {
    let ways = 0..graph.nodes[node].choices.len();
    let cost = |way: &usize| graph.nodes[node].choices[*way].cost;
    let allowed = ways.clone().filter(|way| wanted(&texts(graph, node, *way)));
    allowed.min_by_key(cost).or_else(|| ways.min_by_key(cost)).unwrap_or(0)
}

/// One layout everywhere, the best one.
fn uniform(graph: &Graph) -> GraphPlan {
    let plans = ["NHWC", "NCHW", "NCHW16c"].map(|layout| {
        let same = |texts: &[&str]| texts.iter().all(|text| *text == layout);
        let choices: Vec<usize> =
            (0..graph.nodes.len()).map(|node| cheapest(graph, node, &same)).collect();
        with(graph, &choices)
    });
    plans.into_iter().min_by_key(|plan| plan.cost).unwrap()
}

/// Each operator in its own cheapest way, those that take any in the default; conversions between equals fall away.
fn own(graph: &Graph) -> GraphPlan {
    let choices: Vec<usize> = (0..graph.nodes.len())
        .map(|node| {
            let is_free = graph.nodes[node].shares_layout;
            cheapest(graph, node, &|texts| !is_free || texts.iter().all(|text| *text == "NCHW"))
        })
        .collect();
    with(graph, &choices)
}

/// From the inputs on, each operator in the way that is cheapest with the conversions of what it reads.
fn greedy(graph: &Graph) -> GraphPlan {
    let mut stored: Vec<usize> =
        graph.tensors.iter().map(|tensor| tensor.declared.unwrap_or(0)).collect();
    let mut choices = Vec::new();
    for node in &graph.nodes {
        let cost = |way: &usize| {
            let choice = &node.choices[*way];
            let reads = node.inputs.iter().zip(&choice.inputs);
            let moved = reads.filter_map(|(k, asked)| {
                let (tensor, asked) = (&graph.tensors[*k], (*asked)?);
                let is_there = tensor.compatibility(stored[*k], asked) == Compatibility::Satisfied;
                let is_paid = !is_there && !tensor.is_constant();
                is_paid.then(|| bytes_moved(tensor, stored[*k], asked))
            });
            choice.cost + moved.sum::<u64>()
        };
        let way = (0..node.choices.len()).min_by_key(cost).unwrap();
        for (k, given) in node.outputs.iter().zip(&node.choices[way].outputs) {
            stored[*k] = *given;
        }
        choices.push(way);
    }
    with(graph, &choices)
}

/// The optimum where each reader pays for its own conversion, paid for with shared ones.
fn unshared(graph: &Graph) -> GraphPlan {
    let mut network = CostNetwork::new();
    let nodes: Vec<_> = graph
        .nodes
        .iter()
        .map(|node| network.add_variable(node.choices.iter().map(|c| c.cost).collect()).unwrap())
        .collect();
    for (k, tensor) in graph.tensors.iter().enumerate().filter(|(_, t)| !t.is_constant()) {
        let moved = |from: usize, to: Option<usize>| match to {
            Some(to) if tensor.compatibility(from, to) != Compatibility::Satisfied => {
                bytes_moved(tensor, from, to)
            }
            _ => 0,
        };
        for wanted in graph.outputs.iter().filter(|wanted| wanted.tensor == k) {
            let TensorRole::Result { node, result } = tensor.role else { continue };
            let given = graph.nodes[node].choices.iter().map(|choice| choice.outputs[result]);
            let costs: Vec<u64> = given.map(|c| moved(c, wanted.candidate)).collect();
            network.add_unary(nodes[node], &costs).unwrap();
        }
        for (node, operand) in graph.readers(k) {
            let asks: Vec<Option<usize>> =
                graph.nodes[node].choices.iter().map(|choice| choice.inputs[operand]).collect();
            match tensor.role {
                TensorRole::Result { node: from, result } => {
                    let given = graph.nodes[from].choices.iter().map(|c| c.outputs[result]);
                    let table =
                        given.flat_map(|given| asks.iter().map(move |to| moved(given, *to)));
                    network.add_pair(nodes[from], nodes[node], table.collect()).unwrap();
                }
                _ => {
                    let given = tensor.declared.unwrap_or(0);
                    let costs: Vec<u64> = asks.iter().map(|to| moved(given, *to)).collect();
                    network.add_unary(nodes[node], &costs).unwrap();
                }
            }
        }
    }
    let found = network::solve(&network, &SolverLimits::default(), &|| false);
    assert!(found.cost < INFINITE && found.bound == found.cost);
    let choices: Vec<usize> = nodes.iter().map(|node| found.values[node.number()]).collect();
    with(graph, &choices)
}

/// One cost by another.
#[expect(clippy::cast_precision_loss, reason = "costs are far below 2^52")]
fn share(cost: u64, best: u64) -> f64 {
    cost as f64 / best as f64
}

fn median(mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..15)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    println!("| network | plan | bytes | of the optimum | conversions | ms |");
    println!("|---|---|--:|--:|--:|--:|");
    for (name, stem) in [("ResNet-50-like", "resnet50"), ("MobileNet-V2-like", "mobilenet")] {
        let graph = graph(&imported(stem));
        let best = solve(&graph, &SolverOptions::default()).unwrap();
        assert!(best.is_optimal());
        let rows: [(&str, &dyn Fn() -> GraphPlan); 5] = [
            ("layoutc", &|| solve(&graph, &SolverOptions::default()).unwrap()),
            ("one layout for all, the best", &|| uniform(&graph)),
            ("forward greedy", &|| greedy(&graph)),
            ("each operator its own, cancelled", &|| own(&graph)),
            ("PBQP, conversions unshared", &|| unshared(&graph)),
        ];
        for (what, plan) in rows {
            let found = plan();
            let paid = found.conversions.iter().filter(|c| c.cost > 0).count();
            let ms = median(|| {
                plan();
            });
            println!(
                "| {name} | {what} | {} | {:.3} | {paid} | {ms:.2} |",
                found.cost,
                share(found.cost, best.cost)
            );
        }
    }
}
