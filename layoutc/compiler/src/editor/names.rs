//! Name declarations and references in a manifest. It works on the syntax alone, so that it also works while the text
//! has errors.

use std::ops::Range;

use crate::manifest::lenient::{LenientNode, slice};
use crate::manifest::read::FOREIGN;

/// The namespace of a name: names of different kinds never conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameKind {
    /// A const or a symbol.
    Value,
    /// A transform: `layout NAME` and `apply NAME`.
    Transform,
    /// A parameter of the transform `owner`.
    Parameter,
    /// A tensor or a view.
    Tensor,
    /// A kernel.
    Kernel,
    /// An operand of the kernel `owner`.
    Operand,
    /// An instance of a kernel.
    Instance,
    /// A memory space.
    Space,
    /// A mesh.
    Mesh,
    /// An axis of a mesh; axes with one name in several meshes share a name.
    MeshAxis,
    /// A backend.
    Backend,
    /// A graph.
    Graph,
    /// A tensor of the graph `owner`.
    GraphTensor,
}

impl NameKind {
    /// Returns true if manifests that use another one see its names of this kind.
    pub fn is_shared(self) -> bool {
        match self {
            Self::Value
            | Self::Transform
            | Self::Parameter
            | Self::Kernel
            | Self::Operand
            | Self::Space
            | Self::Mesh
            | Self::MeshAxis
            | Self::Backend => true,
            Self::Tensor | Self::Instance | Self::Graph | Self::GraphTensor => false,
        }
    }
}

/// An occurrence of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameOccurrence {
    /// The namespace.
    pub kind: NameKind,
    /// The name.
    pub name: String,
    /// The item that the name belongs to, for parameters, operands and graph tensors; else empty.
    pub owner: String,
    /// The bytes of the name.
    pub span: Range<usize>,
    /// True if this is the declaration. A reference may turn out to be no name at all: in an expression, an axis looks
    /// like a const.
    pub is_declared: bool,
}

/// The name occurrences in a text, in textual order.
pub fn mentions(text: &str, nodes: &[LenientNode]) -> Vec<NameOccurrence> {
    let mut finder = NameCollector { text, found: Vec::new(), scope: NameScope::default() };
    for node in nodes {
        finder.scope = NameScope::default();
        finder.item(node);
    }
    let mut found = finder.found;
    found.sort_by_key(|mention| mention.span.start);
    found
}

/// The byte ranges of all identifiers in an expression.
pub(super) fn words(text: &str, span: &Range<usize>) -> Vec<Range<usize>> {
    let is_part = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let bytes = slice(text, span).as_bytes();
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(first) = bytes.get(at) {
        let length = bytes.iter().skip(at).take_while(|b| is_part(**b)).count();
        if length > 0 && !first.is_ascii_digit() {
            words.push(span.start + at..span.start + at + length);
        }
        at += length.max(1);
    }
    words
}

/// Scope of the names inside an item.
#[derive(Default)]
struct NameScope {
    /// The kind of the item's own names.
    own: Option<NameKind>,
    /// The item's name.
    owner: String,
    /// Its parameters or operands.
    names: Vec<String>,
    /// True if expressions may read elements of tensors: `A[…]`.
    reads: bool,
}

struct NameCollector<'t> {
    text: &'t str,
    found: Vec<NameOccurrence>,
    scope: NameScope,
}

impl NameCollector<'_> {
    fn push(&mut self, kind: NameKind, owner: &str, span: &Range<usize>, is_declared: bool) {
        let name = slice(self.text, span).to_owned();
        let (owner, span) = (owner.to_owned(), span.clone());
        if !name.is_empty() {
            self.found.push(NameOccurrence { kind, name, owner, span, is_declared });
        }
    }

    fn declare(&mut self, kind: NameKind, span: Option<&Range<usize>>) {
        if let Some(span) = span {
            self.push(kind, "", span, true);
        }
    }

    fn refer(&mut self, kind: NameKind, span: Option<&Range<usize>>) {
        if let Some(span) = span {
            self.push(kind, "", span, false);
        }
    }

    /// Records the identifiers in an expression.
    fn expression(&mut self, span: &Range<usize>) {
        for word in words(self.text, span) {
            let name = slice(self.text, &word);
            let is_own = self.scope.names.iter().any(|own| own == name);
            let rest = self.text.get(word.end..span.end).unwrap_or_default();
            match self.scope.own.filter(|_| is_own) {
                Some(kind) => {
                    let owner = self.scope.owner.clone();
                    self.push(kind, &owner, &word, false);
                }
                None if self.scope.reads && rest.trim_start().starts_with('[') => {
                    self.push(NameKind::Tensor, "", &word, false);
                }
                None => self.push(NameKind::Value, "", &word, false),
            }
        }
    }

    fn item(&mut self, node: &LenientNode) {
        let mut args = node.args();
        let first = args.next();
        let owner = first.map(|name| slice(self.text, name).to_owned()).unwrap_or_default();
        match node.name(self.text) {
            "const" => {
                self.declare(NameKind::Value, first);
                args.for_each(|value| self.expression(value));
            }
            "symbol" => {
                self.declare(NameKind::Value, first);
                node.props().for_each(|(_, value)| self.expression(value));
            }
            "memory-space" => {
                self.declare(NameKind::Space, first);
                node.props().for_each(|(_, value)| self.expression(value));
            }
            "mesh" => {
                self.declare(NameKind::Mesh, first);
                for axis in &node.children {
                    self.declare(NameKind::MeshAxis, Some(&axis.name));
                    axis.args().for_each(|size| self.expression(size));
                }
            }
            "transform" => {
                self.declare(NameKind::Transform, first);
                let keys: Vec<Range<usize>> = node.props().map(|(key, _)| key.clone()).collect();
                for key in &keys {
                    self.push(NameKind::Parameter, &owner, key, true);
                }
                let names = keys.iter().map(|key| slice(self.text, key).to_owned()).collect();
                self.scope =
                    NameScope { own: Some(NameKind::Parameter), owner, names, reads: false };
                self.steps(node);
            }
            "tensor" | "view" => {
                self.declare(NameKind::Tensor, first);
                self.refer(NameKind::Tensor, node.prop(self.text, "like"));
                self.refer(NameKind::Tensor, node.prop(self.text, "of"));
                node.children.iter().for_each(|child| self.tensor(child));
            }
            "convert" => {
                self.refer(NameKind::Tensor, first);
                self.refer(NameKind::Tensor, node.prop(self.text, "to"));
                if let Some(bytes) = node.prop(self.text, "max-staging") {
                    self.expression(bytes);
                }
            }
            "kernel" => {
                self.declare(NameKind::Kernel, first);
                self.kernel(node, owner);
            }
            "instance" => self.instance(node, first),
            "backend" => {
                self.declare(NameKind::Backend, first);
                self.refer(NameKind::Backend, node.prop(self.text, "like"));
            }
            "graph" => {
                self.declare(NameKind::Graph, first);
                self.refer(NameKind::Backend, node.prop(self.text, "backend"));
                node.children.iter().for_each(|child| self.graph(child, &owner));
            }
            _ => {}
        }
    }

    fn tensor(&mut self, node: &LenientNode) {
        match node.name(self.text) {
            "shape" => self.shape(node),
            "layout" => self.layout(node),
            "map" => node.args().for_each(|text| self.expression(text)),
            "memory" => self.refer(NameKind::Space, node.args().next()),
            "shard" => {
                self.refer(NameKind::Mesh, node.args().next());
                for (_, cuts) in node.props() {
                    for axis in words(self.text, cuts) {
                        self.refer(NameKind::MeshAxis, Some(&axis));
                    }
                }
            }
            "ring" => node.props().for_each(|(_, held)| self.expression(held)),
            "require" => {
                self.refer(NameKind::Tensor, node.prop(self.text, "same-as"));
                for key in ["bytes-below", "vector"] {
                    if let Some(value) = node.prop(self.text, key) {
                        self.expression(value);
                    }
                }
            }
            _ => {}
        }
    }

    fn shape(&mut self, node: &LenientNode) {
        for axis in &node.children {
            if let Some(extent) = axis.args().next() {
                self.expression(extent);
            }
        }
    }

    /// Collects the names in a layout node: the transform and its parameters (`layout NAME block=8`), or the names in its
    /// block of steps.
    fn layout(&mut self, node: &LenientNode) {
        self.apply(node);
        self.steps(node);
    }

    fn apply(&mut self, node: &LenientNode) {
        let name = node.args().next();
        self.refer(NameKind::Transform, name);
        let owner = name.map(|name| slice(self.text, name).to_owned()).unwrap_or_default();
        let is_notation = |key: &Range<usize>| FOREIGN.contains(&slice(self.text, key));
        if owner.is_empty() || node.props().any(|(key, _)| is_notation(key)) {
            return;
        }
        for (key, value) in node.props() {
            self.push(NameKind::Parameter, &owner, key, false);
            self.expression(value);
        }
    }

    fn steps(&mut self, node: &LenientNode) {
        for step in &node.children {
            match step.name(self.text) {
                "apply" => self.apply(step),
                "map" | "tile" | "strides" => {
                    step.args().for_each(|value| self.expression(value));
                }
                "align" => {
                    if let Some(bytes) = step.args().last() {
                        self.expression(bytes);
                    }
                }
                _ => {}
            }
            for key in ["by", "multiple", "before", "after"] {
                if let Some(value) = step.prop(self.text, key) {
                    self.expression(value);
                }
            }
        }
    }

    fn kernel(&mut self, node: &LenientNode, owner: String) {
        let operands = node.children.iter().find(|child| child.name(self.text) == "operands");
        let spans: Vec<Range<usize>> =
            operands.map(|node| node.args().cloned().collect()).unwrap_or_default();
        for span in &spans {
            self.push(NameKind::Operand, &owner, span, true);
        }
        let names = spans.iter().map(|span| slice(self.text, span).to_owned()).collect();
        let reads = operands.is_none();
        self.scope = NameScope { own: Some(NameKind::Operand), owner, names, reads };
        for child in &node.children {
            match child.name(self.text) {
                "compute" => child.args().for_each(|text| self.expression(text)),
                "range" => child.args().skip(1).for_each(|extent| self.expression(extent)),
                "local" => child
                    .children
                    .iter()
                    .filter(|inner| inner.name(self.text) == "layout")
                    .for_each(|layout| self.layout(layout)),
                _ => self.schedule(child),
            }
        }
    }

    /// The loop schedule of a kernel or an instance.
    fn schedule(&mut self, node: &LenientNode) {
        match node.name(self.text) {
            "split" | "tile" => {
                if let Some(by) = node.prop(self.text, "by") {
                    self.expression(by);
                }
            }
            "cache" => {
                let tensor = node.args().next();
                match (tensor, self.scope.own) {
                    (Some(span), Some(kind))
                        if self.scope.names.iter().any(|own| own == slice(self.text, span)) =>
                    {
                        let owner = self.scope.owner.clone();
                        self.push(kind, &owner, span, false);
                    }
                    (tensor, _) if self.scope.reads => self.refer(NameKind::Tensor, tensor),
                    _ => {}
                }
                for inner in &node.children {
                    if inner.name(self.text) == "layout" {
                        self.layout(inner);
                    }
                }
            }
            _ => {}
        }
    }

    fn instance(&mut self, node: &LenientNode, name: Option<&Range<usize>>) {
        self.declare(NameKind::Instance, name);
        let of = node.prop(self.text, "of");
        self.refer(NameKind::Kernel, of);
        let owner = of.map(|of| slice(self.text, of).to_owned()).unwrap_or_default();
        let mut names = Vec::new();
        for (key, value) in node.props().filter(|(key, _)| slice(self.text, key) != "of") {
            self.push(NameKind::Operand, &owner, key, false);
            self.refer(NameKind::Tensor, Some(value));
            names.push(slice(self.text, key).to_owned());
        }
        self.scope = NameScope { own: Some(NameKind::Operand), owner, names, reads: false };
        node.children.iter().for_each(|child| self.schedule(child));
    }

    fn graph(&mut self, node: &LenientNode, owner: &str) {
        let tensor = NameKind::GraphTensor;
        match node.name(self.text) {
            "input" | "constant" => {
                if let Some(name) = node.args().next() {
                    self.push(tensor, owner, name, true);
                }
                node.children.iter().for_each(|child| self.tensor(child));
            }
            "output" | "keep" | "forbid" => {
                if let Some(name) = node.args().next() {
                    self.push(tensor, owner, name, false);
                }
            }
            "node" => {
                for child in &node.children {
                    match child.name(self.text) {
                        "in" => child.args().for_each(|name| self.push(tensor, owner, name, false)),
                        "out" => {
                            if let Some(name) = child.args().next() {
                                self.push(tensor, owner, name, true);
                            }
                            child.children.iter().for_each(|inner| self.tensor(inner));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
}
