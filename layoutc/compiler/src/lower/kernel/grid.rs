//! Loop variables of a thread whose register tile is a part of the thread block's output tile.

use crate::ir::{Expr, Stmt};
use crate::loops::error::PlanError;
use crate::lower::kernel::nest::Nest;

impl Nest<'_> {
    /// Declarations of the variables of the distributed loops `loops`, outermost first, with `threads` threads along
    /// each. `element` is the variable of the thread loop; `done` counts the iterations of that loop that the thread has
    /// completed.
    ///
    /// # Errors
    /// [`PlanError::Scope`] if a loop has no constant trip count.
    pub(crate) fn rounds_in(
        &self,
        threads: &[i64],
        loops: &[usize],
        [element, done]: [&str; 2],
    ) -> Result<Vec<Stmt>, PlanError> {
        let mut lets = Vec::new();
        let (mut across, mut along) = (1_i64, 1_i64);
        for (place, (number, own)) in loops.iter().zip(threads).enumerate().rev() {
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
