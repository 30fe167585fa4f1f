//! What templates see of kernels on cores: the functions, and what the programs that test and time them need; a part of the
//! [model](super::model).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::KernelsUnit;
use super::whole::Whole;
use crate::emit::syntax::{Expr, Function};

/// A kernel on the tensors of one instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComputeUnit {
    /// The instance's name in the manifest, or the kernel's where it names tensors itself.
    pub name: String,
    /// The kernel's name.
    pub kernel: String,
    /// What is computed; `null` on a target with kernels.
    pub function: Option<Whole<Function>>,
    /// The same for fewer and shorter vector registers, of the same parameters; `null` where it is not another one.
    pub short: Option<Whole<Function>>,
    /// True if the function copies one tensor to another, and is compiled for several vector lengths as the functions
    /// of conversions are.
    pub is_relayout: bool,
    /// What the test program needs; `null` on a target with kernels.
    pub test: Option<Whole<ComputeTestUnit>>,
    /// At which size it is timed; `null` on a target with kernels.
    pub bench: Option<Whole<ComputeBenchUnit>>,
    /// The same by kernels, on a target with kernels.
    pub moves: Option<KernelsUnit>,
}

impl ComputeUnit {
    /// What a core does, for each number of registers.
    pub(super) fn on_cores(&self) -> impl Iterator<Item = &Whole<Function>> {
        self.function.iter().chain(&self.short)
    }

    /// The function if it is a relayout.
    pub(super) fn relayout(&self) -> Option<&Whole<Function>> {
        self.function.as_ref().filter(|_| self.is_relayout)
    }
}

/// What a test of one kernel needs. Names differ from those that the template uses itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComputeTestUnit {
    /// The kernel by definition, of the same parameters; print with `c_plain`.
    pub plain: Whole<Function>,
    /// Whether that takes one more parameter, the last: it leaves out elements whose number is no multiple of it.
    pub samples: bool,
    /// The symbols.
    pub symbols: Vec<String>,
    /// Values to run with: of the symbols, and where the definition samples of its last parameter.
    pub cases: Vec<Vec<i64>>,
    /// The tensors, in the order of the parameters.
    pub operands: Vec<OperandTestUnit>,
    /// The memory for intermediates that the caller gives, in the order of the parameters.
    pub locals: Vec<LocalUnit>,
}

/// A tensor in a test of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is one question of a template")]
pub struct OperandTestUnit {
    /// Its name there.
    pub name: String,
    /// Its position in the tensors.
    pub tensor: usize,
    /// The symbols that its functions take.
    pub symbols: Vec<String>,
    /// Whether it gets numbers before the kernel runs.
    pub is_filled: bool,
    /// The first of the tensor's numbers that it gets.
    pub first: usize,
    /// How many of them it gets.
    pub count: usize,
    /// Whether the kernel writes it.
    pub is_written: bool,
    /// Whether the kernel writes the fill value to its padding, which else keeps what it held.
    pub pads: bool,
    /// Whether the definition leaves out elements of it.
    pub is_sampled: bool,
    /// How far an element may lie from what it is by definition, whatever that is; a literal.
    pub absolute: String,
    /// The same as a part of it.
    pub relative: String,
}

/// A function of arithmetic on elements, which evaluates each operand once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArithmeticUnit {
    /// Its name.
    pub function: String,
    /// What it computes: `abs`, `floor_div`, `floor_mod`, `lesser`, `greater`, `min`, `max`, `round`.
    pub form: String,
    /// The type of the operands, and of what it gives; `round` takes an f64.
    pub element: String,
    /// Whether that is a float.
    pub is_float: bool,
    /// The unsigned type that a signed integer is computed in; `null` for other types.
    pub unsigned: Option<String>,
}

/// Memory for an intermediate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalUnit {
    /// Its name in the programs.
    pub name: String,
    /// The type of what it holds.
    pub in_buffer: String,
    /// How many bytes it has, over the symbols of the test.
    pub bytes: Whole<Expr>,
}

/// A tensor that tests of kernels fill or look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComputedUnit {
    /// Its position in the tensors.
    pub tensor: usize,
    /// Numbers for its elements, ascending, as literals.
    pub numbers: Vec<String>,
    /// Whether it gets numbers.
    pub is_filled: bool,
    /// Whether it is compared with what it is by definition.
    pub is_written: bool,
}

/// What is timed: a kernel at one size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComputeBenchUnit {
    /// Values of the symbols, in the order of the parameters.
    pub values: Vec<i64>,
    /// Elements that are written to operands.
    pub elements: i64,
    /// Operations on elements: arithmetic, functions, and those that put values together.
    pub operations: i64,
    /// Bytes of the operands' elements, each counted once.
    pub bytes: i64,
    /// The memory of the parameters behind the symbols.
    pub memory: Vec<ComputeMemoryUnit>,
}

/// The memory that a parameter is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComputeMemoryUnit {
    /// The type of what it holds.
    pub in_buffer: String,
    /// How many bytes it has.
    pub bytes: i64,
    /// What each of them is set to: 1, or more of them in a byte.
    pub one: String,
}
