//! Template model of a graph's schedule; a part of the [model](super::model).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Schedule of a graph: buffers, operators and calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleUnit {
    /// Name of the graph in the manifest.
    pub name: String,
    /// Identifier in the generated code: prefix and name.
    pub ident: String,
    /// Identifier in upper case, for macros.
    pub upper: String,
    /// Cost of the operators and conversions of the schedule, in bytes.
    pub cost: u64,
    /// Lower bound on the cost of any schedule, in bytes.
    pub lower_bound: u64,
    /// Buffers of the graph's tensors.
    pub buffers: Vec<BufferUnit>,
    /// Operators, which the caller implements.
    pub operators: Vec<OperatorUnit>,
    /// Calls that are made once, when constants are loaded, in order.
    pub load: Vec<CallUnit>,
    /// Calls of each run, in order.
    pub run: Vec<CallUnit>,
}

/// Buffer of a tensor in one layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BufferUnit {
    /// Buffer name, unique in the graph.
    pub name: String,
    /// Type of the buffer's items.
    pub element: String,
    /// Layout in manifest notation.
    pub layout: String,
    /// Bytes of the buffer.
    pub bytes: u64,
    /// Macro for the bytes of the buffer.
    pub bytes_name: String,
    /// Role: `input` (filled by the caller before each run), `constant` (filled by the caller once), `loaded` (a
    /// converted constant, written when constants are loaded), `between` (an intermediate) or `output`.
    pub role: String,
    /// Aliases: other tensors or layouts with the same contents, for which no byte is copied.
    pub held: Vec<HeldUnit>,
}

/// Alias of a buffer: another tensor, or another layout of the same tensor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldUnit {
    /// Alias name, unique in the graph.
    pub name: String,
    /// Layout in manifest notation.
    pub layout: String,
    /// True if the alias is an output of the graph.
    pub is_output: bool,
}

/// Operator of the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperatorUnit {
    /// Name of the graph's node.
    pub name: String,
    /// Description of the operator with the layouts of its operands, for a comment.
    pub doc: String,
    /// Buffers that the operator reads, then those that it writes; parameter names are unique.
    pub params: Vec<ParamUnit>,
}

/// Parameter of an operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParamUnit {
    /// Parameter name.
    pub name: String,
    /// Position of the buffer in `buffers`.
    pub buffer: usize,
    /// True if the operator writes the buffer.
    pub written: bool,
}

/// Call of a conversion or an operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallUnit {
    /// Function of the conversion, or name of the operator.
    pub name: String,
    /// True if an operator is called.
    pub is_operator: bool,
    /// Positions of the arguments in `buffers` of the schedule, in order; for a conversion the source, then the
    /// destination.
    pub buffers: Vec<usize>,
}
