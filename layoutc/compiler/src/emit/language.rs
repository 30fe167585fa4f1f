//! Table of the target languages: dialects, templates, and limits of their memory.

use super::Part;
use super::dialect::{C, CUDA, Dialect, HIP, OPENCL, RUST};
use crate::base::dtype::Scalar;
use crate::target::limits::{self, Limits};

/// Language of generated files.
#[derive(Debug)]
pub struct Language {
    /// Name of the language in manifests and configurations, and of its template and output folders.
    pub name: &'static str,
    /// Name of the language in comments and messages.
    pub title: &'static str,
    /// Prefix of the names in the GPU's runtime library; empty without launchers.
    pub runtime: &'static str,
    /// Macro that the compiler of GPU code defines; empty without launchers.
    pub compiler_macro: &'static str,
    /// Dialect with the default index type.
    pub dialect: &'static Dialect,
    /// Name of the 64-bit index type in configurations, for a help text.
    pub wider_index: &'static str,
    /// True if tensors are packed and converted by GPU kernels, false if by loops on the CPU.
    pub kernels: bool,
    /// Configuration key that sets the greatest image sizes; `None` if the sizes are fixed or there are no images.
    pub image_key: Option<&'static str>,
    /// Limits of the devices of this language.
    pub limits: &'static Limits,
    /// Infix of macro names before `_H` and `_STAMP`, which keeps headers of two languages distinct: `_CUDA`.
    pub macros: &'static str,
    /// Headers that every generated header includes.
    pub includes: &'static [&'static str],
    /// Pairs (scalar type, header): header to include if a tensor has elements of the scalar type.
    pub scalar_includes: &'static [(Scalar, &'static str)],
    /// Files generated for each manifest.
    pub files: &'static [File],
}

/// File that is generated for each manifest.
#[derive(Debug)]
pub struct File {
    /// Name of the template.
    pub template: &'static str,
    /// Folder before the manifest's path, with a trailing `/`: `tests/`; empty for the folder of the target. C programs
    /// and sources that need MPI have folders of their own: all sources below no such folder link as one library.
    pub folder: &'static str,
    /// Suffix after the manifest's name in the file name: `.h`, `_test.c`.
    pub suffix: &'static str,
    /// Part that the file belongs to; the file is generated if the part is emitted. `None`: always.
    pub part: Option<Part>,
}

/// All languages with built-in templates.
pub const LANGUAGES: [&Language; 5] =
    [&C_FILES, &OPENCL_FILES, &CUDA_FILES, &HIP_FILES, &RUST_FILES];

/// Files of the C target, in the order of [`model::Files`](super::model::Files).
pub(super) const C_OUTPUTS: [File; 7] = [
    File { template: "c/header.h.j2", folder: "", suffix: ".h", part: None },
    File { template: "c/source.c.j2", folder: "", suffix: ".c", part: Some(Part::Pack) },
    File { template: "c/test.c.j2", folder: "tests/", suffix: "_test.c", part: Some(Part::Test) },
    File {
        template: "c/bench.c.j2",
        folder: "bench/",
        suffix: "_bench.c",
        part: Some(Part::Bench),
    },
    File { template: "c/mpi.h.j2", folder: "mpi/", suffix: "_mpi.h", part: Some(Part::Reshard) },
    File { template: "c/mpi.c.j2", folder: "mpi/", suffix: "_mpi.c", part: Some(Part::Reshard) },
    File {
        template: "c/mpi_test.c.j2",
        folder: "tests/",
        suffix: "_mpi_test.c",
        part: Some(Part::ReshardTest),
    },
];

/// C: headers, sources, test programs and benchmarks.
pub const C_FILES: Language = Language {
    name: "c",
    title: "C",
    runtime: "",
    compiler_macro: "",
    dialect: &C,
    wider_index: "int64_t",
    kernels: false,
    image_key: None,
    limits: &limits::C,
    macros: "",
    includes: &["stdbool.h", "stdint.h"],
    scalar_includes: &[],
    files: &C_OUTPUTS,
};

/// OpenCL: programs, and headers for their hosts.
pub const OPENCL_FILES: Language = Language {
    name: "opencl",
    title: "OpenCL C",
    runtime: "",
    compiler_macro: "",
    dialect: &OPENCL,
    wider_index: "long",
    kernels: true,
    image_key: Some("image-max"),
    limits: &limits::OPENCL,
    macros: "_OPENCL",
    includes: &["stdbool.h", "stdint.h"],
    scalar_includes: &[],
    files: &[
        File { template: "opencl/program.cl.j2", folder: "", suffix: ".cl", part: None },
        File { template: "opencl/host.h.j2", folder: "", suffix: ".h", part: None },
    ],
};

/// CUDA: headers and sources.
pub const CUDA_FILES: Language = Language {
    name: "cuda",
    title: "CUDA C++",
    runtime: "cuda",
    compiler_macro: "__CUDACC__",
    dialect: &CUDA,
    wider_index: "int64_t",
    kernels: true,
    image_key: None,
    limits: &limits::CUDA,
    macros: "_CUDA",
    includes: &["cuda_runtime.h", "stdint.h"],
    scalar_includes: &[(Scalar::F16, "cuda_fp16.h"), (Scalar::Bf16, "cuda_bf16.h")],
    files: &[
        File { template: "cuda/header.cuh.j2", folder: "", suffix: ".cuh", part: None },
        File { template: "cuda/source.cu.j2", folder: "", suffix: ".cu", part: None },
    ],
};

/// HIP: headers and sources, from the templates of CUDA.
pub const HIP_FILES: Language = Language {
    name: "hip",
    title: "HIP C++",
    runtime: "hip",
    compiler_macro: "__HIPCC__",
    dialect: &HIP,
    limits: &limits::HIP,
    macros: "_HIP",
    includes: &["hip/hip_runtime.h", "stdint.h"],
    scalar_includes: &[(Scalar::F16, "hip/hip_fp16.h")],
    files: &[
        File { template: "cuda/header.cuh.j2", folder: "", suffix: ".hip.h", part: None },
        File { template: "cuda/source.cu.j2", folder: "", suffix: ".hip", part: None },
    ],
    ..CUDA_FILES
};

/// Rust: modules.
pub const RUST_FILES: Language = Language {
    name: "rust",
    title: "Rust",
    dialect: &RUST,
    wider_index: "i64",
    limits: &limits::RUST,
    macros: "_RUST",
    includes: &[],
    files: &[File { template: "rust/module.rs.j2", folder: "", suffix: ".rs", part: None }],
    ..C_FILES
};

impl File {
    /// Path of the file, relative to the folder of the target. `out_stem` is the path of the manifest without extension.
    pub fn path(&self, out_stem: &str) -> String {
        format!("{}{out_stem}{}", self.folder, self.suffix)
    }
}

impl Language {
    /// Suffix of the header's file name, after the name of the manifest.
    pub fn header_suffix(&self) -> &'static str {
        let header = self.files.iter().find(|file| file.template.contains("header"));
        header.or(self.files.last()).map_or("", |file| file.suffix)
    }

    /// Language with this name; `None` if there is none.
    pub fn find(name: &str) -> Option<&'static Language> {
        LANGUAGES.into_iter().find(|language| language.name == name)
    }
}
