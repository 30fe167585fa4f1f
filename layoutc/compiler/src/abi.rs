//! What other code relies on when it shares a tensor's memory: the layout ABI, one line a tensor.

use layoutc_algebra::expr::Expr;
use serde::{Deserialize, Serialize};

use crate::diagnostic::Place;
use crate::model::Tensor;
use crate::wording;

/// The layout ABI of one tensor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abi {
    /// The tensor.
    pub name: String,
    /// Element type, axes, physical shape, strides in elements, map, bytes, alignment in bytes, and a hash of all that:
    /// `f32 n=3 c=8 -> [24] strides [1] map "n * 8 + c" bytes 96 align 64 hash 0123456789abcdef`.
    pub text: String,
    /// Where the manifest says so.
    pub place: Place,
}

/// The layout ABI of a tensor. Two tensors with the same text put every element in the same place.
pub fn abi(tensor: &Tensor) -> Abi {
    let layout = &tensor.layout;
    let text = |expr: &Expr| wording::expr(expr, layout);
    let list = |exprs: &[Expr], with| exprs.iter().map(text).collect::<Vec<_>>().join(with);
    let axes: Vec<String> =
        layout.logical.iter().map(|axis| format!("{}={}", axis.name, text(&axis.extent))).collect();
    let order = if tensor.high_first { " high-first" } else { "" };
    let memory = tensor.memory_word();
    let mut line = format!(
        "{}{order} {} -> [{}] strides [{}] map \"{}\" bytes {} align {} {memory}",
        tensor.dtype,
        if axes.is_empty() { "()".to_owned() } else { axes.join(" ") },
        list(&layout.physical_shape, ", "),
        list(&layout.physical_strides, ", "),
        list(&layout.physical_map, " | "),
        text(&tensor.counts().bytes),
        layout.alignment_bytes,
    );
    let hash = blake3::hash(line.as_bytes()).to_hex();
    line.push_str(" hash ");
    line.push_str(&hash.as_str()[..16]);
    Abi { name: tensor.name.clone(), text: line, place: tensor.places.layout.clone() }
}
