//! Manifests in one style: indentation, blanks, blank lines and the places of comments. Every word keeps its spelling,
//! and every comment its words and its place among them. It knows KDL's shape and nothing of layouts.
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
use crate::codes::Code;
use crate::diagnostic::Diagnostic;

/// Columns that a block on one line may reach.
pub(super) const WIDTH: usize = 100;

/// Columns of a level.
pub(super) const INDENT: usize = 4;

/// The manifest in the style; what is in it already comes back as it is. Lines end as the first that ends outside of
/// strings, comments and continuations does, and a byte order mark stays.
///
/// # Errors
/// What is wrong with it as KDL: a text that is none has no form.
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

/// The bytes from the first line that differs to the last, of each of two texts; `None` where they are the same.
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

/// What the reader of manifests says of a text, else that it is no KDL at `place`.
fn refusal(file: &Arc<str>, text: &str, place: Range<usize>) -> Vec<Diagnostic> {
    let (_, found) = parse_tree(file, text);
    if !found.is_empty() {
        return found;
    }
    // The reader looks at nothing that `/-` takes out.
    let mut faults = DiagnosticSink::new(file);
    faults.error(Code::KdlSyntax, "this is not KDL 2", place, "");
    faults.finish()
}

/// How the first line ends that ends outside of strings, comments and continuations.
fn line_end(text: &str, tokens: &[KdlToken]) -> &'static str {
    let ends = tokens.iter().filter(|token| token.kind == KdlTokenKind::End);
    let mut ends = ends.filter_map(|token| text.get(token.span.clone())).filter(|end| *end != ";");
    if ends.next() == Some("\r\n") { "\r\n" } else { "\n" }
}

/// How many columns a line takes.
fn width(line: &str) -> usize {
    UnicodeWidthStr::width(line)
}
