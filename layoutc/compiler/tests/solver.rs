//! The graph solver: costs of cases with known optima, and of random graphs against brute force.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use crate::common::check_text::check_text;
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::model::graph::{Compatibility, Graph, TensorRole};
use layoutc_compiler::solve::{GraphPlan, SolverOptions, bytes_moved, solve};
use layoutc_testing::{Random, cases};
use serde_json::Value;

const GLOW: &str = include_str!("../../algebra/tests/cases/glow.json");

fn graph(text: &str) -> Graph {
    let checked = check_text(text);
    // An unknown name in a condition is only a warning.
    let is_fault = |report: &&Diagnostic| report.code.id() != "name::unknown";
    assert_eq!(checked.diagnostics.iter().find(is_fault), None, "{text}");
    checked.manifests[0].graphs[0].clone()
}

fn solved(text: &str) -> GraphPlan {
    solve(&graph(text), &SolverOptions::default())
        .unwrap_or_else(|fault| panic!("{fault:?}\n{text}"))
}

fn shape(tensor: &Value) -> String {
    let dims = tensor["dims"].as_object().unwrap();
    let dims: Vec<String> = dims.iter().map(|(name, extent)| format!("{name} {extent}")).collect();
    let dtype = match tensor["elem"].as_u64().unwrap() {
        4 => "f32",
        2 => "f16",
        _ => "i8",
    };
    format!("dtype={dtype} {{ shape {{ {} }} }}", dims.join("; "))
}

fn quoted(list: &Value) -> String {
    let texts = list.as_array().unwrap().iter().map(|text| format!("{text}"));
    texts.collect::<Vec<_>>().join(" ")
}

/// Manifest of a case. Operators that accept any layout use a rule if `by_rule`, otherwise the alternatives of the
/// case.
fn manifest(case: &Value, by_rule: bool) -> String {
    let graph = &case["graph"];
    let tensors = graph["tensors"].as_object().unwrap();
    let ops = graph["ops"].as_array().unwrap();
    let names = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let written: Vec<String> = ops.iter().flat_map(|op| names(&op["out"])).collect();
    // They include concatenations.
    let backend = "backend b { op each elementwise=#true shapes=any }\n";
    let mut text = format!("{backend}graph g backend=b {{\n");
    for (name, tensor) in tensors.iter().filter(|(name, _)| !written.contains(name)) {
        let what = if tensor["const"] == true { "constant" } else { "input" };
        let layout = tensor["layout"].as_str().map(|layout| format!(" layout=\"{layout}\""));
        let body = shape(tensor).replacen(" {", &format!("{} {{", layout.unwrap_or_default()), 1);
        text.push_str(&format!("    {what} {name} {body}\n"));
    }
    for op in ops {
        let name = op["name"].as_str().unwrap().replace('-', "_");
        let by_rule = by_rule && op["dp"] == true;
        let kind = if by_rule { "each" } else { "other" };
        text.push_str(&format!(
            "    node {name} op={kind} {{\n        in {}\n",
            names(&op["in"]).join(" ")
        ));
        for name in names(&op["out"]) {
            text.push_str(&format!("        out {name} {}\n", shape(&tensors[&name])));
        }
        for option in op["options"].as_array().unwrap().iter().filter(|_| !by_rule) {
            text.push_str(&format!(
                "        accepts cost={} {{ in {}; out {} }}\n",
                option["cost"],
                quoted(&option["in"]),
                quoted(&option["out"])
            ));
        }
        text.push_str("    }\n");
    }
    for (name, layout) in graph["outputs"].as_object().unwrap() {
        text.push_str(&format!("    output {name} layout={layout}\n"));
    }
    text + "}\n"
}

#[test]
fn recorded_graphs_have_their_proven_cost() {
    let file: Value = serde_json::from_str(GLOW).unwrap();
    let cases = file["cases"].as_array().unwrap();
    let mut count = 0;
    for case in cases.iter().filter(|case| case["sub"] == "assign") {
        for by_rule in [false, true] {
            let plan = solved(&manifest(case, by_rule));
            let cost = case["expect"]["min_cost"].as_u64().unwrap();
            assert_eq!((plan.cost, plan.lower_bound), (cost, cost), "{}", case["id"]);
            let paid = plan.conversions.iter().filter(|c| c.cost > 0).count();
            let fewest = usize::try_from(case["expect"]["min_conversions"].as_u64().unwrap());
            assert!(paid >= fewest.unwrap() || case["id"] == "g08", "{}", case["id"]);
        }
        count += 1;
    }
    assert_eq!(count, 15);
}

/// Minimum cost over all combinations of choices; [`sets`] has the cost of each tensor's conversions.
fn brute(graph: &Graph) -> Option<u64> {
    let mut counts: Vec<usize> = graph.nodes.iter().map(|node| node.choices.len()).collect();
    let open: Vec<usize> = (0..graph.tensors.len())
        .filter(|k| {
            let tensor = &graph.tensors[*k];
            let is_outside = !matches!(tensor.role, TensorRole::Result { .. });
            is_outside && !tensor.is_unconstrained() && tensor.declared.is_none()
        })
        .collect();
    counts.extend(open.iter().map(|k| graph.tensors[*k].candidates.len()));
    let mut values = vec![0; counts.len()];
    let mut least = None;
    loop {
        if let Some(cost) = cost_of(graph, &values, &open) {
            least = Some(least.map_or(cost, |least: u64| least.min(cost)));
        }
        let Some(k) = (0..values.len()).rev().find(|k| values[*k] + 1 < counts[*k]) else {
            return least;
        };
        values[k] += 1;
        values[k + 1..].fill(0);
    }
}

fn cost_of(graph: &Graph, values: &[usize], open: &[usize]) -> Option<u64> {
    let mut total = 0;
    let choice = |node: usize| &graph.nodes[node].choices[values[node]];
    for node in 0..graph.nodes.len() {
        total += choice(node).cost;
    }
    for (k, tensor) in graph.tensors.iter().enumerate() {
        if tensor.is_unconstrained() {
            continue;
        }
        let has = match tensor.role {
            TensorRole::Result { node, result } => choice(node).outputs[result],
            _ => tensor.declared.unwrap_or_else(|| {
                values[graph.nodes.len() + open.iter().position(|o| *o == k).unwrap()]
            }),
        };
        if tensor.candidates[has].is_forbidden {
            return None;
        }
        let mut asked = 0_usize;
        for (node, operand) in graph.readers(k) {
            asked |= choice(node).inputs[operand].map_or(0, |candidate| 1 << candidate);
        }
        for wanted in graph.outputs.iter().filter(|wanted| wanted.tensor == k) {
            asked |= wanted.candidate.map_or(0, |candidate| 1 << candidate);
        }
        if let (TensorRole::Result { .. }, Some(declared)) = (tensor.role, tensor.declared) {
            asked |= 1 << declared;
        }
        total += sets(graph, k, has, asked)?;
    }
    Some(total)
}

/// Minimum cost to convert a tensor from layout `has` to all of `asked`: a dynamic program over sets of layouts, each
/// one conversion larger.
fn sets(graph: &Graph, tensor: usize, has: usize, asked: usize) -> Option<u64> {
    let tensor = &graph.tensors[tensor];
    let count = tensor.candidates.len();
    let mut cost: Vec<Option<u64>> = vec![None; 1 << count];
    cost[1 << has] = Some(0);
    let mut least: Option<u64> = None;
    for set in 0..1 << count {
        let Some(own) = cost[set] else { continue };
        if set & asked == asked {
            least = Some(least.map_or(own, |least| least.min(own)));
        }
        for to in (0..count).filter(|to| set >> to & 1 == 0) {
            if tensor.candidates[to].is_forbidden {
                continue;
            }
            for from in (0..count).filter(|from| set >> from & 1 == 1) {
                let is_free = tensor.compatibility(from, to) == Compatibility::Satisfied;
                if tensor.is_pinned && !is_free {
                    continue;
                }
                let is_paid = !is_free && tensor.role != TensorRole::Constant;
                let step = if is_paid { bytes_moved(tensor, from, to) } else { 0 };
                let next = &mut cost[set | 1 << to];
                *next = Some(next.map_or(own + step, |known| known.min(own + step)));
            }
        }
    }
    least
}

const LAYOUTS: &[&str] = &["NHWC", "NCHW", "NCHW4c", "NCHW8c", "CHWN", "N[a=64]HWC"];

/// A random graph of `operators` operators.
fn random(numbers: &mut Random, operators: usize) -> String {
    let mut text = "backend b { default-layout 4 NHWC; op each elementwise=#true; op sum any=#true; op turn transpose=#true }\ngraph g backend=b {\n".to_owned();
    let sizes = ["1", "2", "3", "5", "8"];
    let shape = format!(
        "{{ shape {{ N {}; H {}; W {}; C {} }} }}",
        *numbers.pick(&["1", "2"]),
        *numbers.pick(&sizes),
        *numbers.pick(&sizes),
        *numbers.pick(&sizes)
    );
    let known = 1 + numbers.below(3);
    let layouts: Vec<&str> = (0..=known).map(|_| *numbers.pick(LAYOUTS)).collect();
    let mut tensors: Vec<String> = Vec::new();
    for k in 0..=numbers.below(2) {
        let layout = match numbers.below(3) {
            0 => String::new(),
            _ => format!(" layout=\"{}\"", *numbers.pick(&layouts)),
        };
        let what = if k > 0 && numbers.below(4) == 0 { "constant" } else { "input" };
        text.push_str(&format!("    {what} x{k} dtype=f32{layout} {shape}\n"));
        tensors.push(format!("x{k}"));
    }
    let mut combinations = 1_usize;
    for k in 0..operators {
        let reads: Vec<String> = (0..=numbers.below(2))
            .map(|_| {
                let back = numbers.below(tensors.len().min(4));
                tensors[tensors.len() - 1 - back].clone()
            })
            .collect();
        let declared = match numbers.below(12) {
            0 => format!(" layout=\"{}\"", *numbers.pick(&layouts)),
            _ => String::new(),
        };
        let out = format!("out t{k} dtype=f32{declared} {shape}");
        let read = reads.join(" ");
        let kind = if combinations > 4000 { 9 } else { numbers.below(4) };
        let is_turned = combinations < 100 && numbers.below(6) == 0;
        let kind = if is_turned { 8 } else { kind };
        match kind {
            8 => {
                let read = &reads[0];
                text.push_str(&format!("    node n{k} op=turn {{ in {read}; {out} }}\n"));
                combinations *= 16;
            }
            0 => text.push_str(&format!("    node n{k} op=each {{ in {read}; {out} }}\n")),
            1 if numbers.below(3) == 0 => {
                text.push_str(&format!("    node n{k} op=sum {{ in {read}; {out} }}\n"));
            }
            _ => {
                let count = if kind == 9 { 1 } else { 1 + numbers.below(3) };
                text.push_str(&format!("    node n{k} op=own {{ in {read}; {out}\n"));
                for _ in 0..count {
                    let ins: Vec<String> =
                        reads.iter().map(|_| format!("\"{}\"", *numbers.pick(&layouts))).collect();
                    let cost = numbers.below(3000);
                    let given = *numbers.pick(&layouts);
                    text.push_str(&format!(
                        "        accepts cost={cost} {{ in {}; out \"{given}\" }}\n",
                        ins.join(" ")
                    ));
                }
                text.push_str("    }\n");
                combinations *= count;
            }
        }
        if matches!(kind, 0 | 1) {
            combinations *= layouts.len();
        }
        tensors.push(format!("t{k}"));
    }
    let last = tensors.len() - 1;
    text.push_str(&format!(
        "    output {} layout=\"{}\"\n",
        tensors[last],
        *numbers.pick(&layouts)
    ));
    match numbers.below(10) {
        0 => text.push_str(&format!("    keep {}\n", tensors[numbers.below(last)])),
        1 => {
            let layout = *numbers.pick(&layouts);
            text.push_str(&format!("    forbid {} layout=\"{layout}\"\n", tensors[last]));
        }
        _ => {}
    }
    text + "}\n"
}

#[test]
fn random_graph_costs_equal_brute_force() {
    let rounds = cases(600, 4_000);
    let mut numbers = Random::new(1);
    let (mut solved, mut impossible) = (0, 0);
    for _ in 0..rounds {
        let operators = 1 + numbers.below(12);
        let text = random(&mut numbers, operators);
        let checked = check_text(&text);
        let codes: Vec<&str> = checked.diagnostics.iter().map(|fault| fault.code.id()).collect();
        let Some(graph) = checked.manifests[0].graphs.first() else {
            let is_refused = |code: &&str| ["graph::pinned", "graph::unsatisfied"].contains(code);
            assert!(codes.iter().any(is_refused), "{codes:?}\n{text}");
            continue;
        };
        let is_known =
            codes.iter().all(|code| ["graph::pinned", "graph::unsatisfied"].contains(code));
        assert!(is_known, "{codes:?}\n{text}");
        let found = solve(graph, &SolverOptions::default()).ok();
        assert_eq!(found.as_ref().map(|plan| plan.cost), brute(graph), "{text}");
        match found {
            Some(plan) => {
                assert!(plan.is_optimal(), "{text}");
                solved += 1;
            }
            None => impossible += 1,
        }
    }
    assert!(solved > rounds / 2 && impossible > 0, "{solved} {impossible}");
}

#[test]
fn a_conversion_is_shared_and_chained_where_that_is_cheaper() {
    // Three readers of one layout share one conversion.
    let reader = |k: usize| {
        format!(
            "    node r{k} op=f {{ in x; out y{k} dtype=f32 {{ shape {{ N 1; H 4; W 4; C 8 }} }}; accepts {{ in NCHW; out NCHW }} }}\n"
        )
    };
    let text = format!(
        "graph g {{\n    input x dtype=f32 layout=NHWC {{ shape {{ N 1; H 4; W 4; C 8 }} }}\n{}{}{}    output y0\n}}\n",
        reader(0),
        reader(1),
        reader(2)
    );
    let plan = solved(&text);
    assert_eq!((plan.cost, plan.conversions.len()), (1024, 1));
    // Converting from the copy without padding is cheaper than from the padded layout.
    let text = "graph g {
    input x dtype=f32 layout=\"NCHW16c\" { shape { N 1; H 4; W 4; C 1 } }
    node a op=f { in x; out y dtype=f32 { shape { N 1; H 4; W 4; C 1 } }; accepts { in NHWC; out NHWC } }
    node b op=f { in x; out z dtype=f32 { shape { N 1; H 4; W 4; C 1 } }; accepts { in WHNC; out NHWC } }
    output y
    output z
}
";
    let plan = solved(text);
    // The 1024 padded bytes are read once; the second conversion reads 64.
    assert_eq!((plan.cost, plan.conversions.len()), (1024 + 64 + 64 + 64, 2));
    assert_eq!(plan.conversions[1].from, plan.conversions[0].to);
}

#[test]
fn pinned_layouts_are_respected() {
    let text = |pins: &str| {
        format!(
            "graph g {{
    input x dtype=f32 layout=NHWC {{ shape {{ N 1; H 4; W 4; C 8 }} }}
    node a op=f {{
        in x
        out y dtype=f32 {{ shape {{ N 1; H 4; W 4; C 8 }} }}
        accepts cost=1 {{ in NHWC; out NHWC }}
        accepts cost=5000 {{ in NHWC; out NCHW }}
    }}
    output y layout=NCHW
    {pins}
}}
"
        )
    };
    assert_eq!(solved(&text("")).cost, 1025);
    assert_eq!(solved(&text("keep y")).cost, 5000);
    assert_eq!(solved(&text("forbid y layout=NHWC")).cost, 5000);
    let graph = graph(&text("keep x layout=NHWC"));
    assert_eq!(solve(&graph, &SolverOptions::default()).unwrap().cost, 1025);
}

#[test]
fn conditions_select_alternatives() {
    let text = |property: &str, channels: usize| {
        format!(
            "backend b {{
    op conv {{
        accepts cost=10 {{ in NHWC; out NHWC }}
        accepts cost=1 when=\"C % 16 == 0 and stride < 3 and padding == 'same'\" {{ in NHWC; out NHWC }}
    }}
}}
graph g backend=b {{
    input x dtype=f32 layout=NHWC {{ shape {{ N 1; H 4; W 4; C {channels} }} }}
    node a op=conv {property} {{ in x; out y dtype=f32 {{ shape {{ N 1; H 4; W 4; C {channels} }} }} }}
    output y layout=NHWC
}}
"
        )
    };
    assert_eq!(solved(&text("stride=2 padding=same", 32)).cost, 1);
    assert_eq!(solved(&text("stride=2 padding=same", 24)).cost, 10);
    assert_eq!(solved(&text("stride=3 padding=same", 32)).cost, 10);
    assert_eq!(solved(&text("stride=2", 32)).cost, 10);
}
