//! Buffers of a kernel: its operands, intermediates and cached tiles, and the memory that holds them.

use layoutc_algebra::expr::{Expr as Algebra, Var};
use layoutc_algebra::symbol::Axis;

use crate::loops::arith::{product, sum};
use crate::loops::domain::IterationDomain;
use crate::loops::error::PlanError;
use crate::loops::image::Image;
use crate::loops::relayout::address_map::dense_strides;
use crate::loops::{ExecutionModel, image, renumbered};
use crate::machine::CPU;
use crate::model::compute::{BufferRef, ComputeAt, KernelInstance, TileCache};
use crate::model::{Manifest, Tensor};

/// Buffer of a kernel: an operand, an intermediate tensor or a cached tile.
#[derive(Debug)]
pub(crate) struct KernelBuffer {
    /// Tensor that the buffer holds. `Var::Symbol(k)` in its layout is symbol `k` of the kernel.
    pub(crate) tensor: Tensor,
    /// Image that holds the tensor; `None` if a buffer holds it. Always `None` in CPU code, in which a tensor with
    /// image memory is in a buffer.
    pub(crate) image: Option<Image>,
    /// True for an intermediate tensor or a cache tile.
    pub(crate) is_local: bool,
    /// Offset and size of the buffer for one iteration of a loop, if the tensor is an intermediate that is computed in
    /// each iteration (compute-at); `None` if the buffer holds the whole tensor.
    pub(crate) iteration: Option<IterationBuffer>,
}

impl KernelBuffer {
    /// Buffers of a kernel, operands first, then intermediates.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if an intermediate has elements of less than a byte, or the buffer for an iteration has no
    /// constant size or exceeds `CPU.local_stack_bytes`. [`PlanError::Scope`] if the manifest lacks the tensor of an
    /// operand. [`PlanError::Expr`] if the kernel lacks a symbol of a tensor or allows it further values, or an
    /// expression overflows or becomes too large.
    pub(crate) fn all(
        manifest: &Manifest,
        compute: &KernelInstance,
        processor: ExecutionModel,
    ) -> Result<Vec<Self>, PlanError> {
        let mut buffers = Vec::new();
        for operand in &compute.operands {
            let tensor = manifest.tensor(operand.tensor).ok_or(PlanError::Scope)?;
            let tensor = renumbered(tensor, &compute.symbols)?;
            let image = if processor == ExecutionModel::Gpu { image::of(&tensor)? } else { None };
            buffers.push(Self { tensor, image, is_local: false, iteration: None });
        }
        for tensor in &compute.locals {
            let tensor = renumbered(tensor, &compute.symbols)?;
            // GPU kernels compute one statement each, and intermediates as a whole.
            let own = compute.compute_at(&tensor.name).filter(|_| processor != ExecutionModel::Gpu);
            let iteration = own.map(|own| IterationBuffer::new(&tensor, own)).transpose()?;
            if shares_bytes(&tensor) {
                return Err(local_in_bits(&tensor, compute));
            }
            buffers.push(Self { tensor, image: None, is_local: true, iteration });
        }
        Ok(buffers)
    }

    /// Buffer of a cache tile.
    pub(crate) fn of_tile(tile: &TileCache) -> Self {
        Self { tensor: tile.block.clone(), image: None, is_local: true, iteration: None }
    }

    /// Offset of an element in the buffer, in elements, over the tensor's logical axes.
    pub(crate) fn offset(&self) -> &Algebra {
        self.iteration.as_ref().map_or(self.tensor.layout.offset(), |own| &own.offset)
    }

    /// Sets `domain.offset`, the offset of the element that a statement writes, to its offset in a buffer for one
    /// iteration. Changes nothing if the buffer holds the whole tensor.
    ///
    /// # Errors
    /// [`PlanError::Expr`] if a value overflows or an expression becomes too large.
    pub(crate) fn locate(&self, domain: &mut IterationDomain) -> Result<(), PlanError> {
        if let Some(iteration) = &self.iteration {
            domain.offset = domain.at(&iteration.offset, &domain.axes)?;
        }
        Ok(())
    }
}

/// Row-major buffer for the elements of an intermediate that one iteration of a loop computes: those with one index
/// along the axis of the loop.
#[derive(Debug)]
pub(crate) struct IterationBuffer {
    /// Offset of an element, in elements, over the logical axes of the intermediate.
    pub(crate) offset: Algebra,
    /// Number of elements of the buffer. All together have at most `CPU.local_stack_bytes` bytes.
    pub(crate) elements: i64,
}

impl IterationBuffer {
    /// Buffer of the intermediate `tensor` for one iteration of the loop `own.at`.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if its size is not constant or exceeds `CPU.local_stack_bytes`. [`PlanError::Expr`] if a
    /// stride overflows or becomes too large.
    pub(crate) fn new(tensor: &Tensor, own: &ComputeAt) -> Result<Self, PlanError> {
        let axes = tensor.layout.logical().iter().enumerate().filter(|(k, _)| *k != own.axis);
        let (numbers, axes): (Vec<usize>, Vec<Axis>) =
            axes.map(|(k, axis)| (k, axis.clone())).unzip();
        let mut offset = Algebra::constant(0);
        for (k, stride) in numbers.into_iter().zip(dense_strides(&axes)?) {
            let axis = Var::Axis(u32::try_from(k).map_err(|_| PlanError::Scope)?);
            offset = sum(&offset, &product(&Algebra::var(axis), &stride)?)?;
        }
        let mut extents = axes.iter().map(|axis| axis.extent.as_const());
        let elements = extents.try_fold(1_i128, |all, extent| Some(all.saturating_mul(extent?)));
        let most = CPU.local_stack_bytes;
        let size = match elements {
            Some(elements) => {
                let bytes = elements.saturating_mul(tensor.dtype.element_bits().div_ceil(8).into());
                if bytes <= most {
                    let elements = i64::try_from(elements).map_err(|_| PlanError::Scope)?;
                    return Ok(Self { offset, elements });
                }
                format!("has {bytes} bytes")
            }
            None => "has no constant size".to_owned(),
        };
        let ComputeAt { local, at, .. } = own;
        Err(PlanError::Choice {
            message: format!("the buffer of `{local}` for an iteration of `{}` {size}", at.value),
            help: format!("at most {most} bytes are on the stack: remove `at`"),
            place: at.place.clone(),
        })
    }
}

/// True if elements of the tensor are smaller than a byte.
pub(crate) fn shares_bytes(tensor: &Tensor) -> bool {
    tensor.dtype.element_bits() < 8
}

fn local_in_bits(tensor: &Tensor, compute: &KernelInstance) -> PlanError {
    let (name, dtype) = (&tensor.name, tensor.dtype);
    PlanError::Choice {
        message: format!("`{name}` has elements of {dtype}, which share bytes"),
        help: format!("give the intermediate elements of a byte or more: `local {name} dtype=i8`"),
        place: compute.place.clone(),
    }
}

/// Entry for a buffer of a kernel in `buffers`, which has one for each operand, then one for each intermediate; `None`
/// if there is none.
pub(crate) fn bound<'b, B>(
    buffers: &'b [B],
    compute: &KernelInstance,
    buffer: BufferRef,
) -> Option<&'b B> {
    match buffer {
        BufferRef::Operand(k) => buffers.get(k),
        BufferRef::Local(k) => buffers.get(compute.operands.len().checked_add(k)?),
    }
}
