//! Converts the generic KDL tree to typed syntax ([`ManifestSyntax`]), and checks the arguments, properties and block
//! of every node.

mod access;
mod backend;
mod cache;
mod choice;
mod foreign_words;
mod gate;
mod graph;
mod item;
mod kernel;
mod keyword_value;
mod keywords;
mod mesh;
mod message_words;
mod node_scope;
mod node_signature;
mod notation_step;
mod record;
mod rename;
mod schedule;
mod shape;
mod size;
mod space;
mod step;
mod swizzle;
mod text;
mod usage_example;
mod view;

pub(crate) use keywords::NOTATION_WORDS;
pub(crate) use node_scope::{ITEMS, NodeScope};
use rename::Renames;
pub use size::bytes;
pub(crate) use space::MEMORIES;

use std::cell::OnceCell;
use std::sync::Arc;

use super::diagnostic_sink::DiagnosticSink;
use super::syntax::{ItemKind, ManifestSyntax};
use super::tree::{ManifestNode, ManifestTree};

/// Converts the top-level nodes of `tree`, parsed from `text`, to the items of the manifest with the path `file`;
/// reports errors to `faults`.
pub(super) fn manifest(
    file: &Arc<str>,
    text: &str,
    tree: &ManifestTree,
    faults: &mut DiagnosticSink,
) -> ManifestSyntax {
    let mut manifest =
        ManifestSyntax { file: Arc::clone(file), torn: tree.torn, ..ManifestSyntax::default() };
    let mut reader = ManifestReader {
        text,
        faults,
        renames: OnceCell::new(),
        axes: Vec::new(),
        head: String::new(),
    };
    for node in &tree.nodes {
        reader.item(node, &mut manifest);
    }
    manifest
}

/// Converter of nodes to typed syntax. A method that cannot read a node returns `None` and reports the reason, unless
/// the node is broken, and so was reported before.
struct ManifestReader<'t, 'f> {
    text: &'t str,
    faults: &'f mut DiagnosticSink,
    /// Suggested names for the words of the file that are not valid names; computed on first use.
    renames: OnceCell<Renames>,
    /// Names of the axes in the shape of the tensor that is being read, for suggestions.
    axes: Vec<String>,
    /// Source of the tensor that is being read, without its block, for suggestions; empty outside of a tensor.
    head: String,
}

impl ManifestReader<'_, '_> {
    fn item(&mut self, node: &ManifestNode, all: &mut ManifestSyntax) {
        self.axes.clear();
        self.head.clear();
        let broken = &mut all.broken;
        match node.name.as_str() {
            "use" => all.uses.extend(self.read_item(ItemKind::Use, node, broken, Self::r#use)),
            "const" => {
                all.consts.extend(self.read_item(ItemKind::Const, node, broken, Self::r#const));
            }
            "symbol" => {
                all.symbols.extend(self.read_item(ItemKind::Symbol, node, broken, Self::symbol));
            }
            "memory-space" => {
                let kind = ItemKind::MemorySpace;
                all.memory_spaces.extend(self.read_item(kind, node, broken, Self::memory_space));
            }
            "mesh" => all.meshes.extend(self.read_item(ItemKind::Mesh, node, broken, Self::mesh)),
            "transform" => {
                all.transforms.extend(self.read_item(
                    ItemKind::Transform,
                    node,
                    broken,
                    Self::transform,
                ));
            }
            "tensor" => {
                all.tensors.extend(self.read_item(ItemKind::Tensor, node, broken, Self::tensor));
            }
            "view" => all.views.extend(self.read_item(ItemKind::Tensor, node, broken, Self::view)),
            "kernel" => {
                all.kernels.extend(self.read_item(ItemKind::Kernel, node, broken, Self::kernel));
            }
            "instance" => {
                all.instances.extend(self.read_item(
                    ItemKind::Instance,
                    node,
                    broken,
                    Self::instance,
                ));
            }
            "backend" => {
                all.backends.extend(self.read_item(ItemKind::Backend, node, broken, Self::backend));
            }
            "graph" => {
                all.graphs.extend(self.read_item(ItemKind::Graph, node, broken, Self::graph));
            }
            "convert" => {
                let before = self.faults.count();
                let convert = self.convert(node);
                let is_valid = self.faults.count() == before && !node.is_damaged();
                all.converts.extend(convert.filter(|_| is_valid));
            }
            _ => self.unknown_node(node, &NodeScope::TOP),
        }
    }

    /// Item that `read` returns for `node`. If `read` reports an error, or `node` or a descendant is broken, the result
    /// is `None`, and the pair (`kind`, name) is added to `broken`. The name is the first argument of `node`, or
    /// without arguments the first key, as in `const LANES=4`; nothing is added without a name.
    fn read_item<T>(
        &mut self,
        kind: ItemKind,
        node: &ManifestNode,
        broken: &mut Vec<(ItemKind, String)>,
        read: impl FnOnce(&mut Self, &ManifestNode) -> Option<T>,
    ) -> Option<T> {
        let before = self.faults.count();
        let item = if node.broken { None } else { read(self, node) };
        if item.is_some() && self.faults.count() == before && !node.is_damaged() {
            return item;
        }
        let declared = match node.args.first() {
            Some(entry) => entry.text(),
            None => node.props.first().map(|(key, _)| key.value.as_str()),
        };
        broken.extend(declared.map(|name| (kind, name.to_owned())));
        None
    }
}
