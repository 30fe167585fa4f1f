//! Passes that rewrite functions of the loop IR. [`cpu_kernel`], [`gpu_kernel`], [`cpu_relayout`] and [`gpu_relayout`]
//! each run a sequence of passes that do not depend on the target language. Later, when the target language is known,
//! those of [`synchronous`], [`index_width`], [`openmp`] and [`vector_stores`] that apply to it are run, in this order.
//! Last, [`requirements`](requirements()) finds the helper functions and standard headers that a function needs, and
//! changes nothing.

mod arithmetic;
mod dead_code;
mod fences;
mod fuse;
mod half_vectors;
mod hoist;
mod index_width;
mod merge_constants;
mod openmp;
mod partition;
mod ranges;
mod requirements;
mod scalars;
mod simplify;
mod synchronous;
#[cfg(test)]
mod tests;
mod unroll_budget;
mod vector_stores;
mod zeroing;

pub use self::arithmetic::{ArithmeticHelper, Shape, Shaped, helper, update_helper};
pub(crate) use self::arithmetic::{float, is_float, never_nan};
pub use self::dead_code::dead_code;
pub use self::fences::{fences, fits_l2, streams};
pub use self::fuse::fuse;
pub use self::half_vectors::half_vectors;
pub use self::hoist::hoist;
pub use self::index_width::index_width;
pub use self::merge_constants::merge_constants;
pub use self::openmp::{has_vector_versions, openmp};
pub use self::partition::partition;
pub use self::ranges::Ranges;
pub use self::requirements::{
    IndexHelper, Library, Requirements, Routine, TransposeKind, requirements,
};
pub use self::scalars::scalars;
pub use self::simplify::simplify;
pub use self::synchronous::synchronous;
pub use self::unroll_budget::unroll_budget;
pub use self::vector_stores::vector_stores;
pub use self::zeroing::zeroing;

use crate::ir::{Function, LoopKind, Stmt};

/// Runs the passes for a kernel on one or several threads of a CPU, for a target that has the primitives of the runtime
/// library. `ranges` holds the value ranges of the function's parameters; `name` returns an unused identifier similar
/// to its argument.
pub fn cpu_kernel(function: &mut Function, ranges: &Ranges, name: &mut dyn FnMut(&str) -> String) {
    gpu_kernel(function, ranges);
    hoist(function, ranges, name);
    half_vectors(function, ranges, name);
}

/// Runs the passes for a relayout on one or several threads of a CPU: `zeroing`, then `fences`.
pub fn cpu_relayout(function: &mut Function) {
    zeroing(function);
    fences(function);
}

/// Runs the passes for a relayout in GPU threads: `simplify`, then `dead_code`. `ranges` holds the value ranges of the
/// function's parameters. A relayout by tiles stays as it is: sums in a thread loop have 32 bits unless they contain a
/// constant that is declared outside, so that no constant may be replaced by its value.
pub fn gpu_relayout(function: &mut Function, ranges: &Ranges) {
    let is_thread = |stmt: &Stmt| matches!(stmt, Stmt::For { kind: LoopKind::Thread { .. }, .. });
    if !function.body.iter().any(|stmt| stmt.any(is_thread)) {
        simplify(function, ranges);
        dead_code(function);
    }
}

/// Runs the passes for a kernel in GPU threads, or on a CPU for a target without the primitives of the runtime library.
/// `ranges` holds the value ranges of the function's parameters.
pub fn gpu_kernel(function: &mut Function, ranges: &Ranges) {
    simplify(function, ranges);
    scalars(function);
    partition(function, ranges);
    merge_constants(function);
    dead_code(function);
    unroll_budget(function);
}
