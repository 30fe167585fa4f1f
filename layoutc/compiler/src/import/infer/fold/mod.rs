//! Constant folding: elements of small result tensors that follow from shapes and constant operands.

mod elementwise;
mod movement;
mod reduce;

use crate::base::dtype::Scalar;
use crate::import::call::{OnnxCall, ShapedTensor, count};
use crate::import::elements::{ConstantElements, MAX_KNOWN, represents, rounded};

pub(super) use movement::non_zeros;

/// Elements of the results of a call, in row-major order, one entry for each of `results`, which have the shapes and
/// the element types. `None` for a result whose elements are not computed, for example because there are more than
/// [`MAX_KNOWN`], an operand has unknown elements, or the operator is not folded.
pub(super) fn fold(call: &OnnxCall<'_>, results: &[ShapedTensor]) -> Vec<Option<ConstantElements>> {
    // `CastLike` uses only the element type of its second operand.
    let is_read = |k: usize| k != 1 || call.node.op_type != "CastLike";
    let read = call.inputs.iter().enumerate().filter(|(k, _)| is_read(*k));
    let mut read = read.filter_map(|(_, input)| *input);
    if call.inputs.is_empty() || read.any(|input| input.known.is_none()) {
        return results.iter().map(|result| elementwise::decided(call, result)).collect();
    }
    results.iter().enumerate().map(|(k, result)| one(call, k, result)).collect()
}

fn one(call: &OnnxCall<'_>, k: usize, result: &ShapedTensor) -> Option<ConstantElements> {
    let all = size(&result.shape)?;
    if all > MAX_KNOWN {
        return None;
    }
    if all == 0 {
        let is_float = matches!(result.dtype, Scalar::F32 | Scalar::F64);
        return Some(if is_float {
            ConstantElements::Floats(vec![])
        } else {
            ConstantElements::Integers(vec![])
        });
    }
    let folded = if k > 0 {
        movement::split(call, k, result)?
    } else {
        movement::fold_movement(call, result)
            .or_else(|| elementwise::elementwise(call, result, all))
            .or_else(|| reduce::reduced(call, result, all))?
    };
    if folded.len() != all {
        return None;
    }
    match folded {
        ConstantElements::Integers(values) => {
            let is_representable = values.iter().all(|value| represents(result.dtype, *value));
            is_representable.then_some(ConstantElements::Integers(values))
        }
        ConstantElements::Floats(values) => {
            let values = values.into_iter().map(|value| rounded(value, result.dtype));
            Some(ConstantElements::Floats(values.collect::<Option<_>>()?))
        }
    }
}

/// Strided view of a row-major tensor. `shape` is the shape of the view, and `start` the position in the tensor of the
/// view's first element. `steps[k]` is the distance in the tensor, in elements, between neighbors along axis `k`; it
/// may be 0 or negative.
struct StridedView<'a> {
    shape: &'a [u64],
    start: i64,
    steps: Vec<i64>,
}

impl StridedView<'_> {
    fn places(&self) -> Option<Vec<Option<usize>>> {
        if self.shape.contains(&0) {
            return Some(Vec::new());
        }
        let mut places = vec![self.start];
        for (extent, step) in self.shape.iter().zip(&self.steps) {
            let extent = i64::try_from(*extent).ok()?;
            let mut next = Vec::new();
            for place in places {
                for k in 0..extent {
                    next.push(place.checked_add(k.checked_mul(*step)?)?);
                }
            }
            places = next;
        }
        Some(places.into_iter().map(|place| usize::try_from(place).ok()).collect())
    }
}

/// Number of elements of a shape; `None` if it is 2^63 or more.
fn size(shape: &[u64]) -> Option<usize> {
    count(shape).ok().and_then(|size| usize::try_from(size).ok())
}

/// Row-major strides of a shape, in elements, outermost first: `[2, 3]` gives `[3, 1]`. `None` if a number does not fit
/// 63 bits.
fn strides(shape: &[u64]) -> Option<Vec<i64>> {
    let mut strides = Vec::new();
    let mut step = 1_i64;
    for extent in shape.iter().rev() {
        strides.push(step);
        step = step.checked_mul(i64::try_from(*extent).ok()?)?;
    }
    strides.reverse();
    Some(strides)
}

/// Elements of the tensor `input` broadcast to `shape`, in row-major order. `None` if, for example, the elements are
/// unknown, or the tensor has more axes than the shape.
fn spread(input: &ShapedTensor, shape: &[u64]) -> Option<ConstantElements> {
    let before = shape.len().checked_sub(input.shape.len())?;
    let own = strides(&input.shape)?;
    let own =
        own.iter().zip(&input.shape).map(|(step, extent)| if *extent == 1 { 0 } else { *step });
    let steps = std::iter::repeat_n(0, before).chain(own).collect();
    let places = StridedView { shape, start: 0, steps }.places()?;
    input.known.as_ref()?.pick(places.into_iter())
}
