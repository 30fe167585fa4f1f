//! Time per verdict for random maps: the provers alone, and with inverse, predicate and the check of both; compared
//! with enumerating all elements. `cargo bench -p layoutc-algebra` prints the table of `bench/prover/results.md`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench may panic and print"
)]

use std::time::Instant;

use layoutc_algebra::builder::{FinishError, LayoutBuilder};
use layoutc_algebra::expr::Expr;
use layoutc_algebra::expr::parse;
use layoutc_algebra::layout::ProofMethod;
use layoutc_algebra::map::{IndexMap, MapScope, resolve};
use layoutc_algebra::prove::{InjectivityError, SequentialExecutor};
use layoutc_algebra::symbol::Axis;
use layoutc_testing::Random;
use layoutc_testing::layouts::{Case, Fault, generate, truth};

/// The command line's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const MAPS: u64 = 10_000;

/// Deciding methods, in the order of the table.
const KINDS: [&str; 6] = [
    "proven by digits",
    "proven by gf2",
    "proven by visiting",
    "refused by algebra",
    "refused by visiting",
    "leaves an extent",
];
const LEAVES: usize = 5;

fn main() {
    let mut provers: Vec<Vec<f64>> = KINDS.iter().map(|_| Vec::new()).collect();
    let mut wholes = provers.clone();
    let mut ratios = Vec::new();
    for seed in 0..MAPS {
        let mut random = Random::new(seed ^ 0x5EED_0000);
        let mut case = generate::one_map(&mut random);
        if random.one_in(2) {
            case = generate::damage(&mut random, &case);
        }
        let Some((mut builder, map)) = prepared(&case) else { continue };
        let (is_inside, applied) = timed(|| builder.apply(&map).is_ok());
        // The second of the two finds caches warm: they alternate.
        let whole = builder.clone();
        let prove = || timed(|| builder.proof(&SequentialExecutor));
        let finish = || timed(|| whole.finish(64, &SequentialExecutor));
        let ((proven, proved), (finished, checked)) = if seed % 2 == 0 {
            let proven = prove();
            (proven, finish())
        } else {
            let finished = finish();
            (prove(), finished)
        };
        let (told, visited) = timed(|| truth(&case));
        if told == Err(Fault::Open) {
            continue;
        }
        let kind = if is_inside { decided(finished.map(|layout| layout.proof())) } else { LEAVES };
        assert_eq!(told.is_ok(), kind < 3, "{}", case.describe());
        assert_eq!(told.is_ok(), is_inside && proven.is_ok(), "{}", case.describe());
        let (prover, whole) =
            if is_inside { (applied + proved, applied + checked) } else { (applied, applied) };
        provers[kind].push(prover);
        wholes[kind].push(whole);
        ratios.push(whole / visited);
    }
    println!(
        "| verdict | maps | provers, median us | 9 of 10 us | all, median us | 9 of 10 us | slowest us |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for (name, (prover, whole)) in KINDS.iter().zip(provers.iter_mut().zip(&mut wholes)) {
        println!("{}", row(name, prover, whole));
    }
    println!("{}", row("all", &mut provers.concat(), &mut wholes.concat()));
    ratios.sort_by(f64::total_cmp);
    println!(
        "\nA whole verdict takes {:.2} of the time that looking at every element takes (median).",
        at(&ratios, 0.5)
    );
}

/// Runs `work` and returns its result and the time in microseconds.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let done = work();
    (done, start.elapsed().as_secs_f64() * 1e6)
}

/// A builder with all steps but the last map, and that map, which is to be decided.
fn prepared(case: &Case) -> Option<(LayoutBuilder, IndexMap)> {
    let axis = |(name, extent): &(String, i64)| Axis {
        name: name.clone(),
        extent: Expr::constant(i128::from(*extent)),
    };
    let axes: Vec<Axis> = case.axes.iter().map(axis).collect();
    let names: Vec<String> = case.axes.iter().map(|(name, _)| name.clone()).collect();
    let builder = LayoutBuilder::new(&[], &axes, 32).ok()?;
    let text = parse::map(&case.steps.first()?.map_text(&names)).ok()?;
    let scope = MapScope { axes: &axes, values: &|_| None, facts: builder.facts() };
    let map = resolve(&text, scope).ok()?;
    Some((builder, map))
}

fn decided(finished: Result<ProofMethod, FinishError>) -> usize {
    match finished {
        Ok(ProofMethod::Digits) => 0,
        Ok(ProofMethod::Gf2) => 1,
        Ok(ProofMethod::Enumeration) => 2,
        Err(FinishError::Injectivity(InjectivityError::NotInjective {
            proof: ProofMethod::Enumeration,
            ..
        })) => 4,
        Err(FinishError::Injectivity(InjectivityError::NotInjective { .. })) => 3,
        Err(other) => panic!("{other}"),
    }
}

fn row(name: &str, provers: &mut [f64], wholes: &mut [f64]) -> String {
    provers.sort_by(f64::total_cmp);
    wholes.sort_by(f64::total_cmp);
    let [median, most] = [0.5, 0.9].map(|share| at(provers, share));
    let [all, nearly, slowest] = [0.5, 0.9, 1.0].map(|share| at(wholes, share));
    let maps = wholes.len();
    format!("| {name} | {maps} | {median:.0} | {most:.0} | {all:.0} | {nearly:.0} | {slowest:.0} |")
}

/// Quantile of sorted values at `share`.
fn at(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a position in a short list"
    )]
    let position = (last as f64 * share) as usize;
    sorted.get(position).copied().unwrap_or(f64::NAN)
}
