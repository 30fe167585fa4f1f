//! GPU kernels with their launch ranges, and the loop variables of a thread.

use layoutc_algebra::expr::{BinOp, Expr as Algebra};

use crate::ir::{Expr, Function, Stmt};
use crate::loops::arith::fold;
use crate::loops::error::PlanError;
use crate::lower::expr::{Scope, lower, multiply, range};
use crate::machine::GPU;

/// GPU kernel and its launch range (`NDRange`).
#[derive(Debug, Clone)]
pub struct Kernel {
    /// Function that each thread executes.
    pub function: Function,
    /// Number of threads along each axis of the launch, fastest axis first.
    pub range: Vec<Items>,
    /// Number of threads of a thread block if they cooperate on tiles; `None` if the kernel works with any block size.
    pub group: Option<i64>,
    /// Alternative kernel for buffers that are not aligned to the words that `function` accesses; `None` if `function`
    /// needs no alignment.
    pub unaligned: Option<Unaligned>,
}

/// Alternative to a kernel with wide accesses, for buffers without the alignment that these need.
#[derive(Debug, Clone)]
pub struct Unaligned {
    /// Alignment of both buffers, in bytes, that the kernel with wide accesses needs.
    pub alignment_bytes: i64,
    /// Kernel that accesses single elements.
    pub plain: Box<Kernel>,
}

/// Number of threads along one axis of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Items {
    /// Number of threads, an expression over the symbols' identifiers.
    pub count: Expr,
    /// True unless `count` is known to be at least 1 for all values of the symbols.
    pub may_be_none: bool,
}

impl Items {
    /// Launch of `count` threads along one axis.
    pub(crate) fn new(count: &Algebra, scope: &Scope<'_>) -> Result<Self, PlanError> {
        let may_be_none = range(count, scope).low.is_none_or(|low| low <= 0);
        Ok(Self { count: lower(count, scope)?, may_be_none })
    }

    /// Launch of one thread block for each of `count` tiles, but of at most `most` thread blocks.
    pub(crate) fn of_blocks(
        count: &Algebra,
        most: i64,
        scope: &Scope<'_>,
    ) -> Result<Self, PlanError> {
        let Self { count, may_be_none } = Self::new(count, scope)?;
        let threads = Expr::int(GPU.threads);
        Ok(Self { count: multiply(count.min(Expr::int(most)), threads)?, may_be_none })
    }
}

/// Declarations of the loop variables of a thread or thread block, outermost first: its number, in the variable `item`,
/// delinearized with the last loop fastest. `loops` are pairs (variable, trip count).
pub(crate) fn delinearized(
    item: &str,
    loops: &[(String, Algebra)],
    scope: &Scope<'_>,
) -> Result<Vec<Stmt>, PlanError> {
    let mut lets = Vec::new();
    let mut inside = Algebra::constant(1);
    for (place, (name, extent)) in loops.iter().enumerate().rev() {
        let mut value = Expr::name(item);
        // A loop with trip count 0 leaves no threads; avoids a division by 0.
        if inside.as_const() == Some(0) || extent.as_const() == Some(0) {
            value = Expr::int(0);
            inside = Algebra::constant(1);
        }
        if inside.as_const() != Some(1) {
            value = Expr::Div { a: Box::new(value), b: Box::new(lower(&inside, scope)?) };
        }
        if place > 0 && extent.as_const() != Some(0) {
            value = Expr::Mod { a: Box::new(value), b: Box::new(lower(extent, scope)?) };
        }
        inside = fold(BinOp::Mul, &inside, extent)?;
        lets.push(Stmt::Let { name: name.clone(), value });
    }
    lets.reverse();
    Ok(lets)
}
