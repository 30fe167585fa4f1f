//! Reads shapes: `shape { n batch; h 64; field { x; y; z } }`.

use std::collections::BTreeMap;
use std::ops::Range;

use super::ManifestReader;
use super::message_words::show;
use super::node_signature::{BlockRule, NodeSignature};
use crate::base::codes::Code;
use crate::base::diagnostic::Fix;
use crate::manifest::lex::has_comments;
use crate::manifest::syntax::{
    AxisItem, Extent, FIELD, Identifier, IntegerExpr, ShapeItem, SpannedText, WHERE,
};
use crate::manifest::tree::{Entry, ManifestNode, ManifestValue};

/// Words that other languages use for an extent known only at run time.
const OPEN: &[&str] = &["?", "*", "...", ":"];

/// Help text for an axis whose extent is known only at run time: a suggestion to declare a symbol.
fn symbol_help(axis: &str) -> String {
    let axis = show(axis);
    format!(
        "declare an extent known only at run time as a symbol, `symbol {axis}_size max=4096`, and write `{axis} {axis}_size`"
    )
}

/// True if an argument is an operator of an unquoted expression, as in `n 2 * k`.
fn is_operator(entry: &Entry) -> bool {
    !entry.quoted && entry.text().is_some_and(|word| ["*", "+", "-", "%"].contains(&word))
}

impl ManifestReader<'_, '_> {
    pub(super) fn shape(&mut self, node: &ManifestNode) -> Option<ShapeItem> {
        if node.broken || self.misshapen(node) {
            return None;
        }
        let form = NodeSignature {
            usage: "shape { n 16; c 4 }",
            args: 0..=0,
            props: Some(&[]),
            block: BlockRule::Always,
        };
        self.form(node, &form)?;
        let mut axes: Vec<AxisItem> = Vec::new();
        let mut seen = BTreeMap::new();
        let mut conditions = Vec::new();
        for child in node.children() {
            if child.name == WHERE {
                conditions.push(self.condition(child)?);
                continue;
            }
            let Some(axis) = self.axis(child) else { continue };
            self.unique("axes", &axis.name, &mut seen);
            axes.push(axis);
        }
        Some(ShapeItem { axes, conditions, span: node.span.clone() })
    }

    /// Reads `where "j <= i"`: only the indices for which the condition holds are elements. `None` after a reported
    /// error, such as a condition without quotes.
    fn condition(&mut self, node: &ManifestNode) -> Option<SpannedText> {
        let entry = self.argument(node, "where \"j <= i\"")?;
        let is_text = matches!(entry.value, ManifestValue::String(_)) && entry.quoted;
        if !is_text {
            let message = "an axis cannot be named `where`: it begins a condition";
            let help =
                "give the axis another name, or write a condition in quotes: `where \"j <= i\"`";
            return self.refuse(Code::DomainCondition, message, &node.head, help);
        }
        self.text_of(entry, "a condition")
    }

    /// Reads a shape that must not have `where` conditions; `takes` is the noun phrase for the shape's owner in the
    /// message: `a view`. `None`, after a report, if it has a condition, or if the node does not have the form of a
    /// shape.
    pub(super) fn box_shape(&mut self, node: &ManifestNode, takes: &str) -> Option<ShapeItem> {
        let shape = self.shape(node)?;
        if let Some(condition) = shape.conditions.first() {
            let message = format!("{takes} cannot have a condition on its shape");
            let help = "remove the condition: only a `tensor` item can have one";
            return self.refuse(Code::DomainWhole, message, &condition.span, help);
        }
        Some(shape)
    }

    /// Adds a name with its span to `seen`, the names before it. If `seen` has the name already, the name is reported
    /// instead. `what` is the plural noun in the message: `axes`.
    pub(super) fn unique(
        &mut self,
        what: &str,
        name: &Identifier,
        seen: &mut BTreeMap<String, Range<usize>>,
    ) {
        if let Some(first) = seen.get(&name.value) {
            let place = self.faults.place(first.clone());
            let message = format!("two {what} are called `{}`", name.value);
            let fault = self.faults.error(Code::NameDuplicate, message, name.span.clone(), "");
            fault.add_label(place, "the first");
            let other = (2..).map(|k| format!("{}_{k}", name.value));
            let mut other = other.filter(|other| !seen.contains_key(other));
            fault.add_help(match other.next().filter(|_| what == "axes") {
                Some(other) => format!("give one of the two another name, such as `{other}`"),
                None => "give one of the two another name".to_owned(),
            });
            return;
        }
        seen.insert(name.value.clone(), name.span.clone());
    }

    /// Returns true for a shape whose axes are properties or arguments of `shape`, or that has several axes on one
    /// node. The shape is reported, with the corrected one as help. Returns false for any other shape.
    fn misshapen(&mut self, node: &ManifestNode) -> bool {
        let crowded = |axis: &&ManifestNode| {
            axis.name != WHERE && (axis.args.len() > 1 || !axis.props.is_empty())
        };
        let (message, span) = if let Some((key, last)) = node.props.first() {
            let message = "axes are nodes in a block: properties have no order";
            (message, key.span.start..node.props.last().map_or(last, |prop| &prop.1).span.end)
        } else if let (Some(first), Some(last)) = (node.args.first(), node.args.last()) {
            ("axes are nodes in a block: each has a name", first.span.start..last.span.end)
        } else if let Some(axis) = node.children().iter().find(crowded) {
            let message = if axis.args.iter().any(is_operator) {
                "an expression must be one quoted string"
            } else {
                "each axis is a separate node: separate them with `;` or a new line"
            };
            (message, axis.head.clone())
        } else {
            return false;
        };
        let corrected = self.corrected(node);
        let place = self.faults.place(node.span.clone());
        let fault = self.faults.error(Code::ShapeForm, message, span, "");
        fault.add_help(format!("write `{corrected}`"));
        // Comments would be lost in the corrected line: no fix then.
        if !self.text.get(node.span.clone()).is_some_and(has_comments) {
            fault.fixes.push(Fix { place, text: corrected });
        }
        true
    }

    /// Text of a misshapen shape in its correct form, with one node for each axis: `shape { n 16; c 4 }`.
    fn corrected(&self, node: &ManifestNode) -> String {
        let of = |entry: &Entry| self.text.get(entry.span.clone()).unwrap_or_default().to_owned();
        // `n:16` and `"16, 64"` are several words.
        let apart = |entry: &Entry| -> Vec<String> {
            let source = self.text.get(entry.content.clone()).unwrap_or_default();
            let marks = |c: char| c.is_whitespace() || matches!(c, ',' | ':' | '=');
            source.split(marks).filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        let given: Vec<String> = node.args.iter().flat_map(apart).collect();
        let is_number = |word: &String| word.bytes().all(|b| b.is_ascii_digit());
        let named = !given.iter().all(is_number);
        let mut words: Vec<String> = Vec::new();
        for (at, word) in given.into_iter().enumerate() {
            if !named {
                words.push(format!("d{at}"));
            }
            words.push(word);
        }
        for (key, entry) in &node.props {
            words.extend([key.value.clone(), of(entry)]);
        }
        let mut axes: Vec<String> = words.chunks(2).map(|pair| pair.join(" ")).collect();
        for axis in node.children() {
            if axis.children.is_some() {
                let source = self.text.get(axis.span.clone()).unwrap_or_default();
                axes.push(source.split_whitespace().collect::<Vec<_>>().join(" "));
                continue;
            }
            if axis.args.iter().any(is_operator) {
                let value: Vec<String> = axis.args.iter().map(of).collect();
                axes.push(format!("{} \"{}\"", axis.name, value.join(" ")));
                continue;
            }
            let mut words = vec![axis.name.clone()];
            words.extend(axis.args.iter().map(of));
            for (key, entry) in &axis.props {
                words.extend([key.value.clone(), of(entry)]);
            }
            axes.extend(words.chunks(2).map(|pair| pair.join(" ")));
        }
        format!("shape {{ {} }}", axes.join("; "))
    }

    fn axis(&mut self, node: &ManifestNode) -> Option<AxisItem> {
        if node.broken {
            return None;
        }
        let name = self.node_name(node);
        let extent = match (node.args.first(), &node.children) {
            (Some(extent), None) => self.extent(&node.name, extent).map(Extent::Bound),
            (None, Some(labels)) => self.labels(node, labels).map(Extent::Labels),
            (Some(extent), Some(labels)) => {
                let message = format!("axis `{}` has both an extent and labels", show(&node.name));
                let place = self.faults.place(extent.span.start..self.block_span(node).start);
                let span = node.span.clone();
                let fault = self.faults.error(Code::ShapeLabels, message, span, "both are here");
                let count = labels.len();
                fault
                    .add_help(format!("leave the extent out: it is {count}, the number of labels"));
                if matches!(extent.value, ManifestValue::Integer(n) if usize::try_from(n) == Ok(count))
                {
                    fault.fixes.push(Fix { place, text: String::new() });
                }
                None
            }
            (None, None) if node.name == FIELD => Some(Extent::Fields),
            (None, None) => {
                let name = show(&node.name);
                let message = format!("axis `{name}` has no extent");
                let fault = self.faults.error(Code::ShapeExtent, message, node.head.clone(), "");
                match name.split_once([':', '=']) {
                    Some((name, extent)) => fault.add_help(format!("write `{name} {extent}`")),
                    None => fault.add_help(format!("write `{name} 64`")),
                };
                None
            }
        };
        Some(AxisItem { name: name?, extent: extent? })
    }

    /// Reads the name of a node that declares an axis, a field or a label; `None` for a word that is not a valid name,
    /// which is reported.
    pub(super) fn node_name(&mut self, node: &ManifestNode) -> Option<Identifier> {
        let text = self.inside(&node.name, &node.name_span);
        self.as_name(&text)
    }

    fn extent(&mut self, axis: &str, entry: &Entry) -> Option<IntegerExpr> {
        let bound = self.bound(entry, "an extent", Code::ShapeExtent)?;
        let message = match &bound {
            IntegerExpr::Integer(number) if number.value < 0 => {
                format!("an extent cannot be negative: {}", number.value)
            }
            IntegerExpr::Text(text) if text.quoted && text.value.trim().parse::<f64>().is_ok() => {
                "an extent must be a number, not a string".to_owned()
            }
            IntegerExpr::Text(text) if OPEN.contains(&text.value.trim()) => {
                let message =
                    "an extent must be a number, or a symbol if it is known only at run time";
                return self.refuse(Code::ShapeExtent, message, &entry.span, symbol_help(axis));
            }
            IntegerExpr::Integer(_) | IntegerExpr::Text(_) => return Some(bound),
        };
        let fault = self.faults.error(Code::ShapeExtent, message, entry.span.clone(), "");
        if let IntegerExpr::Text(text) = &bound {
            fault.add_help(format!("write `{}`", text.value.trim()));
            fault.add_fix(text.value.trim());
        } else {
            fault.add_help("write 0 or more").add_help(symbol_help(axis));
        }
        None
    }

    fn labels(&mut self, axis: &ManifestNode, labels: &[ManifestNode]) -> Option<Vec<Identifier>> {
        if labels.is_empty() {
            let name = show(&axis.name);
            let message = format!("axis `{name}` has no labels");
            let help = format!("write `{name} {{ x; y; z }}`, or an extent: `{name} 64`");
            return self.refuse(Code::ShapeLabels, message, &axis.span, help);
        }
        let mut names: Vec<Identifier> = Vec::new();
        let mut seen = BTreeMap::new();
        for label in labels.iter().filter(|label| !label.broken) {
            if !label.args.is_empty() || !label.props.is_empty() || label.children.is_some() {
                let message = "a label must be a single name";
                let span = label.span.clone();
                let fault = self.faults.error(Code::ShapeLabels, message, span, "");
                fault.add_help("write `field { x; y; z }`");
                continue;
            }
            let Some(name) = self.node_name(label) else { continue };
            self.unique("labels", &name, &mut seen);
            names.push(name);
        }
        Some(names)
    }
}
