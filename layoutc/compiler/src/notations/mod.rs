//! Tensors in the notations of other tools: the texts of a tensor, and one text from another.

mod lack;
pub mod sharding;
mod translate;

pub use layoutc_algebra::notation::Notation;
use layoutc_algebra::notation::write::{Elements, write};

pub use lack::lack;
pub use translate::{Asked, Read, Unread, Written, read, written};

use crate::check::Threads;
use crate::host::Forgetful;
use crate::model::Tensor;

/// The notations that are told of every tensor.
pub const TOLD: [Notation; 5] =
    [Notation::Tvm, Notation::Xla, Notation::Onednn, Notation::Cute, Notation::Glow];

/// The tensor's layout in each of [`TOLD`]; `None` where the notation cannot say it, or not the size of its memory.
pub fn texts(tensor: &Tensor) -> [(Notation, Option<String>); TOLD.len()] {
    let dtype = tensor.dtype.to_string();
    let elements = Elements { bits: tensor.dtype.element_bits(), dtype: Some(&dtype) };
    TOLD.map(|notation| {
        let written = write(notation, &tensor.layout, elements, &Threads(&Forgetful)).ok();
        (notation, written.filter(|written| written.equal_sizes).map(|written| written.text))
    })
}
