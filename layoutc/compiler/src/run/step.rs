//! What a plan does, with names resolved to slots and symbols to numbers.

use super::packed::Packing;
use super::share::Share;
use super::value::Program;

/// How elements lie in both buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// Each is so many bytes.
    Bytes(usize),
    /// They share bytes.
    Packed(Packing),
}

/// What is written to an element.
#[derive(Debug, Clone)]
pub(super) enum Operand {
    /// The element of the source at this index.
    Load(Program),
    /// These bytes.
    Constant(Vec<u8>),
}

/// A loop that writes one element a round.
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

/// A loop.
#[derive(Debug, Clone)]
pub(super) struct Loop {
    pub(super) slot: usize,
    pub(super) from: Program,
    pub(super) to: Program,
    pub(super) step: i64,
    pub(super) body: Vec<Step>,
    /// How its rounds, or those of a loop inside, may be shared out.
    pub(super) share: Option<Share>,
}

/// A statement. Offsets, strides and lengths are in bytes.
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
    /// `from`, `from_stride`, `to`, `to_stride`, `count`, `bytes`.
    Runs(Box<[Program; 6]>),
    /// `from`, `from_stride`, `to`, `to_stride`, `rows`, `columns`.
    Transpose {
        element_bytes: u32,
        block: Box<[Program; 6]>,
    },
    /// `to`, `to_stride`, `count`, `bytes`.
    Zeros(Box<[Program; 4]>),
    /// What the plan rests on.
    Assert {
        condition: Program,
    },
}
