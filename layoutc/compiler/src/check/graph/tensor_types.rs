//! What is known of a tensor of a graph whatever its layout is: its axes with their extents, and its element type.

use std::fmt;

use crate::dtype::Dtype;

/// A tensor's axes and element type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GraphTensorType {
    /// Its name.
    pub(super) name: String,
    /// Its axes, with their extents.
    pub(super) axes: Vec<StaticAxis>,
    /// Its element type.
    pub(super) dtype: Dtype,
}

/// An axis and its extent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StaticAxis {
    pub(super) name: String,
    pub(super) extent: i128,
}

impl GraphTensorType {
    /// The position of the axis of a name.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|axis| axis.name == name)
    }

    /// The extent of the axis of a name.
    pub(super) fn named(&self, name: &str) -> Option<i128> {
        self.extent(self.position(name)?)
    }

    /// The extent of the axis at a position.
    pub(super) fn extent(&self, position: usize) -> Option<i128> {
        self.axes.get(position).map(|axis| axis.extent)
    }

    /// How many elements it has; `None` where they are more than 128 bits count.
    pub(super) fn elements(&self) -> Option<i128> {
        self.axes.iter().try_fold(1_i128, |all, axis| all.checked_mul(axis.extent))
    }
}

/// `` `x` (N 1, H 8, W 8, C 16) ``
impl fmt::Display for GraphTensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: Vec<String> =
            self.axes.iter().map(|axis| format!("{} {}", axis.name, axis.extent)).collect();
        let axes = if axes.is_empty() { "no axes".to_owned() } else { axes.join(", ") };
        write!(f, "`{}` ({axes})", self.name)
    }
}
