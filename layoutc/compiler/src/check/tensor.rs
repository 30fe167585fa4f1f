//! Checks of one tensor: element type, axes, and the proof of its layout.

mod declared;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use layoutc_algebra::builder::LayoutBuilder;
use layoutc_algebra::layout::{Layout, Verdict};
use layoutc_algebra::symbol::{Axis, Symbol};

pub(super) use declared::TensorDeclaration;

use super::gate::{self, GateContext};
use super::injectivity_report::{self, RefusalContext};
use super::load::ManifestSet;
use super::recorder::{Recorder, StepRecord};
use super::replay::{LayoutSource, ReplayOutcome};
use super::scope::{ManifestScope, ManifestScopes};
use super::steps::{LayoutAttributes, StepLowering};
use super::{axis_order_advice, cast, domain, mesh, padding, ring, space, symbol_facts};
use crate::base::cast::CastMode;
use crate::base::codes::Code;
use crate::base::diagnostic::{self, Diagnostic};
use crate::base::dtype::Dtype;
use crate::base::nearest::nearest;
use crate::config::{Config, DefaultFill};
use crate::env::ResultCache;
use crate::env::executor::CostTrackingExecutor;
use crate::manifest::syntax::{
    FillLiteral, ManifestSyntax, NibbleOrder, PackFromItem, SpannedText, TensorItem,
};
use crate::model::reshard::DeviceSharding;
use crate::model::ring::Ring;
use crate::model::{Fill, FillValue, Memory, MemorySpace, PackFrom, Tensor, TensorSpans};

/// Context of a tensor: its manifest and the shared services.
#[derive(Clone, Copy)]
pub(super) struct ManifestContext<'a> {
    pub(super) file: usize,
    pub(super) files: &'a ManifestSet,
    pub(super) scopes: &'a ManifestScopes,
    pub(super) config: &'a Config,
    pub(super) memo: &'a dyn ResultCache,
    /// Recorder of steps, if requested.
    pub(super) recorder: Option<&'a Recorder>,
    /// The manifest's tensors by name.
    pub(super) named: &'a BTreeMap<&'a str, &'a TensorItem>,
    /// Names of the tensors that have views.
    pub(super) viewed: &'a BTreeSet<&'a str>,
}

/// A valid tensor.
#[derive(Debug, Clone)]
pub(super) struct CheckedTensor {
    pub(super) tensor: Tensor,
    /// The builder of its layout, if it has views.
    pub(super) builder: Option<LayoutBuilder>,
    pub(super) warnings: Vec<Diagnostic>,
    /// Its steps, if requested.
    pub(super) recorded: Option<Vec<StepRecord>>,
}

impl CheckedTensor {
    /// Passes its steps to the recorder.
    pub(super) fn record_steps(&mut self, recorder: Option<&Recorder>) {
        if let (Some(recorder), Some(steps)) = (recorder, self.recorded.take()) {
            recorder.take(&self.tensor.file, &self.tensor.name, steps);
        }
    }
}

/// Checks a tensor; returns it or all its faults.
pub(super) fn check(
    item: &TensorItem,
    place: ManifestContext<'_>,
) -> Result<CheckedTensor, Vec<Diagnostic>> {
    TensorChecker::new(item, place).ok_or_else(Vec::new)?.tensor()
}

/// Checks one tensor, or a view in the form of one.
pub(super) struct TensorChecker<'a> {
    item: &'a TensorItem,
    syntax: &'a ManifestSyntax,
    pub(super) scope: &'a ManifestScope,
    pub(super) place: ManifestContext<'a>,
    pub(super) file: &'a Arc<str>,
}

impl<'a> TensorChecker<'a> {
    /// `None` if the file does not exist.
    pub(super) fn new(item: &'a TensorItem, place: ManifestContext<'a>) -> Option<Self> {
        let syntax = place.files.syntax(place.file)?;
        let scope = place.scopes.get(place.file)?;
        Some(Self { item, syntax, scope, place, file: &syntax.file })
    }
}

impl TensorChecker<'_> {
    pub(super) fn at(&self, span: &std::ops::Range<usize>) -> diagnostic::FileSpan {
        diagnostic::FileSpan::new(self.file, span.clone())
    }

    fn tensor(&self) -> Result<CheckedTensor, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let declared = self.declared()?;
        let dtype = self.element_type(&declared).map_err(|found| errors.extend(found)).ok();
        let symbols = self.symbols(declared.shape);
        let axes = self.axes(&declared, &symbols).map_err(|found| errors.extend(found)).ok();
        let (Some(dtype), Some((logical, labels))) = (dtype, axes) else { return Err(errors) };
        if !errors.is_empty() {
            return Err(errors);
        }
        let conditions = declared.shape.conditions.as_slice();
        self.is_alone(conditions)?;
        let (logical, sharded) = self.sharded(logical, &labels)?;
        let (logical, ring) = self.ring(logical, &labels)?;
        let recorder = self.place.recorder.filter(|r| r.wants(&self.item.name.value));
        let recipe = self.recipe(dtype.element_bits(), conditions);
        let applied = match recorder {
            Some(_) => recipe.apply_recorded(&logical, &symbols),
            None => recipe.apply_steps(&logical, &symbols, None),
        };
        let applier =
            applied.map_err(|errors| with_symbol_advice(errors, recipe, &logical, &symbols))?;
        let padding = applier.padding();
        let StepLowering { builder, attributes, recorded, .. } = applier;
        let is_viewed = self.place.viewed.contains(self.item.name.value.as_str());
        let view_base = is_viewed.then(|| builder.clone());
        let (memory, space) = self.memory(&attributes)?;
        let own = space.as_ref().map_or(1, |space| space.alignment_bytes);
        let own = own.max(dtype.record().map_or(1, |record| record.alignment_bytes().into()));
        let recipe = LayoutSource { least_alignment: own, ..recipe };
        let layout = self.finish(builder, &attributes, recipe, &logical, &symbols)?;
        let tensor = self.model(dtype, layout, labels, &attributes, (memory, space))?;
        let tensor = Tensor { sharded, ring, ..tensor };
        let gated = GateContext { tensor: &tensor, recipe, axes: &logical };
        let broken = gate::check(gated);
        if !broken.is_empty() {
            return Err(broken);
        }
        let warnings = self.warnings(gated, &attributes, &padding)?;
        Ok(CheckedTensor { tensor, builder: view_base, warnings, recorded })
    }

    /// The axes of a shard, and the sharding; the same axes if the tensor is not sharded.
    fn sharded(
        &self,
        whole: Vec<Axis>,
        labels: &[Vec<String>],
    ) -> Result<(Vec<Axis>, Option<DeviceSharding>), Vec<Diagnostic>> {
        let Some(item) = &self.item.shard else { return Ok((whole, None)) };
        let cut =
            mesh::ShardContext { item, scope: self.scope, file: self.file, memo: self.place.memo };
        let (axes, sharded) = cut.sharded(whole, labels)?;
        Ok((axes, Some(sharded)))
    }

    /// Refuses a domain on a sharded tensor or a ring.
    fn is_alone(&self, conditions: &[SpannedText]) -> Result<(), Vec<Diagnostic>> {
        let Some(condition) = conditions.first() else { return Ok(()) };
        let parted = match (&self.item.shard, &self.item.ring) {
            (Some(_), _) => "a sharded tensor",
            (None, Some(_)) => "a ring",
            (None, None) => return Ok(()),
        };
        Err(vec![domain::parted(parted, self.at(&condition.span))])
    }

    /// The axes in memory, and the ring; the same axes if the tensor is not a ring.
    fn ring(
        &self,
        whole: Vec<Axis>,
        labels: &[Vec<String>],
    ) -> Result<(Vec<Axis>, Option<Ring>), Vec<Diagnostic>> {
        let Some(item) = &self.item.ring else { return Ok((whole, None)) };
        if self.item.shard.is_some() {
            return Err(vec![ring::sharded_ring_fault(self.file, item)]);
        }
        let (axes, ring) = ring::ring(item, (self.scope, self.file), whole, labels)?;
        Ok((axes, Some(ring)))
    }

    fn recipe<'s>(&'s self, element_bits: u32, conditions: &'s [SpannedText]) -> LayoutSource<'s> {
        LayoutSource {
            item: self.item,
            file: self.file,
            scope: self.scope,
            scopes: self.place.scopes,
            memo: self.place.memo,
            element_bits,
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
    ) -> Result<Layout, Vec<Diagnostic>> {
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

    /// The memory that the tensor names; else the memory space of XLA's number.
    fn memory(
        &self,
        attributes: &LayoutAttributes,
    ) -> Result<(Memory, Option<MemorySpace>), Vec<Diagnostic>> {
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
    ) -> Result<Tensor, Vec<Diagnostic>> {
        let tensor = Tensor {
            file: self.file.to_string(),
            name: self.item.name.value.clone(),
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
            steps: attributes.lines.clone(),
            places: self.places(attributes)?,
        };
        match crate::model::fill_fault(&tensor) {
            Some(error) => Err(vec![error]),
            None => Ok(tensor),
        }
    }

    /// The element type on the logical side of pack and unpack, if it differs.
    fn pack_from(&self, dtype: Dtype, memory: Memory) -> Result<Option<PackFrom>, Vec<Diagnostic>> {
        let Some(PackFromItem { dtype: text, cast: mode }) = &self.item.pack_from else {
            return Ok(None);
        };
        let logical = self.dtype(text).map_err(|error| vec![error])?;
        let (name, place) = (&self.item.name.value, self.at(&text.span));
        if memory == Memory::None {
            let message = format!("cannot pack `{name}`: it has no memory");
            let error = Diagnostic::error(Code::DtypeCast, message, place, "");
            return Err(vec![error.help("remove `pack-from=` or `memory none`")]);
        }
        cast::pack_from((name, dtype), logical, mode.unwrap_or(CastMode::Round), &place)
            .map_err(|error| vec![error])
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

    fn places(&self, attributes: &LayoutAttributes) -> Result<TensorSpans, Vec<Diagnostic>> {
        let layout_span =
            self.item.layout.as_ref().map_or(&self.item.name.span, |layout| &layout.span);
        let layout_place = self.at(layout_span);
        let fill_place = attributes
            .fill
            .as_ref()
            .map(|(item, file)| diagnostic::FileSpan::new(file, item.span.clone()));
        let memory_span =
            self.item.memory.as_ref().map_or(&self.item.name.span, |memory| &memory.span);
        let dtype_span = self.declared()?.dtype_span();
        Ok(TensorSpans {
            fill: fill_place.unwrap_or_else(|| layout_place.clone()),
            separators: attributes.separators.clone().unwrap_or_else(|| layout_place.clone()),
            layout: layout_place,
            dtype: self.at(dtype_span.unwrap_or(&self.item.name.span)),
            memory: self.at(memory_span),
            shard: self.at(self.item.shard.as_ref().map_or(&self.item.name.span, |s| &s.span)),
        })
    }

    /// Warnings: remarks of foreign notations, and padding.
    fn warnings(
        &self,
        gated: GateContext<'_>,
        attributes: &LayoutAttributes,
        padding: &padding::PaddingOrigin,
    ) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let tensor = gated.tensor;
        let warning = |place: &diagnostic::FileSpan, text: String, help: String| {
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

    fn targets(&self) -> Result<Option<Vec<String>>, Vec<Diagnostic>> {
        let Some(targets) = &self.item.targets else { return Ok(None) };
        let own = self.place.config.target.own.keys().map(String::as_str);
        let known: Vec<&str> = ["c", "opencl", "cuda"].into_iter().chain(own).collect();
        let mut errors = Vec::new();
        for target in targets.iter().filter(|target| !known.contains(&target.value.as_str())) {
            let message = format!("there is no target `{}`", target.value.escape_debug());
            let mut error =
                Diagnostic::error(Code::TargetUnknown, message, self.at(&target.span), "");
            match nearest(&target.value, known.iter().copied()) {
                Some(near) => error.add_suggestion(near),
                None => {
                    error.add_help(format!("expected one of {}", known.join(", ")));
                }
            }
            errors.push(error);
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Some(targets.iter().map(|target| target.value.clone()).collect()))
    }
}

/// Adds to a layout's faults the facts of its symbols under which it is valid.
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
