//! Ring buffers: tensors of which memory holds only some indices of an axis at a time.

use layoutc_algebra::symbol::Axis;

/// Ring buffer along an axis: index `k` is stored at index `k % capacity` of the layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ring {
    /// Position of the axis.
    pub axis: usize,
    /// Number of consecutive indices in memory, at least 1.
    pub capacity: i128,
    /// Axes of the whole tensor.
    pub whole: Vec<Axis>,
}

impl Ring {
    /// Name of the axis.
    pub fn name(&self) -> &str {
        self.whole.get(self.axis).map_or("", |axis| axis.name.as_str())
    }
}
