//! What templates see of a solved graph.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A graph as it is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleUnit {
    /// The graph's name in the manifest.
    pub name: String,
    /// Its name in the code: prefix and name.
    pub ident: String,
    /// The same in upper case, for macros.
    pub upper: String,
    /// What its plan costs, in bytes.
    pub cost: u64,
    /// No plan is cheaper than this.
    pub lower_bound: u64,
    /// The memory of its tensors.
    pub buffers: Vec<BufferUnit>,
    /// The operators, which the caller brings.
    pub operators: Vec<OperatorUnit>,
    /// What is done once, when constants are loaded.
    pub load: Vec<CallUnit>,
    /// What is done each time, in order.
    pub run: Vec<CallUnit>,
}

/// The memory of a tensor in one layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BufferUnit {
    /// Its name, unique in the graph.
    pub name: String,
    /// The type of what it holds.
    pub element: String,
    /// The layout as the manifest writes it.
    pub layout: String,
    /// How much memory it takes.
    pub bytes: u64,
    /// The macro for that.
    pub bytes_name: String,
    /// What becomes of it: `input`, `constant`, `loaded`, `between` or `output`.
    pub role: String,
    /// What it is besides, without a byte being moved.
    pub held: Vec<HeldUnit>,
}

/// Another tensor, or the same in another layout, that a buffer is too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldUnit {
    /// Its name, unique in the graph.
    pub name: String,
    /// The layout as the manifest writes it.
    pub layout: String,
    /// Whether the graph gives it.
    pub is_output: bool,
}

/// An operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperatorUnit {
    /// The node's name.
    pub name: String,
    /// What it is, and the layouts of what it reads and writes.
    pub doc: String,
    /// What it is handed: names that differ, and positions in the buffers; first what it reads.
    pub params: Vec<ParamUnit>,
}

/// A buffer that an operator is handed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParamUnit {
    /// The parameter's name.
    pub name: String,
    /// The buffer's position.
    pub buffer: usize,
    /// Whether the operator writes it.
    pub written: bool,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallUnit {
    /// The function of a conversion, or the name of an operator.
    pub name: String,
    /// Whether it is an operator.
    pub is_operator: bool,
    /// The buffers that are handed over, in order.
    pub buffers: Vec<usize>,
}
