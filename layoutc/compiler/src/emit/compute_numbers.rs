//! Input values that the test program gives to kernels.

use std::collections::BTreeSet;

use layoutc_algebra::expr::Expr;
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::Axis;

use super::compute_test::epsilon;
use crate::base::dtype::Scalar;
use crate::base::fill;
use crate::model::compute::{
    BufferRef, DataIndex, KernelInstance, KernelOperand, MathFunction, Reduction, Statement,
    TypedExprKind,
};
use crate::model::{Fill, FillValue, Manifest, TensorRef};

/// Set of input values for an operand of a kernel: a selection from the list [`numbers`] of its tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Values from -3 to 5.
    All,
    /// Positive values up to 5, for functions that are undefined for negative arguments.
    Positive,
    /// Values of magnitude 1, for products that would leave the range of their type otherwise.
    Units,
    /// All values of the list, for elements that are used as indices.
    Indices,
    /// Values from 0 to this bound, exclusive, for elements that are used as indices and that the kernel requires to be
    /// in this range. A bound below 1 counts as 1.
    Below(i128),
}

/// Maximum number of float factors in a product of the test; longer products are of units.
const FACTORS: i128 = 64;

/// Set of input values for a buffer of a kernel: index values if the kernel uses its elements as indices, else units if
/// the kernel has a reduction by product in an integer type or of more than [`FACTORS`] iterations, else positive values
/// if it calls a function that is undefined for negative arguments, else all.
pub(super) fn numbers_for(compute: &KernelInstance, buffer: BufferRef) -> Numbers {
    if indexes(compute, buffer) {
        let BufferRef::Operand(k) = buffer else { return Numbers::Indices };
        let range = compute.operands.get(k).and_then(|operand| operand.range.as_ref());
        return range.map_or(Numbers::Indices, |range| Numbers::Below(least(range, compute)));
    }
    let may_overflow = |statement: &Statement| {
        let mut reduced = statement.axes.iter().skip(statement.written_axes);
        let factors =
            reduced.try_fold(1_i128, |all, axis| Some(all.saturating_mul(axis.extent.as_const()?)));
        let is_long = factors.is_none_or(|factors| factors > FACTORS);
        statement.op == Reduction::Product && (is_long || epsilon(statement.accumulator) == 0.0)
    };
    if compute.statements.iter().any(may_overflow) {
        return Numbers::Units;
    }
    let mut found = Numbers::All;
    for statement in &compute.statements {
        statement.walk(&mut |value| {
            if let TypedExprKind::Call(
                MathFunction::Log | MathFunction::Sqrt | MathFunction::Rsqrt | MathFunction::Pow,
                _,
            ) = value.kind
            {
                found = Numbers::Positive;
            }
        });
    }
    found
}

/// True if elements of the buffer are indices, or operands of an index computation.
fn indexes(compute: &KernelInstance, buffer: BufferRef) -> bool {
    accesses(compute).iter().any(|(_, index)| index.iter().any(|index| index.value.uses(buffer)))
}

/// Accesses at indices read from buffers (gather and scatter), as pairs (accessed buffer, indices).
fn accesses(compute: &KernelInstance) -> Vec<(BufferRef, &[DataIndex])> {
    let mut all: Vec<(BufferRef, &[DataIndex])> = Vec::new();
    for statement in &compute.statements {
        all.extend(statement.scatter.as_deref().map(|index| (statement.target, index)));
        statement.walk(&mut |value| {
            if let TypedExprKind::Gather(gather) = &value.kind {
                all.push((gather.buffer, &gather.index));
            }
        });
    }
    all
}

/// Lower bound of an extent for all values of the symbols; 0 if none is known.
fn least(extent: &Expr, compute: &KernelInstance) -> i128 {
    Facts::new(&compute.symbols).bounds(extent).map_or(0, |(least, _)| least)
}

/// Input values of float and complex types: negative ones first, and values of magnitude 1 side by side.
const FLOATS: &[f64] = &[-2.0, -1.5, -0.5, -1.0, 1.0, 0.5, 0.75, 2.0];
/// Input values of integer types, ascending; [`ends`] has further values for indices.
const INTEGERS: &[i32] = &[-3, -2, -1, 1, 2, 3, 4, 5];

/// Input values of a tensor as pairs (number, bit pattern of the scalar), negative numbers first: 0 and 1 for `bool` and
/// `u1`, [`FLOATS`] for float and complex types, and for other types [`INTEGERS`], with the values of [`ends`] if
/// elements of the tensor are used as indices. Numbers for which [`fill::bits`] fails, such as -1 for an unsigned type,
/// are left out. For a float type the pattern is that of the nearest value: that of 1 for 0.75 in `f4e2m1fn`. Empty if
/// the manifest lacks the tensor.
pub(super) fn numbers(manifest: &Manifest, of: TensorRef) -> Vec<(f64, u64)> {
    let Some(dtype) = manifest.tensor(of).map(|tensor| tensor.dtype) else {
        return Vec::new();
    };
    let bits = |number: f64| {
        let bits = fill::bits(dtype, Fill::Value(FillValue::Float(number))).ok()?;
        Some((number, bits))
    };
    let all: Vec<f64> = match dtype.scalar {
        Scalar::Bool | Scalar::U1 => vec![0.0, 1.0],
        scalar if epsilon(scalar) > 0.0 => FLOATS.to_vec(),
        _ => {
            let mut all: BTreeSet<i32> = INTEGERS.iter().copied().collect();
            all.extend(ends(manifest, of));
            all.into_iter().map(f64::from).collect()
        }
    };
    all.into_iter().filter_map(bits).collect()
}

/// Index values for a tensor whose elements kernels use as indices: for each axis of constant extent that the elements
/// index, the first, middle and last index, and the first index beyond. The ranges that kernels require of the elements
/// count as such axes, with their least extents. Extents beyond `i32` are left out. Empty for any other tensor.
fn ends(manifest: &Manifest, of: TensorRef) -> BTreeSet<i32> {
    let mut ends = BTreeSet::new();
    for compute in &manifest.computes {
        for (k, operand) in compute.operands.iter().enumerate() {
            let own = BufferRef::Operand(k);
            if operand.tensor != of || !indexes(compute, own) {
                continue;
            }
            let mut extents: Vec<i128> =
                operand.range.iter().map(|range| least(range, compute)).collect();
            for (buffer, index) in accesses(compute) {
                let axes = axes(manifest, compute, buffer).iter().zip(index);
                let own = axes.filter(|(_, index)| index.value.uses(own));
                extents.extend(own.filter_map(|(axis, _)| axis.extent.as_const()));
            }
            for extent in extents.into_iter().filter_map(|extent| i32::try_from(extent).ok()) {
                let [last, middle] = [extent.saturating_sub(1), extent / 2];
                ends.extend([0, middle, last, extent].into_iter().filter(|end| *end >= 0));
            }
        }
    }
    ends
}

fn axes<'m>(manifest: &'m Manifest, compute: &'m KernelInstance, buffer: BufferRef) -> &'m [Axis] {
    let tensor = match buffer {
        BufferRef::Operand(k) => {
            compute.operands.get(k).and_then(|operand| manifest.tensor(operand.tensor))
        }
        BufferRef::Local(k) => compute.locals.get(k),
    };
    tensor.map(|tensor| tensor.layout.logical()).unwrap_or_default()
}

/// Input values that the test program gives to an operand: the pair `(first, count)` selects `count` consecutive values
/// of the list [`numbers`] of the operand's tensor, from position `first`. They are the most consecutive values that are
/// in the set `wanted`; `(0, 1)` if none is.
pub(super) fn picked(
    manifest: &Manifest,
    operand: &KernelOperand,
    wanted: Numbers,
) -> (usize, usize) {
    let all = numbers(manifest, operand.tensor);
    let few = INTEGERS
        .first()
        .zip(INTEGERS.last())
        .map_or([0.0; 2], |(first, last)| [f64::from(*first), f64::from(*last)]);
    #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
    let is_it = |number: f64| match wanted {
        Numbers::All => number >= few[0] && number <= few[1],
        Numbers::Positive => number > 0.0 && number <= few[1],
        Numbers::Units => number.abs() <= 1.0 && number.abs() >= 1.0,
        Numbers::Indices => true,
        Numbers::Below(extent) => number >= 0.0 && number < extent.max(1) as f64,
    };
    let (mut best, mut first) = ((0, 0), 0);
    for (at, (number, _)) in all.iter().enumerate() {
        if !is_it(*number) {
            first = at.saturating_add(1);
        } else if at.saturating_sub(first) >= best.1 {
            best = (first, at.saturating_sub(first).saturating_add(1));
        }
    }
    (best.0, best.1.max(1))
}
