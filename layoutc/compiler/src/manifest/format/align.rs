//! Joins lines into text, and aligns the trailing comments of consecutive lines.

use super::WIDTH;
use super::print::{FormatLine, last_width};

/// Text of the formatted lines `rows`: `start` (a byte order mark, or empty), then each line followed by `line_end`.
/// Trailing comments of consecutive lines are aligned in one column.
pub(super) fn text(rows: &[FormatLine], start: &str, line_end: &str) -> String {
    let mut text = start.to_owned();
    for run in rows.chunk_by(|above, below| is_commented(above) && is_commented(below)) {
        let column = column(run);
        let mut is_aligned = false;
        for row in run {
            text.push_str(&row.words);
            is_aligned = if row.is_below { is_aligned } else { has_room(row) };
            if is_commented(row) {
                let blanks = match (is_aligned, row.is_below) {
                    (true, _) => column.saturating_sub(last_width(&row.words)),
                    (false, true) => 0,
                    (false, false) => 1,
                };
                text.extend(std::iter::repeat_n(' ', blanks));
                text.push_str(&row.comments);
            }
            text.push_str(line_end);
        }
    }
    text
}

/// Column, from 0, at which the trailing comments of the consecutive lines `run` are aligned: the greater of two
/// columns. One is the column of the first comment if it keeps its distance from the words before it, ignored if it is
/// above [`WIDTH`]. The other is one more than the greatest width of the lines. Only lines for which [`has_room`] is
/// true count.
fn column(run: &[FormatLine]) -> usize {
    let own = |row: &FormatLine| last_width(&row.words) + row.gap.max(1);
    let first = run.iter().find(|row| !row.is_below && has_room(row));
    let first = first.map(own).filter(|&column| column <= WIDTH).unwrap_or_default();
    let least = run.iter().filter(|row| has_room(row)).map(|row| last_width(&row.words) + 1);
    least.fold(first, usize::max)
}

/// True if the words of a line are narrower than [`WIDTH`]; comments of wider lines are not aligned.
fn has_room(row: &FormatLine) -> bool {
    last_width(&row.words) < WIDTH
}

fn is_commented(row: &FormatLine) -> bool {
    !row.comments.is_empty()
}
