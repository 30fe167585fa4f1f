//! `textDocument/completion`: proposals for the word at a position.

use layoutc_compiler::editor::completion::{CompletionIcon, CompletionProposal, complete};
use layoutc_compiler::editor::names::NameKind;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionParams, CompletionResponse,
    CompletionTextEdit, TextEdit,
};

use super::server::{CursorPosition, LspServer};

pub(super) fn answer(server: &LspServer, params: &CompletionParams) -> Option<CompletionResponse> {
    let at = &params.text_document_position;
    let (CursorPosition { known, file, offset, .. }, path) =
        server.place(&at.text_document.uri, at.position)?;
    let (word, proposals) = complete(known, &path, offset);
    let range = server.range(file, &word);
    let item = |CompletionProposal { label, text, icon, detail }| CompletionItem {
        label,
        kind: Some(kind(icon)),
        detail: Some(detail).filter(|detail: &String| !detail.is_empty()),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text: text })),
        ..CompletionItem::default()
    };
    let items = proposals.into_iter().map(item).collect();
    Some(CompletionResponse::List(CompletionList { is_incomplete: false, items }))
}

fn kind(icon: CompletionIcon) -> CompletionItemKind {
    match icon {
        CompletionIcon::Keyword => CompletionItemKind::KEYWORD,
        CompletionIcon::Property => CompletionItemKind::PROPERTY,
        CompletionIcon::Value => CompletionItemKind::ENUM_MEMBER,
        CompletionIcon::Type => CompletionItemKind::TYPE_PARAMETER,
        CompletionIcon::Axis => CompletionItemKind::FIELD,
        CompletionIcon::File => CompletionItemKind::FILE,
        CompletionIcon::Name(kind) => match kind {
            NameKind::Value => CompletionItemKind::CONSTANT,
            NameKind::Parameter | NameKind::Operand => CompletionItemKind::VARIABLE,
            NameKind::Transform | NameKind::Kernel | NameKind::Instance => {
                CompletionItemKind::FUNCTION
            }
            NameKind::Tensor | NameKind::GraphTensor => CompletionItemKind::STRUCT,
            NameKind::Space | NameKind::Mesh | NameKind::Backend | NameKind::Graph => {
                CompletionItemKind::MODULE
            }
            NameKind::MeshAxis => CompletionItemKind::FIELD,
        },
    }
}
