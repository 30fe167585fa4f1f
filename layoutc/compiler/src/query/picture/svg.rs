//! SVG rendering of a picture: the logical grid next to the memory, in light and dark colors.

use super::style;
use super::table::{self, CellKind, PictureTable};
use super::{GridLine, Picture};

/// Width of the outer margin of the drawing, in pixels.
const MARGIN: usize = 24;
/// Height of a cell and its least width, in pixels.
const CELL: usize = 34;
/// Width or height of the gap in place of omitted cells, in pixels.
const GAP: usize = 22;
/// Distance between the logical grid and the memory, in pixels.
const BETWEEN: usize = 48;
/// Height of a line of text, in pixels.
const LINE: usize = 20;
/// Width of a character of a cell's main text or of a label, in pixels.
const WIDE: usize = 8;
/// Width of a character of the smaller text in a cell, in pixels.
const SMALL: usize = 6;
/// Width of a character of a caption or of the legend, in pixels.
const PROSE: usize = 8;

/// Text of an SVG file with a picture. All columns of a table are equally wide, so that the widest text of the table
/// fits.
pub fn svg(picture: &Picture) -> String {
    let SvgDrawing { width, height, body } = drawing(picture);
    let head = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-labelledby=\"title desc\">\n\
         <title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n{}{}",
        escaped(&picture.title()),
        escaped(&described(picture)),
        style::alone(),
        hatch("hatch"),
    );
    head + &body + "</svg>\n"
}

/// SVG element with a picture for an HTML page, on one line. The page must contain [`inline_style`]. The element has no
/// `id`, so that a page may contain several.
pub fn inline(picture: &Picture) -> String {
    let SvgDrawing { width, height, body } = drawing(picture);
    let head = format!(
        "<svg class=\"{INLINE}\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\
         <title>{}</title><desc>{}</desc>",
        escaped(&picture.title()),
        escaped(&described(picture)),
    );
    head + &body.replace('\n', "") + "</svg>"
}

/// HTML that a page with pictures from [`inline`] contains once, on one line: a `<style>` element and a hidden SVG
/// element with the hatching pattern. Pictures inside elements that match the CSS selector `dark` have dark colors.
pub fn inline_style(dark: &str) -> String {
    let hatch = hatch(&format!("{INLINE}-hatch"));
    let style = style::inline(INLINE, dark);
    let svg = format!("<svg width=\"0\" height=\"0\" style=\"position:absolute\">{hatch}</svg>");
    format!("<style>{style}</style>{svg}").replace('\n', "")
}

/// CSS class of the pictures in a page.
const INLINE: &str = "layoutc-picture";

/// SVG drawing of a picture: its elements as text, and its size in pixels.
struct SvgDrawing {
    width: usize,
    height: usize,
    body: String,
}

fn drawing(picture: &Picture) -> SvgDrawing {
    let mut head = vec![format!("storage: {}", picture.storage_text())];
    if !picture.physical.is_empty() {
        let shape: Vec<String> = picture.physical.iter().map(ToString::to_string).collect();
        head.push(format!("physical shape: [{}]", shape.join(", ")));
    }
    let top = MARGIN + 2 * LINE + head.len() * LINE;
    let is_empty = picture.grid.cells.is_empty();
    let panels = if is_empty { Vec::new() } else { panels(picture) };
    let mut left = MARGIN;
    let mut bottom = top;
    let mut tables = String::new();
    for panel in &panels {
        tables.push_str(&panel.svg(left, top));
        left += panel.width() + BETWEEN;
        bottom = bottom.max(top + panel.height());
    }
    if is_empty {
        tables.push_str(&text("l", MARGIN, top, "no element"));
    }
    let (legend, legend_width) = legend(picture, bottom + LINE);
    let title = picture.title();
    let prose = head.iter().map(|line| line.chars().count() * PROSE).max().unwrap_or(0);
    let prose = prose.max(title.chars().count() * 10);
    let width = (left.saturating_sub(BETWEEN)).max(MARGIN + prose).max(legend_width) + MARGIN;
    let height = bottom + 3 * LINE;
    let mut body = format!("<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n");
    body.push_str(&text("t", MARGIN, MARGIN + 12, &title));
    for (k, line) in head.iter().enumerate() {
        body.push_str(&text("l", MARGIN, MARGIN + 14 + (k + 1) * LINE, line));
    }
    SvgDrawing { width, height, body: body + &tables + &legend }
}

fn described(picture: &Picture) -> String {
    let labels = picture.label_axes().unwrap_or_else(|| "the offset".to_owned());
    format!(
        "The logical grid with {labels} of each element ({}), beside the memory with the index of each element ({}).",
        picture.frame_text(),
        picture.memory_text()
    )
}

fn panels(picture: &Picture) -> Vec<Panel> {
    let indices = picture.indexed_by();
    let below = if indices.is_empty() { "each slot's offset" } else { "offsets below" };
    let labels = picture.label_axes().unwrap_or_else(|| "the offset".to_owned());
    let memory_notes = [
        format!("memory: {}", picture.memory_text()),
        match indices.as_str() {
            "" => below.to_owned(),
            indices => format!("in each slot the index ({indices}), {below}"),
        },
    ];
    vec![
        Panel::new(
            table::grid(picture),
            [format!("logical: {}", picture.frame_text()), format!("in each cell {labels}")],
        ),
        Panel::new(table::memory(picture), memory_notes),
    ]
}

/// Panel of a picture: the table of the logical grid or of the memory, with two lines of captions.
struct Panel {
    table: PictureTable,
    captions: [String; 2],
    /// Width of the row labels, in pixels.
    label: usize,
    /// Width of a cell, in pixels.
    cell: usize,
}

impl Panel {
    fn new(table: PictureTable, captions: [String; 2]) -> Self {
        let lines = || table.lines.iter();
        let label = lines().map(|line| line.label.chars().count()).max().unwrap_or(0) * WIDE + 10;
        let cells = || lines().flat_map(|line| &line.cells);
        let text = cells().map(|cell| cell.text.chars().count()).max().unwrap_or(0) * WIDE;
        let note = cells().map(|cell| cell.note.chars().count()).max().unwrap_or(0) * SMALL;
        let head = table.heads.iter().map(|head| head.chars().count()).max().unwrap_or(0) * WIDE;
        let cell = text.max(note).max(head).max(CELL - 12) + 12;
        Self { table, captions, label, cell }
    }

    /// Pair `(edges, end)` in pixels from the left edge of the panel: the left edges of the columns, and the right edge
    /// of the last column.
    fn columns(&self) -> (Vec<usize>, usize) {
        let mut x = self.label;
        let mut starts = Vec::new();
        for gap in &self.table.gaps {
            x += if *gap { GAP } else { 0 };
            starts.push(x);
            x += self.cell;
        }
        (starts, x)
    }

    fn width(&self) -> usize {
        let prose = self.captions.iter().map(|line| line.chars().count() * PROSE).max();
        self.columns().1.max(prose.unwrap_or(0))
    }

    fn height(&self) -> usize {
        let gaps = self.table.lines.iter().filter(|line| line.is_apart).count();
        3 * LINE + 8 + self.table.lines.len() * CELL + gaps * GAP
    }

    fn svg(&self, left: usize, top: usize) -> String {
        let mut out = String::new();
        for (k, caption) in self.captions.iter().enumerate() {
            let class = if k == 0 { "h" } else { "l" };
            out.push_str(&text(class, left, top + k * LINE, caption));
        }
        let (columns, end) = self.columns();
        let first = top + 2 * LINE + 22;
        for ((head, x), gap) in self.table.heads.iter().zip(&columns).zip(&self.table.gaps) {
            out.push_str(&middle("n", left + x + self.cell / 2, first - 8, head));
            if *gap {
                out.push_str(&middle("n", left + x - GAP / 2, first - 8, "…"));
            }
        }
        let (mut y, mut rules) = (first, String::new());
        for line in &self.table.lines {
            if line.is_apart {
                let x = left + self.label.saturating_sub(8);
                out.push_str(&format!("<text class=\"n e\" x=\"{x}\" y=\"{}\">⋮</text>\n", y + 16));
                y += GAP;
            }
            rules.push_str(&rule(line.rule, [left + self.label, y], [left + end, y]));
            let x = left + self.label.saturating_sub(8);
            let label = escaped(&line.label);
            out.push_str(&format!(
                "<text class=\"n e\" x=\"{x}\" y=\"{}\">{label}</text>\n",
                y + 21
            ));
            for (cell, x) in line.cells.iter().zip(&columns) {
                out.push_str(&self.square(cell, left + x, y));
            }
            for (column, x) in self.table.column_rules.iter().zip(&columns) {
                rules.push_str(&rule(*column, [left + x, y], [left + x, y + CELL]));
            }
            y += CELL;
        }
        if self.table.is_matrix {
            let x = left + self.label - 3;
            rules.push_str(&rule(GridLine::Separator, [x, first - 24], [x, y]));
            let across = first - 3;
            rules.push_str(&rule(GridLine::Separator, [left, across], [left + end, across]));
        }
        out + &rules
    }

    fn square(&self, cell: &table::TableCell, x: usize, y: usize) -> String {
        let (class, ink) = match cell.kind {
            CellKind::Tile(k) => (format!("c c{k}"), "i"),
            CellKind::Padding => ("c p".to_owned(), "n"),
            CellKind::Other | CellKind::Unknown => ("c o".to_owned(), "n"),
            CellKind::Blank => return String::new(),
        };
        let (width, center) = (self.cell, x + self.cell / 2);
        let mut out = format!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{CELL}\"/>\n"
        );
        let is_padding = cell.kind == CellKind::Padding;
        match (cell.text.as_str(), cell.note.as_str()) {
            (text, note) if is_padding => {
                let shown = if text.is_empty() { note } else { text };
                out.push_str(&middle("s", center, y + 21, shown));
            }
            (text, "") => out.push_str(&middle(ink, center, y + 22, text)),
            (text, note) => {
                out.push_str(&middle(ink, center, y + 17, text));
                out.push_str(&middle(if ink == "i" { "s i" } else { "s" }, center, y + 29, note));
            }
        }
        out
    }
}

fn rule(rule: GridLine, [x1, y1]: [usize; 2], [x2, y2]: [usize; 2]) -> String {
    let class = match rule {
        GridLine::None => return String::new(),
        GridLine::Part => "r1",
        GridLine::Tile => "r2",
        GridLine::Separator => "r3",
    };
    format!("<path class=\"{class}\" d=\"M{x1} {y1}L{x2} {y2}\"/>\n")
}

/// Pair `(text, right)`: the SVG elements of the legend, whose top is at `y`, and the legend's right edge, in pixels.
fn legend(picture: &Picture, y: usize) -> (String, usize) {
    let shown = picture.shown();
    let mut out = String::new();
    let mut x = MARGIN;
    let mut entry = |classes: &[String], words: &str| {
        for class in classes {
            let top = y + 2;
            out.push_str(&format!(
                "<rect class=\"c {class}\" x=\"{x}\" y=\"{top}\" width=\"16\" height=\"16\"/>\n"
            ));
            x += 18;
        }
        out.push_str(&text("l", x + 6, y + 15, words));
        x += 6 + words.chars().count() * PROSE + 20;
    };
    if !picture.colored_by.is_empty() {
        let mut used: Vec<usize> = picture.grid.elements().map(|element| element.color).collect();
        used.sort_unstable();
        used.dedup();
        let classes: Vec<String> = used.iter().map(|k| format!("c{k}")).collect();
        entry(&classes, &format!("color: {}", picture.colored_by.join(", ")));
    }
    for (is_there, class, words) in [
        (shown.padding, "p", "padding"),
        (shown.other, "o", "another slice"),
        (shown.outside, "o", "outside of the view"),
        (shown.unknown, "o", "? not looked up"),
    ] {
        if is_there {
            entry(&[class.to_owned()], words);
        }
    }
    let rules = || picture.grid.row_rules.iter().chain(&picture.grid.column_rules);
    let has = |wanted: GridLine| rules().any(|rule| *rule == wanted);
    let is_matrix = picture.memory.is_matrix && !picture.grid.cells.is_empty();
    if is_matrix || has(GridLine::Separator) {
        out.push_str(&rule(GridLine::Separator, [x, y + 10], [x + 24, y + 10]));
        out.push_str(&text("l", x + 32, y + 15, "axis separator"));
        x += 32 + "axis separator".len() * PROSE + 20;
    }
    (out, x.saturating_sub(20))
}

/// SVG text element that starts at the point (x, y), in pixels.
fn text(class: &str, x: usize, y: usize, text: &str) -> String {
    format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>\n", escaped(text))
}

/// SVG text element that is centered horizontally at the point (x, y), in pixels; empty for an empty text.
fn middle(class: &str, x: usize, y: usize, words: &str) -> String {
    if words.is_empty() { String::new() } else { text(&format!("{class} m"), x, y, words) }
}

/// SVG definition of the hatching pattern of padding, with the given id.
fn hatch(id: &str) -> String {
    format!(
        "<defs><pattern id=\"{id}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
         <rect class=\"hp\" width=\"6\" height=\"6\"/><path class=\"hl\" d=\"M0 0V6\"/></pattern></defs>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
