//! Errors of index maps ([`MapError`]), with their byte ranges in the text of the map.

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
    /// A name is neither a parameter of the map for a single axis (or an axis, if the map has no parameter list) nor a
    /// const, layout parameter or symbol in its scope. Contains the name.
    #[error("unknown name `{0}`: expected an axis, const, parameter or symbol")]
    UnknownName(String),
    /// The number of parameters of the map does not fit the number of axes that it is applied to.
    #[error("the map takes {}, but there are {}: {}", counted(*params), axes.len(), axes.join(", "))]
    Arity {
        /// Number of parameters of the map, not counting a `*` parameter.
        params: usize,
        /// Names of the axes that the map is applied to.
        axes: Vec<String>,
    },
    /// Two parameters of the map have this name.
    #[error("duplicate parameter `{0}`")]
    DuplicateParameter(String),
    /// A parameter of the map has the same name as a const or a parameter of the layout, which would become
    /// inaccessible.
    #[error("`{0}` hides a const or parameter of the same name")]
    Hides(String),
    /// Two items of the map declare this name for their storage axes.
    #[error("two storage axes are called `{0}`")]
    DuplicateName(String),
    /// An item `*name` is used without a `*` parameter of that name.
    #[error("`*{0}` does not name a `*` parameter")]
    UnknownStar(String),
    /// A `*` parameter that takes no axis leaves the group of storage axes before a separator empty.
    #[error("a separator leaves a group of axes empty")]
    EmptyGroup,
    /// The divisor of `//` or `%` contains an axis.
    #[error("the divisor is not a constant")]
    DivisorNotConstant,
    /// The lower bound of the divisor of `//` or `%`, over all values of the symbols, is below 1.
    #[error("expected a divisor of at least 1, found a minimum of {least}")]
    Divisor {
        /// Lower bound of the divisor, by interval arithmetic.
        least: i128,
    },
    /// The stated extent of a map item contains an axis.
    #[error("an extent cannot read an axis")]
    ExtentHasAxes,
    /// A function other than `morton`, `bitrev` and `hilbert` is called.
    #[error("unknown function `{0}`")]
    UnknownFunction(String),
    /// A function is called with a wrong number of arguments.
    #[error("wrong number of arguments for `{name}`: found {given}, expected {wanted}")]
    Arguments {
        /// Name of the called function.
        name: String,
        /// Description of the expected arguments for a message, such as "an expression and a number of bits".
        wanted: &'static str,
        /// Number of arguments in the call.
        given: usize,
    },
    /// The bounds of an argument of a function, by interval arithmetic, are not within `0..2^62`.
    #[error("argument of `{name}` ranges from {low} to {high}, expected 0 to 2^62")]
    ArgumentRange {
        /// Name of the called function.
        name: String,
        /// Lower bound of the argument.
        low: i128,
        /// Upper bound of the argument.
        high: i128,
    },
    /// An argument of `hilbert(row, column)` has a symbolic extent. A call without a stated box needs constant
    /// extents.
    #[error("argument of `{name}` has a symbolic extent, expected a constant one")]
    ArgumentExtent {
        /// Name of the called function.
        name: String,
        /// Upper bound of the extent of the argument over all values of the symbols.
        most: i128,
    },
    /// A stated extent of the box of `hilbert(row, column, rows, columns)` is not a positive constant. Valid are, for
    /// example, `8` and `2 * M` with a const `M`.
    #[error("side of the box is not a positive constant")]
    Side,
    /// The upper bound of an argument of `hilbert(row, column, rows, columns)` is not below the stated extent, `rows`
    /// or `columns`.
    #[error("index goes up to {high}, but the box ends at {}", extent.saturating_sub(1))]
    BeyondBox {
        /// Upper bound of the argument.
        high: i128,
        /// Stated extent that the argument must stay below.
        extent: i128,
    },
    /// The box of a call of `hilbert` has more than [`MAX_CELLS`] cells.
    #[error("box of {rows} by {columns} has {} cells, but `hilbert` supports at most {MAX_CELLS}", rows.saturating_mul(*columns))]
    Cells {
        /// Number of rows of the box.
        rows: i128,
        /// Number of columns of the box.
        columns: i128,
    },
    /// The second argument of `bitrev` is not a constant from 0 to 62. Valid are, for example, `4` and `2 * M` with a
    /// const `M`.
    #[error("number of bits is not a constant from 0 to 62")]
    Bits,
    /// An expression cannot be built or bounded, for example because it exceeds the size limits or a value overflows.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// Error of an index map, with its byte range in the text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind}")]
pub struct MapError {
    /// Rule of the map language that the text violates.
    pub kind: MapErrorKind,
    /// Byte range of the violation in the text of the map.
    pub span: Span,
}

/// Number of axes as text: `1 axis`, `2 axes`.
fn counted(axes: usize) -> String {
    if axes == 1 { String::from("1 axis") } else { format!("{axes} axes") }
}
