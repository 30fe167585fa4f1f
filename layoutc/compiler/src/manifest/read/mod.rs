//! Converts the KDL tree to typed syntax, and checks every node against its signature.

mod backend;
mod cache;
mod choice;
mod foreign;
mod foreign_words;
mod gate;
mod graph;
mod item;
mod kernel;
mod keywords;
mod mesh;
mod node_signature;
mod record;
mod rename;
mod schedule;
mod shape;
mod size;
mod space;
mod step;
mod swizzle;
mod text;
mod view;

pub(crate) use keywords::FOREIGN;
pub(crate) use node_signature::{ITEMS, NodeScope};
use rename::Renames;
pub use size::bytes;
pub(crate) use space::MEMORIES;

use std::cell::OnceCell;
use std::sync::Arc;

use super::diagnostic_sink::DiagnosticSink;
use super::syntax::{ItemKind, ManifestSyntax};
use super::tree::{ManifestNode, ManifestTree};

/// The items of a tree; errors are reported to `faults`.
pub(super) fn manifest(
    file: &Arc<str>,
    text: &str,
    tree: &ManifestTree,
    faults: &mut DiagnosticSink,
) -> ManifestSyntax {
    let mut manifest = ManifestSyntax {
        file: Arc::clone(file),
        uses: Vec::new(),
        consts: Vec::new(),
        symbols: Vec::new(),
        memory_spaces: Vec::new(),
        meshes: Vec::new(),
        transforms: Vec::new(),
        tensors: Vec::new(),
        views: Vec::new(),
        converts: Vec::new(),
        kernels: Vec::new(),
        instances: Vec::new(),
        backends: Vec::new(),
        graphs: Vec::new(),
        broken: Vec::new(),
        torn: tree.torn,
    };
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

/// Reads nodes. A method that returns `None` has reported the reason.
struct ManifestReader<'t, 'f> {
    text: &'t str,
    faults: &'f mut DiagnosticSink,
    /// Suggested names for words that are not valid names; computed on first use.
    renames: OnceCell<Renames>,
    /// The axes of the shape of the tensor that is being read, for suggestions.
    axes: Vec<String>,
    /// The tensor that is being read, as written before its block, for suggestions.
    head: String,
}

impl ManifestReader<'_, '_> {
    fn item(&mut self, node: &ManifestNode, manifest: &mut ManifestSyntax) {
        let broken = &mut manifest.broken;
        self.axes.clear();
        self.head.clear();
        match node.name.as_str() {
            "use" => manifest.uses.extend(self.read_item(ItemKind::Use, node, broken, Self::r#use)),
            "const" => {
                manifest.consts.extend(self.read_item(
                    ItemKind::Const,
                    node,
                    broken,
                    Self::r#const,
                ));
            }
            "symbol" => {
                manifest.symbols.extend(self.read_item(
                    ItemKind::Symbol,
                    node,
                    broken,
                    Self::symbol,
                ));
            }
            "memory-space" => {
                manifest.memory_spaces.extend(self.read_item(
                    ItemKind::MemorySpace,
                    node,
                    broken,
                    Self::memory_space,
                ));
            }
            "mesh" => {
                manifest.meshes.extend(self.read_item(ItemKind::Mesh, node, broken, Self::mesh))
            }
            "transform" => {
                manifest.transforms.extend(self.read_item(
                    ItemKind::Transform,
                    node,
                    broken,
                    Self::transform,
                ));
            }
            "tensor" => {
                manifest.tensors.extend(self.read_item(
                    ItemKind::Tensor,
                    node,
                    broken,
                    Self::tensor,
                ));
            }
            "kernel" => {
                manifest.kernels.extend(self.read_item(
                    ItemKind::Kernel,
                    node,
                    broken,
                    Self::kernel,
                ));
            }
            "instance" => {
                manifest.instances.extend(self.read_item(
                    ItemKind::Instance,
                    node,
                    broken,
                    Self::instance,
                ));
            }
            "backend" => {
                manifest.backends.extend(self.read_item(
                    ItemKind::Backend,
                    node,
                    broken,
                    Self::backend,
                ));
            }
            "graph" => {
                manifest.graphs.extend(self.read_item(ItemKind::Graph, node, broken, Self::graph));
            }
            "view" => {
                manifest.views.extend(self.read_item(ItemKind::Tensor, node, broken, Self::view))
            }
            "convert" => {
                let before = self.faults.count();
                let convert = self.convert(node);
                let is_valid = self.faults.count() == before && !node.is_damaged();
                manifest.converts.extend(convert.filter(|_| is_valid));
            }
            _ => self.unknown_node(node, &NodeScope::TOP),
        }
    }

    /// The item, if reading it reported no error; else its name is added to `broken`.
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
        broken.extend(declared(node).map(|name| (kind, name)));
        None
    }
}

/// The name that a node declares: its first argument, if that is a string, or the key in `const LANES = 4`.
fn declared(node: &ManifestNode) -> Option<String> {
    let Some(entry) = node.args.first() else {
        return node.props.first().map(|(key, _)| key.value.clone());
    };
    match &entry.value {
        super::tree::ManifestValue::String(name) => Some(name.clone()),
        super::tree::ManifestValue::Integer(_)
        | super::tree::ManifestValue::Float(_)
        | super::tree::ManifestValue::Bool(_)
        | super::tree::ManifestValue::Null => None,
    }
}
