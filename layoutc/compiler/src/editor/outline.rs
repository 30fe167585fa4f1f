//! The items of a manifest as an outline, and its foldable blocks.

use std::ops::Range;

use super::file::EditorFile;
use crate::manifest::lenient::{LenientNode, slice};

/// Icon of an item, one for each kind that editors distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutlineIcon {
    /// A const.
    Constant,
    /// A symbol.
    Variable,
    /// A transform, a kernel or an instance.
    Function,
    /// A tensor or a view.
    Object,
    /// A backend, a graph or a memory space.
    Module,
    /// A conversion.
    Event,
}

/// An item of the outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineItem {
    /// The name that it declares.
    pub name: String,
    /// The keyword with its main property: `tensor f32`.
    pub detail: String,
    /// Its icon.
    pub icon: OutlineIcon,
    /// The bytes of the whole item.
    pub span: Range<usize>,
    /// The bytes of its name.
    pub name_span: Range<usize>,
}

/// The items of a manifest, in textual order.
pub fn outline(file: &EditorFile) -> Vec<OutlineItem> {
    file.nodes.iter().filter_map(|node| item(&file.text, node)).collect()
}

fn item(text: &str, node: &LenientNode) -> Option<OutlineItem> {
    let word = node.name(text);
    let icon = match word {
        "const" => OutlineIcon::Constant,
        "symbol" => OutlineIcon::Variable,
        "transform" | "kernel" | "instance" => OutlineIcon::Function,
        "tensor" | "view" => OutlineIcon::Object,
        "backend" | "graph" | "memory-space" | "mesh" => OutlineIcon::Module,
        "convert" => OutlineIcon::Event,
        _ => return None,
    };
    let name_span = node.args().next()?.clone();
    let name = slice(text, &name_span).to_owned();
    let value = match word {
        "tensor" => node.prop(text, "dtype"),
        "view" | "instance" => node.prop(text, "of"),
        "convert" => node.prop(text, "to"),
        "const" => node.args().nth(1),
        _ => None,
    };
    let detail = value.map_or(String::new(), |span| format!(" {}", slice(text, span)));
    let (detail, span) = (format!("{word}{detail}"), node.span.clone());
    (!name.is_empty()).then_some(OutlineItem { name, detail, icon, span, name_span })
}

/// The blocks of a manifest, including braces, in pre-order: a block comes before the blocks inside it.
pub fn blocks(file: &EditorFile) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Vec<&LenientNode> = file.nodes.iter().rev().collect();
    while let Some(node) = open.pop() {
        found.extend(node.block.clone());
        open.extend(node.children.iter().rev());
    }
    found
}
