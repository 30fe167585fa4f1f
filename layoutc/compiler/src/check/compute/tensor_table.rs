//! The tensors of a kernel, by name, as far as its statements are checked.

use std::collections::BTreeMap;

use layoutc_algebra::symbol::{Axis, Symbol};

use super::value::InferredValue;
use crate::base::dtype::Scalar;
use crate::manifest::syntax::SpannedText;
use crate::model::compute::BufferRef;
use crate::model::layout_names;

/// The tensors of a kernel, by their names in it.
pub(super) type TensorTable = BTreeMap<String, KernelTensor>;

/// A tensor of a kernel.
#[derive(Debug, Clone)]
pub(super) struct KernelTensor {
    /// Axes, with extents over the symbols of the kernel.
    pub(super) shape: Vec<Axis>,
    /// Name in messages: that of the declared tensor or of the intermediate.
    pub(super) label: String,
    pub(super) kind: KernelTensorKind,
}

/// Kind of a tensor of a kernel.
#[derive(Debug, Clone)]
pub(super) enum KernelTensorKind {
    /// Stored in memory; `ty` is the type of its arithmetic.
    Stored { buffer: BufferRef, ty: Scalar },
    /// Inlined into each read.
    Inlined {
        /// The value over the tensor's own axes.
        value: InferredValue,
        /// A tensor that the value reads and a later statement wrote.
        stale: Option<String>,
    },
    /// Has an earlier diagnostic.
    Broken,
}

impl KernelTensor {
    /// `input { n 16; h 64 }`
    pub(super) fn signature_text(&self, symbols: &[Symbol]) -> String {
        format!("{} {}", self.label, layout_names::shape(&self.shape, symbols))
    }
}

/// The bytes of a span.
pub(super) fn slice_text<'t>(
    text: &'t SpannedText,
    span: &super::statement_syntax::StatementSpan,
) -> &'t str {
    text.value.get(span.clone()).unwrap_or_default()
}
