//! Relayout kernels for GPUs. Threads are OpenCL's work items, thread blocks its work-groups, shared memory its local
//! memory.
//!
//! If source and destination are buffers of whole-byte elements whose layouts have digits in common, thread blocks
//! usually copy tiles. A tile may be staged in shared memory, to read it in the order of the source and to write it in
//! the order of the destination. Without tiles, each thread computes one piece of the destination (an element, a byte
//! of packed elements, or a texel of an image) and gathers its value from the source. No two threads of a kernel write
//! the same memory. Padding gets the fill value, if the tensor has one, from the same kernel or from one before it.
//!
//! Exception: without tiles, a destination buffer that is a view, or whose layout has no closed-form inverse, is
//! scattered to. Each thread reads one element and writes it to its slot; packed elements are all written by one
//! thread.

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

use crate::ir::{Expr, Function, ParamType};
use crate::loops::error::PlanError;
use crate::lower::context::Context;
use crate::lower::expr::{lower, range};
use crate::lower::relayout::builder::RelayoutBuilder;
use crate::lower::relayout::statement::{RelayoutEnd, RelayoutStatement};

/// GPU kernel and its launch range (`NDRange`).
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Function that each thread executes.
    pub function: Function,
    /// Number of threads along each axis of the launch, fastest axis first.
    pub range: Vec<Items>,
    /// Number of threads of a thread block if they cooperate on tiles; `None` if the kernel works with any block size.
    pub group: Option<i64>,
    /// Alternative kernel for buffers that are not aligned to the words that `function` accesses; `None` if `function`
    /// needs no alignment.
    pub unaligned: Option<Unaligned>,
}

/// Alternative to a kernel with wide accesses, for buffers without the alignment that these need.
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
    /// Number of threads, an expression over the symbols' identifiers.
    pub count: Expr,
    /// True unless `count` is known to be at least 1 for all values of the symbols.
    pub may_be_none: bool,
}

impl Items {
    fn new(context: &Context<'_>, count: &Algebra) -> Result<Self, PlanError> {
        let symbol = |var| context.symbol(var);
        let may_be_none = range(count, &symbol).low.is_none_or(|low| low <= 0);
        Ok(Self { count: lower(count, &symbol)?, may_be_none })
    }
}

/// Kernels of a relayout, in launch order: the kernel that copies the elements. It is preceded by a kernel called
/// `fill`, which fills the destination, if padding gets a fill value that the copying kernel cannot write.
///
/// # Errors
/// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
pub(crate) fn kernels(
    statement: RelayoutStatement<'_>,
    builder: RelayoutBuilder<'_>,
    fill: &str,
) -> Result<Vec<Kernel>, PlanError> {
    let axes = statement.axes();
    GpuRelayout { builder, statement, axes }.kernels(fill)
}

/// Planner of the GPU kernels of one relayout.
struct GpuRelayout<'a, 'n> {
    builder: RelayoutBuilder<'n>,
    statement: RelayoutStatement<'a>,
    /// Position in the destination of each logical axis of the source, in their order.
    axes: Vec<usize>,
}

impl GpuRelayout<'_, '_> {
    fn kernels(mut self, fill: &str) -> Result<Vec<Kernel>, PlanError> {
        self.images()?;
        let to = self.statement.destination.context();
        if let Some(image) = self.statement.destination.image()? {
            if is_padded(to) && !to.fills() {
                self.builder.remark("Texels are written whole: padding in an image becomes 0.");
            }
            return Ok(vec![self.texels(&image)?]);
        }
        if let Some(kernels) = self.tiles(fill)? {
            return Ok(kernels);
        }
        // Without an inverse, and in a view, whose memory has elements of others, threads go over the elements.
        let searched = matches!(self.statement.destination, RelayoutEnd::Layout(context)
            if context.layout.inverse().is_none() || context.tensor.owner.is_some());
        match (searched, self.statement.destination.is_packed()) {
            (true, true) => Ok(vec![self.one_item()?]),
            (true, false) => {
                let first = if to.fills() { Some(self.fill(fill)?) } else { None };
                Ok(first.into_iter().chain([self.scatter()?]).collect())
            }
            (false, true) => Ok(vec![self.bytes()?]),
            (false, false) => {
                let slots = Items::new(to, &self.statement.destination.slots()?)?;
                Ok(vec![self.elements(slots)?])
            }
        }
    }

    /// Changes the parameters of source and destination from buffers to images, if their memory is an image.
    fn images(&mut self) -> Result<(), PlanError> {
        for (which, home) in
            [self.statement.source, self.statement.destination].into_iter().enumerate()
        {
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

/// True if the layout may have slots without an element.
fn is_padded(context: &Context<'_>) -> bool {
    context.layout.verdict() == Verdict::Padded
}
