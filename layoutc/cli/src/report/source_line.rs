//! Conversion of byte offsets in a text to lines and columns.

/// Text of a file that locations refer to, or a part of that text.
#[derive(Debug, Clone, Copy)]
pub struct DiagnosticSource<'a> {
    pub text: &'a str,
    /// Number of the first line of `text` in the file, from 1.
    pub first_line: usize,
    /// Byte offset of `text` in the file.
    pub first_byte: usize,
}

impl<'a> DiagnosticSource<'a> {
    pub fn whole(text: &'a str) -> Self {
        Self { text, first_line: 1, first_byte: 0 }
    }
}

/// Line of a text that contains the start of a span, and the bounds of the span in that line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SourceLine<'a> {
    /// Number of the line, from 1.
    pub(crate) line: usize,
    /// Column of the start of the span in characters, from 1.
    pub(crate) column: usize,
    /// Text of the line without its end and without a byte order mark.
    pub(crate) text: &'a str,
    /// Byte offset of the start of the span in [`Self::text`].
    pub(crate) start: usize,
    /// Byte offset of the end of the span, which is beyond [`Self::text`] if the span continues on later lines.
    pub(crate) end: usize,
}

/// Line that contains the start of the span `start..end`, which counts bytes from the start of the file. A position
/// beyond the text counts as its end. If the text ends with a line feed, a span at the end of the text belongs to the
/// last line, because no line follows.
pub(crate) fn locate(source: DiagnosticSource<'_>, start: usize, end: usize) -> SourceLine<'_> {
    let text = source.text;
    let mut start = floor_char(text, start.saturating_sub(source.first_byte));
    let end = end.saturating_sub(source.first_byte).min(text.len()).max(start);
    if start == text.len() {
        start = text.strip_suffix('\n').map_or(start, |rest| rest.trim_end_matches('\r').len());
    }
    let before = &text[..start];
    let line_start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let breaks = before.matches('\n').count() + lone_returns(&text[..line_start]);
    let line_end = text[line_start..].find(['\n', '\r']).map_or(text.len(), |at| line_start + at);
    let line = &text[line_start..line_end.max(start)];
    let (line, mark) = match line.strip_prefix('\u{feff}') {
        Some(rest) if line_start == 0 && source.first_byte == 0 => (rest, '\u{feff}'.len_utf8()),
        Some(_) | None => (line, 0),
    };
    let offset = line_start + mark;
    let start = start.saturating_sub(offset);
    SourceLine {
        line: source.first_line + breaks,
        column: line[..start].chars().count() + 1,
        text: line,
        start,
        end: end.saturating_sub(offset).max(start),
    }
}

/// First line of the outermost block around the line at `start`, a byte offset in the file. It is the nearest line
/// above that is neither empty, indented nor a comment. `None` if the line at `start` is neither indented nor empty, if
/// no such line is above it, or if that nearest line does not end with `{` or `[`.
pub(crate) fn block_head(source: DiagnosticSource<'_>, start: usize) -> Option<SourceLine<'_>> {
    let is_indented = |line: &str| line.is_empty() || line.starts_with([' ', '\t']);
    if !is_indented(locate(source, start, start).text) {
        return None;
    }
    let mut at = start.checked_sub(source.first_byte)?;
    for line in source.text.get(..at)?.split_inclusive('\n').rev() {
        at -= line.len();
        let line = line.trim_end_matches(['\n', '\r']);
        if !is_indented(line) && !line.starts_with("//") {
            let head = source.first_byte + at;
            return line.ends_with(['{', '[']).then(|| locate(source, head, head));
        }
    }
    None
}

/// Number of carriage returns in a text that are not followed by a line feed.
fn lone_returns(text: &str) -> usize {
    text.matches('\r').count() - text.matches("\r\n").count()
}

fn floor_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, start: usize, end: usize) -> (usize, usize, String) {
        let position = locate(DiagnosticSource::whole(text), start, end);
        (position.line, position.column, position.text.to_owned())
    }

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        assert_eq!(at("ab\ncd", 0, 1), (1, 1, "ab".into()));
        assert_eq!(at("ab\ncd", 4, 5), (2, 2, "cd".into()));
        assert_eq!(at("層b", 3, 4), (1, 2, "層b".into()));
    }

    #[test]
    fn line_endings_do_not_change_positions() {
        for text in ["ab\ncd\n", "ab\rcd\r"] {
            assert_eq!(at(text, 3, 4), (2, 1, "cd".into()));
        }
        assert_eq!(at("ab\r\ncd\r\n", 4, 5), (2, 1, "cd".into()));
        assert_eq!(at("\u{feff}ab", 3, 4), (1, 1, "ab".into()));
    }

    #[test]
    fn the_end_of_the_file_is_the_end_of_its_last_line() {
        assert_eq!(at("ab\ncd\n", 6, 6), (2, 3, "cd".into()));
        assert_eq!(at("ab\ncd\r\n", 7, 7), (2, 3, "cd".into()));
        assert_eq!(at("ab\ncd", 5, 5), (2, 3, "cd".into()));
        assert_eq!(at("", 0, 0), (1, 1, String::new()));
        assert_eq!(at("ab", 99, 120), (1, 3, "ab".into()));
    }

    #[test]
    fn offset_inside_a_character_is_its_start() {
        assert_eq!(at("a層", 2, 3), (1, 2, "a層".into()));
    }

    #[test]
    fn block_header_is_its_opening_line() {
        let text = "const A 1\ntensor x {\n    shape { n 4 }\n// why\n\n    tile 8\n}\n  stray\n";
        let head = |what: &str| {
            let start = text.find(what).expect("the text holds it");
            block_head(DiagnosticSource::whole(text), start).map(|head| (head.line, head.text))
        };
        assert_eq!(head("n 4"), Some((2, "tensor x {")));
        assert_eq!(head("tile"), Some((2, "tensor x {")));
        for outside in ["A 1", "x {", "stray"] {
            assert_eq!(head(outside), None, "{outside}");
        }
    }

    #[test]
    fn excerpt_positions_continue_from_its_start() {
        let source = DiagnosticSource { text: "1,x", first_line: 40, first_byte: 1000 };
        let position = locate(source, 1002, 1003);
        assert_eq!((position.line, position.column, position.start), (40, 3, 2));
    }
}
