//! Check of one tensor: resolves its element type and axes, applies the steps of its layout, and proves the layout.
//! Manifest item → [`CheckedTensor`].

mod declared;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::{Layout, Verdict};
use layoutc_algebra::symbol::{Axis, Symbol};

pub(super) use declared::TensorDeclaration;

use super::gate::{self, GateContext};
use super::injectivity_report::{self, RefusalContext};
use super::layout_attributes::LayoutAttributes;
use super::load::ManifestSet;
use super::replay::{LayoutSource, ReplayOutcome};
use super::scope::{ManifestScope, ManifestScopes};
use super::step_recorder::{Recorder, StepRecord};
use super::steps::StepLowering;
use super::warp_access::AccessedTensor;
use super::{
    PlannerQuestions, axis_order_advice, cast, domain, mesh, padding, ring, space, symbol_facts,
};
use crate::base::cast::CastMode;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan, collect_all, collect_both};
use crate::base::dtype::Dtype;
use crate::base::nearest::nearest;
use crate::config::{Config, DefaultFill};
use crate::env::ResultCache;
use crate::env::executor::CostTrackingExecutor;
use crate::manifest::syntax::{
    AxisItem, Extent, FillLiteral, Identifier, IntegerExpr, IntegerLiteral, ManifestSyntax,
    NibbleOrder, PackFromItem, ShapeItem, SpannedText, TensorItem,
};
use crate::model::layout_names;
use crate::model::reshard::DeviceSharding;
use crate::model::ring::Ring;
use crate::model::{
    Fill, FillValue, Memory, MemorySpace, PackFrom, Tensor, TensorSpans, WarpAccess,
};

/// Context of the checks of one manifest: the index `file` of the manifest in `files`, the scopes of all manifests, the
/// configuration, the cache of proofs (`memo`), and the functions of the planner.
#[derive(Clone, Copy)]
pub(super) struct ManifestContext<'a> {
    pub(super) file: usize,
    pub(super) files: &'a ManifestSet,
    pub(super) scopes: &'a ManifestScopes,
    pub(super) config: &'a Config,
    pub(super) memo: &'a dyn ResultCache,
    /// Recorder of layout steps; `None` if steps are not recorded.
    pub(super) recorder: Option<&'a Recorder>,
    pub(super) planner: PlannerQuestions,
    /// Tensors of the manifest by name; of several with one name, the first.
    pub(super) named: &'a BTreeMap<&'a str, &'a TensorItem>,
    /// Names of the tensors and views that are the base of a view.
    pub(super) viewed: &'a BTreeSet<&'a str>,
}

/// Result of the check of one tensor without errors: the tensor, the builder of its layout, and warnings.
#[derive(Debug, Clone)]
pub(super) struct CheckedTensor {
    pub(super) tensor: Tensor,
    /// Builder of the tensor's layout before the proof, from which views are built; `None` if the tensor has no views.
    pub(super) builder: Option<LayoutBuilder>,
    pub(super) warnings: Vec<Diagnostic>,
    /// Records of the layout's steps; `None` if no recorder requests them.
    pub(super) recorded: Option<Vec<StepRecord>>,
}

impl CheckedTensor {
    /// Moves the recorded steps to the recorder, if there is one.
    pub(super) fn record_steps(&mut self, recorder: Option<&Recorder>) {
        if let (Some(recorder), Some(steps)) = (recorder, self.recorded.take()) {
            recorder.take(&self.tensor.file, &self.tensor.name, steps);
        }
    }
}

/// Checks the tensor `item`. `Err` has the faults found; it is empty if these have been reported already.
pub(super) fn check(item: &TensorItem, place: ManifestContext<'_>) -> CheckResult<CheckedTensor> {
    TensorChecker::new(item, place).ok_or_else(Vec::new)?.tensor()
}

/// Checker of one tensor, or of a view whose shape, layout and element type are in `item` in the form of a tensor item.
pub(super) struct TensorChecker<'a> {
    item: &'a TensorItem,
    syntax: &'a ManifestSyntax,
    pub(super) scope: &'a ManifestScope,
    pub(super) place: ManifestContext<'a>,
    pub(super) file: &'a Arc<str>,
}

impl<'a> TensorChecker<'a> {
    /// Creates the checker; `None` if the file of `place` does not exist.
    pub(super) fn new(item: &'a TensorItem, place: ManifestContext<'a>) -> Option<Self> {
        let syntax = place.files.syntax(place.file)?;
        let scope = place.scopes.get(place.file)?;
        Some(Self { item, syntax, scope, place, file: &syntax.file })
    }
}

impl TensorChecker<'_> {
    pub(super) fn at(&self, span: &std::ops::Range<usize>) -> FileSpan {
        FileSpan::new(self.file, span.clone())
    }

    fn tensor(&self) -> CheckResult<CheckedTensor> {
        let declared = self.declared()?;
        let symbols = self.symbols(declared.shape);
        let axes = self.axes(&declared, &symbols);
        let (dtype, (logical, labels)) = collect_both(self.element_type(&declared), axes)?;
        let conditions = declared.shape.conditions.as_slice();
        self.is_alone(conditions)?;
        let (logical, sharded) = self.sharded(logical, &labels)?;
        let (logical, ring) = self.ring(logical, &labels)?;
        let recorder = self.place.recorder.filter(|r| r.wants(&self.item.name.value));
        let accessed = AccessedTensor {
            name: &self.item.name.value,
            axes: &logical,
            element_bits: dtype.element_bits(),
            scope: self.scope,
            file: self.file,
        };
        let accesses = accessed.accesses(&self.item.accesses)?;
        let recipe = self.recipe(dtype.element_bits(), conditions, &accesses);
        let applied = match recorder {
            Some(_) => recipe.apply_recorded(&logical, &symbols),
            None => recipe.apply_steps(&logical, &symbols, None),
        };
        let applier =
            applied.map_err(|errors| with_symbol_advice(errors, recipe, &logical, &symbols))?;
        let padding = applier.padding();
        let StepLowering { builder, attributes, recorded, swizzle_auto, .. } = applier;
        let is_viewed = self.place.viewed.contains(self.item.name.value.as_str());
        let view_base = is_viewed.then(|| builder.clone());
        let (memory, space) = self.memory(&attributes)?;
        if let Some(place) = swizzle_auto.filter(|_| memory != Memory::Shared) {
            let message = format!(
                "`swizzle auto` needs a tensor in shared memory, not `{}`",
                self.item.name.value
            );
            let error = Diagnostic::error(Code::StepForm, message, place, "");
            return Err(vec![error.help("write `memory shared` in the tensor")]);
        }
        let own = space.as_ref().map_or(1, |space| space.alignment_bytes);
        let own = own.max(dtype.record().map_or(1, |record| record.alignment_bytes().into()));
        let recipe = LayoutSource { least_alignment: own, ..recipe };
        let layout = self.finish(builder, &attributes, recipe, &logical, &symbols)?;
        let tensor = self.model(dtype, layout, labels, &attributes, (memory, space))?;
        let misfits: Vec<Diagnostic> = accesses
            .iter()
            .filter_map(|access| {
                let fault = access.slots(&tensor.layout, dtype.element_bits()).err()?;
                Some(accessed.fault(access, &fault))
            })
            .collect();
        if !misfits.is_empty() {
            return Err(misfits);
        }
        let tensor = Tensor { sharded, ring, accesses: accesses.clone(), ..tensor };
        let gated = GateContext { tensor: &tensor, recipe, axes: &logical };
        let broken = gate::check(gated);
        if !broken.is_empty() {
            return Err(broken);
        }
        let warnings = self.warnings(gated, &attributes, &padding)?;
        Ok(CheckedTensor { tensor, builder: view_base, warnings, recorded })
    }

    /// Pair `(axes, sharding)`: for a sharded tensor, the axes of one shard and the sharding of the tensor; for any
    /// other tensor, `whole` and `None`. `whole` are the axes of the tensor, `labels` the labels of each axis.
    fn sharded(
        &self,
        whole: Vec<Axis>,
        labels: &[Vec<String>],
    ) -> CheckResult<(Vec<Axis>, Option<DeviceSharding>)> {
        let Some(item) = &self.item.shard else { return Ok((whole, None)) };
        let cut =
            mesh::ShardContext { item, scope: self.scope, file: self.file, memo: self.place.memo };
        let (axes, sharded) = cut.sharded(whole, labels)?;
        Ok((axes, Some(sharded)))
    }

    /// Checks that a tensor whose shape has conditions (`where`) is neither sharded nor a ring.
    fn is_alone(&self, conditions: &[SpannedText]) -> CheckResult<()> {
        let Some(condition) = conditions.first() else { return Ok(()) };
        let parted = match (&self.item.shard, &self.item.ring) {
            (Some(_), _) => "a sharded tensor",
            (None, Some(_)) => "a ring",
            (None, None) => return Ok(()),
        };
        Err(vec![domain::parted(parted, self.at(&condition.span))])
    }

    /// Pair `(axes, ring)`: for a ring buffer, the axes of the window in memory and the ring; for any other tensor,
    /// `whole` and `None`. `whole` are the axes of the tensor, `labels` the labels of each axis.
    fn ring(
        &self,
        whole: Vec<Axis>,
        labels: &[Vec<String>],
    ) -> CheckResult<(Vec<Axis>, Option<Ring>)> {
        let Some(item) = &self.item.ring else { return Ok((whole, None)) };
        if self.item.shard.is_some() {
            return Err(vec![ring::sharded_ring_fault(self.file, item)]);
        }
        let (axes, ring) = ring::ring(item, (self.scope, self.file), whole, labels)?;
        Ok((axes, Some(ring)))
    }

    fn recipe<'s>(
        &'s self,
        element_bits: u32,
        conditions: &'s [SpannedText],
        accesses: &'s [WarpAccess],
    ) -> LayoutSource<'s> {
        LayoutSource {
            item: self.item,
            file: self.file,
            scope: self.scope,
            scopes: self.place.scopes,
            memo: self.place.memo,
            element_bits,
            accesses,
            conditions,
            default_alignment: self.place.config.defaults.alignment,
            least_alignment: 1,
        }
    }

    fn finish(
        &self,
        builder: LayoutBuilder,
        attributes: &LayoutAttributes,
        recipe: LayoutSource<'_>,
        logical: &[Axis],
        symbols: &[Symbol],
    ) -> CheckResult<Layout> {
        let span = self.item.layout.as_ref().map_or(&self.item.name.span, |layout| &layout.span);
        let machine = CostTrackingExecutor::new(self.place.memo);
        builder.finish(recipe.alignment(attributes), &machine).map_err(|error| {
            let context = RefusalContext {
                tensor: &self.item.name.value,
                logical,
                symbols,
                site: attributes.map.as_ref(),
                strides: attributes.strides.as_ref(),
                foreign: attributes.foreign.as_ref(),
                recipe: Some(recipe),
                place: self.at(span),
            };
            let errors = vec![injectivity_report::fault(&error, &context)];
            if machine.has_visited_many() {
                return errors;
            }
            with_symbol_advice(errors, recipe, logical, symbols)
        })
    }

    /// Pair `(memory, space)` for the tensor. With a `memory` item that names a kind of memory, it is that kind and
    /// `None`; with one that names a declared memory space, it is [`Memory::Global`] and that space. Without the item,
    /// `memory` is global, and `space` is the declared memory space with the number n if an XLA layout text has `S(n)`;
    /// `None` if there is no such text or space.
    fn memory(&self, attributes: &LayoutAttributes) -> CheckResult<(Memory, Option<MemorySpace>)> {
        let (memory, space) = space::memory(self.item.memory.as_ref(), self.scope, self.syntax)?;
        if self.item.memory.is_some() {
            return Ok((memory, space));
        }
        let xla = attributes.memory_space.as_ref().and_then(|(_, n)| space::of_xla(*n, self.scope));
        Ok((memory, xla.cloned()))
    }

    fn model(
        &self,
        dtype: Dtype,
        layout: Layout,
        labels: Vec<Vec<String>>,
        attributes: &LayoutAttributes,
        (memory, space): (Memory, Option<MemorySpace>),
    ) -> CheckResult<Tensor> {
        let tensor = Tensor {
            file: self.file.to_string(),
            name: self.item.name.value.clone(),
            owner: None,
            dtype,
            pack_from: self.pack_from(dtype, memory)?,
            sharded: None,
            ring: None,
            layout,
            fill: self.fill(attributes, dtype),
            memory,
            space,
            targets: self.targets()?,
            labels,
            high_first: self.item.nibbles == Some(NibbleOrder::HighFirst),
            accesses: Vec::new(),
            steps: attributes.lines.clone(),
            places: self.places(attributes)?,
        };
        crate::model::fill_fault(&tensor).map_or(Ok(tensor), |error| Err(error.into()))
    }

    /// Element type that pack reads and unpack writes, and the casts, if the manifest gives one by `pack-from=` that
    /// differs from `dtype`; otherwise `None`.
    fn pack_from(&self, dtype: Dtype, memory: Memory) -> CheckResult<Option<PackFrom>> {
        let Some(PackFromItem { dtype: text, cast: mode }) = &self.item.pack_from else {
            return Ok(None);
        };
        let logical = self.dtype(text)?;
        let (name, place) = (&self.item.name.value, self.at(&text.span));
        if memory == Memory::None {
            let message = format!("cannot pack `{name}`: it has no memory");
            let error = Diagnostic::error(Code::DtypeCast, message, place, "");
            return Err(vec![error.help("remove `pack-from=` or `memory none`")]);
        }
        let mode = mode.unwrap_or(CastMode::Round);
        Ok(cast::pack_from((name, dtype), logical, mode, &place)?)
    }

    fn fill(&self, attributes: &LayoutAttributes, dtype: Dtype) -> Fill {
        match attributes.fill.as_ref().map(|(item, _)| item.value) {
            Some(FillLiteral::Integer(value)) => Fill::Value(FillValue::Integer(value)),
            Some(FillLiteral::Float(value)) => Fill::Value(FillValue::Float(value)),
            Some(FillLiteral::Bool(value)) => Fill::Value(FillValue::Integer(i128::from(value))),
            Some(FillLiteral::Nothing) => Fill::Nothing,
            None => {
                let value = match self.place.config.defaults.fill {
                    DefaultFill::Integer(value) => FillValue::Integer(i128::from(value)),
                    DefaultFill::Float(value) => FillValue::Float(value),
                };
                Fill::Value(crate::base::fill::default_fill(dtype, value))
            }
        }
    }

    fn places(&self, attributes: &LayoutAttributes) -> CheckResult<TensorSpans> {
        let item = self.item;
        let of = |span: Option<&std::ops::Range<usize>>| self.at(span.unwrap_or(&item.name.span));
        let layout = of(item.layout.as_ref().map(|layout| &layout.span));
        let fill = attributes.fill.as_ref();
        let fill = fill.map(|(item, file)| FileSpan::new(file, item.span.clone()));
        Ok(TensorSpans {
            fill: fill.unwrap_or_else(|| layout.clone()),
            separators: attributes.separators.clone().unwrap_or_else(|| layout.clone()),
            layout,
            dtype: of(self.declared()?.dtype_span()),
            memory: of(item.memory.as_ref().map(|memory| &memory.span)),
            shard: of(item.shard.as_ref().map(|shard| &shard.span)),
        })
    }

    /// Warnings of a valid tensor: remarks on texts in foreign notations, ignored memory spaces, and padding that no
    /// step explains or that exceeds the configured limit. `Err` if the tensor forbids padding and has some.
    fn warnings(
        &self,
        gated: GateContext<'_>,
        attributes: &LayoutAttributes,
        padding: &padding::PaddingOrigin,
    ) -> CheckResult<Vec<Diagnostic>> {
        let tensor = gated.tensor;
        let warning = |place: &FileSpan, text: String, help: String| {
            Diagnostic::warning(Code::NotationRemark, text, place.clone(), "").help(help)
        };
        let space = attributes.memory_space.as_ref().and_then(|(place, n)| {
            let (text, help) = match space::of_xla(*n, self.scope) {
                None => (
                    format!("ignored memory space {n}: no `memory-space` has `xla={n}`"),
                    format!("declare it at the top: `memory-space NAME xla={n}`"),
                ),
                Some(space) if tensor.space.as_ref() == Some(space) => return None,
                Some(MemorySpace { name, .. }) => (
                    format!(
                        "`S({n})` is the memory space `{name}`, and is overridden by `memory {}`",
                        tensor.memory_word()
                    ),
                    format!("write `memory {name}`, or remove `S({n})`"),
                ),
            };
            Some(warning(place, text, help))
        });
        let remarks = attributes.remarks.iter();
        let remarks = remarks.map(|(place, r)| warning(place, r.message.clone(), r.help.clone()));
        let mut warnings: Vec<Diagnostic> = remarks.chain(space).collect();
        let above = self.place.config.defaults.padding_warning;
        let order = || axis_order_advice::order(gated.recipe, gated.axes, &tensor.layout);
        let facts = || {
            let symbols = tensor.layout.symbols();
            symbol_facts::advice(symbols, &gated.recipe.numbers(), &[], &mut |symbols| {
                let trial = gated.recipe.replay(gated.axes, symbols, None);
                match &trial {
                    ReplayOutcome::Proven(layout) if layout.verdict() == Verdict::Padded => {
                        ReplayOutcome::Refused
                    }
                    _ => trial,
                }
            })
        };
        let advice = padding::PaddingAdvice { order: &order, facts: &facts };
        let padded = padding::check(tensor, attributes.padding.as_ref(), padding, above, &advice)?;
        warnings.extend(padded.into_iter().map(|warning| attributes.with_literal_help(warning)));
        Ok(warnings)
    }

    fn targets(&self) -> CheckResult<Option<Vec<String>>> {
        let Some(targets) = &self.item.targets else { return Ok(None) };
        let own = self.place.config.target.own.keys().map(String::as_str);
        let known: Vec<&str> =
            ["c", "opencl", "cuda", "hip", "rust"].into_iter().chain(own).collect();
        let check = |target: &SpannedText| {
            if known.contains(&target.value.as_str()) {
                return Ok(target.value.clone());
            }
            let message = format!("there is no target `{}`", target.value.escape_debug());
            let error = Diagnostic::error(Code::TargetUnknown, message, target.at(self.file), "");
            Err(match nearest(&target.value, known.iter().copied()) {
                Some(near) => error.with_suggestion(near),
                None => error.help(format!("expected one of {}", known.join(", "))),
            }
            .into())
        };
        collect_all(targets.iter().map(check)).map(Some)
    }
}

/// Shape item with `axes`, whose extents are over `symbols`; all spans in it are `span`.
pub(super) fn shape_item(
    axes: &[Axis],
    symbols: &[Symbol],
    span: &std::ops::Range<usize>,
) -> ShapeItem {
    let bound = |extent: &Expr| match extent.as_const() {
        Some(value) => IntegerExpr::Integer(IntegerLiteral { value, span: span.clone() }),
        None => {
            let value = layout_names::symbol_expr(extent, symbols);
            IntegerExpr::Text(SpannedText { value, span: span.clone(), quoted: true })
        }
    };
    let axis = |axis: &Axis| AxisItem {
        name: Identifier { value: axis.name.clone(), span: span.clone() },
        extent: Extent::Bound(bound(&axis.extent)),
    };
    let axes = axes.iter().map(axis).collect();
    ShapeItem { axes, conditions: Vec::new(), span: span.clone() }
}

/// Faults `errors` of a layout with one change: the first fault that other facts of the symbols could remove gets help
/// with such facts, for example a greater `min`, if some are found. This can be a layout that is not injective or not
/// proven so, a negative index, or an extent that is too small.
fn with_symbol_advice(
    mut errors: Vec<Diagnostic>,
    recipe: LayoutSource<'_>,
    logical: &[Axis],
    symbols: &[Symbol],
) -> Vec<Diagnostic> {
    let about_values = |error: &&mut Diagnostic| {
        let codes = [Code::MapNotInjective, Code::MapUnproven, Code::MapNegative, Code::MapExtent];
        codes.contains(&error.code)
    };
    if let Some(error) = errors.iter_mut().find(about_values) {
        let advice = symbol_facts::advice(symbols, &recipe.numbers(), &[], &mut |symbols| {
            recipe.replay(logical, symbols, None)
        });
        if let Some(advice) = advice {
            error.help.insert(0, advice);
        }
    }
    errors
}
