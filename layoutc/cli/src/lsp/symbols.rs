//! `textDocument/documentSymbol`: the outline of a manifest.

use layoutc_compiler::editor::outline::{OutlineIcon, OutlineItem, outline};
use lsp_types::{DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, SymbolKind};

use super::server::LspServer;

/// Outline of a manifest: its declarations (tensors, kernels, graphs …) in order, each with its name, the range of the
/// declaration, and the range of the name. `None` if no project has read the document.
pub(super) fn answer(
    server: &LspServer,
    params: &DocumentSymbolParams,
) -> Option<DocumentSymbolResponse> {
    let (project, path) = server.at(&params.text_document.uri)?;
    let file = project.known.files.get(&path)?;
    #[expect(deprecated, reason = "the field must be there")]
    let symbol = |item: OutlineItem| DocumentSymbol {
        name: item.name,
        detail: Some(item.detail),
        kind: match item.icon {
            OutlineIcon::Constant => SymbolKind::CONSTANT,
            OutlineIcon::Variable => SymbolKind::VARIABLE,
            OutlineIcon::Function => SymbolKind::FUNCTION,
            OutlineIcon::Object => SymbolKind::OBJECT,
            OutlineIcon::Module => SymbolKind::MODULE,
            OutlineIcon::Event => SymbolKind::EVENT,
        },
        tags: None,
        deprecated: None,
        range: server.range(file, &item.span),
        selection_range: server.range(file, &item.name_span),
        children: None,
    };
    Some(DocumentSymbolResponse::Nested(outline(file).into_iter().map(symbol).collect()))
}
