//! Template model of kernels on the CPU: functions, and data for the test program and the benchmark; a part of the
//! [model](super::model).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{KernelsUnit, TestTensorUnit};
use super::shared::Shared;
use crate::emit::syntax::{Expr, Function};

/// Kernel on the tensors of one instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComputeUnit {
    /// Name of the instance in the manifest; the kernel's name if the kernel names its tensors itself.
    pub name: String,
    /// Name of the kernel.
    pub kernel: String,
    /// CPU function of the kernel; `null` on a target with GPU kernels.
    pub function: Option<Shared<Function>>,
    /// CPU function with the same parameters for processors with fewer and shorter vector registers. `null` if it would
    /// be equal to `function`, for a relayout, and on a target with GPU kernels.
    pub short: Option<Shared<Function>>,
    /// True if `function` is planned and compiled like that of a conversion, because it only copies one tensor to
    /// another. False on a target with GPU kernels.
    pub is_relayout: bool,
    /// Data for the test program; `null` on a target with GPU kernels.
    pub test: Option<Shared<ComputeTestUnit>>,
    /// Benchmark; `null` on a target with GPU kernels.
    pub bench: Option<Shared<ComputeBenchUnit>>,
    /// GPU kernels; `null` on a target without GPU kernels.
    pub moves: Option<KernelsUnit>,
}

impl ComputeUnit {
    /// CPU functions: `function` and `short`, as far as they exist.
    pub(super) fn on_cores(&self) -> impl Iterator<Item = &Shared<Function>> {
        self.function.iter().chain(&self.short)
    }
}

/// Data of one kernel for the template of the test program: reference implementation, test cases, operands, and buffers
/// of intermediates. The identifiers of symbols, operands and buffers differ from those that this template declares
/// itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComputeTestUnit {
    /// Reference implementation. Its parameters are the symbols, the operands, all buffers in `locals` and, if
    /// `samples` is true, the sampling interval. Print with `c_plain`.
    pub plain: Shared<Function>,
    /// True if the last parameter of the reference implementation is a sampling interval. Of the operands with
    /// `is_sampled`, only the elements are then computed whose row-major index is a multiple of the interval.
    pub samples: bool,
    /// Identifiers of the symbols in the test program, in the order of the kernel's parameters.
    pub symbols: Vec<String>,
    /// Test cases: one list of values per run, of the symbols and, if `samples` is true, of the sampling interval.
    pub cases: Vec<Vec<i64>>,
    /// Operands, in the order of the parameters.
    pub operands: Vec<OperandTestUnit>,
    /// Buffers for intermediates that the caller provides, in the order of the parameters.
    pub locals: Vec<LocalUnit>,
}

/// Tensor operand in the test of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is one question of a template")]
pub struct OperandTestUnit {
    /// Identifier of the operand in the test program.
    pub name: String,
    /// Position of the operand's tensor or view in the field `computed` of `Unit`.
    pub computed: usize,
    /// Identifiers in the test program of the symbols that the tensor's functions take.
    pub symbols: Vec<String>,
    /// True if the operand gets input values before the kernel runs.
    pub is_filled: bool,
    /// Position of the operand's first input value in the `numbers` of its `ComputedUnit`.
    pub first: usize,
    /// Number of consecutive input values that the operand gets.
    pub count: usize,
    /// True if the kernel writes the operand.
    pub is_written: bool,
    /// True if the kernel writes the fill value to the operand's padding; false if padding keeps its contents, or if
    /// there is none.
    pub pads: bool,
    /// True if the reference implementation computes only a sample of the operand's elements.
    pub is_sampled: bool,
    /// Absolute tolerance of an element, as a literal.
    pub absolute: String,
    /// Relative tolerance of an element, as a literal: a fraction of the value that the reference implementation
    /// computes.
    pub relative: String,
}

/// Arithmetic function on elements, which evaluates each operand once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArithmeticUnit {
    /// Function name.
    pub function: String,
    /// Operation: `abs`, `floor_div`, `floor_mod`, `lesser`, `greater`, `min`, `max`, `round`. If one of two floats is
    /// a NaN, `min` and `max` give the other one, `lesser` and `greater` the second operand. `round` converts an f64 to
    /// an f32.
    pub form: String,
    /// Type of the operands and of the result; the operand of `round` is an f64.
    pub element: String,
    /// True if `element` is a float type.
    pub is_float: bool,
    /// Unsigned type in which a signed integer is computed; `null` for other types.
    pub unsigned: Option<String>,
}

/// Buffer for an intermediate tensor, which the caller of a kernel provides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalUnit {
    /// Identifier in the test program.
    pub name: String,
    /// True if the kernel has a parameter for the buffer; false if only the reference implementation has one.
    pub of_kernel: bool,
    /// Type of the buffer's items.
    pub in_buffer: String,
    /// Bytes of the buffer, as an expression over the symbols of the test.
    pub bytes: Shared<Expr>,
}

/// Tensor or view that tests of kernels fill or compare.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComputedUnit {
    /// Name, types and test data of the tensor or view.
    pub tensor: TestTensorUnit,
    /// Input values for the elements, ascending, as literals.
    pub numbers: Vec<String>,
    /// True if a test fills the tensor with input values.
    pub is_filled: bool,
    /// True if a test compares the tensor with the reference implementation.
    pub is_written: bool,
}

/// Benchmark of a kernel at one size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComputeBenchUnit {
    /// Symbol values, in the order of the parameters.
    pub values: Vec<i64>,
    /// Number of elements that the statements write to operands, summed over the statements.
    pub elements: i64,
    /// Number of operations on elements: arithmetic, functions and the steps of reductions, but no comparisons and no
    /// logical operators.
    pub operations: i64,
    /// Bytes of the elements of all operands, without padding.
    pub bytes: i64,
    /// Buffers of the parameters after the symbols, in order.
    pub memory: Vec<ComputeMemoryUnit>,
}

/// Buffer of one parameter in a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComputeMemoryUnit {
    /// Type of the buffer's items.
    pub in_buffer: String,
    /// Bytes of the buffer.
    pub bytes: i64,
    /// Literal that each item of the buffer is set to: 1, or 0 for an index whose range the manifest states. An item of
    /// packed elements has this value in its low bits and once more in the bits of the next element.
    pub one: String,
}
