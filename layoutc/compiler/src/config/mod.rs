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

/// A project's configuration, layoutc.toml.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct Config {
    /// The project: its manifests, and where its outputs go.
    pub project: ProjectConfig,
    /// Defaults for all tensors.
    pub defaults: Defaults,
    /// One table for each target; the default is C alone.
    pub target: TargetsConfig,
}

/// The project: its manifests and outputs. Paths are relative to the folder of layoutc.toml and stay inside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct ProjectConfig {
    /// The name of the project; the default is the name of its folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The manifests, as glob patterns.
    pub sources: Vec<String>,
    /// The output folder.
    pub out_dir: String,
    /// The folder of custom templates, which take precedence over built-in templates of the same name.
    pub templates_dir: String,
    /// The prefix of every generated identifier: empty, or letters, digits and `_`.
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

/// Defaults for all tensors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct Defaults {
    /// The alignment of base addresses, in bytes: a power of two.
    #[schemars(range(min = 1))]
    pub alignment: u64,
    /// The value that pack writes to padding.
    pub fill: DefaultFill,
    /// The fraction of a tensor's bytes that is padding, 0 to 1, above which the build warns.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub padding_warning: f64,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { alignment: 64, fill: DefaultFill::Integer(0), padding_warning: 0.5 }
    }
}

/// The value that pack writes to padding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DefaultFill {
    /// An integer.
    Integer(i64),
    /// A number with a fraction or an exponent.
    Float(f64),
}

/// One table for each target: an output language or a custom template.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(default)]
pub struct TargetsConfig {
    /// C.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub c: Option<TargetC>,
    /// OpenCL C.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opencl: Option<TargetOpenCl>,
    /// CUDA C++.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuda: Option<TargetCuda>,
    /// Custom targets, by name.
    #[serde(flatten)]
    pub own: BTreeMap<String, TargetCustom>,
}

impl Default for TargetsConfig {
    fn default() -> Self {
        let c = Some(TargetC::default());
        Self { c, opencl: None, cuda: None, own: BTreeMap::new() }
    }
}

impl TargetsConfig {
    /// Names of all configured targets, which are also the names of their output folders: `c`, `opencl`, `cuda` in this
    /// order, then custom targets in alphabetical order.
    pub fn names(&self) -> Vec<&str> {
        let built_in = [
            self.c.as_ref().map(|_| "c"),
            self.opencl.as_ref().map(|_| "opencl"),
            self.cuda.as_ref().map(|_| "cuda"),
        ];
        built_in.into_iter().flatten().chain(self.own.keys().map(String::as_str)).collect()
    }
}

/// C: a header and a source for each manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct TargetC {
    /// The C standard named in the header comment. The output is the same for all: C99, valid in later standards too.
    pub standard: CStandard,
    /// The kinds of output for each manifest.
    pub emit: Vec<EmitKind>,
    /// Generates the index functions also as macros, which can be used in initializers of static data.
    pub macros: bool,
    /// Runs pack, unpack and convert in parallel on all cores, if the compiler supports OpenMP.
    pub openmp: bool,
    /// The type of indices, extents and offsets in every signature.
    pub index_type: IndexType,
    /// An additional header that includes the headers of all manifests: its path in the target's folder.
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
            umbrella_header: None,
            umbrella_span: 0..0,
        }
    }
}

/// OpenCL C 1.2: a program for each manifest, and a header for its host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct TargetOpenCl {
    /// The OpenCL C version of the program; it is also valid in later versions.
    pub version: OpenClVersion,
    /// The maximum image size of the devices: width and height in texels.
    #[schemars(range(min = 1))]
    pub image_max: [u64; 2],
    /// The type of indices, extents and offsets in every signature.
    pub index_type: OpenClIndex,
}

impl Default for TargetOpenCl {
    fn default() -> Self {
        let [[width, height, _], _] = OPENCL.image_max;
        Self {
            version: OpenClVersion::V1_2,
            image_max: [width, height],
            index_type: OpenClIndex::Int,
        }
    }
}

/// A version of OpenCL C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum OpenClVersion {
    /// OpenCL C 1.2.
    #[serde(rename = "1.2")]
    V1_2,
}

/// The type of indices in OpenCL C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OpenClIndex {
    /// 32 bits; a layout that does not fit is an error.
    Int,
    /// 64 bits.
    Long,
}

/// CUDA C++: a header and a source for each manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct TargetCuda {
    /// The target architectures, as in nvcc's `-arch`; they are named in the header comment.
    pub arch: Vec<String>,
    /// The type of indices, extents and offsets in every signature.
    pub index_type: CudaIndex,
}

impl Default for TargetCuda {
    fn default() -> Self {
        Self { arch: vec!["sm_80".to_owned()], index_type: CudaIndex::Int }
    }
}

/// The type of indices in CUDA C++.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum CudaIndex {
    /// 32 bits; a layout that does not fit is an error.
    #[serde(rename = "int")]
    Int,
    /// 64 bits.
    #[serde(rename = "int64_t")]
    Int64,
}

/// A custom target: one file for each manifest, generated from one template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(deny_unknown_fields)]
pub struct TargetCustom {
    /// The template, as a path below the templates folder: `python/index.py.j2`.
    pub template: String,
    /// The extension of the files, without the leading dot; the default is taken from the template's name before `.j2`.
    pub extension: String,
    /// Byte range of the value of `template` in layoutc.toml.
    #[serde(skip)]
    pub span: Range<usize>,
}

/// A version of the C standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CStandard {
    /// ISO C99.
    C99,
    /// ISO C11.
    C11,
    /// ISO C17.
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

/// A kind of output for one manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EmitKind {
    /// Extents, strides and sizes as macros, usable in `#if`.
    Constants,
    /// Functions between logical and physical indices.
    Index,
    /// Routines that pack, unpack and convert.
    Pack,
    /// A stand-alone program that tests the other outputs.
    Test,
    /// A stand-alone benchmark of the routines.
    Bench,
}

/// The type of indices in generated signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum IndexType {
    /// 64 bits.
    #[serde(rename = "int64_t")]
    Int64,
    /// 32 bits; a layout that does not fit is an error.
    #[serde(rename = "int32_t")]
    Int32,
}

/// JSON schema of layoutc.toml, indented, with a final line end: the contents of `schemas/layoutc.schema.json`.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Config);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}
