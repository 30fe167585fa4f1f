//! Conversion between positions in texts and positions of the language server protocol.

use std::ops::Range;

use layoutc_compiler::editor::line_index::{LineIndex, Position, PositionEncoding};
use lsp_types::Range as Span;

/// Converts a position of the protocol to one of the compiler.
pub(super) fn position(position: lsp_types::Position) -> Position {
    Position { line: position.line, character: position.character }
}

/// Converts a byte range in `text`, whose line index is `lines`, to a range of the protocol, with character offsets in
/// the units of `encoding`.
pub(super) fn span(
    text: &str,
    lines: &LineIndex,
    bytes: &Range<usize>,
    encoding: PositionEncoding,
) -> Span {
    let at = |offset: usize| {
        let Position { line, character } = lines.position(text, offset, encoding);
        lsp_types::Position { line, character }
    };
    Span { start: at(bytes.start), end: at(bytes.end.max(bytes.start)) }
}
