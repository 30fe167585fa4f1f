//! HIP C++ dialects, for AMD's GPUs: CUDA C++ with other names of the runtime library.

use super::cuda::CUDA;
use super::{AsyncCopy, Dialect, Groups, ImageType};
use crate::base::dtype::Scalar;
use crate::target::keywords;

/// HIP C++ for host and device, with 32-bit indices. Elements of bf16 are `uint16_t`: `hip_bfloat16` has no conversion
/// from and to bits in common with CUDA's type.
pub const HIP: Dialect = Dialect {
    wide: || Some(&HIP_INT64),
    images: &[
        ImageType { rank: 2, read: "hipTextureObject_t", write: "hipSurfaceObject_t" },
        ImageType { rank: 3, read: "hipTextureObject_t", write: "hipSurfaceObject_t" },
    ],
    scalars: |scalar| if scalar == Scalar::Bf16 { "uint16_t" } else { (CUDA.scalars)(scalar) },
    structure: "layoutc_hip_",
    half_literals: [("__ushort_as_half(", ")"), ("", "")],
    reinterpreted: &[(Scalar::F16, "__half_as_ushort", "__ushort_as_half")],
    groups: Groups { async_copy: AsyncCopy::NONE, ..CUDA.groups },
    helper: "layoutc_hip_",
    keywords: &keywords::HIP,
    called: &[
        "tex2D",
        "tex2DLayered",
        "surf2Dwrite",
        "surf2DLayeredwrite",
        "hipErrorInvalidValue",
        "hipGetLastError",
        "hipSuccess",
    ],
    ..CUDA
};

/// HIP C++ with 64-bit indices.
pub const HIP_INT64: Dialect = Dialect {
    index: "int64_t",
    wide: || None,
    index_max: i64::MAX,
    work_item: super::cuda::CUDA_INT64.work_item,
    work_size: "size_t",
    helper: "layoutc_hip_i64_",
    ..HIP
};
