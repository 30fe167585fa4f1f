//! Names with extents: the axes of a tensor, and the symbols whose values are known at run time.

use alloc::string::String;

use crate::expr::Expr;

/// An axis: a name and an extent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The name, unique among the axes of one list.
    pub name: String,
    /// The extent, a simplified expression over symbols; a constant if static.
    pub extent: Expr,
}

/// A run-time extent, with its declared range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name in expressions.
    pub name: String,
    /// Lower bound, at least 0.
    pub min: i128,
    /// Upper bound.
    pub max: i128,
    /// Divisor of every value, at least 1.
    pub multiple: i128,
}
