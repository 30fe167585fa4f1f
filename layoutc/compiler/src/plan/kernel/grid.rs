//! How the items of a group share elements that are put together: each has a grid of them, and reads what its rows have in common
//! once.

use super::super::lower::PlanError;
use super::nest::Nest;
use crate::ir::{Expr, Stmt};
use crate::machine::GPU;

/// Of each loop that the items share, over how many neighbouring rounds they lie; the others are rounds of every item.
pub(super) struct Grid(Vec<i64>);

impl Nest<'_> {
    /// The grid for which an item reads least, where every item has as many elements; `None` where they do not come out even.
    pub(super) fn grid(&self, loops: &[usize]) -> Option<Grid> {
        let extents = loops.iter().map(|number| self.domain.rounds(*number));
        let extents: Vec<i64> =
            extents.map(|rounds| i64::try_from(rounds?).ok()).collect::<Option<_>>()?;
        let mut best: Option<(i64, Vec<i64>)> = None;
        for items in grids(&extents, GPU.threads) {
            let read = self.read_by_item(loops, &extents, &items)?;
            // Of those that read as much, the one with the most neighbours along the last loop: it comes first.
            if best.as_ref().is_none_or(|(least, _)| read < *least) {
                best = Some((read, items));
            }
        }
        best.map(|(_, items)| Grid(items))
    }

    /// How many elements an item reads for a round of the reduction. What is written apart counts as if it were read.
    fn read_by_item(&self, loops: &[usize], extents: &[i64], items: &[i64]) -> Option<i64> {
        let rounds = |number: usize| {
            let k = loops.iter().position(|other| *other == number)?;
            extents.get(k)?.checked_div(*items.get(k)?)
        };
        let mut all = 0_i64;
        for access in self.accesses.iter().filter(|access| access.read.is_some()) {
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

    /// The round of each loop that an item does, from its number among `element` and the rounds that it has `done`.
    pub(super) fn rounds_in(
        &self,
        Grid(items): &Grid,
        loops: &[usize],
        [element, done]: [&str; 2],
    ) -> Result<Vec<Stmt>, PlanError> {
        let mut lets = Vec::new();
        let (mut across, mut along) = (1_i64, 1_i64);
        for (place, (number, own)) in loops.iter().zip(items).enumerate().rev() {
            let all = self.domain.rounds(*number).and_then(|rounds| i64::try_from(rounds).ok());
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

/// A digit of a number: what is left of it by so many, of those values.
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

/// All ways to let so many items, a power of two, lie over the rounds of loops, whole parts of each; first those with the most
/// along the last.
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
