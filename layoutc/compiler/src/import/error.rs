//! Why a model was not imported.

use crate::diagnostic::Diagnostic;

/// Why there is no manifest.
#[derive(Debug, Clone, PartialEq)]
pub enum ImportError {
    /// What was asked for is at fault: one line.
    Asked(String),
    /// The model is.
    Faulty(Box<Diagnostic>),
}

impl From<Box<Diagnostic>> for ImportError {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self::Faulty(diagnostic)
    }
}

/// Why the shapes of an operator's results are not known.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ShapeError {
    /// The operator is none that is known here.
    Operator,
    /// They depend on what is only known when the model runs.
    DataDependent(String),
    /// The operands do not go together.
    Mismatch(String),
    /// They are no tensors: what they are.
    NotTensor(&'static str),
    /// The elements are of a type that there is none of here, by its number in ONNX.
    ElementType(i64),
}

/// Shapes, or why there are none.
pub(super) type ShapeResult<T> = Result<T, ShapeError>;

/// Operands that do not go together.
pub(super) fn mismatch<T>(message: impl Into<String>) -> ShapeResult<T> {
    Err(ShapeError::Mismatch(message.into()))
}

/// A name of the model as it is shown: no control character, and not too long.
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
