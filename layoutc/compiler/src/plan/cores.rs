//! Which loop of a move runs on all cores: the outermost with rounds for all of them and enough to do, of those whose
//! rounds write to different bytes.

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::layout::Symbol;

use super::arith::typical;
use super::lower::{Scope, range};

/// How many cores the loops of a move are to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cores {
    /// The one that calls.
    One,
    /// All, where there is enough to do.
    All,
}

/// What is moved before other cores are woken, in bytes: below, waking them takes longer than the move.
const BYTES: i128 = 1 << 18;

/// How many rounds are enough for all cores.
const ROUNDS: i128 = 16;

/// One loop of a nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    /// How many rounds there are at least.
    pub least: i128,
    /// How many there are at a large size.
    pub typical: i128,
    /// Whether no two rounds write to one byte, as long as the loops around it stand still.
    pub apart: bool,
}

impl Loop {
    /// A loop over `extent` values; its rounds write to different bytes.
    pub fn over(extent: &Algebra, symbols: &[Symbol], scope: &Scope<'_>) -> Self {
        let least = range(extent, scope).low.unwrap_or(0);
        Self { least, typical: typical(extent, symbols), apart: true }
    }
}

/// The position of the loop that runs on all cores. `loops` are those of a nest, outermost first, each round of the
/// innermost moving one element.
pub fn choose(loops: &[Loop], element_bits: i128) -> Option<usize> {
    let mut bits = element_bits;
    let mut candidates = Vec::new();
    for (k, inner) in loops.iter().enumerate().rev() {
        bits = bits.saturating_mul(inner.typical);
        if inner.apart && inner.typical > 1 && bits / 8 >= BYTES {
            candidates.push((k, inner));
        }
    }
    // The innermost stands first.
    let enough = candidates.iter().rev().find(|(_, inner)| inner.least >= ROUNDS);
    let most = || {
        let rounds = |inner: &Loop| inner.least.max(1).saturating_mul(inner.typical);
        candidates.iter().max_by_key(|(_, inner)| rounds(inner))
    };
    enough.or_else(most).map(|(k, _)| *k)
}

/// Whether rounds of `stride` elements write to different bytes, `in_byte` elements sharing one: every round stays
/// in a window of its own. `outer` are the strides of the loops around it, `inner` those of all others with the
/// greatest value of their variables, `constant` the offset where all are 0; in elements.
pub fn apart(
    stride: i128,
    in_byte: i128,
    outer: &[i128],
    inner: &[(i128, i128)],
    constant: i128,
) -> bool {
    let window = stride.saturating_abs();
    if window == 0 || window % in_byte != 0 || outer.iter().any(|outer| outer % window != 0) {
        return false;
    }
    let (mut low, mut high) = (constant, constant);
    for (stride, greatest) in inner {
        let reach = stride.saturating_mul(*greatest);
        low = low.saturating_add(reach.min(0));
        high = high.saturating_add(reach.max(0));
    }
    low.div_euclid(window) == high.div_euclid(window)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(least: i128, typical: i128) -> Loop {
        Loop { least, typical, apart: true }
    }

    #[test]
    fn the_outermost_loop_with_rounds_for_all_cores_is_chosen() {
        assert_eq!(choose(&[rounds(64, 64), rounds(64, 64), rounds(64, 64)], 32), Some(0));
        assert_eq!(choose(&[rounds(2, 2), rounds(64, 64), rounds(9999, 9999)], 32), Some(1));
        assert_eq!(choose(&[rounds(1, 256), rounds(16, 16), rounds(5000, 5000)], 32), Some(1));
        assert_eq!(choose(&[rounds(1, 256), rounds(2, 2), rounds(3, 99_999)], 32), Some(2));
        assert_eq!(choose(&[rounds(4, 4), rounds(9, 9), rounds(8, 8)], 32), None);
        assert_eq!(choose(&[], 512), None);
    }

    #[test]
    fn a_loop_with_little_to_do_is_left_alone() {
        assert_eq!(choose(&[rounds(2, 2), rounds(200, 200), rounds(200, 200)], 32), Some(0));
        assert_eq!(choose(&[rounds(64, 64)], 32), None);
    }

    #[test]
    fn loops_whose_rounds_share_bytes_are_passed_over() {
        let shared = Loop { least: 512, typical: 512, apart: false };
        assert_eq!(choose(&[shared, rounds(999, 999)], 4), None);
        assert_eq!(choose(&[shared, rounds(1999, 1999), shared], 4), Some(1));
    }

    #[test]
    fn rounds_in_windows_of_whole_bytes_are_apart() {
        assert!(apart(10, 2, &[], &[(1, 9)], 0));
        assert!(!apart(9, 2, &[], &[(1, 8)], 0), "rows of nine nibbles share a byte");
        assert!(!apart(10, 2, &[], &[(1, 9)], 1), "shifted rows reach into the next");
        assert!(apart(10, 2, &[], &[(1, 7)], 1));
        assert!(apart(10, 2, &[40], &[(1, 9)], 0));
        assert!(!apart(10, 2, &[45], &[(1, 9)], 0));
        assert!(apart(-10, 2, &[], &[(-1, 9)], 59), "reversed rows");
        assert!(!apart(0, 2, &[], &[], 0));
    }
}
