//! Reports on the memory accesses of generated GPU kernels, on NVIDIA GPUs.

use std::collections::BTreeMap;

use layoutc_algebra::symbol::Symbol;
use serde_json::{Value, json};

use super::warp_trace::{AccessSite, Space, evaluate, launch_shape, sites};
use super::{requests_text, sectors_text, wavefronts_text};
use crate::base::diagnostic::Diagnostic;
use crate::emit::plan_fault;
use crate::ir::{Expr, ParamType};
use crate::loops::heuristics::parallelize::Cores;
use crate::loops::relayout::plan::{Primitives, RelayoutOptions};
use crate::lower::context::Naming;
use crate::lower::launch::Kernel;
use crate::machine::NVIDIA;
use crate::model::compute::KernelInstance;
use crate::model::{Manifest, Tensor};
use crate::plan;
use crate::query::inspect::lines_text;

/// Loads and stores of one GPU kernel, with the counts of the warps of two thread blocks: the first, and the one in the
/// middle of the launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KernelAccesses {
    name: String,
    sites: Vec<AccessSite>,
}

/// Accesses of the kernels that pack and unpack a tensor, and that convert it to other tensors; empty if kernels cannot
/// access its memory.
///
/// # Errors
/// The diagnostic that a build for GPUs reports if planning fails.
#[expect(clippy::result_large_err, reason = "one diagnostic, on the error path")]
pub(super) fn tensor_accesses(
    manifest: &Manifest,
    tensor: &Tensor,
) -> Result<Vec<KernelAccesses>, Diagnostic> {
    let fault = |error| plan_fault(tensor.places.layout.clone(), &tensor.name, &error);
    let plans = with_naming(|naming| plan::gpu_relayouts(tensor, naming)).map_err(fault)?;
    let kernels = plans.into_iter().flat_map(|plan| plan.kernels);
    let symbols = tensor.layout.symbols();
    let mut all: Vec<_> = kernels.map(|kernel| KernelAccesses::new(&kernel, symbols)).collect();
    for convert in &manifest.converts {
        let Some(from) = manifest.tensor(convert.from).filter(|from| from.name == tensor.name)
        else {
            continue;
        };
        let plan = with_naming(|naming| plan::gpu_convert(manifest, convert, naming));
        let plan = plan.map_err(|error| plan_fault(convert.place.clone(), &from.name, &error))?;
        let to = manifest.tensor(convert.to).map_or(&[][..], |to| to.layout.symbols());
        let symbols = [symbols, to].concat();
        let kernels = plan.into_iter().flat_map(|plan| plan.kernels);
        all.extend(kernels.map(|kernel| KernelAccesses::new(&kernel, &symbols)));
    }
    Ok(all)
}

/// Accesses of the kernels of an instance.
///
/// # Errors
/// The diagnostic that a build for GPUs reports if planning fails.
#[expect(clippy::result_large_err, reason = "one diagnostic, on the error path")]
pub(super) fn kernel_accesses(
    manifest: &Manifest,
    compute: &KernelInstance,
) -> Result<Vec<KernelAccesses>, Diagnostic> {
    let kernels = with_naming(|naming| match plan::gpu_copy_kernel(manifest, compute, naming)? {
        Some(plan) => Ok(plan.kernels),
        None => plan::gpu_kernels(manifest, compute, naming),
    });
    let kernels =
        kernels.map_err(|error| plan_fault(compute.place.clone(), &compute.name, &error))?;
    Ok(kernels.iter().map(|kernel| KernelAccesses::new(kernel, &compute.symbols)).collect())
}

fn with_naming<T>(plan: impl FnOnce(&Naming<'_>) -> T) -> T {
    let avoid = |_: &str| false;
    let options = RelayoutOptions { cores: Cores::One, primitives: Primitives::Runtime };
    plan(&Naming { prefix: "", avoid: &avoid, options })
}

impl KernelAccesses {
    /// Executes a kernel with typical values of the symbols: their maxima, at most 1024 unless the minimum is greater.
    fn new(kernel: &Kernel, symbols: &[Symbol]) -> Self {
        let values: BTreeMap<String, i64> = kernel
            .function
            .params
            .iter()
            .filter(|param| param.ty == ParamType::Index)
            .map(|param| (param.name.clone(), typical(&param.name, symbols)))
            .collect();
        let symbol = |name: &str| values.get(name).copied();
        let count = |expr: &Expr| evaluate(expr, &symbol).unwrap_or(1).max(1);
        let range: Vec<i64> = kernel.range.iter().map(|items| count(&items.count)).collect();
        let shape = launch_shape(&range, kernel.group);
        let sites = sites(&kernel.function, &shape, &values, &NVIDIA);
        Self { name: kernel.function.name.clone(), sites }
    }

    /// Lines of a text report: the name of the kernel, then one line for each load and store.
    pub(super) fn text(&self) -> String {
        let lines: Vec<(&str, String)> =
            self.sites.iter().map(|site| (site.buffer.as_str(), site.text())).collect();
        format!("{}\n{}", self.name, lines_text(&lines))
    }

    /// Object of a JSON report.
    pub(super) fn json(&self) -> Value {
        json!({
            "kernel": self.name,
            "accesses": self.sites.iter().map(AccessSite::json).collect::<Vec<_>>(),
        })
    }
}

impl AccessSite {
    fn text(&self) -> String {
        let (verb, bytes) = (self.direction.word(), self.bytes);
        if self.requests == 0 {
            return format!("{verb}s {bytes} bytes a lane, at addresses that depend on data");
        }
        let counts = match self.space {
            Space::Shared => wavefronts_text(self.transactions, self.least),
            Space::Global | Space::Private => sectors_text(self.transactions, self.least),
        };
        format!("{}, {counts}", requests_text(verb, bytes, self.requests))
    }

    fn json(&self) -> Value {
        let mut object = json!({
            "buffer": self.buffer,
            "index": self.index,
            "memory": if self.space == Space::Shared { "shared" } else { "global" },
            "direction": self.direction.word(),
            "lane_bytes": self.bytes,
            "requests": self.requests,
            "data_dependent": self.is_data_dependent,
        });
        if self.space == Space::Shared {
            object["wavefronts"] = self.transactions.into();
            object["bank_conflicts"] = (self.transactions - self.least).into();
        } else {
            object["sectors"] = self.transactions.into();
            object["least_sectors"] = self.least.into();
        }
        object
    }
}

/// Value at which a symbol is executed.
fn typical(name: &str, symbols: &[Symbol]) -> i64 {
    let symbol = symbols.iter().find(|symbol| symbol.name == name);
    let value = symbol.map_or(1024, |symbol| {
        let most = symbol.max.min(1024).max(symbol.min);
        most.div_euclid(symbol.multiple.max(1)) * symbol.multiple.max(1)
    });
    i64::try_from(value).unwrap_or(1024).max(1)
}
