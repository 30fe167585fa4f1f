//! Diagnostics of all stages: [`Diagnostic`] with its code, labels, notes, help texts and fixes; results of checks.

use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use layoutc_algebra::notation::{NotationFault, NotationFaultKind};
use serde::{Deserialize, Serialize};

use crate::base::codes::Code;
use crate::base::nearest::nearest;

/// Maximum number of known names that a help text lists.
const LISTED: usize = 12;

/// Severity of a diagnostic. Files are written only if there is no error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// Fault that prevents the output of files.
    Error,
    /// Remark on a probable mistake; files are written.
    Warning,
}

/// Range of UTF-8 bytes in a file, with the path of the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileSpan {
    /// Path of the file, as in the request of the caller, or resolved from the `use` of another manifest.
    pub file: Arc<str>,
    /// Byte offset in the file of the first byte of the range.
    pub start: usize,
    /// Byte offset in the file of the end of the range: one past its last byte.
    pub end: usize,
}

impl FileSpan {
    /// Span of the byte range `span` in `file`.
    pub fn new(file: &Arc<str>, span: Range<usize>) -> Self {
        Self { file: Arc::clone(file), start: span.start, end: span.end }
    }
}

/// Span of a diagnostic with a message that is shown at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Span that the label points at.
    pub place: FileSpan,
    /// Message shown at the span; may be empty.
    pub message: String,
    /// True at the location of the fault, false at a related location.
    pub primary: bool,
}

/// Suggested edit of a file that corrects a fault, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// Span to replace; empty for an insertion.
    pub place: FileSpan,
    /// Text that replaces the span; empty for a deletion.
    pub text: String,
}

impl Fix {
    /// One-line description of the edit: "replace `a` by `b`", "insert `b`" or "take `a` out". `old` is the text at the
    /// span of the edit. White space in each text is reduced to single spaces, and a text of more than 60 characters is
    /// cut.
    pub fn label(&self, old: &str) -> String {
        let short = |text: &str| {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let mut short: String = line.chars().take(60).collect();
            if short.len() < line.len() {
                short.push('…');
            }
            short
        };
        match (old, self.text.as_str()) {
            ("", new) => format!("insert `{}`", short(new)),
            (old, "") => format!("take `{}` out", short(old)),
            (old, new) => format!("replace `{}` by `{}`", short(old), short(new)),
        }
    }
}

/// Error or warning, with the labels, notes, help texts and fixes that are shown with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Severity of the diagnostic: error or warning.
    pub severity: Severity,
    /// Code that identifies the kind of the diagnostic across versions; printed after the severity:
    /// `error[graph::shape]`.
    pub code: Code,
    /// Main message: one line, with values in backticks.
    pub message: String,
    /// Labels, the primary one first. Empty only for faults without a location in a file.
    pub labels: Vec<Label>,
    /// Notes, one line each (printed as `= …`).
    pub notes: Vec<String>,
    /// Suggestions, one line each (printed as `= help: …`).
    pub help: Vec<String>,
    /// Suggested edits of the text, each of which can be applied alone.
    pub fixes: Vec<Fix>,
    /// Logical indices of elements that show the fault, for example of two elements that share a slot, or of one that
    /// is out of bounds. Empty if the fault has no such elements.
    pub witness: Vec<Vec<i128>>,
}

impl Diagnostic {
    /// Error without a location in a file.
    pub fn without_span(code: Code, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            fixes: Vec::new(),
            witness: Vec::new(),
        }
    }

    /// Error at a span; the label's message may be empty.
    pub fn error(
        code: Code,
        message: impl Into<String>,
        place: FileSpan,
        label: impl Into<String>,
    ) -> Self {
        let label = Label { place, message: label.into(), primary: true };
        Self { labels: vec![label], ..Self::without_span(code, message) }
    }

    /// Error for `fault`, found in a text in another tool's notation, such as einops. It is labeled at `place`, and has
    /// the code of the fault's kind.
    pub fn in_notation(fault: NotationFault, place: FileSpan) -> Self {
        let error = Self::error(fault.kind.into(), fault.message, place, "");
        Self { help: fault.help.into_iter().collect(), ..error }
    }

    /// Returns the diagnostic located at `place`: its only label is a primary one there with an empty message. Earlier
    /// labels are removed.
    #[must_use]
    pub fn at(self, place: FileSpan) -> Self {
        let label = Label { place, message: String::new(), primary: true };
        Self { labels: vec![label], ..self }
    }

    /// Warning at a span; the label's message may be empty.
    pub fn warning(
        code: Code,
        message: impl Into<String>,
        place: FileSpan,
        label: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message, place, label) }
    }

    /// Returns the diagnostic with another note, one line.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.add_note(note);
        self
    }

    /// Returns the diagnostic with another help line.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.add_help(help);
        self
    }

    /// Returns the diagnostic with another fix, which replaces the text at `place`.
    #[must_use]
    pub fn fix(mut self, place: FileSpan, text: impl Into<String>) -> Self {
        self.fixes.push(Fix { place, text: text.into() });
        self
    }

    /// Returns the diagnostic with `near` as the suggested replacement of the text at the primary label, both as a help
    /// line ("did you mean `near`?") and as a fix. A diagnostic without labels gets no fix.
    #[must_use]
    pub fn with_suggestion(mut self, near: impl Display) -> Self {
        self.add_suggestion(near);
        self
    }

    /// Adds `near` as the suggested replacement of the text at the primary label, both as a help line ("did you mean
    /// `near`?") and as a fix. A diagnostic without labels gets no fix.
    pub fn add_suggestion(&mut self, near: impl Display) {
        self.add_help(format!("did you mean `{near}`?"));
        self.add_fix(near.to_string());
    }

    /// Returns the diagnostic with the name of `known` that is most similar to `name` as a suggestion; unchanged if no
    /// name is similar.
    #[must_use]
    pub fn nearest<'a>(self, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(name, known) {
            Some(near) => self.with_suggestion(near),
            None => self,
        }
    }

    /// Returns the diagnostic with the name of `known` that is most similar to `name` as a suggestion. If no name is
    /// similar, it gets a help line that lists the known names, at most 12 (`tensors here: …`, where `what` is
    /// "tensors"), or says that there are none.
    #[must_use]
    pub fn nearest_or_all<'a>(
        self,
        name: &str,
        what: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        if let Some(near) = nearest(name, known.iter().copied()) {
            self.with_suggestion(near)
        } else if known.is_empty() {
            self.help(format!("declare it first: there are no {what} here"))
        } else {
            let listed = known.get(..LISTED).unwrap_or(&known).join("`, `");
            let more = if known.len() > LISTED { ", …" } else { "" };
            self.help(format!("{what} here: `{listed}`{more}"))
        }
    }

    /// Adds a fix that replaces the text at the primary label; adds nothing to a diagnostic without labels.
    pub fn add_fix(&mut self, text: impl Into<String>) {
        let place = self.labels.first().map(|label| label.place.clone());
        self.fixes.extend(place.map(|place| Fix { place, text: text.into() }));
    }

    /// Returns the diagnostic with another label, at a related location.
    #[must_use]
    pub fn with_label(mut self, place: FileSpan, message: impl Into<String>) -> Self {
        self.add_label(place, message);
        self
    }

    /// Adds a note.
    pub fn add_note(&mut self, note: impl Into<String>) -> &mut Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a help line.
    pub fn add_help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help.push(help.into());
        self
    }

    /// Adds a label at a related location, which is not the primary one.
    pub fn add_label(&mut self, place: FileSpan, message: impl Into<String>) -> &mut Self {
        self.labels.push(Label { place, message: message.into(), primary: false });
        self
    }

    /// Returns the diagnostic with the logical indices that show the fault; see the field `witness`.
    #[must_use]
    pub fn witness(mut self, witness: Vec<Vec<i128>>) -> Self {
        self.witness = witness;
        self
    }
}

/// Result of a check: a value, or the faults that were found. The list of faults is empty if they have already been
/// reported.
pub(crate) type CheckResult<T> = Result<T, Vec<Diagnostic>>;

impl From<Diagnostic> for Vec<Diagnostic> {
    fn from(diagnostic: Diagnostic) -> Self {
        vec![diagnostic]
    }
}

/// Values of all results, in order, if every check succeeded; otherwise the faults of all failed checks, in order.
pub(crate) fn collect_all<T>(
    results: impl IntoIterator<Item = CheckResult<T>>,
) -> CheckResult<Vec<T>> {
    let (mut values, mut faults) = (Vec::new(), None);
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(found) => faults.get_or_insert_with(Vec::new).extend(found),
        }
    }
    faults.map_or(Ok(values), Err)
}

/// Pair of both values if both checks succeeded. Otherwise the faults of those that failed: first those of `a`, then
/// those of `b`.
pub(crate) fn collect_both<A, B>(a: CheckResult<A>, b: CheckResult<B>) -> CheckResult<(A, B)> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (a, b) => Err([a.err(), b.err()].into_iter().flatten().flatten().collect()),
    }
}

impl From<NotationFaultKind> for Code {
    fn from(kind: NotationFaultKind) -> Self {
        match kind {
            NotationFaultKind::Syntax => Code::NotationSyntax,
            NotationFaultKind::Axes => Code::NotationAxes,
            NotationFaultKind::Value => Code::NotationValue,
            NotationFaultKind::Unsupported => Code::NotationUnsupported,
        }
    }
}

/// Sorts diagnostics by the file and the position of the primary label, then by code, and removes each that is equal to
/// the one before it. Equal ones arise, for example, if two tensors use one faulty transform.
pub fn sort(diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.sort_by(|a, b| {
        let place = |d: &Diagnostic| d.labels.first().map(|label| label.place.clone());
        place(a).cmp(&place(b)).then(a.code.cmp(&b.code))
    });
    diagnostics.dedup();
}
