//! Search for the first point of a box, in row-major order, at which an expression is not 0.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{EnumerationDomain, SlotSweep};
use crate::expr::ExprError;
use crate::prove::executor::Executor;

/// First point in row-major order at which the only target of the domain is not 0; `None` if there is none. The domain
/// must not have more than [`super::MAX_POINTS`] points, which is not checked.
///
/// # Errors
/// [`ExprError::Overflow`] if the target or a condition cannot be evaluated at a visited point, for example because a
/// value leaves 64 bits.
pub(crate) fn first_nonzero(
    domain: &EnumerationDomain<'_>,
    executor: &dyn Executor,
) -> Result<Option<Vec<i128>>, ExprError> {
    if domain.points() < 1 {
        return Ok(None);
    }
    let sweep = SlotSweep::new(domain, domain.extents.len().saturating_sub(1));
    let in_row = |row: u64| sweep.first(row.into(), |value| value != 0);
    let rows = u64::try_from(sweep.rows()).map_err(|_| ExprError::Overflow)?;
    // The first row known to contain such a point; each worker checks every n-th row below it.
    let (best, failed) = (AtomicU64::new(u64::MAX), AtomicBool::new(false));
    let pieces = rows.min(256);
    executor.for_each(usize::try_from(pieces).unwrap_or(1), &|piece| {
        let mut row = u64::try_from(piece).unwrap_or(0);
        while row < rows && row < best.load(Ordering::Relaxed) {
            match in_row(row) {
                Ok(None) => {}
                Ok(Some(_)) => {
                    best.fetch_min(row, Ordering::Relaxed);
                    return;
                }
                Err(_) => {
                    failed.store(true, Ordering::Relaxed);
                    return;
                }
            }
            row += pieces;
        }
    });
    if failed.load(Ordering::Relaxed) {
        return Err(ExprError::Overflow);
    }
    match best.load(Ordering::Relaxed) {
        u64::MAX => Ok(None),
        row => in_row(row),
    }
}
