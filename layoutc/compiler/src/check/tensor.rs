//! One tensor: its element type, its axes, its layout, proven.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use layoutc_algebra::build::Builder;
use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::{Axis, Layout, Symbol, Verdict};
use layoutc_algebra::simplify::Facts;

use super::expr::{constant, declare_first};
use super::gate::{self, Gated};
use super::load::Files;
use super::machine::Watched;
use super::recipe::{Recipe, Trial, symbol_value};
use super::recorder::{Recorded, Recorder};
use super::refusal::{self, Told};
use super::scope::{Scope, Scopes, nearest_or_all};
use super::steps::{Applier, Said};
use super::{advice, cast, padding, record, space, strengthen};
use crate::cast::Mode;
use crate::codes::Code;
use crate::config::{Config, DefaultFill};
use crate::diagnostic::{self, Diagnostic};
use crate::dtype::{Dtype, LANES, SCALARS};
use crate::host::Memo;
use crate::manifest::syntax::{
    Bound, Extent, FIELD, FillWord, Kind, Manifest, Name, Nibbles, PackFromItem, Record, Shape,
    Step, StepKind, TensorItem, Text, TileEntry,
};
use crate::model::{Fill, FillValue, Memory, PackFrom, Places, Space, Tensor};
use crate::nearest::nearest;

/// Where a tensor stands.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) file: usize,
    pub(super) files: &'a Files,
    pub(super) scopes: &'a Scopes,
    pub(super) config: &'a Config,
    pub(super) memo: &'a dyn Memo,
    /// Who asks what the steps of a tensor do.
    pub(super) recorder: Option<&'a Recorder>,
    /// The manifest's tensors by name.
    pub(super) named: &'a BTreeMap<&'a str, &'a TensorItem>,
    /// The names of those that there are views of.
    pub(super) viewed: &'a BTreeSet<&'a str>,
}

/// A good tensor.
#[derive(Debug, Clone)]
pub(super) struct Good {
    pub(super) tensor: Tensor,
    /// Its layout in the making, where there are views of it.
    pub(super) builder: Option<Builder>,
    pub(super) warnings: Vec<Diagnostic>,
    /// Its steps, where they are asked for.
    pub(super) recorded: Option<Vec<Recorded>>,
}

impl Good {
    /// Gives its steps to who asks for them.
    pub(super) fn tell(&mut self, recorder: Option<&Recorder>) {
        if let (Some(recorder), Some(steps)) = (recorder, self.recorded.take()) {
            recorder.take(&self.tensor.file, &self.tensor.name, steps);
        }
    }
}

/// The tensor, or all that is wrong with it.
pub(super) fn check(item: &TensorItem, place: Place<'_>) -> Result<Good, Vec<Diagnostic>> {
    Checker::new(item, place).ok_or_else(Vec::new)?.tensor()
}

/// What a tensor declares, on its own or by the tensor that it is like.
pub(super) struct Declared<'a> {
    /// The element type; it comes before that of the record.
    pub(super) dtype: Option<&'a Text>,
    pub(super) shape: &'a Shape,
    pub(super) record: Option<&'a Record>,
}

impl<'a> Declared<'a> {
    /// Where the element type stands.
    fn dtype_span(&self) -> Option<&'a std::ops::Range<usize>> {
        let record = self.record.map(|record| &record.span);
        self.dtype.map(|text| &text.span).or(record)
    }
}

/// Checks one tensor, or a view as if it were one.
pub(super) struct Checker<'a> {
    item: &'a TensorItem,
    syntax: &'a Manifest,
    pub(super) scope: &'a Scope,
    pub(super) place: Place<'a>,
    pub(super) file: &'a Arc<str>,
}

impl<'a> Checker<'a> {
    /// `None` where the place is in no file.
    pub(super) fn new(item: &'a TensorItem, place: Place<'a>) -> Option<Self> {
        let syntax = place.files.syntax(place.file)?;
        let scope = place.scopes.get(place.file)?;
        Some(Self { item, syntax, scope, place, file: &syntax.file })
    }
}

impl Checker<'_> {
    pub(super) fn at(&self, span: &std::ops::Range<usize>) -> diagnostic::Place {
        diagnostic::Place::new(self.file, span.clone())
    }

    fn tensor(&self) -> Result<Good, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let declared = self.declared()?;
        let dtype = self.element_type(&declared).map_err(|found| errors.extend(found)).ok();
        let symbols = self.symbols(declared.shape);
        let axes = self.axes(&declared, &symbols).map_err(|found| errors.extend(found)).ok();
        let (Some(dtype), Some((logical, labels))) = (dtype, axes) else { return Err(errors) };
        if !errors.is_empty() {
            return Err(errors);
        }
        let recorder = self.place.recorder.filter(|r| r.wants(&self.item.name.value));
        let recipe = self.recipe(dtype.element_bits());
        let applied = match recorder {
            Some(_) => recipe.recorded(&logical, &symbols),
            None => recipe.applied(&logical, &symbols, None),
        };
        let applier = applied.map_err(|errors| advised(errors, recipe, &logical, &symbols))?;
        let padding = applier.padding();
        let Applier { builder, said, recorded, .. } = applier;
        let is_viewed = self.place.viewed.contains(self.item.name.value.as_str());
        let kept = is_viewed.then(|| builder.clone());
        let (memory, space) = self.memory(&said)?;
        let own = space.as_ref().map_or(1, |space| space.alignment_bytes);
        let recipe = Recipe { least_alignment: own, ..recipe };
        let layout = self.finish(builder, &said, recipe, &logical, &symbols)?;
        let tensor = self.model(dtype, layout, labels, &said, (memory, space))?;
        let gated = Gated { tensor: &tensor, recipe, axes: &logical };
        let broken = gate::check(gated);
        if !broken.is_empty() {
            return Err(broken);
        }
        let warnings = self.warnings(gated, &said, &padding)?;
        Ok(Good { tensor, builder: kept, warnings, recorded })
    }

    /// The element type, or the record, and the shape: the tensor's own, or those of the tensor that it is like.
    fn declared(&self) -> Result<Declared<'_>, Vec<Diagnostic>> {
        let mut chain: Vec<&str> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut item = self.item;
        let (mut dtype, mut shape, mut record) = (None, None, None);
        loop {
            // Whoever gives one of the two brings the fields along.
            dtype = dtype.or(item.dtype.as_ref().filter(|_| record.is_none()));
            shape = shape.or(item.shape.as_ref());
            record = record.or(item.record.as_ref());
            if let Some(shape) = shape
                && (dtype.is_some() || record.is_some())
            {
                return Ok(Declared { dtype, shape, record });
            }
            let Some(like) = &item.like else { return Err(Vec::new()) };
            let name = item.name.value.as_str();
            chain.push(name);
            if !seen.insert(name) {
                return Err(vec![self.circle(&chain, like)]);
            }
            let Some(other) = self.place.named.get(like.value.as_str()) else {
                return Err(self.unlike(like, name));
            };
            item = other;
        }
    }

    /// The last of `chain` stood in it before.
    fn circle(&self, chain: &[&str], like: &Name) -> Diagnostic {
        let start = chain.iter().position(|earlier| Some(earlier) == chain.last()).unwrap_or(0);
        let circle = chain.get(start..).unwrap_or_default().join(" → ");
        let message = format!("`like` goes round in a circle: {circle}");
        let place = self.at(&like.span);
        let error = Diagnostic::error(Code::NameCycle, message, place, "leads back");
        error.help("one of them needs a `dtype` and a `shape` of its own")
    }

    /// There is no tensor that `name` could be like.
    fn unlike(&self, like: &Name, name: &str) -> Vec<Diagnostic> {
        if self.scope.is_broken(Kind::Tensor, &like.value) {
            return Vec::new();
        }
        let message = format!("there is no tensor `{}`", like.value);
        let place = self.at(&like.span);
        let mut error = Diagnostic::error(Code::NameUnknown, message, place, "");
        let tensors = self.syntax.tensors.iter().map(|t| t.name.value.as_str());
        let known: Vec<&str> = tensors.filter(|known| *known != name).collect();
        if self.syntax.views.iter().any(|view| view.name.value == like.value) {
            error.notes.push(format!("`{}` is a view: `like` takes a tensor", like.value));
            error.help.push("give it a `dtype` and a `shape` of its own".to_owned());
        } else {
            nearest_or_all(&mut error, &like.value, "tensors", &known);
        }
        vec![error]
    }

    fn element_type(&self, declared: &Declared<'_>) -> Result<Dtype, Vec<Diagnostic>> {
        match (declared.dtype, declared.record) {
            (Some(text), _) => self.dtype(text).map_err(|error| vec![error]),
            (None, Some(record)) => record::dtype(record, self.file, &|text| self.dtype(text)),
            (None, None) => Err(Vec::new()),
        }
    }

    /// The element type that a text names.
    pub(super) fn dtype(&self, text: &Text) -> Result<Dtype, Diagnostic> {
        Dtype::parse(&text.value).ok_or_else(|| {
            let message = format!("`{}` is no element type", text.value.escape_debug());
            let error = Diagnostic::error(Code::DtypeUnknown, message, self.at(&text.span), "");
            let names = SCALARS.iter().map(|(_, name, _)| *name);
            let base = text.value.rsplit_once('x').map_or(text.value.as_str(), |(base, _)| base);
            let vector = base != text.value && Dtype::parse(base).is_some();
            let lanes = LANES.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            if vector {
                return error.help(format!("vectors have {lanes} lanes, of a byte or more each"));
            }
            if let Some(ours) = Dtype::called_elsewhere(&text.value) {
                return error.meant(ours);
            }
            match nearest(&text.value, names.clone()) {
                Some(near) => error.meant(near),
                None => error.help(format!(
                    "element types are {}, and vectors of {lanes} of them: `f32x4`",
                    names.collect::<Vec<_>>().join(", ")
                )),
            }
        })
    }

    /// The symbols that the tensor's texts name, in their order in the scope.
    pub(super) fn symbols(&self, shape: &Shape) -> Vec<Symbol> {
        let mut words = BTreeSet::new();
        for axis in &shape.axes {
            if let Extent::Bound(bound) = &axis.extent {
                add_words(bound, &mut words);
            }
        }
        for (step, _) in self.recipe(0).all_steps() {
            Self::words_of_step(step, &mut words);
        }
        let mut symbols = Vec::new();
        for word in words {
            let known = self.scope.symbols.get(&word);
            symbols.extend(known.map(|(symbol, place)| (place.clone(), symbol.clone())));
        }
        symbols.sort_by(|a, b| a.0.cmp(&b.0));
        symbols.into_iter().map(|(_, symbol)| symbol).collect()
    }

    fn words_of_step(step: &Step, words: &mut BTreeSet<String>) {
        match &step.kind {
            StepKind::Map(text) => add_text(&text.value, words),
            StepKind::Apply { arguments, .. } => {
                arguments.iter().for_each(|(_, bound)| add_words(bound, words));
            }
            StepKind::Split { by, .. } => by.iter().for_each(|bound| add_words(bound, words)),
            StepKind::Tile { entries, .. } => {
                for entry in entries {
                    if let TileEntry::Extent(bound) = entry {
                        add_words(bound, words);
                    }
                }
            }
            StepKind::PadMultiple { multiple, .. } => add_words(multiple, words),
            StepKind::PadBeforeAfter { before, after, .. } => {
                before.iter().chain(after).for_each(|bound| add_words(bound, words));
            }
            StepKind::Strides(strides) => strides.iter().for_each(|bound| add_words(bound, words)),
            StepKind::AlignBase(_)
            | StepKind::AlignAxis { .. }
            | StepKind::AlignOrigin(_)
            | StepKind::Order(_)
            | StepKind::Fuse { .. }
            | StepKind::Fill(_)
            | StepKind::Padding(_)
            | StepKind::Separators(_)
            | StepKind::Swizzle { .. }
            | StepKind::Foreign { .. } => {}
        }
    }

    /// The axes of a shape, and the labels of each.
    #[expect(clippy::type_complexity, reason = "axes, and the labels of each")]
    pub(super) fn axes(
        &self,
        declared: &Declared<'_>,
        symbols: &[Symbol],
    ) -> Result<(Vec<Axis>, Vec<Vec<String>>), Vec<Diagnostic>> {
        let facts = Facts::new(symbols);
        let value = |name: &str| {
            let constant = self.scope.consts.get(name).map(|(value, _)| Expr::constant(*value));
            constant.or_else(|| symbol_value(name, symbols))
        };
        let (mut axes, mut labels, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        for axis in &record::axes(declared.shape, declared.record) {
            let name = &axis.name.value;
            if value(name).is_some() {
                let message = format!("the axis `{name}` hides a const or symbol of the same name");
                let error =
                    Diagnostic::error(Code::NameHides, message, self.at(&axis.name.span), "");
                errors.push(error.help("give the axis another name"));
            }
            let mut own = Vec::new();
            let record = declared.record.filter(|_| axis.name.value == FIELD);
            let extent = match &axis.extent {
                Extent::Fields => match record {
                    Some(record) => Ok(record::fields(record).0),
                    None => Err(vec![record::no_record(self.at(&axis.name.span))]),
                },
                Extent::Labels(names) => {
                    own = names.iter().map(|n| n.value.clone()).collect();
                    Ok(Expr::constant(i128::try_from(names.len()).unwrap_or(i128::MAX)))
                }
                Extent::Bound(bound) => constant(bound, &value, self.scope, &facts, self.file)
                    .map_err(declare_first)
                    .and_then(|extent| self.extent(&extent, bound, &facts).map_err(|e| vec![e])),
            };
            match (extent, record) {
                (Ok(extent), Some(record)) => {
                    let placed = Axis { name: name.clone(), extent };
                    let fits = record::fits(&placed, &own, record, (self.file, &axis.name));
                    errors.extend(fits.err());
                    own = record::fields(record).1;
                    axes.push(placed);
                }
                (Ok(extent), None) => axes.push(Axis { name: name.clone(), extent }),
                (Err(found), _) => errors.extend(found),
            }
            labels.push(own);
        }
        // Of an extent that is broken elsewhere nothing is told here.
        let is_whole = axes.len() == labels.len();
        if is_whole && errors.is_empty() { Ok((axes, labels)) } else { Err(errors) }
    }

    /// An extent is at least 0 and fits 64 bits for all values of the symbols.
    fn extent(&self, extent: &Expr, bound: &Bound, facts: &Facts) -> Result<Expr, Diagnostic> {
        let place = self.at(&bound.span());
        match facts.bounds(extent) {
            Ok((low, _)) if low < 0 => {
                let message = format!("an extent is at least 0, and this can be {low}");
                let help = match extent.as_const() {
                    Some(_) => "write 0 or more",
                    None => "state a greater `min` of the symbol",
                };
                Err(Diagnostic::error(Code::ShapeExtent, message, place, "").help(help))
            }
            Ok((_, high)) if high <= i128::from(i64::MAX) => Ok(extent.clone()),
            _ => {
                let message = "the extent does not fit 64 bits";
                let error = Diagnostic::error(Code::LimitSize, message, place, "");
                let error = error.note(format!("the largest extent is {}", i64::MAX));
                Err(error.help("write a smaller one, or state a smaller `max` of a symbol"))
            }
        }
    }

    fn recipe(&self, element_bits: u32) -> Recipe<'_> {
        Recipe {
            item: self.item,
            file: self.file,
            scope: self.scope,
            scopes: self.place.scopes,
            memo: self.place.memo,
            element_bits,
            default_alignment: self.place.config.defaults.alignment,
            least_alignment: 1,
        }
    }

    fn finish(
        &self,
        builder: Builder,
        said: &Said,
        recipe: Recipe<'_>,
        logical: &[Axis],
        symbols: &[Symbol],
    ) -> Result<Layout, Vec<Diagnostic>> {
        let span = self.item.layout.as_ref().map_or(&self.item.name.span, |layout| &layout.span);
        let machine = Watched::new(self.place.memo);
        builder.finish(recipe.alignment(said), &machine).map_err(|error| {
            let told = Told {
                tensor: &self.item.name.value,
                logical,
                symbols,
                site: said.map.as_ref(),
                strides: said.strides.as_ref(),
                place: self.at(span),
            };
            let errors = vec![refusal::fault(&error, &told)];
            if machine.has_visited_many() {
                return errors;
            }
            advised(errors, recipe, logical, symbols)
        })
    }

    /// The memory that the tensor names; else the space that stands for XLA's.
    fn memory(&self, said: &Said) -> Result<(Memory, Option<Space>), Vec<Diagnostic>> {
        let (memory, space) = space::memory(self.item.memory.as_ref(), self.scope, self.syntax)?;
        if self.item.memory.is_some() {
            return Ok((memory, space));
        }
        let xla = said.memory_space.as_ref().and_then(|(_, n)| space::of_xla(*n, self.scope));
        Ok((memory, xla.cloned()))
    }

    fn model(
        &self,
        dtype: Dtype,
        layout: Layout,
        labels: Vec<Vec<String>>,
        said: &Said,
        (memory, space): (Memory, Option<Space>),
    ) -> Result<Tensor, Vec<Diagnostic>> {
        let tensor = Tensor {
            file: self.file.to_string(),
            name: self.item.name.value.clone(),
            dtype,
            pack_from: self.pack_from(dtype, memory)?,
            layout,
            fill: self.fill(said),
            memory,
            space,
            targets: self.targets()?,
            labels,
            high_first: self.item.nibbles == Some(Nibbles::HighFirst),
            steps: said.lines.clone(),
            places: self.places(said)?,
        };
        match crate::fill::fault(&tensor) {
            Some(error) => Err(vec![error]),
            None => Ok(tensor),
        }
    }

    /// The element type on the logical side of pack and unpack, where it is another.
    fn pack_from(&self, dtype: Dtype, memory: Memory) -> Result<Option<PackFrom>, Vec<Diagnostic>> {
        let Some(PackFromItem { dtype: text, cast: mode }) = &self.item.pack_from else {
            return Ok(None);
        };
        let logical = self.dtype(text).map_err(|error| vec![error])?;
        let (name, place) = (&self.item.name.value, self.at(&text.span));
        if memory == Memory::None {
            let message = format!("`{name}` has no memory, so nothing is packed");
            let error = Diagnostic::error(Code::DtypeCast, message, place, "");
            return Err(vec![error.help("drop `pack-from=`, or `memory none`")]);
        }
        cast::pack_from((name, dtype), logical, mode.unwrap_or(Mode::Round), &place)
            .map_err(|error| vec![error])
    }

    fn fill(&self, said: &Said) -> Fill {
        match said.fill.as_ref().map(|(item, _)| item.value) {
            Some(FillWord::Integer(value)) => Fill::Value(FillValue::Integer(value)),
            Some(FillWord::Float(value)) => Fill::Value(FillValue::Float(value)),
            Some(FillWord::Bool(value)) => Fill::Value(FillValue::Integer(i128::from(value))),
            Some(FillWord::Nothing) => Fill::Nothing,
            None => Fill::Value(match self.place.config.defaults.fill {
                DefaultFill::Integer(value) => FillValue::Integer(i128::from(value)),
                DefaultFill::Float(value) => FillValue::Float(value),
            }),
        }
    }

    fn places(&self, said: &Said) -> Result<Places, Vec<Diagnostic>> {
        let layout_span =
            self.item.layout.as_ref().map_or(&self.item.name.span, |layout| &layout.span);
        let layout_place = self.at(layout_span);
        let fill_place =
            said.fill.as_ref().map(|(item, file)| diagnostic::Place::new(file, item.span.clone()));
        let memory_span =
            self.item.memory.as_ref().map_or(&self.item.name.span, |memory| &memory.span);
        let dtype_span = self.declared()?.dtype_span();
        Ok(Places {
            fill: fill_place.unwrap_or_else(|| layout_place.clone()),
            separators: said.separators.clone().unwrap_or_else(|| layout_place.clone()),
            layout: layout_place,
            dtype: self.at(dtype_span.unwrap_or(&self.item.name.span)),
            memory: self.at(memory_span),
        })
    }

    /// What is worth a look: remarks of foreign notations, and padding.
    fn warnings(
        &self,
        gated: Gated<'_>,
        said: &Said,
        padding: &padding::Padding,
    ) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let tensor = gated.tensor;
        let warning = |place: &diagnostic::Place, text: String, help: String| {
            Diagnostic::warning(Code::NotationRemark, text, place.clone(), "").help(help)
        };
        let space = said.memory_space.as_ref().and_then(|(place, n)| {
            let (text, help) = match space::of_xla(*n, self.scope) {
                None => (
                    format!("the memory space {n} is not kept: no `memory-space` has `xla={n}`"),
                    format!("declare it at the top: `memory-space NAME xla={n}`"),
                ),
                Some(space) if tensor.space.as_ref() == Some(space) => return None,
                Some(Space { name, .. }) => (
                    format!(
                        "`S({n})` is the memory space `{name}`, and the tensor says `memory {}`, which counts",
                        tensor.memory_word()
                    ),
                    format!("write `memory {name}`, or take `S({n})` out"),
                ),
            };
            Some(warning(place, text, help))
        });
        let remarks = said.remarks.iter();
        let remarks = remarks.map(|(place, r)| warning(place, r.message.clone(), r.help.clone()));
        let mut warnings: Vec<Diagnostic> = remarks.chain(space).collect();
        let above = self.place.config.defaults.padding_warning;
        let order = || advice::order(gated.recipe, gated.axes, &tensor.layout);
        let facts = || {
            let symbols = &tensor.layout.symbols;
            strengthen::advice(symbols, &gated.recipe.numbers(), &[], &mut |symbols| {
                let trial = gated.recipe.again(gated.axes, symbols, None);
                match &trial {
                    Trial::Good(layout) if layout.verdict == Verdict::Padded => Trial::Refused,
                    _ => trial,
                }
            })
        };
        let advice = padding::Advice { order: &order, facts: &facts };
        warnings.extend(padding::check(tensor, said.padding.as_ref(), padding, above, &advice)?);
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
                Some(near) => error.mean(near),
                None => error.help.push(format!("targets are {}", known.join(", "))),
            }
            errors.push(error);
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Some(targets.iter().map(|target| target.value.clone()).collect()))
    }
}

/// The same faults of a layout, with the facts of its symbols under which there would be none.
fn advised(
    mut errors: Vec<Diagnostic>,
    recipe: Recipe<'_>,
    logical: &[Axis],
    symbols: &[Symbol],
) -> Vec<Diagnostic> {
    let about_values = |error: &&mut Diagnostic| {
        let codes = [Code::MapNotInjective, Code::MapUnproven, Code::MapNegative, Code::MapExtent];
        codes.contains(&error.code)
    };
    if let Some(error) = errors.iter_mut().find(about_values) {
        let advice = strengthen::advice(symbols, &recipe.numbers(), &[], &mut |symbols| {
            recipe.again(logical, symbols, None)
        });
        if let Some(advice) = advice {
            error.help.insert(0, advice);
        }
    }
    errors
}

fn add_words(bound: &Bound, words: &mut BTreeSet<String>) {
    if let Bound::Text(text) = bound {
        add_text(&text.value, words);
    }
}

fn add_text(text: &str, words: &mut BTreeSet<String>) {
    words.extend(super::recipe::words(text).map(str::to_string));
}
