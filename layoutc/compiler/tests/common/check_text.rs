//! Helper: checks a manifest given as text.
#![allow(unreachable_pub, missing_docs, reason = "shared by several tests")]

use std::collections::BTreeMap;

use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::config::{Config, TargetC, TargetCuda, TargetOpenCl, TargetsConfig};
use layoutc_compiler::model::Tensor;
use layoutc_compiler::{CheckedProject, Compiler, MemorySources};

/// Path of the manifest.
pub const FILE: &str = "m.kdl";

/// Configuration with the targets C, OpenCL and CUDA.
pub fn all_targets() -> Config {
    let target = TargetsConfig {
        c: Some(TargetC::default()),
        opencl: Some(TargetOpenCl::default()),
        cuda: Some(TargetCuda::default()),
        hip: None,
        rust: None,
        own: BTreeMap::new(),
    };
    Config { target, ..Config::default() }
}

pub fn check_text(text: &str) -> CheckedProject {
    check_text_with(text, &Config::default())
}

pub fn check_text_with(text: &str, config: &Config) -> CheckedProject {
    Compiler::new(&MemorySources::of(FILE, text), config).check(&[FILE.to_owned()])
}

/// Checks a text that has no diagnostics.
#[track_caller]
pub fn check_valid(text: &str) -> CheckedProject {
    let checked = check_text(text);
    assert_eq!(checked.diagnostics, [], "{text}");
    checked
}

/// Tensors of the manifest; the text may have diagnostics.
#[track_caller]
pub fn tensors(text: &str) -> Vec<Tensor> {
    let mut checked = check_text(text);
    assert_eq!(checked.manifests.len(), 1, "{:#?}\n{text}", checked.diagnostics);
    checked.manifests.remove(0).tensors
}

pub fn diagnostics(text: &str) -> Vec<Diagnostic> {
    check_text(text).diagnostics
}
