//! Symbol values, operation counts and buffers for the benchmarks of kernels.

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::symbol::Symbol;

use super::bench_unit::Sizes;
use super::compute_test::{operand_contexts, rounds};
use super::dialect::Dialect;
use super::element;
use super::model::{ComputeBenchUnit, ComputeMemoryUnit};
use crate::base::fill;
use crate::emit::syntax::Spelling;
use crate::loops::error::PlanError;
use crate::lower::context::{Context, Naming};
use crate::lower::index::buffer_bytes;
use crate::lower::kernel::buffers::is_given;
use crate::model::compute::{
    Arithmetic, BufferRef, KernelInstance, Reduction, Statement, TypedExpr, TypedExprKind,
};
use crate::model::{Fill, FillValue, Manifest, Tensor};

/// Maximum number of element operations of a kernel in a benchmark. The least values of its symbols may exceed it.
const MOST_OPERATIONS: i128 = 1 << 28;

/// Benchmark of one kernel: values of its symbols, numbers of elements, operations and bytes, and the buffers of its
/// parameters.
pub(super) fn compute(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    dialect: &Dialect,
) -> Result<ComputeBenchUnit, PlanError> {
    let contexts = operand_contexts(manifest, compute, naming)?;
    let facts: Vec<&Symbol> = compute.symbols.iter().collect();
    let is_short = |values: &[i128]| {
        operations(compute, &whole(values)).is_ok_and(|count| count <= MOST_OPERATIONS)
    };
    let sizes = Sizes::new(&facts, &contexts.iter().collect::<Vec<_>>(), &is_short);
    let values = whole(&sizes.values);
    let mut bytes = 0_i64;
    let mut memory = Vec::new();
    for (context, operand) in contexts.iter().zip(&compute.operands) {
        let elements = |elements: &Algebra| sizes.value(context, &buffer_bytes(context, elements)?);
        bytes = bytes.saturating_add(elements(context.layout.logical_elements())?);
        let slots = elements(context.layout.physical_elements())?;
        // An index that is declared to be in a range is 0, which is in the range.
        let number = i128::from(operand.range.is_none());
        memory.push(memory_of(context.tensor, (slots, number), dialect));
    }
    for tensor in compute.locals.iter().filter(|tensor| is_given(compute, tensor)) {
        let context = Context::new(tensor, naming);
        let slots = buffer_bytes(&context, tensor.layout.physical_elements())?;
        memory.push(memory_of(tensor, (sizes.value(&context, &slots)?, 1), dialect));
    }
    let mut elements = 0_i128;
    for statement in &compute.statements {
        if let BufferRef::Operand(_) = statement.target {
            let written = Statement { axes: axes_written(statement), ..statement.clone() };
            elements = elements.saturating_add(rounds(&written, 0, &values)?);
        }
    }
    let [elements, operations] = [elements, operations(compute, &values)?].map(clamped);
    Ok(ComputeBenchUnit { values, elements, operations, bytes, memory })
}

fn axes_written(statement: &Statement) -> Vec<layoutc_algebra::symbol::Axis> {
    statement.axes.iter().take(statement.written_axes).cloned().collect()
}

fn clamped(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn whole(values: &[i128]) -> Vec<i64> {
    values.iter().map(|value| clamped(*value)).collect()
}

/// Buffer of `bytes` bytes for `tensor`, whose items are set to `number`. An item of packed elements has `number` in
/// its low bits and once more in the bits of the next element.
fn memory_of(
    tensor: &Tensor,
    (bytes, number): (i64, i128),
    dialect: &Dialect,
) -> ComputeMemoryUnit {
    let dtype = tensor.dtype;
    let bits = fill::bits(dtype, Fill::Value(FillValue::Integer(number))).unwrap_or(0);
    let element = dtype.to_string();
    let one = if dtype.element_bits() < 8 {
        format!("0x{:02X}", (bits | bits << dtype.element_bits()) & 0xFF)
    } else {
        element::literal(dialect, &element, &format!("{bits:x}"), Spelling::Number)
    };
    let in_buffer = element::type_name(dialect, &element, true);
    ComputeMemoryUnit { in_buffer, bytes, one }
}

/// Number of element operations of a kernel for the values `values` of its symbols, as if no iteration was skipped.
fn operations(compute: &KernelInstance, values: &[i64]) -> Result<i128, PlanError> {
    let mut all = 0_i128;
    for statement in &compute.statements {
        let is_reduced = statement.axes.len() > statement.written_axes;
        let reduces = statement.op != Reduction::Assign && (is_reduced || statement.accumulate);
        let each = i128::from(reduces).saturating_add(operations_of(&statement.value));
        all = all.saturating_add(rounds(statement, 0, values)?.saturating_mul(each));
        if let Some(epilogue) = &statement.epilogue {
            let written = Statement { axes: axes_written(statement), ..statement.clone() };
            let each = operations_of(epilogue);
            all = all.saturating_add(rounds(&written, 0, values)?.saturating_mul(each));
        }
    }
    Ok(all)
}

/// Number of element operations in a value: arithmetic, negations and functions, but no comparisons and no logical
/// operators.
fn operations_of(value: &TypedExpr) -> i128 {
    let mut count = 0_i128;
    value.walk(&mut |value| {
        let is_one = match &value.kind {
            TypedExprKind::Binary(op, ..) => !matches!(op, Arithmetic::And | Arithmetic::Or),
            TypedExprKind::Negate(_) | TypedExprKind::Call(..) => true,
            _ => false,
        };
        count = count.saturating_add(i128::from(is_one));
    });
    count
}
