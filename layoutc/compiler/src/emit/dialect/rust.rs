//! Rust dialect.

use super::{Assert, Dialect, FloatLiterals, Grammar, Groups, Lacks, Lengths, Subnormals};
use crate::base::dtype::Scalar;
use crate::target::keywords;

/// Rust 2021 without dependencies, with 64-bit indices. Vectors and complex numbers are arrays.
pub const RUST: Dialect = Dialect {
    grammar: Grammar::Rust,
    lacks: Lacks { records: true, functions: &["erf"] },
    index: "i64",
    wide: || None,
    index_max: i64::MAX,
    index_format: "",
    counts_bytes: true,
    plain_literal: i64::MAX,
    wide_literal: ("", ""),
    unsigned_suffix: "",
    floats: FloatLiterals {
        suffixes: ["_f32", "_f64"],
        specials: [
            ["f32::NAN", "f32::INFINITY", "f32::NEG_INFINITY"],
            ["f64::NAN", "f64::INFINITY", "f64::NEG_INFINITY"],
        ],
    },
    brackets: ["[", "]"],
    lengths: Lengths::Checked,
    subnormals: Subnormals::Preserved,
    boolean: "bool",
    inline: "#[inline]\n",
    pointer: "",
    restrict: "",
    images: &[],
    half: None,
    scalars,
    own_type: |dtype| Some(format!("[{}; {}]", scalars(dtype.scalar), dtype.lanes)),
    offset_of: "",
    structure: "layoutc_",
    splat: false,
    half_literals: [("", ""), ("", "")],
    reinterpreted: &[
        (Scalar::F32, "f32::to_bits", "f32::from_bits"),
        (Scalar::F64, "f64::to_bits", "f64::from_bits"),
    ],
    work_item: [""; 3],
    work_size: "",
    groups: Groups::NONE,
    assert: Assert::Abort,
    openmp: "",
    shifts: true,
    moves_bits: &[],
    helper: "layoutc_",
    keywords: &keywords::RUST,
    math,
    usual: "",
    unroll: |_| None,
    store_vector: "",
    called: &[],
};

/// Path of a method of an element type: `f32::ln` for `log` of `f32`.
fn math(function: &str, element: &str) -> String {
    let method = match function {
        "fabs" => "abs",
        "log" => "ln",
        "pow" => "powf",
        other => other,
    };
    [element, "::", method].concat()
}

fn scalars(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F64 => "f64",
        Scalar::F32 => "f32",
        Scalar::F16 | Scalar::Bf16 | Scalar::U16 => "u16",
        Scalar::F8e4m3fn
        | Scalar::F8e4m3fnuz
        | Scalar::F8e5m2
        | Scalar::F8e5m2fnuz
        | Scalar::F8e8m0fnu
        | Scalar::F6e2m3fn
        | Scalar::F6e3m2fn
        | Scalar::F4e2m1fn
        | Scalar::U8
        | Scalar::U6
        | Scalar::U5
        | Scalar::U4
        | Scalar::U3
        | Scalar::U2
        | Scalar::U1
        | Scalar::Bool => "u8",
        Scalar::I64 => "i64",
        Scalar::I32 => "i32",
        Scalar::I16 => "i16",
        Scalar::I8 | Scalar::I6 | Scalar::I5 | Scalar::I4 | Scalar::I3 | Scalar::I2 => "i8",
        Scalar::U64 => "u64",
        Scalar::U32 => "u32",
        Scalar::C64 => "[f32; 2]",
        Scalar::C128 => "[f64; 2]",
        // Records are refused.
        Scalar::Record(_) => "",
    }
}
