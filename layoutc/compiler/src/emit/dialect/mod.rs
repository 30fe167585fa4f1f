//! Table of the differences between the target languages. The printers are driven by this data alone and never test for
//! a language.

mod c;
mod cuda;
mod hip;
mod opencl;
mod rust;

pub use self::c::{C, C_INT32, C_INT32_PLAIN, C_PLAIN};
pub use self::cuda::{CUDA, CUDA_INT64};
pub use self::hip::{HIP, HIP_INT64};
pub use self::opencl::{OPENCL, OPENCL_INT64};
pub use self::rust::RUST;

use crate::base::dtype::{Dtype, Scalar};
use crate::target::keywords::Keywords;

/// Treatment of subnormal numbers by float arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subnormals {
    /// Results and operands are preserved.
    Preserved,
    /// Results and operands may be flushed to zero, depending on the device and its compiler options.
    DeviceDependent,
}

/// Grammar of a language, which decides on the printer of statements and heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grammar {
    /// Grammar of C and of the languages derived from it.
    C,
    /// Grammar of Rust.
    Rust,
}

/// Spelling of float constants that are no decimal numbers, and suffixes of decimal numbers.
#[derive(Debug)]
pub struct FloatLiterals {
    /// Suffixes of a decimal number: of f32, of f64.
    pub suffixes: [&'static str; 2],
    /// NaN, infinity and negative infinity: of f32, of f64.
    pub specials: [[&'static str; 3]; 2],
}

/// Lengths of the buffers that functions take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lengths {
    /// A buffer is a pointer; its length is unknown.
    Unknown,
    /// A buffer is a slice, whose length functions check.
    Checked,
}

/// Features that a language or its printer does not have.
#[derive(Debug)]
pub struct Lacks {
    /// True if there are no record elements.
    pub records: bool,
    /// Mathematical functions that the language's library does not have.
    pub functions: &'static [&'static str],
}

/// Syntax and library of one language, with one index type.
#[derive(Debug)]
pub struct Dialect {
    /// Grammar of statements and heads.
    pub grammar: Grammar,
    /// Features that the language does not have: tensors and kernels that need one are refused.
    pub lacks: Lacks,
    /// Type of indices, extents and offsets.
    pub index: &'static str,
    /// Dialect in which byte counts are computed, with 64-bit indices; `None` if this dialect's own index type is used.
    pub wide: fn() -> Option<&'static Dialect>,
    /// Greatest value of the index type.
    pub index_max: i64,
    /// `printf` macro of the index type: `PRId64`; empty if the language has none.
    pub index_format: &'static str,
    /// True if buffers are filled and copied bytewise, so that their byte counts must fit the index type.
    pub counts_bytes: bool,
    /// Greatest magnitude of an integer literal without suffix.
    pub plain_literal: i64,
    /// Text before and after an integer literal of greater magnitude: `INT64_C(` and `)`.
    pub wide_literal: (&'static str, &'static str),
    /// Suffix of an unsigned integer literal of more than 31 bits: `U`.
    pub unsigned_suffix: &'static str,
    /// Float literals.
    pub floats: FloatLiterals,
    /// Brackets around the elements of an array in an initializer.
    pub brackets: [&'static str; 2],
    /// Lengths of buffers.
    pub lengths: Lengths,
    /// Treatment of subnormal numbers by casts between `f32` and `f64`.
    pub subnormals: Subnormals,
    /// Boolean type.
    pub boolean: &'static str,
    /// Specifiers before a function that is defined in a header, with a trailing blank.
    pub inline: &'static str,
    /// Address space before a pointer to elements, with a trailing blank: `__global `.
    pub pointer: &'static str,
    /// Qualifier before the name of a pointer parameter without aliases, with a trailing blank.
    pub restrict: &'static str,
    /// Image types by rank; empty if the target has no images.
    pub images: &'static [ImageType],
    /// Access to `f16` buffers in a language that can store halves but not copy them; `None` otherwise.
    pub half: Option<Half>,
    /// Name of a scalar type; empty for a record, whose structure has a name of its own.
    pub scalars: fn(Scalar) -> &'static str,
    /// Built-in type of an element with several lanes; `None` if the generated code defines a structure for it.
    pub own_type: fn(Dtype) -> Option<String>,
    /// Macro for the byte offset of a member of a structure: `offsetof`; empty if the language has none.
    pub offset_of: &'static str,
    /// Prefix of structure and conversion function names.
    pub structure: &'static str,
    /// True if a vector literal is one scalar after the type, `(float4)(0.0f)`; false if all lanes are listed in
    /// braces.
    pub splat: bool,
    /// Text before and after the bits in a literal of a 16-bit float: of f16, of bf16.
    pub half_literals: [(&'static str, &'static str); 2],
    /// Built-in bit casts as triples (float type, function from float to bits, function from bits to float).
    pub reinterpreted: &'static [(Scalar, &'static str, &'static str)],
    /// Expression for the global index of the work item (thread) along each axis of a launch.
    pub work_item: [&'static str; 3],
    /// Unsigned type in which the indices of `work_item` are compared with the extents of the launch; empty if the
    /// language has no GPU kernels.
    pub work_size: &'static str,
    /// Identifiers and statements for work groups (thread blocks).
    pub groups: Groups,
    /// Behavior of a function whose arguments violate a declared condition.
    pub assert: Assert,
    /// Macro that is defined if the compiler supports OpenMP; empty if the language has no OpenMP.
    pub openmp: &'static str,
    /// True if divisions and remainders by powers of two in index expressions are printed as shifts and masks. Those of
    /// element values are never printed so.
    pub shifts: bool,
    /// Element types whose bits an assignment may change (x87 registers): `memcpy` copies these.
    pub moves_bits: &'static [Dtype],
    /// Prefix of helper functions: `layoutc_` in `layoutc_floor_div`.
    pub helper: &'static str,
    /// Reserved identifiers.
    pub keywords: &'static Keywords,
    /// Name of a library function for an element type: (`exp`, `f32`) gives `expf` in C.
    pub math: fn(&str, &str) -> String,
    /// Macro around a condition that is likely true; empty if the language has none.
    pub usual: &'static str,
    /// Directive line before a loop that is unrolled; the argument is the unroll factor, 1 to prevent unrolling. `None`
    /// if there is no directive.
    pub unroll: fn(i64) -> Option<String>,
    /// Macro that stores consecutive elements of an array as one vector: `LAYOUTC_STORE`; empty if the language has
    /// none.
    pub store_vector: &'static str,
    /// Names of library functions and constants that generated code uses, except those of mathematical functions; local
    /// identifiers must not shadow these names.
    pub called: &'static [&'static str],
}

/// Image types of one rank.
#[derive(Debug)]
pub struct ImageType {
    /// Rank: 2 for an image, 3 for an array of images.
    pub rank: u32,
    /// Type of an image that is read.
    pub read: &'static str,
    /// Type of an image that is written.
    pub write: &'static str,
}

/// Access to halves in a language that stores halves but cannot copy them.
#[derive(Debug)]
pub struct Half {
    /// Type of a half in memory.
    pub memory: &'static str,
    /// Integer type with the bits of a half, as which elements are copied.
    pub bits: &'static str,
}

/// Identifiers and statements for work groups (thread blocks); empty strings in a language without kernels.
#[derive(Debug)]
pub struct Groups {
    /// Qualifier of an array in shared memory (OpenCL: local memory), with a trailing blank.
    pub local: &'static str,
    /// Index of the thread block in the grid.
    pub group: &'static str,
    /// Number of thread blocks in the grid.
    pub count: &'static str,
    /// Index of the thread in its thread block.
    pub item: &'static str,
    /// Barrier statement of a thread block.
    pub barrier: &'static str,
    /// Directive line before a loop that is unrolled completely.
    pub unroll: &'static str,
    /// Asynchronous copies to shared memory.
    pub async_copy: AsyncCopy,
}

/// Asynchronous copies of single elements to shared memory; empty in a language without them, whose threads copy
/// elements through registers.
#[derive(Debug)]
pub struct AsyncCopy {
    /// Function with the parameters destination, source and number of bytes.
    pub function: &'static str,
    /// Statements by which a thread waits for all of its copies.
    pub wait: &'static [&'static str],
    /// Header that declares the functions.
    pub header: &'static str,
}

impl AsyncCopy {
    const NONE: Self = Self { function: "", wait: &[], header: "" };
}

impl FloatLiterals {
    /// Literals of C, whose double constants have no suffix.
    const C: Self = Self {
        suffixes: ["f", ""],
        specials: [
            ["NAN", "INFINITY", "-INFINITY"],
            ["(double)NAN", "(double)INFINITY", "(double)-INFINITY"],
        ],
    };
}

impl Lacks {
    const NOTHING: Self = Self { records: false, functions: &[] };
}

impl Groups {
    const NONE: Self = Self {
        local: "",
        group: "",
        count: "",
        item: "",
        barrier: "",
        unroll: "",
        async_copy: AsyncCopy::NONE,
    };
}

/// Behavior of a function whose arguments violate a declared condition.
#[derive(Debug)]
pub enum Assert {
    /// `assert` of the C library aborts the program.
    Abort,
    /// The function returns without any effect.
    Leave,
    /// No code: the caller (a launcher) has checked the condition.
    Asked,
}

impl Dialect {
    /// Dialect in which byte counts are computed: that of `wide`, or this dialect if there is none.
    pub fn for_bytes(&'static self) -> &'static Dialect {
        (self.wide)().unwrap_or(self)
    }

    /// Pair of dialects for a language and an index type: for generated code, and for reference implementations in
    /// tests. The latter has no strength reduction in C, and is the former again in other languages. `None` for an
    /// unknown language or index type.
    pub fn find(language: &str, index: &str) -> Option<[&'static Dialect; 2]> {
        let all: [(&str, [&'static Dialect; 2]); 9] = [
            ("c", [&C, &C_PLAIN]),
            ("c", [&C_INT32, &C_INT32_PLAIN]),
            ("opencl", [&OPENCL, &OPENCL]),
            ("opencl", [&OPENCL_INT64, &OPENCL_INT64]),
            ("cuda", [&CUDA, &CUDA]),
            ("cuda", [&CUDA_INT64, &CUDA_INT64]),
            ("hip", [&HIP, &HIP]),
            ("hip", [&HIP_INT64, &HIP_INT64]),
            ("rust", [&RUST, &RUST]),
        ];
        let row = all.into_iter().find(|(name, [d, _])| *name == language && d.index == index);
        row.map(|(_, dialects)| dialects)
    }
}
