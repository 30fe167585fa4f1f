//! Completion proposals at a byte offset of a manifest: keywords, names, types and paths that may follow there.

use std::collections::BTreeSet;
use std::ops::Range;

use super::ProjectSnapshot;
use super::file::{EditorFile, visible};
use super::keywords;
use super::names::NameKind;
use crate::base::dtype::{LANES, SCALARS};
use crate::env::library::{LIBRARY, is_library};
use crate::manifest::lenient::{self, CursorContext, LenientNode, slice};
use crate::manifest::read::NOTATION_WORDS;

/// Kind of a completion proposal, as editors distinguish them by icons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CompletionIcon {
    /// Keyword that names a node, such as `tensor`, or a function of maps, such as `morton`.
    Keyword,
    /// Key of a property, such as `dtype`.
    Property,
    /// Keyword that is a value, such as `saturate`.
    Value,
    /// Element type, such as `f32`.
    Type,
    /// Axis of a tensor or of a layout.
    Axis,
    /// Declared name, with its kind.
    Name(NameKind),
    /// Path of another manifest, in a `use` item.
    File,
}

/// A completion proposal; proposals are ordered by label.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CompletionProposal {
    /// Label of the proposal in the list.
    pub label: String,
    /// Text that is inserted: `dtype=` for the label `dtype`.
    pub text: String,
    /// Kind of the proposal, which determines its icon.
    pub icon: CompletionIcon,
    /// Short description shown beside the label; empty if there is none.
    pub detail: String,
}

/// Pair `(range, proposals)` for the cursor at byte `offset` of the manifest at `path`. `range` is the byte range of
/// the unfinished word that ends at the cursor; each of the proposals, ordered by label, can replace it. There are no
/// proposals inside a comment, directly after one, or for an unknown path.
pub fn complete(
    known: &ProjectSnapshot,
    path: &str,
    offset: usize,
) -> (Range<usize>, Vec<CompletionProposal>) {
    let none = (offset..offset, Vec::new());
    let Some(file) = known.files.get(path) else { return none };
    let Some(before) = file.text.get(..offset) else { return none };
    let Some(typing) = lenient::cursor_context(before) else { return none };
    let mut list = CompletionBuilder {
        known,
        path,
        file,
        text: before,
        typing: &typing,
        found: BTreeSet::new(),
    };
    list.fill();
    (typing.word.clone(), list.found.into_iter().collect())
}

struct CompletionBuilder<'a> {
    known: &'a ProjectSnapshot,
    path: &'a str,
    file: &'a EditorFile,
    /// Text of the manifest up to the cursor.
    text: &'a str,
    typing: &'a CursorContext,
    found: BTreeSet<CompletionProposal>,
}

impl<'a> CompletionBuilder<'a> {
    fn push(&mut self, label: &str, text: String, icon: CompletionIcon, detail: &str) {
        let (label, detail) = (label.to_owned(), detail.to_owned());
        self.found.insert(CompletionProposal { label, text, icon, detail });
    }

    fn plain(&mut self, label: &str, icon: CompletionIcon, detail: &str) {
        self.push(label, label.to_owned(), icon, detail);
    }

    fn names(&mut self, kind: NameKind, owner: &str) {
        for declared in visible(&self.known.files, self.path, kind) {
            if declared.mention.owner == owner {
                let from = if declared.path == self.path { "" } else { declared.path };
                self.plain(&declared.mention.name, CompletionIcon::Name(kind), from);
            }
        }
    }

    fn values(&mut self, words: &[&'static str]) {
        for word in words {
            self.plain(word, CompletionIcon::Value, "");
        }
    }

    fn dtypes(&mut self) {
        for (_, name, bits) in SCALARS {
            self.plain(name, CompletionIcon::Type, &format!("{bits} bits"));
            if *bits >= 8
                && self.text.get(self.typing.word.clone()).is_some_and(|w| w.contains('x'))
            {
                for lanes in LANES {
                    self.plain(&format!("{name}x{lanes}"), CompletionIcon::Type, "");
                }
            }
        }
    }

    fn parent(&self) -> Option<&'a str> {
        self.typing.around.last().map(|node| node.name(self.text))
    }

    /// Name of the grandparent node of the cursor: the node whose block contains the node whose block contains the
    /// cursor. `None` if there is no such node.
    fn above(&self) -> Option<&'a str> {
        let before = self.typing.around.len().checked_sub(2)?;
        self.typing.around.get(before).map(|node| node.name(self.text))
    }

    fn fill(&mut self) {
        let typing = self.typing;
        let Some(node) = &typing.node else {
            self.nodes();
            return;
        };
        let name = node.name(self.text);
        if let Some(key) = &typing.key {
            self.value(node, name, slice(self.text, key));
        } else if typing.is_in_string {
            self.string(name);
        } else {
            self.argument(node, name);
            self.properties(node, name);
        }
    }

    fn nodes(&mut self) {
        let parent = self.parent();
        for word in keywords::nodes_in(parent, self.above()) {
            let doc = keywords::node(word, parent);
            self.plain(word, CompletionIcon::Keyword, doc.map_or("", |doc| doc.summary));
        }
    }

    fn properties(&mut self, node: &LenientNode, name: &str) {
        for key in keywords::properties_of(name, self.parent()) {
            if node.prop(self.text, key).is_none() {
                let says = keywords::property(key).map_or("", |doc| doc.summary);
                self.push(key, format!("{key}="), CompletionIcon::Property, says);
            }
        }
        if matches!(name, "shard" | "ring") {
            for axis in self.shape().map(|shape| shape.1).unwrap_or_default() {
                if node.prop(self.text, &axis).is_none() {
                    self.push(&axis, format!("{axis}="), CompletionIcon::Axis, "");
                }
            }
        }
        let owner = match (name, node.args().next()) {
            ("layout" | "apply", Some(transform)) => Some((NameKind::Parameter, transform)),
            ("instance", _) => node.prop(self.text, "of").map(|of| (NameKind::Operand, of)),
            _ => None,
        };
        let Some((kind, owner)) = owner else { return };
        let owner = slice(self.text, owner);
        for declared in visible(&self.known.files, self.path, kind) {
            let name = &declared.mention.name;
            if declared.mention.owner == owner && node.prop(self.text, name).is_none() {
                self.push(name, format!("{name}="), CompletionIcon::Name(kind), "");
            }
        }
    }

    fn argument(&mut self, node: &LenientNode, name: &str) {
        let count = node.args().count();
        self.values(&keywords::values_of(name, None));
        match (name, self.parent()) {
            ("layout" | "apply", _) if count == 0 => self.names(NameKind::Transform, ""),
            (
                "order" | "split" | "fuse" | "pad" | "axis-separators",
                Some("layout" | "transform"),
            )
            | ("require", _) => self.axes(),
            ("align", _) if count == 0 => self.axes(),
            (
                "loops" | "split" | "fuse" | "tile" | "unroll" | "vectorize" | "parallel"
                | "partial-sums" | "split-k",
                Some("kernel" | "instance" | "schedule"),
            ) => self.axes(),
            ("convert", _) if count == 0 => self.names(NameKind::Tensor, ""),
            ("memory", _) => self.names(NameKind::Space, ""),
            ("shard", _) if count == 0 => self.names(NameKind::Mesh, ""),
            ("acc", _) => self.dtypes(),
            ("in" | "output" | "keep" | "forbid", _) => {
                let graph = self.typing.around.iter().find(|n| n.name(self.text) == "graph");
                let graph = graph.and_then(|node| node.args().next());
                let owner = graph.map(|span| slice(self.text, span).to_owned());
                self.names(NameKind::GraphTensor, &owner.unwrap_or_default());
            }
            ("const", None) if count == 1 => self.names(NameKind::Value, ""),
            (_, Some("shape" | "mesh")) => self.names(NameKind::Value, ""),
            (_, Some("dtype")) => self.dtypes(),
            _ => {}
        }
    }

    fn value(&mut self, node: &LenientNode, name: &str, key: &str) {
        self.values(&keywords::values_of(name, Some(key)));
        match (name, key) {
            (_, "dtype" | "pack-from") => self.dtypes(),
            ("view", "of") | ("convert", "to") | ("tensor", "like") | ("require", "same-as") => {
                self.names(NameKind::Tensor, "");
            }
            ("instance", "of") => self.names(NameKind::Kernel, ""),
            ("instance", _) => self.names(NameKind::Tensor, ""),
            ("shard", _) => self.names(NameKind::MeshAxis, ""),
            ("ring", _) => self.expression(),
            ("graph", "backend") | ("backend", "like") => self.names(NameKind::Backend, ""),
            ("cache" | "local", "at") => self.axes(),
            (_, "by" | "multiple" | "before" | "after" | "min" | "max" | "vector") => {
                self.expression();
            }
            ("layout" | "apply", key)
                if !NOTATION_WORDS.contains(&key) && self.parent().is_some() =>
            {
                self.expression();
            }
            ("const", _) => self.names(NameKind::Value, ""),
            _ => {}
        }
        // A tensor cannot be `like` itself.
        if let Some(own) = node.args().next().filter(|_| matches!(name, "tensor" | "view")) {
            let own = slice(self.text, own);
            self.found.retain(|found| {
                found.label != own || found.icon != CompletionIcon::Name(NameKind::Tensor)
            });
        }
    }

    /// Adds the proposals inside a quoted string that is an argument of a node called `name`. For an expression they
    /// are the names that it may contain, for `use` the paths of manifests, and none otherwise.
    fn string(&mut self, name: &str) {
        match (name, self.parent()) {
            ("use", None) => self.manifests(),
            ("map", _) => {
                self.axes();
                self.expression();
                for function in ["morton", "hilbert", "bitrev"] {
                    self.push(function, format!("{function}("), CompletionIcon::Keyword, "");
                }
            }
            ("compute", _) => {
                self.names(NameKind::Tensor, "");
                self.expression();
            }
            ("tile" | "strides" | "const" | "range", _) | (_, Some("shape")) => self.expression(),
            _ => {}
        }
    }

    /// Adds the names that an expression may contain, except axes: consts, symbols, and the parameters or operands of
    /// the enclosing transform or kernel.
    fn expression(&mut self) {
        self.names(NameKind::Value, "");
        let Some(item) = self.typing.around.first() else { return };
        let owner = item.args().next().map(|span| slice(self.text, span).to_owned());
        let (kind, owner) = match (item.name(self.text), owner) {
            ("transform", Some(owner)) => (NameKind::Parameter, owner),
            ("kernel", Some(owner)) => (NameKind::Operand, owner),
            _ => return,
        };
        self.names(kind, &owner);
    }

    fn manifests(&mut self) {
        let path = self.path;
        let folder = path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or_default();
        for one in LIBRARY {
            self.plain(one.path, CompletionIcon::File, one.purpose);
        }
        let is_other = |other: &&String| *other != path && !is_library(other);
        for other in self.known.files.keys().filter(is_other) {
            let below = other.strip_prefix(folder);
            let ups = folder.matches('/').count();
            let written =
                below.map_or_else(|| format!("{}{other}", "../".repeat(ups)), str::to_owned);
            self.plain(&written, CompletionIcon::File, "");
        }
    }

    /// Pair `(name, axes)` of the top-level item that encloses the cursor: its first argument, which is the name that
    /// most items declare, and the names of the axes in its `shape` in the current text. `axes` is empty for an item
    /// without a shape. `None` at the top level, and for an item without arguments.
    fn shape(&self) -> Option<(String, BTreeSet<String>)> {
        let item = self.typing.around.first()?;
        let name = slice(self.text, item.args().next()?).to_owned();
        let is_it = |node: &&LenientNode| {
            let first = node.args().next().map(|span| slice(&self.file.text, span));
            first == Some(name.as_str()) && node.name(&self.file.text) == item.name(self.text)
        };
        let written = self.file.nodes.iter().filter(is_it).flat_map(|node| &node.children);
        let shapes = written.filter(|node| node.name(&self.file.text) == "shape");
        let axes = shapes.flat_map(|shape| &shape.children);
        let axes = axes.map(|axis| axis.name(&self.file.text).to_owned()).collect();
        Some((name, axes))
    }

    /// Adds the axes of the enclosing item: the axes of its `shape` in the current text. If the item is a tensor that
    /// had no errors in the last check, also the axes after each of its layout steps, as recorded by that check.
    fn axes(&mut self) {
        let Some((name, mut axes)) = self.shape() else { return };
        if let Some(model) = self.known.models.get(self.path)
            && let Some(tensor) = model.tensors.iter().find(|tensor| tensor.name == name)
        {
            let key = (tensor.places.layout.file.clone(), name.clone());
            let steps = self.known.steps.get(&key).into_iter().flatten();
            let made = steps.flat_map(|step| &step.axes).chain(tensor.layout.storage());
            axes.extend(made.chain(tensor.layout.logical()).map(|axis| axis.name.clone()));
        }
        for axis in axes {
            self.plain(&axis, CompletionIcon::Axis, "");
        }
    }
}
