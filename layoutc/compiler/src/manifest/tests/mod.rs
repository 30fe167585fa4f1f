//! Tests of reading manifests, valid and invalid.

mod format;
mod good;
mod kdl;
mod notation_steps;
mod plain;
mod record;
mod sweep;
mod views;

use std::sync::Arc;

use super::parse;
use super::syntax::ManifestSyntax;
use crate::base::diagnostic::Diagnostic;

fn read(text: &str) -> (ManifestSyntax, Vec<Diagnostic>) {
    parse(&Arc::from("layouts/a.kdl"), text)
}

/// Syntax of the manifest `text`; asserts that it has no errors.
fn good(text: &str) -> ManifestSyntax {
    let (manifest, faults) = read(text);
    assert_eq!(faults, [], "{text}");
    assert_eq!(manifest.broken, []);
    assert!(!manifest.torn);
    manifest
}
