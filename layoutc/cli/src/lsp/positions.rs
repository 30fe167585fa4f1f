//! Conversion of positions of the language server protocol to those of the compiler, and of byte ranges in a text to
//! ranges of the protocol. A position is a line and a character, both from 0; characters are counted in UTF-8 or UTF-16
//! code units.

use std::ops::Range;

use layoutc_compiler::editor::line_index::{LineIndex, Position, PositionEncoding};
use lsp_types::Range as Span;

/// Position of the compiler equal to a position of the language server protocol. Both count the line and the character
/// from 0. The character is copied unchanged, in code units of the encoding negotiated with the client.
pub(super) fn position(position: lsp_types::Position) -> Position {
    Position { line: position.line, character: position.character }
}

/// Converts the range `bytes` of bytes in `text` to a range of the protocol. `lines` is the line index of `text`, and
/// `encoding` is the unit of the character offsets in the result.
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
