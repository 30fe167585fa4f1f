//! Syntax → model: names, types, shapes, maps, proofs. The only place of semantic errors.
//!
//! Each manifest is read once, its names are gathered with those of the manifests that it uses, and then every tensor
//! is checked on its own: one that is refused does not silence the others.

mod convert;
mod expr;
mod faults;
mod load;
mod names;
mod padding;
mod parallel;
mod refusal;
mod scope;
mod steps;
mod tensor;

use rayon::prelude::*;

use crate::config::Config;
use crate::diagnostic::{Diagnostic, Severity};
use crate::model::{Manifest, Tensor};
use crate::sources::Sources;

/// What a project means, as far as it means anything.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The manifests asked for, in order, with their good tensors and conversions.
    pub manifests: Vec<Manifest>,
    /// All that is wrong or worth a look, by file and place.
    pub diagnostics: Vec<Diagnostic>,
}

impl Checked {
    /// Whether nothing is wrong.
    pub fn is_good(&self) -> bool {
        self.diagnostics.iter().all(|d| d.severity != Severity::Error)
    }
}

/// Checks and proves the manifests at `paths`, and those that they use.
pub fn check(sources: &dyn Sources, paths: &[String], config: &Config) -> Checked {
    let (files, mut diagnostics) = load::load(sources, paths);
    let scopes = scope::gather(&files, &mut diagnostics);
    let asked: Vec<usize> = paths.iter().filter_map(|path| files.position(path)).collect();
    let results: Vec<(Manifest, Vec<Diagnostic>)> = asked
        .par_iter()
        .filter_map(|file| check_manifest(*file, &files, &scopes, config))
        .collect();
    let mut manifests = Vec::new();
    for (manifest, found) in results {
        manifests.push(manifest);
        diagnostics.extend(found);
    }
    sort(&mut diagnostics);
    Checked { manifests, diagnostics }
}

fn check_manifest(
    file: usize,
    files: &load::Files,
    scopes: &scope::Scopes,
    config: &Config,
) -> Option<(Manifest, Vec<Diagnostic>)> {
    let syntax = files.syntax(file)?;
    let mut diagnostics = names::check(syntax, config);
    let checked: Vec<(Option<Tensor>, Vec<Diagnostic>)> = syntax
        .tensors
        .par_iter()
        .map(|item| tensor::check(item, tensor::Place { file, files, scopes, config }))
        .collect();
    let mut tensors = Vec::new();
    for (tensor, found) in checked {
        tensors.extend(tensor);
        diagnostics.extend(found);
    }
    let converts = convert::check(syntax, &tensors, &mut diagnostics);
    Some((Manifest { path: syntax.file.to_string(), tensors, converts }, diagnostics))
}

/// By file and place; the same fault found twice (a transform that two tensors apply) is told once.
pub(crate) fn sort(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by(|a, b| {
        let place = |d: &Diagnostic| d.labels.first().map(|label| label.place.clone());
        place(a).cmp(&place(b)).then(a.code.cmp(&b.code))
    });
    diagnostics.dedup();
}
