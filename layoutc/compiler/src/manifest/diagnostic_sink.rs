//! Collects the diagnostics of one file while it is parsed.

use std::ops::Range;
use std::sync::Arc;

use super::lex::NESTING_LIMIT;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};

/// Maximum number of KDL syntax errors reported for one file.
const SYNTAX_LIMIT: usize = 20;

/// Diagnostics of one file that are reported so far.
#[derive(Debug)]
pub(super) struct DiagnosticSink {
    file: Arc<str>,
    found: Vec<Diagnostic>,
    /// True if an unclosed string, or a `//` that was meant as a division, may hide a brace. Errors about missing
    /// braces are then not reported.
    pub(super) tail_lost: bool,
}

impl DiagnosticSink {
    /// Creates an empty sink for the diagnostics of `file`.
    pub(super) fn new(file: &Arc<str>) -> Self {
        Self { file: Arc::clone(file), found: Vec::new(), tail_lost: false }
    }

    /// Number of diagnostics reported so far.
    pub(super) fn count(&self) -> usize {
        self.found.len()
    }

    /// Span of the byte range `span` in the file.
    pub(super) fn place(&self, span: Range<usize>) -> FileSpan {
        FileSpan::new(&self.file, span)
    }

    /// Reports an error at byte range `span` and returns its diagnostic, so that the caller can add help; `label` is
    /// the text at the range, empty for none.
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

    /// Reports that `what`, such as `blocks`, is nested deeper than [`NESTING_LIMIT`]; `span` is the location, such as
    /// that of the first opening delimiter beyond the limit.
    pub(super) fn nesting(&mut self, what: &str, span: Range<usize>) {
        let message = format!("{what} nested deeper than {NESTING_LIMIT}");
        let label = format!("level {}", NESTING_LIMIT + 1);
        let fault = self.error(Code::KdlNesting, message, span, label);
        fault.add_help("close one before opening the next");
    }

    /// Truncates the diagnostics to [`SYNTAX_LIMIT`], and adds a note with the number of dropped ones. Called when only
    /// KDL syntax errors are reported so far.
    pub(super) fn cap(&mut self) {
        let left_out = self.found.len().saturating_sub(SYNTAX_LIMIT);
        self.found.truncate(SYNTAX_LIMIT);
        if let (Some(last), 1..) = (self.found.last_mut(), left_out) {
            last.add_note(format!("{left_out} more errors in this file are not shown"));
        }
    }

    /// All reported diagnostics, ordered by position in the file.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|d| d.labels.first().map_or(0, |label| label.place.start));
        self.found
    }
}
