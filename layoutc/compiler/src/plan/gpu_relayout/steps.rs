//! What steps of digits add up to inside a tile: numbers of 32 bits, unless they are far apart.

use super::body::Writer;
use crate::ir::{Expr, Stmt};

/// The greatest number inside a tile.
const MOST: i128 = i32::MAX as i128;

impl Writer<'_, '_> {
    /// The steps of digits for a sum over the tile. Numbers inside a tile have 32 bits: of a sum that may need more, the
    /// largest steps get names, which makes them as wide as indices are.
    pub(super) fn steps(
        &mut self,
        mut steps: Vec<(usize, Expr)>,
        body: &mut Vec<Stmt>,
    ) -> Vec<(usize, Expr)> {
        while steps.iter().map(|step| self.reach(step)).fold(0, i128::saturating_add) > MOST {
            let Some((k, step)) = steps.iter_mut().max_by_key(|step| self.reach(step)) else {
                break;
            };
            let digit = self.names.get(*k).cloned().unwrap_or_default();
            let name = self.parts.local(&format!("{digit}_step"));
            let value = std::mem::replace(step, Expr::name(&name));
            body.push(Stmt::Let { name, value });
        }
        steps
    }

    /// How far a step reaches inside the tile, where it is an integer of 32 bits.
    fn reach(&self, (k, step): &(usize, Expr)) -> i128 {
        match step {
            Expr::Int { value } if i128::from(*value).abs() <= MOST => {
                let last = i128::from(self.tile.block(*k)) - 1;
                last.saturating_mul(i128::from(*value).abs())
            }
            _ => 0,
        }
    }
}
