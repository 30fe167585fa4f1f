//! Operands of kernels, and references to the tensors that statements read and write.

use layoutc_algebra::expr::Expr;

use crate::model::TensorRef;

/// Operand of a kernel: a tensor or view, with the name that the kernel's statements use for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelOperand {
    /// Name of the operand in the kernel's statements.
    pub name: String,
    /// Tensor or view that the operand is bound to.
    pub tensor: TensorRef,
    /// True if a statement writes the tensor.
    pub is_written: bool,
    /// Exclusive upper bound `N` of the element values, declared by `range OPERAND N` for a tensor of indices: the
    /// caller guarantees integers in `0..N`. `None` if no bound is declared.
    pub range: Option<Expr>,
}

/// Tensor that a statement of a kernel reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferRef {
    /// Operand of the kernel: its position in [`super::KernelInstance::operands`].
    Operand(usize),
    /// Intermediate tensor of the kernel: its position in [`super::KernelInstance::locals`].
    Local(usize),
}
