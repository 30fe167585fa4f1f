//! Reads `view` items: `view input_x4 of=input dtype=f32x4`, `view q of=qkv { shape { … }; map "…" }`.

use super::ManifestReader;
use super::node_scope::NodeScope;
use super::node_signature::{BlockRule, NodeSignature};
use super::text::ELEMENT_TYPE;
use crate::base::codes::Code;
use crate::manifest::syntax::{SpannedText, ViewItem};
use crate::manifest::tree::ManifestNode;

const USAGE: &str = "view NAME of=TENSOR dtype=f32x4";

impl ManifestReader<'_, '_> {
    pub(super) fn view(&mut self, node: &ManifestNode) -> Option<ViewItem> {
        let props = Some(["of", "dtype"].as_slice());
        let block = BlockRule::Maybe;
        self.form(node, &NodeSignature { usage: USAGE, args: 1..=1, props, block });
        let dtype = Self::prop(node, "dtype").map(|entry| self.text_of(entry, ELEMENT_TYPE));
        let of = Self::prop(node, "of").map(|entry| self.name(entry, "a tensor"));
        if of.is_none() {
            self.lacks::<()>(node, "`of=`", USAGE);
        }
        let mut view = ViewItem::default();
        for child in node.children() {
            self.view_part(child, node, &mut view);
        }
        self.view_goes_together(node);
        Some(ViewItem {
            name: self.name(node.args.first()?, "a view's name")?,
            of: of.flatten()?,
            dtype: dtype.flatten(),
            span: node.span.clone(),
            ..view
        })
    }

    fn view_part(&mut self, node: &ManifestNode, owner: &ManifestNode, view: &mut ViewItem) {
        if !NodeScope::VIEW.has(&node.name) {
            self.unknown_node(node, &NodeScope::VIEW);
            return;
        }
        let first = owner.children().iter().find(|other| other.name == node.name);
        if let Some(first) = first.filter(|first| first.span != node.span) {
            let place = self.faults.place(first.name_span.clone());
            let message = format!("a view can have only one `{}`", node.name);
            let fault = self.faults.error(Code::KdlTwice, message, node.name_span.clone(), "");
            fault.add_label(place, "the first").add_help("leave one of the two out");
            return;
        }
        match node.name.as_str() {
            "shape" => view.shape = self.box_shape(node, "a view"),
            "layout" => view.layout = self.layout(node),
            _ => view.map = self.window(node),
        }
    }

    fn window(&mut self, node: &ManifestNode) -> Option<SpannedText> {
        let entry = self.argument(node, "map \"(b, s, h, d) -> (b, s, 0, h, d)\"")?;
        self.map(entry)
    }

    /// Reports a view that has both a map and a layout, and a view that has a map but no shape.
    fn view_goes_together(&mut self, node: &ManifestNode) {
        let child = |name: &str| node.children().iter().find(|child| child.name == name);
        let (map, layout) = (child("map"), child("layout"));
        if let (Some(map), Some(layout)) = (map, layout) {
            let message = "a view cannot have both a map and a layout";
            let place = self.faults.place(map.name_span.clone());
            let span = layout.name_span.clone();
            let fault = self.faults.error(Code::StepForm, message, span, "both are here");
            fault.add_label(place, "the map");
            fault.add_help("keep the map to select elements of the base, or the layout to place the view's own elements");
        }
        let Some(map) = map.filter(|_| child("shape").is_none() && !node.broken) else { return };
        let message = "a view with a map needs a shape";
        let fault = self.faults.error(Code::KdlMissing, message, map.name_span.clone(), "");
        fault.add_help("write `shape { n 16; c 4 }` before it");
    }
}
