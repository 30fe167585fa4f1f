//! How long a verdict takes: random maps, each proven or refused, against looking at every element of it.
//! `cargo bench -p layoutc-algebra` prints the table of `bench/prover/results.md`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench may panic and print"
)]

#[path = "../tests/random/mod.rs"]
mod random;

use std::time::Instant;

use layoutc_algebra::build::{Builder, FinishError};
use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::{Axis, Proof};
use layoutc_algebra::map::{IndexMap, Scope, resolve};
use layoutc_algebra::parse;
use layoutc_algebra::proof::{Refusal, Sequential};
use random::generate;
use random::{Case, Fault, Random, truth};

/// The allocator of the command line.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const MAPS: u64 = 10_000;

/// What decided, in the order of the table.
const KINDS: [&str; 6] = [
    "proven by digits",
    "proven by gf2",
    "proven by visiting",
    "refused by algebra",
    "refused by visiting",
    "leaves an extent",
];

fn main() {
    let mut times: Vec<Vec<f64>> = KINDS.iter().map(|_| Vec::new()).collect();
    let mut ratios = Vec::new();
    for seed in 0..MAPS {
        let mut random = Random::new(seed ^ 0x5EED_0000);
        let mut case = generate::one_map(&mut random);
        if random.once_in(2) {
            case = generate::damage(&mut random, &case);
        }
        let Some((builder, map)) = prepared(&case) else { continue };
        let start = Instant::now();
        let kind = decided(builder, &map);
        let own = start.elapsed().as_secs_f64() * 1e6;
        let start = Instant::now();
        let told = truth(&case);
        let visited = start.elapsed().as_secs_f64() * 1e6;
        if told == Err(Fault::Open) {
            continue;
        }
        assert_eq!(told.is_ok(), kind < 3, "{}", case.describe());
        times[kind].push(own);
        ratios.push(own / visited);
    }
    println!("| verdict | maps | median us | 9 of 10 us | slowest us |\n|---|---|---|---|---|");
    let mut all: Vec<f64> = Vec::new();
    for (name, times) in KINDS.iter().zip(&mut times) {
        println!("{}", row(name, times));
        all.extend(times.iter());
    }
    println!("{}", row("all", &mut all));
    ratios.sort_by(f64::total_cmp);
    println!(
        "\nA verdict takes {:.2} of the time that looking at every element takes (median).",
        at(&ratios, 0.5)
    );
}

/// The layout in the making, and the map that is judged.
fn prepared(case: &Case) -> Option<(Builder, IndexMap)> {
    let axis = |(name, extent): &(String, i64)| Axis {
        name: name.clone(),
        extent: Expr::constant(i128::from(*extent)),
    };
    let axes: Vec<Axis> = case.axes.iter().map(axis).collect();
    let names: Vec<String> = case.axes.iter().map(|(name, _)| name.clone()).collect();
    let builder = Builder::new(&[], &axes, 32).ok()?;
    let text = parse::map(&case.steps.first()?.map_text(&names)).ok()?;
    let scope = Scope { axes: &axes, values: &|_| None, facts: builder.facts() };
    let map = resolve(&text, scope).ok()?;
    Some((builder, map))
}

fn decided(mut builder: Builder, map: &IndexMap) -> usize {
    if builder.apply(map).is_err() {
        return 5;
    }
    match builder.finish(64, &Sequential) {
        Ok(layout) => match layout.proof {
            Proof::Digits => 0,
            Proof::Gf2 => 1,
            Proof::Enumeration => 2,
        },
        Err(FinishError::Refusal(Refusal::NotInjective { proof: Proof::Enumeration, .. })) => 4,
        Err(FinishError::Refusal(Refusal::NotInjective { .. })) => 3,
        Err(other) => panic!("{other}"),
    }
}

fn row(name: &str, times: &mut [f64]) -> String {
    times.sort_by(f64::total_cmp);
    let [median, most, slowest] = [0.5, 0.9, 1.0].map(|share| at(times, share));
    format!("| {name} | {} | {median:.0} | {most:.0} | {slowest:.0} |", times.len())
}

/// The value below which a share of the others lie.
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
