//! Helper: checks a manifest given as text.
#![allow(unreachable_pub, missing_docs, reason = "shared by several tests")]

use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::config::Config;
use layoutc_compiler::{CheckedProject, Compiler, MemorySources};

pub fn checked(text: &str) -> CheckedProject {
    let sources = MemorySources::of("m.kdl", text);
    Compiler::new(&sources, &Config::default()).check(&["m.kdl".to_owned()])
}

pub fn found(text: &str) -> Vec<Diagnostic> {
    checked(text).diagnostics
}
