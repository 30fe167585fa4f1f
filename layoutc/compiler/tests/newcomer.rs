//! Mistakes of newcomers, one a file, each with its diagnostics (`.txt`) and with the fix that they suggest
//! (`.fixed.kdl`).
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test")]

use std::fs;
use std::path::Path;

use crate::common::report::{Case, MAIN, assert_recorded, cases_in, diagnostics};

fn mistakes() -> Vec<Case> {
    cases_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/newcomer"))
}

#[test]
fn newcomer_mistakes_match_recorded_reports() {
    let report = |case: Case| (case.path.with_extension("txt"), case.report(&case.diagnostics()));
    assert_recorded(&mistakes().into_iter().map(report).collect::<Vec<_>>());
}

#[test]
fn the_literal_fix_checks_without_an_error() {
    let cases = mistakes();
    assert_eq!(cases.len(), 47);
    for case in cases {
        let fixed = case.path.with_extension("fixed.kdl");
        let text = fs::read_to_string(&fixed).unwrap();
        assert_eq!(diagnostics(&[(MAIN.to_owned(), text)].into()), [], "{}", fixed.display());
    }
}
