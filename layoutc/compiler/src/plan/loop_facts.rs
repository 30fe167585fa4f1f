//! Description of a kernel's planned loops, for reports and tools.

use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::symbol::Axis;

use crate::loops::ExecutionModel;
use crate::loops::buffers::KernelBuffer;
use crate::loops::error::PlanError;
use crate::loops::scheduled_kernel::StatementPlan;
use crate::lower::context::Naming;
use crate::lower::kernel::buffers::parts;
use crate::lower::kernel::nest::Nest;
use crate::lower::kernel::prologue::{KernelPrologue, avoiding, symbol};
use crate::machine::Registers;
use crate::model::Manifest;
use crate::model::compute::{KernelInstance, Statement};

/// Loop of a statement, as planned for a CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopFacts {
    /// Name of a storage or logical axis of the written tensor or of a reduced axis. A split adds `_outer` or `_inner`;
    /// a fused loop has the name that the fusion gives it. Underscores follow a name that another loop has.
    pub name: String,
    /// Trip count, over the symbols of the kernel instance.
    pub extent: Expr,
    /// True for a loop over a reduced axis, or over a part of it, also with partial sums. False for a loop over chunks
    /// of the reduction (split-K).
    pub is_reduced: bool,
    /// True if the loop belongs to the register tile.
    pub is_at_once: bool,
    /// True if the schedule requests that the iterations run in parallel on CPU threads. Of nested loops with this
    /// request, only the outermost one runs in parallel.
    pub is_parallel: bool,
    /// Cache tiles that are copied once per iteration, as pairs (name of the staging buffer, such as `A_block`, and
    /// extents of the tile along the axes of its tensor).
    pub blocks: Vec<(String, Vec<i128>)>,
}

/// Loops of each statement of a kernel instance on a CPU with the vector registers `registers`, outermost first. A
/// statement that writes no elements has none.
///
/// # Errors
/// As [`crate::plan::cpu_kernel`].
pub fn kernel_loops(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    registers: Registers,
) -> Result<Vec<Vec<LoopFacts>>, PlanError> {
    let (avoid, processor) = (avoiding(naming), ExecutionModel::Cpu(registers));
    let mut all = Vec::new();
    for statement in &compute.statements {
        let buffers = KernelBuffer::all(manifest, compute, processor)?;
        let planned = match StatementPlan::new(compute, statement, &buffers, processor)? {
            StatementPlan::Empty => {
                all.push(Vec::new());
                continue;
            }
            StatementPlan::Scatter => {
                all.push(scatter_loops(statement));
                continue;
            }
            StatementPlan::Loops { schedule, .. } => *schedule,
        };
        let prologue = KernelPrologue::new(manifest, compute, buffers, naming, &avoid, processor)?;
        let scope = |var: Var| symbol(&prologue.symbols, var);
        let mut namer = prologue.namer.clone();
        let parts = parts(compute, &planned.caches, &mut namer);
        let bounds = (prologue.buffers.as_slice(), parts.as_slice());
        let nest = Nest::new(compute, statement, bounds, planned, &scope, namer, processor)?;
        let at_once: Vec<usize> = nest.order.register_tile(&nest.domain).collect();
        let facts = |number: &usize| {
            let found = nest.domain.loops.get(*number)?;
            let own = nest.staged.iter().filter(|staged| staged.tile.at == *number);
            let blocks = own.map(|one| (one.part.name.clone(), one.tile.block.extents.clone()));
            Some(LoopFacts {
                name: found.name.clone(),
                extent: found.extent.clone(),
                is_reduced: found.is_reduced
                    || nest.order.partial_sums.is_some_and(|lanes| lanes.number == *number),
                is_at_once: at_once.contains(number),
                is_parallel: nest.domain.is_split_from(*number, &nest.parallel),
                blocks: blocks.collect(),
            })
        };
        all.push(nest.order.loops.iter().filter_map(facts).collect());
    }
    Ok(all)
}

/// Loops of a scatter statement on a CPU, one for each axis of the statement, in their order.
fn scatter_loops(statement: &Statement) -> Vec<LoopFacts> {
    let fact = |(k, axis): (usize, &Axis)| LoopFacts {
        name: axis.name.clone(),
        extent: axis.extent.clone(),
        is_reduced: k >= statement.written_axes,
        is_at_once: false,
        is_parallel: false,
        blocks: Vec::new(),
    };
    statement.axes.iter().enumerate().map(fact).collect()
}
