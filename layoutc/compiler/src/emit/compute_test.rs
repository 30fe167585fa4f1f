//! Values for the tests of kernels in the test program of a manifest: reference implementation, inputs, and tolerances.

use std::collections::BTreeSet;

use layoutc_algebra::expr::Var;
use layoutc_algebra::symbol::Symbol;

use super::compute_numbers::{numbers, numbers_for, picked};
use super::dialect::Dialect;
use super::element;
use super::model::{ComputeTestUnit, ComputedUnit, LocalUnit, OperandTestUnit};
use super::test_unit::{self, cases, is_taken};
use crate::base::dtype::{Dtype, Scalar};
use crate::base::fill;
use crate::emit::syntax::Spelling;
use crate::ir;
use crate::loops::error::PlanError;
use crate::loops::range::Range;
use crate::lower::context::{Context, Naming};
use crate::lower::expr::{Binding, lower};
use crate::lower::index::buffer_bytes;
use crate::lower::kernel::buffers::is_given;
use crate::lower::names::Namer;
use crate::model::compute::{BufferRef, KernelInstance, KernelOperand, Statement};
use crate::model::{Manifest, TensorRef};
use crate::passes::index_width;
use crate::reference::kernel::{ReferenceKernel, plain};

/// Maximum number of iterations of the reference implementation; beyond it, only a sample of the elements is computed.
const MOST_ROUNDS: i128 = 1 << 24;

/// Data of one kernel for the test program: reference implementation, test cases, operands, and buffers of intermediate
/// tensors.
pub(super) fn compute(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    dialect: &Dialect,
) -> Result<ComputeTestUnit, PlanError> {
    let avoid = |name: &str| (naming.avoid)(name) || is_taken(name);
    let mut namer = Namer::new(&avoid);
    let facts: Vec<&Symbol> = compute.symbols.iter().collect();
    let symbols: Vec<String> = facts.iter().map(|symbol| namer.name(&symbol.name)).collect();
    let contexts = operand_contexts(manifest, compute, naming)?;
    let mut cases = cases(&facts, &contexts.iter().collect::<Vec<_>>());
    let work = cases.iter().map(|case| {
        let statements = compute.statements.iter();
        statements.map(|statement| rounds(statement, 0, case)).sum::<Result<i128, PlanError>>()
    });
    let work = work.collect::<Result<Vec<i128>, PlanError>>()?;
    let samples = work.iter().any(|rounds| *rounds > MOST_ROUNDS);
    let name = format!("layoutc_plain_{}", naming.tensor(&compute.name));
    let ReferenceKernel { mut function, is_sampled } =
        plain(manifest, compute, naming, (name, samples))?;
    let relative = tolerance(compute, cases.last().map_or(&[], Vec::as_slice))?;
    if samples {
        for (case, rounds) in cases.iter_mut().zip(work) {
            // An odd interval is not a multiple of a power of two.
            case.push(i64::try_from(rounds / MOST_ROUNDS).unwrap_or(i64::MAX) | 1);
        }
    }
    let named: Vec<(&str, &String)> =
        facts.iter().map(|symbol| symbol.name.as_str()).zip(&symbols).collect();
    let mut units = Vec::new();
    for (k, context) in contexts.iter().enumerate() {
        let is_sampled = is_sampled.get(k).copied().unwrap_or(false);
        let unit = operand((manifest, compute), (k, context), relative, &named);
        let unit = unit.ok_or(PlanError::Scope)?;
        units.push(OperandTestUnit { name: namer.name(&unit.name), is_sampled, ..unit });
    }
    let locals = locals(compute, dialect, naming, &symbols, &mut namer)?;
    index_width(&mut function, dialect.index_max);
    let (plain, operands) = (function.into(), units);
    Ok(ComputeTestUnit { plain, samples, symbols, cases, operands, locals })
}

/// Contexts of a kernel's operands, in order.
pub(super) fn operand_contexts<'m>(
    manifest: &'m Manifest,
    compute: &KernelInstance,
    naming: &'m Naming<'m>,
) -> Result<Vec<Context<'m>>, PlanError> {
    let context = |operand: &KernelOperand| {
        let tensor = manifest.tensor(operand.tensor).ok_or(PlanError::Scope)?;
        Ok(Context::new(tensor, naming))
    };
    compute.operands.iter().map(context).collect()
}

/// Test data of operand `k` with the context `context`; its field `is_sampled` is false. `relative` is the relative
/// tolerance of the kernel, and `named` has pairs (symbol, identifier in the test). `None` if an operand or symbol is
/// unknown.
fn operand(
    (manifest, compute): (&Manifest, &KernelInstance),
    (k, context): (usize, &Context<'_>),
    relative: f64,
    named: &[(&str, &String)],
) -> Option<OperandTestUnit> {
    let operand = compute.operands.get(k)?;
    let dtype = context.tensor.dtype;
    let [absolute, relative] = allowed(dtype, relative);
    let (first, count) = picked(manifest, operand, numbers_for(compute, BufferRef::Operand(k)));
    let symbols = context.symbols.iter().map(|symbol| {
        let known = named.iter().find(|(name, _)| *name == symbol.facts.name);
        known.map(|(_, name)| (*name).clone())
    });
    Some(OperandTestUnit {
        name: operand.name.clone(),
        computed: operands_of_kernels(manifest).iter().position(|of| *of == operand.tensor)?,
        symbols: symbols.collect::<Option<_>>()?,
        is_filled: is_read(compute, BufferRef::Operand(k)),
        first,
        count,
        is_written: operand.is_written,
        pads: context.fills() && is_overwritten(compute, BufferRef::Operand(k)),
        is_sampled: false,
        absolute,
        relative,
    })
}

/// Buffers for intermediate tensors that the caller of the kernel or of the reference implementation provides: the
/// parameters after the operands. `symbols` are the identifiers of the kernel's symbols in the test, and `namer` makes
/// the identifiers of the buffers.
fn locals(
    compute: &KernelInstance,
    dialect: &Dialect,
    naming: &Naming<'_>,
    symbols: &[String],
    namer: &mut Namer<'_>,
) -> Result<Vec<LocalUnit>, PlanError> {
    let mut units = Vec::new();
    let whole = compute.computed_as_a_whole();
    for tensor in compute.locals.iter().filter(|tensor| is_given(&whole, tensor)) {
        let context = Context::new(tensor, naming);
        let scope = |var: Var| {
            let known = context.symbols.iter().find(|known| var == Var::Symbol(known.number))?;
            let mut all = compute.symbols.iter();
            let number = all.position(|symbol| symbol.name == known.facts.name)?;
            Some(Binding { tree: ir::Expr::name(symbols.get(number)?), range: Range::NATURAL })
        };
        let bytes = buffer_bytes(&context, tensor.layout.physical_elements())?;
        units.push(LocalUnit {
            name: namer.name(&tensor.name),
            of_kernel: is_given(compute, tensor),
            in_buffer: element::type_name(dialect, &tensor.dtype.to_string(), true),
            bytes: lower(&bytes, &scope)?.into(),
        });
    }
    Ok(units)
}

/// Number of iterations of a statement: the product of the extents of its axes from position `from` on, for the values
/// `values` of the kernel's symbols.
pub(super) fn rounds(
    statement: &Statement,
    from: usize,
    values: &[i64],
) -> Result<i128, PlanError> {
    let value = |var: Var| match var {
        Var::Symbol(k) => values.get(usize::try_from(k).ok()?).map(|value| i128::from(*value)),
        _ => None,
    };
    let mut rounds = 1_i128;
    for axis in statement.axes.iter().skip(from) {
        rounds = rounds.saturating_mul(axis.extent.evaluate(&value)?);
    }
    Ok(rounds)
}

/// True if the kernel reads the buffer, or a statement preserves some of its previous contents.
fn is_read(compute: &KernelInstance, buffer: BufferRef) -> bool {
    compute.statements.iter().any(|statement| {
        let accumulates = statement.keeps() && statement.target == buffer;
        accumulates || statement.reads(buffer)
    })
}

/// True if a statement writes the buffer, and the first one that does preserves none of its previous contents and does
/// not read them.
fn is_overwritten(compute: &KernelInstance, buffer: BufferRef) -> bool {
    let mut statements = compute.statements.iter();
    let first = statements.find(|statement| statement.target == buffer);
    first.is_some_and(|statement| !statement.keeps())
}

/// Relative tolerance for the results of a kernel, for the values `values` of its symbols. It allows for the rounding
/// of each operation, and for sums in another order.
fn tolerance(compute: &KernelInstance, values: &[i64]) -> Result<f64, PlanError> {
    let mut all = 0.0_f64;
    for statement in &compute.statements {
        let mut computed = 0.0_f64;
        statement.walk(&mut |value| computed = computed.max(epsilon(value.ty)));
        let target = match statement.target {
            BufferRef::Operand(_) => 0.0,
            BufferRef::Local(k) => {
                compute.locals.get(k).map_or(0.0, |local| epsilon(local.dtype.scalar))
            }
        };
        let own = if statement.scatter.is_some() { 0 } else { statement.written_axes };
        let terms = rounds(statement, own, values)?.clamp(0, 1 << 24);
        let terms = u32::try_from(terms).unwrap_or(u32::MAX);
        let summed = f64::from(terms) * epsilon(statement.accumulator);
        all += summed + 8.0 * computed.max(epsilon(statement.accumulator)) + 2.0 * target;
    }
    Ok(all)
}

/// Distance from 1 to the next float of the type, or of the type of a complex number's parts; 0 for any other type.
pub(super) fn epsilon(scalar: Scalar) -> f64 {
    fill::format(scalar).map_or(0.0, |format| {
        let bits = i32::try_from(format.mantissa_bits).unwrap_or(0);
        2.0_f64.powi(-bits)
    })
}

/// Literals `[absolute, relative]` of the tolerance for elements of type `dtype`; `relative` is the relative tolerance
/// of the kernel.
fn allowed(dtype: Dtype, relative: f64) -> [String; 2] {
    let spelled = |value: f64| if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") };
    match dtype.scalar {
        Scalar::Bool => [spelled(0.0), spelled(0.0)],
        scalar => match epsilon(scalar) {
            // A value close to a half may be rounded to either integer.
            0.0 if relative > 0.0 => ["1".to_owned(), spelled(relative)],
            0.0 => [spelled(0.0), spelled(0.0)],
            own => [spelled(relative + 2.0 * own), spelled(relative + 2.0 * own)],
        },
    }
}

/// Tensors, then views, that are operands of kernels, each kind in the order of the manifest.
fn operands_of_kernels(manifest: &Manifest) -> BTreeSet<TensorRef> {
    let operands = manifest.computes.iter().flat_map(|compute| &compute.operands);
    operands.map(|operand| operand.tensor).collect()
}

/// Tensors and views that the tests of kernels fill or compare, in the order of [`operands_of_kernels`]. `tests` are
/// the test data of all kernels.
pub(super) fn computed(
    manifest: &Manifest,
    tests: &[&ComputeTestUnit],
    naming: &Naming<'_>,
    dialect: &Dialect,
) -> Result<Vec<ComputedUnit>, PlanError> {
    let mut units = Vec::new();
    for (k, of) in operands_of_kernels(manifest).into_iter().enumerate() {
        let operands = || {
            let all = tests.iter().flat_map(|test| &test.operands);
            all.filter(move |operand| operand.computed == k)
        };
        let tensor = test_unit::stored(manifest, of, naming, dialect)?;
        let literal = |(_, bits): (f64, u64)| {
            element::literal(dialect, &tensor.dtype, &format!("{bits:x}"), Spelling::Number)
        };
        units.push(ComputedUnit {
            numbers: numbers(manifest, of).into_iter().map(literal).collect(),
            is_filled: operands().any(|operand| operand.is_filled),
            is_written: operands().any(|operand| operand.is_written),
            tensor,
        });
    }
    Ok(units)
}
