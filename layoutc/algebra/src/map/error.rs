//! Errors of an index map, with their spans in its text.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use thiserror::Error;

use crate::expr::ExprError;
use crate::expr::curve::MAX_CELLS;
use crate::expr::parse::Span;

/// Violation of a rule of the map language.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MapErrorKind {
    /// A name that is not bound in the map's scope.
    #[error("unknown name `{0}`: expected an axis, const, parameter or symbol")]
    UnknownName(String),
    /// The number of parameters differs from the number of axes.
    #[error("the map takes {}, but there are {}: {}", counted(*params), axes.len(), axes.join(", "))]
    Arity {
        /// Number of parameters, not counting a `*` parameter.
        params: usize,
        /// Names of the axes that the map is applied to.
        axes: Vec<String>,
    },
    /// A parameter that is declared twice.
    #[error("duplicate parameter `{0}`")]
    DuplicateParameter(String),
    /// A parameter that shadows a const or a layout parameter.
    #[error("`{0}` hides a const or parameter of the same name")]
    Hides(String),
    /// Two items with the same explicit name.
    #[error("two storage axes are called `{0}`")]
    DuplicateName(String),
    /// `*name` without a `*` parameter of that name.
    #[error("`*{0}` does not name a `*` parameter")]
    UnknownStar(String),
    /// A separator behind a `*` parameter that matches no axis.
    #[error("a separator leaves a group of axes empty")]
    EmptyGroup,
    /// A divisor that reads an axis.
    #[error("the divisor is not a constant")]
    DivisorNotConstant,
    /// A divisor that can be 0 or negative.
    #[error("expected a divisor of at least 1, found a minimum of {least}")]
    Divisor {
        /// Least value of the divisor.
        least: i128,
    },
    /// A declared extent that reads an axis.
    #[error("an extent cannot read an axis")]
    ExtentHasAxes,
    /// A call of an unknown function.
    #[error("unknown function `{0}`")]
    UnknownFunction(String),
    /// A call with a wrong number of arguments.
    #[error("wrong number of arguments for `{name}`: found {given}, expected {wanted}")]
    Arguments {
        /// Name of the function.
        name: String,
        /// Expected arguments, as prose.
        wanted: &'static str,
        /// Number of arguments in the call.
        given: usize,
    },
    /// An argument that can be negative, or is not bounded below 2^62.
    #[error("argument of `{name}` ranges from {low} to {high}, expected 0 to 2^62")]
    ArgumentRange {
        /// Name of the function.
        name: String,
        /// Least value of the argument.
        low: i128,
        /// Greatest value of the argument.
        high: i128,
    },
    /// An argument whose extent is symbolic, where the function needs a constant one and no box is given.
    #[error("argument of `{name}` has a symbolic extent, expected a constant one")]
    ArgumentExtent {
        /// Name of the function.
        name: String,
        /// Greatest extent that the symbol's range allows.
        most: i128,
    },
    /// A side of a box that is not a positive constant.
    #[error("side of the box is not a positive constant")]
    Side,
    /// An argument that exceeds the declared side of its box.
    #[error("index goes up to {high}, but the box ends at {}", extent.saturating_sub(1))]
    BeyondBox {
        /// Greatest value of the argument.
        high: i128,
        /// Declared extent of that side.
        extent: i128,
    },
    /// A box with more than [`MAX_CELLS`] cells.
    #[error("box of {rows} by {columns} has {} cells, but `hilbert` supports at most {MAX_CELLS}", rows.saturating_mul(*columns))]
    Cells {
        /// Extent of the row argument.
        rows: i128,
        /// Extent of the column argument.
        columns: i128,
    },
    /// A number of bits that is not a constant from 0 to 62.
    #[error("number of bits is not a constant from 0 to 62")]
    Bits,
    /// An error of integer arithmetic.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// An error, with its span in the map's text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind}")]
pub struct MapError {
    /// Violated rule.
    pub kind: MapErrorKind,
    /// Byte range in the text.
    pub span: Span,
}

/// `1 axis`, `2 axes`.
fn counted(axes: usize) -> String {
    if axes == 1 { String::from("1 axis") } else { format!("{axes} axes") }
}
