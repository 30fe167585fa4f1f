//! Axes of a tensor, and symbols, which stand for extents that are known only at run time.

use alloc::string::String;

use crate::expr::Expr;

/// Axis of a tensor: a name and an extent.
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
    /// Name of the axis, unique among the axes of a tensor, or among the axes that a step produces.
    pub name: String,
    /// Extent of the axis, an expression over symbols; a constant if it is static.
    pub extent: Expr,
}

/// Symbol for a value that is known only at run time, with its declared range.
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
    /// Name of the symbol in expressions, such as `batch`.
    pub name: String,
    /// Lower bound of the value, inclusive, at least 0.
    pub min: i128,
    /// Upper bound of the value, inclusive.
    pub max: i128,
    /// Number that divides every value of the symbol, at least 1.
    pub multiple: i128,
}
