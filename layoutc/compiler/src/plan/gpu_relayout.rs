//! Plans of relayouts on GPUs, from statement to kernels: pack, unpack, conversions, and kernels that only copy.

use layoutc_algebra::expr::Var;
use layoutc_algebra::symbol::Symbol;

use crate::ir::Expr;
use crate::loops::error::PlanError;
use crate::loops::gpu_relayout::BufferRelayout;
use crate::loops::gpu_relayout::schedule::{GpuRelayoutSchedule, ThreadPiece, TiledRelayout};
use crate::loops::image;
use crate::lower::context::{Context, Naming};
use crate::lower::expr::Binding;
use crate::lower::gpu_relayout::kernels;
use crate::lower::launch::Kernel;
use crate::lower::relayout::builder::RelayoutBuilder;
use crate::lower::relayout::statement::{RelayoutEnd, RelayoutStatement, ends};
use crate::model::compute::KernelInstance;
use crate::model::{Convert, ConvertSchedule, Manifest, Tensor};
use crate::passes::{self, Ranges};
use crate::plan::relayout::with_copy;

/// Kernels of a relayout on GPUs, and the decisions behind them.
#[derive(Debug, Clone)]
pub struct GpuRelayout {
    /// Kernels in launch order.
    pub kernels: Vec<Kernel>,
    /// Schedule of the kernels.
    pub schedule: GpuRelayoutSchedule,
    /// Symbols over which the strides and extents of `schedule` are: `Var::Symbol(k)` is `symbols[k]`.
    pub symbols: Vec<Symbol>,
}

/// Plans the kernels of a relayout statement. `fill` is the name of a kernel that fills the destination first.
fn relayout(
    statement: RelayoutStatement<'_>,
    builder: RelayoutBuilder<'_>,
    fill: &str,
) -> Result<GpuRelayout, PlanError> {
    let schedule = schedule(&statement, builder.cast.is_some())?;
    let symbols = statement.symbols().to_vec();
    let range = |k: u32| {
        let Binding { tree, range } = statement.symbol(Var::Symbol(k))?;
        let Expr::Name { name } = tree else { return None };
        Some((name, [range.low?, range.high?]))
    };
    let ranges = Ranges::new((0..).zip(&symbols).filter_map(|(k, _)| range(k)));
    let mut kernels = kernels(statement, builder, &schedule, fill)?;
    for kernel in &mut kernels {
        let plain = kernel.unaligned.as_mut().map(|unaligned| &mut unaligned.plain.function);
        for function in [Some(&mut kernel.function), plain].into_iter().flatten() {
            passes::gpu_relayout(function, &ranges);
        }
    }
    Ok(GpuRelayout { kernels, schedule, symbols })
}

/// Schedule of a relayout statement: tiles if source and destination allow them, else the piece that a thread copies.
fn schedule(
    statement: &RelayoutStatement<'_>,
    is_cast: bool,
) -> Result<GpuRelayoutSchedule, PlanError> {
    let to = statement.destination;
    if to.image()?.is_some() {
        return Ok(GpuRelayoutSchedule::Pieces(ThreadPiece::Texel));
    }
    if let Some(tiled) = tiled(statement, is_cast)? {
        return Ok(GpuRelayoutSchedule::Tiles(Box::new(tiled)));
    }
    // Without an inverse, and in a view, whose memory has elements of others, threads go over the elements.
    let is_searched = matches!(to, RelayoutEnd::Layout(context)
        if context.layout.inverse().is_none() || context.tensor.owner.is_some());
    Ok(GpuRelayoutSchedule::Pieces(match (is_searched, to.is_packed()) {
        (true, true) => ThreadPiece::Whole,
        (true, false) => ThreadPiece::Index,
        (false, true) => ThreadPiece::Bytes,
        (false, false) => ThreadPiece::Slot,
    }))
}

/// Schedule of a relayout statement by tiles; `None` if source or destination is an image or has packed elements, if
/// they have no common refinement of digits, or if the digits allow no tiles.
fn tiled(
    statement: &RelayoutStatement<'_>,
    is_cast: bool,
) -> Result<Option<TiledRelayout>, PlanError> {
    let RelayoutStatement { source, destination, .. } = statement;
    if source.image()?.is_some() || source.is_packed() || destination.is_packed() {
        return Ok(None);
    }
    let Some(refinement) = statement.common_refinement()? else { return Ok(None) };
    let ranges = |var| statement.symbol(var).map(|binding| binding.range);
    let counts = [source, destination].map(|end| end.context().layout.physical_elements());
    let relayout = BufferRelayout {
        refinement,
        symbols: statement.symbols(),
        ranges: &ranges,
        element_bytes: i64::from(destination.dtype().element_bits() / 8),
        is_cast,
        fills: matches!(destination, RelayoutEnd::Layout(context) if context.fills()),
        slots: [source.slots()?, destination.slots()?],
        counts,
    };
    relayout.tiled()
}

/// Plans of pack and unpack of one tensor, in this order; empty if GPU kernels cannot access its memory.
///
/// # Errors
/// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
pub fn gpu_relayouts(tensor: &Tensor, naming: &Naming<'_>) -> Result<Vec<GpuRelayout>, PlanError> {
    if image::rank_of(tensor.memory).is_none() {
        return Ok(Vec::new());
    }
    let context = &Context::new(tensor, naming);
    let fill = context.function("fill");
    let pack = relayout(RelayoutStatement::pack(context), RelayoutBuilder::pack(context), &fill)?;
    let (statement, builder) =
        (RelayoutStatement::unpack(context), RelayoutBuilder::unpack(context));
    Ok(vec![pack, relayout(statement, builder, "")?])
}

/// Plan of a conversion on GPUs; `None` if the manifest lacks the source or the destination, or GPUs cannot access
/// their memory. Directives of the conversion do not apply.
///
/// # Errors
/// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
pub fn gpu_convert(
    manifest: &Manifest,
    convert: &Convert,
    naming: &Naming<'_>,
) -> Result<Option<GpuRelayout>, PlanError> {
    let Some((from, to)) = ends(manifest, convert)? else { return Ok(None) };
    if [from, &to].iter().any(|tensor| image::rank_of(tensor.memory).is_none()) {
        return Ok(None);
    }
    let [from, to] = [&Context::new(from, naming), &Context::new(&to, naming)];
    let statement = RelayoutStatement::convert([from, to], &convert.axes, ConvertSchedule::NONE);
    filled_first(statement, RelayoutBuilder::convert(from, to, convert.cast)).map(Some)
}

/// Plan on GPUs of an instance that only copies one operand to another. `None` for every other instance, as in
/// [`crate::plan::copy_kernel`], except that complete schedules, which are for CPUs, do not count; also `None` if GPUs
/// cannot access the memory of an operand.
///
/// # Errors
/// [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
pub fn gpu_copy_kernel(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
) -> Result<Option<GpuRelayout>, PlanError> {
    let mut tensors = compute.operands.iter().filter_map(|one| manifest.tensor(one.tensor));
    if tensors.any(|tensor| image::rank_of(tensor.memory).is_none()) {
        return Ok(None);
    }
    with_copy(manifest, compute, naming, filled_first)
}

/// Plan of a relayout statement whose filling kernel has the name of the relayout with the suffix `_fill`.
fn filled_first(
    statement: RelayoutStatement<'_>,
    builder: RelayoutBuilder<'_>,
) -> Result<GpuRelayout, PlanError> {
    let fill = format!("{}_fill", builder.name());
    relayout(statement, builder, &fill)
}
