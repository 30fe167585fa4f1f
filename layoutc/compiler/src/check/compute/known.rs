//! What the names of tensors mean in a kernel, as far as its statements were read.

use std::collections::BTreeMap;

use layoutc_algebra::layout::{Axis, Symbol};

use super::value::Built;
use crate::dtype::Scalar;
use crate::manifest::syntax::Text;
use crate::model::compute::Buffer;
use crate::wording;

/// The tensors of a kernel by their names there.
pub(super) type Names = BTreeMap<String, Known>;

/// What a name of a tensor stands for.
#[derive(Debug, Clone)]
pub(super) struct Known {
    /// Its axes; extents are over the symbols of the compute.
    pub(super) shape: Vec<Axis>,
    /// What it is called in messages: the tensor of the file, or the intermediate.
    pub(super) label: String,
    /// What it is.
    pub(super) kind: KnownKind,
}

/// What a tensor of a kernel is.
#[derive(Debug, Clone)]
pub(super) enum KnownKind {
    /// It has memory; the type is the one that its elements are computed in.
    Stored { buffer: Buffer, ty: Scalar },
    /// It is written in place of each read.
    Inlined {
        /// Over its own axes.
        value: Built,
        /// What it reads and a later statement wrote.
        stale: Option<String>,
    },
    /// An earlier diagnostic says what is wrong with it.
    Broken,
}

impl Known {
    /// `input { n 16; h 64 }`
    pub(super) fn told(&self, symbols: &[Symbol]) -> String {
        let one = |axis: &Axis| format!("{} {}", axis.name, wording::over(&axis.extent, symbols));
        let axes = self.shape.iter().map(one).collect::<Vec<_>>().join("; ");
        if axes.is_empty() {
            format!("{} {{}}", self.label)
        } else {
            format!("{} {{ {axes} }}", self.label)
        }
    }
}

/// A part of a text.
pub(super) fn written<'t>(text: &'t Text, span: &super::text::Span) -> &'t str {
    text.value.get(span.clone()).unwrap_or_default()
}
