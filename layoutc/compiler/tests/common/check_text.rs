//! Helper: checks a manifest given as text and asserts its diagnostics.
#![allow(unreachable_pub, missing_docs, reason = "shared by several tests")]

use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::config::Config;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::{CheckedProject, MemorySources, check};

/// Path of the manifest.
pub const FILE: &str = "m.kdl";

pub fn check_text(text: &str) -> CheckedProject {
    check_text_with(text, &Config::default())
}

pub fn check_text_with(text: &str, config: &Config) -> CheckedProject {
    check(&MemorySources::of(FILE, text), &[FILE.to_owned()], config)
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

/// Asserts the diagnostics of `text`, each as code, marked text and message.
#[track_caller]
pub fn assert_diagnostics(text: &str, expected: &[(&str, &str, &str)]) -> Vec<Diagnostic> {
    let diagnostics = diagnostics(text);
    assert_eq!(summaries(text, &diagnostics), expected, "{text}");
    diagnostics
}

/// Code, marked text and message of each diagnostic.
pub fn summaries<'a>(
    text: &'a str,
    diagnostics: &'a [Diagnostic],
) -> Vec<(&'a str, &'a str, &'a str)> {
    let summary = |fault: &'a Diagnostic| {
        let place = &fault.labels[0].place;
        (fault.code.id(), &text[place.start..place.end], fault.message.as_str())
    };
    diagnostics.iter().map(summary).collect()
}

/// Like [`assert_diagnostics`], and asserts the help of all diagnostics.
#[track_caller]
pub fn assert_diagnostics_and_help(text: &str, expected: &[(&str, &str, &str)], help: &[&str]) {
    let diagnostics = assert_diagnostics(text, expected);
    let helps: Vec<_> = diagnostics.iter().flat_map(|fault| &fault.help).collect();
    assert_eq!(helps, help, "{text}");
}
