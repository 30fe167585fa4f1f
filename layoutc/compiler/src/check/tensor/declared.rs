//! Resolution of the declarations of a tensor: element type, shape, and the symbols in both.

use std::collections::BTreeSet;

use layoutc_algebra::expr::Expr;
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::{Axis, Symbol};

use super::TensorChecker;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic};
use crate::base::dtype::{Dtype, LANES, SCALARS, known_types};
use crate::base::nearest::nearest;
use crate::check::expr::{constant, with_axis_help, with_declaration_help};
use crate::check::replay::symbol_value;
use crate::check::{record_type, replay};
use crate::manifest::syntax::{
    Extent, FIELD, Identifier, IntegerExpr, ItemKind, NibbleOrder, RecordItem, ShapeItem,
    SpannedText, StepItem, StepKind, TileEntry,
};

/// Element type and shape that a tensor declares or inherits by `like=`.
pub(in crate::check) struct TensorDeclaration<'a> {
    /// Text of the element type, which takes precedence over `record`; `None` if there is none.
    pub(in crate::check) dtype: Option<&'a SpannedText>,
    pub(in crate::check) shape: &'a ShapeItem,
    pub(in crate::check) record: Option<&'a RecordItem>,
}

impl<'a> TensorDeclaration<'a> {
    /// Span of the element type or the record; `None` if there is neither.
    pub(super) fn dtype_span(&self) -> Option<&'a std::ops::Range<usize>> {
        let record = self.record.map(|record| &record.span);
        self.dtype.map(|text| &text.span).or(record)
    }
}

impl TensorChecker<'_> {
    /// Declaration of the tensor: its shape, and its element type or record. Each that the tensor does not declare is
    /// taken from the nearest tensor on its chain of `like=` that does. An unknown base and a cycle are errors.
    pub(super) fn declared(&self) -> CheckResult<TensorDeclaration<'_>> {
        let mut chain: Vec<&str> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut item = self.item;
        let (mut dtype, mut shape, mut record) = (None, None, None);
        loop {
            // A record hides the element types of its bases; an element type keeps a base's record, for its axis.
            dtype = dtype.or(item.dtype.as_ref().filter(|_| record.is_none()));
            shape = shape.or(item.shape.as_ref());
            record = record.or(item.record.as_ref());
            if let Some(shape) = shape
                && (dtype.is_some() || record.is_some())
            {
                return Ok(TensorDeclaration { dtype, shape, record });
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

    /// Error, at `like`, for a cycle of `like=`. `chain` has the names of the tensors, each followed by its base; the
    /// last name occurs twice.
    fn circle(&self, chain: &[&str], like: &Identifier) -> Diagnostic {
        let start = chain.iter().position(|earlier| Some(earlier) == chain.last()).unwrap_or(0);
        let circle = chain.get(start..).unwrap_or_default().join(" → ");
        let message = format!("cyclic `like`: {circle}");
        let place = self.at(&like.span);
        let error = Diagnostic::error(Code::NameCycle, message, place, "closes the cycle");
        error.help("declare a `dtype` and a `shape` in one of them")
    }

    /// Error for the unknown tensor `like` in the `like=` of the tensor `name`; empty if `like` is invalid and has been
    /// reported.
    fn unlike(&self, like: &Identifier, name: &str) -> Vec<Diagnostic> {
        if self.scope.is_broken(ItemKind::Tensor, &like.value) {
            return Vec::new();
        }
        let message = format!("there is no tensor `{}`", like.value);
        let error = Diagnostic::error(Code::NameUnknown, message, like.at(self.file), "");
        if self.syntax.views.iter().any(|view| view.name.value == like.value) {
            let note = format!("`{}` is a view, and `like` takes a tensor", like.value);
            return error.note(note).help("declare a `dtype` and a `shape` instead").into();
        }
        let known = self.syntax.tensors.iter().map(|tensor| tensor.name.value.as_str());
        let known = known.filter(|known| *known != name);
        error.nearest_or_all(&like.value, "tensors", known).into()
    }

    pub(super) fn element_type(&self, declared: &TensorDeclaration<'_>) -> CheckResult<Dtype> {
        match (declared.dtype, declared.record) {
            (Some(text), _) => Ok(self.dtype(text)?),
            (None, Some(record)) => {
                let high_first = self.item.nibbles == Some(NibbleOrder::HighFirst);
                let ground =
                    record_type::RecordContext { file: self.file, scope: self.scope, high_first };
                record_type::dtype(record, ground, &|text| self.dtype(text))
            }
            (None, None) => Err(Vec::new()),
        }
    }

    /// Element type with the text `text`; an error if there is none.
    pub(in crate::check) fn dtype(&self, text: &SpannedText) -> Result<Dtype, Diagnostic> {
        Dtype::parse(&text.value).ok_or_else(|| {
            let message = format!("unknown element type `{}`", text.value.escape_debug());
            let error = Diagnostic::error(Code::DtypeUnknown, message, self.at(&text.span), "");
            let names = SCALARS.iter().map(|(_, name, _)| *name);
            let base = text.value.rsplit_once('x').map_or(text.value.as_str(), |(base, _)| base);
            let vector = base != text.value && Dtype::parse(base).is_some();
            let lanes = LANES.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            if vector {
                return error
                    .help(format!("use a vector of {lanes} lanes of at least one byte each"));
            }
            if let Some(ours) = Dtype::from_foreign_name(&text.value) {
                return error.with_suggestion(ours);
            }
            match nearest(&text.value, names) {
                Some(near) => error.with_suggestion(near),
                None => error.help(format!("expected one of {}", known_types())),
            }
        })
    }

    /// Symbols whose names occur as words in the extents and conditions of `shape`, or in the maps, sizes, strides and
    /// transform arguments of the tensor's layout steps, ordered by the locations of their declarations: the path of
    /// the manifest, then the position in it.
    pub(in crate::check) fn symbols(&self, shape: &ShapeItem) -> Vec<Symbol> {
        let mut words = BTreeSet::new();
        for axis in &shape.axes {
            if let Extent::Bound(bound) = &axis.extent {
                add_words(bound, &mut words);
            }
        }
        for condition in &shape.conditions {
            words.extend(replay::words(&condition.value).map(str::to_owned));
        }
        for (step, _) in self.recipe(0, &[], &[]).all_steps() {
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

    fn words_of_step(step: &StepItem, words: &mut BTreeSet<String>) {
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
            | StepKind::SwizzleMode(_)
            | StepKind::SwizzleAuto(_)
            | StepKind::Notation { .. } => {}
        }
    }

    /// Pair `(axes, labels)`: the axes of the declared shape and of its record, outermost first, and for each axis the
    /// labels of its indices, an empty list for an axis without labels. `symbols` are those that the extents may name.
    /// `Err` has the faults of all axes.
    pub(in crate::check) fn axes(
        &self,
        declared: &TensorDeclaration<'_>,
        symbols: &[Symbol],
    ) -> CheckResult<(Vec<Axis>, Vec<Vec<String>>)> {
        let facts = Facts::new(symbols);
        let value = |name: &str| {
            let constant = self.scope.consts.get(name).map(|(value, _)| Expr::constant(*value));
            constant.or_else(|| symbol_value(name, symbols))
        };
        let literal_extents = declared.shape.axes.iter().map(|axis| match &axis.extent {
            Extent::Bound(IntegerExpr::Integer(n)) => (axis.name.value.as_str(), Some(n.value)),
            _ => (axis.name.value.as_str(), None),
        });
        let (mut axes, mut labels, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        for axis in &record_type::axes(declared.shape, declared.record) {
            let name = &axis.name.value;
            // An axis may have the name of its symbolic extent.
            if self.scope.consts.contains_key(name) {
                let message = format!("axis `{name}` shadows a const of the same name");
                let error =
                    Diagnostic::error(Code::NameHides, message, self.at(&axis.name.span), "");
                errors.push(error.help("give the axis another name"));
            }
            let mut own = Vec::new();
            let record = declared.record.filter(|_| axis.name.value == FIELD);
            if let Some(record) = record.filter(|record| !record.is_axis()) {
                let place = self.at(&axis.name.span);
                errors.push(record_type::no_axis(place, (self.file, record)));
                labels.push(own);
                continue;
            }
            let extent = match &axis.extent {
                Extent::Fields => match record {
                    Some(record) => Ok(record_type::fields(record).0),
                    None => Err(vec![record_type::no_record(self.at(&axis.name.span))]),
                },
                Extent::Labels(names) => {
                    own = names.iter().map(|n| n.value.clone()).collect();
                    Ok(Expr::constant(i128::try_from(names.len()).unwrap_or(i128::MAX)))
                }
                Extent::Bound(bound) => constant(bound, &value, self.scope, &facts, self.file)
                    .map_err(|faults| {
                        with_axis_help(with_declaration_help(faults), &literal_extents)
                    })
                    .and_then(|extent| Ok(self.extent(&extent, bound, &facts)?)),
            };
            match (extent, record) {
                (Ok(extent), Some(record)) => {
                    let placed = Axis { name: name.clone(), extent };
                    let fits = record_type::fits(&placed, &own, record, (self.file, &axis.name));
                    errors.extend(fits.err());
                    own = record_type::fields(record).1;
                    axes.push(placed);
                }
                (Ok(extent), None) => axes.push(Axis { name: name.clone(), extent }),
                (Err(found), _) => errors.extend(found),
            }
            labels.push(own);
        }
        // A broken extent has a diagnostic elsewhere.
        let is_whole = axes.len() == labels.len();
        if is_whole && errors.is_empty() { Ok((axes, labels)) } else { Err(errors) }
    }

    /// Returns `extent` after a check that it is at least 0 and fits 64 bits for all values of the symbols, whose
    /// ranges are `facts`. `bound` is its text, for errors.
    fn extent(
        &self,
        extent: &Expr,
        bound: &IntegerExpr,
        facts: &Facts,
    ) -> Result<Expr, Diagnostic> {
        let place = self.at(&bound.span());
        match facts.bounds(extent) {
            Ok((low, _)) if low < 0 => {
                let message = format!("the extent is negative: it can be {low}");
                let help = match extent.as_const() {
                    Some(_) => "write 0 or more",
                    None => "declare a greater `min` of the symbol",
                };
                Err(Diagnostic::error(Code::ShapeExtent, message, place, "").help(help))
            }
            Ok((_, high)) if high <= i128::from(i64::MAX) => Ok(extent.clone()),
            _ => {
                let message = "the extent does not fit 64 bits";
                let error = Diagnostic::error(Code::LimitSize, message, place, "");
                let error = error.note(format!("the largest extent is {}", i64::MAX));
                Err(error.help("write a smaller one, or declare a smaller `max` of a symbol"))
            }
        }
    }
}

fn add_words(bound: &IntegerExpr, words: &mut BTreeSet<String>) {
    if let IntegerExpr::Text(text) = bound {
        add_text(&text.value, words);
    }
}

fn add_text(text: &str, words: &mut BTreeSet<String>) {
    words.extend(replay::words(text).map(str::to_string));
}
