//! Sharded tensors and conversions between shardings.

use layoutc_algebra::layout::{ProofMethod, Verdict};
use layoutc_algebra::sharding::{Mesh, Sharding};
use layoutc_algebra::symbol::Axis;

use crate::base::diagnostic::FileSpan;

/// Sharding of a tensor over a mesh of devices, with its proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceSharding {
    /// Name of the mesh in the manifest.
    pub mesh_name: String,
    /// Mesh of devices over which the tensor is sharded.
    pub mesh: Mesh,
    /// Mesh axes over which each tensor axis is sharded.
    pub sharding: Sharding,
    /// Axes of the whole tensor; sharded axes have constant extents.
    pub whole: Vec<Axis>,
    /// Verdict of the proof: [`Verdict::Bijective`] if every index of every shard is an element of the tensor,
    /// [`Verdict::Padded`] if some indices are beyond the tensor.
    pub verdict: Verdict,
    /// Method of the proof that every element of the tensor is at exactly one position of one shard.
    pub proof: ProofMethod,
}

impl DeviceSharding {
    /// Number of devices of the mesh: the product of its axis sizes. The check has rejected meshes where it overflows.
    pub fn devices(&self) -> i64 {
        self.mesh.devices().unwrap_or(1)
    }

    /// True if some indices of some shards are beyond the tensor, so that those shards are padded.
    pub fn is_uneven(&self) -> bool {
        self.verdict == Verdict::Padded
    }

    /// Extents of the whole tensor, in elements; `None` if one depends on a symbol.
    pub fn extents(&self) -> Option<Vec<i128>> {
        self.whole.iter().map(|axis| axis.extent.as_const()).collect()
    }
}

/// Checked conversion of a logical tensor between shardings and layouts, with data exchange between devices. Axes are
/// matched by name: `axes[k]` is the position in `to` of axis `k` of `from`.
#[derive(Debug, Clone)]
pub struct Reshard {
    /// Position of the source in [`super::Manifest::tensors`].
    pub from: usize,
    /// Position of the destination in [`super::Manifest::tensors`].
    pub to: usize,
    /// Positions in `to` of the axes of `from`, one for each axis of `from` in order: `[1, 0]` if `from` has the axes
    /// N, C and `to` has C, N.
    pub axes: Vec<usize>,
    /// Maximum number of bytes of message buffers per device; `None` if no limit is set.
    pub max_staging: Option<i64>,
    /// Span of the conversion in the manifest.
    pub place: FileSpan,
}
