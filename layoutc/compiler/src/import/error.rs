//! Errors of the import.

use crate::base::diagnostic::Diagnostic;

/// Reason why a model was not imported.
#[derive(Debug, Clone, PartialEq)]
pub enum ImportError {
    /// Invalid option; one line.
    InvalidOption(String),
    /// Error in the model.
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
    /// Unknown operator.
    Operator,
    /// The shapes depend on data that is not constant.
    DataDependent(String),
    /// The operands do not match.
    Mismatch(String),
    /// The operands are not tensors; holds a description.
    NotTensor(&'static str),
    /// Element type without a counterpart here, by its number in ONNX.
    ElementType(i64),
}

pub(super) type ShapeResult<T> = Result<T, ShapeError>;

/// Error for operands that do not match.
pub(super) fn mismatch<T>(message: impl Into<String>) -> ShapeResult<T> {
    Err(ShapeError::Mismatch(message.into()))
}

/// Name of the model as printed: control characters escaped, truncated.
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

/// `[1, 64, 56, 56]`
pub(super) fn listed(shape: &[u64]) -> String {
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", extents.join(", "))
}
