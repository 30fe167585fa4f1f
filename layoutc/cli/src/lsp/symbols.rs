//! `textDocument/documentSymbol`

use layoutc_compiler::editor::outline::{Icon, Item, outline};
use lsp_types::{DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, SymbolKind};

use super::server::Server;

/// The items of a manifest.
pub(super) fn answer(
    server: &Server,
    params: &DocumentSymbolParams,
) -> Option<DocumentSymbolResponse> {
    let (project, path) = server.at(&params.text_document.uri)?;
    let file = project.known.files.get(&path)?;
    #[expect(deprecated, reason = "the field must be there")]
    let symbol = |item: Item| DocumentSymbol {
        name: item.name,
        detail: Some(item.detail),
        kind: match item.icon {
            Icon::Constant => SymbolKind::CONSTANT,
            Icon::Variable => SymbolKind::VARIABLE,
            Icon::Function => SymbolKind::FUNCTION,
            Icon::Object => SymbolKind::OBJECT,
            Icon::Module => SymbolKind::MODULE,
            Icon::Event => SymbolKind::EVENT,
        },
        tags: None,
        deprecated: None,
        range: server.range(file, &item.span),
        selection_range: server.range(file, &item.name_span),
        children: None,
    };
    Some(DocumentSymbolResponse::Nested(outline(file).into_iter().map(symbol).collect()))
}
