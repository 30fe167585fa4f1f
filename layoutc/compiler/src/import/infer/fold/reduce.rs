//! Constant folding of reductions, `ArgMax`, `ArgMin` and `CumSum`.

use std::cmp::Ordering;

use super::{size, strides};
use crate::import::call::{OnnxCall, ShapedTensor};
use crate::import::elements::{ConstantElements, rounded};

/// Elements of the result of a reduction, of `ArgMax`, of `ArgMin` or of `CumSum`. `result` has the shape and the
/// element type of the result, and `all` is its number of elements. `None` if the elements are not computed, for
/// example for any other operator or an operand that is not constant.
pub(super) fn reduced(
    call: &OnnxCall<'_>,
    result: &ShapedTensor,
    all: usize,
) -> Option<ConstantElements> {
    let first = call.optional(0)?;
    let known = first.known.as_ref()?;
    match call.node.op_type.as_str() {
        "ArgMax" | "ArgMin" => {
            let axis = call.own_axis(0, first.shape.len()).ok()?;
            best(call, known, &groups(first, &[axis], all)?)
        }
        "CumSum" => cumulated(call, first),
        op => {
            let joined = FoldReduction::of(op)?;
            let given = call.parameter("axes", 1).ok()?.filter(|axes| !axes.is_empty());
            let axes = match given {
                Some(axes) => OnnxCall::axes(&axes, first.shape.len()).ok()?,
                None if call.integer("noop_with_empty_axes") == Some(1) => Vec::new(),
                None => (0..first.shape.len()).collect(),
            };
            let groups = groups(first, &axes, all)?;
            match known {
                ConstantElements::Integers(values) => {
                    let one = |group: &Vec<usize>| joined.integers(values, group);
                    Some(ConstantElements::Integers(groups.iter().map(one).collect::<Option<_>>()?))
                }
                ConstantElements::Floats(values) => {
                    let one = |group: &Vec<usize>| joined.floats(values, group, result);
                    Some(ConstantElements::Floats(groups.iter().map(one).collect::<Option<_>>()?))
                }
            }
        }
    }
}

/// Groups of elements of `first` that a reduction over `axes` combines, one for each of the `all` elements of the
/// result, in row-major order. A group is the list of the positions of its elements in `first`. `None` if the elements
/// of `first` are unknown.
fn groups(first: &ShapedTensor, axes: &[usize], all: usize) -> Option<Vec<Vec<usize>>> {
    let steps = strides(&first.shape)?;
    let mut groups = vec![Vec::new(); all];
    let len = first.known.as_ref()?.len();
    for place in 0..len {
        let at = i64::try_from(place).ok()?;
        let mut group = 0_i64;
        for (axis, (step, own)) in steps.iter().zip(&first.shape).enumerate() {
            let own = i64::try_from(*own).ok()?;
            if !axes.contains(&axis) {
                group = group * own + at / step % own;
            }
        }
        groups.get_mut(usize::try_from(group).ok()?)?.push(place);
    }
    Some(groups)
}

/// Reduction operator of ONNX that is folded.
#[derive(Clone, Copy)]
enum FoldReduction {
    Sum,
    Mean,
    Product,
    Max,
    Min,
}

impl FoldReduction {
    fn of(op: &str) -> Option<Self> {
        Some(match op {
            "ReduceSum" => Self::Sum,
            "ReduceMean" => Self::Mean,
            "ReduceProd" => Self::Product,
            "ReduceMax" => Self::Max,
            "ReduceMin" => Self::Min,
            _ => return None,
        })
    }

    fn integers(self, values: &[i64], group: &[usize]) -> Option<i64> {
        let mut group = group.iter().filter_map(|place| values.get(*place).copied());
        match self {
            Self::Sum => group.try_fold(0_i64, i64::checked_add),
            Self::Product => group.try_fold(1_i64, i64::checked_mul),
            Self::Max => group.max(),
            Self::Min => group.min(),
            Self::Mean => None,
        }
    }

    /// Result of the reduction for the elements of `values` at the positions `group`. Sums and products are rounded to
    /// the element type of `result` after each step, and are `None` if it is neither `f32` nor `f64`. `None` too for an
    /// extremum of no elements.
    fn floats(self, values: &[f64], group: &[usize], result: &ShapedTensor) -> Option<f64> {
        let count = f64::from(u32::try_from(group.len()).ok()?);
        let mut group = group.iter().filter_map(|place| values.get(*place).copied());
        match self {
            Self::Sum => group.try_fold(0.0, |sum, one| rounded(sum + one, result.dtype)),
            Self::Mean => {
                let sum = group.try_fold(0.0, |sum, one| rounded(sum + one, result.dtype));
                sum.map(|sum| sum / count)
            }
            Self::Product => group.try_fold(1.0, |all, one| rounded(all * one, result.dtype)),
            Self::Max => group.reduce(|a, b| if a.is_nan() || a > b { a } else { b }),
            Self::Min => group.reduce(|a, b| if a.is_nan() || a < b { a } else { b }),
        }
    }
}

/// Elements of the result of `ArgMax` or `ArgMin`: for each group the index, within the group, of its extremum. Among
/// equal elements it is the first, or the last if `select_last_index` is 1. `known` has the elements of the operand,
/// and a group is a list of positions in `known`. `None` if an element is compared with a NaN, or if a group is empty.
fn best(
    call: &OnnxCall<'_>,
    known: &ConstantElements,
    groups: &[Vec<usize>],
) -> Option<ConstantElements> {
    let wanted = if call.node.op_type == "ArgMax" { Ordering::Greater } else { Ordering::Less };
    let takes_last = call.integer("select_last_index") == Some(1);
    let compare = |a: usize, b: usize| match known {
        ConstantElements::Integers(values) => Some(values.get(a)?.cmp(values.get(b)?)),
        ConstantElements::Floats(values) => values.get(a)?.partial_cmp(values.get(b)?),
    };
    let mut all = Vec::new();
    for group in groups {
        let mut best = 0;
        for (k, place) in group.iter().enumerate().skip(1) {
            match compare(*place, *group.get(best)?)? {
                Ordering::Equal if takes_last => best = k,
                order if order == wanted => best = k,
                _ => {}
            }
        }
        group.first()?;
        all.push(i64::try_from(best).ok()?);
    }
    Some(ConstantElements::Integers(all))
}

/// Elements of the result of `CumSum` of the integers `first` along an axis, the constant in operand 1. The attributes
/// `exclusive` and `reverse` apply. `None` for floats, on overflow, and if an operand is not constant.
fn cumulated(call: &OnnxCall<'_>, first: &ShapedTensor) -> Option<ConstantElements> {
    let is_set = |name: &str| call.integer(name) == Some(1);
    let axis = *call.optional(1)?.known.as_ref()?.integers()?.first()?;
    let axis = OnnxCall::axis(axis, first.shape.len()).ok()?;
    let values = first.known.as_ref()?.integers()?;
    let outer = first.shape.iter().enumerate().filter(|(k, _)| *k != axis).map(|(_, own)| *own);
    let outer = size(&outer.collect::<Vec<_>>())?;
    let mut sums = vec![0; values.len()];
    for mut group in groups(first, &[axis], outer)? {
        if is_set("reverse") {
            group.reverse();
        }
        let mut sum = 0_i64;
        for place in group {
            let with = sum.checked_add(*values.get(place)?)?;
            *sums.get_mut(place)? = if is_set("exclusive") { sum } else { with };
            sum = with;
        }
    }
    Some(ConstantElements::Integers(sums))
}
