//! Ring buffers: tensors of which memory holds only a window of consecutive indices along one axis.

use layoutc_algebra::symbol::Axis;

/// Ring buffer along an axis: index `k` is stored at index `k % capacity` of the layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ring {
    /// Position of the ring's axis among the tensor's axes.
    pub axis: usize,
    /// Number of consecutive indices along the axis that memory holds, at least 1.
    pub capacity: i128,
    /// Axes of the whole tensor; the extent of the ring's axis may exceed the capacity.
    pub whole: Vec<Axis>,
}

impl Ring {
    /// Name of the ring's axis.
    pub fn name(&self) -> &str {
        self.whole.get(self.axis).map_or("", |axis| axis.name.as_str())
    }
}
