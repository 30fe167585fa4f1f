//! `layoutc.toml`: its keys, their defaults and their types. The schema is generated from these types, and their
//! descriptions are the ones that editors show.

mod path;
mod read;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Serialize;

pub use read::parse;

/// A project's configuration, layoutc.toml.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct Config {
    /// What belongs to the project, and where its outputs go.
    pub project: Project,
    /// What holds for every tensor that does not say otherwise.
    pub defaults: Defaults,
    /// One table for each output language; without any, the language is C.
    pub target: Targets,
}

/// What belongs to the project, and where its outputs go. Paths count from the folder of layoutc.toml and stay inside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(default, deny_unknown_fields)]
pub struct Project {
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

impl Default for Project {
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

/// One table for each output language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(default, deny_unknown_fields)]
pub struct Targets {
    /// C.
    pub c: Option<TargetC>,
}

impl Default for Targets {
    fn default() -> Self {
        Self { c: Some(TargetC::default()) }
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
    pub emit: Vec<Emit>,
    /// The type of indices, extents and offsets in every signature.
    pub index_type: IndexType,
}

impl Default for TargetC {
    fn default() -> Self {
        Self {
            standard: CStandard::C99,
            emit: vec![Emit::Constants, Emit::Index, Emit::Pack, Emit::Test],
            index_type: IndexType::Int64,
        }
    }
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
pub enum Emit {
    /// Extents, strides and sizes, usable in `#if`.
    Constants,
    /// The functions from logical to physical indices and back.
    Index,
    /// The routines that pack, unpack and convert.
    Pack,
    /// A stand-alone program that tests the others.
    Test,
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
