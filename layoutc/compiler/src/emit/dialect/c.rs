//! C dialects.

use super::{Assert, Dialect, FloatLiterals, Grammar, Groups, Lacks, Lengths, Subnormals};
use crate::base::dtype::{Dtype, Scalar};
use crate::target::keywords;

/// C99 to C23, and C++ for a header that is included from C++; 64-bit indices.
pub const C: Dialect = Dialect {
    grammar: Grammar::C,
    lacks: Lacks::NOTHING,
    index: "int64_t",
    wide: || None,
    index_max: i64::MAX,
    index_format: "PRId64",
    counts_bytes: true,
    plain_literal: i32::MAX as i64,
    wide_literal: ("INT64_C(", ")"),
    unsigned_suffix: "U",
    floats: FloatLiterals::C,
    brackets: ["{", "}"],
    lengths: Lengths::Unknown,
    subnormals: Subnormals::Preserved,
    boolean: "bool",
    inline: "static inline ",
    pointer: "",
    restrict: "",
    images: &[],
    half: None,
    scalars,
    own_type: |_| None,
    offset_of: "offsetof",
    structure: "layoutc_",
    splat: false,
    half_literals: [("", ""), ("", "")],
    reinterpreted: &[],
    work_item: [""; 3],
    work_size: "",
    groups: Groups::NONE,
    assert: Assert::Abort,
    openmp: "_OPENMP",
    shifts: true,
    moves_bits: &[Dtype { scalar: Scalar::F32, lanes: 1 }, Dtype { scalar: Scalar::F64, lanes: 1 }],
    helper: "layoutc_",
    keywords: &keywords::C,
    math: suffixed,
    usual: "LAYOUTC_USUALLY",
    unroll: |rounds| Some(format!("LAYOUTC_UNROLL({rounds})")),
    store_vector: "LAYOUTC_STORE",
    called: &["exit", "fputs", "free", "malloc", "memcmp", "memcpy", "memset", "printf", "puts"],
};

/// C with 32-bit indices, in which byte counts are computed too.
pub const C_INT32: Dialect = Dialect {
    index: "int32_t",
    index_max: i32::MAX as i64,
    index_format: "PRId32",
    helper: "layoutc_i32_",
    ..C
};

/// C without strength reduction, for the reference implementations in tests; 64-bit indices.
pub const C_PLAIN: Dialect = Dialect { shifts: false, helper: "plain_", ..C };

/// C without strength reduction, for the reference implementations in tests; 32-bit indices.
pub const C_INT32_PLAIN: Dialect = Dialect { shifts: false, helper: "plain_", ..C_INT32 };

/// Name of a C library function for an element type: `expf` for `f32`, `exp` for `f64`.
pub(super) fn suffixed(function: &str, element: &str) -> String {
    [function, if element == "f32" { "f" } else { "" }].concat()
}

fn scalars(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F64 => "double",
        Scalar::F32 => "float",
        Scalar::F16 | Scalar::Bf16 | Scalar::U16 => "uint16_t",
        Scalar::F8e4m3fn | Scalar::F8e4m3fnuz | Scalar::F8e5m2 | Scalar::F8e5m2fnuz => "uint8_t",
        Scalar::F8e8m0fnu | Scalar::F6e2m3fn | Scalar::F6e3m2fn | Scalar::F4e2m1fn => "uint8_t",
        Scalar::U8
        | Scalar::U6
        | Scalar::U5
        | Scalar::U4
        | Scalar::U3
        | Scalar::U2
        | Scalar::U1 => "uint8_t",
        Scalar::Bool => "uint8_t",
        Scalar::I64 => "int64_t",
        Scalar::I32 => "int32_t",
        Scalar::I16 => "int16_t",
        Scalar::I8 | Scalar::I6 | Scalar::I5 | Scalar::I4 | Scalar::I3 | Scalar::I2 => "int8_t",
        Scalar::U64 => "uint64_t",
        Scalar::U32 => "uint32_t",
        Scalar::C64 => "layoutc_c64",
        Scalar::C128 => "layoutc_c128",
        // The structure of a record has a name of its own.
        Scalar::Record(_) => "",
    }
}
