//! Relayouts between tensors, and the decisions of the manifest on their schedule.

use super::{Spanned, TensorRef};
use crate::base::cast::Cast;
use crate::base::diagnostic::FileSpan;
use crate::manifest::syntax::{FillStrategy, InnerKernel, StorePolicy};

/// Checked relayout: copies a logical tensor from one layout to another. Axes are matched by name, in a conversion of a
/// graph by position or by the permutation of a transposition: `axes[k]` is the position in `to` of axis `k` of `from`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Convert {
    /// Source tensor or view.
    pub from: TensorRef,
    /// Destination tensor or view, whose memory is not that of the source.
    pub to: TensorRef,
    /// Positions in `to` of the axes of `from`, one for each axis of `from` in order: `[1, 0]` if `from` has the axes
    /// N, C and `to` has C, N.
    pub axes: Vec<usize>,
    /// Cast of the elements from the source's element type to the destination's; `None` if both are equal.
    pub cast: Option<Cast>,
    /// Schedule decisions of the manifest that override the planner's.
    pub choices: ConvertSchedule,
    /// Span of the conversion in the manifest; that of the graph's name for a conversion of a graph.
    pub place: FileSpan,
}

/// Scheduling decisions of the manifest for a relayout. The planner makes every decision that is not set.
#[derive(PartialEq, Eq, Debug, Clone, Default)]
pub struct ConvertSchedule {
    /// Names of loops, outermost first; loops that are not named are inside these.
    pub order: Vec<Spanned<String>>,
    /// Extents of a transpose tile: first along the fastest-varying digit of the destination, then along that of the
    /// source, each as a number of values of the digit. A digit is a mixed-radix component of an index, such as
    /// `c % 4`. `None`: the planner chooses.
    pub block: Option<Spanned<[i64; 2]>>,
    /// Kernel that copies elements inside all loops; `None`: the planner chooses.
    pub inside: Option<Spanned<InnerKernel>>,
    /// Streaming or ordinary stores to the destination; `None`: the size of the relayout decides.
    pub stores: Option<Spanned<StorePolicy>>,
    /// Strategy for writing the padding of the destination; `None`: the planner chooses.
    pub fill: Option<Spanned<FillStrategy>>,
}

impl Convert {
    /// Relayout between the tensors at the positions `from` and `to`, without a cast and without schedule decisions of
    /// the manifest. `axes[k]` is the position in the tensor `to` of axis `k` of the tensor `from`.
    pub(crate) fn between(from: usize, to: usize, axes: Vec<usize>, place: FileSpan) -> Self {
        let (from, to) = (TensorRef::Tensor(from), TensorRef::Tensor(to));
        Self { from, to, axes, cast: None, choices: ConvertSchedule::default(), place }
    }

    /// Copy of the relayout with the schedule decisions `choices` in place of its own.
    #[must_use]
    pub(crate) fn with_schedule(&self, choices: ConvertSchedule) -> Self {
        Self { choices, ..self.clone() }
    }
}

impl ConvertSchedule {
    /// Empty schedule: the planner chooses everything.
    pub const NONE: &Self =
        &Self { order: Vec::new(), block: None, inside: None, stores: None, fill: None };

    /// True if one call may transpose several tiles: the manifest fixes neither the size of a tile nor an inner kernel
    /// other than a transposition.
    pub fn allows_shared_calls(&self) -> bool {
        let kind = self.inside.as_ref().map(|inside| inside.value);
        self.block.is_none() && matches!(kind, None | Some(InnerKernel::Transpose))
    }

    /// True if the manifest sets no decision: the planner makes all.
    pub fn is_empty(&self) -> bool {
        let Self { order, block, inside, stores, fill } = self;
        order.is_empty()
            && block.is_none()
            && inside.is_none()
            && stores.is_none()
            && fill.is_none()
    }
}
