//! State of the server: open documents, their projects and the editor's capabilities.

use std::collections::BTreeMap;
use std::path::Path;

use layoutc_compiler::editor::line_index::PositionEncoding;
use layoutc_compiler::editor::{EditorFile, ProjectSnapshot};
use layoutc_compiler::env::library::is_library;
use lsp_types::{FileChangeType, InitializeParams, Position, PositionEncodingKind, Range, Uri};

use crate::project::CONFIG;

use super::diagnostics::PublishedDiagnostics;
use super::documents::{OpenDocument, OpenDocuments};
use super::memo::InMemoryMemo;
use super::projects::LspProject;
use super::scan::LspProjectRoot;
use super::{positions, uri};

/// Capabilities of the editor, and options that it passes to the server.
#[derive(Debug, Clone)]
pub(super) struct EditorCapabilities {
    /// Unit of the character offsets in positions: bytes (UTF-8) if the editor supports them, else UTF-16 code units.
    pub(super) encoding: PositionEncoding,
    /// True if the editor shows related locations of a diagnostic.
    pub(super) has_related: bool,
    /// True if the editor can watch files on disk for the server.
    pub(super) can_watch: bool,
    /// URL of the book of layoutc, to whose pages diagnostics link, from `initializationOptions.docs`. `None` if the
    /// editor gives none; diagnostics then have no links.
    pub(super) docs: Option<String>,
}

impl EditorCapabilities {
    /// Capabilities that the editor declares in `initialize`.
    pub(super) fn of(params: &InitializeParams) -> Self {
        let capabilities = &params.capabilities;
        let general = capabilities.general.as_ref();
        let encodings = general.and_then(|general| general.position_encodings.as_ref());
        let is_utf8 = encodings.is_some_and(|all| all.contains(&PositionEncodingKind::UTF8));
        let related = capabilities
            .text_document
            .as_ref()
            .and_then(|text| text.publish_diagnostics.as_ref()?.related_information);
        let watch = capabilities.workspace.as_ref().and_then(|workspace| {
            workspace.did_change_watched_files.as_ref()?.dynamic_registration
        });
        let options = params.initialization_options.as_ref();
        let docs = options.and_then(|options| options.get("docs")?.as_str());
        Self {
            encoding: if is_utf8 { PositionEncoding::Utf8 } else { PositionEncoding::Utf16 },
            has_related: related.unwrap_or(false),
            can_watch: watch.unwrap_or(false),
            docs: docs.map(str::to_owned),
        }
    }
}

#[derive(Debug)]
pub(super) struct LspServer {
    pub(super) traits: EditorCapabilities,
    pub(super) documents: OpenDocuments,
    pub(super) projects: BTreeMap<LspProjectRoot, LspProject>,
    /// Diagnostics that were last published to the editor, for each file.
    pub(super) published: PublishedDiagnostics,
    /// True if a text, a file or the set of projects may have changed since the diagnostics were last published.
    pub(super) is_behind: bool,
    memory: InMemoryMemo,
}

/// Position in a manifest, with the state of the manifest and of its project.
#[derive(Debug, Clone, Copy)]
pub(super) struct CursorPosition<'a> {
    pub(super) project: &'a LspProject,
    pub(super) known: &'a ProjectSnapshot,
    pub(super) file: &'a EditorFile,
    /// Byte offset of the position in the text of the manifest.
    pub(super) offset: usize,
}

impl LspServer {
    /// Server for an editor with the capabilities `traits`, with the projects that contain the workspace folders at the
    /// URLs `folders`. Nothing is read yet.
    pub(super) fn new(traits: EditorCapabilities, folders: &[Uri]) -> Self {
        let mut server = Self {
            traits,
            documents: OpenDocuments::default(),
            projects: BTreeMap::new(),
            published: BTreeMap::new(),
            is_behind: true,
            memory: InMemoryMemo::default(),
        };
        for folder in folders.iter().filter_map(uri::path_of) {
            let home = LspProjectRoot::of(&folder.join(CONFIG));
            if matches!(home, LspProjectRoot::Project(_)) {
                server.project(home);
            }
        }
        server
    }

    fn project(&mut self, home: LspProjectRoot) -> &mut LspProject {
        self.projects.entry(home.clone()).or_insert_with(|| LspProject::new(home))
    }

    /// Handles `document`, which the editor opened: from then on, its text replaces that of the file on disk.
    pub(super) fn open(&mut self, document: OpenDocument) {
        let Some(path) = uri::path_of(&document.uri) else { return };
        self.documents.0.insert(path.clone(), document);
        self.project(LspProjectRoot::of(&path));
        self.touch(&path);
    }

    /// Handles the document at the URL `uri`, which the editor closed: from then on, the file on disk is read.
    pub(super) fn close(&mut self, uri: &Uri) {
        let Some(path) = uri::path_of(uri) else { return };
        self.documents.0.remove(&path);
        self.projects.remove(&LspProjectRoot::Alone(path.clone()));
        if let Some(project) = self.projects.get_mut(&LspProjectRoot::of(&path)) {
            project.forget();
        }
        self.touch(&path);
    }

    /// Handles `changes` of the open document at the URL `uri`, which are applied in order. `version` is the number of
    /// the resulting text.
    pub(super) fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<lsp_types::TextDocumentContentChangeEvent>,
    ) {
        let Some(path) = uri::path_of(uri) else { return };
        let encoding = self.traits.encoding;
        let Some(document) = self.documents.0.get_mut(&path) else { return };
        document.version = version;
        for change in changes {
            document.change(change, encoding);
        }
        self.touch(&path);
    }

    fn touch(&mut self, path: &Path) {
        self.is_behind = true;
        for project in self.projects.values_mut() {
            project.touch(path);
        }
    }

    /// Handles a change of the file at the URL `uri` on disk, which the editor reports. A file that was created or
    /// removed, or a changed configuration, may change the set of projects.
    pub(super) fn watched(&mut self, uri: &Uri, kind: FileChangeType) {
        let Some(path) = uri::path_of(uri) else { return };
        let is_config = path.file_name().is_some_and(|name| name == CONFIG);
        if is_config || kind != FileChangeType::CHANGED {
            // A project may have been created or removed.
            self.regroup();
        } else if !self.documents.0.contains_key(&path) {
            self.touch(&path);
        }
    }

    /// Recomputes the set of projects from the configurations on disk and the open documents, and marks all as stale.
    fn regroup(&mut self) {
        let is_there = |home: &LspProjectRoot| match home {
            LspProjectRoot::Project(root) => root.join(CONFIG).is_file(),
            LspProjectRoot::Alone(_) => false,
        };
        self.projects.retain(|home, _| is_there(home));
        let homes: Vec<LspProjectRoot> =
            self.documents.0.keys().map(|path| LspProjectRoot::of(path)).collect();
        for home in homes {
            self.project(home);
        }
        self.projects.values_mut().for_each(LspProject::forget);
        self.is_behind = true;
    }

    /// Reads the changed texts of all projects, without checking manifests.
    pub(super) fn reread(&mut self) {
        let Self { projects, documents, .. } = self;
        for project in projects.values_mut().filter(|project| project.is_due()) {
            project.reread(documents);
        }
    }

    /// Reads the changed texts of all projects, and checks the manifests that they affect.
    pub(super) fn refresh(&mut self) {
        let Self { projects, documents, memory, .. } = self;
        for project in projects.values_mut().filter(|project| project.is_due()) {
            project.refresh(documents, memory);
        }
    }

    /// Pair of the project that has read the file at the URL `uri`, and the path of the file relative to the root of
    /// that project. Of several projects, it is the one in whose folder the file is, or else any of them. `None` if no
    /// project has read the file.
    pub(super) fn at(&self, uri: &Uri) -> Option<(&LspProject, String)> {
        let file = uri::path_of(uri)?;
        let home = LspProjectRoot::of(&file);
        let own = self.projects.get(&home).filter(|project| project.path(&file).is_some());
        let project = match own {
            Some(project) => project,
            None => self.projects.values().find(|project| project.path(&file).is_some())?,
        };
        Some((project, project.path(&file)?))
    }

    /// Pair of the position `position` in the manifest at the URL `uri`, and the path of the manifest relative to the
    /// root of its project. The character offset of `position` is in the encoding of the editor. `None` if no project
    /// has read the manifest.
    pub(super) fn place(
        &self,
        uri: &Uri,
        position: Position,
    ) -> Option<(CursorPosition<'_>, String)> {
        let encoding = self.traits.encoding;
        let (project, path) = self.at(uri)?;
        let file = project.known.files.get(&path)?;
        let offset = file.lines.offset(&file.text, positions::position(position), encoding);
        Some((CursorPosition { project, known: &project.known, file, offset }, path))
    }

    /// Converts the range `bytes` of bytes in the text of the manifest `file` to a range of the protocol.
    pub(super) fn range(&self, file: &EditorFile, bytes: &std::ops::Range<usize>) -> Range {
        positions::span(&file.text, &file.lines, bytes, self.traits.encoding)
    }

    /// URL of the manifest of `project` whose path in spans is `path`. `None` for a manifest of the library, which has no
    /// file, and for a path that cannot be a URL.
    pub(super) fn source_uri(&self, project: &LspProject, path: &str) -> Option<Uri> {
        if is_library(path) { None } else { self.uri(&project.file(path)) }
    }

    /// URL of the file at the absolute path `file`; for an open document, the URL that the editor sent.
    pub(super) fn uri(&self, file: &Path) -> Option<Uri> {
        let open = self.documents.0.get(file).map(|document| document.uri.clone());
        open.or_else(|| uri::of_path(file))
    }
}
