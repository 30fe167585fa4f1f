//! OpenCL C dialects.

use super::{
    Assert, AsyncCopy, Dialect, FloatLiterals, Grammar, Groups, Half, ImageType, Lacks, Lengths,
    Subnormals,
};
use crate::base::dtype::{Dtype, Scalar};
use crate::target::keywords;

/// OpenCL C 1.2 with 32-bit indices. The host's header is C or C++ and has the same identifiers, so that C++ keywords
/// are reserved too.
pub const OPENCL: Dialect = Dialect {
    grammar: Grammar::C,
    lacks: Lacks::NOTHING,
    index: "int",
    wide: || Some(&OPENCL_INT64),
    index_max: i32::MAX as i64,
    index_format: "",
    counts_bytes: false,
    plain_literal: i32::MAX as i64,
    wide_literal: ("", "L"),
    unsigned_suffix: "U",
    floats: FloatLiterals::C,
    brackets: ["{", "}"],
    lengths: Lengths::Unknown,
    subnormals: Subnormals::DeviceDependent,
    boolean: "bool",
    inline: "static inline ",
    pointer: "__global ",
    restrict: "restrict ",
    images: &[
        ImageType { rank: 2, read: "__read_only image2d_t", write: "__write_only image2d_t" },
        ImageType {
            rank: 3,
            read: "__read_only image2d_array_t",
            write: "__write_only image2d_array_t",
        },
    ],
    half: Some(Half { memory: "half", bits: "ushort" }),
    scalars,
    own_type,
    offset_of: "",
    structure: "layoutc_",
    splat: true,
    half_literals: [("", ""), ("", "")],
    reinterpreted: &[(Scalar::F32, "as_uint", "as_float"), (Scalar::F64, "as_ulong", "as_double")],
    work_item: ["get_global_id(0)", "get_global_id(1)", "get_global_id(2)"],
    work_size: "size_t",
    groups: Groups {
        local: "__local ",
        group: "get_group_id(0)",
        count: "get_num_groups(0)",
        item: "get_local_id(0)",
        barrier: "barrier(CLK_LOCAL_MEM_FENCE);",
        unroll: "#pragma unroll",
        async_copy: AsyncCopy::NONE,
    },
    assert: Assert::Leave,
    openmp: "",
    shifts: true,
    moves_bits: &[],
    helper: "layoutc_",
    keywords: &keywords::OPENCL,
    math: |function, _| function.to_owned(),
    usual: "",
    unroll: |rounds| Some(format!("#pragma unroll {rounds}")),
    store_vector: "",
    called: &[
        "barrier",
        "get_global_id",
        "get_group_id",
        "get_local_id",
        "get_num_groups",
        "read_imagef",
        "read_imagei",
        "read_imageui",
        "vload_half",
        "vload_half4",
        "vstore_half",
        "vstore_half4",
        "write_imagef",
        "write_imagei",
        "write_imageui",
    ],
};

/// OpenCL C with 64-bit indices.
pub const OPENCL_INT64: Dialect =
    Dialect { index: "long", index_max: i64::MAX, helper: "layoutc_long_", ..OPENCL };

fn scalars(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F64 => "double",
        Scalar::F32 => "float",
        // Bits of the half: OpenCL C 1.2 cannot copy halves.
        Scalar::F16 | Scalar::Bf16 | Scalar::U16 => "ushort",
        Scalar::F8e4m3fn | Scalar::F8e4m3fnuz | Scalar::F8e5m2 | Scalar::F8e5m2fnuz => "uchar",
        Scalar::F8e8m0fnu | Scalar::F6e2m3fn | Scalar::F6e3m2fn | Scalar::F4e2m1fn => "uchar",
        Scalar::U8
        | Scalar::U6
        | Scalar::U5
        | Scalar::U4
        | Scalar::U3
        | Scalar::U2
        | Scalar::U1 => "uchar",
        Scalar::Bool => "uchar",
        Scalar::I64 => "long",
        Scalar::I32 => "int",
        Scalar::I16 => "short",
        Scalar::I8 | Scalar::I6 | Scalar::I5 | Scalar::I4 | Scalar::I3 | Scalar::I2 => "char",
        Scalar::U64 => "ulong",
        Scalar::U32 => "uint",
        Scalar::C64 => "float2",
        Scalar::C128 => "double2",
        // The structure of a record has a name of its own.
        Scalar::Record(_) => "",
    }
}

/// OpenCL vector type: `float4`. A vector of three lanes is a structure, because OpenCL C gives it the size of four; a
/// vector of complex elements is a structure too.
fn own_type(dtype: Dtype) -> Option<String> {
    let complex = matches!(dtype.scalar, Scalar::C64 | Scalar::C128);
    (dtype.lanes != 3 && !complex).then(|| format!("{}{}", scalars(dtype.scalar), dtype.lanes))
}
