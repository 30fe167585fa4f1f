//! Plans of random graphs, executed in process and as C: every output equals the evaluation on dense arrays. Unwritten
//! bytes are poisoned, and operators read whole buffers. The bytes that conversions move and the cost of the operators
//! equal those of the plan. `LAYOUTC_FULL=1` runs 2,000 graphs.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test that runs compilers"
)]

mod dense;
mod execute;
mod generate;
mod program;

use layoutc_compiler::emit::{Settings as Target, Templates, emit};
use layoutc_compiler::model::Manifest;
use layoutc_compiler::solve::{SolverOptions, lay_out, solve};

use crate::common::cc::{compile_and_run, folder, write};
use crate::common::check_text::check_text;
use execute::{Machine, operators_cost};
use generate::{Sample, generate};
use layoutc_testing::process::is_installed;
use layoutc_testing::{Random, cases};

/// Codes that may reject a graph: its random layouts may be incompatible.
const REFUSED: &[&str] =
    &["graph::pinned", "graph::unsatisfied", "graph::alternative", "limit::graph"];

/// The graph of a seed, checked and solved; `None` if its layouts are incompatible.
fn laid_out(seed: u64, is_whole: bool) -> Option<(Sample, Manifest, Random)> {
    let mut random = Random::new(seed);
    let sample = generate(&mut random, is_whole);
    let checked = check_text(&sample.text);
    let faults = &checked.diagnostics;
    if !faults.is_empty() {
        let is_known = faults.iter().all(|fault| REFUSED.contains(&fault.code.id()));
        assert!(is_known, "seed {seed}: {faults:#?}\n{}", sample.text);
        return None;
    }
    match lay_out(&checked.manifests[0]) {
        Ok(manifest) => Some((sample, manifest, random)),
        Err(faults) => {
            let is_known = faults.iter().all(|fault| REFUSED.contains(&fault.code.id()));
            assert!(is_known, "seed {seed}: {faults:#?}\n{}", sample.text);
            None
        }
    }
}

/// Executes the graph of a seed. Returns the number of bytes that its conversions moved.
fn executed(seed: u64) -> Option<u64> {
    let (sample, manifest, mut random) = laid_out(seed, false)?;
    let values = dense::interpreted(&sample, &mut random);
    let mut machine = Machine::new(&sample, &manifest);
    if let Err(wrong) = machine.all(&values) {
        panic!("seed {seed}: {wrong}\n{}", sample.text);
    }
    let graph = &manifest.graphs[0];
    let plan = solve(graph, &SolverOptions::default()).unwrap();
    assert!(plan.is_optimal(), "seed {seed}\n{}", sample.text);
    let cost = machine.moved + operators_cost(graph, &plan);
    assert_eq!(machine.schedule.cost, cost, "seed {seed}\n{}", sample.text);
    Some(machine.moved)
}

#[test]
fn plans_agree_with_dense_arrays_and_their_cost() {
    let wanted = cases(60, 800);
    let (mut done, mut free, mut refused) = (0, 0, 0);
    for seed in 0.. {
        match executed(seed) {
            Some(moved) => {
                done += 1;
                free += usize::from(moved == 0);
            }
            None => refused += 1,
        }
        if done == wanted {
            break;
        }
    }
    eprintln!("{done} graphs carried out, {free} of them without a conversion; {refused} refused");
    assert!(refused < done && free < done, "{refused} {free}");
}

#[test]
fn generated_code_of_plans_agrees_with_dense_arrays() {
    if !is_installed("gcc") {
        return;
    }
    let wanted = cases(4, 40);
    let folder = folder("random_graphs");
    let mut done = 0;
    for seed in 50_000.. {
        let Some((sample, manifest, mut random)) = laid_out(seed, true) else { continue };
        let values = dense::interpreted(&sample, &mut random);
        let name = format!("graph{seed}");
        let outputs = emit(&manifest, &Target::c(), &name, &Templates::default()).unwrap();
        write(&folder, &outputs);
        let main = program::program(&sample, &manifest, &values, &format!("{name}.h"));
        std::fs::write(folder.join(format!("{name}_main.c")), main).unwrap();
        let sources = [format!("{name}_main.c"), format!("{name}.c")];
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        let flags = vec!["-std=c99", "-O0", "-g", "-fsanitize=address,undefined"];
        let ran = compile_and_run(&folder, &name, &sources, ("gcc", flags, true));
        assert_eq!(ran.as_deref(), Some("0 wrong\n"), "seed {seed}\n{}", sample.text);
        done += 1;
        if done == wanted {
            break;
        }
    }
}
