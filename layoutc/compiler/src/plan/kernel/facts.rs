//! What can be said of the loops of an instance, for people and tools.

use layoutc_algebra::expr::{Expr, Var};

use super::super::Naming;
use super::super::lower::PlanError;
use super::nest::Nest;
use super::planned::Planned;
use super::{Frame, Runs, avoiding, parts, scatter, symbol};
use crate::machine::Registers;
use crate::model::Manifest;
use crate::model::compute::KernelInstance;

/// A loop of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopFacts {
    /// That of a storage axis of what is written, or of a reduced axis, or of a part of one.
    pub name: String,
    /// How many rounds it has, over the symbols of the instance.
    pub extent: Expr,
    /// Whether its rounds are put together in one element.
    pub is_reduced: bool,
    /// Whether it goes over elements that are put together at once.
    pub is_at_once: bool,
    /// Whether cores share its rounds.
    pub is_parallel: bool,
    /// The blocks that are used in a round of it, each with its extents: `A_block`.
    pub blocks: Vec<(String, Vec<i128>)>,
}

/// The loops of each statement as a core with these registers does them, outermost first.
///
/// # Errors
/// As [`super::cpu_kernel`].
pub fn kernel_loops(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    registers: Registers,
) -> Result<Vec<Vec<LoopFacts>>, PlanError> {
    let (avoid, runs) = (avoiding(naming), Runs::OnCores(registers));
    let mut all = Vec::new();
    for statement in &compute.statements {
        if statement.scatter.is_some() {
            all.push(scatter::loops(statement));
            continue;
        }
        let frame = Frame::new(manifest, compute, naming, &avoid, runs)?;
        let scope = |var: Var| symbol(&frame.symbols, var);
        let mut namer = frame.namer.clone();
        let planned = Planned::new(compute, statement, &frame.buffers, runs)?;
        let parts = parts(compute, &planned.caches, &mut namer);
        let bounds = (frame.buffers.as_slice(), parts.as_slice());
        let nest = Nest::new(compute, statement, bounds, planned, &scope, namer, runs)?;
        let at_once: Vec<usize> = nest.order.at_once(&nest.domain).collect();
        let facts = |number: &usize| {
            let found = nest.domain.loops.get(*number)?;
            let parallel = &compute.schedule.parallel;
            let own = nest.staged.iter().filter(|staged| staged.at == *number);
            let blocks = own.map(|one| (one.part.name.clone(), one.block.extents.clone()));
            Some(LoopFacts {
                name: found.name.clone(),
                extent: found.extent.clone(),
                is_reduced: found.is_reduced
                    || nest.order.lanes.is_some_and(|lanes| lanes.number == *number),
                is_at_once: at_once.contains(number),
                is_parallel: nest.domain.is_among(*number, parallel),
                blocks: blocks.collect(),
            })
        };
        all.push(nest.order.loops.iter().filter_map(facts).collect());
    }
    Ok(all)
}
