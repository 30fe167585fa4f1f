//! Template model: the data that templates receive, one [`Unit`] per manifest, versioned and documented in
//! `schemas/template-model.json`.
//!
//! Expressions, statements and functions are syntax trees (see [`crate::emit::syntax`]). The filters `code`, `c`,
//! `c_plain`, `opencl`, `cuda`, `hip`, `rust` and `python` print trees; `code` prints the language of the model.
//! `prototype` and `parameters` print the head of a function, `defines` a block of constants, and `define` a macro.
//! `comment` escapes foreign text for a comment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::cast_model::{CastFloat, CastSide, CastUnit, FloatBits, PackFromUnit};
pub use super::compute_model::{
    ArithmeticUnit, ComputeBenchUnit, ComputeMemoryUnit, ComputeTestUnit, ComputeUnit,
    ComputedUnit, LocalUnit, OperandTestUnit,
};
pub use super::kernel_model::{
    BufferAlignment, ImageUnit, KernelUnit, KernelsUnit, RangeUnit, RegisterTransposeUnit,
    UnalignedUnit,
};
pub use super::reshard_model::{MeshAxisUnit, ReshardUnit, RingUnit, ShardingUnit};
pub use super::schedule_model::{
    BufferUnit, CallUnit, HeldUnit, OperatorUnit, ParamUnit, ScheduleUnit,
};
use super::shared::Shared;
use crate::emit::syntax::{Expr, Function, Stmt};

/// Version of the model. Increases when the meaning of a field or the form of a tree changes.
pub const VERSION: u32 = 23;

/// Template model of one manifest on one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unit {
    /// Model version: [`VERSION`].
    pub version: u32,
    /// Target name: `c`, `opencl`, `cuda`, `hip`, `rust`, or a custom target of the project.
    pub target: String,
    /// Generator name and version: `layoutc 0.1.0`.
    pub generator: String,
    /// Path of the manifest as given. Needs the filter `comment` in a comment.
    pub manifest: String,
    /// File names, without folders.
    pub files: Files,
    /// Include guard of the header: a macro name.
    pub guard: String,
    /// Macro that holds the build stamp.
    pub stamp_name: String,
    /// Build stamp: an integer literal that keeps files of different builds from being combined.
    pub stamp: String,
    /// Parts of the code that are generated.
    pub emit: EmitOptions,
    /// Language of the generated code: name, version, types, specifiers, and prefixes of helper names.
    pub language: Language,
    /// System headers that the header includes, in order.
    pub header_includes: Vec<String>,
    /// Standard headers that the source includes, in order.
    pub source_includes: Vec<String>,
    /// Helpers that the size functions, conditions on symbols and launch ranges in the host's header call, named as in
    /// `helpers`.
    pub host_helpers: Vec<String>,
    /// Helpers that functions on byte counts call, named as in `helpers`; empty if byte counts have the index type.
    pub wide_helpers: Vec<String>,
    /// Helper functions on indices that generated code calls, in alphabetical order: some of `floor_div`, `floor_mod`,
    /// `hilbert`, `hilbert_cell`, `max`, `min`.
    pub helpers: Vec<String>,
    /// Sections of the C runtime that the source defines, in order. The template function `runtime_text` returns their
    /// text.
    pub runtime: Vec<String>,
    /// Path of the header of the project's shared runtime, relative to the folder of the target; `null` if the source
    /// does not include it.
    pub runtime_header: Option<String>,
    /// Value of the macro `LAYOUTC_RUNTIME_STAMP` in that header; `null` if the source does not include it.
    pub runtime_stamp: Option<String>,
    /// Functions by which a work item transposes words of several elements in registers.
    pub register_transposes: Vec<RegisterTransposeUnit>,
    /// Helpers that the reference implementations in the test program call, named as in `helpers`.
    pub test_helpers: Vec<String>,
    /// Float types of at most 16 bits that the tensors use, in descending order of `sign_shift`, then by name: `bf16`,
    /// `f16`, `f8e4m3fn`, ….
    pub conversions: Vec<SmallFloat>,
    /// Bit casts of floats to define: those that conversions and the helpers of small floats call and the language
    /// lacks.
    pub float_bits: Vec<FloatBits>,
    /// Element conversions that relayouts, kernels and tests call, each after the conversions that it calls.
    pub casts: Vec<CastUnit>,
    /// Arithmetic functions that kernels call where the language has no operator.
    pub arithmetic: Vec<ArithmeticUnit>,
    /// Arithmetic functions that the reference implementations in the test program call.
    pub test_arithmetic: Vec<ArithmeticUnit>,
    /// Structures of vector, complex and record elements, each after the structures that it contains.
    pub structures: Vec<Structure>,
    /// Tensors, in the order of the manifest.
    pub tensors: Vec<TensorUnit>,
    /// Views, each after the tensor or view that it is a view of.
    pub views: Vec<ViewUnit>,
    /// Relayouts, in the order of the manifest.
    pub converts: Vec<ConvertUnit>,
    /// Conversions between devices, in the order of the manifest.
    pub reshards: Vec<ReshardUnit>,
    /// Kernels, one per instance, in the order of the manifest.
    pub computes: Vec<ComputeUnit>,
    /// Tensors and views that the tests of kernels fill or compare, each once.
    pub computed: Vec<ComputedUnit>,
    /// Schedules of the graphs, in the order of the manifest.
    pub schedules: Vec<ScheduleUnit>,
}

/// Paths of the C files of one manifest, relative to the folder of the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Files {
    /// Name of the manifest without folder and extension: `a`.
    pub stem: String,
    /// Path of the C header: `layers/a.h`.
    pub header: String,
    /// Path of the C source: `layers/a.c`.
    pub source: String,
    /// Path of the C test program: `tests/layers/a_test.c`.
    pub test: String,
    /// Path of the C benchmark program: `bench/layers/a_bench.c`.
    pub bench: String,
    /// Path of the header of the conversions between devices: `mpi/layers/a_mpi.h`.
    pub mpi_header: String,
    /// Path of the source of the conversions between devices: `mpi/layers/a_mpi.c`.
    pub mpi_source: String,
    /// Path of the test program of the conversions between devices: `tests/layers/a_mpi_test.c`.
    pub mpi_test: String,
}

/// Language of the generated code: name, version, types, specifiers, and prefixes of helper names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Language {
    /// Language name: `c`, `opencl`, `cuda`, `hip`, `rust`.
    pub name: String,
    /// Language version: `c99`, `c11`, `c17` for C, `1.2` for OpenCL C, the architectures for CUDA and HIP.
    pub standard: String,
    /// Type of indices, extents and offsets: `int64_t`.
    pub index: String,
    /// `inttypes.h` macro that prints an index: `PRId64`; empty if the language has none.
    pub index_format: String,
    /// Specifiers before a function that is defined in a header, with a trailing blank.
    pub inline: String,
    /// Address space before a pointer to elements, with a trailing blank; empty in C and CUDA.
    pub pointer: String,
    /// Unsigned type of work item counts; empty on a target without GPU kernels.
    pub work_size: String,
    /// Prefix of helper names: `layoutc_`.
    pub helper: String,
    /// Type of byte counts.
    pub wide_index: String,
    /// Prefix of the names of helpers on byte counts.
    pub wide_helper: String,
    /// Name of the language in comments: `CUDA C++`.
    pub title: String,
    /// Suffix of the header's file name: `.cuh`.
    pub header_suffix: String,
    /// Prefix of the names in the GPU's runtime library: `cuda`, `hip`; empty on a target without launchers.
    pub runtime: String,
    /// Macro that the compiler of GPU code defines: `__CUDACC__`; empty on a target without launchers.
    pub compiler_macro: String,
}

/// Parts of the code. A field is true if the configuration requests the part, or another part that needs it. Targets
/// with GPU kernels have no test program and no benchmark, even if `test` or `bench` is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is one word of the configuration")]
pub struct EmitOptions {
    /// Constants and size functions.
    pub constants: bool,
    /// Index functions.
    pub index: bool,
    /// Functions pack, unpack and convert.
    pub pack: bool,
    /// Test program.
    pub test: bool,
    /// Benchmark program of pack, unpack, convert and kernels.
    pub bench: bool,
    /// Index functions as macros, in addition to functions.
    pub macros: bool,
    /// Parallel execution of pack, unpack, convert and kernels on all cores (OpenMP).
    pub openmp: bool,
}

/// Float type of at most 16 bits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SmallFloat {
    /// Type name in manifests: `f16`.
    pub name: String,
    /// Type of an element in the language: an unsigned integer with its bits, or a built-in float type, such as
    /// `__half` in CUDA.
    pub holder: String,
    /// Width of the exponent field in bits.
    pub exponent_bits: u32,
    /// Width of the mantissa field in bits.
    pub mantissa_bits: u32,
    /// Exponent bias: the value of the exponent field for 2^0.
    pub bias: u32,
    /// Bit position of the sign, counted from the lowest bit, 0; 8 for `f8e8m0fnu`, which has no sign.
    pub sign_shift: u32,
    /// Greatest finite bit pattern without sign, as a literal.
    pub greatest: String,
    /// Bit pattern of a value that overflows, as a literal: infinity, NaN, or the greatest finite pattern.
    pub overflow: String,
    /// Bit pattern of NaN, as a literal; the greatest finite pattern if the type has no NaN.
    pub nan: String,
    /// True if the greatest exponent field encodes infinity and NaN, as in IEEE 754.
    pub ieee: bool,
    /// True if the type has a NaN.
    pub has_nan: bool,
    /// True if the only NaN has the bit pattern of negative zero.
    pub unsigned_zero: bool,
}

/// Structure of a vector, complex or record element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Structure {
    /// Name of the structure.
    pub name: String,
    /// Macro that guards the definition, because several headers may define the structure.
    pub guard: String,
    /// Member declarations, as text of one or more lines.
    pub members: String,
    /// Static assertions on the size of a record's structure, and on the offsets of its members if the language has
    /// `offsetof`; empty for any other structure.
    pub asserts: Vec<String>,
}

/// Integer constant, defined as a macro.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Constant {
    /// Macro name.
    pub name: String,
    /// Value: an integer expression.
    pub value: Expr,
}

/// Index function as a macro.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MacroUnit {
    /// Macro name: the function name in upper case.
    pub name: String,
    /// Name of the function that the macro is equivalent to.
    pub function: String,
    /// Parameter names: symbols first.
    pub params: Vec<String>,
    /// Value: an expression without function calls.
    pub value: Expr,
}

/// Benchmark of a relayout at one size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BenchUnit {
    /// Symbol values, in the order of the function's parameters.
    pub values: Vec<i64>,
    /// Bytes of the elements that are moved, each counted once: the lesser of their sizes in the source and in the
    /// destination.
    pub bytes: Shared<Expr>,
    /// Bytes of the source buffer, which is the dense buffer for pack.
    pub from_bytes: Shared<Expr>,
    /// Bytes of the destination buffer, which is the tensor's buffer for pack.
    pub to_bytes: Shared<Expr>,
}

/// Axis with its extent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AxisUnit {
    /// Axis name.
    pub name: String,
    /// Extent in elements.
    pub extent: Shared<Expr>,
    /// Labels of the indices 0, 1, …, such as `x`, `y` and `z`, in the field `axes` of `TensorUnit`. Empty if the axis
    /// has no labels, and in all other fields.
    pub labels: Vec<String>,
}

/// Access to packed sub-byte elements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Packed {
    /// Name of the function that reads an element.
    pub load: String,
    /// Name of the function that writes an element.
    pub store: String,
    /// Bits of an element: 1 to 6.
    pub bits: u32,
    /// Base-2 logarithm of the number of elements in the least group that fills whole bytes: 1 for 4 bits, 3 for 3
    /// bits.
    pub shift: u32,
    /// Number of elements in the least group that fills whole bytes, minus 1; a mask for the index.
    pub in_whole: u32,
    /// Bytes of the least group of elements that fills whole bytes; 1 if no element spans two bytes.
    pub bytes: u32,
    /// Mask of the bits of one element, as a literal.
    pub mask: String,
    /// Sign bit of an element, as a literal; `null` if the type is not a signed integer.
    pub sign: Option<String>,
    /// True if the first element of a byte is in its high bits, false if in its low bits.
    pub high_first: bool,
}

/// Memory space that the project names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpaceUnit {
    /// Name of the memory space.
    pub name: String,
    /// Capacity in bytes; `null` if the project does not state it, or if it is 2^63 bytes or more.
    pub bytes: Option<i64>,
}

/// Tensor with its layout, constants and functions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TensorUnit {
    /// Tensor name in the manifest.
    pub name: String,
    /// Identifier in the generated code: prefix and name.
    pub ident: String,
    /// Identifier in upper case, for macros.
    pub upper: String,
    /// Element type in manifest notation.
    pub dtype: String,
    /// Element type in the language.
    pub element: String,
    /// Type of the buffer's items: `element`, or a byte type if elements are packed.
    pub in_buffer: String,
    /// Element type that pack reads and unpack writes; `null` if it is the tensor's own element type.
    pub pack_from: Option<PackFromUnit>,
    /// Access to elements that share bytes; `null` if elements are whole bytes.
    pub packed: Option<Packed>,
    /// Logical axes, outermost first.
    pub axes: Vec<AxisUnit>,
    /// Storage axes, outermost first.
    pub storage_axes: Shared<Vec<AxisUnit>>,
    /// Extents of the physical axes, outermost first.
    pub physical: Vec<Shared<Expr>>,
    /// Index map from the logical axes, in manifest notation, with axis separators.
    pub map: String,
    /// Memory space of the tensor, if the project names it; `null` for any other memory.
    pub memory_space: Option<SpaceUnit>,
    /// Sharding over a mesh; `null` if the tensor is not sharded. All other fields describe the shard of one device.
    pub sharding: Option<ShardingUnit>,
    /// Ring buffer that holds a part of the tensor; `null` if memory holds the whole tensor.
    pub ring: Option<RingUnit>,
    /// Texts of the layout's steps in order, in manifest notation without the names of new axes. A transform is
    /// replaced by its steps. In a comment, each text must be printed with the filter `comment`.
    pub steps: Vec<String>,
    /// Size constants in the order of their definition, then the constants of the axis labels.
    pub constants: Shared<Vec<Constant>>,
    /// Size functions for the values that depend on symbols, in order.
    pub counts: Vec<Shared<Function>>,
    /// Macro that guards the size functions in headers for the host.
    pub counts_guard: String,
    /// Function that is true if the symbols have values for which the layout is proven; `null` without symbols.
    pub symbols_ok: Option<Shared<Function>>,
    /// Function that gives the offset of an element in the buffer, in elements.
    pub offset: Shared<Function>,
    /// Physical indices of an element, one function per physical axis; empty if the physical rank is at most 1.
    pub indices: Vec<Shared<Function>>,
    /// Offset and physical indices as macros, except functions that need a loop; empty if macros are not requested.
    pub macros: Vec<Shared<MacroUnit>>,
    /// Function that gives the logical indices of the element at given physical indices: the inverse of the index map.
    pub logical: Shared<Function>,
    /// Domain: conditions on the indices of elements, in manifest notation; `null` if every index has an element.
    pub domain: Option<String>,
    /// Function that is true if an index within the shape is in the domain; `null` if every index is.
    pub in_domain: Option<Shared<Function>>,
    /// Relayout from the dense logical buffer to the tensor's layout; `null` if the tensor has no memory.
    pub pack: Option<Shared<Function>>,
    /// Relayout from the tensor's layout to the dense logical buffer; `null` if the tensor has no memory.
    pub unpack: Option<Shared<Function>>,
    /// Image that stores the tensor; `null` if the tensor is not in an image, or on a target without GPU kernels.
    pub image: Option<ImageUnit>,
    /// GPU kernels of pack and unpack; empty if kernels cannot access the memory, or on a target without GPU kernels.
    pub moves: Vec<KernelsUnit>,
    /// Data for the test program.
    pub test: Shared<TestUnit>,
    /// Benchmark of pack; unpack has the two buffers swapped.
    pub bench: Shared<BenchUnit>,
}

/// Data of one tensor or view for the template of the test program. The identifiers of symbols and axes differ from
/// those that this template declares itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestUnit {
    /// Function that gives the offset of an element as the manifest defines it (reference implementation). Print with
    /// `c_plain`.
    pub plain: Shared<Function>,
    /// Identifiers of the symbols in the test program, in the order of the functions' parameters.
    pub symbols: Vec<String>,
    /// Test cases: one list of symbol values per run, in the order of `symbols`.
    pub cases: Vec<Vec<i64>>,
    /// Logical axes, outermost first.
    pub axes: Vec<AxisUnit>,
    /// Physical axes, outermost first.
    pub physical: Vec<AxisUnit>,
    /// Offset of an element in the dense logical buffer, in elements, as an expression over `axes` and `symbols`.
    pub dense: Shared<Expr>,
    /// Offset of a slot in the buffer, in elements, as an expression over `physical` and `symbols`.
    pub slot: Shared<Expr>,
    /// Number of elements in the tensor's domain.
    pub elements: Shared<Expr>,
    /// Number of elements in the dense logical buffer.
    pub dense_elements: Shared<Expr>,
    /// Declaration of the constant `fill`, written by unpack at indices outside the domain, and by a relayout to
    /// elements that its source lacks; `null` if such elements are left unchanged.
    pub outside: Option<Shared<Stmt>>,
    /// Number of slots in the buffer.
    pub slots: Shared<Expr>,
    /// Bytes of the dense logical buffer.
    pub logical_bytes: Shared<Expr>,
    /// Bytes of the tensor's buffer.
    pub physical_bytes: Shared<Expr>,
    /// Declaration of the constant `fill`, which pack writes to padding; `null` if there is no padding, or if padding
    /// is left unchanged.
    pub fill: Option<Shared<Stmt>>,
    /// Number of inverse lookups that the test makes if the inverse is a search; `null` if it is an expression, or if
    /// the tensor has no element.
    pub searches: Option<i64>,
}

/// Tensor or view that the test program fills, compares or converts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestTensorUnit {
    /// Name in the manifest.
    pub name: String,
    /// Identifier in the generated code: prefix and name.
    pub ident: String,
    /// Element type, as in the manifest.
    pub dtype: String,
    /// Element type in the language.
    pub element: String,
    /// Type of the buffer's items: `element`, or a byte type if elements are packed.
    pub in_buffer: String,
    /// Access to elements that share bytes; `null` if elements are whole bytes.
    pub packed: Option<Packed>,
    /// True if only some indices of the shape have elements; the function `<ident>_in_domain` is true for these.
    pub in_domain: bool,
    /// True for a view. Slots of the buffer that do not belong to the view keep their values.
    pub is_view: bool,
    /// Data of the tensor or view for the test program.
    pub test: Shared<TestUnit>,
}

/// View: the memory of a tensor with other axes or another element type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is one question of a template")]
pub struct ViewUnit {
    /// View name in the manifest.
    pub name: String,
    /// Identifier in the generated code: prefix and name.
    pub ident: String,
    /// Identifier in upper case, for macros.
    pub upper: String,
    /// Name of the tensor or view that this is a view of.
    pub of: String,
    /// Position in `tensors` of the tensor that owns the memory.
    pub buffer: usize,
    /// True if the view is a window, which selects elements of unchanged type by an index map.
    pub window: bool,
    /// True if the view can be written, because no two of its elements share a slot.
    pub writable: bool,
    /// Element type in manifest notation.
    pub dtype: String,
    /// Element type in the language.
    pub element: String,
    /// Type of one lane of an element.
    pub lane: String,
    /// Lanes of an element; 1 for a scalar.
    pub lanes: u32,
    /// True if the element type is built into the language, false if it is a generated structure.
    pub own_type: bool,
    /// Type of the buffer's items: the tensor's element type, or a byte type if its elements are packed.
    pub in_buffer: String,
    /// True if the element type of the view differs from that of the tensor.
    pub recast: bool,
    /// Bytes of an element; 0 if elements share bytes.
    pub element_bytes: u32,
    /// Access to elements that share bytes; `null` if elements are whole bytes.
    pub packed: Option<Packed>,
    /// Logical axes of the view, outermost first.
    pub axes: Vec<AxisUnit>,
    /// Extents of the physical axes, outermost first, in elements of the view.
    pub physical: Vec<Shared<Expr>>,
    /// Index map in manifest notation: for a window from its axes to the axes of the tensor or view that it selects
    /// from, for any other view to its storage axes.
    pub map: String,
    /// Size constants in the order of their definition, then the constants of the axis labels.
    pub constants: Shared<Vec<Constant>>,
    /// Size functions for the values that depend on symbols, in order.
    pub counts: Vec<Shared<Function>>,
    /// Macro that guards the size functions in headers for the host.
    pub counts_guard: String,
    /// Function that is true if the symbols have values for which the layout is proven; `null` without symbols.
    pub symbols_ok: Option<Shared<Function>>,
    /// Function that gives the offset of an element in the buffer, in elements of the view.
    pub offset: Shared<Function>,
    /// Physical indices of an element, one function per physical axis; empty if the physical rank is at most 1.
    pub indices: Vec<Shared<Function>>,
    /// Name of the function that reads the element at an offset. `null` if the view has no memory; on a target with GPU
    /// kernels also if it is not in a buffer of global or constant memory.
    pub load: Option<String>,
    /// Name of the function that writes the element at an offset; `null` if `load` is `null`, or if the view cannot be
    /// written.
    pub store: Option<String>,
    /// Image whose texels hold the view's elements, on a target with GPU kernels. `null` on other targets, and for a
    /// view that has the element type of the tensor, cannot be written, is not in an image, or has no image format.
    pub image: Option<ImageUnit>,
    /// Relayout from a dense array to a window; `null` if the view is no window, has no memory or cannot be written.
    pub pack: Option<Shared<Function>>,
    /// Relayout from a window to a dense array; `null` if the view is no window or has no memory.
    pub unpack: Option<Shared<Function>>,
    /// Data for the test program.
    pub test: Shared<ViewTestUnit>,
}

/// Data of one view for the template of the test program. The identifiers of symbols and axes differ from those that
/// this template declares itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ViewTestUnit {
    /// Function that gives the offset of an element as the manifest defines it (reference implementation). Print with
    /// `c_plain`.
    pub plain: Shared<Function>,
    /// Function that gives the offset of each tensor element that a view element joins, as the manifest defines it.
    /// Print with `c_plain`. `null` if it joins none.
    pub plain_lane: Option<Shared<Function>>,
    /// Number of tensor elements that one view element joins; 1 if it joins none.
    pub joined: i64,
    /// Identifiers of the symbols in the test program, in the order of the functions' parameters.
    pub symbols: Vec<String>,
    /// Test cases: one list of symbol values per run, in the order of `symbols`.
    pub cases: Vec<Vec<i64>>,
    /// Logical axes of the view, outermost first.
    pub axes: Vec<AxisUnit>,
    /// Offset of an element in a dense array of the view's shape, in elements of the view, as an expression over `axes`
    /// and `symbols`.
    pub dense: Shared<Expr>,
    /// Number of elements of the view.
    pub elements: Shared<Expr>,
    /// Number of slots in the buffer, in elements of the view.
    pub slots: Shared<Expr>,
    /// Bytes of a dense array of the view's shape.
    pub dense_bytes: Shared<Expr>,
    /// Bytes of the buffer.
    pub bytes: Shared<Expr>,
}

/// Relayout from one tensor to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConvertUnit {
    /// Function of the relayout on a CPU; on a target with GPU kernels, see `moves`.
    pub function: Shared<Function>,
    /// GPU kernels of the relayout; `null` if kernels cannot access a memory, or on a target without GPU kernels.
    pub moves: Option<KernelsUnit>,
    /// Source: a tensor or view, with its test data.
    pub from: TestTensorUnit,
    /// Destination: a tensor or view, with its test data.
    pub to: TestTensorUnit,
    /// Position in the destination of each source axis.
    pub axes: Vec<usize>,
    /// Name of the function that converts an element; `null` if elements are copied unchanged.
    pub cast: Option<String>,
    /// Identifiers of the symbols of source and destination in the test program, each once.
    pub symbols: Vec<String>,
    /// Test cases: one list of symbol values per run, in the order of `symbols`.
    pub cases: Vec<Vec<i64>>,
    /// Benchmark of the relayout.
    pub bench: Shared<BenchUnit>,
}
