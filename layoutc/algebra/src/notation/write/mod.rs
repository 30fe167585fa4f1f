//! Export of layouts to notations of other tools: [`write()`] prints a [`Layout`] as a [`NotationText`]. Each
//! text is parsed again and proven to be the same map. A layout that the notation cannot express is an
//! [`Inexpressible`] error, which names the missing feature.

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

/// Size of an element, and its type if the exported text is to name it.
#[derive(Debug, Clone, Copy)]
pub struct ElementFormat<'a> {
    /// Size of an element in bits.
    pub bits: u32,
    /// Element type as manifests name it; `None` if the text should not include it.
    pub dtype: Option<&'a str>,
}

/// Layout written in the notation of another tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotationText {
    /// Text of the layout.
    pub text: String,
    /// Named sizes that accompany an einops pattern, such as `("c16", 16)`; empty for other notations.
    pub sizes: Vec<(String, i128)>,
    /// True if the text also gives the physical extents and the buffer size of the layout. False if these differ or are
    /// not proven equal: the text may lack padding after the last element.
    pub equal_sizes: bool,
}

impl From<String> for NotationText {
    fn from(text: String) -> Self {
        Self { text, sizes: Vec::new(), equal_sizes: true }
    }
}

/// Feature of a layout that a notation cannot express. Axes are given by position among the logical axes, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Inexpressible {
    /// The layout has more than one physical axis.
    #[error("separators: the memory has {rank} physical axes")]
    Separators {
        /// Number of physical axes.
        rank: usize,
    },
    /// The layout has a swizzle, or an index contains a bitwise operator or another operation that the notation lacks.
    #[error("a swizzle")]
    Swizzle,
    /// An index of the layout is not a weighted sum of mixed-radix digits of the axis indices.
    #[error("an index that is not a sum of digits")]
    NoDigits,
    /// The offset of the first element is not 0, for example because there is padding before it, or a constant is added
    /// to an index.
    #[error("an offset: the first element is not at slot 0")]
    Offset,
    /// An axis is stored in descending order of its index, with a negative stride.
    #[error("a negative stride")]
    Reversed {
        /// Position of the reversed axis.
        axis: usize,
    },
    /// Several axes are linearized, and the result is split into blocks, such as `(h * 8 + w) // 4`.
    #[error("blocks of linearized axes")]
    Merged {
        /// Positions of the linearized axes.
        axes: Vec<usize>,
    },
    /// An axis is split into several blocks, such as `c // 16` and `c % 16`, where the notation has one stride
    /// per axis.
    #[error("blocks of an axis")]
    Blocks {
        /// Position of the axis that is split.
        axis: usize,
    },
    /// An axis has more than one block besides its outermost part, such as `c // 4 % 4` and `c % 4` besides
    /// `c // 16`.
    #[error("two blocks of an axis")]
    TwoBlocks {
        /// Position of the axis with these blocks.
        axis: usize,
    },
    /// The layout has padding at a position where the notation cannot express it.
    #[error("this padding")]
    Padding,
    /// The blocks are in an order that the notation cannot express, such as `c % 4` outside of `c // 4 % 4` in a oneDNN
    /// tag.
    #[error("blocks in this order")]
    Order,
    /// Extents or strides depend on symbols, and the notation requires numbers.
    #[error("sizes known only at run time")]
    Symbolic,
    /// Strides are not whole numbers of bytes, in a notation with strides in bytes such as `NumPy`.
    #[error("elements that are not whole bytes")]
    Bits,
    /// The text cannot bind its letters to the axes. Either the axes are not in logical order and their names are not
    /// distinct single letters, or too few of the letters A to Z differ from all axis names.
    #[error("axes whose names are not letters")]
    Names,
    /// The extent of an axis is not a power of two, as Triton requires, and CuTe for a layout whose indices contain `^`
    /// or `&`.
    #[error("extents that are not powers of two")]
    PowerOfTwo {
        /// Position of the axis with this extent.
        axis: usize,
    },
    /// The tensor has more axes than the notation allows.
    #[error("{rank} axes: it has at most {most}")]
    Rank {
        /// Number of axes of the tensor.
        rank: usize,
        /// Maximum number of axes in the notation.
        most: usize,
    },
    /// The tensor has no axes, and the notation cannot write such a tensor.
    #[error("a tensor without axes")]
    Scalar,
    /// The tensor has no elements, because an extent is 0, and the notation cannot write such a tensor.
    #[error("a tensor without elements")]
    Empty,
    /// The layout has a domain, so that some indices within the shape are not elements.
    #[error("a domain: indices that are not elements")]
    Domain,
    /// No candidate text is proven to parse to the map of the layout.
    #[error("this layout")]
    RoundTrip,
    /// Error of arithmetic on expressions, such as an overflow.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

impl Inexpressible {
    fn merged(piece: &StridedBlock) -> Self {
        Self::Merged { axes: piece.axes.clone() }
    }
}

/// Exports a layout to a notation, and proves on `executor` that the text parses to the same map over the same
/// axes.
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
/// [`Inexpressible`]: the feature of the layout that the notation cannot express.
pub fn write(
    notation: Notation,
    layout: &Layout,
    elements: ElementFormat<'_>,
    executor: &dyn Executor,
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
        Notation::Cute => alloc::vec![cute::write(layout, elements.bits, executor)?],
        Notation::Einops => alloc::vec![einops::write(&flat()?, layout)?],
        Notation::Numpy => strides::numpy(&flat()?, layout, elements.bits)?,
        Notation::Mdspan => strides::mdspan(&flat()?, layout)?,
    };
    first_equivalent(candidates, notation, layout, elements.bits, executor)
}

/// First of `candidates` that parses in `notation` to the map and the buffer size of `layout`; if there is none, the
/// first that parses to its map. [`Inexpressible::RoundTrip`] if none parses to the map. `bits` is the size of an
/// element. The proofs run on `executor`.
fn first_equivalent(
    candidates: Vec<NotationText>,
    notation: Notation,
    layout: &Layout,
    bits: u32,
    executor: &dyn Executor,
) -> Result<NotationText, Inexpressible> {
    let mut found = None;
    for candidate in candidates {
        match round_trip(&candidate, notation, layout, bits, executor) {
            Some(true) => return Ok(candidate),
            Some(false) if found.is_none() => {
                found = Some(NotationText { equal_sizes: false, ..candidate });
            }
            _ => {}
        }
    }
    found.ok_or(Inexpressible::RoundTrip)
}

/// Comparison of `layout` with the exported text `written`, parsed again in `notation`. True if the maps and the buffer
/// sizes are equal, false if only the maps are equal, `None` if the maps are not proven equal. `bits` is the size of an
/// element.
fn round_trip(
    written: &NotationText,
    notation: Notation,
    layout: &Layout,
    bits: u32,
    executor: &dyn Executor,
) -> Option<bool> {
    let mut builder = LayoutBuilder::new(&layout.symbols, &layout.logical, bits).ok()?;
    super::apply(notation, &written.text, &written.sizes, &mut builder).ok()?;
    let read = builder.finish(layout.alignment_bytes, executor).ok()?;
    match compare(layout, &read, executor).ok()? {
        LayoutEquivalence::Same { equal_sizes } => Some(equal_sizes),
        LayoutEquivalence::Differs { .. }
        | LayoutEquivalence::Ranks { .. }
        | LayoutEquivalence::Undecided { .. } => None,
    }
}
