//! Lowering of the step `swizzle auto`, which chooses the swizzle or row padding with the fewest bank conflicts.

use layoutc_algebra::expr::Expr;
use layoutc_algebra::step;

use super::StepLowering;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::check::step_scope::StepScope;
use crate::check::warp_access::{AccessedTensor, named};
use crate::manifest::syntax::{SpannedText, StepItem, StepKind};
use crate::warp::{Arrangement, fewest_conflicts};

/// Alignment of the base address that the search assumes, in bytes: one pass over the banks.
const BASE_ALIGNMENT: u64 = 128;

impl StepLowering<'_> {
    /// Checks that no step that moves elements follows `swizzle auto`, whose choice it would invalidate.
    pub(super) fn is_before_swizzle_auto(
        &self,
        step: &StepItem,
        place: &FileSpan,
    ) -> CheckResult<()> {
        let moves =
            !matches!(step.kind, StepKind::AlignBase(_) | StepKind::Fill(_) | StepKind::Padding(_));
        if self.swizzle_auto.is_none() || !moves {
            return Ok(());
        }
        let message = "a step that moves elements follows `swizzle auto`";
        let error = Diagnostic::error(Code::StepForm, message, place.clone(), "");
        Err(vec![error.help("write `swizzle auto` as the last step")])
    }

    /// Applies the swizzle or the row padding that [`fewest_conflicts`] finds for the accesses `names` of the tensor, all
    /// if there are none. The text of the step in reports becomes that of the step that is chosen.
    pub(super) fn swizzle_auto(
        &mut self,
        names: &[SpannedText],
        ground: StepScope<'_>,
        place: &FileSpan,
    ) -> CheckResult<()> {
        let accesses = named(self.accesses, names, (self.tensor, place.clone()))?;
        self.swizzle_auto = Some(place.clone());
        let refused = |message: &str, help: &str| {
            vec![Diagnostic::error(Code::StepForm, message, place.clone(), "").help(help)]
        };
        if !self.builder.separators().is_empty() {
            let message = "`swizzle auto` needs a tensor with one physical axis";
            return Err(refused(message, "remove the axis separators: shared memory is linear"));
        }
        // A layout that is refused is reported when it is proven.
        let Ok(layout) = self.builder.clone().finish_overlapping(BASE_ALIGNMENT) else {
            return Ok(());
        };
        let row = self.builder.axes().last().and_then(|axis| axis.extent.as_const());
        let (Some(row), Some(slots)) = (row, layout.physical_elements().as_const()) else {
            let message = "`swizzle auto` needs a tensor of constant size";
            return Err(refused(message, "declare the tile with constant extents"));
        };
        let bits = self.builder.element_bits();
        let accessed = AccessedTensor {
            name: self.tensor,
            axes: self.builder.logical(),
            element_bits: bits,
            scope: ground.scope,
            file: ground.file,
        };
        let mut all = Vec::new();
        for access in accesses {
            all.push(access.slots(&layout, bits).map_err(|fault| accessed.fault(access, &fault))?);
        }
        let (arrangement, _) = fewest_conflicts(&all, (slots, row));
        let axis = self.builder.axes().last().map(|axis| axis.name.clone()).unwrap_or_default();
        match arrangement {
            Arrangement::Plain => {}
            Arrangement::Swizzle(swizzle) => self.swizzled(swizzle, place.clone())?,
            Arrangement::RowPadding(padding) => self.row_padding(&axis, padding, place)?,
        }
        let line = arrangement.step(&axis).unwrap_or("swizzle 0 0 0 unit=elements".to_owned());
        if let Some(last) = self.attributes.lines.last_mut() {
            *last = line;
        }
        Ok(())
    }

    /// Adds `padding` slots after each row, along the last axis `axis`.
    fn row_padding(&mut self, axis: &str, padding: i128, place: &FileSpan) -> CheckResult<()> {
        let (none, after) = (Expr::constant(0), Expr::constant(padding));
        let before = self.slots();
        let padded = match step::pad_around(self.builder.axes(), axis, &none, &after) {
            Ok(map) => self.builder.apply(&map),
            Err(error) => Err(error.into()),
        };
        self.built(padded, place)?;
        self.track_padding(before, place, false);
        Ok(())
    }
}
