//! Manifests: KDL text → [`tree`] → [`syntax`]. Each stage collects all that is wrong and goes on with the rest.

mod blocks;
mod brackets;
pub mod draft;
mod fault;
mod format;
mod kdl;
mod lex;
mod number;
pub mod paint;
mod plain;
pub(crate) mod read;
mod spelling;
pub mod syntax;
#[cfg(test)]
mod tests;
pub mod tree;

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use fault::DiagnosticSink;
pub use format::{difference, format};
pub(crate) use read::MEMORIES;
pub use read::bytes;
use syntax::ManifestSyntax;

/// The items of a manifest, and all that is wrong with it in the order of the file. What has errors is left out and
/// named in [`ManifestSyntax::broken`]. No text makes this panic, exhaust the stack, or take more than about linear time.
pub fn parse(file: &Arc<str>, text: &str) -> (ManifestSyntax, Vec<Diagnostic>) {
    let mut faults = DiagnosticSink::new(file);
    let tree = blocks::tree(text, &mut faults);
    faults.cap();
    let manifest = read::manifest(file, text, &tree, &mut faults);
    (manifest, faults.finish())
}

/// The generic tree of a manifest, and what is wrong with it as KDL.
pub fn parse_tree(file: &Arc<str>, text: &str) -> (tree::ManifestTree, Vec<Diagnostic>) {
    let mut faults = DiagnosticSink::new(file);
    let tree = blocks::tree(text, &mut faults);
    faults.cap();
    (tree, faults.finish())
}
