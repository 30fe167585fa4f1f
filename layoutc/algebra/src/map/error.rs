//! What is wrong with a map, and where.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use thiserror::Error;

use crate::curve::MAX_CELLS;
use crate::expr::ExprError;
use crate::parse::Span;

/// What is wrong with a map.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MapErrorKind {
    /// A name that nothing has here.
    #[error("`{0}` is no axis, const, parameter or symbol here")]
    UnknownName(String),
    /// The parameters do not match the axes.
    #[error("the map takes {}, and there are {}: {}", counted(*params), axes.len(), axes.join(", "))]
    Arity {
        /// How many the parameters take.
        params: usize,
        /// The axes at hand.
        axes: Vec<String>,
    },
    /// A parameter that stands twice.
    #[error("the parameter `{0}` stands twice")]
    DuplicateParameter(String),
    /// A parameter or axis with the name of a const or layout parameter.
    #[error("`{0}` hides a const or parameter of the same name")]
    Hides(String),
    /// Two items with one written name.
    #[error("two storage axes are called `{0}`")]
    DuplicateName(String),
    /// `*name` where no parameter is so called.
    #[error("`*{0}` names no `*` parameter")]
    UnknownStar(String),
    /// A divisor that holds an axis.
    #[error("the divisor is not a constant")]
    DivisorNotConstant,
    /// A divisor that is zero or negative, or a symbol that may be.
    #[error("the divisor is not known to be positive: it can be {least}")]
    Divisor {
        /// The least value it takes.
        least: i128,
    },
    /// A stated extent that holds an axis.
    #[error("an extent holds no axes")]
    ExtentHasAxes,
    /// A function that does not exist.
    #[error("`{0}` is no function")]
    UnknownFunction(String),
    /// Another number of arguments than the function takes.
    #[error("`{name}` takes {wanted}, and here are {given}")]
    Arguments {
        /// The function.
        name: String,
        /// What it takes.
        wanted: &'static str,
        /// How many were given.
        given: usize,
    },
    /// An argument that may be below 0, or has no greatest value below 2^62.
    #[error("`{name}` takes what lies in 0 to 2^62, and this lies in {low} to {high}")]
    ArgumentRange {
        /// The function.
        name: String,
        /// The least value.
        low: i128,
        /// The greatest value.
        high: i128,
    },
    /// A function of a box is given what has no greatest value that is known.
    #[error("`{name}` takes what has a constant extent, and this ends at a symbol")]
    ArgumentExtent {
        /// The function.
        name: String,
        /// The greatest extent that the symbol gives it.
        most: i128,
    },
    /// A side of a box that is no constant from 1 up.
    #[error("a side of the box is no constant of at least 1")]
    Side,
    /// An argument that goes beyond the box that is written.
    #[error("this goes up to {high}, and the box ends at {}", extent.saturating_sub(1))]
    BeyondBox {
        /// The greatest value.
        high: i128,
        /// The extent that is written.
        extent: i128,
    },
    /// A box of more cells than a curve goes through.
    #[error("a box of {rows} by {columns} has {} cells, and `hilbert` takes up to {MAX_CELLS}", rows.saturating_mul(*columns))]
    Cells {
        /// The extent of the first argument.
        rows: i128,
        /// That of the second one.
        columns: i128,
    },
    /// A number of bits that is no constant from 0 to 62.
    #[error("the number of bits is no constant from 0 to 62")]
    Bits,
    /// Too large, or beyond the integers.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// What is wrong, and where in the map's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapError {
    /// What.
    pub kind: MapErrorKind,
    /// Where, in bytes of the text.
    pub span: Span,
}

/// `1 axis`, `2 axes`.
fn counted(axes: usize) -> String {
    if axes == 1 { String::from("1 axis") } else { format!("{axes} axes") }
}
