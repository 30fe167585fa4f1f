//! `layoutc.toml`: its keys, their defaults and their types. The schema is generated from these types, and their
//! descriptions are the ones that editors show.

mod path;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

pub use read::parse;

/// A project's configuration, layoutc.toml.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct Config {
    /// What belongs to the project, and where its outputs go.
    pub project: ProjectConfig,
    /// What holds for every tensor that does not say otherwise.
    pub defaults: Defaults,
    /// One table for each output language; without any, the language is C.
    pub target: TargetsConfig,
}

/// What belongs to the project, and where its outputs go. Paths count from the folder of layoutc.toml and stay inside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct ProjectConfig {
    /// The name of the project; the folder's name if none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The manifests, as glob patterns.
    pub sources: Vec<String>,
    /// The folder of the generated files.
    pub out_dir: String,
    /// The folder of the project's own templates, which take precedence over the built-in ones of the same name.
    pub templates_dir: String,
    /// The beginning of every generated identifier: empty, or letters, digits and `_`.
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

/// What holds for every tensor that does not say otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct Defaults {
    /// The alignment of a tensor's base address, in bytes: a power of two.
    #[schemars(range(min = 1))]
    pub alignment: u64,
    /// The value that pack writes to padding.
    pub fill: DefaultFill,
    /// The share of padding in a tensor's bytes, 0 to 1, above which the build warns.
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

/// One table for each target: an output language, or a template of the project's own.
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
    /// Targets of the project's own, by name.
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
    /// The names of all targets, which are those of their folders: the built-in languages first.
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
    /// The edition of C that the header names in its first lines. The output is the same for all of them: C99 that the
    /// later ones take too.
    pub standard: CStandard,
    /// What is written for each manifest.
    pub emit: Vec<EmitKind>,
    /// Whether the index functions come as macros too, which initialisers of static data may use.
    pub macros: bool,
    /// Whether pack, unpack and convert run on all cores where the compiler knows OpenMP.
    pub openmp: bool,
    /// The type of indices, extents and offsets in every signature.
    pub index_type: IndexType,
    /// One more header, which includes those of all manifests: its path in the target's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub umbrella_header: Option<String>,
    /// Where the file says so.
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
    /// The version of OpenCL C that the program is written in; later devices take it too.
    pub version: OpenClVersion,
    /// The greatest image that the devices have: texels along a row, and rows.
    #[schemars(range(min = 1))]
    pub image_max: [u64; 2],
    /// The type of indices, extents and offsets in every signature.
    pub index_type: OpenClIndex,
}

impl Default for TargetOpenCl {
    fn default() -> Self {
        Self {
            version: OpenClVersion::V1_2,
            image_max: [16384, 16384],
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
    /// The architectures that the source is meant for, as nvcc's `-arch` has them: it names them in its first lines.
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

/// A target of the project's own: one file for each manifest, from one template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(deny_unknown_fields)]
pub struct TargetCustom {
    /// The template, a path below the templates folder: `python/index.py.j2`.
    pub template: String,
    /// The extension of the files, without the dot; without it, what the template's name has before `.j2`.
    pub extension: String,
    /// Where the template is named in the file.
    #[serde(skip)]
    pub span: Range<usize>,
}

/// An edition of C.
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
    /// The name that configurations and compilers use.
    pub fn name(self) -> &'static str {
        match self {
            Self::C99 => "c99",
            Self::C11 => "c11",
            Self::C17 => "c17",
        }
    }
}

/// A part of the output for one manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EmitKind {
    /// Extents, strides and sizes, usable in `#if`.
    Constants,
    /// The functions from logical to physical indices and back.
    Index,
    /// The routines that pack, unpack and convert.
    Pack,
    /// A stand-alone program that tests the others.
    Test,
    /// A stand-alone program that times the routines.
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

/// The JSON schema of layoutc.toml: `schemas/layoutc.schema.json`, indented, with a line end at its end.
pub fn schema() -> String {
    let schema = schemars::schema_for!(Config);
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}
