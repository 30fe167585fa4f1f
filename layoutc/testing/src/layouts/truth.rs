//! Oracle for layouts: the location of every element in memory, or the fault of a step.

use std::collections::BTreeMap;

use super::axes_after::{extents_after, index_after};
use super::case::{Case, Step, position};

/// Fault of a layout that the oracle finds; steps and items are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Index of a map that is negative for some element. The fields are the positions of the step and of the item.
    Negative(usize, usize),
    /// Declared extent in a map that is too small for the index of some element. The fields are the positions of the
    /// step and of the item.
    TooSmall(usize, usize),
    /// Logical indices of two elements that have the same offset in memory.
    Collision(Vec<i64>, Vec<i64>),
    /// Index of a map for which the language defines no extent, such as a bit operation on a value that may be
    /// negative.
    Open,
}

/// Result of the oracle for a valid layout. `names`, `storage` and `strides` are the names, the extents and the strides
/// in elements of the storage axes, outermost first. `physical_elements` counts elements and padding in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    pub names: Vec<String>,
    pub storage: Vec<i64>,
    pub physical_shape: Vec<i64>,
    pub physical_strides: Vec<i64>,
    pub strides: Vec<i64>,
    pub physical_elements: i64,
    pub logical_elements: i64,
    /// Location of each element, in row-major order of the logical index: its logical, storage and physical index, and
    /// its offset in elements.
    pub elements: Vec<Element>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    pub logical: Vec<i64>,
    pub storage: Vec<i64>,
    pub physical: Vec<i64>,
    pub offset: i64,
}

/// All index tuples of a box with the extents `extents`, in row-major order.
pub fn points(extents: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for extent in extents {
        let longer = |point: &Vec<i64>| {
            let point = point.clone();
            (0..*extent).map(move |i| [point.as_slice(), &[i]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Locations of all elements of the layout `case`.
///
/// # Errors
/// The first [`Fault`] that is found: of the steps in order, then a collision of two elements.
pub fn truth(case: &Case) -> Result<Truth, Fault> {
    let logical: Vec<i64> = case.axes.iter().map(|(_, extent)| *extent).collect();
    let mut names: Vec<String> = case.axes.iter().map(|(name, _)| name.clone()).collect();
    let mut extents = logical.clone();
    let indices = points(&logical);
    let mut current = indices.clone();
    let (mut separators, mut strides) = (Vec::new(), None);
    let mut aligned: BTreeMap<usize, i64> = BTreeMap::new();
    for (number, step) in case.steps.iter().enumerate() {
        let open = case.open();
        let Some(after) = extents_after(step, &names, &extents, open) else {
            return Err(Fault::Open);
        };
        current = current.iter().map(|i| index_after(step, &names, &extents, i)).collect();
        if let Step::Map { items, .. } = step {
            for (k, item) in items.iter().enumerate() {
                if current.iter().any(|index| index[k] < 0) {
                    return Err(Fault::Negative(number, k));
                }
                let stated = item.extent.unwrap_or(i64::MAX);
                if current.iter().any(|index| index[k] >= stated) {
                    return Err(Fault::TooSmall(number, k));
                }
            }
        }
        match step {
            Step::Map { separators: own, .. } => separators.clone_from(own),
            Step::Separators(own) => {
                separators = own.iter().map(|name| position(&names, name)).collect();
            }
            Step::Strides(own) => strides = Some(own.clone()),
            Step::Align { axis, bytes } => {
                aligned.insert(position(&names, axis), *bytes);
            }
            _ => {}
        }
        names = step.names(&names);
        extents = after;
    }
    let memory = memory(case, &extents, &separators, strides.as_deref(), &aligned);
    let mut taken: BTreeMap<i64, &[i64]> = BTreeMap::new();
    let mut elements = Vec::new();
    for (logical, storage) in indices.iter().zip(current) {
        let physical: Vec<i64> = memory
            .groups
            .iter()
            .map(|group| group.clone().map(|k| storage[k] * memory.local_strides[k]).sum())
            .collect();
        let offset = physical.iter().zip(&memory.pitches).map(|(p, pitch)| p * pitch).sum();
        if let Some(first) = taken.insert(offset, logical) {
            return Err(Fault::Collision(first.to_vec(), logical.clone()));
        }
        elements.push(Element { logical: logical.clone(), storage, physical, offset });
    }
    let mut all_strides = vec![0; extents.len()];
    for (group, pitch) in memory.groups.iter().zip(&memory.pitches) {
        for k in group.clone() {
            all_strides[k] = memory.local_strides[k] * pitch;
        }
    }
    let empty = memory.shape.contains(&0);
    Ok(Truth {
        names,
        storage: extents,
        physical_elements: if empty { 0 } else { memory.shape[0] * memory.pitches[0] },
        physical_shape: memory.shape,
        physical_strides: memory.pitches,
        strides: all_strides,
        logical_elements: logical.iter().product(),
        elements,
    })
}

struct Memory {
    groups: Vec<std::ops::Range<usize>>,
    local_strides: Vec<i64>,
    shape: Vec<i64>,
    pitches: Vec<i64>,
}

/// Arrangement of the storage axes of `case`, whose extents are `extents`, in memory. `separators` are the positions of
/// axes that an axis separator follows; the axes between two separators are a group, which is a physical axis. Without
/// `strides`, the axes of a group are row-major, and so are the groups. `aligned` has alignments in bytes by the
/// position of an axis, which enlarge strides. With `strides`, in elements, there is one group.
fn memory(
    case: &Case,
    extents: &[i64],
    separators: &[usize],
    strides: Option<&[i64]>,
    aligned: &BTreeMap<usize, i64>,
) -> Memory {
    if let Some(strides) = strides {
        let size: i64 = extents.iter().zip(strides).map(|(e, s)| (e - 1) * s).sum();
        let size = if extents.contains(&0) { 0 } else { size + 1 };
        return Memory {
            groups: std::iter::once(0..extents.len()).collect(),
            local_strides: strides.to_vec(),
            shape: vec![size],
            pitches: vec![1],
        };
    }
    let mut groups = Vec::new();
    let mut start = 0;
    for last in separators {
        groups.push(start..last + 1);
        start = last + 1;
    }
    groups.push(start..extents.len());
    let mut local_strides = vec![1; extents.len()];
    let (mut shape, mut pitches) = (vec![1; groups.len()], vec![1; groups.len()]);
    let mut pitch = 1;
    // Least value from `value` on for which `value * unit` elements are a multiple of `bytes`.
    let raise = |mut value: i64, unit: i64, bytes: i64| {
        while value * unit * case.element_bits % (bytes * 8) != 0 {
            value += 1;
        }
        value
    };
    for (g, group) in groups.iter().enumerate().rev() {
        let inner = g + 1 == groups.len();
        if let (false, Some(bytes)) = (inner, aligned.get(&(group.end.max(1) - 1))) {
            pitch = raise(pitch, 1, *bytes);
        }
        let (mut stride, mut extent) = (1, 1);
        for k in group.clone().rev() {
            if let Some(bytes) = aligned.get(&k)
                && (inner || k + 1 != group.end)
            {
                let unit = raise(1, pitch, *bytes);
                stride = (stride + unit - 1) / unit * unit;
            }
            local_strides[k] = stride;
            extent = stride * extents[k];
            stride *= extents[k].max(1);
        }
        let empty = group.clone().any(|k| extents[k] == 0);
        shape[g] = if empty { 0 } else { extent };
        pitches[g] = pitch;
        pitch *= if empty { stride } else { extent };
    }
    Memory { groups, local_strides, shape, pitches }
}
