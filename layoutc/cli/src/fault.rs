//! What ends a command early, and which exit code it gives.

use std::io;
use std::path::Path;

use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::{Diagnostic, Severity};

use crate::project::seen;

/// What ends a command early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The command line is at fault: one line. Exit 2.
    Usage(String),
    /// The input is at fault. Exit 1.
    Input(Vec<Diagnostic>),
    /// The machine is at fault. Exit 3.
    Machine(Box<Diagnostic>),
}

impl Fault {
    /// The machine would not `verb` (as in "read") the file or folder at `path`.
    pub(crate) fn io(verb: &str, path: &Path, error: &io::Error) -> Self {
        let shown = if path.is_absolute() { seen(path) } else { path.display().to_string() };
        let message = format!("cannot {verb} `{shown}`: {}", plain(error));
        Fault::Machine(Box::new(placeless(Code::OutputIo, message)))
    }
}

/// The error without Rust's own ` (os error 28)`.
pub(crate) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}

/// An error without a place in a file.
pub(crate) fn placeless(code: Code, message: impl Into<String>) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        code,
        message: message.into(),
        labels: Vec::new(),
        notes: Vec::new(),
        help: Vec::new(),
        witness: Vec::new(),
    }
}

/// The word of `known` that `word` was most likely meant to be.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // A word of which every letter must change was not meant.
    let length = word.chars().count();
    let limit = (length / 3).max(2).min(length.saturating_sub(1));
    known
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many characters must be put in, taken out or replaced (Levenshtein). Words beyond 200 characters count as far.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(201).collect();
    if b.len() > 200 || a.chars().nth(200).is_some() {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let replaced = row[j] + usize::from(x != *y);
            next.push(replaced.min(row[j + 1] + 1).min(next[j] + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_its_word() {
        let known = ["check", "build", "inspect"];
        assert_eq!(nearest("biuld", known.into_iter()), Some("build"));
        assert_eq!(nearest("buid", known.into_iter()), Some("build"));
        assert_eq!(nearest("inpsect", known.into_iter()), Some("inspect"));
        assert_eq!(nearest("wombat", known.into_iter()), None);
    }

    #[test]
    fn the_distance_counts_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance(&"x".repeat(500), "x"), usize::MAX);
    }
}
