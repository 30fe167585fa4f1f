//! What the names of tensors mean in a kernel, as far as its statements were read.

use std::collections::BTreeMap;

use layoutc_algebra::layout::{Axis, Symbol};

use super::value::InferredValue;
use crate::dtype::Scalar;
use crate::layout_names;
use crate::manifest::syntax::SpannedText;
use crate::model::compute::BufferRef;

/// The tensors of a kernel by their names there.
pub(super) type TensorTable = BTreeMap<String, KernelTensor>;

/// What a name of a tensor stands for.
#[derive(Debug, Clone)]
pub(super) struct KernelTensor {
    /// Its axes; extents are over the symbols of the compute.
    pub(super) shape: Vec<Axis>,
    /// What it is called in messages: the tensor of the file, or the intermediate.
    pub(super) label: String,
    /// What it is.
    pub(super) kind: KernelTensorKind,
}

/// What a tensor of a kernel is.
#[derive(Debug, Clone)]
pub(super) enum KernelTensorKind {
    /// It has memory; the type is the one that its elements are computed in.
    Stored { buffer: BufferRef, ty: Scalar },
    /// It is written in place of each read.
    Inlined {
        /// Over its own axes.
        value: InferredValue,
        /// What it reads and a later statement wrote.
        stale: Option<String>,
    },
    /// An earlier diagnostic says what is wrong with it.
    Broken,
}

impl KernelTensor {
    /// `input { n 16; h 64 }`
    pub(super) fn signature_text(&self, symbols: &[Symbol]) -> String {
        let one = |axis: &Axis| {
            format!("{} {}", axis.name, layout_names::symbol_expr(&axis.extent, symbols))
        };
        let axes = self.shape.iter().map(one).collect::<Vec<_>>().join("; ");
        if axes.is_empty() {
            format!("{} {{}}", self.label)
        } else {
            format!("{} {{ {axes} }}", self.label)
        }
    }
}

/// A part of a text.
pub(super) fn slice_text<'t>(
    text: &'t SpannedText,
    span: &super::statement_syntax::StatementSpan,
) -> &'t str {
    text.value.get(span.clone()).unwrap_or_default()
}
