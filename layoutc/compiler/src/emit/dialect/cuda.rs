//! CUDA C++ dialects.

use super::{
    Assert, AsyncCopy, Dialect, FloatLiterals, Grammar, Groups, ImageType, Lacks, Lengths,
    Subnormals,
};
use crate::base::dtype::{Dtype, Scalar};
use crate::target::keywords;

/// CUDA C++ for host and device, with 32-bit indices.
pub const CUDA: Dialect = Dialect {
    grammar: Grammar::C,
    lacks: Lacks::NOTHING,
    index: "int",
    wide: || Some(&CUDA_INT64),
    index_max: i32::MAX as i64,
    index_format: "",
    counts_bytes: false,
    plain_literal: i32::MAX as i64,
    wide_literal: ("INT64_C(", ")"),
    unsigned_suffix: "U",
    floats: FloatLiterals::C,
    brackets: ["{", "}"],
    lengths: Lengths::Unknown,
    subnormals: Subnormals::DeviceDependent,
    boolean: "bool",
    inline: "static inline __host__ __device__ ",
    pointer: "",
    restrict: "__restrict__ ",
    images: &[
        ImageType { rank: 2, read: "cudaTextureObject_t", write: "cudaSurfaceObject_t" },
        ImageType { rank: 3, read: "cudaTextureObject_t", write: "cudaSurfaceObject_t" },
    ],
    half: None,
    scalars,
    own_type,
    offset_of: "offsetof",
    structure: "layoutc_cuda_",
    splat: false,
    half_literals: [("__ushort_as_half(", ")"), ("__ushort_as_bfloat16(", ")")],
    reinterpreted: &[
        (Scalar::F16, "__half_as_ushort", "__ushort_as_half"),
        (Scalar::Bf16, "__bfloat16_as_ushort", "__ushort_as_bfloat16"),
    ],
    work_item: [
        "blockIdx.x * blockDim.x + threadIdx.x",
        "blockIdx.y * blockDim.y + threadIdx.y",
        "blockIdx.z * blockDim.z + threadIdx.z",
    ],
    work_size: "unsigned",
    groups: Groups {
        local: "__shared__ ",
        group: "blockIdx.x",
        count: "gridDim.x",
        item: "threadIdx.x",
        barrier: "__syncthreads();",
        unroll: "#pragma unroll",
        async_copy: AsyncCopy {
            function: "__pipeline_memcpy_async",
            wait: &["__pipeline_commit();", "__pipeline_wait_prior(0);"],
            header: "cuda_pipeline_primitives.h",
        },
    },
    // Launchers check the conditions.
    assert: Assert::Asked,
    openmp: "",
    shifts: true,
    moves_bits: &[],
    helper: "layoutc_cuda_",
    keywords: &keywords::CUDA,
    math: super::c::suffixed,
    usual: "",
    unroll: |rounds| Some(format!("#pragma unroll {rounds}")),
    store_vector: "",
    called: &[
        "tex2D",
        "tex2DLayered",
        "surf2Dwrite",
        "surf2DLayeredwrite",
        "cudaErrorInvalidValue",
        "cudaGetLastError",
        "cudaSuccess",
    ],
};

/// CUDA C++ with 64-bit indices.
pub const CUDA_INT64: Dialect = Dialect {
    index: "int64_t",
    wide: || None,
    index_max: i64::MAX,
    work_item: [
        "(size_t)blockIdx.x * blockDim.x + threadIdx.x",
        "(size_t)blockIdx.y * blockDim.y + threadIdx.y",
        "(size_t)blockIdx.z * blockDim.z + threadIdx.z",
    ],
    work_size: "size_t",
    helper: "layoutc_cuda_i64_",
    ..CUDA
};

fn scalars(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F64 => "double",
        Scalar::F32 => "float",
        Scalar::F16 => "__half",
        Scalar::Bf16 => "__nv_bfloat16",
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
        Scalar::U16 => "uint16_t",
        Scalar::C64 => "float2",
        Scalar::C128 => "double2",
        // The structure of a record has a name of its own.
        Scalar::Record(_) => "",
    }
}

/// CUDA vector type of up to four lanes and 128 bits: `float4`, `uchar2`. Wider vectors are structures, because the
/// alignment of `double4` changed in CUDA 13. So are vectors of f16, bf16 and complex elements.
fn own_type(dtype: Dtype) -> Option<String> {
    let base = match dtype.scalar {
        Scalar::F64 => "double",
        Scalar::F32 => "float",
        Scalar::I64 => "longlong",
        Scalar::I32 => "int",
        Scalar::I16 => "short",
        Scalar::I8 => "char",
        Scalar::U64 => "ulonglong",
        Scalar::U32 => "uint",
        Scalar::U16 => "ushort",
        Scalar::U8 | Scalar::Bool => "uchar",
        Scalar::F8e4m3fn
        | Scalar::F8e4m3fnuz
        | Scalar::F8e5m2
        | Scalar::F8e5m2fnuz
        | Scalar::F8e8m0fnu => "uchar",
        Scalar::F16 | Scalar::Bf16 | Scalar::C64 | Scalar::C128 | Scalar::Record(_) => {
            return None;
        }
        // Sub-byte elements have no vector types.
        Scalar::F6e2m3fn
        | Scalar::F6e3m2fn
        | Scalar::F4e2m1fn
        | Scalar::I6
        | Scalar::I5
        | Scalar::I4
        | Scalar::I3
        | Scalar::I2
        | Scalar::U6
        | Scalar::U5
        | Scalar::U4
        | Scalar::U3
        | Scalar::U2
        | Scalar::U1 => return None,
    };
    (dtype.lanes <= 4 && dtype.element_bits() <= 128).then(|| format!("{base}{}", dtype.lanes))
}
