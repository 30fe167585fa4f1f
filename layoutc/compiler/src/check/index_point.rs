//! Results of claims about all indices of a layout or a statement, and points at which such a claim fails.

use layoutc_algebra::expr::Var;

/// Result of deciding a claim about all indices and all values of the symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ClaimResult {
    /// The claim is true at all points.
    Holds,
    /// The claim is false at this point.
    Fails(IndexPoint),
    /// The claim is neither proven nor refuted.
    Unknown,
}

/// Point of a claim's domain: an index for each axis, and a value for each symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexPoint {
    pub(super) axes: Vec<i128>,
    pub(super) symbols: Vec<i128>,
}

impl IndexPoint {
    /// Value of an axis or symbol at this point; `None` for other variables and for unknown axes and symbols.
    pub(super) fn value(&self, var: Var) -> Option<i128> {
        let (list, k) = match var {
            Var::Axis(k) => (&self.axes, k),
            Var::Symbol(k) => (&self.symbols, k),
            Var::Storage(_) | Var::Physical(_) | Var::Digit(_) => return None,
        };
        list.get(usize::try_from(k).ok()?).copied()
    }

    /// Calls `visit` at the points that result from this one when each axis in `indices` takes each of its listed
    /// indices, in all combinations; the last axis in `indices` varies fastest. Each element of `indices` is a pair
    /// (axis, indices), with at least one index; the other axes keep their index. Stops when `visit` returns false.
    pub(super) fn visit(
        mut self,
        indices: &[(usize, Vec<i128>)],
        visit: &mut dyn FnMut(&Self) -> bool,
    ) {
        let mut at = vec![0_usize; indices.len()];
        loop {
            for ((k, list), position) in indices.iter().zip(&at) {
                if let (Some(index), Some(value)) = (self.axes.get_mut(*k), list.get(*position)) {
                    *index = *value;
                }
            }
            if !visit(&self) || !advance(&mut at, indices) {
                return;
            }
        }
    }
}

/// Advances `at` to the next combination: `at[k]` is a position in the k-th list of `indices`, and the position in the
/// last list varies fastest. Returns false, with all positions reset to 0, after the last combination.
fn advance(at: &mut [usize], indices: &[(usize, Vec<i128>)]) -> bool {
    for (position, (_, list)) in at.iter_mut().zip(indices).rev() {
        *position += 1;
        if *position < list.len() {
            return true;
        }
        *position = 0;
    }
    false
}
