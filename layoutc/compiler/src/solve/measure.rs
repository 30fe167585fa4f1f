//! Benchmark manifest of the layout conversions that a graph may need.

use std::collections::BTreeMap;

use crate::model::graph::{Compatibility, Graph, GraphTensor};
use crate::model::{Convert, Manifest};

/// Layout conversion of a graph: the positions of a tensor and of its source and destination candidates.
pub type LayoutChange = (usize, usize, usize);

/// Manifest with the conversions, and the routine of each conversion that moves bytes. Tensors of equal shape share
/// routines.
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

/// Name of the tensor at a position of the manifest.
fn name(position: usize) -> String {
    format!("measured{position}")
}

/// Position in the manifest of a tensor in a layout, which is added if it is missing.
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
    if manifest.converts.iter().any(|convert| (convert.from, convert.to) == (from, to)) {
        return;
    }
    let rank = manifest.tensors.get(from).map_or(0, |tensor| tensor.layout.logical().len());
    let axes = (0..rank).collect();
    manifest.converts.push(Convert::between(from, to, axes, graph.place.clone()));
}
