//! Parser of manifests: KDL text → [`tree`] (generic nodes) → [`syntax`] (typed items). Each stage continues after an
//! error, and leaves out only the parts with errors.
//!
//! [`parse`] runs all stages; [`format()`] prints a manifest in a canonical style; [`lenient`] parses text that is
//! being edited.

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

/// Parses the manifest `text`; `file` is its path, for diagnostics. Returns its items and its diagnostics, ordered by
/// position in the text; of KDL syntax errors at most 20 are kept. Items with errors are left out, and named ones are
/// listed in [`ManifestSyntax::broken`]. Terminates on any input without panic or stack overflow, in near-linear time.
pub fn parse(file: &Arc<str>, text: &str) -> (ManifestSyntax, Vec<Diagnostic>) {
    let mut faults = DiagnosticSink::new(file);
    let tree = tree_builder::tree(text, &mut faults);
    faults.cap();
    let manifest = read::manifest(file, text, &tree, &mut faults);
    (manifest, faults.finish())
}

/// Parses the manifest `text` to a generic KDL tree, without interpretation of its nodes; `file` is its path, for
/// diagnostics. Returns the tree and at most 20 KDL syntax errors, ordered by position in the text.
pub fn parse_tree(file: &Arc<str>, text: &str) -> (tree::ManifestTree, Vec<Diagnostic>) {
    let mut faults = DiagnosticSink::new(file);
    let tree = tree_builder::tree(text, &mut faults);
    faults.cap();
    (tree, faults.finish())
}

/// True if the source of a `convert` item in the manifest `text` is a sharded tensor that `text` itself declares; MPI
/// files are then generated. Items with errors do not count.
pub fn text_needs_mpi(text: &str) -> bool {
    let (manifest, _) = parse(&Arc::from(""), text);
    let is_cut = |name: &Identifier| {
        let mut tensors = manifest.tensors.iter();
        tensors.any(|tensor| tensor.name.value == name.value && tensor.shard.is_some())
    };
    manifest.converts.iter().any(|convert| is_cut(&convert.from))
}
