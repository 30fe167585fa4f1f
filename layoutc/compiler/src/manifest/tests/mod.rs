//! Tests of reading manifests, valid and invalid.

mod foreign;
mod format;
mod good;
mod items;
mod kdl;
mod kernels;
mod plain;
mod record;
mod shape;
mod steps;
mod sweep;
mod unquoted;
mod views;

use std::sync::Arc;

use super::parse;
use super::syntax::ManifestSyntax;
use crate::base::diagnostic::Diagnostic;

fn read(text: &str) -> (ManifestSyntax, Vec<Diagnostic>) {
    parse(&Arc::from("layouts/a.kdl"), text)
}

/// The syntax of a text without errors.
fn good(text: &str) -> ManifestSyntax {
    let (manifest, faults) = read(text);
    assert_eq!(faults, [], "{text}");
    assert_eq!(manifest.broken, []);
    assert!(!manifest.torn);
    manifest
}

/// The text at the primary span of a diagnostic.
fn marked<'t>(text: &'t str, fault: &Diagnostic) -> &'t str {
    let place = &fault.labels[0].place;
    &text[place.start..place.end]
}

/// Asserts the diagnostics of `text`, each as code, marked text and message, and the help texts of all.
fn check(text: &str, expected: &[(&str, &str, &str)], help: &[&str]) {
    let (_, faults) = read(text);
    let found: Vec<_> =
        faults.iter().map(|f| (f.code.id(), marked(text, f), f.message.as_str())).collect();
    assert_eq!(found, expected, "{text}");
    let helps: Vec<_> = faults.iter().flat_map(|f| &f.help).collect();
    assert_eq!(helps, help, "{text}");
}
