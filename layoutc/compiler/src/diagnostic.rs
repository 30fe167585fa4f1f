//! What a user is told when something is wrong: code, place, figures, a way out.

use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use layoutc_algebra::notation::NotationFaultKind;
use serde::{Deserialize, Serialize};

use crate::codes::Code;

/// How bad it is. Only errors keep outputs from being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// Nothing is built.
    Error,
    /// Worth a look.
    Warning,
}

/// A place in a file: UTF-8 bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileSpan {
    /// The path as given.
    pub file: Arc<str>,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl FileSpan {
    /// A place in `file`.
    pub fn new(file: &Arc<str>, span: Range<usize>) -> Self {
        Self { file: Arc::clone(file), start: span.start, end: span.end }
    }
}

/// A place with what there is to say of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Where.
    pub place: FileSpan,
    /// What; may be empty.
    pub message: String,
    /// Whether this is the place of the fault, not of something it refers to.
    pub primary: bool,
}

/// A change of a text that mends a fault, or brings it nearer to what was meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// What is replaced; empty where something is inserted.
    pub place: FileSpan,
    /// What stands there afterwards.
    pub text: String,
}

impl Fix {
    /// What it does to the text `old` at its place, in one line.
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

/// One diagnostic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The stable code.
    pub code: Code,
    /// One line, lower case, values in backticks.
    pub message: String,
    /// The places, the primary one first. Empty only for faults without a place in a file.
    pub labels: Vec<Label>,
    /// The figures, one line each (printed as `= …`).
    pub notes: Vec<String>,
    /// Ways out, one line each (printed as `= help: …`).
    pub help: Vec<String>,
    /// Those ways out that are a change of the text: each of them alone is one.
    pub fixes: Vec<Fix>,
    /// Logical indices that show the fault: two that share a slot, or one that leaves the shape. Empty if none.
    pub witness: Vec<Vec<i128>>,
}

impl Diagnostic {
    /// An error without a place in a file.
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

    /// An error at a place; the label's message may be empty.
    pub fn error(
        code: Code,
        message: impl Into<String>,
        place: FileSpan,
        label: impl Into<String>,
    ) -> Self {
        let label = Label { place, message: label.into(), primary: true };
        Self { labels: vec![label], ..Self::without_span(code, message) }
    }

    /// A warning at a place.
    pub fn warning(
        code: Code,
        message: impl Into<String>,
        place: FileSpan,
        label: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message, place, label) }
    }

    /// The same with a figure below.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.add_note(note);
        self
    }

    /// The same with a way out below.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.add_help(help);
        self
    }

    /// The same with a change of the text that is a way out.
    #[must_use]
    pub fn fix(mut self, place: FileSpan, text: impl Into<String>) -> Self {
        self.fixes.push(Fix { place, text: text.into() });
        self
    }

    /// The same with what was probably meant by the words at its first place.
    #[must_use]
    pub fn with_suggestion(mut self, near: impl Display) -> Self {
        self.add_suggestion(near);
        self
    }

    /// Adds what was probably meant by the words at its first place.
    pub fn add_suggestion(&mut self, near: impl Display) {
        self.add_help(format!("did you mean `{near}`?"));
        self.add_fix(near.to_string());
    }

    /// Adds a change of the words at its first place.
    pub fn add_fix(&mut self, text: impl Into<String>) {
        let place = self.labels.first().map(|label| label.place.clone());
        self.fixes.extend(place.map(|place| Fix { place, text: text.into() }));
    }

    /// The same with a place that the fault refers to.
    #[must_use]
    pub fn with_label(mut self, place: FileSpan, message: impl Into<String>) -> Self {
        self.add_label(place, message);
        self
    }

    /// Adds a figure below.
    pub fn add_note(&mut self, note: impl Into<String>) -> &mut Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a way out below.
    pub fn add_help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help.push(help.into());
        self
    }

    /// Adds a place that the fault refers to.
    pub fn add_label(&mut self, place: FileSpan, message: impl Into<String>) -> &mut Self {
        self.labels.push(Label { place, message: message.into(), primary: false });
        self
    }

    /// The same with the logical indices that show the fault.
    #[must_use]
    pub fn witness(mut self, witness: Vec<Vec<i128>>) -> Self {
        self.witness = witness;
        self
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
