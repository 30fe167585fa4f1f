//! Typed syntax of the conditions of `require` nodes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Decimal, Identifier, IntegerExpr, SpannedText};

/// Condition of a `require` node, such as `bijective`, with its location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateItem {
    /// Condition with its bound or axis.
    pub kind: GateKind,
    /// Byte range in the file of the condition's words, without `require`.
    pub span: Range<usize>,
}

/// Condition that a `require` node states and the tensor's layout must meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum GateKind {
    /// `bijective`: every position of the buffer holds an element, that is, there is no padding.
    Bijective,
    /// `padding-below=0.10`: exclusive upper bound of the fraction of the buffer that is padding.
    PaddingBelow(Decimal),
    /// `bytes-below="64 MiB"`: exclusive upper bound of the buffer's size in bytes.
    BytesBelow(IntegerExpr),
    /// `contiguous c`: consecutive indices along an axis are adjacent in memory.
    Contiguous(Identifier),
    /// `vector=4`: aligned vector loads and stores of this number of elements are possible.
    Vector(IntegerExpr),
    /// `fits`: the tensor is no larger than its memory space.
    Fits,
    /// `same-as=other`: the tensor stores every element at the same offset as the tensor `other`.
    SameAs(Identifier),
    /// `conflict-free access="load store"`: the named accesses to the tensor in shared memory have no bank conflicts;
    /// empty: all accesses.
    ConflictFree(Vec<SpannedText>),
    /// `coalesced access=load`: each request of the named accesses to the tensor in global memory touches no more
    /// sectors than its bytes fill; empty: all accesses.
    Coalesced(Vec<SpannedText>),
}
