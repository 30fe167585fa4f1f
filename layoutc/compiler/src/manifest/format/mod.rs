//! Formatter for manifests: indentation, spaces, blank lines and positions of comments. Words and comments keep their
//! spelling and order. It works on KDL syntax alone.
//!
//! tokens → [`cst`] (by [`parse`]) → lines (by [`print`]) → text (by [`align`]).

mod align;
mod cst;
mod node;
mod parse;
mod print;
mod trivia;

use std::ops::Range;
use std::sync::Arc;

use unicode_width::UnicodeWidthStr;

use super::diagnostic_sink::DiagnosticSink;
use super::lex::{self, KdlToken, KdlTokenKind};
use super::parse_tree;
use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;

/// Maximum width, in columns, of a line with a whole block. Trailing comments are aligned only in lines of which the
/// words are narrower.
pub(super) const WIDTH: usize = 100;

/// Indentation per level, in columns.
pub(super) const INDENT: usize = 4;

/// Canonical format of the manifest `text`; formatting the result again does not change it. `file` is the path of the
/// manifest, for diagnostics. Line ends outside of strings and comments become `\r\n` if the first one that no
/// backslash escapes is `\r\n`, otherwise `\n`. A byte order mark is preserved.
///
/// # Errors
/// The syntax errors, at least one, of a text that is not valid KDL 2 or is nested too deep.
pub fn format(file: &Arc<str>, text: &str) -> Result<String, Vec<Diagnostic>> {
    let mut faults = DiagnosticSink::new(file);
    let Some(tokens) = lex::lex(text, &mut faults) else {
        return Err(refusal(file, text, 0..0));
    };
    let document = parse::document(text, &tokens).map_err(|place| refusal(file, text, place))?;
    let lines = print::lines(&document);
    let start = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    Ok(align::text(&lines, start, line_end(text, &tokens)))
}

/// Pair of byte ranges, the first in `old`, the second in `new`, of the lines that differ: from the start of the first
/// different line to the end of the last one. `None` if the texts are equal.
pub fn difference(old: &str, new: &str) -> Option<[Range<usize>; 2]> {
    if old == new {
        return None;
    }
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<_>>();
    let (mine, theirs) = (lines(old), lines(new));
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let same = mine.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
    let (mine, theirs) = (mine.get(same..)?, theirs.get(same..)?);
    let rest = mine.iter().rev().zip(theirs.iter().rev()).take_while(|(a, b)| a == b).count();
    let start = old.len() - bytes(mine);
    let after = bytes(mine.get(mine.len() - rest..)?);
    Some([start..old.len() - after, start..new.len() - after])
}

/// Diagnostics for a text that is not valid KDL: the errors that the manifest parser reports. If it reports none, one
/// general syntax error at the byte range `place`.
fn refusal(file: &Arc<str>, text: &str, place: Range<usize>) -> Vec<Diagnostic> {
    let (_, found) = parse_tree(file, text);
    if !found.is_empty() {
        return found;
    }
    // The manifest parser skips what `/-` comments out, so it may find no error.
    let mut faults = DiagnosticSink::new(file);
    faults.error(Code::KdlSyntax, "this is not KDL 2", place, "");
    faults.finish()
}

/// Line end of the formatted text: `\r\n` if the first line end outside of strings, comments and continuations is one,
/// else `\n`.
fn line_end(text: &str, tokens: &[KdlToken]) -> &'static str {
    let ends = tokens.iter().filter(|token| token.kind == KdlTokenKind::End);
    let mut ends = ends.filter_map(|token| text.get(token.span.clone())).filter(|end| *end != ";");
    if ends.next() == Some("\r\n") { "\r\n" } else { "\n" }
}

/// Display width of a line in columns; a wide character such as `層` takes two.
fn width(line: &str) -> usize {
    UnicodeWidthStr::width(line)
}
