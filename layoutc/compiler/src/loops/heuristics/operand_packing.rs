//! Operand packing chosen by the planner. If an operand is strided along every vectorizable loop, its tile is copied
//! into a contiguous buffer: with a column-major right operand, a matrix product copies a band of columns once for all
//! rows. The planner also packs an operand whose consecutive vectors in the reduction are at least `far_stride_bytes`
//! apart.

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::step::{OrderEntry as Word, order as ordered};
use layoutc_algebra::symbol::Axis;

use crate::env::NoCache;
use crate::env::executor::RayonExecutor;
use crate::loops::access::AffineAccess;
use crate::loops::buffers::{KernelBuffer, shares_bytes};
use crate::loops::domain::IterationDomain;
use crate::loops::error::PlanError;
use crate::loops::footprint::Block;
use crate::loops::heuristics::register_tile::vector_axis;
use crate::loops::order::{Order, RegisterTiling};
use crate::loops::reads::{AccessSummary, StatementReads, index};
use crate::loops::scheduled_statement::ScheduledStatement;
use crate::machine::{CPU, Registers};
use crate::model::compute::{
    BufferRef, ElementRead, KernelInstance, LoopSchedule, Statement, TileCache,
};
use crate::model::{Spanned, Tensor};

/// Loop that can be vectorized if the tile of one read is packed.
struct Candidate<'a> {
    /// Number of the loop.
    number: usize,
    /// Read that is strided along the loop, or whose consecutive vectors in the reduction are far apart.
    read: &'a ElementRead,
    /// Axis of the read tensor that depends on the loop.
    axis: usize,
}

/// Schedule of the statement with a packed operand. `sight` are the reads; `whole` returns the buffer of a reference.
/// `None` if the manifest orders or tiles the loops, the statement has no reduction, `tiling` is not vectors, or
/// packing is not needed, not possible or not profitable.
///
/// # Errors
/// [`PlanError::Choice`] if the loops cannot be ordered, as [`Order::new`]. [`PlanError::Expr`] if a value overflows or
/// an expression becomes too large.
pub(crate) fn planned<'a>(
    domain: &IterationDomain,
    compute: &KernelInstance,
    statement: &'a Statement,
    (sight, whole): (&StatementReads<'a>, &dyn Fn(BufferRef) -> Option<&'a KernelBuffer>),
    tiling: RegisterTiling,
) -> Result<Option<ScheduledStatement>, PlanError> {
    let RegisterTiling::Vectors { lanes, registers, .. } = tiling else { return Ok(None) };
    let outer: Vec<usize> =
        domain.active.iter().copied().filter(|number| !domain.is_reduced(*number)).collect();
    let is_fixed = !compute.schedule.loops.is_empty() || !domain.tiles.is_empty();
    if is_fixed || outer.len() == domain.active.len() {
        return Ok(None);
    }
    let seen = sight.seen(domain)?;
    let reads = |domain: &IterationDomain| sight.seen(domain);
    let as_it_is = vector_axis(domain, &outer, &reads, lanes)?;
    let candidate = match as_it_is.filter(|number| !seen.guarded.contains(number)) {
        Some(number) => page_strided_operand(domain, number, sight, (&seen, whole))?,
        None => strided_operand(domain, &outer, (sight, &seen), lanes)?,
    };
    let Some(candidate) = candidate else { return Ok(None) };
    let Some(bound) = whole(candidate.read.buffer) else { return Ok(None) };
    let is_plain =
        bound.image.is_none() && !shares_bytes(&bound.tensor) && bound.iteration.is_none();
    let same_buffer = sight.reads.iter().filter(|(read, _)| read.buffer == candidate.read.buffer);
    if !is_plain || same_buffer.count() != 1 || statement.target == candidate.read.buffer {
        return Ok(None);
    }
    let sight = (sight, &bound.tensor);
    let packed = |parts| {
        schedule_with_packing(
            domain,
            compute,
            statement,
            sight,
            &candidate,
            (lanes, registers),
            parts,
        )
    };
    let Some(found) = packed(None)? else { return Ok(None) };
    if found.bytes <= CPU.block_stack_bytes {
        return Ok(Some(found.planned));
    }
    let target = whole(statement.target).filter(|target| keeps_sums(statement, &target.tensor));
    let parts = target.and_then(|_| split_k_factor(domain, &candidate, found.bytes));
    let Some(parts) = parts else { return Ok(None) };
    let found = packed(Some(parts))?.filter(|found| found.bytes <= CPU.block_stack_bytes);
    Ok(found.map(|found| found.planned))
}

/// True if `target`, the tensor that the statement writes, can hold partial results of a split-K reduction: its
/// elements are whole bytes of the accumulator's type, and the statement does not read it.
pub(crate) fn keeps_sums(statement: &Statement, target: &Tensor) -> bool {
    !statement.reads(statement.target)
        && target.dtype.element_bits() >= 8
        && target.dtype == statement.accumulator.element()
}

/// Pair of the longest reduced loop on which the packed block depends, and the iterations per chunk (a power of 2) with
/// which a block has at most `packed_part_bytes`; `bytes` is the size of the block of the whole reduction. `None` if
/// the block depends on no reduced loop or on one without constant trip count, if a block of one iteration is larger,
/// or if the reduced loops of a chunk would have fewer than `far_vectors` iterations in total.
fn split_k_factor(
    domain: &IterationDomain,
    candidate: &Candidate<'_>,
    bytes: i128,
) -> Option<(usize, i64)> {
    let mut reduced = Vec::new();
    for number in index(candidate.read, domain).ok()?.iter().flat_map(|i| domain.mentioned(i)) {
        if domain.is_reduced(number) && !reduced.iter().any(|(other, _)| *other == number) {
            reduced.push((number, domain.trip_count(number)?));
        }
    }
    let (number, rounds) = reduced.iter().copied().max_by_key(|(_, rounds)| *rounds)?;
    let others = reduced.iter().filter(|(other, _)| *other != number).map(|(_, rounds)| *rounds);
    let most =
        rounds.saturating_mul(CPU.packed_part_bytes).checked_div(bytes).filter(|most| *most > 0)?;
    let by = 1_i64.checked_shl(most.ilog2())?;
    let all = others.fold(i128::from(by), i128::saturating_mul);
    (all >= CPU.far_vectors).then_some((number, by))
}

/// Candidate for a loop of `outer` along which all reads but one are broadcast or unit-stride, and no read has a
/// boundary condition; the read of the candidate is the other one. The loop has a constant trip count of at least
/// `lanes`. If the manifest names the loop to vectorize, only that one qualifies. Prefers a trip count that is a
/// multiple of `lanes`, then a unit-stride target, then the greatest trip count. `None` if no loop qualifies.
fn strided_operand<'a>(
    domain: &IterationDomain,
    outer: &[usize],
    (sight, seen): (&StatementReads<'a>, &AccessSummary),
    lanes: i128,
) -> Result<Option<Candidate<'a>>, PlanError> {
    let written = AffineAccess::of(&domain.offset, domain)?;
    let mut found: Vec<((bool, bool, i128), Candidate<'a>)> = Vec::new();
    let may_lead = |number: &usize| {
        !seen.guarded.contains(number) && domain.lead.is_none_or(|lead| lead == *number)
    };
    for number in outer.iter().copied().filter(may_lead) {
        let Some(rounds) = domain.trip_count(number).filter(|rounds| *rounds >= lanes) else {
            continue;
        };
        let stride = |steps: &AffineAccess| steps.stride(number, domain)?.as_const();
        let follows =
            |steps: &AffineAccess| stride(steps).is_some_and(|stride| [0, 1].contains(&stride));
        let mut strided = sight.reads.iter().zip(&seen.steps).filter(|(_, steps)| !follows(steps));
        let (Some(((read, _), _)), None) = (strided.next(), strided.next()) else {
            continue;
        };
        let Some(candidate) = Candidate::new(domain, number, read)? else { continue };
        found.push(((rounds % lanes == 0, stride(&written) == Some(1), rounds), candidate));
    }
    Ok(found.into_iter().max_by_key(|(worth, _)| *worth).map(|(_, candidate)| candidate))
}

/// Candidate for the one read that is unit-stride along the vector loop `number` but has a stride of at least
/// `far_stride_bytes` along a reduced loop of at least `far_vectors` iterations. `None` if there is no such read or
/// more than one, or if [`Candidate::new`] rejects it.
fn page_strided_operand<'a>(
    domain: &IterationDomain,
    number: usize,
    sight: &StatementReads<'a>,
    (seen, whole): (&AccessSummary, &dyn Fn(BufferRef) -> Option<&'a KernelBuffer>),
) -> Result<Option<Candidate<'a>>, PlanError> {
    let stride = |steps: &AffineAccess, number: usize| steps.stride(number, domain)?.as_const();
    let is_far = |read: &ElementRead, steps: &AffineAccess| {
        let bits = whole(read.buffer).map_or(0, |found| found.tensor.dtype.element_bits());
        let mut reduced = domain.active.iter().filter(|number| domain.is_reduced(**number));
        stride(steps, number) == Some(1)
            && reduced.any(|number| {
                let distance = stride(steps, *number).unwrap_or(0).saturating_abs();
                distance.saturating_mul(i128::from(bits / 8)) >= CPU.far_stride_bytes
                    && domain.trip_count(*number).is_some_and(|rounds| rounds >= CPU.far_vectors)
            })
    };
    let mut far = sight.reads.iter().zip(&seen.steps).filter(|((read, _), s)| is_far(read, s));
    match (far.next(), far.next()) {
        (Some(((read, _), _)), None) => Candidate::new(domain, number, read),
        _ => Ok(None),
    }
}

impl<'a> Candidate<'a> {
    /// Candidate for packing the tile of `read` so that the loop `number` can be vectorized. `None` if the read has a
    /// boundary condition, or the loop occurs in its index along no axis or along several.
    fn new(
        domain: &IterationDomain,
        number: usize,
        read: &'a ElementRead,
    ) -> Result<Option<Self>, PlanError> {
        let index = index(read, domain)?;
        let mut axes = (0..index.len()).filter(|axis| {
            index.get(*axis).is_some_and(|index| domain.mentioned(index).contains(&number))
        });
        Ok(match (axes.next(), axes.next()) {
            (Some(axis), None) if read.outside.is_none() => Some(Self { number, read, axis }),
            _ => None,
        })
    }
}

/// Schedule with a packed block, and the size of the block in bytes.
struct Found {
    planned: ScheduledStatement,
    bytes: i128,
}

/// Schedule with the loops reordered so that each block is packed once for all its uses. `sight` are the reads, and
/// `tensor` is the tensor to pack. `parts` is a reduced loop and its iterations per chunk: the chunks become the
/// outermost loop (split-K); `None` without chunks. The result is `None` if packing is not possible or does not pay,
/// for example if the block is not a box of constant size or has fewer than `packing_uses` uses.
fn schedule_with_packing<'a>(
    domain: &IterationDomain,
    compute: &KernelInstance,
    statement: &Statement,
    (sight, tensor): (&StatementReads<'a>, &Tensor),
    candidate: &Candidate<'a>,
    (lanes, registers): (i128, Registers),
    parts: Option<(usize, i64)>,
) -> Result<Option<Found>, PlanError> {
    let mut sight = sight.clone();
    let extents: Vec<Algebra> =
        tensor.layout.logical().iter().map(|axis| axis.extent.clone()).collect();
    let Some(as_block) = packed_layout(tensor, &extents, candidate.axis) else { return Ok(None) };
    for (read, offset) in &mut sight.reads {
        if *read == candidate.read {
            offset.clone_from(as_block.layout.offset());
        }
    }
    let reads = |domain: &IterationDomain| sight.seen(domain);
    let tiling = RegisterTiling::Vectors { lanes, registers, partial_sums: false };
    let mut domain = domain.clone();
    let outermost = match parts {
        Some((number, by)) => domain.split(number, by)?.first().copied(),
        None => None,
    };
    let as_it_is = domain.clone();
    let new_order = |domain: &mut IterationDomain| {
        let mut order = Order::new(domain, &compute.schedule, &reads, tiling, &statement.place)?;
        if let Some(number) = outermost {
            order.split_k_outermost(domain, number);
        }
        Ok::<_, PlanError>(order)
    };
    let mut order = new_order(&mut domain)?;
    let mut found = reorder(&domain, &mut order, candidate)?;
    if found.is_none() {
        // Every iteration uses the whole block: pack it in a new outer loop of one iteration.
        domain = as_it_is;
        let whole = domain.loops.get(candidate.number).map(|found| found.name.clone());
        let rounds = domain.trip_count(candidate.number).and_then(|n| i64::try_from(n).ok());
        if let Some((name, rounds)) = whole.zip(rounds) {
            domain.keep(&format!("{name}_outer"));
            domain.split(candidate.number, rounds)?;
        }
        order = new_order(&mut domain)?;
        found = reorder(&domain, &mut order, candidate)?;
    }
    let Some((at, uses)) = found.filter(|_| order.register_tile(&domain).next().is_some()) else {
        return Ok(None);
    };
    let at = Spanned { value: at, place: statement.place.clone() };
    let block = match Block::new(&domain, &order, statement, (candidate.read.buffer, &at)) {
        Err(PlanError::Choice { .. }) | Ok(None) => return Ok(None),
        Ok(Some(block)) => block,
        Err(error) => return Err(error),
    };
    let extents: Vec<Algebra> = block.extents.iter().copied().map(Algebra::constant).collect();
    let Some(block) = packed_layout(tensor, &extents, candidate.axis) else { return Ok(None) };
    let elements = block.layout.physical_elements().as_const().filter(|_| uses >= CPU.packing_uses);
    let Some(elements) = elements else { return Ok(None) };
    let bytes = elements.saturating_mul(i128::from(tensor.dtype.element_bits() / 8));
    let buffer = candidate.read.buffer;
    let cache = TileCache { buffer, at, block, is_double: false, is_shared: false };
    let LoopSchedule { unroll, parallel, .. } = compute.schedule.clone();
    Ok(Some(Found {
        planned: ScheduledStatement { domain, order, caches: vec![cache], unroll, parallel },
        bytes,
    }))
}

/// Moves the outer loops on which the block depends, and those whose names are kept, before those that reuse it.
/// Returns the name of the last loop that was moved, inside which the block is packed, and the number of uses of each
/// block. `None` if no loop was moved.
fn reorder(
    domain: &IterationDomain,
    order: &mut Order,
    candidate: &Candidate<'_>,
) -> Result<Option<(String, i128)>, PlanError> {
    let index = index(candidate.read, domain)?;
    let is_own = |number: &usize| {
        let of_kept = domain.loops.get(*number).is_some_and(|found| domain.is_kept(&found.name));
        of_kept || index.iter().any(|index| domain.mentioned(index).contains(number))
    };
    let (outer, inner) = order.loops.split_at(order.first_reduced);
    let (own, others): (Vec<usize>, Vec<usize>) = outer.iter().partition(|number| is_own(number));
    let rounds = |number: &usize| domain.trip_count(*number).unwrap_or(CPU.unknown_trip_count);
    let again = inner.iter().filter(|number| !domain.is_reduced(**number) && !is_own(number));
    let uses = others.iter().chain(again).map(rounds).fold(1_i128, i128::saturating_mul);
    let at = own.last().and_then(|number| domain.loops.get(*number));
    let Some(at) = at.map(|found| found.name.clone()) else { return Ok(None) };
    let inner = inner.to_vec();
    order.loops = own.into_iter().chain(others).chain(inner).collect();
    Ok(Some((at, uses)))
}

/// Dense tensor with these extents and the element type of `tensor`: row-major, with axis `last` moved innermost
/// (unit-stride). `None` if the layout cannot be built.
fn packed_layout(tensor: &Tensor, extents: &[Algebra], last: usize) -> Option<Tensor> {
    let layout = &tensor.layout;
    let axes = layout.logical().iter().zip(extents);
    let axes: Vec<Axis> = axes
        .map(|(axis, extent)| Axis { name: axis.name.clone(), extent: extent.clone() })
        .collect();
    let last = axes.get(last)?.name.clone();
    let mut builder =
        LayoutBuilder::new(layout.symbols(), &axes, tensor.dtype.element_bits()).ok()?;
    let mut steps = Vec::new();
    if axes.last().is_some_and(|axis| axis.name != last) {
        steps.push(format!("order ... {last}"));
        let words = [Word::Others, Word::Axis(last)];
        builder.apply(&ordered(builder.axes(), &words).ok()?).ok()?;
    }
    let layout = builder.finish(1, &RayonExecutor(&NoCache)).ok()?;
    Some(tensor.with_steps(layout, steps))
}
