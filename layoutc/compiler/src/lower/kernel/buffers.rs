//! Identifiers of a kernel's buffers in generated code, and their parameters and declarations.

use crate::ir::{Param, ParamType, Stmt, Storage};
use crate::loops::ExecutionModel;
use crate::loops::buffers::{KernelBuffer, shares_bytes};
use crate::loops::error::PlanError;
use crate::lower::context::Naming;
use crate::lower::names::Namer;
use crate::machine::CPU;
use crate::model::Tensor;
use crate::model::compute::{BufferRef, KernelInstance, TileCache};

/// Buffer of a kernel with its identifiers.
#[derive(Debug)]
pub(crate) struct BufferBinding {
    /// Tensor and memory of the buffer.
    pub(crate) buffer: KernelBuffer,
    /// Identifier of the parameter or array in generated code.
    pub(crate) name: String,
    /// Name of the function that loads an element of less than a byte; `None` for larger elements.
    pub(crate) load: Option<String>,
    /// Name of the function that stores an element of less than a byte; `None` for larger elements.
    pub(crate) store: Option<String>,
    /// Names of the function that reads an element of an image (`fetch`) and of the one that writes a texel (`put`), in
    /// this order; `None` if the buffer is no image on the target.
    pub(crate) texels: Option<[String; 2]>,
}

impl BufferBinding {
    fn new(buffer: KernelBuffer, name: String) -> Self {
        Self { buffer, name, load: None, store: None, texels: None }
    }

    /// Tensor in the buffer, with its symbols renumbered to the kernel's.
    pub(crate) fn tensor(&self) -> &Tensor {
        &self.buffer.tensor
    }
}

/// Names the buffers of a kernel, which are in the order of [`KernelBuffer::all`]. Returns the pair of the named
/// buffers, in the same order, and of the parameters for those buffers whose memory the caller provides.
///
/// # Errors
/// [`PlanError::Scope`] if there are fewer buffers than operands.
pub(crate) fn bind(
    compute: &KernelInstance,
    buffers: Vec<KernelBuffer>,
    naming: &Naming<'_>,
    namer: &mut Namer<'_>,
    processor: ExecutionModel,
) -> Result<(Vec<BufferBinding>, Vec<Param>), PlanError> {
    let (mut bindings, mut params) = (Vec::new(), Vec::new());
    let mut buffers = buffers.into_iter();
    for operand in &compute.operands {
        let buffer = buffers.next().ok_or(PlanError::Scope)?;
        let (tensor, dtype) = (&buffer.tensor, buffer.tensor.dtype);
        let owner = tensor.owner.as_ref().map_or(&tensor.name, |owner| &owner.name);
        let name = namer.name(&operand.name);
        let ty = match (&buffer.image, operand.is_written) {
            (Some(image), true) => ParamType::OutputImage(dtype, image.rank),
            (Some(image), false) => ParamType::InputImage(dtype, image.rank),
            (None, true) => ParamType::Output(dtype),
            (None, false) => ParamType::Input(dtype),
        };
        params.push(Param { name: name.clone(), ty });
        let texels = ["fetch", "put"].map(|what| naming.member(&tensor.name, what));
        let texels = Some(texels).filter(|_| buffer.image.is_some());
        let [load, store] =
            ["load", "store"].map(|what| shares_bytes(tensor).then(|| naming.member(owner, what)));
        bindings.push(BufferBinding { buffer, name, load, store, texels });
    }
    for buffer in buffers {
        let tensor = &buffer.tensor;
        let name = namer.name(&tensor.name);
        if processor == ExecutionModel::Gpu || is_given(compute, tensor) {
            params.push(Param { name: name.clone(), ty: ParamType::Output(tensor.dtype) });
        }
        bindings.push(BufferBinding::new(buffer, name));
    }
    Ok((bindings, params))
}

/// Buffers of the tiles `caches` of a statement, in their order. A tile of `A` is called `A_block`.
pub(crate) fn parts(
    compute: &KernelInstance,
    caches: &[TileCache],
    namer: &mut Namer<'_>,
) -> Vec<BufferBinding> {
    let part = |cache: &TileCache| {
        let called = match cache.buffer {
            BufferRef::Operand(k) => compute.operands.get(k).map(|operand| &operand.name),
            BufferRef::Local(k) => compute.locals.get(k).map(|local| &local.name),
        };
        let name = namer.name(&format!("{}_block", called.map_or("", String::as_str)));
        BufferBinding::new(KernelBuffer::of_tile(cache), name)
    };
    caches.iter().map(part).collect()
}

/// True if the caller of a CPU kernel allocates the memory of the intermediate `tensor`: it is computed as a whole, and
/// has more than `CPU.local_stack_bytes` bytes or no constant size.
pub(crate) fn is_given(compute: &KernelInstance, tensor: &Tensor) -> bool {
    compute.compute_at(&tensor.name).is_none() && stack_elements(tensor).is_none()
}

/// Number of elements, padding included, of an intermediate tensor that is allocated on the stack; `None` if the tensor
/// has more than `CPU.local_stack_bytes` bytes or no constant size.
fn stack_elements(tensor: &Tensor) -> Option<i64> {
    let elements = tensor.layout.physical_elements().as_const()?;
    let bytes = elements.saturating_mul(i128::from(tensor.dtype.element_bits().div_ceil(8)));
    i64::try_from(elements).ok().filter(|_| bytes <= CPU.local_stack_bytes)
}

/// Declaration of an intermediate tensor on the stack; `None` if it has more than `CPU.local_stack_bytes` bytes or no
/// constant size.
pub(crate) fn on_the_stack(bound: &BufferBinding) -> Option<Stmt> {
    let elements = stack_elements(bound.tensor())?.max(1);
    let (name, dtype) = (bound.name.clone(), bound.tensor().dtype);
    Some(Stmt::Allocate { name, dtype, elements, storage: Storage::Private })
}
