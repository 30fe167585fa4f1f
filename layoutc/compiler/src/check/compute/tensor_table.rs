//! Table of the tensors of a kernel, by name. It grows while statements are checked.

use std::collections::BTreeMap;

use layoutc_algebra::symbol::{Axis, Symbol};

use super::value::InferredValue;
use crate::base::dtype::Scalar;
use crate::manifest::syntax::SpannedText;
use crate::model::compute::BufferRef;
use crate::model::layout_names;

/// Tensors of a kernel by the names that its statements use: the operands, and the intermediates that the statements
/// checked so far write.
pub(super) type TensorTable = BTreeMap<String, KernelTensor>;

/// Tensor that the statements of a kernel read or write.
#[derive(Debug, Clone)]
pub(super) struct KernelTensor {
    /// Axes of the tensor, with extents over the symbols of the kernel.
    pub(super) shape: Vec<Axis>,
    /// Name of the tensor in messages: for an operand, the name of the declared tensor.
    pub(super) label: String,
    pub(super) kind: KernelTensorKind,
}

/// Storage of a kernel's tensor: a buffer, or none.
#[derive(Debug, Clone)]
pub(super) enum KernelTensorKind {
    /// Stored in `buffer`; kernels compute on its elements in type `ty`.
    Stored { buffer: BufferRef, ty: Scalar },
    /// Without storage: the value replaces each read.
    Inlined {
        /// Value of an element as a function of the tensor's axes.
        value: InferredValue,
        /// Name of a tensor that the value reads and that a later statement has written, so that the value may no
        /// longer be inlined; `None` if there is none.
        stale: Option<String>,
    },
    /// Invalid: an earlier diagnostic reports the fault of the tensor.
    Broken,
}

impl KernelTensor {
    /// Name and shape of the tensor for notes: `input { n 16; h 64 }`.
    pub(super) fn signature_text(&self, symbols: &[Symbol]) -> String {
        format!("{} {}", self.label, layout_names::shape(&self.shape, symbols))
    }
}

/// Part of `text` at the byte range `span`; empty if the range is invalid.
pub(super) fn slice_text<'t>(
    text: &'t SpannedText,
    span: &super::statement_syntax::StatementSpan,
) -> &'t str {
    text.value.get(span.clone()).unwrap_or_default()
}
