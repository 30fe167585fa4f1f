//! Typed syntax of the memory of a tensor.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, SpannedText};

/// Memory of a tensor: `memory shared`, `memory image2d format=rgba access=read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryItem {
    /// Kind of the memory: a built-in one or a memory space.
    pub kind: MemoryKind,
    /// Channel order of an image, such as `rgba`; `None` if not given.
    pub format: Option<SpannedText>,
    /// Access mode of an image, `read`, `write` or `read-write`; `None` if not given.
    pub access: Option<SpannedText>,
    /// Byte range of the `memory` node in the file.
    pub span: Range<usize>,
}

/// Name of a memory as written: a built-in keyword or a declared memory space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryKind {
    /// Built-in kind of memory, given by a keyword.
    Kind(Memory),
    /// Memory space that the project declares, given by its name.
    Space(Identifier),
}

/// Kind of memory in which a tensor is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Memory {
    /// `global`: ordinary buffer in global memory.
    Global,
    /// `constant`: read-only buffer in constant memory.
    Constant,
    /// `image2d` or `texture`: two-dimensional image.
    Image2d,
    /// `image2d-array`: array of two-dimensional images.
    Image2dArray,
    /// `shared`: CUDA shared memory of a thread block.
    Shared,
    /// `local`: OpenCL local memory of a work-group.
    Local,
    /// `none`: no memory; only constants and index functions are generated.
    None,
}
