//! Buffers of a kernel: its operands and intermediates, with their names, parameters and memory.

use crate::ir::{Param, ParamType, Stmt, Storage};
use crate::loops::buffers::{IterationBuffer, KernelBuffer};
use crate::loops::error::PlanError;
use crate::loops::{ExecutionModel, image, renumbered};
use crate::lower::context::Naming;
use crate::lower::names::Namer;
use crate::machine::CPU;
use crate::model::compute::{BufferRef, KernelInstance, TileCache};
use crate::model::{Manifest, Tensor};

/// Buffers of a kernel, operands first, then intermediates, and the parameters for these buffers.
pub(crate) fn bind(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    namer: &mut Namer<'_>,
    processor: ExecutionModel,
) -> Result<(Vec<KernelBuffer>, Vec<Param>), PlanError> {
    let (mut buffers, mut params) = (Vec::new(), Vec::new());
    for operand in &compute.operands {
        let Some(tensor) = manifest.tensor(operand.tensor) else { continue };
        let owner = tensor.owner.as_ref().map_or(&tensor.name, |owner| &owner.name);
        let tensor = renumbered(tensor, &compute.symbols)?;
        let name = namer.name(&operand.name);
        let image = if processor == ExecutionModel::Gpu { image::of(&tensor)? } else { None };
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
        let own = compute.compute_at(&tensor.name).filter(|_| processor != ExecutionModel::Gpu);
        let iteration = own.map(|own| IterationBuffer::new(&tensor, own)).transpose()?;
        let is_param = processor == ExecutionModel::Gpu || is_given(compute, &tensor);
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
pub(crate) fn parts(
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

/// True if the caller of a CPU kernel allocates the memory of this intermediate tensor.
pub(crate) fn is_given(compute: &KernelInstance, tensor: &Tensor) -> bool {
    compute.compute_at(&tensor.name).is_none() && stack_elements(tensor).is_none()
}

/// Number of elements of an intermediate tensor that is allocated on the stack; `None` if the tensor is too large or
/// its size is not constant.
fn stack_elements(tensor: &Tensor) -> Option<i64> {
    let elements = tensor.layout.physical_elements().as_const()?;
    let bytes = elements.saturating_mul(i128::from(tensor.dtype.element_bits().div_ceil(8)));
    i64::try_from(elements).ok().filter(|_| bytes <= CPU.local_stack_bytes)
}

pub(crate) fn on_the_stack(bound: &KernelBuffer) -> Option<Stmt> {
    let elements = stack_elements(&bound.tensor)?.max(1);
    let (name, dtype) = (bound.name.clone(), bound.tensor.dtype);
    Some(Stmt::Allocate { name, dtype, elements, storage: Storage::Private })
}

fn shares_bytes(tensor: &Tensor, compute: &KernelInstance) -> PlanError {
    let (name, dtype) = (&tensor.name, tensor.dtype);
    PlanError::Choice {
        message: format!("`{name}` has elements of {dtype}, which share bytes"),
        help: format!("give the intermediate elements of a byte or more: `local {name} dtype=i8`"),
        place: compute.place.clone(),
    }
}
