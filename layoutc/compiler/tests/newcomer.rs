//! Mistakes of newcomers, one a file: what is said of each is beside it, and the same manifest with the literal fix.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::check_text::diagnostics;
use layoutc_compiler::base::diagnostic::{Diagnostic, Severity};
use layoutc_testing::recorded::is_recorded;

/// The manifests with a mistake, in order.
fn mistakes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/newcomer");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_mistake = |file: &PathBuf| {
        let name = file.to_string_lossy();
        name.ends_with(".kdl") && !name.ends_with(".fixed.kdl")
    };
    let mut files: Vec<PathBuf> = files.filter(is_mistake).collect();
    files.sort();
    files
}

/// Code, message, marked text, notes, help and fixes of each diagnostic.
fn report(text: &str, diagnostics: &[Diagnostic]) -> String {
    let mut report = String::new();
    for fault in diagnostics {
        let severity = if fault.severity == Severity::Error { "error" } else { "warning" };
        writeln!(report, "{severity}[{}]: {}", fault.code.id(), fault.message).unwrap();
        let marked = fault.labels.iter().map(|label| &text[label.place.start..label.place.end]);
        marked.for_each(|marked| writeln!(report, "marked: {marked}").unwrap());
        fault.notes.iter().for_each(|note| writeln!(report, "note: {note}").unwrap());
        fault.help.iter().for_each(|help| writeln!(report, "help: {help}").unwrap());
        for fix in &fault.fixes {
            let old = &text[fix.place.start..fix.place.end];
            writeln!(report, "fix: {}", fix.label(old)).unwrap();
        }
    }
    if report.is_empty() { "nothing is reported\n".to_owned() } else { report }
}

#[test]
fn the_mistakes_of_newcomers_have_these_reports() {
    let mut wrong = Vec::new();
    for file in mistakes() {
        let text = fs::read_to_string(&file).unwrap();
        let report = report(&text, &diagnostics(&text));
        let beside = file.with_extension("txt");
        if !is_recorded(&beside, &report) {
            wrong.push(format!("{}:\n{report}", beside.display()));
        }
    }
    assert!(wrong.is_empty(), "renew with BLESS=1:\n{}", wrong.join("\n"));
}

#[test]
fn the_literal_fix_checks_without_an_error() {
    let files = mistakes();
    assert_eq!(files.len(), 46);
    for file in files {
        let fixed = file.with_extension("fixed.kdl");
        let text = fs::read_to_string(&fixed).unwrap();
        assert_eq!(diagnostics(&text), [], "{}", fixed.display());
    }
}
