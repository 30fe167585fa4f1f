//! Plans: functions of the IR from the checked model, in the order of the steps of compilation.
//!
//! A statement of a kernel becomes part of a function in these steps, each in a module of its own:
//!
//! | step | result | module |
//! | --- | --- | --- |
//! | iteration domain of a statement | loops and guards | `loops::domain` |
//! | schedule, partly from the manifest | order, register tile, cached tiles | `loops::scheduled_statement` |
//! | lowering | loop nest with guards | `lower` |
//! | passes | function without guards that always hold | [`passes`](crate::passes) |
//!
//! A relayout is the statement `B[x] = A[f(x)]`; its domain has the digits that both layouts have in common
//! (`loops::relayout`). All functions are pure functions of the checked model. `loop_facts`, `schedules` and
//! `slow_schedules` report on schedules.

mod gpu_relayout;
mod kernel;
mod loop_facts;
mod relayout;
mod schedules;
mod slow_schedules;
mod tensor;
pub(crate) mod view;

pub use self::gpu_relayout::{GpuRelayout, gpu_convert, gpu_copy_kernel, gpu_relayouts};
pub use self::kernel::{cpu_kernel, gpu_kernels};
pub use self::loop_facts::{LoopFacts, kernel_loops};
pub use self::relayout::{RelayoutFunction, convert, convert_schedule, copy_kernel};
pub use self::schedules::statement_schedules;
pub(crate) use self::schedules::{gpu_statements, schedule_diagnostics};
pub use self::tensor::{TensorPlan, relayouts, tensor};
pub use crate::loops::error::PlanError;
pub(crate) use crate::loops::footprint::tile_extents;
pub use crate::loops::heuristics::parallelize::Cores;
pub(crate) use crate::loops::schedule_node::complete_schedule;
