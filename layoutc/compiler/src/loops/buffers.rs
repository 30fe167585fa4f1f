//! Buffers of a kernel: its operands and intermediates, with their identifiers.

use layoutc_algebra::expr::{Expr as Algebra, Var};
use layoutc_algebra::symbol::Axis;

use crate::loops::arith::{product, sum};
use crate::loops::domain::IterationDomain;
use crate::loops::error::PlanError;
use crate::loops::relayout::address_map::dense_strides;
use crate::machine::CPU;
use crate::model::Tensor;
use crate::model::compute::{BufferRef, ComputeAt, KernelInstance};

/// Buffer of a kernel.
#[derive(Debug)]
pub(crate) struct KernelBuffer {
    /// Tensor, with its symbols renumbered to the kernel's.
    pub(crate) tensor: Tensor,
    /// Name of the parameter or array.
    pub(crate) name: String,
    /// Functions that load and store elements of less than a byte; `None` for larger elements.
    pub(crate) load: Option<String>,
    pub(crate) store: Option<String>,
    /// Functions that read an element (`fetch`) and write a texel (`put`) of an image; `None` for other memory.
    pub(crate) image: Option<[String; 2]>,
    /// True for an intermediate tensor or a cache tile.
    pub(crate) is_local: bool,
    /// Buffer of an intermediate that is computed in each iteration of a loop; `None`: the buffer holds the tensor.
    pub(crate) iteration: Option<IterationBuffer>,
}

impl KernelBuffer {
    /// Offset of an element in the buffer, in elements, over the tensor's logical axes.
    pub(crate) fn offset(&self) -> &Algebra {
        self.iteration.as_ref().map_or(self.tensor.layout.offset(), |own| &own.offset)
    }

    /// Sets the offset of the element that a domain writes to that in the buffer.
    ///
    /// # Errors
    /// [`PlanError`] if an expression grows too large.
    pub(crate) fn locate(&self, domain: &mut IterationDomain) -> Result<(), PlanError> {
        if let Some(iteration) = &self.iteration {
            domain.offset = domain.at(&iteration.offset, &domain.axes)?;
        }
        Ok(())
    }
}

/// Row-major buffer of the elements of an intermediate with one index along an axis.
#[derive(Debug)]
pub(crate) struct IterationBuffer {
    /// Offset of an element, in elements, over the logical axes of the intermediate.
    pub(crate) offset: Algebra,
    /// Number of elements, up to the limit of the stack.
    pub(crate) elements: i64,
}

impl IterationBuffer {
    /// Buffer of one iteration of the loop of `own`.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if its size is not constant or exceeds `CPU.local_stack_bytes`.
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

/// Buffer of a reference; `None` if `buffers` has no such buffer.
pub(crate) fn bound<'b>(
    buffers: &'b [KernelBuffer],
    compute: &KernelInstance,
    buffer: BufferRef,
) -> Option<&'b KernelBuffer> {
    match buffer {
        BufferRef::Operand(k) => buffers.get(k),
        BufferRef::Local(k) => buffers.get(compute.operands.len().checked_add(k)?),
    }
}
