//! Functions that convert a tensor from one layout to another.

pub(crate) mod elements;
pub(crate) mod function;
pub(crate) mod nest;
pub(crate) mod padding;

use layoutc_algebra::symbol::Symbol;

use crate::base::cast::{Cast, CastMode};
use crate::base::dtype::{Dtype, Scalar};
use crate::base::fill;
use crate::loops::error::PlanError;
use crate::loops::relayout::address_map::address_maps;
use crate::loops::relayout::digits::{DigitRefinement, common_refinement};
use crate::loops::relayout::plan::Primitives;
use crate::loops::renumbered;
use crate::lower::context::{Context, Naming};
use crate::lower::relayout::elements::RelayoutEnd;
use crate::lower::relayout::function::{Move, RelayoutBuilder};
use crate::lower::relayout::padding::PaddingPolicy;
use crate::model::compute::{
    BufferRef, KernelInstance, LoopSchedule, Reduction, TypedExpr, TypedExprKind,
};
use crate::model::{Convert, ConvertSchedule, InnerKernel, Manifest, StorePolicy, Tensor};

/// Plans one relayout: `<from>_to_<to>(symbols, from, to)`; padding of the destination gets its fill value. `None` if
/// the source or the destination does not exist.
///
/// # Errors
/// [`PlanError`] if an integer does not fit 64 bits or an expression nests too deep.
pub fn convert(
    manifest: &Manifest,
    convert: &Convert,
    naming: &Naming<'_>,
) -> Result<Option<Move>, PlanError> {
    let Some((from, target)) = ends(manifest, convert)? else { return Ok(None) };
    let source = Context::new(from, naming);
    let destination = Context::new(&target, naming);
    let builder = RelayoutBuilder::convert(&source, &destination, convert.cast);
    let linear = linear(&source, &destination, &convert.axes)?;
    let choices = match naming.options.primitives {
        Primitives::Runtime => &convert.choices,
        Primitives::None => ConvertSchedule::NONE,
    };
    relayout(builder, [&source, &destination], &convert.axes, linear.as_ref(), choices).map(Some)
}

/// Plans a kernel that only copies one operand to another as a relayout: `NAME(symbols, from, to)`. `None` for every
/// other kernel: one that computes anything but a conversion of the element type in one step, has a loop schedule, or
/// whose operands have no digits in common, are ring buffers or have a domain.
///
/// # Errors
/// [`PlanError`] if an integer does not fit 64 bits or an expression nests too deep.
pub fn copy_kernel(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
) -> Result<Option<Move>, PlanError> {
    if compute.statements.iter().any(|statement| !statement.schedules.is_empty()) {
        return Ok(None);
    }
    let plan = |builder: RelayoutBuilder<'_>,
                ends: [&Context<'_>; 2],
                axes: &[usize],
                linear: &DigitRefinement| {
        relayout(builder, ends, axes, Some(linear), ConvertSchedule::NONE)
    };
    with_copy(manifest, compute, naming, plan)
}

/// Result of `plan` for an instance that only copies one operand to another: from its function without statements, the
/// contexts of source and destination, the position in the destination of each source axis, and the common digits.
/// `None` for every other instance, as in [`copy_kernel`].
pub(crate) fn with_copy<T, P>(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    plan: P,
) -> Result<Option<T>, PlanError>
where
    P: FnOnce(
        RelayoutBuilder<'_>,
        [&Context<'_>; 2],
        &[usize],
        &DigitRefinement,
    ) -> Result<T, PlanError>,
{
    let Some(copy) = OperandCopy::of(manifest, compute)? else { return Ok(None) };
    let source = Context::new(&copy.from, naming);
    let destination = Context::new(&copy.to, naming);
    let ends = [&source, &destination];
    let Some(builder) = RelayoutBuilder::copy_kernel(ends, compute, copy.cast) else {
        return Ok(None);
    };
    let Some(linear) = linear(&source, &destination, &copy.axes)? else { return Ok(None) };
    plan(builder, ends, &copy.axes, &linear).map(Some)
}

/// Copy of all elements of one operand of a kernel to another, with permuted axes.
struct OperandCopy {
    /// Tensor that is read, over the symbols of the instance.
    from: Tensor,
    /// Tensor that is written, over the symbols of the instance.
    to: Tensor,
    /// For each axis of the source, its position in the destination.
    axes: Vec<usize>,
    /// Conversion of each element; `None` if both tensors have the same element type.
    cast: Option<Cast>,
}

impl OperandCopy {
    /// Copy, if an instance consists of it; `None` if the instance does anything else, or has a loop schedule.
    fn of(manifest: &Manifest, compute: &KernelInstance) -> Result<Option<Self>, PlanError> {
        let ([statement], [source, target], []) =
            (&*compute.statements, &*compute.operands, &*compute.locals)
        else {
            return Ok(None);
        };
        let is_plain = statement.op == Reduction::Assign
            && !statement.accumulate
            && statement.scatter.is_none()
            && statement.caches.is_empty()
            && statement.target == BufferRef::Operand(1)
            && compute.schedule == LoopSchedule::default();
        let (read, types) = read_and_conversions(&statement.value);
        let TypedExprKind::Read(read) = &read.kind else { return Ok(None) };
        if !is_plain || read.buffer != BufferRef::Operand(0) || read.outside.is_some() {
            return Ok(None);
        }
        let tensors = [source, target].map(|operand| manifest.tensor(operand.tensor));
        let [Some(from), Some(to)] = tensors else { return Ok(None) };
        let is_dense = |tensor: &Tensor| tensor.ring.is_none() && tensor.layout.domain().is_none();
        if ![from, to].into_iter().all(is_dense) {
            return Ok(None);
        }
        let Some(cast) = single_cast(from.dtype, &types, to.dtype) else { return Ok(None) };
        let from = renumbered(from, &compute.symbols)?;
        let to = renumbered(to, &compute.symbols)?;
        let axes = read.permutation(from.layout.logical(), to.layout.logical());
        Ok(axes.map(|axes| Self { from, to, axes, cast }))
    }
}

/// Expression without its outermost conversions, and the types that these convert to, in the order of execution.
fn read_and_conversions(value: &TypedExpr) -> (&TypedExpr, Vec<Scalar>) {
    let (mut inner, mut types) = (value, Vec::new());
    while let TypedExprKind::Convert(operand) = &inner.kind {
        types.push(inner.ty);
        inner = operand;
    }
    types.reverse();
    (inner, types)
}

/// Conversion that has the result of converting elements of type `from` to `types` in order, then to `to`. The inner
/// option is `None` if no conversion is needed, the outer one if the chain may round, wrap or saturate differently.
#[expect(
    clippy::option_option,
    reason = "the inner one is the conversion, the outer one the result"
)]
fn single_cast(from: Dtype, types: &[Scalar], to: Dtype) -> Option<Option<Cast>> {
    let cast = |from, to| Cast::new(from, to, CastMode::Round);
    let is_exact = |from, to| cast(from, to).is_ok_and(|cast| cast.is_none_or(Cast::is_lossless));
    let is_float = |dtype: Dtype| fill::format(dtype.scalar).is_some();
    // Integers out of range wrap, floats saturate: the conversion to `to` starts from a type of the same kind as `from`.
    let is_alike = |reached| is_float(reached) == is_float(from) || is_exact(from, to);
    let (mut reached, mut is_converted) = (from, false);
    for ty in types {
        let dtype = ty.element();
        if dtype == to && !is_converted {
            if !is_alike(reached) {
                return None;
            }
            is_converted = true;
        } else if !is_exact(reached, dtype) {
            return None;
        }
        reached = dtype;
    }
    if !is_converted && !is_alike(reached) {
        return None;
    }
    cast(from, to).ok()
}

/// Common digits of `source` and `destination`, with their strides in both; `None` if the layouts have none. `axes` are
/// the positions of the source's axes in the destination.
fn linear(
    source: &Context<'_>,
    destination: &Context<'_>,
    axes: &[usize],
) -> Result<Option<DigitRefinement>, PlanError> {
    let layout = destination.layout;
    let Some((a, b)) = address_maps(source.layout, layout, axes)? else { return Ok(None) };
    Ok(common_refinement(&a, &b, layout.logical(), layout.symbols())?)
}

/// Function of a relayout: loops over the digits of `linear`, or loops that copy single elements if it is `None`.
fn relayout(
    mut builder: RelayoutBuilder<'_>,
    [source, destination]: [&Context<'_>; 2],
    axes: &[usize],
    linear: Option<&DigitRefinement>,
    choices: &ConvertSchedule,
) -> Result<Move, PlanError> {
    let elements = destination.layout.physical_elements();
    let source_buffer = builder.buffer(source, 0, "s", "load");
    let target_buffer = builder.buffer(destination, 1, "d", "store");
    if linear.is_none() {
        refuse(choices)?;
    }
    let fill = choices.fill.as_ref();
    builder.prepare_destination(
        destination,
        elements,
        PaddingPolicy::of(destination),
        linear,
        fill,
    )?;
    let buffers = [&source_buffer, &target_buffer];
    let body = match linear {
        Some(refinement) => builder.nest(destination, source, refinement, buffers, choices)?,
        None => {
            let ends = [RelayoutEnd::Layout(source), RelayoutEnd::Layout(destination)];
            builder.by_elements(ends, axes, buffers)?
        }
    };
    Ok(builder.finish(body))
}

/// Error if a schedule has directives for digits: a relayout of single elements has none.
fn refuse(choices: &ConvertSchedule) -> Result<(), PlanError> {
    let order = choices.order.first().map(|name| &name.place);
    let block = choices.block.as_ref().map(|block| &block.place);
    let inside = choices.inside.as_ref().filter(|inside| inside.value != InnerKernel::Elementwise);
    let inside = inside.map(|inside| &inside.place);
    let stores = choices.stores.as_ref().filter(|stores| stores.value == StorePolicy::Streaming);
    let stores = stores.map(|stores| &stores.place);
    match order.or(block).or(inside).or(stores) {
        None => Ok(()),
        Some(place) => Err(PlanError::Choice {
            message: "this conversion copies single elements: its maps have no common digits"
                .into(),
            help: "remove this directive".into(),
            place: place.clone(),
        }),
    }
}

/// Source and destination, with one numbering of symbols: those of the destination are matched by name. `None` if a
/// tensor does not exist.
pub(crate) fn ends<'m>(
    manifest: &'m Manifest,
    convert: &Convert,
) -> Result<Option<(&'m Tensor, Tensor)>, PlanError> {
    let named = (manifest.tensor(convert.from), manifest.tensor(convert.to));
    let (Some(from), Some(to)) = named else { return Ok(None) };
    Ok(Some((from, adopt_symbols(from, to)?)))
}

/// Tensor `to` with its symbols renumbered as in `from`, followed by those that `from` lacks.
fn adopt_symbols(from: &Tensor, to: &Tensor) -> Result<Tensor, PlanError> {
    let mut symbols: Vec<Symbol> = from.layout.symbols().to_vec();
    for symbol in to.layout.symbols() {
        if symbols.iter().all(|other| other.name != symbol.name) {
            symbols.push(symbol.clone());
        }
    }
    renumbered(to, &symbols)
}
