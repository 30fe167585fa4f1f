//! The texts that the editor has open; they count in place of what is on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use layoutc_compiler::editor::line_index::{LineIndex, PositionEncoding};
use layoutc_compiler::{LoadError, SourceLoader};
use lsp_types::{TextDocumentContentChangeEvent, Uri};

use crate::project::files::{FileReadError, read};
use crate::project::paths::normal;

use super::positions::position;

/// A text that is open.
#[derive(Debug, Clone)]
pub(super) struct OpenDocument {
    /// Its address, as the editor has it.
    pub(super) uri: Uri,
    /// The editor's count of its changes.
    pub(super) version: i32,
    /// The language that the editor takes it for.
    pub(super) language: String,
    /// The text.
    pub(super) text: Arc<str>,
}

impl OpenDocument {
    /// Makes a change. One without a range is the whole text anew.
    pub(super) fn change(
        &mut self,
        change: TextDocumentContentChangeEvent,
        encoding: PositionEncoding,
    ) {
        let Some(range) = change.range else {
            self.text = Arc::from(change.text);
            return;
        };
        let lines = LineIndex::new(&self.text);
        let at = |place| lines.offset(&self.text, position(place), encoding);
        let (start, end) = (at(range.start), at(range.end));
        let (start, end) = (start.min(end), start.max(end));
        let part = |span| self.text.get(span).unwrap_or_default();
        let text = [part(0..start), &change.text, part(end..self.text.len())].concat();
        self.text = Arc::from(text);
    }
}

/// All of them, by their paths.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenDocuments(pub(super) BTreeMap<PathBuf, OpenDocument>);

impl OpenDocuments {
    /// The text of a file: the editor's, else that on disk.
    pub(super) fn text(&self, path: &Path) -> Result<Arc<str>, FileReadError> {
        match self.0.get(path) {
            Some(document) => Ok(Arc::clone(&document.text)),
            None => read(path).map(|text| text.text),
        }
    }
}

/// The texts below a folder.
#[derive(Debug)]
pub(super) struct DocumentOverlay<'a> {
    /// The project's root.
    pub(super) root: &'a Path,
    /// What is open.
    pub(super) documents: &'a OpenDocuments,
}

impl SourceLoader for DocumentOverlay<'_> {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        let text = self.documents.text(&normal(&self.root.join(path)));
        text.map(|text| text.as_ref().to_owned()).map_err(|unread| match unread {
            FileReadError::Refused(error) => error,
            FileReadError::Machine(_) => LoadError::Other(unread.reason()),
        })
    }
}
