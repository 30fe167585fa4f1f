//! Open documents of the editor, which override the files on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use layoutc_compiler::editor::line_index::{LineIndex, PositionEncoding};
use layoutc_compiler::{LoadError, SourceLoader};
use lsp_types::{TextDocumentContentChangeEvent, Uri};

use crate::paths::normal;
use crate::project::files::{FileReadError, read};

use super::positions::position;

#[derive(Debug, Clone)]
pub(super) struct OpenDocument {
    /// URL of the document as the editor sent it.
    pub(super) uri: Uri,
    /// Version number of the text, which the editor sent with it.
    pub(super) version: i32,
    /// Identifier that the editor gave to the document's language.
    pub(super) language: String,
    pub(super) text: Arc<str>,
}

impl OpenDocument {
    /// Applies a change of the editor to the text. A change without a range replaces the whole text. `encoding` is the
    /// unit of the character offsets in the range.
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

/// Open documents by absolute path.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenDocuments(pub(super) BTreeMap<PathBuf, OpenDocument>);

impl OpenDocuments {
    /// Text of the file at the absolute path `path`: that of the open document, or that on disk if the document is not
    /// open.
    ///
    /// # Errors
    /// The error of [`read`] for a file on disk.
    pub(super) fn text(&self, path: &Path) -> Result<Arc<str>, FileReadError> {
        match self.0.get(path) {
            Some(document) => Ok(Arc::clone(&document.text)),
            None => read(path).map(|text| text.text),
        }
    }
}

/// Loader of source texts by their paths relative to the folder `root`, which prefers open documents to files on disk.
#[derive(Debug)]
pub(super) struct DocumentOverlay<'a> {
    pub(super) root: &'a Path,
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
