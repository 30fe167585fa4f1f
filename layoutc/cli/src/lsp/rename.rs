//! `textDocument/prepareRename` and `textDocument/rename`: replaces a name at its declaration and all references.

#[expect(
    clippy::disallowed_types,
    reason = "the protocol's own type, of which nothing is read"
)]
use std::collections::HashMap;

use layoutc_compiler::editor::rename::{RenameError, at, rename};
use layoutc_compiler::env::library::is_library;
use lsp_types::{
    PrepareRenameResponse, RenameParams, TextDocumentPositionParams, TextEdit, WorkspaceEdit,
};

use super::server::{CursorPosition, LspServer};

/// Range and text of the name at a position; `None` if there is no declared name at the position, if the library
/// declares it, or if no project has read the document.
pub(super) fn prepare(
    server: &LspServer,
    params: &TextDocumentPositionParams,
) -> Option<PrepareRenameResponse> {
    let (CursorPosition { known, file, offset, .. }, path) =
        server.place(&params.text_document.uri, params.position)?;
    let (mention, declared) = at(&known.files, &path, offset).ok()?;
    if is_library(declared.path) {
        return None;
    }
    let range = server.range(file, &mention.span);
    let placeholder = mention.name.clone();
    Some(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder })
}

/// Edits of all manifests of a project that rename the name at a position, at its declaration and at all references.
///
/// # Errors
/// [`RenameError::Nothing`] if there is no declared name at the position, or no project has read the document.
/// [`RenameError::Library`] if the library declares the name. [`RenameError::Invalid`] if the new name is no valid name. [`RenameError::Taken`] if another visible declaration of
/// the same kind has the new name.
#[expect(
    clippy::disallowed_types,
    clippy::mutable_key_type,
    reason = "the protocol's own type, of which nothing is read"
)]
pub(super) fn answer(
    server: &LspServer,
    params: &RenameParams,
) -> Result<WorkspaceEdit, RenameError> {
    let at = &params.text_document_position;
    let (CursorPosition { project, known, offset, .. }, path) =
        server.place(&at.text_document.uri, at.position).ok_or(RenameError::Nothing)?;
    let places = rename(&known.files, &path, offset, &params.new_name)?;
    let mut changes = HashMap::new();
    for (path, spans) in places {
        let (Some(file), Some(uri)) = (known.files.get(&path), server.source_uri(project, &path))
        else {
            continue;
        };
        let edit =
            |span| TextEdit { range: server.range(file, span), new_text: params.new_name.clone() };
        changes.insert(uri, spans.iter().map(edit).collect());
    }
    Ok(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
}
