//! Counts of the slots that the steps of a layout account for. [`PaddingOrigin`] follows from them.

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::Expr;

use super::StepLowering;
use crate::base::diagnostic::FileSpan;
use crate::check::padding::{PaddingOrigin, product};

impl StepLowering<'_> {
    pub(super) fn slots(&self) -> Option<Expr> {
        slots(&self.builder)
    }

    /// Origin of the padding of the layout after the steps so far.
    pub(in crate::check) fn padding(&self) -> PaddingOrigin {
        let slots = self.slots();
        let filled = self.filled.as_ref().zip(slots.as_ref());
        let is_filled = filled.is_some_and(|(filled, slots)| self.covers(filled, slots));
        PaddingOrigin {
            is_explained: is_filled || self.builder.explains_padding(),
            grown: self.grown.clone(),
            swizzle_block: self
                .swizzle_block
                .as_ref()
                .filter(|(place, _)| self.grown.as_ref() == Some(place))
                .map(|(_, block)| *block),
        }
    }

    fn covers(&self, filled: &Expr, slots: &Expr) -> bool {
        self.builder.facts().proves_ge(filled, slots).unwrap_or(false)
    }

    /// Updates `grown` and `filled` after a step at `place`. `before` is the number of slots before the step, `None` on
    /// overflow; `is_map` is true for a `map` step. If `filled` was all slots before a step other than a map, it
    /// becomes all slots after the step: the step accounts for the slots that it adds.
    pub(super) fn track_padding(&mut self, before: Option<Expr>, place: &FileSpan, is_map: bool) {
        let (Some(before), Some(after), Some(filled)) = (before, self.slots(), self.filled.take())
        else {
            self.grown = Some(place.clone());
            return;
        };
        if !self.covers(&before, &after) {
            self.grown = Some(place.clone());
        }
        let is_explained = self.covers(&filled, &after);
        let is_accounted = is_explained || (!is_map && self.covers(&filled, &before));
        self.filled = Some(if is_accounted { after } else { filled });
    }
}

/// Number of slots: the product of the extents of the builder's axes; `None` on overflow.
pub(super) fn slots(builder: &LayoutBuilder) -> Option<Expr> {
    product(builder.axes().iter().map(|axis| &axis.extent))
}
