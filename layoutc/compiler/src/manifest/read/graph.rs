//! Reads `graph` items:
//! `graph block backend=opencl { input x …; constant w …; node c1 op=conv { … }; output z layout=NHWC }`.

use std::collections::BTreeMap;

use super::ManifestReader;
use super::message_words::show;
use super::node_scope::NodeScope;
use super::node_signature::{BlockRule, NodeSignature};
use super::text::ELEMENT_TYPE;
use crate::base::codes::Code;
use crate::manifest::syntax::{
    FiniteFloat, GraphItem, GraphTensorItem, Identifier, NodeItem, OutputItem, PinItem,
    PropertyItem, SpannedText,
};
use crate::manifest::tree::{Entry, ManifestNode, ManifestValue};

const GRAPH: &str = "graph block backend=opencl { … }";
const TENSOR: &str = "input x dtype=f32 layout=NHWC { shape { N 1; H 56; W 56; C 64 } }";
const NODE: &str = "node c1 op=conv { in x w; out y dtype=f32 { shape { N 1; C 64 } } }";

impl ManifestReader<'_, '_> {
    pub(super) fn graph(&mut self, node: &ManifestNode) -> Option<GraphItem> {
        let props = Some(NodeScope::GRAPH.props);
        let block = BlockRule::Always;
        self.form(node, &NodeSignature { usage: GRAPH, args: 1..=1, props, block });
        let backend = Self::prop(node, "backend").map(|entry| self.name(entry, "a backend"));
        let (mut tensors, mut nodes) = (Vec::new(), Vec::new());
        let (mut outputs, mut pins) = (Vec::new(), Vec::new());
        for child in node.children() {
            match child.name.as_str() {
                "input" | "constant" => tensors.extend(self.graph_tensor(child)),
                "node" => nodes.extend(self.graph_node(child)),
                "output" => outputs.extend(self.output(child)),
                "keep" | "forbid" => pins.extend(self.pin(child)),
                _ => self.unknown_node(child, &NodeScope::GRAPH),
            }
        }
        let mut seen = BTreeMap::new();
        let written = nodes.iter().flat_map(|node: &NodeItem| &node.outputs);
        for tensor in tensors.iter().chain(written) {
            self.unique("tensors of the graph", &tensor.name, &mut seen);
        }
        let mut seen = BTreeMap::new();
        for node in &nodes {
            self.unique("nodes of the graph", &node.name, &mut seen);
        }
        self.differ(outputs.iter().map(|output: &OutputItem| &output.tensor), "output");
        let name = self.name(node.args.first()?, "a graph's name")?;
        let backend = backend.map_or(Some(None), |backend| backend.map(Some))?;
        Some(GraphItem { name, backend, tensors, nodes, outputs, pins, span: node.span.clone() })
    }

    /// Reads a tensor of a graph: an `input`, a `constant`, or the `out` of a node. `None`, after a report, if a part
    /// is missing or invalid.
    fn graph_tensor(&mut self, node: &ManifestNode) -> Option<GraphTensorItem> {
        let props = Some(NodeScope::GRAPH_TENSOR.props);
        let form = NodeSignature { usage: TENSOR, args: 1..=1, props, block: BlockRule::Always };
        self.form(node, &form)?;
        let part = self.parts(node, &NodeScope::GRAPH_TENSOR, |_| true).first().copied();
        let shape = part.and_then(|part| self.box_shape(part, "a tensor of a graph"));
        let name = self.name(node.args.first()?, "a tensor's name");
        let layout = self.layout_text(node)?;
        let missing = |what: &str| format!("`{}` needs {what}", node.name);
        let Some(dtype) = Self::prop(node, "dtype") else {
            let message = missing("an element type");
            return self.refuse(Code::KdlMissing, message, &node.head, "write `dtype=f32`");
        };
        let dtype = self.text_of(dtype, ELEMENT_TYPE)?;
        if part.is_none() {
            let message = missing("a shape");
            let fault = self.faults.error(Code::KdlMissing, message, node.head.clone(), "");
            fault.add_help("write `{ shape { N 1; H 56; W 56; C 64 } }`");
        }
        let constant = node.name == "constant";
        let span = node.head.clone();
        Some(GraphTensorItem { name: name?, constant, dtype, shape: shape?, layout, span })
    }

    /// Text of the `layout` property of a node. `Some(None)` if the node does not have the property. `None`, after a
    /// report, if the text is invalid.
    #[expect(clippy::option_option, reason = "tells an absent layout from an invalid one")]
    fn layout_text(&mut self, node: &ManifestNode) -> Option<Option<SpannedText>> {
        match Self::prop(node, "layout") {
            None => Some(None),
            Some(entry) => Some(Some(self.text_of(entry, "a layout")?)),
        }
    }

    fn graph_node(&mut self, node: &ManifestNode) -> Option<NodeItem> {
        let before = self.faults.count();
        let block = BlockRule::Always;
        self.form(node, &NodeSignature { usage: NODE, args: 1..=1, props: None, block });
        let (mut inputs, mut outputs, mut accepts) = (Vec::new(), Vec::new(), Vec::new());
        for child in self.parts(node, &NodeScope::NODE, |name| name == "in") {
            match child.name.as_str() {
                "in" => {
                    self.leaf(child, "in x w", 0..=usize::MAX);
                    inputs = self.all_names(&child.args, "a tensor").unwrap_or_default();
                }
                "out" => outputs.extend(self.graph_tensor(child)),
                _ => accepts.extend(self.accepts(child)),
            }
        }
        let mut properties = Vec::new();
        for (key, entry) in node.props.iter().filter(|(key, _)| key.value != "op") {
            properties.push((self.key(key)?, self.property(&key.value, entry)?));
        }
        let op = match Self::prop(node, "op") {
            Some(entry) => self.text_of(entry, "an operator")?,
            None if node.broken => return None,
            None => {
                return self.lacks(node, "`op=`, the operator", NODE);
            }
        };
        if outputs.is_empty() && self.faults.count() == before {
            self.lacks::<()>(node, "`out`, the tensor that it writes", NODE);
        }
        let name = self.name(node.args.first()?, "a node's name")?;
        let is_valid = self.faults.count() == before;
        let span = node.head.clone();
        let item = NodeItem { name, op, properties, inputs, outputs, accepts, span };
        is_valid.then_some(item)
    }

    fn property(&mut self, key: &str, entry: &Entry) -> Option<PropertyItem> {
        match &entry.value {
            ManifestValue::Integer(value) => Some(PropertyItem::Integer(*value)),
            ManifestValue::String(word) => Some(PropertyItem::Word(word.clone())),
            ManifestValue::Bool(value) => Some(PropertyItem::Integer(i128::from(*value))),
            ManifestValue::Float(value) if value.is_finite() => {
                FiniteFloat::new(*value).map(PropertyItem::Real)
            }
            ManifestValue::Float(_) | ManifestValue::Null => {
                let what = format!("the property `{}`", show(key));
                self.wrong_kind(entry, &what, "write a finite number, a word, `#true` or `#false`");
                None
            }
        }
    }

    fn output(&mut self, node: &ManifestNode) -> Option<OutputItem> {
        let usage = "output z layout=NHWC";
        let props = Some(["layout"].as_slice());
        self.form(node, &NodeSignature { usage, args: 1..=1, props, block: BlockRule::Never })?;
        let layout = self.layout_text(node)?;
        Some(OutputItem { tensor: self.tensor_name(node)?, layout })
    }

    fn pin(&mut self, node: &ManifestNode) -> Option<PinItem> {
        let forbid = node.name == "forbid";
        let usage = if forbid { "forbid y layout=NCHW" } else { "keep y" };
        let props = Some(["layout"].as_slice());
        self.form(node, &NodeSignature { usage, args: 1..=1, props, block: BlockRule::Never })?;
        let layout = self.layout_text(node)?;
        if forbid && layout.is_none() {
            return self.lacks(node, "a layout", usage);
        }
        let tensor = self.tensor_name(node)?;
        Some(PinItem { forbid, tensor, layout, span: node.head.clone() })
    }

    fn tensor_name(&mut self, node: &ManifestNode) -> Option<Identifier> {
        self.name(node.args.first()?, "a tensor of the graph")
    }
}
