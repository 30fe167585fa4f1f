//! Passes that rewrite functions of the loop IR.

mod dead_code;
mod half_vectors;
mod index_width;
mod partition;
mod ranges;
mod simplify;
#[cfg(test)]
mod tests;
mod unroll_budget;

pub use self::dead_code::dead_code;
pub use self::half_vectors::half_vectors;
pub use self::index_width::index_width;
pub use self::partition::partition;
pub use self::ranges::Ranges;
pub use self::simplify::simplify;
pub use self::unroll_budget::unroll_budget;

use crate::ir::Function;

/// Runs all passes for kernels on a function, in their order. `ranges` holds the value ranges of the function's
/// parameters.
pub fn kernel(function: &mut Function, ranges: &Ranges) {
    simplify(function, ranges);
    partition(function, ranges);
    dead_code(function);
    unroll_budget(function);
}
