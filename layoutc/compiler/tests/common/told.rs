//! Helper: checks a manifest given as text.
#![allow(unreachable_pub, missing_docs, reason = "shared by several tests")]

use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::config::Config;
use layoutc_compiler::{CheckedProject, MemorySources, check};

pub fn checked(text: &str) -> CheckedProject {
    check(&MemorySources::of("m.kdl", text), &["m.kdl".to_owned()], &Config::default())
}

pub fn found(text: &str) -> Vec<Diagnostic> {
    checked(text).diagnostics
}
