//! The diagnostics of one file while it is read: collected, capped, one per cause.

use std::ops::Range;
use std::sync::Arc;

use super::lex::NESTING_LIMIT;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, FileSpan};

/// How many faults of KDL itself are told of one file.
const SYNTAX_LIMIT: usize = 20;

/// The diagnostics found so far.
#[derive(Debug)]
pub(super) struct DiagnosticSink {
    file: Arc<str>,
    found: Vec<Diagnostic>,
    /// Whether a string without an end, or a `//` that was not meant as a comment, swallowed the tail of a line: a brace
    /// may be missing for that reason, and is not complained of.
    pub(super) tail_lost: bool,
}

impl DiagnosticSink {
    /// None yet, of `file`.
    pub(super) fn new(file: &Arc<str>) -> Self {
        Self { file: Arc::clone(file), found: Vec::new(), tail_lost: false }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.found.len()
    }

    /// A place in the file.
    pub(super) fn place(&self, span: Range<usize>) -> FileSpan {
        FileSpan::new(&self.file, span)
    }

    /// Adds an error; the caller may add help to it.
    pub(super) fn error(
        &mut self,
        code: Code,
        message: impl Into<String>,
        span: Range<usize>,
        label: impl Into<String>,
    ) -> &mut Diagnostic {
        let diagnostic = Diagnostic::error(code, message, self.place(span), label);
        self.found.push_mut(diagnostic)
    }

    /// Adds the error of `what` nested deeper than the limit.
    pub(super) fn nesting(&mut self, what: &str, span: Range<usize>) {
        let message = format!("{what} nested deeper than {NESTING_LIMIT}");
        let label = format!("level {}", NESTING_LIMIT + 1);
        let fault = self.error(Code::KdlNesting, message, span, label);
        fault.add_help("close one before the next begins");
    }

    /// Cuts the faults of KDL off at the limit and says how many are not shown.
    pub(super) fn cap(&mut self) {
        let left_out = self.found.len().saturating_sub(SYNTAX_LIMIT);
        self.found.truncate(SYNTAX_LIMIT);
        if let (Some(last), 1..) = (self.found.last_mut(), left_out) {
            last.add_note(format!("{left_out} more of this file are not shown"));
        }
    }

    /// All of them, in the order of the file.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|d| d.labels.first().map_or(0, |label| label.place.start));
        self.found
    }
}
