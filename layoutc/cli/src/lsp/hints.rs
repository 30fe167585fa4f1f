//! `textDocument/inlayHint`: the axes of a layout after each step.

use layoutc_compiler::editor::hints::hints;
use lsp_types::{InlayHint, InlayHintLabel, InlayHintParams};

use super::positions;
use super::server::LspServer;

/// Inlay hints in the requested range of a document: after each step of a layout, the axes that result from it. `None`
/// if no project has read the document.
pub(super) fn answer(server: &LspServer, params: &InlayHintParams) -> Option<Vec<InlayHint>> {
    let (project, path) = server.at(&params.text_document.uri)?;
    let file = project.known.files.get(&path)?;
    let at = |position| {
        file.lines.offset(&file.text, positions::position(position), server.traits.encoding)
    };
    let (start, end) = (at(params.range.start), at(params.range.end));
    let all = hints(&project.known, &path).into_iter();
    let inside = all.filter(|hint| start <= hint.offset && hint.offset <= end);
    let hint = |hint: layoutc_compiler::editor::hints::AxisHint| InlayHint {
        position: server.range(file, &(hint.offset..hint.offset)).start,
        label: InlayHintLabel::String(hint.text),
        kind: None,
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: None,
    };
    Some(inside.map(hint).collect())
}
