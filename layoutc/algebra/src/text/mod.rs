//! Texts of foreign notations: their faults, and a cursor over them.

use alloc::string::String;

use thiserror::Error;

use crate::expr::parse::Span;

pub(crate) mod cursor;

/// Class of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotationFaultKind {
    /// The text does not match the grammar.
    Syntax,
    /// The text does not fit the tensor's axes.
    Axes,
    /// The text matches the grammar but has no meaning.
    Value,
    /// The text has a meaning that layoutc does not support.
    Unsupported,
}

/// A fault of a text, with its span.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct NotationFault {
    /// Class of the fault.
    pub kind: NotationFaultKind,
    /// Message for the user.
    pub message: String,
    /// Byte range of the fault.
    pub span: Span,
    /// A change that works.
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
