//! Lines of text with styles, for a terminal.

use super::palette::{ColorDepth, color};

/// Style of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextStyle {
    Plain,
    Strong,
    Faint,
    /// Text on the background of a tile; the member is the position of the background color in the palette, from 0.
    Tile(usize),
}

/// Line of pieces of text, each with its style.
#[derive(Debug, Clone, Default)]
pub(super) struct StyledLine(Vec<(TextStyle, String)>);

impl StyledLine {
    pub(super) fn push(&mut self, paint: TextStyle, text: impl Into<String>) {
        self.0.push((paint, text.into()));
    }

    /// Text of the line with a line end, and with ANSI escape codes for the colors `depth`, none for
    /// [`ColorDepth::None`]. Blanks at the end are removed, unless an escape code follows them.
    pub(super) fn text(&self, depth: ColorDepth) -> String {
        let mut text = String::new();
        for (paint, piece) in &self.0 {
            let code = code(*paint, depth);
            if code.is_empty() {
                text.push_str(piece);
            } else {
                text.push_str(&format!("\x1b[{code}m{piece}\x1b[0m"));
            }
        }
        text.truncate(text.trim_end().len());
        text + "\n"
    }
}

fn code(paint: TextStyle, depth: ColorDepth) -> String {
    match (paint, depth) {
        (_, ColorDepth::None) | (TextStyle::Plain, _) => String::new(),
        (TextStyle::Strong, _) => "1".to_owned(),
        (TextStyle::Faint, _) => "2".to_owned(),
        (TextStyle::Tile(k), ColorDepth::Indexed) => format!("38;5;16;48;5;{}", color(k).indexed),
        (TextStyle::Tile(k), ColorDepth::True) => {
            let light = color(k).light;
            let [_, r, g, b] = light.to_be_bytes();
            format!("38;2;17;17;17;48;2;{r};{g};{b}")
        }
    }
}
