//! Outline of a manifest: its items for the editor's list of symbols, and its blocks that can be folded.

use std::ops::Range;

use super::file::EditorFile;
use crate::manifest::lenient::{LenientNode, slice};

/// Symbol kind of an outline item, as editors distinguish them by icons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutlineIcon {
    /// Const, shown with the editor's *constant* symbol kind.
    Constant,
    /// Symbol (extent known at run time), shown with the editor's *variable* symbol kind.
    Variable,
    /// Transform, kernel or instance, shown with the editor's *function* symbol kind.
    Function,
    /// Tensor or view, shown with the editor's *object* symbol kind.
    Object,
    /// Backend, graph, memory space or mesh, shown with the editor's *module* symbol kind.
    Module,
    /// Conversion, shown with the editor's *event* symbol kind.
    Event,
}

/// Entry of the outline: a top-level item of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineItem {
    /// Name that the item declares; the name of the source tensor for a `convert` item.
    pub name: String,
    /// Keyword of the item with its main property or value: `tensor f32`, `view input`, `const 4`.
    pub detail: String,
    /// Symbol kind that determines the icon of the entry.
    pub icon: OutlineIcon,
    /// Byte range of the whole item in the manifest.
    pub span: Range<usize>,
    /// Byte range of the item's name in the manifest.
    pub name_span: Range<usize>,
}

/// Outline entries for the top-level items of a manifest, in the order of the text. `use` items, unknown items and
/// items without a name have no entry.
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

/// Byte ranges of the foldable blocks of a manifest, including braces, each before the blocks inside it.
pub fn blocks(file: &EditorFile) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Vec<&LenientNode> = file.nodes.iter().rev().collect();
    while let Some(node) = open.pop() {
        found.extend(node.block.clone());
        open.extend(node.children.iter().rev());
    }
    found
}
