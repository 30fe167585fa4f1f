//! Schedule of a solved graph: buffers, the calls made once when constants are loaded, and the calls of each run
//! in order.

use crate::base::diagnostic::FileSpan;
use crate::base::dtype::Dtype;

/// Solved graph: buffers, operators and the order of their calls. Lists refer to each other by position.
#[derive(Debug, Clone)]
pub struct GraphSchedule {
    /// Name of the graph.
    pub name: String,
    /// Span of the graph's name in the manifest.
    pub place: FileSpan,
    /// Cost of the graph's layout plan, in bytes: that of the operators and of the conversions.
    pub cost: u64,
    /// Proven lower bound on the cost of every layout plan of the graph, in bytes.
    pub lower_bound: u64,
    /// Buffers of the graph's tensors, one for each pair of a tensor and a layout in which it is stored. Aliases share
    /// the buffer of another pair (see [`GraphBuffer::aliases`]).
    pub buffers: Vec<GraphBuffer>,
    /// Operators of the graph, which the caller implements.
    pub operators: Vec<ScheduleOperator>,
    /// Outputs of the graph with their buffers, in the order of the graph.
    pub outputs: Vec<BufferBinding>,
    /// Calls made once, when constants are loaded, in order.
    pub load: Vec<ScheduleCall>,
    /// Calls made in each run of the graph, in order.
    pub run: Vec<ScheduleCall>,
}

/// Buffer that stores a tensor in one layout.
#[derive(Debug, Clone)]
pub struct GraphBuffer {
    /// Name, unique in the graph: that of the tensor, or for a further layout to which the tensor is converted, with
    /// this layout as a suffix: `y_nchw16c`.
    pub name: String,
    /// Element type of the tensor in the buffer.
    pub dtype: Dtype,
    /// Text of the layout that the tensor has in the buffer.
    pub layout: String,
    /// Size of the buffer in bytes, including padding.
    pub bytes: u64,
    /// Use of the buffer in the graph: who fills it and when.
    pub use_of: BufferRole,
    /// Other tensors, and the same tensor in other layouts, that share the memory of the buffer without a copy, such as
    /// the result of a transposition.
    pub aliases: Vec<BufferAlias>,
}

/// Tensor in a layout that shares the memory of a buffer without a copy. It is another tensor, or the same tensor in
/// another layout.
#[derive(Debug, Clone)]
pub struct BufferAlias {
    /// Name of the aliased tensor in its layout, unique in the graph.
    pub name: String,
    /// Text of the aliased tensor's layout.
    pub layout: String,
    /// True if the aliased tensor is an output of the graph.
    pub is_output: bool,
}

/// Tensor in one layout, with the buffer that stores it.
#[derive(Debug, Clone)]
pub struct BufferBinding {
    /// Name of the tensor in this layout, unique in the graph.
    pub name: String,
    /// Position of the buffer in [`GraphSchedule::buffers`].
    pub buffer: usize,
    /// Position in [`crate::model::Manifest::tensors`] of a tensor with this layout, for which code is generated. It
    /// has `memory none` if generated code does not access its elements.
    pub tensor: usize,
}

/// Use of a buffer: who fills it and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferRole {
    /// Input of the graph, filled by the caller before each run.
    Input,
    /// Constant of the graph, filled by the caller once.
    Constant,
    /// Converted constant, written once, when constants are loaded.
    Loaded,
    /// Intermediate tensor, written and read within a run.
    Intermediate,
    /// Output of the graph, written in each run.
    Output,
}

/// Operator that the caller implements, with the buffers of its operands and results.
#[derive(Debug, Clone)]
pub struct ScheduleOperator {
    /// Name of the operator's node in the graph.
    pub name: String,
    /// Description of the operator and its chosen alternative: `conv, alternative 0: NHWC OHWI -> NHWC`.
    pub doc: String,
    /// Buffers of the operands, in the operator's order.
    pub reads: Vec<BufferBinding>,
    /// Buffers of the results, in the operator's order.
    pub writes: Vec<BufferBinding>,
}

/// Call in a graph's schedule: a layout conversion by layoutc, or an operator of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleCall {
    /// Layout conversion from one buffer to another.
    Convert {
        /// Position of the conversion in [`crate::model::Manifest::converts`].
        convert: usize,
        /// Position of the source in [`GraphSchedule::buffers`].
        from: usize,
        /// Position of the destination in [`GraphSchedule::buffers`].
        to: usize,
    },
    /// Operator of the caller: its position in [`GraphSchedule::operators`].
    Operator(usize),
}
