//! What templates see: one unit per manifest, versioned and documented (`schemas/template-model.json`).
//!
//! Expressions, statements and functions are trees (see [`crate::emit::syntax`]); the filters `c`, `c_plain`, `opencl`,
//! `cuda` and `python` print them, `prototype` and `parameters` print a function's head, `defines` a block of
//! constants, `define` a macro, `comment` makes foreign text fit for a comment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::block_model::{BlockCall, Blocks, TransposeUnit};
pub use super::cast_model::{
    CastFloat, CastSide, CastUnit, FloatBits, PackFromUnit, RunCast, RunTranspose,
};
pub use super::compute_model::{
    ArithmeticUnit, ComputeBenchUnit, ComputeMemoryUnit, ComputeTestUnit, ComputeUnit,
    ComputedUnit, LocalUnit, OperandTestUnit,
};
pub use super::kernel_model::{
    ImageUnit, KernelUnit, KernelsUnit, RangeUnit, TurnUnit, UnalignedUnit,
};
pub use super::reshard_model::{MeshAxisUnit, ReshardUnit, RingUnit, ShardingUnit};
pub use super::schedule_model::{
    BufferUnit, CallUnit, HeldUnit, OperatorUnit, ParamUnit, ScheduleUnit,
};
use super::whole::Whole;
use crate::emit::syntax::{Expr, Function, Stmt};

/// The version of the model. It changes when a field's meaning or a tree's form does.
pub const VERSION: u32 = 19;

/// What one manifest's files are made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unit {
    /// [`VERSION`].
    pub version: u32,
    /// The target: `c`, `opencl`, `cuda`, or one of the project's own.
    pub target: String,
    /// `layoutc` and its version.
    pub generator: String,
    /// The manifest's path as given; fit for a comment after `comment` only.
    pub manifest: String,
    /// The file names, without folders.
    pub files: Files,
    /// The include guard of the header.
    pub guard: String,
    /// The macro that keeps files of different builds apart.
    pub stamp_name: String,
    /// Its value.
    pub stamp: String,
    /// What is asked for.
    pub emit: Parts,
    /// How the language is written.
    pub language: Language,
    /// The headers of the standard library that the header needs, in order.
    pub header_includes: Vec<String>,
    /// The headers of the standard library that the source needs, in order.
    pub source_includes: Vec<String>,
    /// The helper functions that the host's header needs, as `helpers`; where hosts have one.
    pub host_helpers: Vec<String>,
    /// The helper functions of numbers of bytes, as `helpers`, where those have a type of their own.
    pub wide_helpers: Vec<String>,
    /// The helper functions that are used, in order: `floor_div`, `floor_mod`, `hilbert`, `hilbert_cell`, `max`, `min`.
    pub helpers: Vec<String>,
    /// The functions that pack, unpack and convert move blocks with.
    pub blocks: Blocks,
    /// The functions by which work items turn words of several elements.
    pub turns: Vec<TurnUnit>,
    /// The helper functions that the tests' definitions of offsets call.
    pub test_helpers: Vec<String>,
    /// The scalar types that have conversion helpers, in order: `f16`, `bf16`, `f8e4m3fn`, ….
    pub conversions: Vec<SmallFloat>,
    /// How the bits of floats are reached, where conversions need it and the language has nothing.
    pub float_bits: Vec<FloatBits>,
    /// The conversions of elements that moves name, each after those that it is made of.
    pub casts: Vec<CastUnit>,
    /// The functions by which kernels do arithmetic that has no operator.
    pub arithmetic: Vec<ArithmeticUnit>,
    /// The same for the definitions in the test program.
    pub test_arithmetic: Vec<ArithmeticUnit>,
    /// The structures behind vector and complex elements, each after those it is made of.
    pub structures: Vec<Structure>,
    /// The tensors, in the order of the manifest.
    pub tensors: Vec<TensorUnit>,
    /// The views, each after what it is a view of.
    pub views: Vec<ViewUnit>,
    /// The relayouts, in the order of the manifest.
    pub converts: Vec<ConvertUnit>,
    /// The conversions between devices, in the order of the manifest.
    pub reshards: Vec<ReshardUnit>,
    /// The kernels, each on the tensors of one instance, in the order of the manifest.
    pub computes: Vec<ComputeUnit>,
    /// The tensors that tests of kernels fill or look at.
    pub computed: Vec<ComputedUnit>,
    /// The graphs, solved.
    pub schedules: Vec<ScheduleUnit>,
}

/// The names of a manifest's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Files {
    /// The manifest's file name without extension.
    pub stem: String,
    /// The header.
    pub header: String,
    /// The source.
    pub source: String,
    /// The test program.
    pub test: String,
    /// The program that times.
    pub bench: String,
    /// The header of the conversions between devices.
    pub mpi_header: String,
    /// Their source.
    pub mpi_source: String,
    /// Their test program.
    pub mpi_test: String,
}

/// How the language is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Language {
    /// Its name: `c`, `opencl`, `cuda`.
    pub name: String,
    /// The edition: `c99`, `c11`, `c17`; `1.2`.
    pub standard: String,
    /// The type of indices, extents and offsets.
    pub index: String,
    /// The macro of `inttypes.h` that prints it; empty where there is none.
    pub index_format: String,
    /// Put before a function that is defined where it is declared.
    pub inline: String,
    /// Put before a pointer to elements.
    pub pointer: String,
    /// The unsigned type that numbers of work items are counted in; empty without kernels.
    pub work_size: String,
    /// Put before the helpers' names.
    pub helper: String,
    /// The type of numbers of bytes.
    pub wide_index: String,
    /// Put before the names of helpers of that type.
    pub wide_helper: String,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is one word of the configuration")]
pub struct Parts {
    /// Constants and counts.
    pub constants: bool,
    /// Index functions.
    pub index: bool,
    /// pack, unpack and convert.
    pub pack: bool,
    /// The test program.
    pub test: bool,
    /// The program that times pack, unpack and convert.
    pub bench: bool,
    /// Index functions as macros too.
    pub macros: bool,
    /// pack, unpack and convert on all cores.
    pub openmp: bool,
}

/// A float type of up to 16 bits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SmallFloat {
    /// Its name in manifests.
    pub name: String,
    /// The type that holds its bits.
    pub holder: String,
    /// Bits of the exponent.
    pub exponent_bits: u32,
    /// Bits of the mantissa.
    pub mantissa_bits: u32,
    /// What is added to the exponent.
    pub bias: u32,
    /// The position of the sign.
    pub sign_shift: u32,
    /// The greatest finite pattern, without sign, as a literal.
    pub greatest: String,
    /// What a value beyond it becomes, as a literal: infinity, NaN, or the greatest.
    pub overflow: String,
    /// The pattern of NaN, as a literal; for a type without NaN the greatest.
    pub nan: String,
    /// Whether the greatest exponent means infinity and NaN, as IEEE 754 has it.
    pub ieee: bool,
    /// Whether there is a NaN.
    pub has_nan: bool,
    /// Whether the pattern of minus zero is the NaN, and the only one.
    pub unsigned_zero: bool,
}

/// A structure behind vector or complex elements, or behind records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Structure {
    /// Its name.
    pub name: String,
    /// The macro that guards it: several headers may define it.
    pub guard: String,
    /// Its members.
    pub members: String,
    /// Declarations that a compiler takes only where the structure has its size and its members their places.
    pub asserts: Vec<String>,
}

/// A constant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Constant {
    /// The macro.
    pub name: String,
    /// Its value: an integer.
    pub value: Expr,
}

/// An index function as a macro.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MacroUnit {
    /// The macro: the function's name in upper case.
    pub name: String,
    /// The function.
    pub function: String,
    /// Its parameters: symbols first.
    pub params: Vec<String>,
    /// What it gives: an expression without calls.
    pub value: Expr,
}

/// What is timed: a move at one size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BenchUnit {
    /// Values of the symbols.
    pub values: Vec<i64>,
    /// Bytes of the elements.
    pub bytes: Whole<Expr>,
    /// Bytes of the source's buffer; for pack the dense one.
    pub from_bytes: Whole<Expr>,
    /// Bytes of the destination's buffer; for pack the layout's.
    pub to_bytes: Whole<Expr>,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AxisUnit {
    /// Its name.
    pub name: String,
    /// Its extent.
    pub extent: Whole<Expr>,
    /// The names of its indices, where they have some: `x`, `y` and `z` of a record.
    pub labels: Vec<String>,
}

/// How packed sub-byte elements are reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Packed {
    /// The function that reads an element.
    pub load: String,
    /// The function that writes one.
    pub store: String,
    /// Bits of an element: 1 to 7.
    pub bits: u32,
    /// log2 of the fewest elements that fill whole bytes.
    pub shift: u32,
    /// One less than those elements.
    pub in_whole: u32,
    /// The bytes that they fill: 1 where no element lies in two bytes.
    pub bytes: u32,
    /// The bits of one element, as a literal.
    pub mask: String,
    /// Its sign bit, as a literal; `null` where the type has no sign.
    pub sign: Option<String>,
    /// Whether the first element of a byte is in its high bits.
    pub high_first: bool,
}

/// A memory that the project names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpaceUnit {
    /// Its name.
    pub name: String,
    /// How many bytes it has, where that is said.
    pub bytes: Option<i64>,
}

/// A tensor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TensorUnit {
    /// Its name in the manifest.
    pub name: String,
    /// Its name in the code: prefix and name.
    pub ident: String,
    /// The same in upper case, for macros.
    pub upper: String,
    /// Its element type as the manifest calls it.
    pub dtype: String,
    /// The type of an element.
    pub element: String,
    /// The type of what a buffer holds; differs for packed elements, which are bytes there.
    pub in_buffer: String,
    /// What pack takes and unpack gives; `null` where that is the tensor's own element type.
    pub pack_from: Option<PackFromUnit>,
    /// How elements that share bytes are reached.
    pub packed: Option<Packed>,
    /// The logical axes, outermost first.
    pub axes: Vec<AxisUnit>,
    /// The storage axes, outermost first.
    pub storage_axes: Whole<Vec<AxisUnit>>,
    /// The extents of the physical axes, outermost first.
    pub physical: Vec<Whole<Expr>>,
    /// The map from the logical axes, in the manifest's syntax, separators included.
    pub map: String,
    /// The memory space that the project names for it; `null` for any other memory.
    pub memory_space: Option<SpaceUnit>,
    /// What each device holds, where the tensor is cut over a mesh; all else is of a part then.
    pub sharding: Option<ShardingUnit>,
    /// What memory holds of it, where that is not the whole at once.
    pub ring: Option<RingUnit>,
    /// The steps of the layout as written, one line each; fit for a comment after `comment` only.
    pub steps: Vec<String>,
    /// Constants, in order.
    pub constants: Whole<Vec<Constant>>,
    /// Functions in place of constants that depend on symbols, in order.
    pub counts: Vec<Whole<Function>>,
    /// The macro that guards them in headers for the host.
    pub counts_guard: String,
    /// Whether the symbols have promised values.
    pub symbols_ok: Option<Whole<Function>>,
    /// The element's offset.
    pub offset: Whole<Function>,
    /// The element's physical indices, where the physical rank is over 1.
    pub indices: Vec<Whole<Function>>,
    /// The offset and the physical indices as macros, where they are asked for.
    pub macros: Vec<Whole<MacroUnit>>,
    /// The slot's element.
    pub logical: Whole<Function>,
    /// The conditions on its elements, as the manifest writes them; `null` where every index is an element.
    pub domain: Option<String>,
    /// Whether an index of the shape is an element; `null` where every index is one.
    pub in_domain: Option<Whole<Function>>,
    /// Into the layout; `null` where the tensor has no memory.
    pub pack: Option<Whole<Function>>,
    /// Back.
    pub unpack: Option<Whole<Function>>,
    /// The image that the tensor lives in, on a target with kernels.
    pub image: Option<ImageUnit>,
    /// Into the layout and back, on a target with kernels.
    pub moves: Vec<KernelsUnit>,
    /// What the test program needs.
    pub test: Whole<TestUnit>,
    /// At which size pack is timed; unpack is with both buffers swapped.
    pub bench: Whole<BenchUnit>,
}

/// What a test of one tensor needs. Names differ from those that the template uses itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestUnit {
    /// The offset by definition; print with `c_plain`.
    pub plain: Whole<Function>,
    /// The symbols.
    pub symbols: Vec<String>,
    /// Values of the symbols to run with, in the order of `symbols`.
    pub cases: Vec<Vec<i64>>,
    /// The logical axes.
    pub axes: Vec<AxisUnit>,
    /// The physical axes.
    pub physical: Vec<AxisUnit>,
    /// The offset of an element in the dense logical buffer, over `axes`.
    pub dense: Whole<Expr>,
    /// The offset of a slot, over `physical`.
    pub slot: Whole<Expr>,
    /// Elements of the tensor: those of its domain.
    pub elements: Whole<Expr>,
    /// Elements of the dense logical buffer.
    pub dense_elements: Whole<Expr>,
    /// The constant `fill` that stands for elements which a source has not; `null` where they are left as they are.
    pub outside: Option<Whole<Stmt>>,
    /// Slots of the buffer.
    pub slots: Whole<Expr>,
    /// Bytes of the dense logical buffer.
    pub logical_bytes: Whole<Expr>,
    /// Bytes of the buffer.
    pub physical_bytes: Whole<Expr>,
    /// The constant `fill`, where padding gets one.
    pub fill: Option<Whole<Stmt>>,
    /// How often the inverse is asked for where that is a search; none where it is an expression.
    pub searches: Option<i64>,
}

/// A view: the memory of a tensor under other axes or in other elements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is one question of a template")]
pub struct ViewUnit {
    /// Its name in the manifest.
    pub name: String,
    /// Its name in the code: prefix and name.
    pub ident: String,
    /// The same in upper case, for macros.
    pub upper: String,
    /// The name of the tensor or view that it is a view of.
    pub of: String,
    /// Position in the tensors of the one whose memory it is.
    pub buffer: usize,
    /// Whether it takes elements as they are, by a map.
    pub window: bool,
    /// Whether no two of its elements share a slot.
    pub writable: bool,
    /// Its element type as the manifest calls it.
    pub dtype: String,
    /// The type of an element.
    pub element: String,
    /// The type of one of an element's lanes.
    pub lane: String,
    /// Lanes of an element; 1 for a scalar.
    pub lanes: u32,
    /// Whether the element type is one of the language's own.
    pub own_type: bool,
    /// The type of what the buffer holds: of the tensor's elements, or bytes where those are packed.
    pub in_buffer: String,
    /// Whether an element is another than the buffer's.
    pub recast: bool,
    /// Bytes of an element; 0 where elements share bytes.
    pub element_bytes: u32,
    /// How elements that share bytes are reached.
    pub packed: Option<Packed>,
    /// The axes, outermost first.
    pub axes: Vec<AxisUnit>,
    /// The extents of the physical axes, outermost first, in elements of the view.
    pub physical: Vec<Whole<Expr>>,
    /// The map of a window into the axes of what it sees, of any other view that to its storage axes; in the manifest's
    /// syntax.
    pub map: String,
    /// Constants, in order.
    pub constants: Whole<Vec<Constant>>,
    /// Functions in place of constants that depend on symbols, in order.
    pub counts: Vec<Whole<Function>>,
    /// The macro that guards them in headers for the host.
    pub counts_guard: String,
    /// Whether the symbols have promised values.
    pub symbols_ok: Option<Whole<Function>>,
    /// The element's offset in the buffer, in elements of the view.
    pub offset: Whole<Function>,
    /// The element's physical indices, where the physical rank is over 1.
    pub indices: Vec<Whole<Function>>,
    /// The function that reads an element at an offset; `null` where there is no memory.
    pub load: Option<String>,
    /// The function that writes one; `null` where that is not allowed.
    pub store: Option<String>,
    /// The image that the elements are read from and written to, on a target with kernels.
    pub image: Option<ImageUnit>,
    /// From a dense array into a window; `null` where that is not allowed.
    pub pack: Option<Whole<Function>>,
    /// From a window into a dense array.
    pub unpack: Option<Whole<Function>>,
    /// What the test program needs.
    pub test: Whole<ViewTestUnit>,
}

/// What a test of one view needs. Names differ from those that the template uses itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ViewTestUnit {
    /// The offset by definition; print with `c_plain`.
    pub plain: Whole<Function>,
    /// By definition, the offset of each element that one of the view joins; print with `c_plain`.
    pub plain_lane: Option<Whole<Function>>,
    /// How many it joins.
    pub joined: i64,
    /// The symbols.
    pub symbols: Vec<String>,
    /// Values of the symbols to run with, in the order of `symbols`.
    pub cases: Vec<Vec<i64>>,
    /// The axes.
    pub axes: Vec<AxisUnit>,
    /// The offset of an element in a dense array of the view's shape, over `axes`.
    pub dense: Whole<Expr>,
    /// Elements of the view.
    pub elements: Whole<Expr>,
    /// Slots of the buffer, in elements of the view.
    pub slots: Whole<Expr>,
    /// Bytes of a dense array of the view's shape.
    pub dense_bytes: Whole<Expr>,
    /// Bytes of the buffer.
    pub bytes: Whole<Expr>,
}

/// A relayout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConvertUnit {
    /// The function.
    pub function: Whole<Function>,
    /// The same by kernels, on a target with kernels.
    pub moves: Option<KernelsUnit>,
    /// Position of the source in the tensors.
    pub from: usize,
    /// Position of the destination in the tensors.
    pub to: usize,
    /// For each axis of the source, the position in the destination.
    pub axes: Vec<usize>,
    /// The function that an element goes through; `null` where it is moved as it is.
    pub cast: Option<String>,
    /// The source's test values, its axes named as the destination's.
    pub from_test: Whole<TestUnit>,
    /// The destination's test values.
    pub to_test: Whole<TestUnit>,
    /// The symbols of both.
    pub symbols: Vec<String>,
    /// Values of them to run with.
    pub cases: Vec<Vec<i64>>,
    /// At which size it is timed.
    pub bench: Whole<BenchUnit>,
}
