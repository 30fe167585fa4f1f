//! Manifests as an editor has them: texts, drafts and names, and how one sees another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::line_index::LineIndex;
use super::names::{NameKind, NameOccurrence, mentions};
use crate::check::used_path;
use crate::manifest::lenient::{self, LenientNode, slice};

/// A manifest as it stands.
#[derive(Debug, Clone)]
pub struct EditorFile {
    /// Its text.
    pub text: Arc<str>,
    /// Where its lines begin.
    pub lines: LineIndex,
    /// Its nodes, as far as they can be told.
    pub nodes: Vec<LenientNode>,
    /// The names in it.
    pub mentions: Vec<NameOccurrence>,
    /// The paths of the manifests that it uses, each relative to the project.
    pub uses: Vec<String>,
}

impl EditorFile {
    /// The manifest with this text; `path` is its own.
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

    /// The name at a byte, or just before it.
    pub fn mention_at(&self, offset: usize) -> Option<&NameOccurrence> {
        self.mentions
            .iter()
            .find(|mention| mention.span.start <= offset && offset <= mention.span.end)
    }

    /// The nodes around a byte, from the outermost to the innermost.
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

    /// The item at the top that declares a name.
    pub fn item(&self, mention: &NameOccurrence) -> Option<&LenientNode> {
        self.nodes
            .iter()
            .find(|node| node.span.start <= mention.span.start && mention.span.end <= node.span.end)
    }
}

/// The manifests of a project and those that they use, by their paths relative to it.
pub type EditorFiles = BTreeMap<String, Arc<EditorFile>>;

/// Where a name is declared.
#[derive(Debug, Clone, Copy)]
pub struct Declaration<'f> {
    /// The path of the manifest.
    pub path: &'f str,
    /// The manifest.
    pub file: &'f EditorFile,
    /// The name there.
    pub mention: &'f NameOccurrence,
}

/// A manifest and all that it uses, directly or not.
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

/// All names of a kind that the manifest at `path` sees.
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

/// What a name in the manifest at `path` refers to: the manifest's own before those that it uses.
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

/// Every place that names what is declared there, the declaration among them, by manifest.
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

/// The paths of all manifests that see the one at `path`, itself among them.
pub fn users(files: &EditorFiles, path: &str) -> BTreeSet<String> {
    files.keys().filter(|user| closure(files, user).contains_key(path)).cloned().collect()
}
