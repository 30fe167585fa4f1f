//! Helper: slots of all elements, evaluated from the map of a checked layout; the oracle of the move kernels.
#![allow(unreachable_pub, missing_docs, clippy::unwrap_used, reason = "shared by several tests")]

use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::Verdict;
use layoutc_compiler::base::fill;
use layoutc_compiler::model::{Convert, Fill, Memory, Tensor};

use super::moves::{Elements, Extents, Subject};

/// Value of a size with the given symbol values, in the tensor's order.
pub fn value(expr: &Expr, symbols: &[i64]) -> usize {
    at(expr, &[], symbols)
}

/// Value of an expression at an index.
pub fn at(expr: &Expr, index: &[usize], symbols: &[i64]) -> usize {
    let found = expr.evaluate(&|var| match var {
        Var::Axis(k) => i128::try_from(index[usize::try_from(k).unwrap()]).ok(),
        Var::Symbol(k) => symbols.get(usize::try_from(k).unwrap()).copied().map(i128::from),
        Var::Storage(_) | Var::Physical(_) | Var::Digit(_) => None,
    });
    usize::try_from(found.unwrap()).unwrap()
}

/// Indices of a shape in row-major order.
pub fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let count = shape.iter().product();
    (0..count).map(move |mut k: usize| {
        let mut index = vec![0; shape.len()];
        for (place, extent) in index.iter_mut().zip(shape).rev() {
            (*place, k) = (k % extent, k / extent);
        }
        index
    })
}

pub fn shape(tensor: &Tensor, symbols: &[i64]) -> Vec<usize> {
    tensor.layout.logical().iter().map(|axis| value(&axis.extent, symbols)).collect()
}

/// The tensor at these symbol values; `None` if it has no memory, or if its image has more than 16384 rows.
pub fn subject(tensor: &Tensor, prefix: &str, symbols: &[i64]) -> Option<Subject> {
    let layout = &tensor.layout;
    let size = |expr: &Expr| value(expr, symbols);
    let physical: Vec<usize> = layout.physical_shape().iter().map(size).collect();
    let per_texel = if tensor.dtype.lanes == 4 { 1 } else { 4 };
    let image = match (tensor.memory, physical.as_slice()) {
        (Memory::None, _) => return None,
        (Memory::Image2d, [height, _]) if *height > 16384 => return None,
        (Memory::Image2d, [height, along]) => {
            Some(Extents { width: along / per_texel, height: *height, images: None })
        }
        (Memory::Image2dArray, [images, height, along]) => {
            Some(Extents { width: along / per_texel, height: *height, images: Some(*images) })
        }
        _ => None,
    };
    // Rows of an image have no pitch.
    let slot = |index: &[usize]| match image {
        Some(_) => {
            let places = layout.physical_map().iter().map(|expr| at(expr, index, symbols));
            places.zip(&physical).fold(0, |sum, (place, extent)| sum * extent + place)
        }
        None => at(layout.offset(), index, symbols),
    };
    let bits = usize::try_from(tensor.dtype.element_bits()).unwrap();
    let lanes = usize::try_from(tensor.dtype.lanes).unwrap();
    let lane = fill::bits(tensor.dtype, tensor.fill).unwrap().to_le_bytes();
    let mut lane = lane[..(bits / lanes).div_ceil(8).min(8)].to_vec();
    lane.resize((bits / lanes).div_ceil(8), 0);
    let slots = match image {
        Some(_) => physical.iter().product(),
        None => size(layout.physical_elements()),
    };
    let extents = shape(tensor, symbols);
    let left_out = indices(&extents).enumerate().filter(|(_, index)| {
        let index: Vec<i128> = index.iter().map(|k| i128::try_from(*k).unwrap()).collect();
        let symbols: Vec<i128> = symbols.iter().copied().map(i128::from).collect();
        !layout.contains(&index, &symbols).unwrap()
    });
    let left_out: Vec<usize> = left_out.map(|(k, _)| k).collect();
    let every = indices(&extents).enumerate();
    let slot_of = every.map(|(k, index)| if left_out.contains(&k) { 0 } else { slot(&index) });
    Some(Subject {
        name: format!("{prefix}{}", tensor.name),
        dtype: tensor.dtype.to_string(),
        elements: Elements { bits, high_first: tensor.high_first },
        fill: (tensor.fill != Fill::Nothing).then_some(lane.repeat(lanes)),
        image,
        slot_of: slot_of.collect(),
        left_out,
        slots,
        padded: layout.verdict() == Verdict::Padded,
        searched: layout.inverse().is_none(),
        symbols: symbols.get(..layout.symbols().len()).unwrap_or_default().to_vec(),
    })
}

/// Row-major position in the source of each element of a conversion's destination.
pub fn source_positions(
    convert: &Convert,
    from: &Tensor,
    to: &Tensor,
    symbols: &[i64],
) -> Vec<usize> {
    let source = shape(from, symbols);
    let pick = |target: Vec<usize>| {
        let axes = convert.axes.iter().zip(&source);
        axes.fold(0, |sum, (axis, extent)| sum * extent + target[*axis])
    };
    indices(&shape(to, symbols)).map(pick).collect()
}
