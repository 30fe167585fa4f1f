//! `textDocument/hover`: a description of the name or keyword at a position.

use layoutc_compiler::editor::hover::hover;
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use super::server::{CursorPosition, LspServer};

pub(super) fn answer(server: &LspServer, params: &HoverParams) -> Option<Hover> {
    let at = &params.text_document_position_params;
    let (CursorPosition { known, file, offset, .. }, path) =
        server.place(&at.text_document.uri, at.position)?;
    let found = hover(known, &path, offset)?;
    let contents = MarkupContent { kind: MarkupKind::Markdown, value: found.text };
    let range = Some(server.range(file, &found.span));
    Some(Hover { contents: HoverContents::Markup(contents), range })
}
