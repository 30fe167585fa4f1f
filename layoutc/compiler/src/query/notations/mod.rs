//! Layouts in the notations of other tools: printing of tensors' layouts, and translation of texts.

mod inexpressible;
pub mod sharding;
mod translate;

pub use layoutc_algebra::notation::Notation;
use layoutc_algebra::notation::write::{ElementFormat, write};

pub use inexpressible::lack;
pub use translate::{ParsedLayout, TranslateError, TranslateRequest, WrittenLayout, read, written};

use crate::env::NoCache;
use crate::env::executor::RayonExecutor;
use crate::model::Tensor;

/// Notations in which reports on tensors show the layout, in the order of the reports.
pub const REPORTED: [Notation; 5] =
    [Notation::Tvm, Notation::Xla, Notation::Onednn, Notation::Cute, Notation::Glow];

/// Text of the tensor's layout in each of [`REPORTED`]; `None` if the notation cannot express the layout or the
/// buffer's size.
pub fn texts(tensor: &Tensor) -> [(Notation, Option<String>); REPORTED.len()] {
    // No other tool names record types.
    let dtype = tensor.dtype.record().is_none().then(|| tensor.dtype.to_string());
    let elements = ElementFormat { bits: tensor.dtype.element_bits(), dtype: dtype.as_deref() };
    REPORTED.map(|notation| {
        let written = write(notation, &tensor.layout, elements, &RayonExecutor(&NoCache)).ok();
        (notation, written.filter(|written| written.equal_sizes).map(|written| written.text))
    })
}
