//! Hover texts: the declaration of a name, or the documentation of a keyword.

use std::ops::Range;

use super::file::{Declaration, EditorFile, declaration};
use super::keywords::{self, KeywordDoc};
use super::names::{NameKind, NameOccurrence};
use super::{ProjectSnapshot, describe};
use crate::env::library::is_library;
use crate::manifest::lenient::{LenientNode, slice};

/// Text that an editor shows for the word under the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// Text in Markdown.
    pub text: String,
    /// Byte range of the word that the text describes.
    pub span: Range<usize>,
}

/// Hover text for byte `offset` of the manifest at `path`: for a name its declaration, or the summary of a checked
/// tensor or view; else for a keyword its usage and summary. `None` if neither is at the offset or `path` is unknown.
pub fn hover(known: &ProjectSnapshot, path: &str, offset: usize) -> Option<Hover> {
    let file = known.files.get(path)?;
    let named = file.mentions_at(offset).find_map(|mention| {
        let found = declaration(&known.files, path, mention)?;
        Some(Hover { text: of_declaration(known, found, path), span: mention.span.clone() })
    });
    named.or_else(|| word(file, offset))
}

fn of_declaration(known: &ProjectSnapshot, found: Declaration<'_>, path: &str) -> String {
    let Declaration { path: from, file, mention } = found;
    let mut text = match mention.kind {
        NameKind::Tensor => of_tensor(known, found),
        _ if is_library(from) => code("kdl", &(comment(file, mention) + &source(file, mention))),
        _ => code("kdl", &source(file, mention)),
    };
    if from != path {
        text.push_str(&format!("\nin `{from}`\n"));
    }
    text
}

/// Markdown for a tensor or view: its summary if the last check found no errors in it, otherwise the source of its
/// declaration.
fn of_tensor(known: &ProjectSnapshot, found: Declaration<'_>) -> String {
    let name = &found.mention.name;
    let model = known.models.get(found.path);
    let tensor = model.and_then(|model| model.tensors.iter().find(|t| t.name == *name));
    let view = model.and_then(|model| model.views.iter().find(|v| v.tensor.name == *name));
    match (tensor, view) {
        (Some(tensor), _) => code("text", &describe::tensor(tensor)),
        (None, Some(view)) => code("text", &describe::view(view)),
        (None, None) => code("kdl", &source(found.file, found.mention)),
    }
}

/// Maximum number of source lines in a hover text.
const LINES: usize = 24;

/// Source text of the top-level item that declares a name, cut after [`LINES`] lines.
fn source(file: &EditorFile, mention: &NameOccurrence) -> String {
    let item = file.item(mention).map(|node| slice(&file.text, &node.span)).unwrap_or_default();
    let mut lines: Vec<&str> = item.lines().take(LINES).collect();
    if item.lines().nth(LINES).is_some() {
        lines.push("…");
    }
    lines.join("\n")
}

/// Comment lines directly above the top-level item that declares a name, each with its line end.
fn comment(file: &EditorFile, mention: &NameOccurrence) -> String {
    let start = file.item(mention).map_or(0, |node| node.span.start);
    let above = file.text.get(..start).unwrap_or_default().lines().rev();
    let mut lines: Vec<&str> = above.take_while(|line| line.starts_with("//")).collect();
    lines.reverse();
    lines.into_iter().flat_map(|line| [line, "\n"]).collect()
}

fn code(language: &str, text: &str) -> String {
    format!("```{language}\n{}\n```\n", text.trim_end())
}

/// Hover text for the node name or property key at byte `offset`: usage and summary; `None` if no known keyword is
/// there.
fn word(file: &EditorFile, offset: usize) -> Option<Hover> {
    let text = file.text.as_ref();
    let around = file.nodes_at(offset);
    let (node, rest) = around.split_last()?;
    let parent: Option<&LenientNode> = rest.last().copied();
    let inside = |span: &Range<usize>| span.start <= offset && offset <= span.end;
    if inside(&node.name) {
        let found = keywords::node(node.name(text), parent.map(|parent| parent.name(text)))?;
        return Some(Hover { text: keyword_text(found), span: node.name.clone() });
    }
    let key = node.parts.iter().filter_map(|part| part.key.as_ref()).find(|key| inside(key))?;
    let found = keywords::property(slice(text, key))?;
    Some(Hover { text: keyword_text(found), span: key.clone() })
}

fn keyword_text(word: &KeywordDoc) -> String {
    format!("{}\n{}\n", code("kdl", word.usage), word.summary)
}
