//! Reads the items `use`, `const`, `symbol`, `transform`, `tensor` and `convert`.

use super::ManifestReader;
use super::message_words::show;
use super::node_scope::NodeScope;
use super::node_signature::{BlockRule, NodeSignature};
use super::notation_step::NotationTensor;
use super::text::{ELEMENT_TYPE, is_name};
use crate::base::cast::CastMode;
use crate::base::codes::Code;
use crate::base::dtype::Dtype;
use crate::manifest::syntax::{
    ConstItem, ConvertItem, Identifier, IntegerLiteral, NibbleOrder, PackFromItem, SymbolItem,
    TensorItem, TransformItem, UseItem,
};
use crate::manifest::tree::{Entry, ManifestNode, ManifestValue};

impl ManifestReader<'_, '_> {
    pub(super) fn r#use(&mut self, node: &ManifestNode) -> Option<UseItem> {
        let usage = "use \"common.kdl\"";
        self.leaf(node, usage, 1..=1);
        let path = self.text_of(node.args.first()?, "a path")?;
        if path.value.is_empty() {
            let span = node.head.clone();
            let fault = self.faults.error(Code::KdlValue, "the path is empty", span, "");
            fault.add_help(format!("write it as `{usage}`"));
            return None;
        }
        Some(UseItem { path, span: node.span.clone() })
    }

    pub(super) fn r#const(&mut self, node: &ManifestNode) -> Option<ConstItem> {
        let usage = "const LANES 4";
        if let ([], [(key, value)]) = (node.args.as_slice(), node.props.as_slice()) {
            let value = self.text.get(value.span.clone()).unwrap_or_default();
            let text = format!("const {} {value}", show(&key.value));
            let message = "a const is written without `=`";
            let fault = self.faults.error(Code::KdlSyntax, message, node.head.clone(), "");
            fault.add_help(format!("write `{text}`")).add_fix(text);
            return None;
        }
        self.leaf(node, usage, 2..=2);
        let name = self.name(node.args.first()?, "a const's name");
        let value = self.bound(node.args.get(1)?, "a const", Code::KdlValue);
        Some(ConstItem { name: name?, value: value? })
    }

    pub(super) fn symbol(&mut self, node: &ManifestNode) -> Option<SymbolItem> {
        let form = NodeSignature {
            usage: "symbol batch min=1 max=4096 multiple=4",
            args: 1..=1,
            props: Some(&["min", "max", "multiple"]),
            block: BlockRule::Never,
        };
        if let ([], [(key, value)]) = (node.args.as_slice(), node.props.as_slice())
            && form.props.is_none_or(|props| !props.contains(&key.value.as_str()))
        {
            let value = self.text.get(value.span.clone()).unwrap_or_default();
            let message = "a symbol has no value: it is known only at run time";
            let fault = self.faults.error(Code::KdlSyntax, message, node.head.clone(), "");
            let text = format!("const {} {value}", show(&key.value));
            fault.add_help(format!("write `{text}` if the value is fixed")).add_fix(text);
            return None;
        }
        self.form(node, &form);
        let [min, max, multiple] = ["min", "max", "multiple"].map(|fact| {
            Self::prop(node, fact)
                .and_then(|entry| self.bound(entry, &format!("`{fact}`"), Code::KdlValue))
        });
        let name = self.name(node.args.first()?, "a symbol's name")?;
        Some(SymbolItem { name, min, max, multiple, span: node.span.clone() })
    }

    pub(super) fn transform(&mut self, node: &ManifestNode) -> Option<TransformItem> {
        let usage = "transform blocked { … }";
        let form = NodeSignature { usage, args: 1..=1, props: None, block: BlockRule::Always };
        self.form(node, &form);
        let mut parameters = Vec::new();
        for (key, entry) in &node.props {
            parameters.extend(self.parameter(key, entry));
        }
        let steps = self.steps(node.children());
        let name = self.name(node.args.first()?, "a transform's name")?;
        Some(TransformItem { name, parameters, steps, span: node.span.clone() })
    }

    fn parameter(
        &mut self,
        key: &crate::manifest::tree::PropertyKey,
        entry: &Entry,
    ) -> Option<(Identifier, IntegerLiteral)> {
        let name = self.key(key);
        let ManifestValue::Integer(value) = entry.value else {
            let message = format!("the default of `{}` must be an integer", show(&key.value));
            let help = format!("write an integer: `{}=16`", show(&key.value));
            return self.refuse(Code::KdlValue, message, &entry.span, help);
        };
        Some((name?, IntegerLiteral { value, span: entry.span.clone() }))
    }

    /// Reads a property's key that is itself a name, such as a parameter of a transform. `None`, after a report, if the
    /// key is not a valid name.
    pub(super) fn key(&mut self, key: &crate::manifest::tree::PropertyKey) -> Option<Identifier> {
        let text = self.inside(&key.value, &key.span);
        self.as_name(&text)
    }

    pub(super) fn convert(&mut self, node: &ManifestNode) -> Option<ConvertItem> {
        let form = NodeSignature {
            usage: "convert SOURCE to=DESTINATION",
            args: 1..=1,
            props: Some(&["cast", "max-staging", "to"]),
            block: BlockRule::Maybe,
        };
        if let ([from, others @ .., to], []) = (node.args.as_slice(), node.props.as_slice()) {
            let of = |entry: &Entry| self.text.get(entry.span.clone()).unwrap_or_default();
            let text = format!("convert {} to={}", of(from), of(to));
            let message = "a conversion names its destination with `to=`";
            let span = others.first().unwrap_or(to).span.start..to.span.end;
            return self.refuse(Code::KdlSurplus, message, &span, format!("write `{text}`"));
        }
        self.form(node, &form)?;
        let from = self.name(node.args.first()?, "a tensor");
        let Some(to) = Self::prop(node, "to") else {
            return self.lacks(node, "`to=`", form.usage);
        };
        let to = self.name(to, "a tensor");
        let cast = self.cast(node);
        let staging = Self::prop(node, "max-staging");
        let max_staging = staging.and_then(|entry| self.size(entry, "`max-staging`"));
        let choices = self.choices(node);
        let (from, to, span) = (from?, to?, node.head.clone());
        Some(ConvertItem { from, to, cast, max_staging, choices, span })
    }

    pub(super) fn tensor(&mut self, node: &ManifestNode) -> Option<TensorItem> {
        let form = NodeSignature {
            usage: "tensor input dtype=f32 { shape { n 16 } }",
            args: 1..=1,
            props: Some(&["cast", "dtype", "like", "nibbles", "pack-from", "targets", "xla"]),
            block: BlockRule::Maybe,
        };
        let shape = node.children().iter().find(|child| child.name == "shape");
        let axes = shape.map(ManifestNode::children).unwrap_or_default();
        self.axes = axes.iter().map(|axis| axis.name.clone()).collect();
        self.head = self.text.get(node.head.clone()).unwrap_or_default().to_owned();
        if self.is_annotated(node) {
            return None;
        }
        self.form(node, &form);
        let dtype = Self::prop(node, "dtype").map(|entry| self.text_of(entry, ELEMENT_TYPE));
        let like = Self::prop(node, "like").map(|entry| self.name(entry, "a tensor"));
        let targets = Self::prop(node, "targets").map(|entry| self.words(entry, "`targets`"));
        let nibbles = Self::prop(node, "nibbles").and_then(|entry| self.nibbles(entry));
        let pack_from = self.pack_from(node);
        let mut tensor = TensorItem { nibbles, ..TensorItem::default() };
        let mut seen = Vec::new();
        for child in node.children() {
            self.part(child, node, &mut tensor, &mut seen);
        }
        let foreign = Self::prop(node, "xla");
        let whole = foreign.and_then(|entry| self.notation_tensor(node, entry));
        if like.is_none() && foreign.is_none() {
            let missing = [
                (
                    dtype.is_none(),
                    "an element type",
                    "write `dtype=f32`, or `like=` another tensor",
                ),
                (!seen.contains(&"shape"), "a shape", "write `shape { n 16; c 4 }`"),
            ];
            for (_, what, help) in missing.iter().filter(|row| row.0 && !hides(node, row.1)) {
                let message = format!("`tensor` needs {what}");
                let span = node.head.clone();
                self.faults.error(Code::KdlMissing, message, span, "").add_help(*help);
            }
        }
        let mut dtype = dtype.flatten();
        if foreign.is_some() {
            let NotationTensor { dtype: own, shape, layout } = whole?;
            (dtype, tensor.shape, tensor.layout) = (Some(own), Some(shape), Some(layout));
        }
        Some(TensorItem {
            name: self.name(node.args.first()?, "a tensor's name")?,
            dtype,
            like: like.flatten(),
            targets: targets.flatten(),
            pack_from,
            span: node.span.clone(),
            ..tensor
        })
    }

    /// Returns true, after a report, for a tensor in the syntax of another language, `tensor NAME: TYPE`. The help text
    /// shows `tensor NAME dtype=TYPE`.
    fn is_annotated(&mut self, node: &ManifestNode) -> bool {
        let [name, dtype] = node.args.as_slice() else { return false };
        let of = |entry: &Entry| self.text.get(entry.span.clone()).unwrap_or_default();
        let Some(bare) = of(name).strip_suffix(':').filter(|bare| is_name(bare)) else {
            return false;
        };
        let written = of(dtype);
        let dtype = Dtype::parse(written).or_else(|| Dtype::from_foreign_name(written));
        let Some(dtype) = dtype else { return false };
        let text = format!("{bare} dtype={dtype}");
        let message = "the element type of a tensor is a property";
        let span = name.span.start..node.args[1].span.end;
        let fault = self.faults.error(Code::KdlSurplus, message, span, "");
        fault.add_help(format!("write `tensor {text}`"));
        fault.add_fix(text);
        true
    }

    /// Reads `pack-from=f32 cast=saturate`: the element type of the array that pack reads, and the treatment of values
    /// that are out of range. `None` if both properties are absent, and after a reported error, such as `cast` without
    /// `pack-from`.
    fn pack_from(&mut self, node: &ManifestNode) -> Option<PackFromItem> {
        let dtype = Self::prop(node, "pack-from");
        let dtype = dtype.and_then(|entry| self.text_of(entry, ELEMENT_TYPE));
        if dtype.is_none()
            && let Some(entry) = Self::prop(node, "cast")
            && Self::prop(node, "pack-from").is_none()
        {
            let message = "`cast` in a tensor needs `pack-from=`";
            let fault = self.faults.error(Code::KdlMissing, message, entry.span.clone(), "");
            fault.add_help(format!(
                "add the element type that pack reads: `pack-from=f32 cast={}`",
                show(entry.text().unwrap_or("saturate"))
            ));
            return None;
        }
        let cast = self.cast(node);
        Some(PackFromItem { dtype: dtype?, cast })
    }

    /// Reads `cast=`: the treatment of values that are out of range for the destination's element type. `None` if the
    /// property is absent, and after a report if its value is invalid.
    fn cast(&mut self, node: &ManifestNode) -> Option<CastMode> {
        self.keyword("`cast`", Self::prop(node, "cast")?, CastMode::ALL)
    }

    fn part(
        &mut self,
        node: &ManifestNode,
        owner: &ManifestNode,
        tensor: &mut TensorItem,
        seen: &mut Vec<&'static str>,
    ) {
        if node.name == "require" {
            tensor.gates.extend(self.gates(node));
            return;
        }
        if node.name == "access" {
            self.access(node, tensor);
            return;
        }
        let known = ["shape", "layout", "memory", "nibbles", "dtype", "shard", "ring"];
        // `dtype` is a node only for a record, which has a block; an element type is a property.
        let is_other = node.name == "dtype" && node.children.is_none();
        let found = known.into_iter().find(|known| *known == node.name).filter(|_| !is_other);
        let Some(name) = found else {
            self.unknown_node(node, &NodeScope::TENSOR);
            return;
        };
        let first = owner.children().iter().find(|other| other.name == node.name);
        if seen.contains(&name) || Self::prop(owner, name).is_some() {
            let span = node.name_span.clone();
            let place = first.filter(|other| other.span != node.span);
            let place = place.map(|other| self.faults.place(other.name_span.clone()));
            let message = format!("a tensor can have only one `{name}`");
            let fault = self.faults.error(Code::KdlTwice, message, span, "");
            fault.add_help("leave one of the two out");
            if let Some(place) = place {
                fault.add_label(place, "the first");
            }
            return;
        }
        seen.push(name);
        match name {
            "shape" => tensor.shape = self.shape(node),
            "layout" => tensor.layout = self.layout(node),
            "memory" => tensor.memory = self.memory(node),
            "dtype" => tensor.record = self.record(node),
            "shard" => tensor.shard = self.shard(node),
            "ring" => tensor.ring = self.ring(node),
            _ => tensor.nibbles = self.nibbles_node(node),
        }
    }

    fn nibbles_node(&mut self, node: &ManifestNode) -> Option<NibbleOrder> {
        let entry = self.argument(node, "nibbles high-first")?;
        self.nibbles(entry)
    }

    fn nibbles(&mut self, entry: &Entry) -> Option<NibbleOrder> {
        let words = [("high-first", NibbleOrder::HighFirst), ("low-first", NibbleOrder::LowFirst)];
        self.keyword("`nibbles`", entry, &words)
    }
}

/// True if the tensor may have the part `what` (`a shape` or `an element type`) in another form: the element type as a
/// record, or either of them as a node or property that is malformed or misspelled. It is then not reported as missing.
fn hides(tensor: &ManifestNode, what: &str) -> bool {
    let near = |name: &str| crate::base::nearest::nearest(name, ["shape", "dtype"]).is_some();
    let child = |node: &ManifestNode| node.broken || near(&node.name);
    match what {
        "a shape" => tensor.broken || tensor.children().iter().any(child),
        _ => {
            tensor.props.iter().any(|(key, _)| near(&key.value))
                || tensor.children().iter().any(|node| near(&node.name) && node.name != "shape")
        }
    }
}
