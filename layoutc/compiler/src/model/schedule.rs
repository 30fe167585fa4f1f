//! A graph as it is run: buffers, what is done once, and the calls in their order.

use crate::diagnostic::FileSpan;
use crate::dtype::Dtype;

/// A solved graph. Lists refer to each other by position.
#[derive(Debug, Clone)]
pub struct GraphSchedule {
    /// The graph's name.
    pub name: String,
    /// Its name in the manifest.
    pub place: FileSpan,
    /// What its plan costs, in bytes, and what no plan is cheaper than.
    pub cost: u64,
    /// The proven bound.
    pub lower_bound: u64,
    /// The memory of its tensors.
    pub buffers: Vec<GraphBuffer>,
    /// The operators, which the caller brings.
    pub operators: Vec<ScheduleOperator>,
    /// What it gives, in the order of the graph's outputs.
    pub outputs: Vec<BufferBinding>,
    /// What is done once, when constants are loaded.
    pub load: Vec<ScheduleCall>,
    /// What is done each time, in order.
    pub run: Vec<ScheduleCall>,
}

/// The memory of a tensor in one layout.
#[derive(Debug, Clone)]
pub struct GraphBuffer {
    /// Its name, unique in the graph: that of the tensor, with the layout behind it where the tensor is converted.
    pub name: String,
    /// The type of its elements.
    pub dtype: Dtype,
    /// The layout as it is written.
    pub layout: String,
    /// How much memory it takes, in bytes.
    pub bytes: u64,
    /// What becomes of it.
    pub use_of: BufferRole,
    /// What it is besides, without a byte being moved.
    pub held: Vec<BufferAlias>,
}

/// Another tensor, or the same in another layout, that a buffer is too.
#[derive(Debug, Clone)]
pub struct BufferAlias {
    /// Its name, unique in the graph.
    pub name: String,
    /// The layout as it is written.
    pub layout: String,
    /// Whether it is what the graph gives.
    pub is_output: bool,
}

/// A buffer as one tensor in one layout.
#[derive(Debug, Clone)]
pub struct BufferBinding {
    /// The name of the tensor in this layout, unique in the graph.
    pub name: String,
    /// The buffer: its position in [`GraphSchedule::buffers`].
    pub buffer: usize,
    /// The tensor in this layout: its position in [`crate::model::Manifest::tensors`]. What stays inside the graph and
    /// is not converted has no memory there, so that it has index functions alone.
    pub tensor: usize,
}

/// What becomes of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferRole {
    /// The caller fills it each time.
    Input,
    /// The caller fills it once.
    Constant,
    /// It is written once, when constants are loaded.
    Loaded,
    /// It is written and read.
    Intermediate,
    /// It is what the graph gives.
    Output,
}

/// An operator: its buffers in the order of its operands and results.
#[derive(Debug, Clone)]
pub struct ScheduleOperator {
    /// The node's name.
    pub name: String,
    /// What it is and what it was chosen to be: `conv, alternative 0: NHWC OHWI -> NHWC`.
    pub doc: String,
    /// What it reads.
    pub reads: Vec<BufferBinding>,
    /// What it writes.
    pub writes: Vec<BufferBinding>,
}

/// One call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleCall {
    /// A conversion: its position in [`crate::model::Manifest::converts`], and its buffers.
    Convert {
        /// Which.
        convert: usize,
        /// What it reads.
        from: usize,
        /// What it writes.
        to: usize,
    },
    /// An operator.
    Operator(usize),
}
