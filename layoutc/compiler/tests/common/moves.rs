//! Helper: runs pack, unpack and convert kernels on OpenCL and CUDA and compares every byte with the expected memory,
//! computed from a table of slots.
#![allow(
    unreachable_pub,
    missing_docs,
    missing_debug_implementations,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "shared by several tests, writes files"
)]

mod elements;
mod execution;
mod subject;

use std::path::Path;

pub use elements::Elements;
pub use execution::{Effort, Outputs, channels, constant, run};
pub use subject::{Extents, Memory, Subject};

/// One move: its kernels with their global sizes, the file that is read, and the file with the expected result.
pub struct Move {
    pub name: String,
    /// Kernel, and its global size per axis if work-items are independent.
    kernel: (String, Vec<usize>),
    /// Kernel that fills the padding first, if any, and the number of slots.
    fill: Option<(String, usize)>,
    /// Size of an element in bytes.
    element_bytes: usize,
    symbols: Vec<i64>,
    from: (Memory, String),
    to: (Memory, String),
}

impl Move {
    /// True if the source or the destination is empty: OpenCL has no empty memory objects.
    fn is_empty(&self) -> bool {
        self.from.0.is_empty() || self.to.0.is_empty()
    }

    /// Number of work-items of the largest kernel.
    fn items(&self) -> usize {
        let items: usize = self.kernel.1.iter().product();
        items.max(self.fill.as_ref().map_or(0, |(_, slots)| *slots))
    }
}

/// Moves of a manifest: pack and unpack of every tensor, and each conversion of `converts`. Writes the input and the
/// expected result of each to `folder`, with `number` in the file names.
pub fn moves(
    folder: &Path,
    subjects: &[Subject],
    converts: &[Convert],
    number: usize,
) -> Vec<Move> {
    let file = |name: String, bytes: &[u8]| {
        std::fs::write(folder.join(&name), bytes).unwrap();
        name
    };
    let mut all = Vec::new();
    let mut sources = Vec::new();
    for (k, tensor) in (1..).zip(subjects) {
        let name = &tensor.name;
        let dense = tensor.dense(k);
        let logical = file(format!("{name}.{number}.logical"), &dense);
        let unpacked = file(format!("{name}.{number}.unpacked"), &tensor.unpacked(&dense));
        let packed = tensor.packed(&dense, tensor.elements);
        let physical = file(format!("{name}.{number}.physical"), &packed);
        let dense_memory = Memory::Buffer { bytes: dense.len() };
        all.push(Move {
            name: format!("{name}_pack"),
            kernel: (format!("{name}_pack"), into_layout(tensor)),
            fill: Some((format!("{name}_fill"), tensor.slots)),
            element_bytes: tensor.elements.bits.div_ceil(8),
            symbols: tensor.symbols.clone(),
            from: (dense_memory.clone(), logical.clone()),
            to: (tensor.home(), physical.clone()),
        });
        let elements = tensor.slot_of.len();
        let items =
            if tensor.elements.bits < 8 { tensor.elements.items(elements) } else { elements };
        all.push(Move {
            name: format!("{name}_unpack"),
            kernel: (format!("{name}_unpack"), vec![items]),
            fill: None,
            element_bytes: tensor.elements.bits.div_ceil(8),
            symbols: tensor.symbols.clone(),
            from: (tensor.home(), physical.clone()),
            to: (dense_memory, if tensor.left_out.is_empty() { logical } else { unpacked }),
        });
        sources.push((dense, physical));
    }
    for Convert { from: a, to: b, element, name } in converts {
        let (from, to) = (&subjects[*a], &subjects[*b]);
        let (dense, physical) = &sources[*a];
        let mut ordered = vec![0; dense.len()];
        for k in 0..to.slot_of.len() {
            from.elements.set(&mut ordered, k, &from.elements.get(dense, element(k)));
        }
        let mut expected = to.packed(&ordered, from.elements);
        let indices = 0..to.slot_of.len();
        for k in
            indices.filter(|k| from.left_out.contains(&element(*k)) && !to.left_out.contains(k))
        {
            to.elements.set(&mut expected, to.slot_of[k], &to.outside());
        }
        let expected = file(format!("{name}.{number}"), &expected);
        all.push(Move {
            kernel: (name.clone(), into_layout(to)),
            fill: Some((format!("{name}_fill"), to.slots)),
            element_bytes: to.elements.bits.div_ceil(8),
            name: name.clone(),
            symbols: if from.symbols.is_empty() {
                to.symbols.clone()
            } else {
                from.symbols.clone()
            },
            from: (from.home(), physical.clone()),
            to: (to.home(), expected),
        });
    }
    all
}

/// A conversion between the subjects at two positions.
pub struct Convert<'a> {
    pub from: usize,
    pub to: usize,
    pub name: String,
    /// Row-major position in the source of the destination's element at a position.
    pub element: &'a dyn Fn(usize) -> usize,
}

/// Global size of the kernel that writes a layout, per axis.
fn into_layout(to: &Subject) -> Vec<usize> {
    let slots = to.slots;
    if let Some(Extents { width, height, images }) = to.image {
        return [Some(width), Some(height), images].into_iter().flatten().collect();
    }
    match (to.searched, to.elements.bits < 8) {
        (true, true) => vec![1],
        (true, false) => vec![to.slot_of.len()],
        (false, true) => vec![to.elements.items(slots)],
        (false, false) => vec![slots],
    }
}
