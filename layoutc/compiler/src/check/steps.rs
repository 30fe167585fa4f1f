//! Lowering of a layout's steps onto a [`LayoutBuilder`]; each fault is located at the words that cause it.

use std::sync::Arc;

use layoutc_algebra::builder::{BuildError, LayoutBuilder};
use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::swizzle::Swizzle;
use layoutc_algebra::notation::{self, Notation, NotationError};
use layoutc_algebra::step::{self, OrderEntry as OrderPlace, TileExtent};

use super::expr::{place_in, raised};
use super::faults::{build_fault, step_fault};
use super::foreign_syntax;
use super::layout_attributes::{AppliedMap, ForeignText, LayoutAttributes};
use super::padding::{PaddingOrigin, product};
use super::scope::{self};
use super::step_faults::{step_place, with_order};
use super::step_map::{resolved, stated, unique_names};
use super::step_recorder::{self, StepRecord};
use super::step_scope::StepScope;
use super::step_text::line;
use super::step_values::{at_least, power_of_two, values};
use super::strides::{StrideSource, injective_strides, strides_of_bytes};
use super::swizzle::{TmaSwizzleMode, swizzle};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::manifest::syntax::{
    Identifier, IntegerExpr, IntegerLiteral, ItemKind, SeparatorItem, SpannedText, StepItem,
    StepKind, TileEntry,
};

/// Maximum number of steps of a layout, with transforms expanded. A layout with more is an error.
const MAX_STEPS: usize = 1000;

/// Help for too many steps.
const FEWER_STEPS: &str = "apply fewer transforms, or merge several steps into one `map`";

/// Maximum nesting depth of transforms. A deeper layout is an error.
const MAX_OPEN: usize = 64;

/// Lowering of the steps of a layout in order. It stops at the first fault, as later steps depend on earlier ones.
pub(super) struct StepLowering<'a> {
    pub(super) builder: LayoutBuilder,
    pub(super) attributes: LayoutAttributes,
    /// Names of the transforms that are currently expanded, outermost first.
    pub(super) open: Vec<String>,
    /// Number of applications of transforms so far.
    pub(super) applied: usize,
    pub(super) tensor: &'a str,
    /// Number of slots that the extents and the steps that round up, such as `tile` and `pad`, account for; slots that
    /// a map adds are not counted. Padding is unexplained if the layout has more slots. `None` on overflow.
    filled: Option<Expr>,
    /// Span of the last step after which the layout has more slots than before, or which is a swizzle; `None` if there
    /// is none.
    grown: Option<FileSpan>,
    /// Span of the `swizzle` step, and the period of its pattern in elements; `None` without a swizzle.
    swizzle_block: Option<(FileSpan, i128)>,
    /// Records of the steps so far; `None` if steps are not recorded.
    pub(super) recorded: Option<Vec<StepRecord>>,
    /// Span of the `apply` step in the tensor's layout that is currently expanded; `None` outside of transforms.
    within: Option<FileSpan>,
}

impl<'a> StepLowering<'a> {
    /// Creates a lowering without steps, which records each step.
    pub(super) fn recording(builder: LayoutBuilder, tensor: &'a str) -> Self {
        Self { recorded: Some(Vec::new()), ..Self::new(builder.recording(), tensor) }
    }

    /// Creates a lowering without steps for a layout of the tensor named `tensor`.
    pub(super) fn new(builder: LayoutBuilder, tensor: &'a str) -> Self {
        let filled = slots(&builder);
        Self {
            builder,
            attributes: LayoutAttributes::default(),
            open: Vec::new(),
            applied: 0,
            tensor,
            filled,
            grown: None,
            swizzle_block: None,
            recorded: None,
            within: None,
        }
    }

    fn slots(&self) -> Option<Expr> {
        slots(&self.builder)
    }

    /// Origin of the padding of the layout after the steps so far.
    pub(super) fn padding(&self) -> PaddingOrigin {
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

    /// Updates `grown` and `filled` after a step at `place`, before which the layout had `before` slots (`None` on
    /// overflow). If `filled` covered all slots before a step that is not a map, it covers all slots after the step
    /// too.
    fn track_padding(&mut self, before: Option<Expr>, place: &FileSpan, is_map: bool) {
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
            StepKind::Foreign { notation, text, sizes } => {
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

    /// Lowers a step that is equivalent to an index map of the current axes: `order`, `split`, `fuse`, `tile`, `pad`.
    /// Does nothing for other steps, which `step` lowers itself.
    fn axis_step(
        &mut self,
        step: &StepItem,
        ground: StepScope<'_>,
        place: &FileSpan,
    ) -> CheckResult<()> {
        let builder = &self.builder;
        let axes = builder.axes();
        let bound = |bound: &IntegerExpr| at_least(bound, 1, ground, builder);
        let from_zero = |bound: &Option<IntegerExpr>| match bound {
            None => Ok(Expr::constant(0)),
            Some(bound) => at_least(bound, 0, ground, builder),
        };
        let names =
            |names: &[Identifier]| names.iter().map(|n| n.value.clone()).collect::<Vec<_>>();
        let map = match &step.kind {
            StepKind::Order(words) => {
                step::order(axes, &words.iter().map(order_place).collect::<Vec<_>>())
            }
            StepKind::Split { axis, into, by } => {
                let by = by.iter().map(bound).collect::<Result<Vec<_>, _>>()?;
                step::split(axes, &axis.value, &names(into), &by)
            }
            StepKind::Fuse { axes: fused, into } => {
                step::fuse(axes, &names(fused), into.as_ref().map(|n| n.value.as_str()))
            }
            StepKind::Tile { entries, names: given } => {
                let mut tile = Vec::new();
                for (k, entry) in entries.iter().enumerate() {
                    let at = (axes.len() + k).checked_sub(entries.len());
                    let axis = at.and_then(|at| axes.get(at));
                    tile.push(match entry {
                        TileEntry::Star(_) => TileExtent::Merge,
                        TileEntry::Extent(IntegerExpr::Integer(number))
                            if number.value == -1
                                && let Some(axis) = axis
                                && let Some(extent) = axis.extent.as_const() =>
                        {
                            let place = ground.place(&number.span);
                            let message = "expected at least 1, found -1";
                            let error = Diagnostic::error(Code::StepValue, message, place, "");
                            let help = format!("write `{extent}`, the extent of `{}`", axis.name);
                            let mut error = error.help(help);
                            error.add_fix(extent.to_string());
                            return Err(error.into());
                        }
                        TileEntry::Extent(extent) => TileExtent::Extent(bound(extent)?),
                    });
                }
                step::tile(axes, &tile, &names(given))
            }
            StepKind::PadMultiple { axis, multiple } => {
                step::pad_to_multiple(axes, &axis.value, &bound(multiple)?)
            }
            StepKind::PadBeforeAfter { axis, before, after } => {
                step::pad_around(axes, &axis.value, &from_zero(before)?, &from_zero(after)?)
            }
            StepKind::Map(_)
            | StepKind::Apply { .. }
            | StepKind::Strides(_)
            | StepKind::Swizzle { .. }
            | StepKind::SwizzleMode(_)
            | StepKind::AlignBase(_)
            | StepKind::AlignAxis { .. }
            | StepKind::AlignOrigin(_)
            | StepKind::Fill(_)
            | StepKind::Padding(_)
            | StepKind::Separators(_)
            | StepKind::Foreign { .. } => return Ok(()),
        };
        let known: Vec<String> = axes.iter().map(|axis| axis.name.clone()).collect();
        let map = map.map_err(|e| {
            let mut fault = step_fault(&e, &known, step_place(step, &e, ground));
            if let StepKind::Order(names) = &step.kind {
                let names: Vec<&str> = names.iter().map(|name| name.value.as_str()).collect();
                with_order(&mut fault, &e, &names, &known);
            }
            fault
        })?;
        unique_names(&map, place)?;
        let applied = self.builder.apply(&map);
        Ok(self.built(applied, place)?)
    }

    fn map(&mut self, text: &SpannedText, ground: StepScope<'_>) -> CheckResult<()> {
        let file = ground.file;
        let axes = self.builder.axes().to_vec();
        let (parsed, map) = resolved(text, &axes, self.builder.facts(), ground)?;
        let only = self.attributes.map.is_none();
        let direct = only && axes == self.builder.logical();
        let is_own = self.open.is_empty();
        let applied = self.builder.apply(&map);
        applied.map_err(|e| {
            let span = super::faults::item_of(&e)
                .and_then(|k| map.items.get(k))
                .map(|item| item.span.clone());
            let written = match &e {
                BuildError::ExtentTooSmall { .. } => span.as_ref().and_then(|s| stated(&parsed, s)),
                _ => None,
            };
            let blamed = written.or(span.clone()).unwrap_or(0..text.value.len());
            let place = place_in(text, &blamed, file);
            let mut fault = build_fault(&e, self.tensor, &self.builder, &place);
            // With symbols the value is that of one size only.
            if let BuildError::Negative { value, .. } = &e
                && self.builder.facts().symbols().is_empty()
                && let Some(index) = span.and_then(|span| text.value.get(span))
            {
                let raised = raised(index, value.unsigned_abs());
                fault.help = vec![format!("start the index at 0: write `{raised}`")];
                if is_own {
                    fault.add_fix(raised);
                }
            }
            vec![fault]
        })?;
        if let Some((_, bar)) = parsed.separators.last() {
            self.attributes.separators = Some(place_in(text, bar, file));
        }
        self.attributes.map = Some(AppliedMap {
            file: Arc::clone(file),
            text: text.clone(),
            parsed,
            map,
            direct,
            only,
            is_own,
        });
        Ok(())
    }

    fn foreign(
        &mut self,
        notation: Notation,
        text: &SpannedText,
        sizes: &[(Identifier, IntegerLiteral)],
        ground: StepScope<'_>,
    ) -> CheckResult<()> {
        let sizes: Vec<(String, i128)> =
            sizes.iter().map(|(name, size)| (name.value.clone(), size.value)).collect();
        let applied = notation::apply(notation, &text.value, &sizes, &mut self.builder);
        let extras = applied.map_err(|error| {
            let place = ground.place(&text.span);
            vec![match error {
                NotationError::Fault(fault) => {
                    let axes = self.builder.axes();
                    let inside = place_in(text, &fault.span, ground.file);
                    foreign_syntax::index_map(text, notation, axes, place)
                        .unwrap_or_else(|| Diagnostic::in_notation(fault, inside))
                }
                NotationError::Build(error) => {
                    build_fault(&error, self.tensor, &self.builder, &place)
                }
            }]
        })?;
        // A transform may be applied elsewhere, to other axes.
        if self.open.is_empty() {
            let place = ground.place(&text.span);
            if let Some(strides) = self.builder.element_strides() {
                let bits = self.builder.element_bits();
                let apart = injective_strides(self.builder.axes(), strides);
                self.attributes.strides =
                    Some(StrideSource::foreign(notation, place.clone(), apart, bits));
            }
            let stated = notation::notation_axes(notation, &text.value, &sizes);
            let names = stated.map(|stated| stated.names).unwrap_or_default();
            self.attributes.foreign = Some(ForeignText { notation, place, names });
        }
        for remark in extras.remarks {
            self.attributes.remarks.push((place_in(text, &remark.span, ground.file), remark));
        }
        if let Some((span, n)) = extras.memory_space {
            self.attributes.memory_space = Some((place_in(text, &span, ground.file), n));
        }
        Ok(())
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

    fn apply(
        &mut self,
        name: &Identifier,
        arguments: &[(Identifier, IntegerExpr)],
        ground: StepScope<'_>,
    ) -> CheckResult<()> {
        let place = ground.place(&name.span);
        let Some(def) = ground.scope.transforms.get(&name.value).cloned() else {
            if ground.scope.is_broken(ItemKind::Transform, &name.value) {
                return Err(Vec::new());
            }
            let axes = Some(self.builder.axes());
            return Err(scope::unknown_transform(&name.value, place, ground.scope, axes).into());
        };
        if self.open.contains(&name.value) {
            let mut chain = self.open.clone();
            chain.push(name.value.clone());
            let message = format!("cyclic `apply`: {}", chain.join(" → "));
            let error = Diagnostic::error(Code::NameCycle, message, place, "");
            return Err(vec![error.help("remove one `apply` of the cycle")]);
        }
        self.applied += 1;
        if self.applied > MAX_STEPS || self.open.len() >= MAX_OPEN {
            let message = format!(
                "the layout applies more than {MAX_STEPS} transforms, or nests more than {MAX_OPEN}"
            );
            let error = Diagnostic::error(Code::LimitSteps, message, place, "");
            return Err(vec![error.help(FEWER_STEPS)]);
        }
        let mut parameters: Vec<(String, Expr)> = Vec::new();
        for (parameter, default) in &def.item.parameters {
            let given = arguments.iter().find(|(argument, _)| argument.value == parameter.value);
            let value = match given {
                Some((_, bound)) => at_least(bound, 0, ground, &self.builder)?,
                None => Expr::constant(default.value),
            };
            parameters.push((parameter.value.clone(), value));
        }
        for (argument, _) in arguments {
            if !parameters.iter().any(|(parameter, _)| *parameter == argument.value) {
                let message =
                    format!("transform `{}` has no parameter `{}`", name.value, argument.value);
                let known = parameters.iter().map(|(parameter, _)| parameter.as_str());
                let place = ground.place(&argument.span);
                let error = Diagnostic::error(Code::NameUnknown, message, place, "");
                return Err(error.nearest_or_all(&argument.value, "parameters", known).into());
            }
        }
        let Some(home) = ground.scopes.get(def.home) else { return Err(Vec::new()) };
        let inner = StepScope { file: &def.file, scope: home, parameters: &parameters, ..ground };
        self.open.push(name.value.clone());
        let applied = self.steps(&def.item.steps, inner);
        self.open.pop();
        // Label a fault inside the transform with its application.
        applied.map_err(|mut errors| {
            let through = match self.open.last() {
                Some(transform) => format!("applied by transform `{transform}` here"),
                None => format!("applied by `{}` here", self.tensor),
            };
            for error in &mut errors {
                error.add_label(place.clone(), &through);
            }
            errors
        })
    }
}

/// Number of slots: the product of the extents of the builder's axes; `None` on overflow.
fn slots(builder: &LayoutBuilder) -> Option<Expr> {
    product(builder.axes().iter().map(|axis| &axis.extent))
}

fn order_place(word: &SpannedText) -> OrderPlace {
    if word.value == "..." { OrderPlace::Others } else { OrderPlace::Axis(word.value.clone()) }
}
