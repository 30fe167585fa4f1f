//! Reads layouts, `layout nchw4c` or `layout { … }`, and their steps, such as `split c by=4`.

use super::ManifestReader;
use super::keywords::{step, step_usage};
use super::message_words::show;
use super::node_scope::NodeScope;
use super::node_signature::{BlockRule, NodeSignature};
use super::notation_step::is_notation_word;
use super::text::is_name;
use layoutc_algebra::notation::{self, Notation};

use crate::base::codes::Code;
use crate::base::diagnostic::Fix;
use crate::manifest::syntax::{
    FillItem, FillLiteral, Identifier, IntegerLiteral, LayoutItem, PaddingRule, SeparatorItem,
    SpannedText, StepItem, StepKind, TileEntry,
};
use crate::manifest::tree::{Entry, ManifestNode, ManifestValue};

/// Names of dense layouts in other tools. They are not valid names of transforms, but the reader accepts them as such.
/// The check then gives help that depends on the axes.
const DENSE: &[&str] = &["row-major", "column-major", "col-major"];

/// Name of the property for a text that is a layout in the notation of another tool: `cute` for `(4,8):(8,1)`. `None`
/// for the name of a transform, and for a text in none of the notations that are tried here; einops, for example, is
/// not.
fn notation_of(text: &str) -> Option<&'static str> {
    if is_name(text) {
        return None;
    }
    let candidates = [
        (Notation::Cute, "cute"),
        (Notation::Xla, "xla"),
        (Notation::Mlir, "mlir"),
        (Notation::Numpy, "numpy"),
        (Notation::Mdspan, "mdspan"),
    ];
    let is_it = |notation| notation::notation_axes(notation, text, &[]).is_ok();
    candidates.into_iter().find(|row| is_it(row.0)).map(|row| row.1)
}

impl ManifestReader<'_, '_> {
    pub(super) fn layout(&mut self, node: &ManifestNode) -> Option<LayoutItem> {
        if node.broken {
            return None;
        }
        let one = |kind: StepKind| {
            let (span, name_span) = (node.span.clone(), node.name_span.clone());
            let step = StepItem { kind, span: span.clone(), name_span };
            LayoutItem { steps: vec![step], span }
        };
        if node.props.iter().any(|(key, _)| is_notation_word(&key.value)) {
            return self.notation_step(node, "layout tvm=\"NCHW16c\"").map(one);
        }
        let Some(children) = &node.children else {
            if let ([], Some((key, _))) = (node.args.as_slice(), node.props.first()) {
                self.unknown_notation(key);
                return None;
            }
            let form = NodeSignature {
                usage: "layout nchw4c` or `layout { … }",
                args: 1..=1,
                props: None,
                block: BlockRule::Never,
            };
            self.form(node, &form);
            if self.is_map(node.args.first(), "layout { map \"…\" }") {
                return None;
            }
            return self.apply(node).map(one);
        };
        if !node.args.is_empty() || !node.props.is_empty() {
            let message = "a layout can have either a name or a block";
            let fault =
                self.faults.error(Code::StepForm, message, node.head.clone(), "both are here");
            let source = self.text.get(node.head.clone()).unwrap_or_default();
            let apply = source.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
            fault.add_help(format!("write `layout {{ apply {apply}; … }}`"));
        }
        Some(LayoutItem { steps: self.steps(children), span: node.span.clone() })
    }

    /// Reads layout steps in order; invalid ones are reported and left out.
    pub(super) fn steps(&mut self, nodes: &[ManifestNode]) -> Vec<StepItem> {
        let mut steps = Vec::new();
        for node in nodes.iter().filter(|node| !node.broken) {
            let kind = self.step(node);
            let (span, name_span) = (node.span.clone(), node.name_span.clone());
            steps.extend(kind.map(|kind| StepItem { kind, span, name_span }));
        }
        steps
    }

    fn step(&mut self, node: &ManifestNode) -> Option<StepKind> {
        let Some(form) = step(&node.name) else {
            self.unknown_node(node, &NodeScope::STEPS);
            return None;
        };
        if node.name == "notation" {
            return self.notation_step(node, form.usage);
        }
        self.form(node, form)?;
        if node.name == "swizzle" {
            return self.swizzle(node);
        }
        let first = node.args.first()?;
        match node.name.as_str() {
            "map" => self.map(first).map(StepKind::Map),
            "apply" if self.is_map(Some(first), "map \"…\"") => None,
            "apply" => self.apply(node),
            "order" => self.order(&node.args),
            "split" => self.split(node, first),
            "fuse" => self.fuse(node),
            "tile" => self.tile(node),
            "pad" => self.pad(node, first),
            "strides" => self.all_bounds(&node.args, "a stride").map(StepKind::Strides),
            "align" => self.align(node, first),
            "fill" => self.fill(first),
            "padding" => self.padding(first),
            _ => self.separators(&node.args),
        }
    }

    /// Reads an index map, `"(n, c) -> (c, n)"`, as text that is not parsed yet. `None` after a reported error, such as
    /// a map without quotes.
    pub(super) fn map(&mut self, entry: &Entry) -> Option<SpannedText> {
        let text = self.text_of(entry, "a map")?;
        if text.quoted { Some(text) } else { self.unquoted(&text) }
    }

    /// Returns true, after a report, if `entry` is an index map although the name of a transform is expected. `written`
    /// is the correct form for the help text, with `…` in place of the map.
    fn is_map(&mut self, entry: Option<&Entry>, written: &str) -> bool {
        let Some(entry) = entry.filter(|entry| entry.quoted && entry.plain) else { return false };
        let Some(map) = entry.text().filter(|map| map.contains("->")) else { return false };
        let message = "expected the name of a transform, found a map";
        let help = format!("write `{}`", written.replace('…', map));
        self.refuse::<()>(Code::NameInvalid, message, &entry.span, help);
        true
    }

    /// Reads `apply blocked block=8` or `layout blocked block=8`. Invalid arguments are reported and left out. `None`,
    /// after a report, if the name is missing or invalid, such as a layout in the notation of another tool.
    fn apply(&mut self, node: &ManifestNode) -> Option<StepKind> {
        if let Some(entry) = node.args.first()
            && let Some(word) = entry.text()
        {
            if DENSE.iter().any(|dense| dense.eq_ignore_ascii_case(word)) {
                let name = Identifier { value: word.to_owned(), span: entry.content.clone() };
                return Some(StepKind::Apply { name, arguments: Vec::new() });
            }
            if let Some(notation) = notation_of(word) {
                let message = format!("expected the name of a transform, found `{}`", show(word));
                let text = if node.name == "apply" { "notation" } else { "layout" };
                let text = format!("{text} {notation}=\"{word}\"");
                let place = self.faults.place(node.span.clone());
                let fault = self.faults.error(Code::NameInvalid, message, entry.span.clone(), "");
                fault.add_help(format!("write it in its notation: `{text}`"));
                fault.fixes.push(Fix { place, text });
                return None;
            }
        }
        let name = node.args.first().and_then(|entry| self.name(entry, "a transform"));
        let mut arguments = Vec::new();
        for (key, entry) in &node.props {
            let what = format!("`{}`", show(&key.value));
            let (key, bound) = (self.key(key), self.bound(entry, &what, Code::KdlValue));
            arguments.extend(key.zip(bound));
        }
        Some(StepKind::Apply { name: name?, arguments })
    }

    fn order(&mut self, entries: &[Entry]) -> Option<StepKind> {
        let mut axes = Vec::new();
        for entry in entries {
            axes.push(match &entry.value {
                ManifestValue::String(word) if word == "..." => self.text_of(entry, "an axis"),
                ManifestValue::Integer(_) => {
                    let named = self.by_position(entries);
                    self.wrong_kind(entry, "an axis", &format!("write its name: `order {named}`"));
                    None
                }
                _ => self.one_name(entry, "an axis").map(|name| SpannedText {
                    value: name.value,
                    span: name.span,
                    quoted: entry.quoted,
                }),
            });
        }
        axes.into_iter().collect::<Option<_>>().map(StepKind::Order)
    }

    /// Names of axes, joined by spaces, for a help text. Each of `entries` is the name of an axis, or its position from
    /// 0. `c n` if a position is out of range, or if an entry is neither a name nor a position.
    fn by_position(&self, entries: &[Entry]) -> String {
        let axis = |entry: &Entry| match &entry.value {
            ManifestValue::Integer(k) => self.axes.get(usize::try_from(*k).ok()?).cloned(),
            ManifestValue::String(name) => Some(name.clone()),
            _ => None,
        };
        let names: Option<Vec<String>> = entries.iter().map(axis).collect();
        names.map_or_else(|| "c n".to_owned(), |names| names.join(" "))
    }

    fn split(&mut self, node: &ManifestNode, first: &Entry) -> Option<StepKind> {
        let axis = self.name(first, "an axis");
        let into = match Self::prop(node, "into") {
            Some(entry) => self.names(entry, "`into`"),
            None => Some(Vec::new()),
        };
        let Some(by) = Self::prop(node, "by") else {
            return self.lacks(node, "`by=`", step_usage("split"));
        };
        let by = self.bounds(by, "`by`");
        Some(StepKind::Split { axis: axis?, into: into?, by: by? })
    }

    fn fuse(&mut self, node: &ManifestNode) -> Option<StepKind> {
        let axes = self.all_names(&node.args, "an axis");
        let into = match Self::prop(node, "as") {
            Some(entry) => Some(self.name(entry, "the fused axis")?),
            None => None,
        };
        Some(StepKind::Fuse { axes: axes?, into })
    }

    fn tile(&mut self, node: &ManifestNode) -> Option<StepKind> {
        let entries: Vec<Option<TileEntry>> = node
            .args
            .iter()
            .map(|entry| match entry.text() {
                Some("*") => Some(TileEntry::Star(entry.span.clone())),
                _ => self.bound(entry, "a tile's extent", Code::KdlValue).map(TileEntry::Extent),
            })
            .collect();
        let names = match Self::prop(node, "as") {
            Some(entry) => self.names(entry, "`as`"),
            None => Some(Vec::new()),
        };
        Some(StepKind::Tile { entries: entries.into_iter().collect::<Option<_>>()?, names: names? })
    }

    fn pad(&mut self, node: &ManifestNode, first: &Entry) -> Option<StepKind> {
        let axis = self.name(first, "an axis");
        let before_faults = self.faults.count();
        let [multiple, before, after] = ["multiple", "before", "after"].map(|prop| {
            let entry = Self::prop(node, prop)?;
            self.bound(entry, &format!("`{prop}`"), Code::KdlValue)
        });
        if self.faults.count() > before_faults {
            return None;
        }
        match (multiple, before, after) {
            (None, None, None) => {
                self.lacks(node, "`multiple=`, `before=` or `after=`", step_usage("pad"))
            }
            (Some(multiple), None, None) => Some(StepKind::PadMultiple { axis: axis?, multiple }),
            (None, before, after) => Some(StepKind::PadBeforeAfter { axis: axis?, before, after }),
            (Some(_), _, _) => {
                let message = "`pad` takes either `multiple=`, or `before=` and `after=`";
                let span = node.head.clone();
                let fault = self.faults.error(Code::StepForm, message, span, "both are here");
                fault.add_help("write two `pad` steps");
                None
            }
        }
    }

    fn align(&mut self, node: &ManifestNode, first: &Entry) -> Option<StepKind> {
        let at = Self::prop(node, "at");
        if let Some(second) = node.args.get(1) {
            let axis = self.name(first, "an axis");
            let bytes = self.bound(second, "an alignment", Code::KdlValue);
            if at.is_some() {
                let message = "`align` takes either an axis or `at=`";
                let span = node.head.clone();
                let fault = self.faults.error(Code::StepForm, message, span, "both are here");
                fault.add_help("write two `align` steps");
                return None;
            }
            return Some(StepKind::AlignAxis { axis: axis?, bytes: bytes? });
        }
        let bytes = self.bound(first, "an alignment", Code::KdlValue);
        let step = match at {
            None => StepKind::AlignBase,
            Some(entry) => {
                self.keyword("`at`", entry, &[("origin", ())])?;
                StepKind::AlignOrigin
            }
        };
        bytes.map(step)
    }

    fn fill(&mut self, entry: &Entry) -> Option<StepKind> {
        let value = match &entry.value {
            ManifestValue::Integer(value) => FillLiteral::Integer(*value),
            ManifestValue::Float(value) => FillLiteral::Float(*value),
            ManifestValue::Bool(value) => FillLiteral::Bool(*value),
            ManifestValue::String(word) if word == "none" => FillLiteral::Nothing,
            ManifestValue::String(word) => {
                let word = show(word);
                let message = format!("`fill` must be a number or `none`, not `{word}`");
                let fault = self.faults.error(Code::NameUnknown, message, entry.span.clone(), "");
                fault.add_help("write `fill 0`, or `fill none` to leave padding as it is");
                return None;
            }
            ManifestValue::Null => {
                self.wrong_kind(entry, "`fill`", "write a number or `none`");
                return None;
            }
        };
        Some(StepKind::Fill(FillItem { value, span: entry.span.clone() }))
    }

    fn padding(&mut self, entry: &Entry) -> Option<StepKind> {
        let words = [("forbid", PaddingRule::Forbid), ("allow", PaddingRule::Allow)];
        self.keyword("`padding`", entry, &words).map(StepKind::Padding)
    }

    fn separators(&mut self, entries: &[Entry]) -> Option<StepKind> {
        let items: Vec<Option<SeparatorItem>> = entries
            .iter()
            .map(|entry| match entry.value {
                ManifestValue::Integer(value) if value >= 0 => {
                    Some(SeparatorItem::Position(IntegerLiteral {
                        value,
                        span: entry.span.clone(),
                    }))
                }
                ManifestValue::Integer(value) => {
                    let message = format!("a position cannot be negative: {value}");
                    let help = "write 0 or more, or the name of an axis";
                    self.refuse(Code::KdlValue, message, &entry.span, help)
                }
                ManifestValue::Float(_) => {
                    let written = self.text.get(entry.span.clone()).unwrap_or_default();
                    let message = format!(
                        "expected a position (an integer) or the name of a storage axis, found `{}`",
                        show(written)
                    );
                    let help = "write the position of the axis before the separator, counted from 0, or its name";
                    self.refuse(Code::KdlValue, message, &entry.span, help)
                }
                _ => self.one_name(entry, "a storage axis").map(SeparatorItem::Name),
            })
            .collect();
        items.into_iter().collect::<Option<_>>().map(StepKind::Separators)
    }
}
