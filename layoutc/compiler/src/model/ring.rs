//! Tensors of which memory holds some indices of an axis at a time.

use layoutc_algebra::layout::Axis;

/// What memory holds of a tensor: index `k` of the axis lies where index `k % held` of the layout does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ring {
    /// The position of the axis.
    pub axis: usize,
    /// How many of its indices are in memory, which are neighbours; from 1.
    pub held: i128,
    /// The axes of the whole tensor.
    pub whole: Vec<Axis>,
}

impl Ring {
    /// The name of the axis.
    pub fn name(&self) -> &str {
        self.whole.get(self.axis).map_or("", |axis| axis.name.as_str())
    }
}
