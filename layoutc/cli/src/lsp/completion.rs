//! `textDocument/completion`

use layoutc_compiler::editor::completion::{Icon, Proposal, complete};
use layoutc_compiler::editor::names::Kind;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionParams, CompletionResponse,
    CompletionTextEdit, TextEdit,
};

use super::server::{Place, Server};

/// What may be written there.
pub(super) fn answer(server: &Server, params: &CompletionParams) -> Option<CompletionResponse> {
    let at = &params.text_document_position;
    let (Place { known, file, offset, .. }, path) =
        server.place(&at.text_document.uri, at.position)?;
    let (word, proposals) = complete(known, &path, offset);
    let range = server.range(file, &word);
    let item = |Proposal { label, text, icon, detail }| CompletionItem {
        label,
        kind: Some(kind(icon)),
        detail: Some(detail).filter(|detail: &String| !detail.is_empty()),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text: text })),
        ..CompletionItem::default()
    };
    let items = proposals.into_iter().map(item).collect();
    Some(CompletionResponse::List(CompletionList { is_incomplete: false, items }))
}

fn kind(icon: Icon) -> CompletionItemKind {
    match icon {
        Icon::Keyword => CompletionItemKind::KEYWORD,
        Icon::Property => CompletionItemKind::PROPERTY,
        Icon::Value => CompletionItemKind::ENUM_MEMBER,
        Icon::Type => CompletionItemKind::TYPE_PARAMETER,
        Icon::Axis => CompletionItemKind::FIELD,
        Icon::File => CompletionItemKind::FILE,
        Icon::Name(kind) => match kind {
            Kind::Value => CompletionItemKind::CONSTANT,
            Kind::Parameter | Kind::Operand => CompletionItemKind::VARIABLE,
            Kind::Transform | Kind::Kernel | Kind::Instance => CompletionItemKind::FUNCTION,
            Kind::Tensor | Kind::GraphTensor => CompletionItemKind::STRUCT,
            Kind::Space | Kind::Mesh | Kind::Backend | Kind::Graph => CompletionItemKind::MODULE,
            Kind::MeshAxis => CompletionItemKind::FIELD,
        },
    }
}
