//! Reads the block of `convert`: overrides of the planner's choices.

use super::ManifestReader;
use super::node_signature::{BlockRule, NodeScope, NodeSignature};
use crate::base::codes::Code;
use crate::manifest::syntax::{
    ConvertScheduleItem, ConvertScheduleKind, FillStrategy, InnerKernel, StorePolicy,
};
use crate::manifest::tree::{ManifestNode, ManifestValue};

/// The choices between keywords.
const WORDS: &[(&str, &str, ConvertScheduleKind)] = &[
    ("inside", "blocks", ConvertScheduleKind::Inside(InnerKernel::Transpose)),
    ("inside", "runs", ConvertScheduleKind::Inside(InnerKernel::CopyRuns)),
    ("inside", "elements", ConvertScheduleKind::Inside(InnerKernel::Elementwise)),
    ("stores", "streaming", ConvertScheduleKind::Stores(StorePolicy::Streaming)),
    ("stores", "cached", ConvertScheduleKind::Stores(StorePolicy::Cached)),
    ("fill", "first", ConvertScheduleKind::Fill(FillStrategy::WholeFirst)),
    ("fill", "borders", ConvertScheduleKind::Fill(FillStrategy::PaddingOnly)),
];

/// Maximum edge of a block, in elements.
const EDGE: i64 = 1 << 30;

impl ManifestReader<'_, '_> {
    /// Reads the choices of a conversion, in textual order.
    pub(super) fn choices(&mut self, node: &ManifestNode) -> Vec<ConvertScheduleItem> {
        let mut seen: Vec<&ManifestNode> = Vec::new();
        let mut choices = Vec::new();
        for child in node.children() {
            if !NodeScope::CONVERT.has(&child.name) {
                self.unknown_node(child, &NodeScope::CONVERT);
                continue;
            }
            if let Some(first) = seen.iter().find(|first| first.name == child.name) {
                let place = self.faults.place(first.name_span.clone());
                let message = format!("duplicate node `{}`", child.name);
                let span = child.name_span.clone();
                let fault = self.faults.error(Code::KdlTwice, message, span, "");
                fault.add_label(place, "first here").add_help("leave one of the two out");
                continue;
            }
            seen.push(child);
            let kind = match child.name.as_str() {
                "order" => self.order_choice(child),
                "block" => self.block_choice(child),
                name => self.word_choice(child, name),
            };
            choices.extend(kind.map(|kind| ConvertScheduleItem { kind, span: child.span.clone() }));
        }
        choices
    }

    fn order_choice(&mut self, node: &ManifestNode) -> Option<ConvertScheduleKind> {
        let (args, block) = (1..=usize::MAX, BlockRule::Never);
        if !self.form(node, &NodeSignature { usage: "order n h", args, props: Some(&[]), block }) {
            return None;
        }
        let names = self.all_names(&node.args, "a loop")?;
        for (k, name) in names.iter().enumerate() {
            if names.iter().take(k).any(|other| other.value == name.value) {
                let message = format!("duplicate loop `{}`", name.value);
                let fault = self.faults.error(Code::KdlTwice, message, name.span.clone(), "");
                fault.add_help("name it once");
                return None;
            }
        }
        Some(ConvertScheduleKind::Order(names))
    }

    fn block_choice(&mut self, node: &ManifestNode) -> Option<ConvertScheduleKind> {
        let (args, block) = (2..=2, BlockRule::Never);
        if !self.form(node, &NodeSignature { usage: "block 32 64", args, props: Some(&[]), block })
        {
            return None;
        }
        let mut edges = Vec::new();
        for arg in &node.args {
            match &arg.value {
                ManifestValue::Integer(value) if (1..=i128::from(EDGE)).contains(value) => {
                    edges.push(i64::try_from(*value).ok()?);
                }
                _ => {
                    let message =
                        format!("the edge of a block must be an integer from 1 to {EDGE}");
                    let fault = self.faults.error(Code::KdlValue, message, arg.span.clone(), "");
                    fault.add_help("write it as `block 32 64`");
                }
            }
        }
        Some(ConvertScheduleKind::Block(edges.try_into().ok()?))
    }

    fn word_choice(&mut self, node: &ManifestNode, name: &str) -> Option<ConvertScheduleKind> {
        let words = || WORDS.iter().filter(|row| row.0 == name);
        let usage = match name {
            "inside" => "inside blocks",
            "stores" => "stores streaming",
            _ => "fill borders",
        };
        let form = NodeSignature { usage, args: 1..=1, props: Some(&[]), block: BlockRule::Never };
        if !self.form(node, &form) {
            return None;
        }
        let entry = node.args.first()?;
        let text = self.text_of(entry, &format!("`{name}`"))?;
        let found = words().find(|row| row.1 == text.value);
        if found.is_none() {
            let known: Vec<&str> = words().map(|row| row.1).collect();
            self.unknown_word(&format!("`{name}`"), entry, &known);
        }
        found.map(|row| row.2.clone())
    }
}
