//! Relayout kernels for GPUs. Threads are OpenCL's work items, thread blocks its work-groups, shared memory its local
//! memory.
//!
//! The schedule decides the work of thread blocks and threads: tiles (`tiled`), or one piece of the destination for each
//! thread (an element, a byte of packed elements, or a texel of an image), which gathers its value from the source. No
//! two threads of a kernel write the same memory. Padding gets the fill value, if the tensor has one, from the same
//! kernel or from one before it.
//!
//! Exception: without tiles, a destination buffer that is a view, or whose layout has no closed-form inverse, is
//! scattered to. Each thread reads one element and writes it to its slot; packed elements are all written by one
//! thread.

mod body;
mod bounds;
mod find;
mod item;
mod steps;
mod tiled;
mod word;

use layoutc_algebra::layout::Verdict;

use crate::ir::ParamType;
use crate::loops::error::PlanError;
use crate::loops::gpu_relayout::schedule::{GpuRelayoutSchedule, ThreadPiece};
use crate::lower::context::Context;
use crate::lower::launch::Kernel;
use crate::lower::relayout::builder::RelayoutBuilder;
use crate::lower::relayout::statement::RelayoutStatement;

/// Kernels of a relayout with the schedule `schedule`, in launch order: the kernel that copies the elements. It is
/// preceded by a kernel called `fill`, which fills the destination, if padding gets a fill value that the copying kernel
/// cannot write.
///
/// # Errors
/// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
pub(crate) fn kernels(
    statement: RelayoutStatement<'_>,
    builder: RelayoutBuilder<'_>,
    schedule: &GpuRelayoutSchedule,
    fill: &str,
) -> Result<Vec<Kernel>, PlanError> {
    let axes = statement.axes();
    GpuRelayout { builder, statement, axes }.kernels(schedule, fill)
}

/// Lowering of the GPU kernels of one relayout.
struct GpuRelayout<'a, 'n> {
    builder: RelayoutBuilder<'n>,
    statement: RelayoutStatement<'a>,
    /// Position in the destination of each logical axis of the source, in their order.
    axes: Vec<usize>,
}

impl GpuRelayout<'_, '_> {
    fn kernels(
        mut self,
        schedule: &GpuRelayoutSchedule,
        fill: &str,
    ) -> Result<Vec<Kernel>, PlanError> {
        self.images()?;
        let to = self.statement.destination.context();
        let piece = match schedule {
            GpuRelayoutSchedule::Tiles(tiled) => return self.tiles(tiled, fill),
            GpuRelayoutSchedule::Pieces(piece) => piece,
        };
        Ok(match piece {
            ThreadPiece::Texel => {
                if is_padded(to) && !to.fills() {
                    self.builder.remark("Texels are written whole: padding in an image becomes 0.");
                }
                vec![self.texels()?]
            }
            ThreadPiece::Whole => vec![self.one_item()?],
            ThreadPiece::Index => {
                let first = if to.fills() { Some(self.fill(fill)?) } else { None };
                first.into_iter().chain([self.scatter()?]).collect()
            }
            ThreadPiece::Bytes => vec![self.bytes()?],
            ThreadPiece::Slot => vec![self.elements()?],
        })
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
