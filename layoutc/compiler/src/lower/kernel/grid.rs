//! Assignment of a register tile to each thread of a thread block: the threads form a grid over the elements of the
//! block's output tile, and a thread reads each operand element once for all its elements that use it.

use crate::ir::{Expr, Stmt};
use crate::loops::error::PlanError;
use crate::lower::kernel::nest::{AccessUse, Nest};
use crate::machine::GPU;

/// Number of threads along each of the loops whose iterations are distributed over the threads of a thread block.
/// Adjacent iterations belong to adjacent threads; each thread executes `extent / threads` iterations of the loop.
pub(crate) struct Grid(Vec<i64>);

impl Nest<'_> {
    /// Grid over the loops `loops` with the least cost, the result of `read_by_item`. `None` if no grid of
    /// `GPU.threads` threads divides the trip counts, or if a trip count is not constant.
    pub(crate) fn grid(&self, loops: &[usize]) -> Option<Grid> {
        let extents = loops.iter().map(|number| self.domain.trip_count(*number));
        let extents: Vec<i64> =
            extents.map(|rounds| i64::try_from(rounds?).ok()).collect::<Option<_>>()?;
        let mut best: Option<(i64, Vec<i64>)> = None;
        for items in grids(&extents, GPU.threads) {
            let read = self.read_by_item(loops, &extents, &items)?;
            // Of grids with equal cost, the first has the most threads along the last loop.
            if best.as_ref().is_none_or(|(least, _)| read < *least) {
                best = Some((read, items));
            }
        }
        best.map(|(_, items)| Grid(items))
    }

    /// Cost of a grid with `items` threads along the loops `loops` of the trip counts `extents`: the number of elements
    /// that a thread reads per iteration of the reduction. If stores would not be coalesced, with fewer than
    /// `GPU.sector_elements` threads along the output's unit-stride loop, the number of elements of the tile is added.
    /// `None` if a number overflows.
    fn read_by_item(&self, loops: &[usize], extents: &[i64], items: &[i64]) -> Option<i64> {
        let rounds = |number: usize| {
            let k = loops.iter().position(|other| *other == number)?;
            extents.get(k)?.checked_div(*items.get(k)?)
        };
        let mut all = 0_i64;
        for access in self.accesses.iter().filter(|access| access.part == AccessUse::Value) {
            let mut mentioned = self.domain.mentioned(&access.steps.rest);
            mentioned.extend(access.steps.strides.iter().map(|(number, _)| *number));
            mentioned.sort_unstable();
            mentioned.dedup();
            let own = mentioned.into_iter().filter_map(rounds);
            all = all.checked_add(own.product())?;
        }
        let strides = &self.accesses.first()?.steps.strides;
        let is_next = |number: &usize| {
            strides.iter().any(|(other, stride)| other == number && stride.as_const() == Some(1))
        };
        let run = loops.iter().position(is_next).and_then(|k| items.get(k));
        let apart = run.is_some_and(|run| *run < GPU.sector_elements);
        all.checked_add(if apart { extents.iter().product() } else { 0 })
    }

    /// Declarations of the variables of the distributed loops `loops`, outermost first. `element` is the variable of
    /// the thread loop; `done` counts the iterations of that loop that the thread has completed.
    ///
    /// # Errors
    /// [`PlanError::Scope`] if a loop has no constant trip count.
    pub(crate) fn rounds_in(
        &self,
        Grid(items): &Grid,
        loops: &[usize],
        [element, done]: [&str; 2],
    ) -> Result<Vec<Stmt>, PlanError> {
        let mut lets = Vec::new();
        let (mut across, mut along) = (1_i64, 1_i64);
        for (place, (number, own)) in loops.iter().zip(items).enumerate().rev() {
            let all = self.domain.trip_count(*number).and_then(|rounds| i64::try_from(rounds).ok());
            let rounds = all.and_then(|all| all.checked_div(*own)).ok_or(PlanError::Scope)?;
            let mut parts = Vec::new();
            if *own > 1 {
                parts.push(digit(element, across, Some(*own)));
            }
            if rounds > 1 {
                let of = digit(done, along, Some(rounds).filter(|_| place > 0));
                parts.push(if *own > 1 {
                    Expr::Mul { args: vec![of, Expr::int(*own)] }
                } else {
                    of
                });
            }
            across = across.saturating_mul(*own);
            along = along.saturating_mul(rounds);
            let value = match <[Expr; 1]>::try_from(parts) {
                Ok([one]) => one,
                Err(parts) if parts.is_empty() => Expr::int(0),
                Err(args) => Expr::Add { args },
            };
            let name = self.names.get(*number).cloned().unwrap_or_default();
            lets.push(Stmt::Let { name, value });
        }
        lets.reverse();
        Ok(lets)
    }
}

/// Mixed-radix digit `name / by % values` of the variable `name`, without the modulo if `values` is `None`.
fn digit(name: &str, by: i64, values: Option<i64>) -> Expr {
    let mut value = Expr::name(name);
    if by > 1 {
        value = Expr::Div { a: Box::new(value), b: Box::new(Expr::int(by)) };
    }
    match values {
        Some(values) => Expr::Mod { a: Box::new(value), b: Box::new(Expr::int(values)) },
        None => value,
    }
}

/// Grids of `items` threads, a power of two, over loops with the trip counts `extents`: the numbers of threads along
/// each loop, powers of two that divide the trip counts and multiply to `items`. Grids with more threads along the last
/// loop come first.
fn grids(extents: &[i64], items: i64) -> Vec<Vec<i64>> {
    let Some((extent, rest)) = extents.split_first() else {
        return if items == 1 { vec![Vec::new()] } else { Vec::new() };
    };
    let mut all = Vec::new();
    let mut own = 1_i64;
    while own <= items && extent.checked_rem(own) == Some(0) {
        let others = grids(rest, items.div_euclid(own));
        all.extend(others.into_iter().map(|others| [vec![own], others].concat()));
        own = own.saturating_mul(2);
    }
    all
}
