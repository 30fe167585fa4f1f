//! The compiler: layout manifests in, generated source out. It reads no file, no clock and no environment.

pub mod codes;
pub mod config;
pub mod diagnostic;
pub mod dtype;
pub mod inspect;
pub mod locate;
pub mod manifest;
pub mod model;
pub mod nearest;
pub mod seal;

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;

/// Where texts come from.
pub trait Sources: Sync {
    /// The text at `path` (with `/`, as given or relative to the project's root).
    fn load(&self, path: &str) -> Result<String, LoadError>;
}

/// Why a text could not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadError {
    /// There is no such file.
    NotFound,
    /// Not UTF-8 from this byte on.
    NotUtf8 {
        /// How many bytes are good.
        valid_up_to: usize,
    },
    /// More bytes than a manifest may have.
    TooLarge {
        /// How many.
        bytes: u64,
    },
    /// Anything else, in words.
    Other(String),
}

/// What a check found.
#[derive(Debug, Clone, Default)]
pub struct Checked {
    /// The manifests, in the order of the paths.
    pub manifests: Vec<model::Manifest>,
    /// Everything there is to say, by file and position.
    pub diagnostics: Vec<Diagnostic>,
}

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Below the output folder, with `/`.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// Proves every tensor of the manifests at `paths`.
pub fn check(sources: &dyn Sources, paths: &[String], _config: &config::Config) -> Checked {
    let manifest = |path: &String| {
        sources.load(path).ok().map(|_| model::Manifest {
            path: path.clone(),
            tensors: Vec::new(),
            converts: Vec::new(),
        })
    };
    Checked { manifests: paths.iter().filter_map(manifest).collect(), diagnostics: Vec::new() }
}

/// The files of a checked project.
pub fn emit(
    _checked: &Checked,
    _config: &config::Config,
    _templates: &BTreeMap<String, String>,
) -> Result<Vec<Output>, Vec<Diagnostic>> {
    Ok(Vec::new())
}
