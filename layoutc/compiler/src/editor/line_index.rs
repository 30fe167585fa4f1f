//! Conversion between byte offsets in a text and positions as editors count them: line and character, in UTF-8 or
//! UTF-16 code units.

use std::ops::Range;

/// Code unit in which the position of a character in its line is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PositionEncoding {
    /// UTF-8 code units, that is, bytes.
    Utf8,
    /// UTF-16 code units: 2 for a character above U+FFFF.
    Utf16,
}

/// Position in a text as editors count it: line and character, both from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Number of the line, from 0.
    pub line: u32,
    /// Number of code units before the position in its line.
    pub character: u32,
}

/// Byte offsets of the line starts of a text. A line ends with `\n`, `\r\n` or `\r`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Computes the line starts of `text`.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let is_end = |k: usize, b: u8| {
            b == b'\n' || (b == b'\r' && bytes.get(k + 1).is_none_or(|next| *next != b'\n'))
        };
        let ends = bytes.iter().enumerate().filter(|(k, b)| is_end(*k, **b));
        Self { starts: [0].into_iter().chain(ends.map(|(k, _)| k + 1)).collect() }
    }

    /// Byte range of line `line`, from 0, without its line end; empty at the end of the text for a line beyond the
    /// last.
    fn line(&self, text: &str, line: usize) -> Range<usize> {
        let start = self.starts.get(line).copied().unwrap_or(text.len());
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        let content = text.get(start..end).unwrap_or_default();
        start..start + content.trim_end_matches(['\n', '\r']).len()
    }

    /// Byte offset of a position, whose characters are counted in `encoding`. A position past the end of its line is
    /// clamped to the end of the line, and a line past the last one to the end of the text. A position inside a
    /// character becomes the start of the character.
    pub fn offset(&self, text: &str, position: Position, encoding: PositionEncoding) -> usize {
        let line = usize::try_from(position.line).unwrap_or(usize::MAX);
        if line >= self.starts.len() {
            return text.len();
        }
        let span = self.line(text, line);
        let wanted = usize::try_from(position.character).unwrap_or(usize::MAX);
        let mut units = 0;
        for (at, c) in text.get(span.clone()).unwrap_or_default().char_indices() {
            units += width(c, encoding);
            if units > wanted {
                return span.start + at;
            }
        }
        span.end
    }

    /// Position of byte `offset` of `text`, with characters counted in `encoding`. The offset must be a character
    /// boundary; an offset past the end is clamped to the end of the text.
    pub fn position(&self, text: &str, offset: usize, encoding: PositionEncoding) -> Position {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let before = text.get(start..offset).unwrap_or_default();
        let units: usize = before.chars().map(|c| width(c, encoding)).sum();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Position { line: count(line), character: count(units) }
    }
}

fn width(c: char, encoding: PositionEncoding) -> usize {
    match encoding {
        PositionEncoding::Utf8 => c.len_utf8(),
        PositionEncoding::Utf16 => c.len_utf16(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_positions_convert_both_ways() {
        let text = "a\r\nü😀b\rc\n";
        let lines = LineIndex::new(text);
        for encoding in [PositionEncoding::Utf8, PositionEncoding::Utf16] {
            for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
                if text[..offset].ends_with('\r') && text[offset..].starts_with('\n') {
                    continue; // Between the two there is no place.
                }
                let position = lines.position(text, offset, encoding);
                assert_eq!(lines.offset(text, position, encoding), offset, "{position:?}");
            }
        }
        let smile = lines.position(text, text.find('b').expect("there"), PositionEncoding::Utf16);
        assert_eq!(smile, Position { line: 1, character: 3 });
    }

    #[test]
    fn out_of_range_positions_are_clamped() {
        let text = "ab\n😀\n";
        let lines = LineIndex::new(text);
        let at = |line, character| {
            lines.offset(text, Position { line, character }, PositionEncoding::Utf16)
        };
        assert_eq!(at(0, 99), 2);
        assert_eq!(at(1, 1), 3);
        assert_eq!(at(9, 9), text.len());
        assert_eq!(at(u32::MAX, u32::MAX), text.len());
    }
}
