//! Reads `backend` items: `backend opencl { default-layout 4 NHWC; op conv { accepts … }; others default=#true }`.

use super::ManifestReader;
use super::node_scope::NodeScope;
use super::node_signature::{BlockRule, NodeSignature};
use super::size::number;
use crate::base::codes::Code;
use crate::manifest::syntax::{
    AcceptsItem, BackendItem, CostItem, Decimal, DefaultLayoutItem, Identifier, IntegerLiteral,
    OperatorItem, OperatorRule, ShapeRule, SpannedText, TypeRule,
};
use crate::manifest::tree::{Entry, ManifestNode, ManifestValue};

const BACKEND: &str = "backend opencl { op conv { accepts { in NHWC OHWI; out NHWC } } }";
const OPERATOR: &str = "op conv { accepts { in NHWC OHWI; out NHWC } }";
const ACCEPTS: &str = "accepts cost-per-byte=0.5 { in NHWC OHWI; out NHWC }";

/// Keywords of the rules for an operator's layouts that replace a list of alternatives.
const RULES: &[(&str, OperatorRule)] = &[
    ("elementwise", OperatorRule::Elementwise),
    ("by-letter", OperatorRule::ByLetter),
    ("any", OperatorRule::Any),
    ("default", OperatorRule::Default),
    ("transpose", OperatorRule::Transpose),
];

/// Maximum rank in `default-layout RANK LAYOUT`.
const MAX_RANK: i128 = 64;

impl ManifestReader<'_, '_> {
    pub(super) fn backend(&mut self, node: &ManifestNode) -> Option<BackendItem> {
        let props = Some(NodeScope::BACKEND.props);
        let block = BlockRule::Always;
        self.form(node, &NodeSignature { usage: BACKEND, args: 1..=1, props, block });
        let like = Self::prop(node, "like").map(|entry| self.name(entry, "a backend"));
        let verify = Self::prop(node, "verify").map(|entry| self.truth(entry, "`verify`"));
        let (mut defaults, mut operators, mut others) = (Vec::new(), Vec::new(), None);
        for child in self.parts(node, &NodeScope::BACKEND, |name| name == "others") {
            match child.name.as_str() {
                "default-layout" => defaults.extend(self.default_layout(child)),
                "op" => operators.extend(self.operator(child)),
                _ => others = self.operator(child),
            }
        }
        let name = |SpannedText { value, span, .. }: &SpannedText| Identifier {
            value: value.clone(),
            span: span.clone(),
        };
        let names: Vec<_> = operators.iter().map(|op: &OperatorItem| name(&op.name)).collect();
        self.differ(names.iter(), "operator");
        self.ranks_differ(&defaults);
        let name = self.name(node.args.first()?, "a backend's name")?;
        let verify = verify.unwrap_or(Some(true))?;
        let like = like.map_or(Some(None), |like| like.map(Some))?;
        let span = node.span.clone();
        Some(BackendItem { name, like, verify, defaults, operators, others, span })
    }

    fn default_layout(&mut self, node: &ManifestNode) -> Option<DefaultLayoutItem> {
        let usage = "default-layout 4 NHWC";
        self.leaf(node, usage, 2..=2)?;
        let entry = node.args.first()?;
        let rank = match entry.value {
            ManifestValue::Integer(value) if (0..=MAX_RANK).contains(&value) => {
                Some(IntegerLiteral { value, span: entry.span.clone() })
            }
            _ => {
                let message = format!("the rank must be an integer from 0 to {MAX_RANK}");
                self.refuse(Code::KdlValue, message, &entry.span, format!("write it as `{usage}`"))
            }
        };
        let layout = self.text_of(node.args.get(1)?, "a layout");
        Some(DefaultLayoutItem { rank: rank?, layout: layout? })
    }

    fn ranks_differ(&mut self, defaults: &[DefaultLayoutItem]) {
        for (k, item) in defaults.iter().enumerate() {
            let mut before = defaults.iter().take(k);
            if let Some(first) = before.find(|first| first.rank.value == item.rank.value) {
                let message = format!("duplicate default layout for rank {}", item.rank.value);
                self.duplicate(message, &item.rank.span, &first.rank.span);
            }
        }
    }

    /// Reads `op conv { … }`, or `others …`, which has no name and applies to operators that are not listed. `None`
    /// after a reported error.
    fn operator(&mut self, node: &ManifestNode) -> Option<OperatorItem> {
        let args = if node.name == "op" { 1..=1 } else { 0..=0 };
        let props = Some(NodeScope::OPERATOR.props);
        let before = self.faults.count();
        self.form(node, &NodeSignature { usage: OPERATOR, args, props, block: BlockRule::Maybe });
        let name = match node.args.first() {
            Some(entry) => self.text_of(entry, "an operator's name")?,
            None => SpannedText {
                value: node.name.clone(),
                span: node.name_span.clone(),
                quoted: false,
            },
        };
        let mut rules = Vec::new();
        for (word, rule) in RULES {
            let Some(entry) = Self::prop(node, word) else { continue };
            if self.truth(entry, &format!("`{word}`"))? {
                rules.push((*rule, entry.span.clone()));
            }
        }
        let cost = self.cost(node)?;
        let shapes = self.one_word(node, "shapes", &ShapeRule::WORDS);
        let types = self.one_word(node, "types", &TypeRule::WORDS);
        let parts = self.parts(node, &NodeScope::OPERATOR, |_| false);
        let accepts: Vec<_> = parts.iter().filter_map(|child| self.accepts(child)).collect();
        if self.faults.count() > before {
            return None;
        }
        let rule = self.one_rule(node, &rules, &accepts, cost.is_some())?;
        let has_more = cost.is_some() || shapes.is_some() || types.is_some();
        if rule == OperatorRule::Transpose && has_more {
            let message = "`transpose` determines the cost, the shapes and the element types";
            let help = "write `op Transpose transpose=#true` alone, or `any=#true` with a cost, `shapes` and `types`";
            return self.refuse(Code::KdlSurplus, message, &node.head, help);
        }
        Some(OperatorItem { name, rule, shapes, types, cost, accepts, span: node.head.clone() })
    }

    /// Value of the property `key` of `node`, which must be one of the keywords in `words`, pairs (keyword, value).
    /// `None` if the property is absent, or if it has another value, which is reported.
    fn one_word<T: Copy>(
        &mut self,
        node: &ManifestNode,
        key: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let entry = Self::prop(node, key)?;
        let found = words.iter().find(|(known, _)| entry.text() == Some(known));
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let message = format!("`{key}` must be one of `{}`", known.join("`, `"));
            let fault = self.faults.error(Code::KdlValue, message, entry.span.clone(), "");
            fault.add_help("write one of these, or leave it out");
        }
        found.map(|(_, rule)| *rule)
    }

    /// Rule for the layouts of the operator `node`: the only element of `rules`, or [`OperatorRule::Accepts`] if there
    /// are alternatives `accepts`. `rules` are pairs (rule, byte range) from the node's properties. `has_cost` is true
    /// if the operator itself has a cost. `None`, after a report, in each of these cases:
    /// - neither a rule nor alternatives
    /// - several rules, or a rule together with alternatives
    /// - a cost of the operator together with alternatives
    fn one_rule(
        &mut self,
        node: &ManifestNode,
        rules: &[(OperatorRule, std::ops::Range<usize>)],
        accepts: &[AcceptsItem],
        has_cost: bool,
    ) -> Option<OperatorRule> {
        match (rules, accepts) {
            ([(rule, _)], []) => Some(*rule),
            ([], [_, ..]) if has_cost => {
                let message = "alternatives have their own costs";
                self.refuse(Code::KdlSurplus, message, &node.head, format!("write `{ACCEPTS}`"))
            }
            ([], [_, ..]) => Some(OperatorRule::Accepts),
            ([], []) => {
                let message = "an operator needs alternatives or a rule";
                let help = format!(
                    "write alternatives: `{OPERATOR}`; or `elementwise=#true`, `by-letter=#true`, `any=#true`, `default=#true` or `transpose=#true`"
                );
                self.refuse(Code::KdlMissing, message, &node.head, help)
            }
            ([(_, first), ..], _) => {
                let span = rules.get(1).map_or_else(|| node.head.clone(), |(_, span)| span.clone());
                let place = self.faults.place(first.clone());
                let message = "an operator can have either alternatives or one rule";
                let fault = self.faults.error(Code::KdlTwice, message, span, "");
                fault.add_label(place, "the rule").add_help("leave one of the two out");
                None
            }
        }
    }

    /// Reads an alternative of an operator, `accepts cost=100352 { in NHWC OHWI; out NHWC }`; `out` is required. `None`
    /// after a reported error.
    pub(super) fn accepts(&mut self, node: &ManifestNode) -> Option<AcceptsItem> {
        let props = Some(NodeScope::ACCEPTS.props);
        let before = self.faults.count();
        let block = BlockRule::Always;
        self.form(node, &NodeSignature { usage: ACCEPTS, args: 0..=0, props, block });
        let (mut inputs, mut outputs) = (Vec::new(), None);
        for child in self.parts(node, &NodeScope::ACCEPTS, |_| true) {
            let layouts = self.layouts(child);
            if child.name == "in" { inputs = layouts } else { outputs = Some(layouts) }
        }
        if outputs.is_none() && !node.broken && node.children.is_some() {
            let message = "an alternative needs `out`, the layouts of the results";
            let fault = self.faults.error(Code::KdlMissing, message, node.head.clone(), "");
            fault.add_help(format!("write it as `{ACCEPTS}`"));
        }
        let cost = self.cost(node)?;
        let when = Self::prop(node, "when").map(|entry| self.text_of(entry, "a condition"));
        let outputs = outputs.filter(|_| self.faults.count() == before)?;
        Some(AcceptsItem { inputs, outputs, cost, when: when.flatten(), span: node.head.clone() })
    }

    /// Reads the layouts in `in NHWC OHWI` or `out NHWC`; invalid ones are reported and left out.
    fn layouts(&mut self, node: &ManifestNode) -> Vec<SpannedText> {
        self.leaf(node, "in NHWC OHWI", 0..=usize::MAX);
        node.args.iter().filter_map(|entry| self.text_of(entry, "a layout")).collect()
    }

    /// Cost in the property `cost` or `cost-per-byte` of a node. `Some(None)` if the node has neither property. `None`,
    /// after a report, if the cost is invalid or the node has both.
    #[expect(clippy::option_option, reason = "tells an absent cost from an invalid one")]
    pub(super) fn cost(&mut self, node: &ManifestNode) -> Option<Option<CostItem>> {
        match (Self::prop(node, "cost"), Self::prop(node, "cost-per-byte")) {
            (None, None) => Some(None),
            (Some(entry), None) => match entry.value {
                ManifestValue::Integer(value) if (0..=i128::from(i64::MAX)).contains(&value) => {
                    Some(Some(CostItem::Bytes(IntegerLiteral { value, span: entry.span.clone() })))
                }
                _ => {
                    let message = "`cost` must be a number of bytes from 0 to 2^63 - 1";
                    let help = "write a fraction of the results' bytes as `cost-per-byte=0.5`";
                    self.refuse(Code::KdlValue, message, &entry.span, help)
                }
            },
            (None, Some(entry)) => Some(Some(CostItem::PerByte(self.per_byte(entry)?))),
            (Some(_), Some(entry)) => {
                let message = "`cost` and `cost-per-byte` are mutually exclusive";
                self.refuse(Code::KdlTwice, message, &entry.span, "leave one of the two out")
            }
        }
    }

    fn per_byte(&mut self, entry: &Entry) -> Option<Decimal> {
        let most = 1_000_000_000_i128;
        let number = number(entry).filter(|number| {
            let one = 10_i128.checked_pow(number.places).unwrap_or(i128::MAX);
            number.digits >= 0 && number.digits.checked_div(one).is_some_and(|whole| whole < most)
        });
        if number.is_none() {
            let message = format!("`cost-per-byte` must be a number from 0 and below {most}");
            let fault = self.faults.error(Code::KdlValue, message, entry.span.clone(), "");
            fault.add_help("write bytes for each byte: `cost-per-byte=0.5`");
        }
        number
    }

    /// Reads `#true` or `#false`; `None` for another value, which is reported. `what` is the noun phrase for the entry
    /// in messages.
    pub(super) fn truth(&mut self, entry: &Entry, what: &str) -> Option<bool> {
        if let ManifestValue::Bool(value) = entry.value {
            return Some(value);
        }
        let message = format!("{what} must be `#true` or `#false`");
        self.refuse(Code::KdlValue, message, &entry.span, "write one of these, or leave it out")
    }
}
