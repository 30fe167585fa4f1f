//! Names with extents: the axes of a tensor, and the symbols whose values are known at run time.

use alloc::string::String;

use crate::expr::Expr;

/// An axis: a name and an extent.
///
/// ```
/// use layoutc_algebra::{Axis, Expr, Layout};
///
/// let layout = Layout::builder([("n", 16), ("c", 128)]).prove()?;
/// assert_eq!(layout.logical()[1], Axis { name: "c".into(), extent: Expr::constant(128) });
/// # Ok::<(), layoutc_algebra::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The name, unique among the axes of one list.
    pub name: String,
    /// The extent, a simplified expression over symbols; a constant if static.
    pub extent: Expr,
}

/// A run-time extent, with its declared range.
///
/// ```
/// use layoutc_algebra::Symbol;
///
/// // 8, 12, 16, …, 100
/// let batch = Symbol { name: "batch".into(), min: 5, max: 102, multiple: 4 };
/// assert_eq!((batch.least(), batch.greatest()), (8, 100));
/// ```
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
