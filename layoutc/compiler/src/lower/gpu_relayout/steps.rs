//! Strides of digits for arithmetic inside a tile, which has 32 bits unless the strides are large.

use crate::ir::{Expr, Stmt};
use crate::lower::gpu_relayout::body::TileLowering;

/// Greatest absolute value of 32-bit arithmetic inside a tile.
const MOST: i128 = i32::MAX as i128;

impl TileLowering<'_, '_> {
    /// Strides for the sum of `digit * stride` inside a tile, as pairs (digit, stride), from the strides `steps`. If a
    /// sum of 32 bits may overflow, the strides with the greatest contributions are declared as variables in `body`:
    /// these have the width of an index and widen the sum.
    pub(crate) fn steps(
        &mut self,
        mut steps: Vec<(usize, Expr)>,
        body: &mut Vec<Stmt>,
    ) -> Vec<(usize, Expr)> {
        while steps.iter().map(|step| self.reach(step)).fold(0, i128::saturating_add) > MOST {
            let Some((k, step)) = steps.iter_mut().max_by_key(|step| self.reach(step)) else {
                break;
            };
            let digit = self.names.get(*k).cloned().unwrap_or_default();
            let name = self.builder.local(&format!("{digit}_step"));
            let value = std::mem::replace(step, Expr::name(&name));
            body.push(Stmt::Let { name, value });
        }
        steps
    }

    /// Greatest absolute contribution of a stride inside the tile; 0 for strides that are not constants of 32 bits.
    fn reach(&self, (k, step): &(usize, Expr)) -> i128 {
        match step {
            Expr::Int { value } if i128::from(*value).abs() <= MOST => {
                let last = i128::from(self.schedule.tile.block(*k)) - 1;
                last.saturating_mul(i128::from(*value).abs())
            }
            _ => 0,
        }
    }
}
