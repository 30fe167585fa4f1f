//! Signatures of nodes ([`NodeSignature`]: number of arguments, properties, block), and the diagnostics for nodes that
//! do not match them.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use super::ManifestReader;
use super::foreign_words;
use super::keywords::NOTATION_WORDS;
use super::message_words::{list, show};
use super::node_scope::NodeScope;
use crate::base::codes::Code;
use crate::base::nearest::nearest;
use crate::manifest::tree::{Entry, ManifestNode, PropertyKey};

/// Rule for a node's block: forbidden, optional or required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockRule {
    Never,
    Maybe,
    Always,
}

/// Signature of a node: the arguments, properties and block that it may have.
#[derive(Debug)]
pub(super) struct NodeSignature {
    /// Example of the node for help texts: `split AXIS by=4`.
    pub(super) usage: &'static str,
    /// Range of the number of arguments that the node may have.
    pub(super) args: RangeInclusive<usize>,
    /// Names of the properties that the node may have; `None`: properties of any name.
    pub(super) props: Option<&'static [&'static str]>,
    pub(super) block: BlockRule,
}

impl NodeSignature {
    /// Signature of a node without properties and block; `usage` is an example, `args` the range of argument counts.
    pub(super) const fn leaf(usage: &'static str, args: RangeInclusive<usize>) -> Self {
        Self { usage, args, props: Some(&[]), block: BlockRule::Never }
    }

    /// Signature of a node without a block that may have the properties `props`; `usage` is an example, `args` the
    /// range of argument counts.
    pub(super) const fn with(
        usage: &'static str,
        args: RangeInclusive<usize>,
        props: &'static [&'static str],
    ) -> Self {
        Self { usage, args, props: Some(props), block: BlockRule::Never }
    }
}

impl ManifestReader<'_, '_> {
    /// Checks a node against a signature and reports every mismatch; `None` if there is one. A broken node never
    /// matches, and is not reported again.
    pub(super) fn form(&mut self, node: &ManifestNode, form: &NodeSignature) -> Option<()> {
        if node.broken {
            return None;
        }
        let before = self.faults.count();
        self.properties(node, form);
        if node.args.len() < *form.args.start() {
            let message = format!("`{}` needs {}", node.name, arguments(&form.args));
            let span = node.head.clone();
            let help = self.usage(node, form);
            self.faults.error(Code::KdlMissing, message, span, "").add_help(help);
        }
        if let Some(first) = node.args.get(*form.args.end()) {
            let end = node.args.last().map_or(first.span.end, |arg| arg.span.end);
            let message = format!("`{}` takes {}", node.name, arguments(&form.args));
            let span = first.span.start..end;
            let help = self.usage(node, form);
            self.faults.error(Code::KdlSurplus, message, span, "").add_help(help);
        }
        match (form.block, &node.children) {
            (BlockRule::Never, Some(_)) => {
                let message = format!("`{}` takes no block", node.name);
                let span = self.block_span(node);
                let help = self.usage(node, form);
                self.faults.error(Code::KdlSurplus, message, span, "").add_help(help);
            }
            (BlockRule::Always, None) => {
                let message = format!("`{}` needs a block", node.name);
                let span = node.head.clone();
                let help = self.usage(node, form);
                self.faults.error(Code::KdlMissing, message, span, "").add_help(help);
            }
            (BlockRule::Never | BlockRule::Maybe, None)
            | (BlockRule::Maybe | BlockRule::Always, Some(_)) => {}
        }
        (self.faults.count() == before).then_some(())
    }

    /// Checks that the number of a node's arguments is in `args`, and that the node has neither properties nor a block;
    /// `None` after a reported mismatch. `usage` is an example for help texts.
    pub(super) fn leaf(
        &mut self,
        node: &ManifestNode,
        usage: &'static str,
        args: RangeInclusive<usize>,
    ) -> Option<()> {
        self.form(node, &NodeSignature::leaf(usage, args))
    }

    /// Argument of a node that must have exactly one, and neither properties nor a block; `None` after a reported
    /// mismatch. `usage` is an example for help texts.
    pub(super) fn argument<'n>(
        &mut self,
        node: &'n ManifestNode,
        usage: &'static str,
    ) -> Option<&'n Entry> {
        self.leaf(node, usage, 1..=1)?;
        node.args.first()
    }

    /// Reports an error with a help text. Always returns `None`, so that a reader can return the result.
    pub(super) fn refuse<T>(
        &mut self,
        code: Code,
        message: impl Into<String>,
        span: &Range<usize>,
        help: impl Into<String>,
    ) -> Option<T> {
        self.faults.error(code, message, span.clone(), "").add_help(help);
        None
    }

    /// Reports the second of two parts of a node that must not occur together. `span` is the byte range of the second
    /// part; `first` is that of the first, which gets a label.
    pub(super) fn duplicate(&mut self, message: String, span: &Range<usize>, first: &Range<usize>) {
        let place = self.faults.place(first.clone());
        let fault = self.faults.error(Code::KdlTwice, message, span.clone(), "");
        fault.add_label(place, "first here").add_help("leave one of the two out");
    }

    fn properties(&mut self, node: &ManifestNode, form: &NodeSignature) {
        let mut seen: BTreeMap<&str, &PropertyKey> = BTreeMap::new();
        for (key, _) in &node.props {
            if let Some(first) = seen.get(key.value.as_str()) {
                let place = self.faults.place(first.span.clone());
                let message = format!("duplicate property `{}`", key.value);
                let fault = self.faults.error(Code::KdlTwice, message, key.span.clone(), "");
                fault.add_label(place, "first here").add_help("leave one of them out");
                continue;
            }
            seen.insert(&key.value, key);
            let known = form.props.is_none_or(|props| props.contains(&key.value.as_str()));
            if !known {
                self.unknown_property(node, &key.value, key.span.clone(), form);
            }
        }
    }

    fn unknown_property(
        &mut self,
        node: &ManifestNode,
        key: &str,
        span: Range<usize>,
        form: &NodeSignature,
    ) {
        let props = form.props.unwrap_or_default();
        let value = Self::prop(node, key).and_then(|entry| self.text.get(entry.span.clone()));
        let message = format!("`{}` has no property `{}`", node.name, show(key));
        let fault = self.faults.error(Code::NameUnknown, message, span, "");
        let in_block = NodeScope::of(&node.name).is_some_and(|scope| scope.has(key));
        if NOTATION_WORDS.contains(&key) {
            fault.add_help(format!("write it on the layout: `layout {key}=\"…\"`"));
        } else if in_block && !props.contains(&key) {
            fault.add_help(format!(
                "write it as a node in the block: `{} … {{ {key} … }}`",
                node.name
            ));
        } else if let Some(ours) = foreign_words::property(&node.name, key) {
            fault.add_suggestion(ours);
        } else if let Some(near) = nearest(key, props.iter().copied()) {
            fault.add_suggestion(near);
        } else if let ("require", "contiguous", Some(axis)) = (node.name.as_str(), key, value) {
            fault.add_help(format!("write the axis as an argument: `require contiguous {axis}`"));
        } else if let Some(help) = foreign_words::foreign_usage(&node.name, key) {
            fault.add_help(help);
        } else {
            fault.add_help("leave it out");
        }
        fault.add_note(if props.is_empty() {
            format!("`{}` has no properties", node.name)
        } else {
            format!("its properties are {}", list(props))
        });
    }

    /// Value of the node's first property called `name`; `None` if the node does not have the property.
    pub(super) fn prop<'n>(node: &'n ManifestNode, name: &str) -> Option<&'n Entry> {
        node.props.iter().find(|(key, _)| key.value == name).map(|(_, entry)| entry)
    }

    /// Byte range of the node's block in the file, including braces; the whole node if it has no block.
    pub(super) fn block_span(&self, node: &ManifestNode) -> Range<usize> {
        let gap = self.text.get(node.head.end..node.span.end).unwrap_or_default();
        let start = gap.find('{').map_or(node.head.start, |at| node.head.end + at);
        start..node.span.end
    }
}

fn arguments(range: &RangeInclusive<usize>) -> String {
    let (least, most) = (*range.start(), *range.end());
    match (least, most) {
        (0, 0) => "no arguments".to_owned(),
        (1, 1) => "one argument".to_owned(),
        (least, usize::MAX) => {
            format!("at least {least} argument{}", if least == 1 { "" } else { "s" })
        }
        (1, 2) => "one or two arguments".to_owned(),
        (2, 2) => "two arguments".to_owned(),
        (0, 1) => "at most one argument".to_owned(),
        (least, most) => format!("{least} to {most} arguments"),
    }
}
