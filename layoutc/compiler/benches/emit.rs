//! How long it takes to check a manifest and to plan and emit its conversions as C, on one core, for the layouts of
//! `bench/conversion`. `cargo bench -p layoutc-compiler --bench emit` prints the table of `bench/emit/results.md`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench may panic, print and look at the clock"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use layoutc_compiler::config::parse;
use layoutc_compiler::emit::{EmitJob, Emitter, Templates};
use layoutc_compiler::{Compiler, MemorySources};

const ROUNDS: usize = 15;

/// Number of manifests in a build, which prepares its templates once.
const BUILD: usize = 32;

/// A tensor is packed and unpacked.
const CONVERSIONS: f64 = 2.0;

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Microseconds.
fn timed(mut work: impl FnMut()) -> f64 {
    let rounds = (0..=ROUNDS).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e6
    });
    // The first warms up.
    median(rounds.skip(1).collect())
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/conversion");
    let config = std::fs::read_to_string(root.join("layoutc.toml")).unwrap();
    let config = parse(&Arc::from("layoutc.toml"), &config).unwrap();
    let mut layouts: Vec<_> =
        root.join("layouts").read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    layouts.sort();
    println!("| layout | check, us | plan and emit a conversion, us | lines of the source |");
    println!("|---|--:|--:|--:|");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let mut all = Vec::new();
    for path in layouts {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let sources = MemorySources::of("a.kdl", std::fs::read_to_string(&path).unwrap());
        let names = [format!("{name}.kdl")];
        let compiler = Compiler::new(&sources, &config);
        let checked = compiler.check(&names);
        assert_eq!(checked.diagnostics, []);
        let templates = Templates::default();
        let emitter = Emitter::new(&config, &templates);
        let one = EmitJob { target: "c", manifest: &checked.manifests[0] };
        let build = [one; BUILD];
        let outputs = emitter.files(&build[..1]).unwrap();
        let source = outputs[0].iter().find(|output| output.path == format!("c/{name}.c")).unwrap();
        let [checks, emits] = pool.install(|| {
            let checks = timed(|| {
                compiler.check(&names);
            });
            let emits = timed(|| {
                emitter.files(&build).unwrap();
            });
            [checks, emits]
        });
        #[expect(clippy::cast_precision_loss, reason = "32 manifests")]
        let emits = emits / BUILD as f64 / CONVERSIONS;
        all.push(emits);
        println!("| {name} | {checks:.0} | {emits:.0} | {} |", source.text.lines().count());
    }
    println!(
        "\nPlan and emit: median {:.0} us, slowest {:.0} us.",
        median(all.clone()),
        all.iter().copied().fold(0.0, f64::max)
    );
}
