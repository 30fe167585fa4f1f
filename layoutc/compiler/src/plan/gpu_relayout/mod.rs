//! Kernels: what the work items of a launch do.
//!
//! Between buffers whose layouts are sums of digits, groups of items move tiles: they read in the order of
//! the source and write in that of the destination, through local memory where the two disagree. Elsewhere an item
//! writes one piece of the destination and reads what belongs there: an element, a byte of packed elements, or a texel
//! of an image. So no two items write the same memory, padding gets its fill on the way, and nothing has to be written
//! twice. A layout without an inverse in closed form is the exception: an item reads one element and writes it where it
//! belongs, and padding is filled by a kernel that runs first.

mod body;
mod bounds;
mod digits;
mod find;
mod item;
mod reach;
mod staging;
mod steps;
mod tile;
mod tiled;
mod turn;
mod wide;

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::layout::Verdict;

use crate::base::dtype::Dtype;
use crate::ir::{Expr, Function, ParamType};
use crate::model::compute::KernelInstance;
use crate::model::{Convert, Manifest};
use crate::plan::image::{self, Image};
use crate::plan::index::count;
use crate::plan::lower::{PlanError, lower, range};
use crate::plan::moves::Parts;
use crate::plan::relayout::{OperandCopy, ends, linear};
use crate::plan::{Context, Naming};

/// A kernel and its launch range.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// What one work item does.
    pub function: Function,
    /// The items along each axis, the fastest first.
    pub range: Vec<Items>,
    /// The items of a work group, where they work together; any number of groups does then.
    pub group: Option<i64>,
    /// What runs in its place where buffers begin anywhere.
    pub unaligned: Option<Unaligned>,
}

/// The kernel for buffers that do not begin at a multiple of what is moved at once.
#[derive(Debug, Clone)]
pub struct Unaligned {
    /// Bytes that a buffer has to begin at a multiple of otherwise.
    pub alignment_bytes: i64,
    /// The kernel that moves single elements.
    pub plain: Box<Kernel>,
}

/// How many work items there are along an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Items {
    /// Their number, over the symbols.
    pub count: Expr,
    /// Whether there may be none, for some values of the symbols.
    pub may_be_none: bool,
}

impl Items {
    fn new(context: &Context<'_>, count: &Algebra) -> Result<Self, PlanError> {
        let symbol = |var| context.symbol(var);
        let may_be_none = range(count, &symbol).low.is_none_or(|low| low <= 0);
        Ok(Self { count: lower(count, &symbol)?, may_be_none })
    }
}

/// Where a buffer or an image of the tensor is, as the move names it.
#[derive(Clone, Copy)]
enum Home<'a> {
    /// The dense row-major tensor.
    Dense(&'a Context<'a>),
    /// The layout's own memory.
    Layout(&'a Context<'a>),
}

/// `pack`, and before it what fills padding where pack itself cannot.
pub(super) fn pack(context: &Context<'_>) -> Result<Vec<Kernel>, PlanError> {
    let parts = Parts::pack(context);
    let axes: Vec<usize> = (0..context.layout.logical().len()).collect();
    Move { parts, from: Home::Dense(context), to: Home::Layout(context), axes: &axes }
        .kernels(&context.function("fill"))
}

/// `unpack`.
pub(super) fn unpack(context: &Context<'_>) -> Result<Vec<Kernel>, PlanError> {
    let parts = Parts::unpack(context);
    let axes: Vec<usize> = (0..context.layout.logical().len()).collect();
    Move { parts, from: Home::Layout(context), to: Home::Dense(context), axes: &axes }.kernels("")
}

/// `<from>_to_<to>`; empty where one of the two is not there.
///
/// # Errors
/// [`PlanError`] where a number leaves 64 bits or an expression nests too deep.
pub fn convert(
    manifest: &Manifest,
    convert: &Convert,
    naming: &Naming<'_>,
) -> Result<Vec<Kernel>, PlanError> {
    let Some((from, target)) = ends(manifest, convert)? else { return Ok(Vec::new()) };
    let source = Context::new(from, naming);
    let destination = Context::new(&target, naming);
    let parts = Parts::convert(&source, &destination, convert.cast);
    let fill = format!("{}_fill", parts.name());
    let (from, to) = (Home::Layout(&source), Home::Layout(&destination));
    Move { parts, from, to, axes: &convert.axes }.kernels(&fill)
}

/// Kernels of an instance that only copies one operand to another, those of the relayout that it is; `None` for every
/// other instance, as in [`copy_kernel`](crate::plan::copy_kernel), and if GPUs do not reach an operand's memory.
///
/// # Errors
/// [`PlanError`] where a number leaves 64 bits or an expression nests too deep.
pub fn copy(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
) -> Result<Option<Vec<Kernel>>, PlanError> {
    let Some(copy) = OperandCopy::of(manifest, compute)? else { return Ok(None) };
    if [&copy.from, &copy.to].iter().any(|tensor| image::rank_of(tensor.memory).is_none()) {
        return Ok(None);
    }
    let source = Context::new(&copy.from, naming);
    let destination = Context::new(&copy.to, naming);
    let ends = [&source, &destination];
    let Some(parts) = Parts::copy_kernel(ends, compute, copy.cast) else { return Ok(None) };
    if linear(&source, &destination, &copy.axes)?.is_none() {
        return Ok(None);
    }
    let fill = format!("{}_fill", parts.name());
    let (from, to) = (Home::Layout(&source), Home::Layout(&destination));
    Move { parts, from, to, axes: &copy.axes }.kernels(&fill).map(Some)
}

/// A move of a whole tensor.
struct Move<'a, 'n> {
    parts: Parts<'n>,
    from: Home<'a>,
    to: Home<'a>,
    /// For each axis of the source, its position in the destination.
    axes: &'a [usize],
}

impl<'a> Home<'a> {
    fn context(self) -> &'a Context<'a> {
        match self {
            Self::Dense(context) | Self::Layout(context) => context,
        }
    }

    fn image(self) -> Result<Option<Image>, PlanError> {
        match self {
            Self::Dense(_) => Ok(None),
            Self::Layout(context) => image::of(context.tensor),
        }
    }

    /// The type of its elements.
    fn dtype(self) -> Dtype {
        match self {
            Self::Dense(context) => context.tensor.logical_dtype(),
            Self::Layout(context) => context.tensor.dtype,
        }
    }

    /// Whether elements share bytes.
    fn is_packed(self) -> bool {
        self.dtype().element_bits() < 8
    }

    /// How many elements its memory holds, padding included.
    fn slots(self) -> Result<Algebra, PlanError> {
        match self {
            Self::Dense(context) => count(context.layout.logical()),
            Self::Layout(context) => Ok(context.layout.physical_elements().clone()),
        }
    }
}

impl Move<'_, '_> {
    fn kernels(mut self, fill: &str) -> Result<Vec<Kernel>, PlanError> {
        self.images()?;
        let to = self.to.context();
        if let Some(image) = self.to.image()? {
            if is_padded(to) && !to.fills() {
                self.parts.remark("Texels are written whole: padding in an image becomes 0.");
            }
            return Ok(vec![self.texels(&image)?]);
        }
        if let Some(kernels) = self.tiles(fill)? {
            return Ok(kernels);
        }
        let searched =
            matches!(self.to, Home::Layout(context) if context.layout.inverse().is_none());
        match (searched, self.to.is_packed()) {
            (true, true) => Ok(vec![self.one_item()?]),
            (true, false) => {
                let first = if to.fills() { Some(self.fill(fill)?) } else { None };
                Ok(first.into_iter().chain([self.scatter()?]).collect())
            }
            (false, true) => Ok(vec![self.bytes()?]),
            (false, false) => {
                let slots = Items::new(to, &self.to.slots()?)?;
                Ok(vec![self.elements(slots)?])
            }
        }
    }

    /// Parameters that are images take the place of buffers.
    fn images(&mut self) -> Result<(), PlanError> {
        for (which, home) in [self.from, self.to].into_iter().enumerate() {
            let Some(image) = home.image()? else { continue };
            let (dtype, rank) = (home.context().tensor.dtype, image.rank);
            let ty = match which {
                0 => ParamType::InputImage(dtype, rank),
                _ => ParamType::OutputImage(dtype, rank),
            };
            self.parts.retype(which, ty);
        }
        Ok(())
    }
}

/// Whether there are slots without an element.
fn is_padded(context: &Context<'_>) -> bool {
    context.layout.verdict() == Verdict::Padded
}
