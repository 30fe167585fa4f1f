//! Manifests: KDL text → [`tree`] → [`syntax`]. Each stage collects all that is wrong and goes on with the rest.

mod bracket_lists;
mod diagnostic_sink;
mod fast_path;
mod format;
pub mod highlight;
mod kdl;
pub mod lenient;
mod lex;
mod node_lints;
mod number;
pub(crate) mod read;
pub mod syntax;
#[cfg(test)]
mod tests;
pub mod tree;
mod tree_builder;

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use diagnostic_sink::DiagnosticSink;
pub use format::{difference, format};
pub(crate) use read::MEMORIES;
pub use read::bytes;
use syntax::ManifestSyntax;

/// The items of a manifest, and all that is wrong with it in the order of the file. What has errors is left out and
/// named in [`ManifestSyntax::broken`]. No text makes this panic, exhaust the stack, or take more than about linear time.
pub fn parse(file: &Arc<str>, text: &str) -> (ManifestSyntax, Vec<Diagnostic>) {
    let mut faults = DiagnosticSink::new(file);
    let tree = tree_builder::tree(text, &mut faults);
    faults.cap();
    let manifest = read::manifest(file, text, &tree, &mut faults);
    (manifest, faults.finish())
}

/// The generic tree of a manifest, and what is wrong with it as KDL.
pub fn parse_tree(file: &Arc<str>, text: &str) -> (tree::ManifestTree, Vec<Diagnostic>) {
    let mut faults = DiagnosticSink::new(file);
    let tree = tree_builder::tree(text, &mut faults);
    faults.cap();
    (tree, faults.finish())
}
