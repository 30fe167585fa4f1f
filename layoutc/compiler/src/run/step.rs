//! Steps of a lowered plan: variables are slots, and symbols are constants.

use super::packed::Packing;
use super::share::Share;
use super::value::Program;

/// Storage format of the elements of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// Elements of this many bytes each.
    Bytes(usize),
    /// Elements of fewer than 8 bits, packed into a bit stream.
    Packed(Packing),
}

/// Value that a store writes.
#[derive(Debug, Clone)]
pub(super) enum Operand {
    /// Element of the source at this index, in elements.
    Load(Program),
    /// Bytes of a constant element.
    Constant(Vec<u8>),
}

/// Loop whose body is a single store of one element. The variable `slot` takes the values `from`, `from + step`, …
/// below `to`. `index` is the destination index, in elements, and `operand` the stored value. `width` is the storage
/// format of the destination.
#[derive(Debug, Clone)]
pub(super) struct Each {
    pub(super) slot: usize,
    pub(super) from: Program,
    pub(super) to: Program,
    pub(super) step: i64,
    pub(super) width: Width,
    pub(super) index: Program,
    pub(super) operand: Operand,
}

/// Loop `for (slot = from; slot < to; slot += step)`.
#[derive(Debug, Clone)]
pub(super) struct Loop {
    pub(super) slot: usize,
    pub(super) from: Program,
    pub(super) to: Program,
    pub(super) step: i64,
    pub(super) body: Vec<Step>,
    /// Loop to parallelize, this one or one nested in it; `None` if the nest runs serially.
    pub(super) share: Option<Share>,
}

/// Statement. Offsets, strides and lengths are in bytes, except in [`Step::Each`].
#[derive(Debug, Clone)]
pub(super) enum Step {
    Let {
        slot: usize,
        value: Program,
    },
    Loop(Loop),
    If {
        condition: Program,
        body: Vec<Step>,
        otherwise: Vec<Step>,
    },
    Each(Each),
    Copy {
        from: Program,
        to: Program,
        bytes: Program,
    },
    /// Copy of equally spaced runs; operands `from`, `from_stride`, `to`, `to_stride`, `count`, `bytes` (of one run).
    Runs(Box<[Program; 6]>),
    /// Transpose of a block; operands `from`, `from_stride`, `to`, `to_stride`, `rows`, `columns`.
    Transpose {
        element_bytes: u32,
        block: Box<[Program; 6]>,
    },
    /// Zero fill of equally spaced runs; operands `to`, `to_stride`, `count`, `bytes` (of one run).
    Zeros(Box<[Program; 4]>),
    /// Precondition of the plan. Execution fails with `RunError::Symbols` if the condition is 0.
    Assert {
        condition: Program,
    },
}
