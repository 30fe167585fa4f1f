//! Errors of index maps, with their byte ranges in the text of the map.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use thiserror::Error;

use crate::expr::ExprError;
use crate::expr::curve::MAX_CELLS;
use crate::expr::parse::Span;

/// Rule of the map language that a text violates.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MapErrorKind {
    /// A name is not bound in the scope of the map.
    #[error("unknown name `{0}`: expected an axis, const, parameter or symbol")]
    UnknownName(String),
    /// The number of parameters of the map differs from the number of axes that it is applied to.
    #[error("the map takes {}, but there are {}: {}", counted(*params), axes.len(), axes.join(", "))]
    Arity {
        /// Number of parameters, not counting a `*` parameter.
        params: usize,
        /// Names of the axes that the map is applied to.
        axes: Vec<String>,
    },
    /// A parameter is declared twice.
    #[error("duplicate parameter `{0}`")]
    DuplicateParameter(String),
    /// A parameter has the name of a const or of a layout parameter, which it would hide.
    #[error("`{0}` hides a const or parameter of the same name")]
    Hides(String),
    /// Two items have the same explicit name.
    #[error("two storage axes are called `{0}`")]
    DuplicateName(String),
    /// A spread `*name` is used without a `*` parameter of that name.
    #[error("`*{0}` does not name a `*` parameter")]
    UnknownStar(String),
    /// A `*` parameter that matches no axis leaves a group between separators empty.
    #[error("a separator leaves a group of axes empty")]
    EmptyGroup,
    /// A divisor contains an axis.
    #[error("the divisor is not a constant")]
    DivisorNotConstant,
    /// A divisor can be 0 or negative.
    #[error("expected a divisor of at least 1, found a minimum of {least}")]
    Divisor {
        /// Least value that the divisor can have.
        least: i128,
    },
    /// A declared extent contains an axis.
    #[error("an extent cannot read an axis")]
    ExtentHasAxes,
    /// A function is called that does not exist.
    #[error("unknown function `{0}`")]
    UnknownFunction(String),
    /// A function is called with a wrong number of arguments.
    #[error("wrong number of arguments for `{name}`: found {given}, expected {wanted}")]
    Arguments {
        /// Name of the function.
        name: String,
        /// Expected arguments, worded for a message.
        wanted: &'static str,
        /// Number of arguments in the call.
        given: usize,
    },
    /// An argument of a function can be negative, or is not bounded below 2^62.
    #[error("argument of `{name}` ranges from {low} to {high}, expected 0 to 2^62")]
    ArgumentRange {
        /// Name of the function.
        name: String,
        /// Least value of the argument.
        low: i128,
        /// Greatest value of the argument.
        high: i128,
    },
    /// An argument of a function has a symbolic extent, although no box is given and the function needs a
    /// constant extent.
    #[error("argument of `{name}` has a symbolic extent, expected a constant one")]
    ArgumentExtent {
        /// Name of the function.
        name: String,
        /// Greatest extent that the ranges of the symbols allow.
        most: i128,
    },
    /// A declared side of a box is not a positive constant.
    #[error("side of the box is not a positive constant")]
    Side,
    /// An argument can exceed the declared side of its box.
    #[error("index goes up to {high}, but the box ends at {}", extent.saturating_sub(1))]
    BeyondBox {
        /// Greatest value of the argument.
        high: i128,
        /// Declared extent of that side of the box.
        extent: i128,
    },
    /// A box has more than [`MAX_CELLS`] cells.
    #[error("box of {rows} by {columns} has {} cells, but `hilbert` supports at most {MAX_CELLS}", rows.saturating_mul(*columns))]
    Cells {
        /// Number of rows of the box.
        rows: i128,
        /// Number of columns of the box.
        columns: i128,
    },
    /// A number of bits is not a constant from 0 to 62.
    #[error("number of bits is not a constant from 0 to 62")]
    Bits,
    /// An error of integer arithmetic.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// Error of an index map, with its byte range in the text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind}")]
pub struct MapError {
    /// Rule that is violated.
    pub kind: MapErrorKind,
    /// Byte range of the violation in the text of the map.
    pub span: Span,
}

/// Number of axes as text: `1 axis`, `2 axes`.
fn counted(axes: usize) -> String {
    if axes == 1 { String::from("1 axis") } else { format!("{axes} axes") }
}
