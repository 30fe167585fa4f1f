//! Footprint of one loop iteration in a tensor: the box of elements that the loops inside access.

use layoutc_algebra::expr::{CompareOp, Expr, ExprError};
use layoutc_algebra::symbol::Symbol;

use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::loops::access::AffineAccess;
use crate::loops::arith::{product, sum};
use crate::loops::domain::{IterationDomain, loop_index};
use crate::loops::error::PlanError;
use crate::loops::order::{Order, RegisterTiling};
use crate::loops::reads::AccessSummary;
use crate::loops::renumbered;
use crate::loops::scheduled_statement::domain_of;
use crate::model::compute::{BufferRef, LoopSchedule, SharedLoop, Statement};
use crate::model::{Spanned, Tensor};

/// Box of elements that one iteration of a loop accesses in a tensor.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// First index along each axis of the tensor, over symbols and over this loop and the loops around it.
    pub(crate) begin: Vec<Expr>,
    /// Number of indices along each axis of the tensor.
    pub(crate) extents: Vec<i128>,
}

/// Extents, along each axis, of the box of elements of the tensor `buffer` that one iteration of the loop `at`
/// accesses. `target` is the tensor that the statement writes, `own` has the symbols and the loop schedule of the
/// kernel, `caches` names the loops of all caches of the statement, and `shared` is the loop in each iteration of which
/// an intermediate that the statement uses is computed. `None` if the statement has no loop `at`, or neither writes the
/// tensor nor reads it in its value at affine indices.
///
/// # Errors
/// A diagnostic with the code `kernel::cache` if the loop cannot have a cache of the tensor: the elements are not a box
/// of constant size, the loop is inside the register tile, or the statement writes the tensor and the loop is reduced
/// or writes only a part of the box. The same code for any other planning error.
pub(crate) fn tile_extents(
    target: &Tensor,
    statement: &Statement,
    own: (&[Symbol], &LoopSchedule),
    (buffer, at): (BufferRef, &Spanned<String>),
    (caches, shared): (&[String], Option<SharedLoop>),
) -> Result<Option<Vec<i128>>, Box<Diagnostic>> {
    let fault =
        |message: String, place: FileSpan| Diagnostic::error(Code::KernelCache, message, place, "");
    block_extents(target, statement, own, (buffer, at), (caches, shared)).map_err(|error| {
        let PlanError::Choice { message, help, place } = error else {
            return Box::new(fault(error.to_string(), at.place.clone()).help("remove the cache"));
        };
        Box::new(fault(message, place).help(help))
    })
}

fn block_extents(
    target: &Tensor,
    statement: &Statement,
    (symbols, schedule): (&[Symbol], &LoopSchedule),
    (buffer, at): (BufferRef, &Spanned<String>),
    (caches, shared): (&[String], Option<SharedLoop>),
) -> Result<Option<Vec<i128>>, PlanError> {
    let target = renumbered(target, symbols)?;
    let mut domain = domain_of(&target, statement, (symbols, schedule), (caches, shared))?;
    let no_reads =
        |_: &IterationDomain| Ok(AccessSummary { steps: Vec::new(), guarded: Vec::new() });
    let order =
        Order::new(&mut domain, schedule, &no_reads, RegisterTiling::One, &statement.place)?;
    let block = Block::new(&domain, &order, statement, (buffer, at))?;
    Ok(block.map(|block| block.extents))
}

impl Block {
    /// Box of elements of the tensor `buffer` that one iteration of the loop `at` accesses. `None` if the statement has
    /// no such loop, or neither writes the tensor nor reads it in its value at affine indices.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if the elements are not a box of constant size, the loop is inside the register tile, or
    /// the statement writes the tensor and the loop is reduced or writes only a part of the box. [`PlanError::Expr`] if
    /// a value overflows or an expression becomes too large.
    pub(crate) fn new(
        domain: &IterationDomain,
        order: &Order,
        statement: &Statement,
        (buffer, at): (BufferRef, &Spanned<String>),
    ) -> Result<Option<Self>, PlanError> {
        let refused = |message: String, help: &str| PlanError::Choice {
            message,
            help: help.to_owned(),
            place: at.place.clone(),
        };
        let Some(place) = order.place(domain, &at.value) else { return Ok(None) };
        let is_written = statement.target == buffer;
        let written: Vec<Expr> = domain.axes.iter().take(statement.written_axes).cloned().collect();
        let mut used = if is_written { vec![written] } else { Vec::new() };
        for read in statement.value.reads().iter().filter(|read| read.buffer == buffer) {
            let index = read.index.iter().map(|index| domain.at(index, &domain.axes));
            used.push(index.collect::<Result<_, ExprError>>()?);
        }
        let Some(first) = used.first() else { return Ok(None) };
        let (open, inside) = order.loops.split_at(place.saturating_add(1));
        if open.iter().any(|k| order.register_tile(domain).any(|other| other == *k)) {
            let message = format!(
                "`{}` is inside the register tile, whose elements share one tile of the cache",
                at.value
            );
            return Err(refused(
                message,
                "cache at a reduced loop, or at a loop outside the reduction",
            ));
        }
        if is_written && place >= order.first_reduced {
            let message = format!("`{}` is a reduced loop: the write-back follows it", at.value);
            return Err(refused(message, "cache at a loop outside the reduction"));
        }
        let (mut begin, mut extents) = (Vec::new(), Vec::new());
        for axis in 0..first.len() {
            let spans = used.iter().filter_map(|index| index.get(axis));
            let spans = spans.map(|index| span(index, inside, domain));
            let spans = spans.collect::<Result<Option<Vec<_>>, ExprError>>()?;
            let found = match spans {
                Some(spans) => hull(&spans, domain)?,
                None => None,
            };
            let Some((from, extent)) = found else {
                let message = format!(
                    "one iteration of `{}` has no rectangular footprint of constant size",
                    at.value
                );
                return Err(refused(
                    message,
                    "split or reorder the loops, so that the inner ones span a part of each axis, or cache at an inner loop",
                ));
            };
            begin.push(from);
            extents.push(extent);
        }
        if is_written {
            if !is_whole_elsewhere(domain, statement)? {
                let message =
                    format!("one iteration of `{}` may write only part of its tile", at.value);
                return Err(refused(
                    message,
                    "split by factors that divide the extents, and omit padding before elements",
                ));
            }
            let rounds = inside.iter().filter(|k| !domain.is_reduced(**k));
            let rounds = rounds.map(|k| domain.trip_count(*k)).product::<Option<i128>>();
            if rounds != Some(extents.iter().product()) {
                let message = format!(
                    "the elements that one iteration of `{}` writes are not a box",
                    at.value
                );
                return Err(refused(
                    message,
                    "split or reorder the loops, so that the inner ones span a part of each axis",
                ));
            }
        }
        Ok(Some(Self { begin, extents }))
    }
}

/// True if every iteration is known to write an element, except iterations beyond the extent of an axis; the copy-out
/// of a tile then stores no element that was not written.
fn is_whole_elsewhere(domain: &IterationDomain, statement: &Statement) -> Result<bool, ExprError> {
    let axes = || domain.axes.iter().zip(&statement.axes).take(statement.written_axes);
    for condition in &domain.inside {
        let mentioned = [&condition.left, &condition.right].map(|side| domain.mentioned(side));
        if mentioned.concat().iter().all(|number| domain.is_reduced(*number)) {
            continue;
        }
        let mut is_extent = false;
        for (here, axis) in axes() {
            is_extent |= condition.op == CompareOp::Lt
                && domain.facts.proves_eq(&condition.left, here)?
                && domain.facts.proves_eq(&condition.right, &axis.extent)?;
        }
        if !is_extent {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Least value of `index` over the iterations of the loops `inside`, and length of the interval of its values; `None`
/// if `index` is not affine in these loops with constant strides and trip counts.
fn span(
    index: &Expr,
    inside: &[usize],
    domain: &IterationDomain,
) -> Result<Option<(Expr, i128)>, ExprError> {
    let steps = AffineAccess::of(index, domain)?;
    if domain.mentioned(&steps.rest).iter().any(|k| inside.contains(k)) {
        return Ok(None);
    }
    let (mut from, mut extent) = (steps.rest, 1_i128);
    for (number, stride) in &steps.strides {
        if !inside.contains(number) {
            from = sum(&from, &product(stride, &loop_index(*number)?)?)?;
            continue;
        }
        let Some((stride, rounds)) = stride.as_const().zip(domain.trip_count(*number)) else {
            return Ok(None);
        };
        let reach = stride.saturating_mul(rounds.saturating_sub(1));
        from = sum(&from, &Expr::constant(reach.min(0)))?;
        extent = extent.saturating_add(reach.saturating_abs());
    }
    Ok(Some((domain.facts.simplify(&from)?, extent)))
}

/// Smallest interval (least value, length) that contains all `spans`, which are intervals of this form; `None` if
/// `spans` is empty or the distance between two least values is not constant.
fn hull(
    spans: &[(Expr, i128)],
    domain: &IterationDomain,
) -> Result<Option<(Expr, i128)>, ExprError> {
    let Some((first, _)) = spans.first() else { return Ok(None) };
    let (mut low, mut high) = (0, 0);
    for (from, extent) in spans {
        let minus = Expr::negate(first)?;
        let Some(apart) = domain.facts.simplify(&sum(from, &minus)?)?.as_const() else {
            return Ok(None);
        };
        low = apart.min(low);
        high = apart.saturating_add(*extent).max(high);
    }
    let from = domain.facts.simplify(&sum(first, &Expr::constant(low))?)?;
    Ok(Some((from, high.saturating_sub(low))))
}
