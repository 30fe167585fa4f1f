//! Faults of texts in notations of other tools ([`NotationFault`]), and a reader for such texts.

use alloc::string::String;

use thiserror::Error;

use crate::expr::parse::Span;

pub(crate) mod cursor;

/// Cause of a fault in a text: the grammar, the axes, a value, or a missing feature of layoutc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotationFaultKind {
    /// The text does not match the grammar.
    Syntax,
    /// The text does not fit the axes of the tensor, such as a permutation of three axes for a tensor of rank 4.
    Axes,
    /// The text matches the grammar, but a value in it has no meaning, such as an extent of 0 in a CuTe shape.
    Value,
    /// The text is valid for its tool, but has a feature that layoutc does not support, such as a negative stride.
    Unsupported,
}

/// Fault of a text in the notation of another tool, with its byte range in the text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct NotationFault {
    /// Cause of the fault: the grammar, the axes, a value, or a missing feature.
    pub kind: NotationFaultKind,
    /// Message of the fault for the user.
    pub message: String,
    /// Byte range of the fault in the text.
    pub span: Span,
    /// Change of the text that avoids the fault; `None` if none is known.
    pub help: Option<String>,
}

impl NotationFault {
    fn new(kind: NotationFaultKind, span: Span, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), span, help: None }
    }

    pub(crate) fn syntax(span: Span, message: impl Into<String>) -> Self {
        Self::new(NotationFaultKind::Syntax, span, message)
    }

    pub(crate) fn axes(span: Span, message: impl Into<String>) -> Self {
        Self::new(NotationFaultKind::Axes, span, message)
    }

    pub(crate) fn value(span: Span, message: impl Into<String>) -> Self {
        Self::new(NotationFaultKind::Value, span, message)
    }

    pub(crate) fn unsupported(span: Span, message: impl Into<String>) -> Self {
        Self::new(NotationFaultKind::Unsupported, span, message)
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
