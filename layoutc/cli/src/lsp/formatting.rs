//! `textDocument/formatting`: formats a manifest like `layoutc fmt`.

use std::sync::Arc;

use layoutc_compiler::manifest::{difference, format};
use lsp_types::{DocumentFormattingParams, TextEdit};

use super::server::LspServer;

/// Edits that format a manifest as `layoutc fmt` does: one edit, which replaces the lines that differ. Empty if the
/// manifest is formatted already; `None` if its text is not valid KDL, or if no project has read it.
pub(super) fn answer(
    server: &LspServer,
    params: &DocumentFormattingParams,
) -> Option<Vec<TextEdit>> {
    let (project, path) = server.at(&params.text_document.uri)?;
    let file = project.known.files.get(&path)?;
    let new = format(&Arc::from(path.as_str()), &file.text).ok()?;
    let Some([old, lines]) = difference(&file.text, &new) else { return Some(Vec::new()) };
    let new_text = new.get(lines).unwrap_or_default().to_owned();
    Some(vec![TextEdit { range: server.range(file, &old), new_text }])
}
