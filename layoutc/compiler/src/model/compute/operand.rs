//! Operands of kernels, and references to the tensors that statements read and write.

use layoutc_algebra::expr::Expr;

/// Operand of a kernel: a tensor, and the name by which the kernel's statements refer to the tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelOperand {
    /// Name of the operand in the kernel's statements.
    pub name: String,
    /// Position of the operand's tensor in [`crate::model::Manifest::tensors`].
    pub tensor: usize,
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
