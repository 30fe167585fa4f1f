//! Lowering of schedules and index maps to functions of the IR.

pub(crate) mod context;
pub(crate) mod expr;
pub(crate) mod gpu_relayout;
pub(crate) mod index;
pub(crate) mod kernel;
pub(crate) mod launch;
pub(crate) mod names;
pub(crate) mod relayout;
pub(crate) mod reshard;
