//! Errors of the import.

use crate::base::diagnostic::Diagnostic;

/// Reason why a model could not be imported.
#[derive(Debug, Clone, PartialEq)]
pub enum ImportError {
    /// An option of the import is invalid; the message is one line.
    InvalidOption(String),
    /// The model has an error.
    Faulty(Box<Diagnostic>),
}

impl From<Box<Diagnostic>> for ImportError {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self::Faulty(diagnostic)
    }
}

/// Reason why the shapes of an operator's results are unknown.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ShapeError {
    /// The operator is unknown.
    Operator,
    /// The shapes depend on data that is not constant; the text names it.
    DataDependent(String),
    /// The operands do not match each other or the attributes; the text says how.
    Mismatch(String),
    /// The operands are not tensors; the text describes them.
    NotTensor(&'static str),
    /// An element type does not exist in layoutc; the number is that of ONNX.
    ElementType(i64),
}

pub(super) type ShapeResult<T> = Result<T, ShapeError>;

/// Error for operands that do not match, with a message.
pub(super) fn mismatch<T>(message: impl Into<String>) -> ShapeResult<T> {
    Err(ShapeError::Mismatch(message.into()))
}

/// A name of the model for messages: control characters are escaped, and long names are cut.
pub(super) fn shown(name: &str) -> String {
    let mut shown = String::new();
    for c in name.chars().take(120) {
        if c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ' {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
    }
    if name.chars().nth(120).is_some() {
        shown.push('…');
    }
    shown
}

/// Shape as text: `[1, 64, 56, 56]`
pub(super) fn listed(shape: &[u64]) -> String {
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", extents.join(", "))
}
