//! Export of layouts to foreign notations. Each text is parsed again and proven to be the same map; a layout that the
//! notation cannot express is an error that names the missing feature.

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
use crate::builder::LayoutBuilder;
use crate::expr::ExprError;
use crate::layout::Layout;
use crate::prove::Executor;
use crate::query::equivalence::{LayoutEquivalence, compare};
use flat::{FlatLayout, StridedBlock};

/// Element type, as far as a text names it.
#[derive(Debug, Clone, Copy)]
pub struct ElementFormat<'a> {
    /// Size of an element in bits.
    pub bits: u32,
    /// Element type as manifests name it, if the text is to include it.
    pub dtype: Option<&'a str>,
}

/// A layout in a foreign notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotationText {
    /// Layout in the notation.
    pub text: String,
    /// Named sizes that accompany the text.
    pub sizes: Vec<(String, i128)>,
    /// True if the text implies the size of the buffer too. Otherwise slots after the last element may be missing.
    pub equal_sizes: bool,
}

impl From<String> for NotationText {
    fn from(text: String) -> Self {
        Self { text, sizes: Vec::new(), equal_sizes: true }
    }
}

/// Feature of a layout that a notation lacks. Axes are positions in the logical axes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Inexpressible {
    /// More than one physical axis.
    #[error("separators: the memory has {rank} physical axes")]
    Separators {
        /// Number of physical axes.
        rank: usize,
    },
    /// An index with `^` or `&`.
    #[error("a swizzle")]
    Swizzle,
    /// An index that is not a weighted sum of digits.
    #[error("an index that is not a sum of digits")]
    NoDigits,
    /// Padding before the first element.
    #[error("an offset: the first element is not at slot 0")]
    Offset,
    /// A reversed axis.
    #[error("a negative stride")]
    Reversed {
        /// Position of the axis.
        axis: usize,
    },
    /// Blocks of linearized axes.
    #[error("blocks of linearized axes")]
    Merged {
        /// Positions of the axes.
        axes: Vec<usize>,
    },
    /// An axis in several blocks.
    #[error("blocks of an axis")]
    Blocks {
        /// Position of the axis.
        axis: usize,
    },
    /// An axis with more than one block besides the outer one.
    #[error("two blocks of an axis")]
    TwoBlocks {
        /// Position of the axis.
        axis: usize,
    },
    /// Padding that the notation cannot express.
    #[error("this padding")]
    Padding,
    /// An order of blocks that the notation cannot express.
    #[error("blocks in this order")]
    Order,
    /// Symbolic extents or strides.
    #[error("sizes known only at run time")]
    Symbolic,
    /// Strides that are not whole bytes.
    #[error("elements that are not whole bytes")]
    Bits,
    /// Axes whose names are not letters.
    #[error("axes whose names are not letters")]
    Names,
    /// An extent that is not a power of two.
    #[error("extents that are not powers of two")]
    PowerOfTwo {
        /// Position of the axis.
        axis: usize,
    },
    /// More axes than the notation allows.
    #[error("{rank} axes: it has at most {most}")]
    Rank {
        /// Rank of the tensor.
        rank: usize,
        /// Maximum rank of the notation.
        most: usize,
    },
    /// A tensor of rank 0.
    #[error("a tensor without axes")]
    Scalar,
    /// A tensor without elements.
    #[error("a tensor without elements")]
    Empty,
    /// A domain: indices within the shape that are not elements.
    #[error("a domain: indices that are not elements")]
    Domain,
    /// The exported text does not parse to the same map.
    #[error("this layout")]
    RoundTrip,
    /// An error of integer arithmetic.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

impl Inexpressible {
    fn merged(piece: &StridedBlock) -> Self {
        Self::Merged { axes: piece.axes.clone() }
    }
}

/// Exports a layout to a notation, and proves that the text parses to the same map on the same axes.
///
/// ```
/// use layoutc_algebra::notation::Notation;
/// use layoutc_algebra::notation::write::{ElementFormat, write};
/// use layoutc_algebra::{Error, Layout, SequentialExecutor};
///
/// let layout = Layout::builder([("n", 4), ("c", 32)]).map("(n, c) -> (c // 16, n, c % 16)")?.prove()?;
/// let elements = ElementFormat { bits: 32, dtype: None };
/// let text = |notation| Ok::<_, Error>(write(notation, &layout, elements, &SequentialExecutor)?.text);
/// assert_eq!(text(Notation::Cute)?, "(4,(16,2)):(16,(1,64))");
/// assert_eq!(text(Notation::Tvm)?, "CN16c");
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// [`Inexpressible`]: the missing feature.
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

/// First candidate that implies the size of the buffer too, else the first that is the same map.
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

/// Parses the text again: `Some` if it is the same map, with true if the size is equal too.
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
