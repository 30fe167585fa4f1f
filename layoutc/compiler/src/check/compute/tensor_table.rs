//! The tensors of a kernel, by name, as far as its statements are checked.

use std::collections::BTreeMap;

use layoutc_algebra::symbol::{Axis, Symbol};

use super::value::InferredValue;
use crate::base::dtype::Scalar;
use crate::manifest::syntax::SpannedText;
use crate::model::compute::BufferRef;
use crate::model::layout_names;

/// Tensors of a kernel by the names that its statements use. It grows while the statements are checked in order, so it
/// has those of the statements checked so far.
pub(super) type TensorTable = BTreeMap<String, KernelTensor>;

/// Tensor that the statements of a kernel read or write.
#[derive(Debug, Clone)]
pub(super) struct KernelTensor {
    /// Axes of the tensor, with extents over the symbols of the kernel.
    pub(super) shape: Vec<Axis>,
    /// Name of the tensor in messages: that of the declared tensor or of the intermediate.
    pub(super) label: String,
    pub(super) kind: KernelTensorKind,
}

/// Storage of a kernel's tensor.
#[derive(Debug, Clone)]
pub(super) enum KernelTensorKind {
    /// Stored in the memory of `buffer`; `ty` is the type of its elements' arithmetic.
    Stored { buffer: BufferRef, ty: Scalar },
    /// Without storage: its value is inlined into each read.
    Inlined {
        /// Value of an element, over the tensor's own axes.
        value: InferredValue,
        /// Name of a tensor that the value reads and that a later statement wrote; `None` if there is none, so that the
        /// value may be inlined.
        stale: Option<String>,
    },
    /// Invalid: an earlier diagnostic covers the tensor.
    Broken,
}

impl KernelTensor {
    /// Text of the tensor with its shape: `input { n 16; h 64 }`
    pub(super) fn signature_text(&self, symbols: &[Symbol]) -> String {
        format!("{} {}", self.label, layout_names::shape(&self.shape, symbols))
    }
}

/// Part of a text at a byte range.
pub(super) fn slice_text<'t>(
    text: &'t SpannedText,
    span: &super::statement_syntax::StatementSpan,
) -> &'t str {
    text.value.get(span.clone()).unwrap_or_default()
}
