//! `layoutc.toml`: its keys, defaults and types. The JSON schema is generated from these types; editors show their doc
//! comments.

mod path;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use crate::target::limits::OPENCL;

pub use read::parse;

/// Configuration of a project (layoutc.toml). Missing keys take their default values.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct Config {
    /// Name, manifests, output folder, templates folder and identifier prefix of the project.
    pub project: ProjectConfig,
    /// Alignment, fill value and padding warning of tensors whose layouts do not set their own.
    pub defaults: Defaults,
    /// Targets to generate code for, one table each: `[target.c]`, `[target.opencl]`, `[target.cuda]`, `[target.hip]`,
    /// `[target.rust]` and custom targets, such as `[target.python]`. If there is no such table, the only target is C,
    /// with its default settings.
    pub target: TargetsConfig,
}

/// Name, manifests, output folder, templates folder and identifier prefix of the project. Paths are relative to the
/// folder of layoutc.toml, use `/` as the separator, and do not lead out of that folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct ProjectConfig {
    /// Name of the project: any string. It is optional and informational: no output depends on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Glob patterns of the project's manifests, at least one, relative to the folder of layoutc.toml: `*` matches any
    /// name within one folder, `**` any sequence of folders, `?` one character, and `{a,b}` either alternative. The
    /// default is `["layouts/**/*.kdl"]`.
    pub sources: Vec<String>,
    /// Output folder, relative to the folder of layoutc.toml. Each target writes to the subfolder of its name, such as
    /// `generated/c`. The default is `generated`.
    pub out_dir: String,
    /// Folder of the project's own templates, relative to the folder of layoutc.toml; it need not exist. A template in
    /// it takes precedence over the built-in template of the same name, such as `c/header.h.j2`. The default is
    /// `templates`.
    pub templates_dir: String,
    /// Prefix of the generated names of tensors, views, conversions, kernels and graphs; in upper case in names of
    /// macros. It has at most 128 ASCII letters, digits and `_`, and does not begin with a digit. The default is empty.
    pub prefix: String,
}

impl Default for ProjectConfig {
    fn default() -> Self {
        Self {
            name: None,
            sources: vec!["layouts/**/*.kdl".to_owned()],
            out_dir: "generated".to_owned(),
            templates_dir: "templates".to_owned(),
            prefix: String::new(),
        }
    }
}

/// Alignment, fill value and padding warning of tensors whose layouts do not set their own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct Defaults {
    /// Alignment of the base address of each tensor without an `align` step, in bytes: a power of two. A memory space
    /// or a swizzle mode may raise it. The default is 64.
    #[schemars(range(min = 1))]
    pub alignment: u64,
    /// Fill value that pack writes to the padding of each tensor without a `fill` step: a number that the element type
    /// can represent. The default is 0; in `f8e8m0fnu`, which has no zero, 0 stands for the least value.
    pub fill: DefaultFill,
    /// Fraction of a tensor's memory, from 0 to 1: more padding than this is a warning (`padding::large`), unless the
    /// layout has a step `padding allow`. The default is 0.5; 1 turns this warning off.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub padding_warning: f64,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { alignment: 64, fill: DefaultFill::Integer(0), padding_warning: 0.5 }
    }
}

/// Fill value that pack writes to padding: an integer or a floating-point number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DefaultFill {
    /// Integer fill value, from -2^63 to 2^63 - 1.
    Integer(i64),
    /// Floating-point fill value, such as `0.5`, `1e30`, `inf` or `nan`.
    Float(f64),
}

/// Targets to generate code for: `c`, `opencl`, `cuda`, `hip`, `rust` and custom targets, one table each. If there is no
/// such table, the only target is C, with its default settings.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(default)]
pub struct TargetsConfig {
    /// C99 source code, in the folder `c` of the output folder. It is generated if this table is present, even empty,
    /// or if there is no table of any target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c: Option<TargetC>,
    /// OpenCL C 1.2 programs and headers for their hosts, in the folder `opencl` of the output folder. They are
    /// generated if this table is present, even empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opencl: Option<TargetOpenCl>,
    /// CUDA C++ headers and source files, in the folder `cuda` of the output folder. They are generated if this table
    /// is present, even empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda: Option<TargetCuda>,
    /// HIP C++ headers and source files for AMD's GPUs, in the folder `hip` of the output folder. They are generated if
    /// this table is present, even empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hip: Option<TargetHip>,
    /// Rust modules, in the folder `rust` of the output folder. They are generated if this table is present, even empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rust: Option<TargetRust>,
    /// Custom targets, by name: at most 64 ASCII letters, digits, `_` and `-`. The name is also that of the target's
    /// folder in the output folder.
    #[serde(flatten)]
    pub own: BTreeMap<String, TargetCustom>,
}

impl Default for TargetsConfig {
    /// Targets without layoutc.toml: C, with all that a source needs in the source itself.
    fn default() -> Self {
        Self::of_c(TargetC { runtime: RuntimeMode::Inline, ..TargetC::default() })
    }
}

impl TargetsConfig {
    /// The target C alone.
    pub(crate) const fn of_c(c: TargetC) -> Self {
        Self { c: Some(c), opencl: None, cuda: None, hip: None, rust: None, own: BTreeMap::new() }
    }

    /// True if functions for CPUs are generated: by the targets C and Rust, by a custom target, whose model is
    /// that of C, or if no target is configured.
    pub(crate) fn has_cpu(&self) -> bool {
        let built_in = self.c.is_some() || self.rust.is_some();
        built_in || !self.own.is_empty() || self.names().is_empty()
    }

    /// Names of all configured targets, which are also the names of their output folders: `c`, `opencl`, `cuda`, `hip`,
    /// `rust` in this order, then custom targets in alphabetical order.
    pub fn names(&self) -> Vec<&str> {
        let c = self.c.as_ref().map(|_| "c");
        let rust = self.rust.as_ref().map(|_| "rust");
        let own = self.own.keys().map(String::as_str);
        c.into_iter().chain(self.gpus()).chain(rust).chain(own).collect()
    }

    /// Names of the configured targets with GPU kernels, in the order of `names`.
    pub fn gpus(&self) -> Vec<&'static str> {
        let targets = [
            self.opencl.as_ref().map(|_| "opencl"),
            self.cuda.as_ref().map(|_| "cuda"),
            self.hip.as_ref().map(|_| "hip"),
        ];
        targets.into_iter().flatten().collect()
    }
}

/// C99 source code: for each manifest a header and, as selected by `emit`, a source file, a test program and a
/// benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct TargetC {
    /// C standard that the comment at the top of each header names: `c99`, `c11` or `c17`. It does not change the code,
    /// which is C99 and also valid C11 and C17. The default is `c99`.
    pub standard: CStandard,
    /// Kinds of output for each manifest: `constants`, `index`, `pack`, `test` and `bench`, each at most once. A header
    /// is always written. The default is `["constants", "index", "pack", "test"]`.
    pub emit: Vec<EmitKind>,
    /// If `true`, index functions are also generated as macros. With constant arguments these are constant expressions,
    /// valid in static initializers and array lengths, but not in `#if`. The default is `false`.
    pub macros: bool,
    /// If `true`, pack, unpack and conversions of large tensors run on all cores when compiled with OpenMP
    /// (`cc -fopenmp`). Without OpenMP, or if `false`, they run on one core. The default is `false`.
    pub openmp: bool,
    /// Integer type of indices, extents and offsets in all generated signatures: `int64_t` or `int32_t`. The default is
    /// `int64_t`.
    pub index_type: IndexType,
    /// Place of the runtime, the C functions that are the same for all manifests: `shared` for one header
    /// `layoutc_runtime.h` in the folder `c` of the output folder, which all sources include, or `inline` for a copy of
    /// the functions in each source that needs them. The default is `shared`; without layoutc.toml it is `inline`.
    pub runtime: RuntimeMode,
    /// Path of the umbrella header, a header that includes the headers of all manifests, except those that need MPI. It
    /// is relative to the folder `c` of the output folder and ends in `.h` or `.hpp`: `all.h`, `include/all.h`. By
    /// default no umbrella header is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub umbrella_header: Option<String>,
    /// Byte range of the value of `umbrella-header` in layoutc.toml; empty if the key is missing.
    #[serde(skip)]
    pub umbrella_span: Range<usize>,
}

impl Default for TargetC {
    fn default() -> Self {
        Self {
            standard: CStandard::C99,
            emit: vec![EmitKind::Constants, EmitKind::Index, EmitKind::Pack, EmitKind::Test],
            macros: false,
            openmp: false,
            index_type: IndexType::Int64,
            runtime: RuntimeMode::Shared,
            umbrella_header: None,
            umbrella_span: 0..0,
        }
    }
}

/// OpenCL C 1.2: for each manifest a program (`.cl`), and a header (`.h`) for its host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct TargetOpenCl {
    /// OpenCL C version of the generated programs. The only allowed value, which is the default, is `"1.2"`; the
    /// programs are also valid in later versions.
    pub version: OpenClVersion,
    /// Maximum width and height of an image on the target devices, in texels: two positive integers. A larger image is
    /// an error (`target::image_size`). The default is `[16384, 16384]`.
    #[schemars(range(min = 1))]
    pub image_max: [u64; 2],
    /// Integer type of indices, extents and offsets in all generated signatures: `int` or `long`. The default is `int`.
    pub index_type: OpenClIndex,
    /// If `true`, each kernel with vector accesses is accompanied by a kernel for buffers of any alignment, whose name ends
    /// in `_unaligned`. If `false`, buffers begin at a multiple of the constant `…_BUFFER_ALIGNMENT`. The default is
    /// `false`.
    pub unaligned_buffers: bool,
}

impl Default for TargetOpenCl {
    fn default() -> Self {
        let [[width, height, _], _] = OPENCL.image_max;
        Self {
            version: OpenClVersion::V1_2,
            image_max: [width, height],
            index_type: OpenClIndex::Int,
            unaligned_buffers: false,
        }
    }
}

/// OpenCL C version of the generated programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum OpenClVersion {
    /// Programs in OpenCL C 1.2, which are also valid in later versions.
    #[serde(rename = "1.2")]
    V1_2,
}

/// Integer type of indices, extents and offsets in generated OpenCL C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OpenClIndex {
    /// Indices, extents and offsets are 32-bit integers (`int`). A tensor that needs more is an error
    /// (`limit::index_type`).
    Int,
    /// Indices, extents and offsets are 64-bit integers (`long`).
    Long,
}

/// CUDA C++: for each manifest a header (`.cuh`) and a source file (`.cu`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct TargetCuda {
    /// Target architectures, at least one, as for nvcc's `-arch`: `sm_` or `compute_`, a number of two or three digits
    /// and optionally `a` or `f`, such as `sm_90a`. The comment at the top of each header names them; they do not
    /// change the code. The default is `["sm_80"]`.
    pub arch: Vec<String>,
    /// Integer type of indices, extents and offsets in all generated signatures: `int` or `int64_t`. The default is
    /// `int`.
    pub index_type: CudaIndex,
    /// If `true`, each kernel with vector accesses is accompanied by a kernel for buffers of any alignment, and launchers
    /// choose by the addresses. If `false`, launchers refuse buffers that are not aligned. The default is `false`.
    pub unaligned_buffers: bool,
}

impl Default for TargetCuda {
    fn default() -> Self {
        Self {
            arch: vec!["sm_80".to_owned()],
            index_type: CudaIndex::Int,
            unaligned_buffers: false,
        }
    }
}

/// Integer type of indices, extents and offsets in generated CUDA C++ and HIP C++.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum CudaIndex {
    /// Indices, extents and offsets are 32-bit integers (`int`). A tensor that needs more is an error
    /// (`limit::index_type`).
    #[serde(rename = "int")]
    Int,
    /// Indices, extents and offsets are 64-bit integers (`int64_t`).
    #[serde(rename = "int64_t")]
    Int64,
}

/// HIP C++: for each manifest a header (`.hip.h`) and a source file (`.hip`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct TargetHip {
    /// Target architectures, at least one, as for hipcc's `--offload-arch`: `gfx` and three or four hexadecimal digits,
    /// such as `gfx942`. The comment at the top of each header names them; they do not change the code. The default is
    /// `["gfx90a"]`.
    pub arch: Vec<String>,
    /// Integer type of indices, extents and offsets in all generated signatures: `int` or `int64_t`. The default is
    /// `int`.
    pub index_type: CudaIndex,
    /// If `true`, each kernel with vector accesses is accompanied by a kernel for buffers of any alignment, and launchers
    /// choose by the addresses. If `false`, launchers refuse buffers that are not aligned. The default is `false`.
    pub unaligned_buffers: bool,
}

impl Default for TargetHip {
    fn default() -> Self {
        Self {
            arch: vec!["gfx90a".to_owned()],
            index_type: CudaIndex::Int,
            unaligned_buffers: false,
        }
    }
}

/// Rust 2021: for each manifest a module (`.rs`) with constants, index functions, relayouts and kernels. Indices, extents
/// and offsets are `i64`, buffers are slices. The table has no keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct TargetRust {}

/// Custom target: for each manifest one file, rendered from one template, in the folder of the target's name in the
/// output folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(deny_unknown_fields)]
pub struct TargetCustom {
    /// Template of the files: its path in the templates folder, such as `python/index.py.j2`, or the name of a built-in
    /// template. The key is required.
    pub template: String,
    /// Extension of the files, without the leading dot: letters, digits, `_`, `-` and inner dots. The default is the
    /// extension of the template's name before `.j2`: `py` for `python/index.py.j2`.
    pub extension: String,
    /// Byte range of the value of `template` in layoutc.toml.
    #[serde(skip)]
    pub span: Range<usize>,
}

/// C standard that the comment at the top of each header names. It does not change the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CStandard {
    /// Headers name ISO C99; the code is C99.
    C99,
    /// Headers name ISO C11; the code is C99, which is also valid C11.
    C11,
    /// Headers name ISO C17; the code is C99, which is also valid C17.
    C17,
}

impl CStandard {
    /// Name of the standard in configurations and in compiler flags: `c99`.
    pub fn name(self) -> &'static str {
        match self {
            Self::C99 => "c99",
            Self::C11 => "c11",
            Self::C17 => "c17",
        }
    }
}

/// Kind of output for each manifest of the C target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EmitKind {
    /// Macros for extents, strides and sizes in the header, usable in `#if`.
    Constants,
    /// Index functions in the header, which convert between logical and physical indices.
    Index,
    /// Source file `<manifest>.c` with pack, unpack, conversions and kernels. It implies `index`.
    Pack,
    /// Stand-alone program `<manifest>_test.c` that tests the other outputs. It implies `constants`, `index` and
    /// `pack`.
    Test,
    /// Stand-alone program `<manifest>_bench.c` that measures the speed of pack, unpack, conversions and kernels. It
    /// implies `index` and `pack`.
    Bench,
}

/// Integer type of indices, extents and offsets in generated C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum IndexType {
    /// Indices, extents and offsets are 64-bit integers (`int64_t`).
    #[serde(rename = "int64_t")]
    Int64,
    /// Indices, extents and offsets are 32-bit integers (`int32_t`). A tensor that needs more is an error
    /// (`limit::index_type`).
    #[serde(rename = "int32_t")]
    Int32,
}

/// Place of the runtime of generated C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RuntimeMode {
    /// One header for all sources.
    Shared,
    /// A copy in each source, of the functions that it needs.
    Inline,
}

/// JSON schema of layoutc.toml, indented, with a final line end: the contents of `schemas/layoutc.schema.json`.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Config);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}
