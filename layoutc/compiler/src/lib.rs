//! The compiler: layout manifests in, generated source out. It reads no file, no clock and no environment.
//!
//! text → syntax ([`manifest`]) → model ([`check()`]) → plan ([`plan`]) → source ([`emit()`]). Each stage takes its input by
//! reference, returns a new value and collects all diagnostics; only this file sees all of them.

pub mod check;
pub mod codes;
pub mod config;
pub mod diagnostic;
pub mod dtype;
pub mod emit;
pub mod fill;
pub mod inspect;
pub mod locate;
pub mod manifest;
pub mod model;
pub mod nearest;
pub mod plan;
pub mod sources;
pub mod wording;

use std::collections::BTreeMap;

use rayon::prelude::*;

pub use check::{Checked, check};
pub use emit::seal;
pub use sources::{LoadError, Sources};

use config::{Config, Emit};
use diagnostic::Diagnostic;
use emit::{CSettings, Part, Templates};

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its path below the output folder, with `/`: the target's folder first.
    pub path: String,
    /// Its text, sealed.
    pub text: String,
}

/// The files of a checked project, for every target that the configuration names. `templates` are the project's own,
/// by their path below its templates folder: `c/header.h.j2`.
///
/// # Errors
/// Every fault of planning and of the templates, sorted as [`check()`] sorts.
pub fn emit(
    checked: &Checked,
    config: &Config,
    templates: &BTreeMap<String, String>,
) -> Result<Vec<Output>, Vec<Diagnostic>> {
    let Some(target) = &config.target.c else { return Ok(Vec::new()) };
    let settings = CSettings {
        prefix: config.project.prefix.clone(),
        standard: target.standard.name().to_string(),
        index: target.index_type,
        emit: target.emit.iter().copied().map(part).collect(),
    };
    let templates = Templates { user: templates.clone() };
    let common = common_folder(&config.project.sources);
    let results: Vec<Result<Vec<Output>, Vec<Diagnostic>>> = checked
        .manifests
        .par_iter()
        .map(|manifest| {
            let manifest = manifest.for_target("c");
            let stem = stem(&manifest.path, &common);
            let files = emit::emit(&manifest, &settings, &stem, &templates)?;
            Ok(files
                .into_iter()
                .map(|f| Output { path: format!("c/{}", f.path), text: f.text })
                .collect())
        })
        .collect();
    let (mut outputs, mut faults) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(files) => outputs.extend(files),
            Err(found) => faults.extend(found),
        }
    }
    if faults.is_empty() { Ok(outputs) } else { Err(faults) }
}

fn part(emit: Emit) -> Part {
    match emit {
        Emit::Constants => Part::Constants,
        Emit::Index => Part::Index,
        Emit::Pack => Part::Pack,
        Emit::Test => Part::Test,
    }
}

/// The folder that all source patterns start with, as far as it holds no wildcard: `layouts` for `layouts/**/*.kdl`.
fn common_folder(patterns: &[String]) -> String {
    let mut common: Option<Vec<&str>> = None;
    for pattern in patterns {
        let folders: Vec<&str> = match pattern.rsplit_once('/') {
            Some((folders, _)) => {
                folders.split('/').take_while(|f| !f.contains(['*', '?', '[', '{'])).collect()
            }
            None => Vec::new(),
        };
        common = Some(match common {
            None => folders,
            Some(before) => before
                .into_iter()
                .zip(folders)
                .take_while(|(a, b)| a == b)
                .map(|(a, _)| a)
                .collect(),
        });
    }
    common.unwrap_or_default().join("/")
}

/// The path of a manifest's outputs without extension: below the common source folder where it lies there.
fn stem(path: &str, common: &str) -> String {
    let inside = path.strip_prefix(common).filter(|_| !common.is_empty());
    let path = inside.and_then(|rest| rest.strip_prefix('/')).unwrap_or(path);
    let path = path.strip_suffix(".kdl").unwrap_or(path);
    let parts: Vec<&str> = path.split('/').filter(|part| !["", ".", ".."].contains(part)).collect();
    parts.join("/")
}
