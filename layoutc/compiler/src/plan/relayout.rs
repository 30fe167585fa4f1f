//! Plans of relayouts, from statement to function: pack, unpack, conversions, and kernels that only copy.

use layoutc_algebra::symbol::Symbol;

use crate::ir::{Function, Stmt};
use crate::loops::error::PlanError;
use crate::loops::relayout::digits::DigitRefinement;
use crate::loops::relayout::directives;
use crate::loops::relayout::operand_copy::OperandCopy;
use crate::loops::relayout::plan::{Primitives, RelayoutPlan, plan};
use crate::lower::context::{Context, Naming};
use crate::lower::relayout::builder::RelayoutBuilder;
use crate::lower::relayout::padding::Padding;
use crate::lower::relayout::statement::{RelayoutStatement, ends};
use crate::model::compute::KernelInstance;
use crate::model::{Convert, ConvertSchedule, FillStrategy, InnerKernel, Manifest, StorePolicy};
use crate::passes;

/// Function of a relayout, and the decisions behind it.
#[derive(Debug, Clone)]
pub struct RelayoutFunction {
    /// Function that copies all elements.
    pub function: Function,
    /// Loops over digits; `None` if the loops copy single elements because the layouts have no common digits.
    pub plan: Option<RelayoutPlan>,
    /// Symbols over which the strides and extents of the digits in `plan` are: `Var::Symbol(k)` is `symbols[k]`.
    pub symbols: Vec<Symbol>,
    /// Treatment of the destination's padding.
    pub padding: Padding,
}

/// Function of a relayout statement, through all steps: iteration domain, schedule, lowering, passes.
fn relayout(
    statement: &RelayoutStatement<'_>,
    mut builder: RelayoutBuilder<'_>,
) -> Result<RelayoutFunction, PlanError> {
    let refinement = statement.common_refinement()?;
    if refinement.is_none() {
        refuse(statement.schedule)?;
    }
    let padding = builder.prepare_destination(statement, refinement.as_ref())?;
    let plan = refinement.map(|own| schedule(statement, &own, &builder)).transpose()?;
    let body = match &plan {
        // The parts copy different elements.
        Some(plan) => {
            passes::fuse(builder.lower(statement, plan)?, &mut |name| builder.fresh(name))
        }
        None => builder.by_elements(statement)?,
    };
    if let Some(plan) = &plan {
        require_streaming(statement.schedule, plan, &body)?;
    }
    let mut function = builder.finish(body);
    passes::cpu_relayout(&mut function);
    Ok(RelayoutFunction { function, plan, symbols: statement.symbols().to_vec(), padding })
}

/// Schedule of a relayout statement whose domain has the digits of `refinement`: the decisions of the manifest, and the
/// planner's for the rest.
fn schedule(
    statement: &RelayoutStatement<'_>,
    refinement: &DigitRefinement,
    builder: &RelayoutBuilder<'_>,
) -> Result<RelayoutPlan, PlanError> {
    let ranges = |var| statement.symbol(var).map(|binding| binding.range);
    let (symbols, choices) = (statement.symbols(), statement.schedule);
    let bits = builder.element_bits();
    let plan = plan(refinement, symbols, &ranges, bits, builder.options, choices)?;
    // A primitive that converts transposes one tile per call.
    Ok(if builder.cast.is_some() { plan.one_by_one() } else { plan })
}

/// Plans `pack(symbols, logical, physical)`, which copies from the dense row-major buffer into the layout. Padding gets
/// the fill value of the tensor, or keeps its values if there is none.
///
/// # Errors
/// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
pub(crate) fn pack(context: &Context<'_>) -> Result<RelayoutFunction, PlanError> {
    relayout(&RelayoutStatement::pack(context), RelayoutBuilder::pack(context))
}

/// Plans `unpack(symbols, physical, logical)`, which copies from the layout into the dense row-major buffer. Padding is
/// not read.
///
/// # Errors
/// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
pub(crate) fn unpack(context: &Context<'_>) -> Result<RelayoutFunction, PlanError> {
    relayout(&RelayoutStatement::unpack(context), RelayoutBuilder::unpack(context))
}

/// Plans the function `<from>_to_<to>(symbols, from, to)` of one conversion. Padding of the destination gets the fill
/// value of the destination, or keeps its values if the destination has none. `None` if the manifest lacks the source
/// or the destination.
///
/// # Errors
/// [`PlanError::Choice`] if the layouts do not allow a directive of the conversion, such as `stores streaming` without
/// a loop that has streaming stores. Any other [`PlanError`], for example if an integer does not fit 64 bits or an
/// expression nests too deep.
pub fn convert(
    manifest: &Manifest,
    convert: &Convert,
    naming: &Naming<'_>,
) -> Result<Option<RelayoutFunction>, PlanError> {
    let schedule = match naming.options.primitives {
        Primitives::Runtime => &convert.choices,
        Primitives::None => ConvertSchedule::NONE,
    };
    let Some((from, to)) = ends(manifest, convert)? else { return Ok(None) };
    let [from, to] = [&Context::new(from, naming), &Context::new(&to, naming)];
    let statement = RelayoutStatement::convert([from, to], &convert.axes, schedule);
    relayout(&statement, RelayoutBuilder::convert(from, to, convert.cast)).map(Some)
}

/// Directives of a `convert` that state its plan: with them the conversion has the same code. `None` if it copies
/// single elements because its layouts have no common digits, if the manifest lacks the source or the destination, or
/// if no directives are found that give the same code.
///
/// # Errors
/// Same as [`convert`].
pub fn convert_schedule(
    manifest: &Manifest,
    convert: &Convert,
    naming: &Naming<'_>,
) -> Result<Option<ConvertSchedule>, PlanError> {
    let planned =
        |choices: ConvertSchedule| self::convert(manifest, &convert.with_schedule(choices), naming);
    let Some(own) = planned(convert.choices.clone())? else { return Ok(None) };
    let Some(plan) = &own.plan else { return Ok(None) };
    let fill = match own.padding {
        Padding::None | Padding::Kept => None,
        Padding::First => Some(FillStrategy::WholeFirst),
        Padding::Alone => Some(FillStrategy::PaddingOnly),
    };
    let candidates =
        directives::candidates(plan, &own.symbols, fill, &convert.choices, &convert.place);
    let is_same = |choices: &ConvertSchedule| {
        let again = planned(choices.clone()).ok().flatten();
        again.is_some_and(|again| again.function == own.function)
    };
    Ok(candidates.into_iter().find(is_same))
}

/// Plans a kernel that only copies one operand to another as a relayout: `NAME(symbols, from, to)`. The copy may
/// permute axes and convert the element type in one step. `None` for every other kernel, which includes copies with a
/// loop schedule or complete schedule, a ring buffer or a domain. Also `None` if the operands have no digits in common,
/// or if the symbols of the kernel are not those of the operands, in this order.
///
/// # Errors
/// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
pub fn copy_kernel(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
) -> Result<Option<RelayoutFunction>, PlanError> {
    if compute.statements.iter().any(|statement| !statement.schedules.is_empty()) {
        return Ok(None);
    }
    with_copy(manifest, compute, naming, |statement, builder| relayout(&statement, builder))
}

/// Result of `plan` for an instance that [`OperandCopy::of`] recognizes as a copy of one operand to another, with its
/// statement and the builder of its function. `None` for every other instance, which includes copies with a loop
/// schedule, a ring buffer or a domain. Also `None` if the symbols of the instance are not those of the operands, in
/// this order, or if the operands have no digits in common.
pub(crate) fn with_copy<T, P>(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    plan: P,
) -> Result<Option<T>, PlanError>
where
    P: FnOnce(RelayoutStatement<'_>, RelayoutBuilder<'_>) -> Result<T, PlanError>,
{
    let Some(copy) = OperandCopy::of(manifest, compute)? else { return Ok(None) };
    let ends = [&Context::new(&copy.from, naming), &Context::new(&copy.to, naming)];
    let Some(builder) = RelayoutBuilder::copy_kernel(ends, compute, copy.cast) else {
        return Ok(None);
    };
    let statement = RelayoutStatement::convert(ends, &copy.axes, ConvertSchedule::NONE);
    if statement.common_refinement()?.is_none() {
        return Ok(None);
    }
    plan(statement, builder).map(Some)
}

/// A [`PlanError::Choice`] if `choices` has a directive for digits or for streaming stores: a relayout of single
/// elements has neither.
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

/// A [`PlanError::Choice`] if the manifest requires streaming stores, there are elements to copy, and no statement of
/// `body` has such stores.
fn require_streaming(
    schedule: &ConvertSchedule,
    plan: &RelayoutPlan,
    body: &[Stmt],
) -> Result<(), PlanError> {
    let stores = schedule.stores.as_ref();
    let Some(stores) = stores.filter(|stores| stores.value == StorePolicy::Streaming) else {
        return Ok(());
    };
    if plan.parts.is_empty() || passes::streams(body) {
        return Ok(());
    }
    Err(PlanError::Choice {
        message:
            "there are no streaming stores here: the relayout transposes no block and copies no run"
                .into(),
        help: "remove `stores`; `layoutc inspect --plan` prints the inner kernels".into(),
        place: stores.place.clone(),
    })
}
