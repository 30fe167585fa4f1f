//! Signatures of nodes ([`NodeSignature`]: number of arguments, properties, block) and their contexts ([`NodeScope`]),
//! and the diagnostics for nodes and values that do not match or are unknown.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use super::ManifestReader;
use super::foreign_words;
use super::keywords::{NOTATION_WORDS, STEP_NAMES};
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

    /// Signature of a node without a block that may have the properties `props`; `usage` and `args` as in
    /// [`Self::leaf`].
    pub(super) const fn with(
        usage: &'static str,
        args: RangeInclusive<usize>,
        props: &'static [&'static str],
    ) -> Self {
        Self { usage, args, props: Some(props), block: BlockRule::Never }
    }
}

/// Names of the top-level nodes of a manifest.
pub(crate) const ITEMS: &[&str] = &[
    "use",
    "const",
    "symbol",
    "memory-space",
    "mesh",
    "transform",
    "tensor",
    "view",
    "convert",
    "kernel",
    "instance",
    "backend",
    "graph",
];

/// Context in which nodes occur: an enclosing node, such as `tensor`, with the nodes and properties that it may have.
#[derive(Debug)]
pub(crate) struct NodeScope {
    /// Noun phrase for the enclosing node in messages: `a manifest`.
    place: &'static str,
    /// Names of the nodes that may occur in the enclosing node.
    nodes: &'static [&'static str],
    /// Names of the properties that the enclosing node may have.
    pub(super) props: &'static [&'static str],
}

impl NodeScope {
    pub(crate) const TOP: Self = Self { place: "a manifest", nodes: ITEMS, props: &[] };
    pub(crate) const KERNEL: Self = Self {
        place: "a kernel",
        nodes: &[
            "operands",
            "compute",
            "range",
            "acc",
            "accumulate",
            "local",
            "loops",
            "split",
            "fuse",
            "tile",
            "unroll",
            "vectorize",
            "parallel",
            "cache",
            "schedule",
        ],
        props: &[],
    };
    pub(crate) const SCHEDULE: Self = Self {
        place: "a schedule",
        nodes: &[
            "split",
            "fuse",
            "loops",
            "partial-sums",
            "split-k",
            "unroll",
            "parallel",
            "cache",
        ],
        props: &["machine", "statement"],
    };
    pub(crate) const BACKEND: Self = Self {
        place: "a backend",
        nodes: &["default-layout", "op", "others"],
        props: &["like", "verify"],
    };
    pub(crate) const OPERATOR: Self = Self {
        place: "an operator",
        nodes: &["accepts"],
        props: &[
            "elementwise",
            "by-letter",
            "any",
            "default",
            "transpose",
            "shapes",
            "types",
            "cost",
            "cost-per-byte",
        ],
    };
    pub(crate) const ACCEPTS: Self = Self {
        place: "an alternative",
        nodes: &["in", "out"],
        props: &["cost", "cost-per-byte", "when"],
    };
    pub(crate) const GRAPH: Self = Self {
        place: "a graph",
        nodes: &["input", "constant", "node", "output", "keep", "forbid"],
        props: &["backend"],
    };
    pub(crate) const NODE: Self =
        Self { place: "a node", nodes: &["in", "out", "accepts"], props: &["op"] };
    pub(crate) const GRAPH_TENSOR: Self =
        Self { place: "a tensor of a graph", nodes: &["shape"], props: &["dtype", "layout"] };
    pub(crate) const CACHE: Self =
        Self { place: "a cache", nodes: &["layout", "memory"], props: &["at", "double"] };
    pub(crate) const LOCAL: Self =
        Self { place: "a local tensor", nodes: &["layout"], props: &["dtype"] };
    pub(crate) const INSTANCE: Self = Self {
        place: "an instance",
        nodes: &[
            "loops",
            "split",
            "fuse",
            "tile",
            "unroll",
            "vectorize",
            "parallel",
            "cache",
            "schedule",
        ],
        props: &["of"],
    };
    pub(crate) const TENSOR: Self = Self {
        place: "a tensor",
        nodes: &["dtype", "shape", "layout", "memory", "nibbles", "shard", "ring", "require"],
        props: &["cast", "dtype", "like", "nibbles", "pack-from", "targets"],
    };
    pub(crate) const VIEW: Self =
        Self { place: "a view", nodes: &["shape", "layout", "map"], props: &["of", "dtype"] };
    pub(crate) const CONVERT: Self = Self {
        place: "a conversion",
        nodes: &["order", "block", "inside", "stores", "fill"],
        props: &["to", "cast", "max-staging"],
    };
    pub(crate) const STEPS: Self = Self { place: "a layout", nodes: &STEP_NAMES, props: &[] };
}

impl NodeScope {
    /// Names of the nodes that may occur in the enclosing node, and names of the properties that it may have.
    pub(crate) fn words(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (self.nodes, self.props)
    }

    /// Context inside a node called `node`; `None` if the node is not one of `tensor`, `view`, `kernel`, `graph` and
    /// `convert`.
    pub(crate) fn of(node: &str) -> Option<Self> {
        Some(match node {
            "tensor" => Self::TENSOR,
            "view" => Self::VIEW,
            "kernel" => Self::KERNEL,
            "graph" => Self::GRAPH,
            "convert" => Self::CONVERT,
            _ => return None,
        })
    }

    /// True if a node called `node` may occur in the enclosing node.
    pub(super) fn has(&self, node: &str) -> bool {
        self.nodes.contains(&node)
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

    /// Reports the second of two parts that exclude each other, at byte range `span`, with a label at the first, at
    /// `first`.
    pub(super) fn duplicate(&mut self, message: String, span: &Range<usize>, first: &Range<usize>) {
        let place = self.faults.place(first.clone());
        let fault = self.faults.error(Code::KdlTwice, message, span.clone(), "");
        fault.add_label(place, "first here").add_help("leave one of the two out");
    }

    /// Reports that a node lacks the part `what`, such as
    /// `` `by=` ``; `usage` is an example that has the part. Always returns `None`.
    pub(super) fn lacks<T>(&mut self, node: &ManifestNode, what: &str, usage: &str) -> Option<T> {
        let message = format!("`{}` needs {what}", node.name);
        let words = ExampleWords::of(usage);
        let own = self.completed(node, &words, words.args.len(), &|_| true);
        let missing = words.props.iter().filter(|(key, _)| {
            Self::prop(node, key).is_none()
                && (!what.contains("=`") || what.contains(&format!("`{key}=`")))
        });
        let mut all = vec![own];
        all.extend(missing.map(|(key, value)| format!("{key}={value}")));
        let help = format!("write it as `{}`", all.join(" "));
        self.refuse(Code::KdlMissing, message, &node.head, help)
    }

    /// Help text that shows the node in the form of its signature `form`: the node's arguments and properties where
    /// `form` allows them, and parts of the example `form.usage` in place of missing ones.
    fn usage(&self, node: &ManifestNode, form: &NodeSignature) -> String {
        // Two examples in one.
        if form.usage.contains('`') {
            return format!("write it as `{}`", form.usage);
        }
        let words = ExampleWords::of(form.usage);
        let least = if node.args.is_empty() { words.args.len() } else { *form.args.start() };
        let is_allowed = |key: &str| form.props.is_none_or(|props| props.contains(&key));
        let taken = (*form.args.end()).min(node.args.len());
        let node_args = node.args.get(..taken).unwrap_or_default().to_vec();
        let own = ManifestNode { args: node_args, ..node.clone() };
        let mut own = self.completed(&own, &words, least, &is_allowed);
        if !node.props.iter().any(|(key, _)| is_allowed(&key.value)) {
            own.extend(words.props.iter().map(|(key, value)| format!(" {key}={value}")));
        }
        let block = match (form.block, &node.children) {
            (BlockRule::Maybe | BlockRule::Always, Some(_)) => " { … }",
            (BlockRule::Always, None) => words.block,
            (BlockRule::Never, _) | (BlockRule::Maybe, None) => "",
        };
        format!("write it as `{own}{block}`")
    }

    /// Text of a node without its block: its name and arguments, then, until there are `least` arguments, those of
    /// `example` at the missing positions, then the node's properties whose key satisfies `is_allowed`.
    fn completed(
        &self,
        node: &ManifestNode,
        example: &ExampleWords<'_>,
        least: usize,
        is_allowed: &dyn Fn(&str) -> bool,
    ) -> String {
        let of = |entry: &Entry| show(self.text.get(entry.span.clone()).unwrap_or_default());
        let mut words = vec![node.name.clone()];
        words.extend(node.args.iter().map(of));
        let others = example.args.iter().take(least).skip(node.args.len());
        words.extend(others.map(|word| (*word).to_owned()));
        let props = node.props.iter().filter(|(key, _)| is_allowed(&key.value));
        words.extend(props.map(|(key, entry)| format!("{}={}", show(&key.value), of(entry))));
        words.join(" ")
    }

    /// Children of a node that `scope` allows, in order. Reports and leaves out the other ones, and repetitions of
    /// nodes whose name satisfies `once`.
    pub(super) fn parts<'n>(
        &mut self,
        node: &'n ManifestNode,
        scope: &NodeScope,
        once: impl Fn(&str) -> bool,
    ) -> Vec<&'n ManifestNode> {
        let mut parts: Vec<&ManifestNode> = Vec::new();
        for child in node.children() {
            let first = parts.iter().find(|first| first.name == child.name && once(&child.name));
            if !scope.has(&child.name) {
                self.unknown_node(child, scope);
            } else if let Some(first) = first {
                let message = format!("duplicate node `{}`", child.name);
                self.duplicate(message, &child.name_span, &first.name_span);
            } else {
                parts.push(child);
            }
        }
        parts
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

    /// Reports a node that is not allowed in `scope`, with the nearest allowed name or the right place as help. Broken
    /// nodes are skipped.
    pub(super) fn unknown_node(&mut self, node: &ManifestNode, scope: &NodeScope) {
        if node.broken {
            return;
        }
        let name = node.name.as_str();
        let span = node.name_span.clone();
        let message = format!("unknown node `{}` in {}", show(name), scope.place);
        let value = node.args.first().filter(|_| node.args.len() == 1);
        let value = value.and_then(|entry| self.text.get(entry.span.clone()));
        let head = self.head.clone();
        let fault = self.faults.error(Code::NameUnknown, message, span, "");
        // `name:` and `name,` come from YAML and other languages; the mark is not part of the word.
        let bare = name.trim_end_matches([':', ',']);
        let ours = foreign_words::node(bare).filter(|ours| scope.has(ours));
        if scope.props.contains(&bare) {
            fault.add_help(match value {
                Some(value)
                    if !head.is_empty()
                        && !head.contains(&format!("{bare}="))
                        && scope.place == NodeScope::TENSOR.place =>
                {
                    format!(
                        "write it as a property of {}: `{head} {bare}={value} {{ … }}`",
                        scope.place
                    )
                }
                _ => format!("write it as a property of {}: `{bare}=…`", scope.place),
            });
        } else if scope.has(bare) {
            fault.add_suggestion(bare);
        } else if let Some(ours) = ours {
            fault.add_suggestion(ours);
        } else if ["--", "%", "'", "REM"].contains(&name) {
            fault.add_help("a comment begins with `//`");
        } else if scope.has("compute") && name.contains('[') && name.contains('=') {
            fault.add_help(format!("write `compute \"{}\"`", show(name)));
        } else if NOTATION_WORDS.contains(&name) {
            fault.add_help(format!("write it as a property of a layout: `layout {name}=\"…\"`"));
        } else if let Some(near) = nearest(name, scope.nodes.iter().copied()) {
            fault.add_suggestion(near);
        } else if NodeScope::STEPS.has(name) {
            fault.add_help(format!("it is a step: write it inside `layout {{ {name} … }}`"));
        } else if bare == "name" {
            fault.add_help("write the name as the first argument: `tensor input dtype=f32`");
        } else if NodeScope::TENSOR.props.contains(&bare) {
            fault.add_help(format!("write it as a property of a tensor: `{bare}=…`"));
        } else if NodeScope::TENSOR.nodes.contains(&bare) {
            fault.add_help("move it into a tensor");
        } else if NodeScope::KERNEL.nodes.contains(&name) {
            fault.add_help("move it into a kernel");
        } else if NodeScope::TOP.nodes.contains(&name) {
            fault.add_help("move it to the top level of the manifest");
        } else {
            fault.add_help("use one of the nodes allowed here, or leave it out");
        }
        let others = scope.nodes.iter().filter(|other| **other != name).copied();
        fault.add_note(format!("allowed here: {}", list(&others.collect::<Vec<_>>())));
    }

    /// Value that `words` pairs with the keyword in `entry`; `None` for any other entry, which is reported. `subject`
    /// is the node or property in the message: `` `padding` ``.
    pub(super) fn keyword<T: Clone>(
        &mut self,
        subject: &str,
        entry: &Entry,
        words: &[(&str, T)],
    ) -> Option<T> {
        let found = words.iter().find(|(word, _)| entry.text() == Some(word));
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.unknown_word(subject, entry, &known);
        }
        found.map(|(_, value)| value.clone())
    }

    /// Reports a value that is not among the keywords `known`, with the nearest or all of them as help; `subject` is
    /// the node or property in the message: `` `padding` ``.
    pub(super) fn unknown_word(&mut self, subject: &str, entry: &Entry, known: &[&str]) {
        let written = self.text.get(entry.content.clone()).unwrap_or_default();
        let message = format!("unknown value `{}` for {subject}", show(written));
        let near = nearest(written, known.iter().copied());
        let fault = self.faults.error(Code::NameUnknown, message, entry.span.clone(), "");
        match near {
            Some(near) => fault.add_suggestion(as_written(near)),
            None => {
                let known: Vec<String> = known.iter().map(|word| as_written(word)).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                fault.add_help(format!("write {}", alternatives(&known)));
            }
        }
        let of = if known.len() == 1 { "" } else { "one of " };
        fault.add_note(format!("expected {of}{}", list(known)));
    }
}

/// Keyword as it is written in a manifest: quoted if it begins with a digit, as in `"128B"`.
fn as_written(word: &str) -> String {
    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
    if is_number { format!("\"{word}\"") } else { word.to_owned() }
}

/// Word of the manifest for a message, cut after 80 characters; a character that is not printable ASCII becomes
/// `U+0430`.
pub(super) fn show(word: &str) -> String {
    let ascii = |c: char| c.is_ascii_graphic() || c == ' ';
    let spell = |c: char| if ascii(c) { c.to_string() } else { format!("U+{:04X}", u32::from(c)) };
    let mut shown: String = word.chars().take(80).map(spell).collect();
    if word.chars().nth(80).is_some() {
        shown.push('…');
    }
    shown
}

/// Arguments, properties and block of an example of a node, such as `split AXIS by=4`.
struct ExampleWords<'e> {
    args: Vec<&'e str>,
    props: Vec<(&'e str, &'e str)>,
    /// Block of the example, with the space before it; empty if there is none.
    block: &'e str,
}

impl<'e> ExampleWords<'e> {
    fn of(example: &'e str) -> Self {
        let is_in_quotes = |at: usize| example[..at].matches('"').count() % 2 == 1;
        let mut starts = example.match_indices(" {").map(|(at, _)| at);
        let block = starts.find(|at| !is_in_quotes(*at)).unwrap_or(example.len());
        let (head, block) = example.split_at(block);
        let mut words = Vec::new();
        let mut start = 0;
        for (at, _) in head.match_indices(' ').filter(|(at, _)| !is_in_quotes(*at)) {
            words.push(&head[start..at]);
            start = at + 1;
        }
        words.push(&head[start..]);
        let (mut args, mut props) = (Vec::new(), Vec::new());
        for word in words.into_iter().skip(1) {
            match word.split_once('=') {
                Some((key, value)) if !key.contains('"') => props.push((key, value)),
                _ => args.push(word),
            }
        }
        Self { args, props, block }
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

/// List of words as alternatives for messages: `a`, `b` or `c`.
fn alternatives(words: &[&str]) -> String {
    let all = list(words);
    all.rsplit_once(" and ").map_or(all.clone(), |(others, last)| format!("{others} or {last}"))
}

/// List of words for messages: `a`, `b` and `c`.
pub(super) fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}
