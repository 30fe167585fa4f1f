//! Layouts written in foreign notations. What is written is read again and proven the same map; a layout that the
//! notation cannot express is refused with what it lacks.

mod blocks;
mod cute;
mod einops;
mod flat;
mod glow;
mod mlir;
mod strides;
mod tags;
mod tiles;
mod triton;
mod xla;

use alloc::string::String;
use alloc::vec::Vec;

use thiserror::Error;

use super::Notation;
use crate::build::LayoutBuilder;
use crate::equivalence::{LayoutEquivalence, compare};
use crate::expr::ExprError;
use crate::layout::Layout;
use crate::proof::Executor;
use flat::{FlatLayout, StridedBlock};

/// What the elements are, as far as a text names them.
#[derive(Debug, Clone, Copy)]
pub struct ElementFormat<'a> {
    /// The bits of one.
    pub bits: u32,
    /// The element type in a manifest's words, if it is to stand in the text.
    pub dtype: Option<&'a str>,
}

/// A layout as another tool writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotationText {
    /// The text.
    pub text: String,
    /// The sizes that stand beside it, by name.
    pub sizes: Vec<(String, i128)>,
    /// Whether the text says the size of the buffer too: slots after the last element may be left out.
    pub equal_sizes: bool,
}

impl From<String> for NotationText {
    fn from(text: String) -> Self {
        Self { text, sizes: Vec::new(), equal_sizes: true }
    }
}

/// What a notation lacks for a layout. Axes are positions in the logical axes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Inexpressible {
    /// More than one physical axis.
    #[error("separators: the memory has {rank} axes")]
    Separators {
        /// The physical rank.
        rank: usize,
    },
    /// An index made with `^` or `&`.
    #[error("a swizzle")]
    Swizzle,
    /// An index that no weighted sum of digits is.
    #[error("an index that is no sum of digits")]
    NoDigits,
    /// Room before the first element.
    #[error("an offset: the first element does not lie at 0")]
    Offset,
    /// An axis that is stored backwards.
    #[error("a negative stride")]
    Reversed {
        /// The axis.
        axis: usize,
    },
    /// Blocks that run over several axes.
    #[error("blocks of several axes taken as one")]
    Merged {
        /// The axes.
        axes: Vec<usize>,
    },
    /// An axis in more than one piece.
    #[error("blocks of an axis")]
    Blocks {
        /// The axis.
        axis: usize,
    },
    /// An axis with more than one block.
    #[error("two blocks of an axis")]
    TwoBlocks {
        /// The axis.
        axis: usize,
    },
    /// Slots that hold nothing.
    #[error("this padding")]
    Padding,
    /// Pieces in an order that it does not have.
    #[error("blocks in this order")]
    Order,
    /// Extents or strides known only at run time.
    #[error("sizes known only at run time")]
    Symbolic,
    /// Elements that are no whole bytes.
    #[error("elements that are no whole bytes")]
    Bits,
    /// Axes whose names are no letters.
    #[error("axes whose names are no letters")]
    Names,
    /// An extent that is no power of two.
    #[error("extents that are no powers of two")]
    PowerOfTwo {
        /// The axis.
        axis: usize,
    },
    /// Too many axes.
    #[error("so many axes")]
    Rank {
        /// How many there are.
        rank: usize,
        /// How many there may be.
        most: usize,
    },
    /// A tensor of rank 0.
    #[error("a tensor without axes")]
    Scalar,
    /// A tensor without elements.
    #[error("a tensor without elements")]
    Empty,
    /// Indices of the shape that are no elements.
    #[error("indices that are no elements")]
    Domain,
    /// What was written did not come back as the same map.
    #[error("this layout")]
    RoundTrip,
    /// Too large, or beyond the integers.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

impl Inexpressible {
    fn merged(piece: &StridedBlock) -> Self {
        Self::Merged { axes: piece.axes.clone() }
    }
}

/// A layout in this notation, proven the same map when read again on the same axes.
///
/// # Errors
/// [`Inexpressible`]: what the notation lacks.
pub fn write(
    notation: Notation,
    layout: &Layout,
    elements: ElementFormat<'_>,
    machine: &dyn Executor,
) -> Result<NotationText, Inexpressible> {
    if layout.domain.is_some() {
        return Err(Inexpressible::Domain);
    }
    let flat = || FlatLayout::of(layout);
    let candidates = match notation {
        Notation::Mlir => mlir::write(layout)?,
        Notation::Triton => alloc::vec![triton::write(layout)?],
        Notation::Tvm => tags::tvm(&flat()?, layout)?,
        Notation::Xla => xla::write(&flat()?, layout, elements)?,
        Notation::Glow => alloc::vec![glow::write(&flat()?, layout, elements.bits)?],
        Notation::Onednn => tags::onednn(&flat()?, layout)?,
        Notation::Cute => alloc::vec![cute::write(layout, elements.bits, machine)?],
        Notation::Einops => alloc::vec![einops::write(&flat()?, layout)?],
        Notation::Numpy => strides::numpy(&flat()?, layout, elements.bits)?,
        Notation::Mdspan => strides::mdspan(&flat()?, layout)?,
    };
    first_equivalent(candidates, notation, layout, elements.bits, machine)
}

/// The first text that says the size of the buffer too, else the first one that is the same map.
fn first_equivalent(
    candidates: Vec<NotationText>,
    notation: Notation,
    layout: &Layout,
    bits: u32,
    machine: &dyn Executor,
) -> Result<NotationText, Inexpressible> {
    let mut found = None;
    for candidate in candidates {
        match round_trip(&candidate, notation, layout, bits, machine) {
            Some(true) => return Ok(candidate),
            Some(false) if found.is_none() => {
                found = Some(NotationText { equal_sizes: false, ..candidate });
            }
            _ => {}
        }
    }
    found.ok_or(Inexpressible::RoundTrip)
}

/// Whether the text, read again, is the same map; and if so, whether it has the same size.
fn round_trip(
    written: &NotationText,
    notation: Notation,
    layout: &Layout,
    bits: u32,
    machine: &dyn Executor,
) -> Option<bool> {
    let mut builder = LayoutBuilder::new(&layout.symbols, &layout.logical, bits).ok()?;
    super::apply(notation, &written.text, &written.sizes, &mut builder).ok()?;
    let read = builder.finish(layout.alignment_bytes, machine).ok()?;
    match compare(layout, &read, machine).ok()? {
        LayoutEquivalence::Same { equal_sizes } => Some(equal_sizes),
        LayoutEquivalence::Differs { .. }
        | LayoutEquivalence::Ranks { .. }
        | LayoutEquivalence::Undecided { .. } => None,
    }
}
