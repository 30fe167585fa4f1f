//! Errors of the ONNX import, and text forms of names and shapes for their messages.

use crate::base::diagnostic::Diagnostic;

/// Reason why an ONNX model could not be imported.
#[derive(Debug, Clone, PartialEq)]
pub enum ImportError {
    /// An option of the import does not match the model; the member is the message.
    InvalidOption(String),
    /// The model is malformed, unsupported or too large, as the diagnostic says.
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
    /// No shape rule exists for the operator, or for this use of it.
    Operator,
    /// The shapes cannot be inferred, mostly because they depend on data that is not constant. The text gives the
    /// reason: "how many boxes are left is known only when the model runs".
    DataDependent(String),
    /// The operands or attributes are invalid, or do not match each other. The text describes the fault: "axis 4 is out
    /// of range for rank 3".
    Mismatch(String),
    /// Operands or results are not tensors; the text describes them: "sequences of tensors".
    NotTensor(&'static str),
    /// layoutc has no corresponding element type; the member is the type's number in ONNX's `TensorProto.DataType`.
    ElementType(i64),
}

pub(super) type ShapeResult<T> = Result<T, ShapeError>;

/// Error [`ShapeError::Mismatch`] with a message.
pub(super) fn mismatch<T>(message: impl Into<String>) -> ShapeResult<T> {
    Err(ShapeError::Mismatch(message.into()))
}

/// Name from the model for messages. Characters other than letters, digits, ASCII punctuation and the space are escaped
/// as `\u{…}`. A name of more than 120 characters is cut after 120 and ends in `…`.
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

/// Shape as text, outermost extent first: `[1, 64, 56, 56]`.
pub(super) fn listed(shape: &[u64]) -> String {
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", extents.join(", "))
}
