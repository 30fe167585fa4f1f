//! Nested integers, [`IntTuple`], which represent shapes, strides and coordinates of CuTe.

use alloc::vec::Vec;
use core::fmt;

/// Nested integers of CuTe: an integer, or a tuple of `IntTuple`s.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IntTuple {
    /// Single integer, such as `4`.
    Integer(i128),
    /// Tuple of nested integers, such as `(4,(2,2))`.
    List(Vec<IntTuple>),
}

impl IntTuple {
    /// Product of all integers; `None` if it overflows 128 bits.
    pub fn product(&self) -> Option<i128> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::List(list) => {
                list.iter().try_fold(1_i128, |n, item| n.checked_mul(item.product()?))
            }
        }
    }
}

impl fmt::Display for IntTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::List(list) => {
                f.write_str("(")?;
                for (k, item) in list.iter().enumerate() {
                    let comma = if k == 0 { "" } else { "," };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str(")")
            }
        }
    }
}
