//! Manifests in the editor: [`EditorFile`] holds a text with its leniently parsed nodes and names; functions find
//! declarations and references across manifests that `use` each other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::line_index::LineIndex;
use super::names::{NameKind, NameOccurrence, mentions};
use crate::check::used_path;
use crate::manifest::lenient::{self, LenientNode, slice};

/// Manifest in the editor: its current text with the nodes and names in the text.
#[derive(Debug, Clone)]
pub struct EditorFile {
    /// Current text of the manifest.
    pub text: Arc<str>,
    /// Byte offsets of the line starts in the text.
    pub lines: LineIndex,
    /// Top-level nodes of the text, parsed leniently.
    pub nodes: Vec<LenientNode>,
    /// Occurrences of names in the text, in order.
    pub mentions: Vec<NameOccurrence>,
    /// Paths of the manifests that the `use` items name, relative to the project, in the order of the text.
    pub uses: Vec<String>,
}

impl EditorFile {
    /// Parses `text`. The paths of its `use` items are resolved against `path`, the path of the manifest.
    pub fn new(path: &str, text: Arc<str>) -> Self {
        let nodes = lenient::nodes(&text);
        let used = nodes.iter().filter(|node| node.name(&text) == "use");
        let used = used.filter_map(|node| used_path(path, slice(&text, node.args().next()?)));
        Self {
            lines: LineIndex::new(&text),
            uses: used.collect(),
            mentions: mentions(&text, &nodes),
            nodes,
            text,
        }
    }

    /// Name occurrences whose byte range contains byte `offset` or ends at it.
    pub fn mentions_at(&self, offset: usize) -> impl Iterator<Item = &NameOccurrence> {
        self.mentions.iter().filter(move |m| m.span.start <= offset && offset <= m.span.end)
    }

    /// Nodes that contain byte `offset` or end at it, outermost first.
    pub fn nodes_at(&self, offset: usize) -> Vec<&LenientNode> {
        let mut around = Vec::new();
        let mut nodes = &self.nodes;
        while let Some(node) =
            nodes.iter().find(|node| node.span.start <= offset && offset <= node.span.end)
        {
            around.push(node);
            nodes = &node.children;
        }
        around
    }

    /// Top-level node that contains the name occurrence `mention`; `None` if no node does.
    pub fn item(&self, mention: &NameOccurrence) -> Option<&LenientNode> {
        self.nodes
            .iter()
            .find(|node| node.span.start <= mention.span.start && mention.span.end <= node.span.end)
    }
}

/// Manifests of a project and those that they use, by path relative to the project.
pub type EditorFiles = BTreeMap<String, Arc<EditorFile>>;

/// Declaration of a name in a manifest.
#[derive(Debug, Clone, Copy)]
pub struct Declaration<'f> {
    /// Path of the declaring manifest.
    pub path: &'f str,
    /// Manifest at `path`, which declares the name.
    pub file: &'f EditorFile,
    /// Occurrence of the name in its declaration.
    pub mention: &'f NameOccurrence,
}

/// Manifests reachable from the manifest at `path` through `use`, including that one, by path; paths that `files` does
/// not have are left out.
pub fn closure<'f>(files: &'f EditorFiles, path: &str) -> BTreeMap<&'f str, &'f EditorFile> {
    let mut seen = BTreeMap::new();
    let mut open = vec![path];
    while let Some(path) = open.pop() {
        if let Some((path, file)) = files.get_key_value(path)
            && seen.insert(path.as_str(), file.as_ref()).is_none()
        {
            open.extend(file.uses.iter().map(String::as_str));
        }
    }
    seen
}

/// Declarations of all names of kind `kind` that are visible in the manifest at `path`. They are the declarations in
/// this manifest and, for a kind that [`is_shared`](NameKind::is_shared), those in the manifests that it uses, directly
/// or indirectly.
pub fn visible<'f>(files: &'f EditorFiles, path: &str, kind: NameKind) -> Vec<Declaration<'f>> {
    let mut found = Vec::new();
    for (from, file) in closure(files, path) {
        if from != path && !kind.is_shared() {
            continue;
        }
        let own = file.mentions.iter().filter(|m| m.is_declared && m.kind == kind);
        found.extend(own.map(|mention| Declaration { path: from, file, mention }));
    }
    found
}

/// Declaration of the name `mention`, which occurs in the manifest at `path`: one in this manifest, else the one in the
/// used manifest whose path is first in alphabetical order. `None` if the name is not declared.
pub fn declaration<'f>(
    files: &'f EditorFiles,
    path: &str,
    mention: &NameOccurrence,
) -> Option<Declaration<'f>> {
    let is_it =
        |d: &Declaration<'_>| d.mention.name == mention.name && d.mention.owner == mention.owner;
    let found: Vec<Declaration<'f>> =
        visible(files, path, mention.kind).into_iter().filter(is_it).collect();
    found.iter().find(|d| d.path == path).or(found.first()).copied()
}

/// Occurrences of a declared name, including the one in the declaration, by the path of the manifest. A manifest is
/// left out if the name does not refer to this declaration there.
pub fn mentions_of<'f>(
    files: &'f EditorFiles,
    declaration: Declaration<'_>,
) -> BTreeMap<&'f str, Vec<&'f NameOccurrence>> {
    let wanted = declaration.mention;
    let mut found: BTreeMap<&str, Vec<&NameOccurrence>> = BTreeMap::new();
    for (path, file) in files {
        if path != declaration.path && !wanted.kind.is_shared() {
            continue;
        }
        let same = |m: &&NameOccurrence| {
            m.kind == wanted.kind && m.name == wanted.name && m.owner == wanted.owner
        };
        let named: Vec<&NameOccurrence> = file.mentions.iter().filter(same).collect();
        let is_seen = || {
            self::declaration(files, path, wanted).is_some_and(|seen| seen.path == declaration.path)
        };
        if !named.is_empty() && is_seen() {
            found.insert(path, named);
        }
    }
    found
}

/// Paths of all manifests that use the manifest at `path`, directly or indirectly, and `path` itself; empty if `files`
/// does not have `path`.
pub fn users(files: &EditorFiles, path: &str) -> BTreeSet<String> {
    files.keys().filter(|user| closure(files, user).contains_key(path)).cloned().collect()
}
