//! The languages that files are written in, as data: dialects, templates, and what their memory can hold.

use super::Part;
use super::dialect::{C, CUDA, Dialect, OPENCL};
use crate::base::dtype::Scalar;
use crate::target::limits::{self, Limits};

/// A language of generated files.
#[derive(Debug)]
pub struct Language {
    /// Its name in manifests and configurations, and that of its folder.
    pub name: &'static str,
    /// The dialect with the index type that holds without a configuration.
    pub dialect: &'static Dialect,
    /// The index type that holds 64 bits, as configurations call it.
    pub wider_index: &'static str,
    /// Whether tensors are moved by kernels, one work item for each piece, instead of loops.
    pub kernels: bool,
    /// The key of a configuration that says how great images are.
    pub image_key: Option<&'static str>,
    /// Limits of its devices.
    pub limits: &'static Limits,
    /// What is put before `_H`, `_STAMP` in the names of macros, so that headers of two languages do not meet.
    pub macros: &'static str,
    /// The headers that every header includes.
    pub includes: &'static [&'static str],
    /// The header that elements of a scalar type need.
    pub scalar_includes: &'static [(Scalar, &'static str)],
    /// What is written for each manifest.
    pub files: &'static [File],
}

/// A file that is written for each manifest.
#[derive(Debug)]
pub struct File {
    /// The template.
    pub template: &'static str,
    /// What follows the manifest's name: `.h`, `_test.c`.
    pub suffix: &'static str,
    /// It is written where this is asked for.
    pub part: Option<Part>,
}

/// Every language, the first being what a project without configuration has.
pub const LANGUAGES: [&Language; 3] = [&C_FILES, &OPENCL_FILES, &CUDA_FILES];

/// Headers, sources and test programs.
pub const C_FILES: Language = Language {
    name: "c",
    dialect: &C,
    wider_index: "int64_t",
    kernels: false,
    image_key: None,
    limits: &limits::C,
    macros: "",
    includes: &["stdbool.h", "stdint.h"],
    scalar_includes: &[],
    files: &[
        File { template: "c/header.h.j2", suffix: ".h", part: None },
        File { template: "c/source.c.j2", suffix: ".c", part: Some(Part::Pack) },
        File { template: "c/test.c.j2", suffix: "_test.c", part: Some(Part::Test) },
        File { template: "c/bench.c.j2", suffix: "_bench.c", part: Some(Part::Bench) },
        File { template: "c/mpi.h.j2", suffix: "_mpi.h", part: Some(Part::Reshard) },
        File { template: "c/mpi.c.j2", suffix: "_mpi.c", part: Some(Part::Reshard) },
        File { template: "c/mpi_test.c.j2", suffix: "_mpi_test.c", part: Some(Part::ReshardTest) },
    ],
};

/// Programs, and headers for their hosts. The least sizes that OpenCL 1.2 asks of a device with images are 8192
/// texels and 2048 images; 16384 is what devices have.
pub const OPENCL_FILES: Language = Language {
    name: "opencl",
    dialect: &OPENCL,
    wider_index: "long",
    kernels: true,
    image_key: Some("image-max"),
    limits: &limits::OPENCL,
    macros: "_OPENCL",
    includes: &["stdbool.h", "stdint.h"],
    scalar_includes: &[],
    files: &[
        File { template: "opencl/program.cl.j2", suffix: ".cl", part: None },
        File { template: "opencl/host.h.j2", suffix: ".h", part: None },
    ],
};

/// Headers and sources. The sizes are those of two-dimensional and layered textures and surfaces since compute
/// capability 3.5.
pub const CUDA_FILES: Language = Language {
    name: "cuda",
    dialect: &CUDA,
    wider_index: "int64_t",
    kernels: true,
    image_key: None,
    limits: &limits::CUDA,
    macros: "_CUDA",
    includes: &["cuda_runtime.h", "stdint.h"],
    scalar_includes: &[(Scalar::F16, "cuda_fp16.h"), (Scalar::Bf16, "cuda_bf16.h")],
    files: &[
        File { template: "cuda/header.cuh.j2", suffix: ".cuh", part: None },
        File { template: "cuda/source.cu.j2", suffix: ".cu", part: None },
    ],
};

impl Language {
    /// The language of a name.
    pub fn find(name: &str) -> Option<&'static Language> {
        LANGUAGES.into_iter().find(|language| language.name == name)
    }
}
