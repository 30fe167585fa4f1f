//! `textDocument/codeAction`: text edits that fix diagnostics.

#[expect(
    clippy::disallowed_types,
    reason = "the protocol's own type, of which nothing is read"
)]
use std::collections::HashMap;

use layoutc_compiler::base::diagnostic::{Diagnostic, Fix};
use layoutc_compiler::editor::line_index::LineIndex;
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CodeActionResponse, Range,
    TextEdit, WorkspaceEdit,
};

use super::diagnostics::to_lsp_diagnostic;
use super::positions;
use super::projects::LspProject;
use super::server::LspServer;

/// Code actions (quick fixes) for the diagnostics that overlap or touch the requested range of a document. `None` if no
/// project has read the document; empty if the editor requests only other kinds of code actions.
pub(super) fn answer(server: &LspServer, params: &CodeActionParams) -> Option<CodeActionResponse> {
    let (project, path) = server.at(&params.text_document.uri)?;
    let only = params.context.only.as_ref();
    if only.is_some_and(|only| !only.iter().any(|kind| is_wanted(kind.as_str()))) {
        return Some(Vec::new());
    }
    let source = project.source(&path)?;
    let Range { start, end } = params.range;
    let lines: &LineIndex = &source.lines;
    let at =
        |position| lines.offset(source.text, positions::position(position), server.traits.encoding);
    let found = project.diagnostics_at(&path, at(start), at(end));
    let mut actions = Vec::new();
    for diagnostic in &found {
        for fix in &diagnostic.fixes {
            let is_only = diagnostic.fixes.len() == 1;
            actions.extend(action(server, project, diagnostic, fix, is_only));
        }
    }
    Some(actions)
}

/// True if the requested kind of code actions `kind` includes quick fixes: it is `quickfix`, or empty, which includes
/// all kinds.
fn is_wanted(kind: &str) -> bool {
    kind.is_empty() || kind == CodeActionKind::QUICKFIX.as_str()
}

#[expect(clippy::disallowed_types, reason = "the protocol's own type, of which nothing is read")]
fn action(
    server: &LspServer,
    project: &LspProject,
    diagnostic: &Diagnostic,
    fix: &Fix,
    is_only: bool,
) -> Option<CodeActionOrCommand> {
    let path = fix.place.file.as_ref();
    let source = project.source(path)?;
    let bytes = fix.place.start..fix.place.end;
    let old = source.text.get(bytes.clone())?;
    let range = positions::span(source.text, &source.lines, &bytes, server.traits.encoding);
    let edit = TextEdit { range, new_text: fix.text.clone() };
    let uri = server.source_uri(project, path)?;
    let edit =
        WorkspaceEdit { changes: Some(HashMap::from([(uri, vec![edit])])), ..Default::default() };
    Some(CodeActionOrCommand::CodeAction(CodeAction {
        title: fix.label(old),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![to_lsp_diagnostic(diagnostic, project, server)]),
        edit: Some(edit),
        is_preferred: is_only.then_some(true),
        ..CodeAction::default()
    }))
}
