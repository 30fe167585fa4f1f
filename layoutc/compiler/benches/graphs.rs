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

use std::time::Instant;

use layoutc_compiler::config::Config;
use layoutc_compiler::model::graph::{Fit, Graph, Role};
use layoutc_compiler::solve::network::{self, INFINITE, Limits, Network};
use layoutc_compiler::solve::{Plan, Settings, bytes_moved, solve};
use layoutc_compiler::{LoadError, Sources, check};

struct One<'a>(&'a str);

impl Sources for One<'_> {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        if path == "a.kdl" { Ok(self.0.to_owned()) } else { Err(LoadError::NotFound) }
    }
}

/// What a device accepts on which convolutions like blocks of 16 channels, and depthwise ones channels last.
const BACKEND: &str = "backend device {
    default-layout 4 NCHW
    op conv {
        accepts cost-per-byte=0.5 { in NHWC OHWI; out NHWC }
        accepts cost-per-byte=0.6 { in NCHW OIHW; out NCHW }
        accepts cost-per-byte=0.3 { in NCHW16c OIHW16i16o; out NCHW16c }
    }
    op depthwise {
        accepts cost-per-byte=0.2 { in NHWC OHWI; out NHWC }
        accepts cost-per-byte=0.6 { in NCHW OIHW; out NCHW }
        accepts cost-per-byte=0.5 { in NCHW16c OIHW; out NCHW16c }
    }
    op pool {
        accepts cost-per-byte=0.2 { in NHWC; out NHWC }
        accepts cost-per-byte=0.2 { in NCHW; out NCHW }
        accepts cost-per-byte=0.1 { in NCHW16c; out NCHW16c }
    }
    op relu elementwise=#true
    op add elementwise=#true
}
";

/// A network in the making: nodes, and the last tensor with its channels and its size.
struct Net {
    text: String,
    count: usize,
}

/// A tensor: its name, channels, rows and columns.
#[derive(Clone)]
struct Tensor(String, usize, usize);

fn shape(channels: usize, size: usize) -> String {
    format!("dtype=f32 {{ shape {{ N 1; C {channels}; H {size}; W {size} }} }}")
}

impl Net {
    fn new(name: &str) -> Self {
        let text = format!(
            "{BACKEND}graph {name} backend=device {{\n    input x dtype=f32 layout=NCHW {{ shape {{ N 1; C 3; H 224; W 224 }} }}\n"
        );
        Self { text, count: 0 }
    }

    fn node(&mut self, op: &str, reads: &str, channels: usize, size: usize) -> Tensor {
        self.count += 1;
        let name = format!("t{}", self.count);
        self.text.push_str(&format!(
            "    node n{} op={op} {{ in {reads}; out {name} {} }}\n",
            self.count,
            shape(channels, size)
        ));
        Tensor(name, channels, size)
    }

    fn filtered(
        &mut self,
        op: &str,
        from: &Tensor,
        channels: usize,
        kernel: usize,
        size: usize,
    ) -> Tensor {
        let own = if op == "depthwise" { 1 } else { from.1 };
        let filter = format!("w{}", self.count + 1);
        self.text.push_str(&format!(
            "    constant {filter} dtype=f32 {{ shape {{ O {channels}; I {own}; H {kernel}; W {kernel} }} }}\n"
        ));
        self.node(op, &format!("{} {filter}", from.0), channels, size)
    }

    fn conv(&mut self, from: &Tensor, channels: usize, kernel: usize, size: usize) -> Tensor {
        self.filtered("conv", from, channels, kernel, size)
    }

    fn relu(&mut self, from: &Tensor) -> Tensor {
        self.node("relu", &from.0.clone(), from.1, from.2)
    }

    fn add(&mut self, a: &Tensor, b: &Tensor) -> Tensor {
        self.node("add", &format!("{} {}", a.0, b.0), a.1, a.2)
    }

    fn end(mut self, last: &Tensor) -> String {
        self.text.push_str(&format!("    output {} layout=NCHW\n}}\n", last.0));
        self.text
    }
}

fn input() -> Tensor {
    Tensor("x".to_owned(), 3, 224)
}

/// 16 bottlenecks, as in ResNet-50.
fn resnet() -> String {
    let mut net = Net::new("resnet50");
    let stem = net.conv(&input(), 64, 7, 112);
    let stem = net.relu(&stem);
    let mut last = net.node("pool", &stem.0, 64, 56);
    for (stage, blocks) in [3, 4, 6, 3].into_iter().enumerate() {
        let (inner, size) = (64 << stage, 56 >> stage);
        for block in 0..blocks {
            let a = net.conv(&last, inner, 1, size);
            let a = net.relu(&a);
            let b = net.conv(&a, inner, 3, size);
            let b = net.relu(&b);
            let c = net.conv(&b, inner * 4, 1, size);
            let side = if block == 0 { net.conv(&last, inner * 4, 1, size) } else { last };
            let sum = net.add(&c, &side);
            last = net.relu(&sum);
        }
    }
    let pooled = net.node("pool", &last.0.clone(), 2048, 1);
    let out = net.conv(&pooled, 1000, 1, 1);
    net.end(&out)
}

/// 17 inverted residuals, as in MobileNet-V2.
fn mobilenet() -> String {
    let mut net = Net::new("mobilenet");
    let stem = net.conv(&input(), 32, 3, 112);
    let mut last = net.relu(&stem);
    let stages = [
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ];
    for (grow, channels, blocks, stride) in stages {
        for block in 0..blocks {
            let size = if block == 0 { last.2 / stride } else { last.2 };
            let wide = last.1 * grow;
            let a = net.conv(&last, wide, 1, last.2);
            let a = net.relu(&a);
            let b = net.filtered("depthwise", &a, wide, 3, size);
            let b = net.relu(&b);
            let c = net.conv(&b, channels, 1, size);
            last = if block > 0 { net.add(&c, &last) } else { c };
        }
    }
    let top = net.conv(&last, 1280, 1, last.2);
    let top = net.relu(&top);
    let pooled = net.node("pool", &top.0, 1280, 1);
    let out = net.conv(&pooled, 1000, 1, 1);
    net.end(&out)
}

fn graph(text: &str) -> Graph {
    let checked = check(&One(text), &["a.kdl".to_owned()], &Config::default());
    assert_eq!(checked.diagnostics, []);
    checked.manifests[0].graphs[0].clone()
}

/// The plan whose operators are done in these ways.
fn with(graph: &Graph, choices: &[usize]) -> Plan {
    let choices: Vec<Option<usize>> = choices.iter().copied().map(Some).collect();
    solve(graph, &Settings { choices: &choices, ..Settings::default() }).unwrap()
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
fn uniform(graph: &Graph) -> Plan {
    let plans = ["NHWC", "NCHW", "NCHW16c"].map(|layout| {
        let same = |texts: &[&str]| texts.iter().all(|text| *text == layout);
        let choices: Vec<usize> =
            (0..graph.nodes.len()).map(|node| cheapest(graph, node, &same)).collect();
        with(graph, &choices)
    });
    plans.into_iter().min_by_key(|plan| plan.cost).unwrap()
}

/// Each operator in its own cheapest way, those that take any in the default; conversions between equals fall away.
fn own(graph: &Graph) -> Plan {
    let choices: Vec<usize> = (0..graph.nodes.len())
        .map(|node| {
            let is_free = graph.nodes[node].is_elementwise;
            cheapest(graph, node, &|texts| !is_free || texts.iter().all(|text| *text == "NCHW"))
        })
        .collect();
    with(graph, &choices)
}

/// From the inputs on, each operator in the way that is cheapest with the conversions of what it reads.
fn greedy(graph: &Graph) -> Plan {
    let mut stored: Vec<usize> =
        graph.tensors.iter().map(|tensor| tensor.declared.unwrap_or(0)).collect();
    let mut choices = Vec::new();
    for node in &graph.nodes {
        let cost = |way: &usize| {
            let choice = &node.choices[*way];
            let reads = node.inputs.iter().zip(&choice.inputs);
            let moved = reads.filter_map(|(k, asked)| {
                let (tensor, asked) = (&graph.tensors[*k], (*asked)?);
                let is_there = tensor.fit(stored[*k], asked) == Fit::Satisfied;
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
fn unshared(graph: &Graph) -> Plan {
    let mut network = Network::new();
    let nodes: Vec<_> = graph
        .nodes
        .iter()
        .map(|node| network.add_variable(node.choices.iter().map(|c| c.cost).collect()).unwrap())
        .collect();
    for (k, tensor) in graph.tensors.iter().enumerate().filter(|(_, t)| !t.is_constant()) {
        let moved = |from: usize, to: Option<usize>| match to {
            Some(to) if tensor.fit(from, to) != Fit::Satisfied => bytes_moved(tensor, from, to),
            _ => 0,
        };
        for wanted in graph.outputs.iter().filter(|wanted| wanted.tensor == k) {
            let Role::Result { node, result } = tensor.role else { continue };
            let given = graph.nodes[node].choices.iter().map(|choice| choice.outputs[result]);
            let costs: Vec<u64> = given.map(|c| moved(c, wanted.candidate)).collect();
            network.add_unary(nodes[node], &costs).unwrap();
        }
        for (node, operand) in graph.readers(k) {
            let asks: Vec<Option<usize>> =
                graph.nodes[node].choices.iter().map(|choice| choice.inputs[operand]).collect();
            match tensor.role {
                Role::Result { node: from, result } => {
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
    let found = network::solve(&network, &Limits::default(), &|| false);
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
    for (name, text) in [("ResNet-50-like", resnet()), ("MobileNet-V2-like", mobilenet())] {
        let graph = graph(&text);
        let best = solve(&graph, &Settings::default()).unwrap();
        assert!(best.is_optimal());
        let rows: [(&str, &dyn Fn() -> Plan); 5] = [
            ("layoutc", &|| solve(&graph, &Settings::default()).unwrap()),
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
