//! Typed syntax of `access` nodes, which state how the threads of a warp access a tensor.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr, SpannedText};
use crate::machine::GpuVendor;
use crate::warp::AccessDirection;

/// Access of warps to a tensor: `access load from="(lane, k : 4) -> (lane % 16, k * 16 + lane // 16 * 8)" vector=8`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccessItem {
    /// Name that the access declares.
    pub name: Identifier,
    /// Map from the lane, and from indices of iterations, to the logical index of the first element that the lane
    /// accesses. A parameter may state its extent: `k : 4`.
    pub map: SpannedText,
    /// Number of elements that a lane accesses; `None`: 1.
    pub vector: Option<IntegerExpr>,
    /// Logical axis along which the elements of a vector are adjacent; `None`: the last axis.
    pub along: Option<Identifier>,
    /// Direction of the access; `None`: a read.
    pub direction: Option<AccessDirection>,
    /// Vendor of the GPU whose memory system is accessed; `None`: NVIDIA.
    pub gpu: Option<GpuVendor>,
    /// Byte range of the `access` node in the file.
    pub span: Range<usize>,
}
