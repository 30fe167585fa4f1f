//! Lowering of a layout's steps onto a [`LayoutBuilder`]; each fault is located at the step or the words that cause it.

mod apply_step;
mod axis_step;
mod filled_slots;
mod map_step;
mod notation_step;
mod swizzle_auto;

use std::sync::Arc;

use layoutc_algebra::builder::{BuildError, LayoutBuilder};
use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::swizzle::Swizzle;
use layoutc_algebra::step;

use super::faults::{build_fault, step_fault};
use super::layout_attributes::LayoutAttributes;
use super::step_recorder::{self, StepRecord};
use super::step_scope::StepScope;
use super::step_text::line;
use super::step_values::{power_of_two, values};
use super::strides::{StrideSource, injective_strides, strides_of_bytes};
use super::swizzle::{TmaSwizzleMode, swizzle};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::manifest::syntax::{IntegerLiteral, SeparatorItem, StepItem, StepKind};
use crate::model::WarpAccess;
use filled_slots::slots;

/// Maximum number of steps of a layout, with transforms expanded. A layout with more is an error.
const MAX_STEPS: usize = 1000;

/// Help for too many steps.
const FEWER_STEPS: &str = "apply fewer transforms, or merge several steps into one `map`";

/// Lowering of the steps of a layout in order. It stops at the first fault, as later steps depend on earlier ones.
pub(super) struct StepLowering<'a> {
    pub(super) builder: LayoutBuilder,
    pub(super) attributes: LayoutAttributes,
    /// Names of the transforms that are currently expanded, outermost first.
    pub(super) open: Vec<String>,
    /// Number of applications of transforms so far.
    pub(super) applied: usize,
    pub(super) tensor: &'a str,
    /// Accesses of warps that the tensor declares.
    accesses: &'a [WarpAccess],
    /// Location of the step `swizzle auto`; `None` if there is none yet.
    pub(super) swizzle_auto: Option<FileSpan>,
    /// Number of slots that are accounted for: those of the tensor's extents, and those that steps that round up, such
    /// as `tile` and `pad`, add. Slots that a map adds are not counted. `None` on overflow.
    filled: Option<Expr>,
    /// Location of the last step that may add slots: one after which there are more slots than before it, or not
    /// provably as few, or any `strides`, `swizzle`, `align` of an axis or `align … at=origin`. For a map or a foreign
    /// notation, that of its text. `None` if there is no such step yet.
    grown: Option<FileSpan>,
    /// Pair (span of the `swizzle` step, period of its pattern in elements); `None` without a swizzle.
    swizzle_block: Option<(FileSpan, i128)>,
    /// Records of the steps so far; `None` if steps are not recorded.
    pub(super) recorded: Option<Vec<StepRecord>>,
    /// Span of the `apply` step in the tensor's layout that is currently expanded; `None` outside of transforms.
    within: Option<FileSpan>,
}

impl<'a> StepLowering<'a> {
    /// Creates a lowering for a layout of the tensor named `tensor` with the given accesses, with no step lowered yet,
    /// that records each step.
    pub(super) fn recording(
        builder: LayoutBuilder,
        tensor: &'a str,
        accesses: &'a [WarpAccess],
    ) -> Self {
        Self { recorded: Some(Vec::new()), ..Self::new(builder.recording(), tensor, accesses) }
    }

    /// Creates a lowering for a layout of the tensor named `tensor` with the given accesses, with no step lowered yet,
    /// that records nothing.
    pub(super) fn new(builder: LayoutBuilder, tensor: &'a str, accesses: &'a [WarpAccess]) -> Self {
        let filled = slots(&builder);
        Self {
            builder,
            attributes: LayoutAttributes::default(),
            open: Vec::new(),
            applied: 0,
            tensor,
            accesses,
            swizzle_auto: None,
            filled,
            grown: None,
            swizzle_block: None,
            recorded: None,
            within: None,
        }
    }
}

impl StepLowering<'_> {
    pub(super) fn steps(&mut self, steps: &[StepItem], ground: StepScope<'_>) -> CheckResult<()> {
        for step in steps {
            let place = ground.place(&step.span);
            if self.open.is_empty() {
                self.within = matches!(step.kind, StepKind::Apply { .. }).then(|| place.clone());
            }
            self.step(step, ground)?;
            // The steps of a transform were recorded individually.
            if !matches!(step.kind, StepKind::Apply { .. }) {
                self.record(step, place);
            }
        }
        Ok(())
    }

    /// Records the step that was just lowered, if steps are recorded.
    fn record(&mut self, step: &StepItem, place: FileSpan) {
        let Some(recorded) = &mut self.recorded else { return };
        let maps = self.builder.take_recorded();
        let line = self.attributes.lines.last().cloned().unwrap_or_default();
        let axes = self.builder.axes().to_vec();
        let note = step_recorder::note(step, &axes, self.builder.separators());
        let (separators, within) = (self.builder.separators().to_vec(), self.within.clone());
        recorded.push(StepRecord { line, maps, note, axes, separators, place, within });
    }

    fn step(&mut self, step: &StepItem, ground: StepScope<'_>) -> CheckResult<()> {
        let place = ground.place(&step.span);
        if self.attributes.lines.len() >= MAX_STEPS {
            let message = format!("the layout has more than {MAX_STEPS} steps");
            let error = Diagnostic::error(Code::LimitSteps, message, place, "one too many");
            let error = error.note("the steps of a transform count each time it is applied");
            return Err(vec![error.help(FEWER_STEPS)]);
        }
        if let StepKind::Apply { name, arguments } = &step.kind {
            return self.apply(name, arguments, ground);
        }
        self.is_before_swizzle_auto(step, &place)?;
        self.attributes.lines.push(line(step));
        match &step.kind {
            StepKind::Apply { .. } => {}
            StepKind::Map(text) => {
                let before = self.slots();
                self.map(text, ground)?;
                self.track_padding(before, &ground.place(&text.span), true);
            }
            StepKind::Strides(bounds) => {
                let strides = values(bounds, ground, &self.builder)?;
                let apart = injective_strides(self.builder.axes(), &strides);
                let bytes =
                    strides_of_bytes(self.builder.axes(), &strides, self.builder.element_bits());
                let strided = self.builder.strides(&strides);
                let own = if self.open.is_empty() { bounds.as_slice() } else { &[] };
                self.attributes.strides =
                    Some(StrideSource { bytes, ..StrideSource::step(place.clone(), own, apart) });
                self.built(strided, &place)?;
                self.grown = Some(place);
            }
            StepKind::Swizzle { bits, base, shift, unit } => {
                let numbers = [bits, base, shift];
                let at = |number: &IntegerLiteral| ground.place(&number.span);
                let swizzle = swizzle(numbers, *unit, self.builder.element_bits(), &at)?;
                self.swizzled(swizzle, place)?;
            }
            StepKind::SwizzleMode(row) => {
                let mode = TmaSwizzleMode { row, place: ground.place(&row.span) };
                let swizzle = mode.swizzle(&self.builder, self.tensor)?;
                self.attributes.swizzle_alignment = mode.alignment();
                self.swizzled(swizzle, place)?;
            }
            StepKind::SwizzleAuto(names) => self.swizzle_auto(names, ground, &place)?,
            StepKind::AlignBase(bytes) => {
                let bytes = power_of_two(bytes, ground, &self.builder)?;
                self.attributes.alignment = u64::try_from(bytes).ok();
            }
            StepKind::AlignAxis { axis, bytes } => {
                let bytes = power_of_two(bytes, ground, &self.builder)?;
                let aligned = self.builder.align_axis(&axis.value, bytes);
                self.built(aligned, &ground.place(&axis.span))?;
                self.grown = Some(place);
            }
            StepKind::AlignOrigin(bytes) => {
                let bytes = power_of_two(bytes, ground, &self.builder)?;
                let aligned = self.builder.align_origin(bytes);
                self.exclusive(aligned, &BuildError::AfterSwizzle, &place)?;
                self.grown = Some(place);
            }
            StepKind::Fill(item) => {
                self.attributes.fill = Some((item.clone(), Arc::clone(ground.file)));
            }
            StepKind::Padding(rule) => self.attributes.padding = Some((*rule, place)),
            StepKind::Separators(items) => self.separators(items, ground, &place)?,
            StepKind::Notation { notation, text, sizes } => {
                let before = self.slots();
                self.foreign(*notation, text, sizes, ground)?;
                self.track_padding(before, &ground.place(&text.span), false);
            }
            StepKind::Order(_)
            | StepKind::Split { .. }
            | StepKind::Fuse { .. }
            | StepKind::Tile { .. }
            | StepKind::PadMultiple { .. }
            | StepKind::PadBeforeAfter { .. } => {
                let before = self.slots();
                self.axis_step(step, ground, &place)?;
                self.track_padding(before, &place, false);
            }
        }
        Ok(())
    }

    /// Converts a builder's error to a diagnostic at `place`.
    fn built(&self, result: Result<(), BuildError>, place: &FileSpan) -> Result<(), Diagnostic> {
        result.map_err(|error| build_fault(&error, self.tensor, &self.builder, place))
    }

    /// Applies `swizzle`, a permutation of the slots within blocks by XOR of address bits; `place` is its step.
    fn swizzled(&mut self, swizzle: Swizzle, place: FileSpan) -> CheckResult<()> {
        let swizzled = self.builder.swizzle(swizzle);
        self.exclusive(swizzled, &BuildError::AfterAlign, &place)?;
        self.swizzle_block = Some((place.clone(), swizzle.block()));
        self.grown = Some(place);
        Ok(())
    }

    /// Converts a builder's error to a diagnostic at `place`. `both` is the error of the builder for a swizzle together
    /// with an `align … at=origin`; if `result` is this error, the message names both steps.
    fn exclusive(
        &self,
        result: Result<(), BuildError>,
        both: &BuildError,
        place: &FileSpan,
    ) -> Result<(), Diagnostic> {
        let mut lines = self.attributes.lines.iter().rev();
        let align = lines.find_map(|line| line.strip_suffix(" at=origin"));
        match (result, align) {
            (Err(error), Some(align)) if error == *both => {
                let message = format!("`swizzle` and `{align} at=origin` exclude each other");
                let error = Diagnostic::error(Code::StepForm, message, place.clone(), "");
                let error = error.note(
                    "a swizzle permutes the slots from the base address, and `at=origin` moves the first element away from it",
                );
                Err(error.help(format!(
                    "write `{align}` without `at=origin`: it aligns the base address"
                )))
            }
            (result, _) => self.built(result, place),
        }
    }

    fn separators(
        &mut self,
        items: &[SeparatorItem],
        ground: StepScope<'_>,
        place: &FileSpan,
    ) -> CheckResult<()> {
        let mut after = Vec::new();
        for item in items {
            let axes = self.builder.axes();
            after.push(match item {
                SeparatorItem::Name(name) => step::find_axis(axes, &name.value).map_err(|e| {
                    let known: Vec<String> = axes.iter().map(|axis| axis.name.clone()).collect();
                    step_fault(&e, &known, ground.place(&name.span))
                })?,
                SeparatorItem::Position(number) => {
                    usize::try_from(number.value).unwrap_or(usize::MAX)
                }
            });
        }
        self.attributes.separators = Some(place.clone());
        let separated = self.builder.separate(&after);
        Ok(self.built(separated, place)?)
    }
}
