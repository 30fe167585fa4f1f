//! What tells the languages of the C family apart, as data. The printer reads it; nothing else asks for a language.

mod c;
mod cuda;
mod opencl;

pub use self::c::{C, C_INT32, C_INT32_PLAIN, C_PLAIN};
pub use self::cuda::{CUDA, CUDA_INT64};
pub use self::opencl::{OPENCL, OPENCL_INT64};

use crate::base::dtype::{Dtype, Scalar};
use crate::target::keywords::Keywords;

/// A language of the C family.
#[derive(Debug)]
pub struct Dialect {
    /// The type of indices, extents and offsets.
    pub index: &'static str,
    /// The same language with indices as wide as memory, for numbers of bytes; `None` where they are.
    pub wide: fn() -> Option<&'static Dialect>,
    /// Its greatest value.
    pub index_max: i64,
    /// The macro that prints it; empty where there is none.
    pub index_format: &'static str,
    /// Whether buffers are filled and copied by the byte, so that their bytes must fit the index type too.
    pub counts_bytes: bool,
    /// The widest integer that a literal without suffix holds.
    pub plain_literal: i64,
    /// What wraps a wider literal, before and after.
    pub wide_literal: (&'static str, &'static str),
    /// The type of a truth value.
    pub boolean: &'static str,
    /// Put before a function that is defined where it is declared.
    pub inline: &'static str,
    /// Put before a pointer to elements.
    pub pointer: &'static str,
    /// Put before the name of a pointer that nothing else aliases.
    pub restrict: &'static str,
    /// The types of images that are read and written, by rank; empty without kernels.
    pub images: &'static [ImageType],
    /// How elements of 16-bit floats are reached where the language stores them but does not copy them.
    pub half: Option<Half>,
    /// The scalar types.
    pub scalars: fn(Scalar) -> &'static str,
    /// The language's own type of a vector or complex element; `None`: a structure.
    pub own_type: fn(Dtype) -> Option<String>,
    /// The macro for the place of a member in its structure, in bytes; empty where there is none.
    pub offset_of: &'static str,
    /// The beginning of a structure's name.
    pub structure: &'static str,
    /// Whether a vector's literal is one scalar behind its type, `(float4)(0.0f)`, in place of all of them in braces.
    pub splat: bool,
    /// The literals of the bits of a 16-bit float, before and after: of halves, of bfloats.
    pub half_literals: [(&'static str, &'static str); 2],
    /// The functions that reach the bits of a float and make a float of bits, where the language has some.
    pub reinterpreted: &'static [(Scalar, &'static str, &'static str)],
    /// The number of a work item along each axis of a launch.
    pub work_item: [&'static str; 3],
    /// The unsigned type that those numbers are compared in.
    pub work_size: &'static str,
    /// How the items of a work group work together.
    pub groups: Groups,
    /// What a broken promise of the caller's does.
    pub assert: Assert,
    /// The macro by which a compiler says that it takes OpenMP's pragmas; empty where there are none.
    pub openmp: &'static str,
    /// Whether divisions by powers of two become shifts and masks.
    pub shifts: bool,
    /// The element types, as manifests call them, of which an assignment may change bits: those are moved by `memcpy`.
    pub moves_bits: &'static [&'static str],
    /// The prefix of helper functions, `floor_div` and the like.
    pub helper: &'static str,
    /// Reserved names.
    pub keywords: &'static Keywords,
    /// The function of the mathematical library for a type: `exp` of `f32` is `expf` in C.
    pub math: fn(&str, &str) -> String,
    /// The function around a condition that mostly holds; empty where there is none.
    pub usual: &'static str,
    /// The line before a loop that is written out so many rounds at a time.
    pub unroll: fn(i64) -> Option<String>,
    /// What stores so many elements of an array at once; empty where there is none.
    pub store_vector: &'static str,
    /// Functions that the generated code calls: nothing local may hide them.
    pub called: &'static [&'static str],
}

/// The types of an image of one rank.
#[derive(Debug)]
pub struct ImageType {
    /// 2, or 3 for an array of images.
    pub rank: u32,
    /// One that is read.
    pub read: &'static str,
    /// One that is written.
    pub write: &'static str,
}

/// How a language that stores halves but does not copy them moves them.
#[derive(Debug)]
pub struct Half {
    /// The type of a half in memory.
    pub memory: &'static str,
    /// The integer that holds its bits.
    pub bits: &'static str,
}

/// How the items of a work group work together; empty without kernels.
#[derive(Debug)]
pub struct Groups {
    /// Put before an array that they share.
    pub local: &'static str,
    /// The number of the group.
    pub group: &'static str,
    /// How many groups there are.
    pub count: &'static str,
    /// The number of the item in its group.
    pub item: &'static str,
    /// The statement at which they wait for each other.
    pub barrier: &'static str,
    /// The line before a loop that is unrolled.
    pub unroll: &'static str,
}

impl Groups {
    const NONE: Self = Self { local: "", group: "", count: "", item: "", barrier: "", unroll: "" };
}

/// What a broken promise does.
#[derive(Debug)]
pub enum Assert {
    /// The `assert` of the C library.
    Abort,
    /// The function does nothing.
    Leave,
    /// Whoever calls the function has asked.
    Asked,
}

impl Dialect {
    /// The dialect in which numbers of bytes are counted.
    pub fn for_bytes(&'static self) -> &'static Dialect {
        (self.wide)().unwrap_or(self)
    }

    /// The dialects in which a template's model may be written, by language and index type.
    pub fn find(language: &str, index: &str) -> Option<[&'static Dialect; 2]> {
        let all: [(&str, [&'static Dialect; 2]); 6] = [
            ("c", [&C, &C_PLAIN]),
            ("c", [&C_INT32, &C_INT32_PLAIN]),
            ("opencl", [&OPENCL, &OPENCL]),
            ("opencl", [&OPENCL_INT64, &OPENCL_INT64]),
            ("cuda", [&CUDA, &CUDA]),
            ("cuda", [&CUDA_INT64, &CUDA_INT64]),
        ];
        let row = all.into_iter().find(|(name, [d, _])| *name == language && d.index == index);
        row.map(|(_, dialects)| dialects)
    }
}
