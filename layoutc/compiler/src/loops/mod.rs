//! Decisions about loops: iteration domains, accesses, footprints, costs, schedules and the heuristics that choose
//! them.
//!
//! Input is the checked model. Output are the values [`scheduled_kernel::StatementPlan`],
//! [`relayout::plan::RelayoutPlan`] and [`gpu_relayout::schedule::GpuRelayoutSchedule`], which [`crate::lower`] turns
//! into IR. This module makes no statements of the IR.

pub(crate) mod access;
pub(crate) mod arith;
pub(crate) mod bounds;
pub(crate) mod buffers;
pub(crate) mod cost;
pub(crate) mod digit_order;
pub(crate) mod domain;
pub(crate) mod error;
pub(crate) mod footprint;
pub(crate) mod gpu_relayout;
pub(crate) mod heuristics;
pub(crate) mod image;
pub(crate) mod order;
pub(crate) mod range;
pub(crate) mod reads;
pub(crate) mod relayout;
pub(crate) mod schedule_node;
pub(crate) mod scheduled_kernel;
pub(crate) mod scheduled_statement;
pub(crate) mod staged_tile;
pub(crate) mod thread_mapping;

use layoutc_algebra::symbol::Symbol;

use self::error::PlanError;
use crate::machine::Registers;
use crate::model::Tensor;
use crate::model::compute::Statement;

/// Processor that executes the iterations of the outer loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExecutionModel {
    /// CPU threads; the inner loops are vectorized with these registers.
    Cpu(Registers),
    /// GPU threads: one for each iteration of all outer loops, or thread blocks that each execute whole iterations.
    Gpu,
}

/// True if an axis of the elements that a statement writes has a constant extent of at most 0. On GPUs the statement
/// keeps its kernel, with an empty launch, for its name and parameters.
pub(crate) fn writes_nothing(statement: &Statement) -> bool {
    let written = statement.axes.iter().take(statement.written_axes);
    written.filter_map(|axis| axis.extent.as_const()).any(|extent| extent <= 0)
}

/// Copy of `tensor` whose layout is over `symbols`: `Var::Symbol(k)` is `symbols[k]`. Symbols are matched by name.
///
/// # Errors
/// [`PlanError::Expr`] if `symbols` lacks a symbol of the layout, or allows it further values.
pub(crate) fn renumbered(tensor: &Tensor, symbols: &[Symbol]) -> Result<Tensor, PlanError> {
    Ok(tensor.with_layout(tensor.layout.clone().over_symbols(symbols)?))
}
