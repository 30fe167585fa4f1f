//! `textDocument/foldingRange`: the blocks of a manifest that can be folded.

use layoutc_compiler::editor::outline::blocks;
use lsp_types::{FoldingRange, FoldingRangeParams};

use super::server::LspServer;

/// Ranges of lines that the editor can fold: the blocks of a manifest that span several lines even without the line of
/// the closing brace, which stays visible. `None` if no project has read the document.
pub(super) fn answer(server: &LspServer, params: &FoldingRangeParams) -> Option<Vec<FoldingRange>> {
    let (project, path) = server.at(&params.text_document.uri)?;
    let file = project.known.files.get(&path)?;
    let range = |block| {
        let range = server.range(file, &block);
        // The line of the closing brace stays visible.
        let (start, end) = (range.start.line, range.end.line.saturating_sub(1));
        (start < end).then(|| FoldingRange {
            start_line: start,
            end_line: end,
            ..FoldingRange::default()
        })
    };
    Some(blocks(file).into_iter().filter_map(range).collect())
}
