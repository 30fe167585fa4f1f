//! Reads manifests: KDL text → [`tree`] → [`syntax`]. Each stage reports all errors and continues with the rest.

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

use crate::base::diagnostic::Diagnostic;
use diagnostic_sink::DiagnosticSink;
pub use format::{difference, format};
pub(crate) use read::MEMORIES;
pub use read::bytes;
use syntax::{Identifier, ManifestSyntax};

/// Parses a manifest. Returns its items and all diagnostics, in textual order. Items with errors are left out and
/// listed in [`ManifestSyntax::broken`]. Terminates on any input without panic or stack overflow, in near-linear time.
pub fn parse(file: &Arc<str>, text: &str) -> (ManifestSyntax, Vec<Diagnostic>) {
    let mut faults = DiagnosticSink::new(file);
    let tree = tree_builder::tree(text, &mut faults);
    faults.cap();
    let manifest = read::manifest(file, text, &tree, &mut faults);
    (manifest, faults.finish())
}

/// Parses the generic tree of a manifest. Returns it with the KDL syntax errors.
pub fn parse_tree(file: &Arc<str>, text: &str) -> (tree::ManifestTree, Vec<Diagnostic>) {
    let mut faults = DiagnosticSink::new(file);
    let tree = tree_builder::tree(text, &mut faults);
    faults.cap();
    (tree, faults.finish())
}

/// True if the text of a manifest, as parsed, converts sharded tensors.
pub fn text_needs_mpi(text: &str) -> bool {
    let (manifest, _) = parse(&Arc::from(""), text);
    let is_cut = |name: &Identifier| {
        let mut tensors = manifest.tensors.iter();
        tensors.any(|tensor| tensor.name.value == name.value && tensor.shard.is_some())
    };
    manifest.converts.iter().any(|convert| is_cut(&convert.from))
}
