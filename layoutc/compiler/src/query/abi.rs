//! Layout ABI of tensors, one line of text each: the properties that other code relies on when it shares a tensor's
//! memory.

use layoutc_algebra::expr::Expr;
use serde::{Deserialize, Serialize};

use crate::base::diagnostic::FileSpan;
use crate::model::Tensor;
use crate::model::layout_names;
use crate::model::reshard::DeviceSharding;
use crate::model::ring::Ring;

/// Layout ABI of one tensor, as text with a hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abi {
    /// Name of the tensor.
    pub name: String,
    /// Line of text with the element type, bit order of packed elements, axes, domain, physical shape, physical strides
    /// in elements, index map, size and alignment in bytes, memory, sharding, and ring buffer. Properties that a tensor
    /// lacks are omitted. The line ends with a hash of the text before, 16 hexadecimal digits:
    /// `f32 n=3 c=8 -> [24] strides [1] map "n * 8 + c" bytes 96 align 64 global hash 0123456789abcdef`.
    pub text: String,
    /// Span of the tensor's layout in the manifest.
    pub place: FileSpan,
}

/// Layout ABI of a tensor. Tensors with equal texts store every element at the same offset of equally large buffers.
pub fn abi(tensor: &Tensor) -> Abi {
    let layout = &tensor.layout;
    let text = |expr: &Expr| layout_names::layout_expr(expr, layout);
    let list = |exprs: &[Expr], with| exprs.iter().map(text).collect::<Vec<_>>().join(with);
    let axes: Vec<String> = layout
        .logical()
        .iter()
        .map(|axis| format!("{}={}", axis.name, text(&axis.extent)))
        .collect();
    let order = if tensor.high_first { " high-first" } else { "" };
    let memory = tensor.memory_word();
    let mesh = tensor.sharded.as_ref().map_or_else(String::new, on_mesh);
    let domain = layout_names::domain(tensor);
    let domain = domain.map_or_else(String::new, |domain| format!(" where \"{domain}\""));
    let ring = tensor.ring.as_ref().map_or_else(String::new, |ring| in_ring(tensor, ring));
    let mut line = format!(
        "{}{order} {}{domain} -> [{}] strides [{}] map \"{}\" bytes {} align {} {memory}{mesh}{ring}",
        tensor.dtype,
        if axes.is_empty() { "()".to_owned() } else { axes.join(" ") },
        list(layout.physical_shape(), ", "),
        list(layout.physical_strides(), ", "),
        list(layout.physical_map(), " | "),
        text(&tensor.counts().bytes),
        layout.alignment_bytes(),
    );
    let hash = blake3::hash(line.as_bytes()).to_hex();
    line.push_str(" hash ");
    line.push_str(&hash.as_str()[..16]);
    Abi { name: tensor.name.clone(), text: line, place: tensor.places.layout.clone() }
}

/// Suffix of the text for a ring buffer: ` ring y=4/64` if memory holds 4 indices of an axis `y` whose whole extent is
/// 64.
fn in_ring(tensor: &Tensor, ring: &Ring) -> String {
    let extent = ring.whole.get(ring.axis);
    let extent = extent
        .map_or_else(String::new, |axis| layout_names::layout_expr(&axis.extent, &tensor.layout));
    format!(" ring {}={}/{extent}", ring.name(), ring.capacity)
}

/// Suffix of the text for a sharded tensor: ` mesh x=2 y=4 shard n=15/"y x"`. It has the axes of the mesh with their
/// numbers of devices. For each sharded axis it has the extent in the whole tensor, and the mesh axes that partition
/// it.
fn on_mesh(sharded: &DeviceSharding) -> String {
    let axes = &sharded.mesh.axes;
    let mesh: Vec<String> =
        axes.iter().map(|axis| format!("{}={}", axis.name, axis.size)).collect();
    let cuts =
        sharded.whole.iter().zip(sharded.sharding.over()).filter(|(_, over)| !over.is_empty());
    let cuts = cuts.map(|(axis, over)| {
        let over: Vec<&str> =
            over.iter().filter_map(|k| axes.get(*k)).map(|axis| axis.name.as_str()).collect();
        let extent = axis.extent.as_const().unwrap_or(0);
        format!("{}={extent}/\"{}\"", axis.name, over.join(" "))
    });
    let cuts: Vec<String> = cuts.collect();
    let shard = if cuts.is_empty() { String::new() } else { format!(" shard {}", cuts.join(" ")) };
    format!(" mesh {}{shard}", mesh.join(" "))
}
