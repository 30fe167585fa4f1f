//! Buffers of a kernel: its operands and intermediates, with their names, parameters and memory.

use layoutc_algebra::expr::{Expr as Algebra, Var};
use layoutc_algebra::symbol::Axis;

use super::super::arith::{product, sum};
use super::super::image;
use super::super::loops::domain::IterationDomain;
use super::super::lower::PlanError;
use super::super::names::Namer;
use super::super::relayout::renumbered;
use super::super::side::dense_strides;
use super::ExecutionModel;
use crate::ir::{Param, ParamType, Stmt, Storage};
use crate::machine::CPU;
use crate::model::compute::{BufferRef, ComputeAt, KernelInstance, TileCache};
use crate::model::{Manifest, Tensor};
use crate::plan::Naming;

/// Buffer of a kernel.
#[derive(Debug)]
pub(super) struct KernelBuffer {
    /// Tensor, with its symbols renumbered to the kernel's.
    pub(super) tensor: Tensor,
    /// Name of the parameter or array.
    pub(super) name: String,
    /// Functions that load and store elements of less than a byte; `None` for larger elements.
    pub(super) load: Option<String>,
    pub(super) store: Option<String>,
    /// Functions that read an element (`fetch`) and write a texel (`put`) of an image; `None` for other memory.
    pub(super) image: Option<[String; 2]>,
    /// True for an intermediate tensor or a cache tile.
    pub(super) is_local: bool,
    /// Buffer of an intermediate that is computed in each iteration of a loop; `None`: the buffer holds the tensor.
    pub(super) iteration: Option<IterationBuffer>,
}

impl KernelBuffer {
    /// Offset of an element in the buffer, in elements, over the tensor's logical axes.
    pub(super) fn offset(&self) -> &Algebra {
        self.iteration.as_ref().map_or(self.tensor.layout.offset(), |own| &own.offset)
    }

    /// Sets the offset of the element that a domain writes to that in the buffer.
    ///
    /// # Errors
    /// [`PlanError`] if an expression grows too large.
    pub(super) fn locate(&self, domain: &mut IterationDomain) -> Result<(), PlanError> {
        if let Some(iteration) = &self.iteration {
            domain.offset = domain.at(&iteration.offset, &domain.axes)?;
        }
        Ok(())
    }
}

/// Row-major buffer of the elements of an intermediate with one index along an axis.
#[derive(Debug)]
pub(super) struct IterationBuffer {
    /// Offset of an element, in elements, over the logical axes of the intermediate.
    pub(super) offset: Algebra,
    /// Number of elements, up to the limit of the stack.
    pub(super) elements: i64,
}

impl IterationBuffer {
    /// Buffer of one iteration of the loop of `own`.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if its size is not constant or exceeds `CPU.local_stack_bytes`.
    fn new(tensor: &Tensor, own: &ComputeAt) -> Result<Self, PlanError> {
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

/// Buffers of a kernel, operands first, then intermediates, and the parameters for these buffers.
pub(super) fn bind(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    namer: &mut Namer<'_>,
    runs: ExecutionModel,
) -> Result<(Vec<KernelBuffer>, Vec<Param>), PlanError> {
    let (mut buffers, mut params) = (Vec::new(), Vec::new());
    for operand in &compute.operands {
        let Some(tensor) = manifest.tensor(operand.tensor) else { continue };
        let owner = tensor.owner.as_ref().map_or(&tensor.name, |owner| &owner.name);
        let tensor = renumbered(tensor, &compute.symbols)?;
        let name = namer.name(&operand.name);
        let image = if runs == ExecutionModel::Gpu { image::of(&tensor)? } else { None };
        let ty = match (&image, operand.is_written) {
            (Some(image), true) => ParamType::OutputImage(tensor.dtype, image.rank),
            (Some(image), false) => ParamType::InputImage(tensor.dtype, image.rank),
            (None, true) => ParamType::Output(tensor.dtype),
            (None, false) => ParamType::Input(tensor.dtype),
        };
        params.push(Param { name: name.clone(), ty });
        let image = image.map(|_| ["fetch", "put"].map(|what| naming.member(&tensor.name, what)));
        let is_packed = tensor.dtype.element_bits() < 8;
        let [load, store] =
            ["load", "store"].map(|what| is_packed.then(|| naming.member(owner, what)));
        let (is_local, iteration) = (false, None);
        buffers.push(KernelBuffer { tensor, name, load, store, image, is_local, iteration });
    }
    for tensor in &compute.locals {
        let tensor = renumbered(tensor, &compute.symbols)?;
        let name = namer.name(&tensor.name);
        // GPU kernels compute one statement each, and intermediates as a whole.
        let own = compute.compute_at(&tensor.name).filter(|_| runs != ExecutionModel::Gpu);
        let iteration = own.map(|own| IterationBuffer::new(&tensor, own)).transpose()?;
        let is_param = runs == ExecutionModel::Gpu || is_given(compute, &tensor);
        if tensor.dtype.element_bits() < 8 {
            return Err(shares_bytes(&tensor, compute));
        }
        if is_param {
            let ty = ParamType::Output(tensor.dtype);
            params.push(Param { name: name.clone(), ty });
        }
        let (load, store, image) = (None, None, None);
        buffers.push(KernelBuffer { tensor, name, load, store, image, is_local: true, iteration });
    }
    Ok((buffers, params))
}

/// Buffers of the cached tiles of a statement, each called `<name>_block`.
pub(super) fn parts(
    compute: &KernelInstance,
    caches: &[TileCache],
    namer: &mut Namer<'_>,
) -> Vec<KernelBuffer> {
    let part = |cache: &TileCache| {
        let called = match cache.buffer {
            BufferRef::Operand(k) => compute.operands.get(k).map(|operand| &operand.name),
            BufferRef::Local(k) => compute.locals.get(k).map(|local| &local.name),
        };
        let name = namer.name(&format!("{}_block", called.map_or("", String::as_str)));
        let (load, store, image) = (None, None, None);
        let (tensor, is_local, iteration) = (cache.block.clone(), true, None);
        KernelBuffer { tensor, name, load, store, image, is_local, iteration }
    };
    caches.iter().map(part).collect()
}

/// Buffer of a reference; `None` if `buffers` has no such buffer.
pub(super) fn bound<'b>(
    buffers: &'b [KernelBuffer],
    compute: &KernelInstance,
    buffer: BufferRef,
) -> Option<&'b KernelBuffer> {
    match buffer {
        BufferRef::Operand(k) => buffers.get(k),
        BufferRef::Local(k) => buffers.get(compute.operands.len().checked_add(k)?),
    }
}

/// True if the caller of a CPU kernel allocates the memory of this intermediate tensor.
pub fn is_given(compute: &KernelInstance, tensor: &Tensor) -> bool {
    compute.compute_at(&tensor.name).is_none() && stack_elements(tensor).is_none()
}

/// Number of elements of an intermediate tensor that is allocated on the stack; `None` if the tensor is too large or
/// its size is not constant.
fn stack_elements(tensor: &Tensor) -> Option<i64> {
    let elements = tensor.layout.physical_elements().as_const()?;
    let bytes = elements.saturating_mul(i128::from(tensor.dtype.element_bits().div_ceil(8)));
    i64::try_from(elements).ok().filter(|_| bytes <= CPU.local_stack_bytes)
}

pub(super) fn on_the_stack(bound: &KernelBuffer) -> Option<Stmt> {
    let elements = stack_elements(&bound.tensor)?.max(1);
    let (name, element) = (bound.name.clone(), bound.tensor.dtype.to_string());
    Some(Stmt::Allocate { name, element, elements, storage: Storage::Private })
}

fn shares_bytes(tensor: &Tensor, compute: &KernelInstance) -> PlanError {
    let (name, dtype) = (&tensor.name, tensor.dtype);
    PlanError::Choice {
        message: format!("`{name}` has elements of {dtype}, which share bytes"),
        help: format!("give the intermediate elements of a byte or more: `local {name} dtype=i8`"),
        place: compute.place.clone(),
    }
}
