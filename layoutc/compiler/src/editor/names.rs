//! Declarations and references of names in a manifest, as a list of [`NameOccurrence`]. They are found in the syntax
//! alone, so that the list is available while the text has errors.

use std::ops::Range;

use crate::manifest::lenient::{LenientNode, slice};
use crate::manifest::read::NOTATION_WORDS;

/// Kind of a name. A reference of one kind never refers to a declaration of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameKind {
    /// Const or symbol: a name of an integer in expressions.
    Value,
    /// Transform, which `layout NAME` and `apply NAME` refer to.
    Transform,
    /// Parameter of the transform that `owner` names.
    Parameter,
    /// Tensor or view of a manifest.
    Tensor,
    /// Kernel, declared by a `kernel` item.
    Kernel,
    /// Operand of a kernel. [`NameOccurrence::owner`] is the name of the kernel.
    Operand,
    /// Instance of a kernel, declared by an `instance` item.
    Instance,
    /// Memory space, declared by a `memory-space` item.
    Space,
    /// Device mesh, declared by a `mesh` item.
    Mesh,
    /// Axis of a device mesh. Axes of different meshes that have equal names count as one name.
    MeshAxis,
    /// Backend of graphs, declared by a `backend` item.
    Backend,
    /// Graph of operators, declared by a `graph` item.
    Graph,
    /// Tensor of the graph that `owner` names.
    GraphTensor,
}

impl NameKind {
    /// True if a manifest sees names of this kind that are declared in the manifests that it uses.
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

/// Occurrence of a name in a manifest: its declaration or a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameOccurrence {
    /// Kind of the name.
    pub kind: NameKind,
    /// Text of the name.
    pub name: String,
    /// Name of the item that a parameter, operand or graph tensor belongs to; empty for other names.
    pub owner: String,
    /// Byte range of the name in the manifest.
    pub span: Range<usize>,
    /// True for the declaration of the name, false for a reference. A reference may have no declaration: in an
    /// expression, an axis looks like a const.
    pub is_declared: bool,
}

/// Name occurrences in a text with the top-level nodes `nodes`, in textual order.
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

/// Byte ranges in `text` of all identifiers in the expression at byte range `span`.
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

/// Names that are visible only inside one top-level item: the parameters of a transform in the transform, the operands
/// of a kernel in the kernel and in its instances.
#[derive(Default)]
struct NameScope {
    /// Kind of `names`, parameter or operand; `None` if the item has no such names.
    own: Option<NameKind>,
    /// Name of the transform or kernel that declares `names`; empty outside of transforms, kernels and instances.
    owner: String,
    /// Names of the parameters or operands.
    names: Vec<String>,
    /// True in a kernel without `operands`. A name before `[` in its expressions, as in `A[i]`, then refers to a
    /// tensor.
    reads: bool,
}

struct NameCollector<'t> {
    text: &'t str,
    found: Vec<NameOccurrence>,
    scope: NameScope,
}

impl NameCollector<'_> {
    fn push<'r>(
        &mut self,
        kind: NameKind,
        owner: &str,
        spans: impl IntoIterator<Item = &'r Range<usize>>,
        is_declared: bool,
    ) {
        for span in spans {
            let name = slice(self.text, span).to_owned();
            let (owner, span) = (owner.to_owned(), span.clone());
            if !name.is_empty() {
                self.found.push(NameOccurrence { kind, name, owner, span, is_declared });
            }
        }
    }

    fn declare<'r>(&mut self, kind: NameKind, spans: impl IntoIterator<Item = &'r Range<usize>>) {
        self.push(kind, "", spans, true);
    }

    fn refer<'r>(&mut self, kind: NameKind, spans: impl IntoIterator<Item = &'r Range<usize>>) {
        self.push(kind, "", spans, false);
    }

    /// Records a reference if the name at `span` is a parameter or operand of the current item, and returns true;
    /// otherwise returns false.
    fn refer_own(&mut self, span: &Range<usize>) -> bool {
        let name = slice(self.text, span);
        let is_own = self.scope.names.iter().any(|own| own == name);
        let Some(kind) = self.scope.own.filter(|_| is_own) else { return false };
        let owner = self.scope.owner.clone();
        self.push(kind, &owner, [span], false);
        true
    }

    /// Records a reference for every identifier in the expressions at `spans`. An identifier that names a parameter or
    /// operand of the current item refers to that. In a kernel without `operands`, any other identifier before `[` is a
    /// tensor. All others are consts or symbols.
    fn expressions<'r>(&mut self, spans: impl IntoIterator<Item = &'r Range<usize>>) {
        for span in spans {
            for word in words(self.text, span) {
                let rest = self.text.get(word.end..span.end).unwrap_or_default();
                let is_read = self.scope.reads && rest.trim_start().starts_with('[');
                let kind = if is_read { NameKind::Tensor } else { NameKind::Value };
                if !self.refer_own(&word) {
                    self.refer(kind, [&word]);
                }
            }
        }
    }

    fn owned(&self, name: Option<&Range<usize>>) -> String {
        name.map(|name| slice(self.text, name).to_owned()).unwrap_or_default()
    }

    fn item(&mut self, node: &LenientNode) {
        let mut args = node.args();
        let first = args.next();
        let owner = self.owned(first);
        match node.name(self.text) {
            "const" => {
                self.declare(NameKind::Value, first);
                self.expressions(args);
            }
            "symbol" => {
                self.declare(NameKind::Value, first);
                self.expressions(node.values());
            }
            "memory-space" => {
                self.declare(NameKind::Space, first);
                self.expressions(node.values());
            }
            "mesh" => {
                self.declare(NameKind::Mesh, first);
                for axis in &node.children {
                    self.declare(NameKind::MeshAxis, [&axis.name]);
                    self.expressions(axis.args());
                }
            }
            "transform" => {
                self.declare(NameKind::Transform, first);
                let keys = || node.props().map(|(key, _)| key);
                self.push(NameKind::Parameter, &owner, keys(), true);
                let names = keys().map(|key| slice(self.text, key).to_owned()).collect();
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
                self.expressions(node.prop(self.text, "max-staging"));
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
            "shape" => {
                for axis in &node.children {
                    self.expressions(axis.args().next());
                }
            }
            "layout" => self.layout(node),
            "map" => self.expressions(node.args()),
            "memory" => self.refer(NameKind::Space, node.args().next()),
            "shard" => {
                self.refer(NameKind::Mesh, node.args().next());
                for cuts in node.values() {
                    self.refer(NameKind::MeshAxis, &words(self.text, cuts));
                }
            }
            "ring" => self.expressions(node.values()),
            "require" => {
                self.refer(NameKind::Tensor, node.prop(self.text, "same-as"));
                for key in ["bytes-below", "vector"] {
                    self.expressions(node.prop(self.text, key));
                }
            }
            _ => {}
        }
    }

    /// Records the names in a `layout` node. For `layout NAME block=8` they are the transform and its parameters, for a
    /// layout with a block the names in its steps.
    fn layout(&mut self, node: &LenientNode) {
        self.apply(node);
        self.steps(node);
    }

    /// Records the names in the `layout` nodes in the block of `node`.
    fn layouts(&mut self, node: &LenientNode) {
        for inner in node.children.iter().filter(|inner| inner.name(self.text) == "layout") {
            self.layout(inner);
        }
    }

    fn apply(&mut self, node: &LenientNode) {
        let name = node.args().next();
        self.refer(NameKind::Transform, name);
        let owner = self.owned(name);
        let is_notation = |key: &Range<usize>| NOTATION_WORDS.contains(&slice(self.text, key));
        if owner.is_empty() || node.props().any(|(key, _)| is_notation(key)) {
            return;
        }
        for (key, value) in node.props() {
            self.push(NameKind::Parameter, &owner, [key], false);
            self.expressions([value]);
        }
    }

    fn steps(&mut self, node: &LenientNode) {
        for step in &node.children {
            match step.name(self.text) {
                "apply" => self.apply(step),
                "map" | "tile" | "strides" => self.expressions(step.args()),
                "align" => self.expressions(step.args().last()),
                _ => {}
            }
            for key in ["by", "multiple", "before", "after"] {
                self.expressions(step.prop(self.text, key));
            }
        }
    }

    fn kernel(&mut self, node: &LenientNode, owner: String) {
        let operands = node.children.iter().find(|child| child.name(self.text) == "operands");
        let spans = || operands.into_iter().flat_map(LenientNode::args);
        self.push(NameKind::Operand, &owner, spans(), true);
        let names = spans().map(|span| slice(self.text, span).to_owned()).collect();
        let reads = operands.is_none();
        self.scope = NameScope { own: Some(NameKind::Operand), owner, names, reads };
        for child in &node.children {
            match child.name(self.text) {
                "compute" => self.expressions(child.args()),
                "range" => self.expressions(child.args().skip(1)),
                "local" => self.layouts(child),
                _ => self.schedule(child),
            }
        }
    }

    /// Records the names in one directive of a loop schedule:
    /// - `split`, `tile`: the names in the sizes
    /// - `cache`: the tensor, and the names in the layout
    /// - `schedule`: the names in its directives
    fn schedule(&mut self, node: &LenientNode) {
        match node.name(self.text) {
            "split" | "tile" => self.expressions(node.prop(self.text, "by")),
            "schedule" => {
                self.expressions(node.prop(self.text, "statement"));
                node.children.iter().for_each(|child| self.schedule(child));
            }
            "cache" => {
                if let Some(tensor) = node.args().next()
                    && !self.refer_own(tensor)
                    && self.scope.reads
                {
                    self.refer(NameKind::Tensor, [tensor]);
                }
                self.layouts(node);
            }
            _ => {}
        }
    }

    fn instance(&mut self, node: &LenientNode, name: Option<&Range<usize>>) {
        self.declare(NameKind::Instance, name);
        let of = node.prop(self.text, "of");
        self.refer(NameKind::Kernel, of);
        let owner = self.owned(of);
        let mut names = Vec::new();
        for (key, value) in node.props().filter(|(key, _)| slice(self.text, key) != "of") {
            self.push(NameKind::Operand, &owner, [key], false);
            self.refer(NameKind::Tensor, [value]);
            names.push(slice(self.text, key).to_owned());
        }
        self.scope = NameScope { own: Some(NameKind::Operand), owner, names, reads: false };
        node.children.iter().for_each(|child| self.schedule(child));
    }

    fn graph(&mut self, node: &LenientNode, owner: &str) {
        let tensor = NameKind::GraphTensor;
        match node.name(self.text) {
            "input" | "constant" | "out" => {
                self.push(tensor, owner, node.args().next(), true);
                node.children.iter().for_each(|child| self.tensor(child));
            }
            "in" => self.push(tensor, owner, node.args(), false),
            "output" | "keep" | "forbid" => self.push(tensor, owner, node.args().next(), false),
            "node" => node.children.iter().for_each(|child| self.graph(child, owner)),
            _ => {}
        }
    }
}
