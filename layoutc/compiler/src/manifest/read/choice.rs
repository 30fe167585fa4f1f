//! Reads the block of `convert` items: scheduling decisions, such as `order h n`, that override the planner's.

use super::ManifestReader;
use super::node_scope::NodeScope;
use crate::base::codes::Code;
use crate::manifest::syntax::{
    ConvertScheduleItem, ConvertScheduleKind, FillStrategy, InnerKernel, StorePolicy,
};
use crate::manifest::tree::{ManifestNode, ManifestValue};

/// Maximum of both numbers in `block 32 64`, the extents of a transpose tile; a greater one is an error.
const EDGE: i64 = 1 << 30;

impl ManifestReader<'_, '_> {
    /// Reads the scheduling decisions in the block of a `convert` item, in textual order; invalid ones are reported and
    /// left out.
    pub(super) fn choices(&mut self, node: &ManifestNode) -> Vec<ConvertScheduleItem> {
        let mut choices = Vec::new();
        for child in self.parts(node, &NodeScope::CONVERT, |_| true) {
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
        self.leaf(node, "order n h", 1..=usize::MAX)?;
        let names = self.all_names(&node.args, "a loop")?;
        for (k, name) in names.iter().enumerate() {
            if names.iter().take(k).any(|other| other.value == name.value) {
                let message = format!("duplicate loop `{}`", name.value);
                return self.refuse(Code::KdlTwice, message, &name.span, "name it once");
            }
        }
        Some(ConvertScheduleKind::Order(names))
    }

    fn block_choice(&mut self, node: &ManifestNode) -> Option<ConvertScheduleKind> {
        self.leaf(node, "block 32 64", 2..=2)?;
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
        let (usage, words) = match name {
            "inside" => {
                let kinds = InnerKernel::ALL.iter();
                let words = kinds.map(|k| (k.keyword(), ConvertScheduleKind::Inside(*k)));
                ("inside blocks", words.collect::<Vec<_>>())
            }
            "stores" => {
                let policies = StorePolicy::ALL.iter();
                let words = policies.map(|p| (p.keyword(), ConvertScheduleKind::Stores(*p)));
                ("stores streaming", words.collect())
            }
            _ => {
                let strategies = FillStrategy::ALL.iter();
                let words = strategies.map(|s| (s.keyword(), ConvertScheduleKind::Fill(*s)));
                ("fill borders", words.collect())
            }
        };
        let entry = self.argument(node, usage)?;
        let subject = format!("`{name}`");
        self.text_of(entry, &subject)?;
        self.keyword(&subject, entry, &words)
    }
}
