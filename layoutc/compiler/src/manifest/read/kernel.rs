//! Reads kernels and instances: `kernel conv { operands A W B; compute "…" }` and
//! `instance conv_nchw of=conv A=input W=filters B=output`.

use std::ops::Range;

use super::ManifestReader;
use super::node_scope::NodeScope;
use super::node_signature::{BlockRule, NodeSignature};
use super::schedule::is_unique;
use super::text::ELEMENT_TYPE;
use crate::base::codes::Code;
use crate::manifest::syntax::{
    Identifier, InstanceItem, IntegerExpr, KernelItem, LayoutItem, LocalItem, SpannedText,
};
use crate::manifest::tree::{Entry, ManifestNode, ManifestValue};

const KERNEL: &str = "kernel copy { compute \"b[i] = a[i]\" }";
const INSTANCE: &str = "instance NAME of=KERNEL OPERAND=TENSOR";
const LOCAL: &str = "local T dtype=f32";

/// Names of the nodes that occur at most once in a kernel, apart from schedule directives.
const ONCE: &[&str] = &["operands", "acc", "accumulate"];

impl ManifestReader<'_, '_> {
    pub(super) fn kernel(&mut self, node: &ManifestNode) -> Option<KernelItem> {
        let (props, block) = (Some([].as_slice()), BlockRule::Always);
        self.form(node, &NodeSignature { usage: KERNEL, args: 1..=1, props, block });
        let mut kernel = KernelItem::default();
        let parts =
            self.parts(node, &NodeScope::KERNEL, |name| ONCE.contains(&name) || is_unique(name));
        for child in &parts {
            self.kernel_part(child, &mut kernel);
        }
        let is_whole = !node.broken && node.children.is_some();
        if is_whole && !parts.iter().any(|child| child.name == "compute") && !node.is_damaged() {
            let message = "`kernel` needs a `compute`";
            let fault = self.faults.error(Code::KdlMissing, message, node.head.clone(), "");
            fault.add_help("add a statement: `compute \"b[i] = 2 * a[i]\"`");
        }
        self.differ(kernel.ranges.iter().map(|(name, _)| name), "range");
        self.differ(kernel.locals.iter().map(|local| &local.name), "local tensor");
        self.differ(kernel.caches.iter().map(|cache| &cache.tensor), "cache of");
        let name = self.name(node.args.first()?, "a kernel's name")?;
        Some(KernelItem { name, span: node.span.clone(), ..kernel })
    }

    /// Reports every repetition of a name in `names`. `what` is the noun before the name in the message, such as
    /// `operand`.
    pub(super) fn differ<'n>(&mut self, names: impl Iterator<Item = &'n Identifier>, what: &str) {
        let mut seen = std::collections::BTreeMap::new();
        for name in names {
            if let Some(first) = seen.insert(name.value.as_str(), name) {
                let message = format!("duplicate {what} `{}`", name.value);
                self.duplicate(message, &name.span, &first.span);
            }
        }
    }

    fn kernel_part(&mut self, node: &ManifestNode, kernel: &mut KernelItem) {
        match node.name.as_str() {
            "operands" => kernel.operands = self.operands(node),
            "compute" => kernel.computes.extend(self.compute(node)),
            "range" => kernel.ranges.extend(self.range(node)),
            "acc" => kernel.acc = self.acc(node),
            "accumulate" => kernel.accumulate = self.accumulate(node),
            "local" => kernel.locals.extend(self.local(node)),
            "cache" => kernel.caches.extend(self.cache(node)),
            "schedule" => kernel.complete.extend(self.complete_schedule(node)),
            _ => kernel.schedule.extend(self.scheduled(node)),
        }
    }

    fn operands(&mut self, node: &ManifestNode) -> Option<Vec<Identifier>> {
        self.leaf(node, "operands A W B", 1..=usize::MAX)?;
        let names = self.all_names(&node.args, "an operand")?;
        self.differ(names.iter(), "operand");
        for name in names.iter().filter(|name| name.value == "of") {
            let message = "an operand cannot be named `of`";
            let fault = self.faults.error(Code::NameReserved, message, name.span.clone(), "");
            fault.add_note("`instance … of=` names the kernel");
            fault.add_help("give it another name");
        }
        Some(names)
    }

    fn compute(&mut self, node: &ManifestNode) -> Option<SpannedText> {
        let usage = "compute \"b[i] = 2 * a[i]\"";
        let entry = self.argument(node, usage)?;
        let text = self.text_of(entry, "`compute`")?;
        if !text.quoted {
            return self.unquoted(&text);
        }
        if text.value.trim().is_empty() {
            let message = "the statement is empty";
            let help = format!("write it as `{usage}`");
            return self.refuse(Code::KdlValue, message, &entry.span, help);
        }
        Some(text)
    }

    fn range(&mut self, node: &ManifestNode) -> Option<(Identifier, IntegerExpr)> {
        self.leaf(node, "range r 3", 2..=2)?;
        let name = self.name(node.args.first()?, "an axis");
        let bound = self.bound(node.args.get(1)?, "the range of an axis", Code::KdlValue);
        Some((name?, bound?))
    }

    fn acc(&mut self, node: &ManifestNode) -> Option<SpannedText> {
        let entry = self.argument(node, "acc f32")?;
        self.text_of(entry, "the accumulator's type")
    }

    fn accumulate(&mut self, node: &ManifestNode) -> Option<Range<usize>> {
        let entry = self.argument(node, "accumulate #true")?;
        self.boolean(entry, "`accumulate`")?.then(|| node.span.clone())
    }

    /// Reads `#true` or `#false`; `None` for another value, which is reported. `what` is the noun phrase for the entry
    /// in messages.
    pub(super) fn boolean(&mut self, entry: &Entry, what: &str) -> Option<bool> {
        if let ManifestValue::Bool(value) = entry.value {
            return Some(value);
        }
        self.wrong_kind(entry, what, "write `#true` or `#false`");
        None
    }

    fn local(&mut self, node: &ManifestNode) -> Option<LocalItem> {
        let form = NodeSignature {
            usage: LOCAL,
            args: 1..=1,
            props: Some(&["dtype", "at"]),
            block: BlockRule::Maybe,
        };
        self.form(node, &form);
        let mut layout: Option<LayoutItem> = None;
        for child in self.parts(node, &NodeScope::LOCAL, |_| true) {
            layout = self.layout(child);
        }
        let Some(entry) = Self::prop(node, "dtype") else {
            return if node.broken { None } else { self.lacks(node, "an element type", LOCAL) };
        };
        let dtype = self.text_of(entry, ELEMENT_TYPE)?;
        let at = match Self::prop(node, "at") {
            Some(entry) => Some(self.name(entry, "a loop")?),
            None => None,
        };
        let name = self.name(node.args.first()?, "a local tensor's name")?;
        Some(LocalItem { name, dtype, layout, at, span: node.span.clone() })
    }

    pub(super) fn instance(&mut self, node: &ManifestNode) -> Option<InstanceItem> {
        let form =
            NodeSignature { usage: INSTANCE, args: 1..=1, props: None, block: BlockRule::Maybe };
        self.form(node, &form);
        let of = Self::prop(node, "of").map(|entry| self.name(entry, "a kernel"));
        if of.is_none() && !node.broken {
            self.lacks::<()>(node, "`of=`", INSTANCE);
        }
        let mut operands = Vec::new();
        for (key, entry) in node.props.iter().filter(|(key, _)| key.value != "of") {
            let (name, tensor) = (self.key(key), self.name(entry, "a tensor"));
            operands.extend(name.zip(tensor));
        }
        let (mut schedule, mut caches, mut complete) = (Vec::new(), Vec::new(), Vec::new());
        for child in self.parts(node, &NodeScope::INSTANCE, is_unique) {
            match child.name.as_str() {
                "cache" => caches.extend(self.cache(child)),
                "schedule" => complete.extend(self.complete_schedule(child)),
                _ => schedule.extend(self.scheduled(child)),
            }
        }
        self.differ(caches.iter().map(|cache| &cache.tensor), "cache of");
        let name = self.name(node.args.first()?, "an instance's name")?;
        let (of, span) = (of.flatten()?, node.head.clone());
        Some(InstanceItem { name, of, operands, schedule, caches, complete, span })
    }
}
