//! Display of characters on a terminal: their widths, tabs, and escapes for unsafe characters.

use unicode_width::UnicodeWidthChar;

/// Number of columns between tab stops.
const TAB: usize = 4;

/// Character of a source line in the form in which it is displayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextCell {
    /// Byte offset of the character in the line.
    pub(crate) start: usize,
    /// Text that is displayed for the character.
    pub(crate) text: String,
    /// Width of the text in columns.
    pub(crate) width: usize,
}

/// Characters of `line` as displayed, with a tab as the spaces up to the next tab stop, and unsafe characters escaped.
pub(crate) fn cells(line: &str) -> Vec<TextCell> {
    let mut column = 0;
    let mut cells = Vec::new();
    for (start, c) in line.char_indices() {
        let (text, width) = if c == '\t' {
            let width = TAB - column % TAB;
            (" ".repeat(width), width)
        } else if is_hidden(c) {
            let text = escaped(c);
            let width = text.len();
            (text, width)
        } else {
            (c.to_string(), c.width().unwrap_or(0))
        };
        column += width;
        cells.push(TextCell { start, text, width });
    }
    cells
}

/// `text` with escapes such as `\u{1b}` for characters that are unsafe to display on a terminal: control characters,
/// including line ends, and invisible characters that reorder or join others.
pub fn escape(text: &str) -> String {
    let mut escape = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) { escape.push_str(&escaped(c)) } else { escape.push(c) }
    }
    escape
}

fn escaped(c: char) -> String {
    format!("\\u{{{:x}}}", u32::from(c))
}

/// True for characters that are unsafe to display: control characters, line and paragraph separators, and
/// invisible characters that reorder or join others (bidirectional controls, zero-width characters, tags).
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{feff}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(line: &str) -> (String, usize) {
        let cells = cells(line);
        let text = cells.iter().map(|cell| cell.text.as_str()).collect();
        (text, cells.iter().map(|cell| cell.width).sum())
    }

    #[test]
    fn tabs_advance_to_the_next_tab_stop() {
        assert_eq!(printed("a\tb"), ("a   b".to_owned(), 5));
        assert_eq!(printed("\t\tb"), ("        b".to_owned(), 9));
    }

    #[test]
    fn wide_characters_take_two_columns_and_marks_zero() {
        assert_eq!(printed("層").1, 2);
        assert_eq!(printed("e\u{301}").1, 1);
    }

    #[test]
    fn invisible_characters_are_escaped() {
        assert_eq!(printed("a\u{202e}b").0, "a\\u{202e}b");
        assert_eq!(escape("x\u{1b}[31m\n"), "x\\u{1b}[31m\\u{a}");
    }
}
