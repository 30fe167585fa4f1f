//! Least lengths of the buffers of relayouts and kernels, for languages whose buffers have a length.

use layoutc_algebra::expr::Expr as Algebra;

use super::Settings;
use super::dialect::Lengths;
use super::shared::Shared;
use crate::emit::syntax::{Expr, Function, ParamType};
use crate::lower::context::{Context, Naming};
use crate::lower::expr::lower;
use crate::lower::index::{buffer_bytes, count, logical_bytes};
use crate::model::Manifest;
use crate::model::compute::KernelInstance;

/// Buffer of a tensor.
#[derive(Debug, Clone, Copy)]
pub(super) enum Buffer {
    /// Dense row-major buffer that pack reads and unpack writes.
    Dense,
    /// Buffer in the layout of the tensor.
    Tensor,
}

/// Relayout function with the least lengths of its two buffers, each given with the context of its tensor. The function
/// is unchanged in a language whose buffers have no length.
pub(super) fn with(
    mut function: Shared<Function>,
    buffers: [(&Context<'_>, Buffer); 2],
    settings: &Settings,
) -> Shared<Function> {
    if settings.dialect.lengths == Lengths::Checked {
        let items = buffers.map(|(context, buffer)| match buffer {
            Buffer::Dense => dense(context),
            Buffer::Tensor => in_layout(context),
        });
        set(&mut function, &items);
    }
    function
}

/// Sets the least lengths of the operands of a kernel that have a constant size, in all `versions` of its function. Has
/// no effect in a language whose buffers have no length.
pub(super) fn of_operands<'f>(
    versions: impl Iterator<Item = &'f mut Shared<Function>>,
    (manifest, compute): (&Manifest, &KernelInstance),
    settings: &Settings,
) {
    if settings.dialect.lengths == Lengths::Unknown {
        return;
    }
    let avoid = |_: &str| false;
    let naming = Naming { prefix: "", avoid: &avoid, options: settings.options() };
    let length = |tensor| {
        let length = in_layout(&Context::new(manifest.tensor(tensor)?, &naming))?;
        matches!(length, Expr::Int { .. }).then_some(length)
    };
    let items: Vec<_> = compute.operands.iter().map(|operand| length(operand.tensor)).collect();
    versions.for_each(|function| set(function, &items));
}

/// Sets the least lengths of the buffer parameters of a function, in their order; `None` for an unknown length.
fn set(function: &mut Shared<Function>, items: &[Option<Expr>]) {
    function.change(|function| {
        let is_buffer =
            |ty: &ParamType| matches!(ty, ParamType::Input { .. } | ParamType::Output { .. });
        let buffers = function.params.iter().filter(|param| is_buffer(&param.ty));
        let pairs = buffers.zip(items);
        function.lengths =
            pairs.filter_map(|(param, items)| Some((param.name.clone(), items.clone()?))).collect();
    });
}

/// Number of items in the buffer of a tensor: of slots, or of bytes if elements share bytes. `None` for a view.
fn in_layout(context: &Context<'_>) -> Option<Expr> {
    if context.tensor.owner.is_some() {
        return None;
    }
    let elements = context.layout.physical_elements();
    if context.is_packed() {
        return lowered(context, &buffer_bytes(context, elements).ok()?);
    }
    lowered(context, elements)
}

/// Number of items in the dense buffer that pack reads and unpack writes: of elements, or of bytes if elements share
/// bytes.
fn dense(context: &Context<'_>) -> Option<Expr> {
    let elements = count(context.layout.logical()).ok()?;
    if context.tensor.logical_dtype().element_bits() < 8 {
        return lowered(context, &logical_bytes(context, &elements).ok()?);
    }
    lowered(context, &elements)
}

fn lowered(context: &Context<'_>, items: &Algebra) -> Option<Expr> {
    lower(items, &|var| context.symbol(var)).ok().map(Expr::from)
}
