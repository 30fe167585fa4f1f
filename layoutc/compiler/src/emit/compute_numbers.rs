//! The numbers that the test program of a manifest gives to what kernels read.

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
use crate::model::{Fill, FillValue, Manifest};

/// Which numbers a kernel is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    All,
    /// For functions that have no value below 0.
    Positive,
    /// For products of integers.
    Units,
    /// For indices.
    Indices,
    /// For indices that the kernel says are below this.
    Below(i128),
}

/// The values that an operand of a kernel is given.
pub(super) fn numbers_for(compute: &KernelInstance, buffer: BufferRef) -> Numbers {
    if indexes(compute, buffer) {
        let BufferRef::Operand(k) = buffer else { return Numbers::Indices };
        let range = compute.operands.get(k).and_then(|operand| operand.range.as_ref());
        return range.map_or(Numbers::Indices, |range| Numbers::Below(least(range, compute)));
    }
    let is_integer = |statement: &&Statement| {
        statement.op == Reduction::Product && epsilon(statement.accumulator) == 0.0
    };
    if compute.statements.iter().any(|statement| is_integer(&statement)) {
        return Numbers::Units;
    }
    let mut found = Numbers::All;
    for statement in &compute.statements {
        statement.value.walk(&mut |value| {
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

/// Whether elements of a buffer are indices, or part of one.
fn indexes(compute: &KernelInstance, buffer: BufferRef) -> bool {
    accesses(compute).iter().any(|(_, index)| index.iter().any(|index| index.value.uses(buffer)))
}

/// The accesses at indices that are read, each with what is accessed.
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

/// The least value of an extent.
fn least(extent: &Expr, compute: &KernelInstance) -> i128 {
    Facts::new(&compute.symbols).bounds(extent).map_or(0, |(least, _)| least)
}

/// The numbers of a type.
const FLOATS: &[f64] = &[-2.0, -1.5, -1.0, -0.5, 0.5, 0.75, 1.0, 2.0];
const INTEGERS: &[i32] = &[-3, -2, -1, 1, 2, 3, 4, 5];

/// Numbers that sums and products of a few thousand elements hold exactly, none of them 0 where there are others. Those of indices
/// are also the first and the last of the axes that they are on, and some in between and behind.
pub(super) fn numbers(manifest: &Manifest, tensor: usize) -> Vec<(f64, u64)> {
    let Some(dtype) = manifest.tensors.get(tensor).map(|tensor| tensor.dtype) else {
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
            all.extend(ends(manifest, tensor));
            all.into_iter().map(f64::from).collect()
        }
    };
    all.into_iter().filter_map(bits).collect()
}

/// Indices at the ends of the axes that elements of a tensor are on.
fn ends(manifest: &Manifest, tensor: usize) -> BTreeSet<i32> {
    let mut ends = BTreeSet::new();
    for compute in &manifest.computes {
        for (k, operand) in compute.operands.iter().enumerate() {
            let own = BufferRef::Operand(k);
            if operand.tensor != tensor || !indexes(compute, own) {
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
            compute.operands.get(k).and_then(|operand| manifest.tensors.get(operand.tensor))
        }
        BufferRef::Local(k) => compute.locals.get(k),
    };
    tensor.map(|tensor| tensor.layout.logical()).unwrap_or_default()
}

/// The first of the numbers of a tensor that are picked, and how many there are.
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
    let first = all.iter().position(|(number, _)| is_it(*number)).unwrap_or(0);
    (first, all.iter().filter(|(number, _)| is_it(*number)).count().max(1))
}
