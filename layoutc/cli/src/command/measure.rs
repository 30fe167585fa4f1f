//! Costs of conversions as measured on this machine. Each conversion is compiled and timed, and so is a memcpy of the
//! same number of bytes.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use layoutc_compiler::config::Config;
use layoutc_compiler::emit::{EmitJob, Emitter, Templates};
use layoutc_compiler::model::graph::Graph;
use layoutc_compiler::solve::{LayoutChange, bytes_moved, changes};
use serde_json::Value;

use crate::command_error::CommandError;
use crate::compiled_program::{self, CompiledProgram};
use crate::interrupt::{self, WriteGuard};

use super::bench::bench_config;

/// Time to measure each conversion for, in seconds.
const SECONDS: &str = "0.05";

/// Costs in bytes of all conversions that `graph` may need: the bytes that a conversion moves, times the speed of
/// memcpy, divided by its measured speed. A conversion without a measurement counts as fast as memcpy. The benchmark is
/// generated with the C options of `config`. `compiler` is the C compiler, `None` for the default.
///
/// # Errors
/// [`CommandError::Input`] if the benchmark cannot be generated. [`CommandError::Machine`] if the handler of interrupts
/// cannot be installed. Any error of [`CompiledProgram::new`] or [`compiled_program::run`].
pub(super) fn costs(
    graph: &Graph,
    config: &Config,
    compiler: Option<&str>,
) -> Result<BTreeMap<LayoutChange, u64>, CommandError> {
    let (manifest, routines) = changes(graph);
    if routines.is_empty() {
        return Ok(BTreeMap::new());
    }
    let config = bench_config(config);
    let work = [EmitJob { target: "c", manifest: &manifest }];
    let templates = Templates::new(&config, BTreeMap::new(), BTreeMap::new());
    let outputs = Emitter::new(&config, &templates).files(&work).map_err(CommandError::Input)?;
    interrupt::install()?;
    let _writing = WriteGuard::begin();
    let outputs: Vec<_> = outputs.into_iter().flatten().collect();
    let program = CompiledProgram::new(&outputs, compiler, "-O2")?;
    // Times only the conversions.
    let arguments = [SECONDS, "json", "_to_"].map(str::to_owned);
    let mut speeds: BTreeMap<String, f64> = BTreeMap::new();
    compiled_program::run(&program.path(), &arguments, &mut |line| {
        let object: Value = serde_json::from_str(line).unwrap_or_default();
        if let (Some(name), Some(speed)) =
            (object["routine"].as_str(), object["of_memcpy"].as_f64())
        {
            speeds.insert(name.to_owned(), speed);
        }
        ControlFlow::Continue(())
    })?;
    let prefix = &config.project.prefix;
    let cost = |((tensor, from, to), routine): (LayoutChange, String)| {
        let bytes = graph.tensors.get(tensor).map_or(0, |tensor| bytes_moved(tensor, from, to));
        let speed = speeds.get(&format!("{prefix}{routine}")).copied().filter(|s| *s > 0.0);
        ((tensor, from, to), scaled(bytes, speed.unwrap_or(1.0)))
    };
    Ok(routines.into_iter().map(cost).collect())
}

/// Cost in bytes of a conversion that moves `bytes` bytes. `speed` is its speed divided by that of memcpy: 0.5 doubles
/// the cost.
fn scaled(bytes: u64, speed: f64) -> u64 {
    // The factor in thousandths, so that the cost is computed in integers.
    let thousandths = (1000.0 / speed).round().clamp(1.0, 1e9);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between 1 and 10^9"
    )]
    let thousandths = thousandths as u64;
    let cost = u128::from(bytes) * u128::from(thousandths) / 1000;
    u64::try_from(cost).unwrap_or(u64::MAX)
}
