//! Schedule of a solved graph: buffers, load-time calls, and the calls of a run in order.

use crate::base::diagnostic::FileSpan;
use crate::base::dtype::Dtype;

/// Solved graph. Lists refer to each other by position.
#[derive(Debug, Clone)]
pub struct GraphSchedule {
    /// Name of the graph.
    pub name: String,
    /// Span of the name.
    pub place: FileSpan,
    /// Cost of its layout plan, in bytes.
    pub cost: u64,
    /// Proven lower bound on the cost of any plan, in bytes.
    pub lower_bound: u64,
    /// Buffers of its tensors.
    pub buffers: Vec<GraphBuffer>,
    /// Operators, implemented by the caller.
    pub operators: Vec<ScheduleOperator>,
    /// Outputs, in the order of the graph.
    pub outputs: Vec<BufferBinding>,
    /// Calls made once, when constants are loaded.
    pub load: Vec<ScheduleCall>,
    /// Calls of each run, in order.
    pub run: Vec<ScheduleCall>,
}

/// Memory of a tensor in one layout.
#[derive(Debug, Clone)]
pub struct GraphBuffer {
    /// Name, unique in the graph: that of the tensor, with the layout as suffix if the tensor is converted.
    pub name: String,
    /// Element type.
    pub dtype: Dtype,
    /// Text of the layout.
    pub layout: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Role.
    pub use_of: BufferRole,
    /// Other tensors in the same memory.
    pub aliases: Vec<BufferAlias>,
}

/// Another tensor, or another layout of the same tensor, that shares a buffer's memory without a copy.
#[derive(Debug, Clone)]
pub struct BufferAlias {
    /// Name, unique in the graph.
    pub name: String,
    /// Text of the layout.
    pub layout: String,
    /// True if it is an output of the graph.
    pub is_output: bool,
}

/// Buffer viewed as one tensor in one layout.
#[derive(Debug, Clone)]
pub struct BufferBinding {
    /// Name of the tensor in this layout, unique in the graph.
    pub name: String,
    /// Position in [`GraphSchedule::buffers`].
    pub buffer: usize,
    /// Tensor in this layout: its position in [`crate::model::Manifest::tensors`]. A tensor that is internal to the
    /// graph and not converted has `memory none` there, that is, only index functions.
    pub tensor: usize,
}

/// Role of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferRole {
    /// Filled by the caller on each run.
    Input,
    /// Filled by the caller once.
    Constant,
    /// Written once, when constants are loaded.
    Loaded,
    /// Written and read within a run.
    Intermediate,
    /// Output of the graph.
    Output,
}

/// Operator with its buffers, in the order of its operands and results.
#[derive(Debug, Clone)]
pub struct ScheduleOperator {
    /// Name of the node.
    pub name: String,
    /// Description with the chosen alternative: `conv, alternative 0: NHWC OHWI -> NHWC`.
    pub doc: String,
    /// Operands.
    pub reads: Vec<BufferBinding>,
    /// Results.
    pub writes: Vec<BufferBinding>,
}

/// Call of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleCall {
    /// Conversion: its position in [`crate::model::Manifest::converts`], and its buffers.
    Convert {
        /// Position of the conversion.
        convert: usize,
        /// Source buffer.
        from: usize,
        /// Destination buffer.
        to: usize,
    },
    /// Operator: its position in [`GraphSchedule::operators`].
    Operator(usize),
}
