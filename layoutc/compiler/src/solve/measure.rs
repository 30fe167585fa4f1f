//! Benchmark manifest for the layout conversions that a plan of a graph may need.

use std::collections::BTreeMap;

use crate::model::graph::{Compatibility, Graph, GraphTensor};
use crate::model::{Convert, Manifest, TensorRef};

/// Layout conversion in a graph, as the triple (tensor, source, destination): the position of the tensor, and the
/// positions of the two layouts among its candidates.
pub type LayoutChange = (usize, usize, usize);

/// Pair `(manifest, names)` for a benchmark of a graph's layout conversions. `manifest` has all conversions between
/// candidate layouts of a tensor that move bytes and do not end in a layout that is forbidden or has an opaque Glow
/// attribute. `names` maps each conversion to the name of its routine, such as `measured0_to_measured1`. Tensors with
/// equal shape, element type and layouts share routines. Constants are skipped.
pub fn changes(graph: &Graph) -> (Manifest, BTreeMap<LayoutChange, String>) {
    let path = graph.place.file.to_string();
    let mut manifest = Manifest::empty(path);
    let mut routines = BTreeMap::new();
    let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (position, tensor) in graph.tensors.iter().enumerate().filter(|(_, t)| !t.is_constant()) {
        let count = tensor.candidates.len();
        for (from, to) in (0..count).flat_map(|from| (0..count).map(move |to| (from, to))) {
            let is_moved = tensor.compatibility(from, to) != Compatibility::Satisfied;
            let is_closed =
                tensor.candidates.get(to).is_none_or(|c| c.is_opaque() || c.is_forbidden);
            if !is_moved || is_closed {
                continue;
            }
            let places = [from, to].map(|k| laid_out(tensor, k, &mut known, &mut manifest));
            let [Some(from_tensor), Some(to_tensor)] = places else { continue };
            convert(graph, from_tensor, to_tensor, &mut manifest);
            let name = format!("{}_to_{}", name(from_tensor), name(to_tensor));
            routines.insert((position, from, to), name);
        }
    }
    (manifest, routines)
}

/// Name of the benchmark tensor at a position in the manifest's list of tensors: `measured3`.
fn name(position: usize) -> String {
    format!("measured{position}")
}

/// Position in `manifest` of the benchmark tensor for `tensor` in the candidate layout at position `candidate`. It is
/// added unless `known` has its position already, under the key (shape with element type, layout text). `None` if there
/// is no such candidate.
fn laid_out(
    tensor: &GraphTensor,
    candidate: usize,
    known: &mut BTreeMap<(String, String), usize>,
    manifest: &mut Manifest,
) -> Option<usize> {
    let candidate = tensor.candidates.get(candidate)?;
    let shape = format!("{:?} {}", candidate.tensor.layout.logical(), candidate.tensor.dtype);
    let key = (shape, candidate.text.clone());
    if let Some(position) = known.get(&key) {
        return Some(*position);
    }
    let position = manifest.tensors.len();
    known.insert(key, position);
    manifest.tensors.push(candidate.tensor.with_name(name(position)));
    Some(position)
}

fn convert(graph: &Graph, from: usize, to: usize, manifest: &mut Manifest) {
    let ends = (TensorRef::Tensor(from), TensorRef::Tensor(to));
    if manifest.converts.iter().any(|convert| (convert.from, convert.to) == ends) {
        return;
    }
    let rank = manifest.tensors.get(from).map_or(0, |tensor| tensor.layout.logical().len());
    let axes = (0..rank).collect();
    manifest.converts.push(Convert::between(from, to, axes, graph.place.clone()));
}
