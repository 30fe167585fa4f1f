//! Contexts of nodes ([`NodeScope`]): the nodes and properties that an enclosing node may have, and the diagnostics for
//! other nodes in it.

use super::ManifestReader;
use super::foreign_words;
use super::keywords::{NOTATION_WORDS, STEP_NAMES};
use super::message_words::{list, show};
use crate::base::codes::Code;
use crate::base::nearest::nearest;
use crate::manifest::tree::ManifestNode;

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
        Self { place: "a local tensor", nodes: &["layout"], props: &["dtype", "at"] };
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
        nodes: &[
            "dtype", "shape", "layout", "memory", "nibbles", "shard", "ring", "access", "require",
        ],
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
    /// Pair `(nodes, properties)`: names of the nodes that may occur in the enclosing node, and names of the properties
    /// that the enclosing node may have.
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
    /// Children of `node` that `scope` allows, in order. Other children are reported and left out. So is a second child
    /// with a name for which `once` returns true.
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

    /// Reports a node that `scope` does not allow. The help text has, for example, the allowed name that is spelled
    /// most similarly, or the node in which the reported one is allowed. A broken node is not reported.
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
        } else if name == "tile" && scope.has("partial-sums") {
            fault.add_help(
                "split each loop, and order the inner parts: `split i by=4`, `loops … i_inner`",
            );
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
}
