//! Sharded tensors and conversions between shardings.

use layoutc_algebra::layout::{ProofMethod, Verdict};
use layoutc_algebra::sharding::{Mesh, Sharding};
use layoutc_algebra::symbol::Axis;

use crate::base::diagnostic::FileSpan;

/// Sharding of a tensor over a mesh of devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceSharding {
    /// Name of the mesh.
    pub mesh_name: String,
    /// Mesh of devices.
    pub mesh: Mesh,
    /// Mesh axes over which each tensor axis is sharded.
    pub sharding: Sharding,
    /// Axes of the whole tensor; sharded axes have constant extents.
    pub whole: Vec<Axis>,
    /// [`Verdict::Bijective`]: every index of every shard is an element; otherwise some indices are beyond the tensor.
    pub verdict: Verdict,
    /// Method of the proof that every element is at one position of one shard.
    pub proof: ProofMethod,
}

impl DeviceSharding {
    /// Number of devices. The check excludes an overflow.
    pub fn devices(&self) -> i64 {
        self.mesh.devices().unwrap_or(1)
    }

    /// True if some indices of some shards are beyond the tensor.
    pub fn is_uneven(&self) -> bool {
        self.verdict == Verdict::Padded
    }

    /// Extents of the whole tensor, in elements; `None` if one depends on a symbol.
    pub fn extents(&self) -> Option<Vec<i128>> {
        self.whole.iter().map(|axis| axis.extent.as_const()).collect()
    }
}

/// Checked conversion of a logical tensor between shardings and layouts. Axes are matched by name: `axes[k]` is the
/// position in `to` of axis `k` of `from`.
#[derive(Debug, Clone)]
pub struct Reshard {
    /// Position of the source in [`super::Manifest::tensors`].
    pub from: usize,
    /// Position of the destination in [`super::Manifest::tensors`].
    pub to: usize,
    /// For each axis of `from`, its position in `to`.
    pub axes: Vec<usize>,
    /// Limit on the bytes of message buffers per device, if set.
    pub max_staging: Option<i64>,
    /// Span in the manifest.
    pub place: FileSpan,
}
