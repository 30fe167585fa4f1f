//! Helper: checks a manifest given as text and asserts its diagnostics.
#![allow(unreachable_pub, missing_docs, reason = "shared by several tests")]

use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::config::Config;
use layoutc_compiler::{CheckedProject, Compiler, MemorySources};

/// Path of the manifest.
pub const FILE: &str = "m.kdl";

pub fn checked(text: &str) -> CheckedProject {
    Compiler::new(&MemorySources::of(FILE, text), &Config::default()).check(&[FILE.to_owned()])
}

pub fn found(text: &str) -> Vec<Diagnostic> {
    checked(text).diagnostics
}

/// Asserts the diagnostics of `text`, each as code, marked text and message.
#[track_caller]
pub fn told(text: &str, expected: &[(&str, &str, &str)]) -> Vec<Diagnostic> {
    let found = found(text);
    assert_eq!(rows(text, &found), expected, "{text}");
    found
}

/// Code, marked text and message of each diagnostic.
pub fn rows<'a>(text: &'a str, found: &'a [Diagnostic]) -> Vec<(&'a str, &'a str, &'a str)> {
    let row = |fault: &'a Diagnostic| {
        let place = &fault.labels[0].place;
        (fault.code.id(), &text[place.start..place.end], fault.message.as_str())
    };
    found.iter().map(row).collect()
}

/// Like [`told`], and asserts the help of all diagnostics.
#[track_caller]
pub fn told_with_help(text: &str, expected: &[(&str, &str, &str)], help: &[&str]) {
    let found = told(text, expected);
    let helps: Vec<_> = found.iter().flat_map(|fault| &fault.help).collect();
    assert_eq!(helps, help, "{text}");
}
