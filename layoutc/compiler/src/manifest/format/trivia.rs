//! Trivia between tokens: comments, and backslashes that escape a line end.

use std::ops::Range;

use super::super::lex::{is_space, newline};
use super::cst::{Comment, Trivia};

/// Comments and continuations in the byte range `gap` between two tokens, in order. Line ends between comments,
/// possible only after `/-`, are dropped.
pub(super) fn between(text: &str, gap: Range<usize>) -> Vec<Trivia<'_>> {
    let mut found = Vec::new();
    let mut continued: Option<Vec<Comment<'_>>> = None;
    let (mut at, mut gap_before) = (gap.start, 0);
    while let Some(rest) = text.get(at..gap.end).filter(|rest| !rest.is_empty()) {
        if let Some(bytes) = newline(rest) {
            found.extend(continued.take().map(Trivia::Continuation));
            (at, gap_before) = (at + bytes, 0);
        } else if let Some(bytes) = comment(rest) {
            let text = rest.get(..bytes).unwrap_or_default();
            let comment =
                Comment { text: text.trim_end_matches(is_space), start: at, gap: gap_before };
            match &mut continued {
                Some(comments) => comments.push(comment),
                None => found.push(Trivia::Comment(comment)),
            }
            (at, gap_before) = (at + bytes, 0);
        } else {
            let is_mark = rest.starts_with('\\');
            if is_mark {
                continued = Some(Vec::new());
            }
            at += rest.chars().next().map_or(1, char::len_utf8);
            gap_before = if is_mark { 0 } else { gap_before + 1 };
        }
    }
    found.extend(continued.map(Trivia::Continuation));
    found
}

/// Length in bytes of the comment at the start of `rest`; `None` if there is none or it is unclosed.
fn comment(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        let end = rest.char_indices().find(|&(at, _)| rest.get(at..).and_then(newline).is_some());
        return Some(end.map_or(rest.len(), |(at, _)| at));
    }
    if !rest.starts_with("/*") {
        return None;
    }
    let (mut at, mut depth) = (2, 1_usize);
    while depth > 0 {
        let inside = rest.get(at..).filter(|inside| !inside.is_empty())?;
        let (bytes, deeper, higher) = match inside {
            _ if inside.starts_with("/*") => (2, 1, 0),
            _ if inside.starts_with("*/") => (2, 0, 1),
            _ => (inside.chars().next().map_or(1, char::len_utf8), 0, 0),
        };
        (at, depth) = (at + bytes, depth + deeper - higher);
    }
    Some(at)
}

/// Comments of a list of trivia in order, including those inside continuations.
pub(super) fn comments(between: Vec<Trivia<'_>>) -> Vec<Comment<'_>> {
    let each = between.into_iter().flat_map(|one| match one {
        Trivia::Comment(comment) => vec![comment],
        Trivia::Continuation(comments) => comments,
    });
    each.collect()
}

/// Comments in groups, each of which is one line of output. A `//` comment ends its group, because it extends to the
/// end of its line.
pub(super) fn by_lines(comments: Vec<Comment<'_>>) -> Vec<Vec<Comment<'_>>> {
    let mut lines: Vec<Vec<Comment<'_>>> = Vec::new();
    for comment in comments {
        match lines.last_mut().filter(|line| line.last().is_some_and(|last| !last.ends_line())) {
            Some(line) => line.push(comment),
            None => lines.push(vec![comment]),
        }
    }
    lines
}
