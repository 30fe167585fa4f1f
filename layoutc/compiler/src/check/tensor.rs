//! One tensor: its element type, its axes, its layout, proven.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use layoutc_algebra::build::{BuildError, Builder};
use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::{Axis, Layout, Symbol};
use layoutc_algebra::simplify::Facts;

use super::expr::{constant, declare_first};
use super::load::Files;
use super::machine::Threads;
use super::refusal::{self, Told};
use super::scope::{Scope, Scopes, TransformDef, nearest_or_all, suggestion};
use super::steps::{Applier, Ground, Said};
use super::{faults, padding};
use crate::codes::Code;
use crate::config::{Config, DefaultFill};
use crate::diagnostic::{self, Diagnostic};
use crate::dtype::{Dtype, LANES, SCALARS};
use crate::host::Memo;
use crate::manifest::syntax::{
    Bound, Extent, FillWord, Kind, Manifest, MemoryItem, MemoryKind, Name, Nibbles, Shape, Step,
    StepKind, TensorItem, Text, TileEntry,
};
use crate::model::{Fill, FillValue, Memory, Places, Tensor};

/// Where a tensor stands.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) file: usize,
    pub(super) files: &'a Files,
    pub(super) scopes: &'a Scopes,
    pub(super) config: &'a Config,
    pub(super) memo: &'a dyn Memo,
    /// The manifest's tensors by name.
    pub(super) named: &'a BTreeMap<&'a str, &'a TensorItem>,
}

/// The tensor, if it is good, and all that is to say of it.
pub(super) fn check(item: &TensorItem, place: Place<'_>) -> (Option<Tensor>, Vec<Diagnostic>) {
    let (Some(syntax), Some(scope)) =
        (place.files.syntax(place.file), place.scopes.get(place.file))
    else {
        return (None, Vec::new());
    };
    let checker = Checker { item, syntax, scope, place, file: &syntax.file };
    match checker.tensor() {
        Ok((tensor, warnings)) => (Some(tensor), warnings),
        Err(errors) => (None, errors),
    }
}

struct Checker<'a> {
    item: &'a TensorItem,
    syntax: &'a Manifest,
    scope: &'a Scope,
    place: Place<'a>,
    file: &'a Arc<str>,
}

impl Checker<'_> {
    fn at(&self, span: &std::ops::Range<usize>) -> diagnostic::Place {
        diagnostic::Place::new(self.file, span.clone())
    }

    fn tensor(&self) -> Result<(Tensor, Vec<Diagnostic>), Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let (dtype_text, shape) = self.declared()?;
        let dtype = match dtype_text.map(|text| self.dtype(text)) {
            Some(Ok(dtype)) => Some(dtype),
            Some(Err(error)) => {
                errors.push(error);
                None
            }
            None => None,
        };
        let symbols = self.symbols(shape);
        let axes = self.axes(shape, &symbols).map_err(|found| errors.extend(found)).ok();
        let (Some(dtype), Some((logical, labels))) = (dtype, axes) else { return Err(errors) };
        if !errors.is_empty() {
            return Err(errors);
        }
        let name = &self.item.name.value;
        let name_place = self.at(&self.item.name.span);
        let builder = Builder::new(&symbols, &logical, dtype.element_bits()).map_err(|error| {
            vec![match error {
                BuildError::Size => faults::size(name, &logical, &symbols, name_place.clone()),
                other => {
                    Diagnostic::error(Code::LimitAxes, other.to_string(), name_place.clone(), "")
                }
            }]
        })?;
        let mut applier = Applier::new(builder, name);
        let steps: &[Step] = self.item.layout.as_ref().map_or(&[], |layout| &layout.steps);
        let find = |name: &str| symbol_value(name, &symbols);
        let ground = Ground {
            file: self.file,
            scope: self.scope,
            scopes: self.place.scopes,
            symbol: &find,
            parameters: &[],
        };
        applier.steps(steps, ground)?;
        let padding = applier.padding();
        let Applier { builder, said, .. } = applier;
        let layout = self.finish(builder, &said, &logical, &symbols)?;
        self.model(dtype, layout, labels, said, &padding)
    }

    /// The element type as written and the shape: the tensor's own, or those of the tensor that it is like.
    fn declared(&self) -> Result<(Option<&Text>, &Shape), Vec<Diagnostic>> {
        let mut chain: Vec<&str> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut item = self.item;
        let mut dtype = item.dtype.as_ref();
        loop {
            if let Some(shape) = &item.shape
                && dtype.is_some()
            {
                return Ok((dtype, shape));
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
            dtype = dtype.or(item.dtype.as_ref());
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
        error.help.extend(nearest_or_all(&like.value, "tensors", &known));
        vec![error]
    }

    fn dtype(&self, text: &Text) -> Result<Dtype, Diagnostic> {
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
                return error.help(format!("did you mean `{ours}`?"));
            }
            match suggestion(&text.value, names.clone()) {
                Some(near) => error.help(near),
                None => error.help(format!(
                    "element types are {}, and vectors of {lanes} of them: `f32x4`",
                    names.collect::<Vec<_>>().join(", ")
                )),
            }
        })
    }

    /// The symbols that the tensor's texts name, in their order in the scope.
    fn symbols(&self, shape: &Shape) -> Vec<Symbol> {
        let mut words = BTreeSet::new();
        for axis in &shape.axes {
            if let Extent::Bound(bound) = &axis.extent {
                add_words(bound, &mut words);
            }
        }
        if let Some(layout) = &self.item.layout {
            self.step_words(&layout.steps, &mut words);
        }
        let mut symbols = Vec::new();
        for word in words {
            let known = self.scope.symbols.get(&word);
            let known = known
                .or_else(|| self.place.scopes.iter().find_map(|scope| scope.symbols.get(&word)));
            symbols.extend(known.map(|(symbol, place)| (place.clone(), symbol.clone())));
        }
        symbols.sort_by(|a, b| a.0.cmp(&b.0));
        symbols.into_iter().map(|(_, symbol)| symbol).collect()
    }

    /// The words of steps and of the transforms that they apply, each transform once.
    fn step_words(&self, steps: &[Step], words: &mut BTreeSet<String>) {
        let mut seen = BTreeSet::new();
        let mut open = vec![(steps, self.scope)];
        while let Some((steps, scope)) = open.pop() {
            for step in steps {
                Self::words_of_step(step, scope, words, &mut |def| {
                    if let Some(home) = self.place.scopes.get(def.home)
                        && seen.insert((def.home, def.item.name.value.clone()))
                    {
                        open.push((&def.item.steps, home));
                    }
                });
            }
        }
    }

    fn words_of_step<'a>(
        step: &Step,
        scope: &'a Scope,
        words: &mut BTreeSet<String>,
        applied: &mut dyn FnMut(&'a TransformDef),
    ) {
        match &step.kind {
            StepKind::Map(text) => add_text(&text.value, words),
            StepKind::Apply { name, arguments } => {
                arguments.iter().for_each(|(_, bound)| add_words(bound, words));
                if let Some(def) = scope.transforms.get(&name.value) {
                    applied(def);
                }
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
            | StepKind::Foreign { .. } => {}
        }
    }

    #[expect(clippy::type_complexity, reason = "axes, and the labels of each")]
    fn axes(
        &self,
        shape: &Shape,
        symbols: &[Symbol],
    ) -> Result<(Vec<Axis>, Vec<Vec<String>>), Vec<Diagnostic>> {
        let facts = Facts::new(symbols);
        let value = |name: &str| {
            let constant = self.scope.consts.get(name).map(|(value, _)| Expr::constant(*value));
            constant.or_else(|| symbol_value(name, symbols))
        };
        let (mut axes, mut labels, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        for axis in &shape.axes {
            let name = &axis.name.value;
            if value(name).is_some() {
                let message = format!("the axis `{name}` hides a const or symbol of the same name");
                let error =
                    Diagnostic::error(Code::NameHides, message, self.at(&axis.name.span), "");
                errors.push(error.help("give the axis another name"));
            }
            let mut own = Vec::new();
            let extent = match &axis.extent {
                Extent::Labels(names) => {
                    own = names.iter().map(|n| n.value.clone()).collect();
                    Ok(Expr::constant(i128::try_from(names.len()).unwrap_or(i128::MAX)))
                }
                Extent::Bound(bound) => constant(bound, &value, self.scope, &facts, self.file)
                    .map_err(declare_first)
                    .and_then(|extent| self.extent(&extent, bound, &facts).map_err(|e| vec![e])),
            };
            match extent {
                Ok(extent) => axes.push(Axis { name: name.clone(), extent }),
                Err(found) => errors.extend(found),
            }
            labels.push(own);
        }
        if errors.is_empty() { Ok((axes, labels)) } else { Err(errors) }
    }

    /// An extent is at least 0 and fits 64 bits for all values of the symbols.
    fn extent(&self, extent: &Expr, bound: &Bound, facts: &Facts) -> Result<Expr, Diagnostic> {
        let place = self.at(&bound.span());
        match facts.bounds(extent) {
            Ok((low, _)) if low < 0 => {
                let message = format!("an extent is at least 0, and this can be {low}");
                Err(Diagnostic::error(Code::ShapeExtent, message, place, ""))
            }
            Ok((_, high)) if high <= i128::from(i64::MAX) => Ok(extent.clone()),
            _ => {
                let message = "the extent does not fit 64 bits";
                let error = Diagnostic::error(Code::LimitSize, message, place, "");
                Err(error.note(format!("the largest extent is {}", i64::MAX)))
            }
        }
    }

    fn finish(
        &self,
        builder: Builder,
        said: &Said,
        logical: &[Axis],
        symbols: &[Symbol],
    ) -> Result<Layout, Vec<Diagnostic>> {
        let alignment = said.alignment.unwrap_or(self.place.config.defaults.alignment);
        let span = self.item.layout.as_ref().map_or(&self.item.name.span, |layout| &layout.span);
        builder.finish(alignment, &Threads(self.place.memo)).map_err(|error| {
            let told = Told {
                tensor: &self.item.name.value,
                logical,
                symbols,
                site: said.map.as_ref(),
                strides: said.strides.as_ref(),
                place: self.at(span),
            };
            vec![refusal::fault(&error, &told)]
        })
    }

    fn model(
        &self,
        dtype: Dtype,
        layout: Layout,
        labels: Vec<Vec<String>>,
        said: Said,
        padding: &padding::Padding,
    ) -> Result<(Tensor, Vec<Diagnostic>), Vec<Diagnostic>> {
        let defaults = &self.place.config.defaults;
        let fill = match said.fill.as_ref().map(|(item, _)| item.value) {
            Some(FillWord::Integer(value)) => Fill::Value(FillValue::Integer(value)),
            Some(FillWord::Float(value)) => Fill::Value(FillValue::Float(value)),
            Some(FillWord::Bool(value)) => Fill::Value(FillValue::Integer(i128::from(value))),
            Some(FillWord::Nothing) => Fill::Nothing,
            None => Fill::Value(match defaults.fill {
                DefaultFill::Integer(value) => FillValue::Integer(i128::from(value)),
                DefaultFill::Float(value) => FillValue::Float(value),
            }),
        };
        let layout_span =
            self.item.layout.as_ref().map_or(&self.item.name.span, |layout| &layout.span);
        let layout_place = self.at(layout_span);
        let fill_place =
            said.fill.as_ref().map(|(item, file)| diagnostic::Place::new(file, item.span.clone()));
        let memory_span =
            self.item.memory.as_ref().map_or(&self.item.name.span, |memory| &memory.span);
        let dtype_text = self.declared()?.0;
        let places = Places {
            fill: fill_place.unwrap_or_else(|| layout_place.clone()),
            separators: said.separators.clone().unwrap_or_else(|| layout_place.clone()),
            layout: layout_place,
            dtype: self.at(dtype_text.map_or(&self.item.name.span, |text| &text.span)),
            memory: self.at(memory_span),
        };
        let tensor = Tensor {
            file: self.file.to_string(),
            name: self.item.name.value.clone(),
            dtype,
            layout,
            fill,
            memory: memory(self.item.memory.as_ref()),
            targets: self.targets()?,
            labels,
            high_first: self.item.nibbles == Some(Nibbles::HighFirst),
            steps: said.lines,
            places,
        };
        if let Some(error) = crate::fill::fault(&tensor) {
            return Err(vec![error]);
        }
        let remark = |(place, text): (diagnostic::Place, String)| {
            Diagnostic::warning(Code::NotationRemark, text, place, "")
        };
        let mut warnings: Vec<Diagnostic> = said.remarks.into_iter().map(remark).collect();
        warnings.extend(padding::check(
            &tensor,
            said.padding.as_ref(),
            padding,
            defaults.padding_warning,
        )?);
        Ok((tensor, warnings))
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
            error.help.push(match suggestion(&target.value, known.iter().copied()) {
                Some(near) => near,
                None => format!("targets are {}", known.join(", ")),
            });
            errors.push(error);
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Some(targets.iter().map(|target| target.value.clone()).collect()))
    }
}

fn symbol_value(name: &str, symbols: &[Symbol]) -> Option<Expr> {
    let k = symbols.iter().position(|symbol| symbol.name == name)?;
    Some(Expr::var(Var::Symbol(u32::try_from(k).ok()?)))
}

fn add_words(bound: &Bound, words: &mut BTreeSet<String>) {
    if let Bound::Text(text) = bound {
        add_text(&text.value, words);
    }
}

fn add_text(text: &str, words: &mut BTreeSet<String>) {
    let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.extend(parts.filter(|part| !part.is_empty()).map(str::to_string));
}

fn memory(item: Option<&MemoryItem>) -> Memory {
    match item.map(|item| item.kind) {
        None | Some(MemoryKind::Global) => Memory::Global,
        Some(MemoryKind::Constant) => Memory::Constant,
        Some(MemoryKind::Image2d) => Memory::Image2d,
        Some(MemoryKind::Image2dArray) => Memory::Image2dArray,
        Some(MemoryKind::Shared) => Memory::Shared,
        Some(MemoryKind::Local) => Memory::Local,
        Some(MemoryKind::None) => Memory::None,
    }
}
