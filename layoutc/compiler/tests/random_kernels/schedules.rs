//! Schedules that `inspect --plan` prints: put into the kernel or instance, they give the same C code.

use std::fmt::Write as _;
use std::path::Path;

use super::generate::draft;
use crate::common::check_text::{FILE, check_text_with};
use layoutc_compiler::config::Config;
use layoutc_compiler::emit::Templates;
use layoutc_compiler::model::Manifest;
use layoutc_compiler::plan::Cores;
use layoutc_compiler::query::inspect::{PlanTargets, kernel_json, kernel_plan};
use layoutc_compiler::{Compiler, MemorySources};
use layoutc_testing::{Random, cases};

/// Configuration with the target C, with OpenMP or without.
fn config(openmp: bool) -> Config {
    let mut config = Config::default();
    config.target.c.as_mut().unwrap().openmp = openmp;
    config
}

/// Text of all C files of a manifest; `None` if the manifest is refused.
fn emitted(text: &str, config: &Config) -> Option<Vec<String>> {
    let checked = check_text_with(text, config);
    if !checked.is_valid() {
        return None;
    }
    let outputs =
        Compiler::new(&MemorySources::default(), config).emit(&checked, &Templates::default());
    Some(outputs.ok()?.into_iter().map(|output| output.text).collect())
}

/// Printed `schedule` nodes of each kernel, with the byte range of its node in the manifest.
fn printed(manifest: &Manifest, openmp: bool) -> Vec<(std::ops::Range<usize>, String)> {
    let cores = if openmp { Cores::All } else { Cores::One };
    let targets = PlanTargets { cores, gpus: &[] };
    let mut all = Vec::new();
    for compute in &manifest.computes {
        let Ok(plan) = kernel_plan(manifest, compute, targets) else { continue };
        let json = kernel_json(manifest, compute, Some(&plan), FILE);
        let Some(lines) = json["schedule"].as_array() else { continue };
        let lines: Vec<&str> = lines.iter().map(|line| line.as_str().unwrap()).collect();
        all.push((compute.place.start..compute.place.end, lines.join("\n")));
    }
    all
}

/// The manifest with `nodes` in the blocks of the kernels and instances at their ranges.
fn with_nodes(text: &str, mut nodes: Vec<(std::ops::Range<usize>, String)>) -> String {
    nodes.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut text = text.to_owned();
    for (span, node) in nodes {
        let own = &text[span.clone()];
        let brace = match own.find('{') {
            Some(inside) => Some(span.start + inside),
            None => {
                let after = &text[span.end..];
                let blank = after.len() - after.trim_start_matches([' ', '\t']).len();
                after[blank..].starts_with('{').then_some(span.end + blank)
            }
        };
        match brace {
            Some(brace) => text.insert_str(brace + 1, &format!("\n{node}\n")),
            None => text.insert_str(span.end, &format!(" {{\n{node}\n}}\n")),
        }
    }
    text
}

/// Builds `text` with and without its printed schedules, and compares all C files. Returns the number of nodes.
#[track_caller]
fn compare(text: &str, openmp: bool) -> usize {
    let config = config(openmp);
    let Some(before) = emitted(text, &config) else { return 0 };
    let checked = check_text_with(text, &config);
    let nodes = printed(&checked.manifests[0], openmp);
    let count = nodes.iter().map(|(_, node)| node.matches("schedule").count()).sum();
    // The printed schedule replaces a schedule of the manifest.
    let blank = |line: &str| {
        let is_schedule = line.trim_start().starts_with("schedule {");
        if is_schedule { " ".repeat(line.len()) } else { line.to_owned() }
    };
    let text: Vec<String> = text.lines().map(blank).collect();
    let pasted = with_nodes(&text.join("\n"), nodes);
    let Some(after) = emitted(&pasted, &config) else {
        panic!("{pasted}{:#?}", check_text_with(&pasted, &config).diagnostics)
    };
    for (before, after) in before.iter().zip(&after) {
        let line = before.lines().zip(after.lines()).find(|(before, after)| before != after);
        assert!(before == after, "{pasted}\nfirst difference: {line:#?}");
    }
    assert_eq!(before.len(), after.len());
    count
}

/// An order or a split of a tensor's axes as a layout, in 3 of 4 cases.
fn layout(random: &mut Random, axes: [&str; 2]) -> String {
    let [a, b] = axes;
    match random.below(4) {
        0 => String::new(),
        1 => format!("layout {{ order {b} {a} }}"),
        2 => {
            let by = random.pick(&[2, 4, 8, 16, 32]);
            format!("layout {{ split {b} by={by}; padding allow; order {b}_outer {a} {b}_inner }}")
        }
        _ => {
            let by = random.pick(&[4, 16]);
            format!("layout {{ split {a} by={by}; padding allow; order {a}_outer {b} {a}_inner }}")
        }
    }
}

/// A random product, convolution, row norm or chain of statements, of sizes at which operands are packed and reductions
/// are split.
fn large(random: &mut Random) -> String {
    let sizes = [1, 3, 7, 16, 24, 31, 64, 100, 200, 512, 999, 4096];
    let [i, j, k] = [0; 3].map(|_| *random.pick(&sizes));
    let [i, j] = if random.one_in(6) {
        ["rows".to_owned(), j.to_string()]
    } else {
        [i, j].map(|n| n.to_string())
    };
    let ty = *random.pick(&["f32", "f32", "f64", "i32", "i8", "f16"]);
    let mut text = "symbol rows min=1 max=4096\n".to_owned();
    let mut tensor = |name: &str, axes: [(&str, &str); 2], random: &mut Random| {
        let [(a, m), (b, n)] = axes;
        let layout = layout(random, [a, b]);
        writeln!(text, "tensor {name} dtype={ty} {{ shape {{ {a} {m}; {b} {n} }}; {layout} }}")
            .unwrap();
    };
    let k = k.to_string();
    tensor("A", [("i", &i), ("k", &k)], random);
    tensor("B", [("k", &k), ("j", &j)], random);
    tensor("C", [("i", &i), ("j", &j)], random);
    writeln!(text, "tensor R dtype={ty} {{ shape {{ i {i} }} }}").unwrap();
    let computes = match random.below(7) {
        0 | 1 => vec!["C[i, j] += A[i, k] * B[k, j]"],
        2 => vec!["R[i] += A[i, k] * A[i, k]"],
        3 => vec!["R[i] max= A[i, k]"],
        5 => vec!["t[i, j] += A[i, k] * B[k, j]", "C[i, j] = max(t[i, j] + R[i], 0)"],
        4 => vec!["C[i, j] += (A[i, k + r - 1] ?? 0) * B[k, j]"],
        _ => vec!["m[i] max= A[i, k]", "s[i] += A[i, k] - m[i]", "R[i] = s[i] * 2"],
    };
    text.push_str("kernel large {\n");
    for compute in &computes {
        writeln!(text, "    compute \"{compute}\"").unwrap();
    }
    if computes[0].contains(" r ") {
        text.push_str("    range r 3\n");
    }
    if random.one_in(4) {
        text.push_str("    parallel i\n");
    }
    text.push_str("}\n");
    text
}

#[test]
fn printed_schedules_give_the_same_code() {
    let mut random = Random::new(0x5C4ED);
    let mut nodes = 0;
    for number in 0..cases(60, 500) {
        let openmp = random.one_in(4);
        let drafted = draft(&mut random, number);
        nodes += compare(&drafted.kernel(&drafted.schedule), openmp);
        nodes += compare(&large(&mut random), openmp);
    }
    assert!(nodes > cases(60, 500), "{nodes} schedules were compared");
}

#[test]
fn printed_schedules_of_examples_and_benchmarks_give_the_same_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut nodes = 0;
    for path in [
        "examples/convolution/layouts/conv.kdl",
        "bench/kernels/matmul.kdl",
        "bench/kernels/conv.kdl",
    ] {
        let text = std::fs::read_to_string(root.join(path)).unwrap();
        nodes += compare(&text, false) + compare(&text, true);
    }
    assert!(nodes > 20, "{nodes} schedules were compared");
}
