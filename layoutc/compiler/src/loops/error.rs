//! Error of plans.

use thiserror::Error;

use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};

/// Maximum depth of a lowered expression: JSON readers commonly stop at 128 levels.
pub(crate) const MAX_DEPTH: u32 = 96;

/// Error of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// A literal does not fit 64 bits.
    #[error("`{value}` does not fit 64 bits")]
    Literal {
        /// Value of the literal.
        value: i128,
    },
    /// A variable has no binding in the scope.
    #[error("an expression mentions a variable that is not in scope")]
    Scope,
    /// The expression is deeper than 96 levels.
    #[error("an expression nests deeper than {MAX_DEPTH} levels")]
    Depth,
    /// A macro is too long: floor division expands its dividend twice.
    #[error("the macro `{name}` would have {nodes} terms, and the most are {most}")]
    Macro {
        /// Name of the macro.
        name: String,
        /// Number of terms of the macro.
        nodes: u64,
        /// Maximum number of terms.
        most: u64,
    },
    /// The manifest requests a schedule that is not possible.
    #[error("{message}")]
    Choice {
        /// Message: the request, and why it is not possible.
        message: String,
        /// Help: a possible alternative.
        help: String,
        /// Location of the request.
        place: FileSpan,
    },
    /// An expression cannot be built.
    #[error(transparent)]
    Expr(#[from] layoutc_algebra::expr::ExprError),
}

impl PlanError {
    /// Diagnostic of [`PlanError::Choice`]; `None` for any other error.
    pub(crate) fn refusal(&self) -> Option<Diagnostic> {
        let Self::Choice { message, help, place } = self else { return None };
        Some(Diagnostic::error(Code::LimitChoice, message, place.clone(), "").help(help))
    }
}
