//! Tensors on many devices: what each holds, and the exchange of parts.

use layoutc_algebra::layout::{Axis, ProofMethod, Verdict};
use layoutc_algebra::sharding::{Mesh, Sharding};

use crate::diagnostic::FileSpan;

/// What each device holds of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceSharding {
    /// The name of the mesh.
    pub mesh_name: String,
    /// The devices.
    pub mesh: Mesh,
    /// Which of its axes cut which of the tensor's.
    pub sharding: Sharding,
    /// The axes of the whole tensor; those that are cut have integers as extents.
    pub whole: Vec<Axis>,
    /// [`Verdict::Bijective`]: every index of every part is an element; else some lie beyond the tensor.
    pub verdict: Verdict,
    /// How it was proven that an element is at one place of one part.
    pub proof: ProofMethod,
}

impl DeviceSharding {
    /// How many devices there are; the check has counted them.
    pub fn devices(&self) -> i64 {
        self.mesh.devices().unwrap_or(1)
    }

    /// Whether some indices of some parts lie beyond the tensor.
    pub fn is_uneven(&self) -> bool {
        self.verdict == Verdict::Padded
    }

    /// The extents of the whole tensor, in elements; `None` where one depends on a symbol.
    pub fn extents(&self) -> Option<Vec<i128>> {
        self.whole.iter().map(|axis| axis.extent.as_const()).collect()
    }
}

/// A checked conversion between devices: the same logical tensor from one sharding and layout to another. Axes are
/// matched by name: `axes[k]` is the position in `to` of axis `k` of `from`.
#[derive(Debug, Clone)]
pub struct Reshard {
    /// Position of the source in [`super::Manifest::tensors`].
    pub from: usize,
    /// Position of the destination in [`super::Manifest::tensors`].
    pub to: usize,
    /// For each axis of `from`, its position in `to`.
    pub axes: Vec<usize>,
    /// The most bytes that copies on the way may take on a device, where that is said.
    pub max_staging: Option<i64>,
    /// Where it stands in the manifest.
    pub place: FileSpan,
}
