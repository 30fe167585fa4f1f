//! Relayout kernels for GPUs. Threads are OpenCL's work items, thread blocks its work-groups, shared memory its local
//! memory.
//!
//! If both layouts are sums of digits, thread blocks copy tiles: they read in the order of the source and write in the
//! order of the destination, through shared memory if the orders differ. Otherwise each thread computes one piece of
//! the destination (an element, a byte of packed elements, or a texel of an image) and gathers its value from the
//! source. No two threads write the same memory, and padding gets its fill value in the same pass.
//!
//! Exception: a destination layout without a closed-form inverse is scattered to. Each thread reads one element and
//! writes it to its slot, after a separate kernel has filled the padding.

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
use crate::loops::error::PlanError;
use crate::loops::image;
use crate::loops::image::Image;
use crate::loops::relayout::digits::DigitRefinement;
use crate::lower::context::{Context, Naming};
use crate::lower::expr::{lower, range};
use crate::lower::index::count;
use crate::lower::relayout::function::RelayoutBuilder;
use crate::lower::relayout::{ends, with_copy};
use crate::model::compute::KernelInstance;
use crate::model::{Convert, Manifest};

/// Kernel and its launch range (`NDRange`).
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Function that each thread executes.
    pub function: Function,
    /// Number of threads along each axis of the launch, fastest axis first.
    pub range: Vec<Items>,
    /// Number of threads of a thread block if they cooperate on tiles; `None` if the kernel works with any block size.
    pub group: Option<i64>,
    /// Alternative kernel for buffers that are not aligned to the words of `function`; `None` if `function` needs no
    /// alignment.
    pub unaligned: Option<Unaligned>,
}

/// Alternative kernel for buffers without the alignment that wide accesses need.
#[derive(Debug, Clone)]
pub struct Unaligned {
    /// Alignment of both buffers, in bytes, that the kernel with wide accesses needs.
    pub alignment_bytes: i64,
    /// Kernel that accesses single elements.
    pub plain: Box<Kernel>,
}

/// Number of threads along one axis of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Items {
    /// Number of threads, over the symbols.
    pub count: Expr,
    /// True unless `count` is at least 1 for all values of the symbols.
    pub may_be_none: bool,
}

impl Items {
    fn new(context: &Context<'_>, count: &Algebra) -> Result<Self, PlanError> {
        let symbol = |var| context.symbol(var);
        let may_be_none = range(count, &symbol).low.is_none_or(|low| low <= 0);
        Ok(Self { count: lower(count, &symbol)?, may_be_none })
    }
}

/// Source or destination of a relayout.
#[derive(Clone, Copy)]
enum Home<'a> {
    /// Dense row-major tensor, of the tensor's logical element type.
    Dense(&'a Context<'a>),
    /// Memory of the layout: a buffer or an image.
    Layout(&'a Context<'a>),
}

/// Kernels of `pack`, in launch order: the pack kernel, after a fill kernel if the pack kernel cannot write the
/// padding.
pub(crate) fn pack(context: &Context<'_>) -> Result<Vec<Kernel>, PlanError> {
    let builder = RelayoutBuilder::pack(context);
    let axes: Vec<usize> = (0..context.layout.logical().len()).collect();
    Move { builder, from: Home::Dense(context), to: Home::Layout(context), axes: &axes }
        .kernels(&context.function("fill"))
}

/// Kernels of `unpack`, in launch order.
pub(crate) fn unpack(context: &Context<'_>) -> Result<Vec<Kernel>, PlanError> {
    let builder = RelayoutBuilder::unpack(context);
    let axes: Vec<usize> = (0..context.layout.logical().len()).collect();
    Move { builder, from: Home::Layout(context), to: Home::Dense(context), axes: &axes }.kernels("")
}

/// Kernels of `<from>_to_<to>`, in launch order; empty if the manifest lacks one of the two tensors.
///
/// # Errors
/// [`PlanError`] if a number exceeds 64 bits or an expression nests too deep.
pub(crate) fn convert(
    manifest: &Manifest,
    convert: &Convert,
    naming: &Naming<'_>,
) -> Result<Vec<Kernel>, PlanError> {
    let Some((from, target)) = ends(manifest, convert)? else { return Ok(Vec::new()) };
    let source = Context::new(from, naming);
    let destination = Context::new(&target, naming);
    let builder = RelayoutBuilder::convert(&source, &destination, convert.cast);
    let fill = format!("{}_fill", builder.name());
    let (from, to) = (Home::Layout(&source), Home::Layout(&destination));
    Move { builder, from, to, axes: &convert.axes }.kernels(&fill)
}

/// Kernels of an instance that only copies one operand to another, as for a relayout of the two; `None` for every other
/// instance, as in [`copy_kernel`](crate::plan::copy_kernel), and if GPUs cannot access an operand's memory.
///
/// # Errors
/// [`PlanError`] if a number exceeds 64 bits or an expression nests too deep.
pub(crate) fn copy(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
) -> Result<Option<Vec<Kernel>>, PlanError> {
    let mut tensors = compute.operands.iter().filter_map(|one| manifest.tensor(one.tensor));
    if tensors.any(|tensor| image::rank_of(tensor.memory).is_none()) {
        return Ok(None);
    }
    let plan = |builder: RelayoutBuilder<'_>,
                [from, to]: [&Context<'_>; 2],
                axes: &[usize],
                _: &DigitRefinement| {
        let fill = format!("{}_fill", builder.name());
        Move { builder, from: Home::Layout(from), to: Home::Layout(to), axes }.kernels(&fill)
    };
    with_copy(manifest, compute, naming, plan)
}

/// Relayout of a whole tensor.
struct Move<'a, 'n> {
    builder: RelayoutBuilder<'n>,
    from: Home<'a>,
    to: Home<'a>,
    /// Position in the destination of each logical axis of the source.
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

    /// Element type of the memory.
    fn dtype(self) -> Dtype {
        match self {
            Self::Dense(context) => context.tensor.logical_dtype(),
            Self::Layout(context) => context.tensor.dtype,
        }
    }

    /// True if elements are narrower than a byte.
    fn is_packed(self) -> bool {
        self.dtype().element_bits() < 8
    }

    /// Number of elements in the memory, padding included.
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
                self.builder.remark("Texels are written whole: padding in an image becomes 0.");
            }
            return Ok(vec![self.texels(&image)?]);
        }
        if let Some(kernels) = self.tiles(fill)? {
            return Ok(kernels);
        }
        // Without an inverse, and in a view, whose memory has elements of others, threads go over the elements.
        let searched = matches!(self.to, Home::Layout(context)
            if context.layout.inverse().is_none() || context.tensor.owner.is_some());
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

    /// Changes the types of parameters that are images from buffers to images.
    fn images(&mut self) -> Result<(), PlanError> {
        for (which, home) in [self.from, self.to].into_iter().enumerate() {
            let Some(image) = home.image()? else { continue };
            let (dtype, rank) = (home.context().tensor.dtype, image.rank);
            let ty = match which {
                0 => ParamType::InputImage(dtype, rank),
                _ => ParamType::OutputImage(dtype, rank),
            };
            self.builder.retype(which, ty);
        }
        Ok(())
    }
}

/// True if the layout has slots without an element.
fn is_padded(context: &Context<'_>) -> bool {
    context.layout.verdict() == Verdict::Padded
}
