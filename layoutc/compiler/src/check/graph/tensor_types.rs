//! Types of graph tensors, independent of the layout: axes with constant extents, and element type.

use std::fmt;

use crate::base::dtype::Dtype;

/// Name, axes and element type of a graph's tensor. The axes are outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GraphTensorType {
    pub(super) name: String,
    pub(super) axes: Vec<StaticAxis>,
    pub(super) dtype: Dtype,
}

/// Axis of a tensor with a constant extent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StaticAxis {
    pub(super) name: String,
    pub(super) extent: i128,
}

impl GraphTensorType {
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.axes.iter().position(|axis| axis.name == name)
    }

    /// Extent of the first axis `name`; `None` if there is none.
    pub(super) fn named(&self, name: &str) -> Option<i128> {
        self.extent(self.position(name)?)
    }

    /// Extent of the axis at `position`, counted from the outermost; `None` if there are fewer axes.
    pub(super) fn extent(&self, position: usize) -> Option<i128> {
        self.axes.get(position).map(|axis| axis.extent)
    }

    /// Number of elements of the tensor; `None` on overflow.
    pub(super) fn elements(&self) -> Option<i128> {
        self.axes.iter().try_fold(1_i128, |all, axis| all.checked_mul(axis.extent))
    }
}

/// Prints the name and the axes of the tensor, without its element type: `` `x` (N 1, H 8, W 8, C 16) ``
impl fmt::Display for GraphTensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: Vec<String> =
            self.axes.iter().map(|axis| format!("{} {}", axis.name, axis.extent)).collect();
        let axes = if axes.is_empty() { "no axes".to_owned() } else { axes.join(", ") };
        write!(f, "`{}` ({axes})", self.name)
    }
}
