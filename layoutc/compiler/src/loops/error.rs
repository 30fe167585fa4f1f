//! Error of planning and lowering.

use thiserror::Error;

use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};

/// Maximum depth of a lowered expression: JSON readers commonly stop at 128 levels.
pub(crate) const MAX_DEPTH: u32 = 96;

/// Error of planning a function, or of lowering it to IR.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// An integer literal of the function does not fit 64 bits.
    #[error("`{value}` does not fit 64 bits")]
    Literal {
        /// Value that does not fit.
        value: i128,
    },
    /// Inconsistent input of the planner: for example a variable without a binding in the scope, or a loop, buffer or
    /// statement that does not exist.
    #[error("an expression mentions a variable that is not in scope")]
    Scope,
    /// The expression is deeper than 96 levels.
    #[error("an expression nests deeper than {MAX_DEPTH} levels")]
    Depth,
    /// A macro that is generated for an index function is too long. Floor division expands its dividend twice.
    #[error("the macro `{name}` would have {nodes} terms, and the most are {most}")]
    Macro {
        /// Identifier of the macro in generated code.
        name: String,
        /// Number of nodes of the expression that the macro expands to.
        nodes: u64,
        /// Maximum number of nodes of such an expression.
        most: u64,
    },
    /// The manifest requests something that the planner cannot do, such as a schedule that cannot be followed.
    #[error("{message}")]
    Choice {
        /// Message: the request, and why it is not possible.
        message: String,
        /// Help: a possible alternative.
        help: String,
        /// Location of the request.
        place: FileSpan,
    },
    /// An expression of the algebra cannot be built or evaluated: for example it overflows, becomes too large or has an
    /// unbound variable.
    #[error(transparent)]
    Expr(#[from] layoutc_algebra::expr::ExprError),
}

impl PlanError {
    /// Diagnostic with the code `limit::choice` for [`PlanError::Choice`]; `None` for any other error.
    pub(crate) fn refusal(&self) -> Option<Diagnostic> {
        let Self::Choice { message, help, place } = self else { return None };
        Some(Diagnostic::error(Code::LimitChoice, message, place.clone(), "").help(help))
    }
}
