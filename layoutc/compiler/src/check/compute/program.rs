//! The statements of a kernel on the tensors of one instance, in order.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::layout::{Axis, Symbol};
use layoutc_algebra::simplify::Facts;

use super::axes::{Axes, unknown_tensor};
use super::inline::{MAX_SIZE, reads};
use super::inside::{Domain, VISITED_IN_ALL};
use super::known::{Known, KnownKind, Names};
use super::local;
use super::text::{Line, Span};
use super::types::{computed, converted, is_float, is_integer, word};
use super::value::{Builder, Built, Checked, cast};
use super::{Bound, KernelDef};
use crate::cast::Mode;
use crate::check::expr::{constant, declare_first, place_in};
use crate::check::recipe::{symbol_value, words};
use crate::check::scope::Scope;
use crate::check::tensor::Place;
use crate::codes::Code;
use crate::diagnostic::{self, Diagnostic};
use crate::dtype::Scalar;
use crate::manifest::syntax::{Bound as Number, LocalItem, Text};
use crate::model::Tensor;
use crate::model::compute::{Buffer, Reduction, Statement, Value};

/// What the statements of a kernel make, as far as they are read.
pub(super) struct Program<'a> {
    pub(super) def: &'a KernelDef,
    /// The scope that the kernel's text is read in.
    pub(super) scope: &'a Scope,
    pub(super) place: Place<'a>,
    pub(super) tensors: &'a [Tensor],
    /// The operands in the order of the parameters.
    pub(super) operands: Vec<Bound>,
    pub(super) symbols: Vec<Symbol>,
    pub(super) names: Names,
    pub(super) ranges: Vec<(String, Expr, diagnostic::Place)>,
    pub(super) accumulator: Option<Scalar>,
    pub(super) locals: Vec<Tensor>,
    pub(super) statements: Vec<Statement>,
    pub(super) warnings: Vec<Diagnostic>,
    /// Whether a statement was given up.
    is_silent: bool,
}

/// A line of the kernel, and the text that it stands in.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) line: &'a Line,
    pub(super) text: &'a Text,
}

impl<'a> Program<'a> {
    /// Nothing read yet; the operands have their tensors.
    pub(super) fn new(
        def: &'a KernelDef,
        scope: &'a Scope,
        place: Place<'a>,
        tensors: &'a [Tensor],
        operands: Vec<Bound>,
    ) -> Self {
        let mut program = Self {
            def,
            scope,
            place,
            tensors,
            operands,
            symbols: Vec::new(),
            names: Names::new(),
            ranges: Vec::new(),
            accumulator: None,
            locals: Vec::new(),
            statements: Vec::new(),
            warnings: Vec::new(),
            is_silent: false,
        };
        program.symbols();
        program.operands();
        program
    }

    fn tensor(&self, operand: &Bound) -> Option<&'a Tensor> {
        self.tensors.get(operand.tensor)
    }

    /// Those of the operands, by name, then those that the text names.
    fn symbols(&mut self) {
        let own = self.operands.iter().filter_map(|operand| self.tensor(operand));
        let own: Vec<Symbol> = own.flat_map(|tensor| tensor.layout.symbols.clone()).collect();
        self.add_symbols(own);
        let mut found: BTreeSet<&str> = BTreeSet::new();
        for text in &self.def.item.computes {
            found.extend(words(&text.value));
        }
        for (_, bound) in &self.def.item.ranges {
            if let Number::Text(text) = bound {
                found.extend(words(&text.value));
            }
        }
        let named = found.into_iter().filter_map(|name| self.scope.symbols.get(name));
        let named: Vec<Symbol> = named.map(|(symbol, _)| symbol.clone()).collect();
        self.add_symbols(named);
    }

    fn add_symbols(&mut self, more: Vec<Symbol>) {
        for symbol in more {
            if self.symbols.iter().all(|known| known.name != symbol.name) {
                self.symbols.push(symbol);
            }
        }
    }

    fn operands(&mut self) {
        for (k, operand) in self.operands.iter().enumerate() {
            let Some(tensor) = self.tensor(operand) else { continue };
            let ty = computed(tensor.dtype.scalar).unwrap_or(tensor.dtype.scalar);
            let shape = tensor.layout.logical.iter().map(|axis| Axis {
                name: axis.name.clone(),
                extent: self.renumbered(&axis.extent, &tensor.layout.symbols),
            });
            let kind = KnownKind::Stored { buffer: Buffer::Operand(k), ty };
            let known = Known { shape: shape.collect(), label: tensor.name.clone(), kind };
            self.names.insert(operand.name.value.clone(), known);
        }
    }

    /// An expression over the symbols of a tensor, over those of the compute.
    fn renumbered(&self, expr: &Expr, symbols: &[Symbol]) -> Expr {
        let value = |var| match var {
            Var::Symbol(k) => {
                let symbol = symbols.get(usize::try_from(k).ok()?)?;
                symbol_value(&symbol.name, &self.symbols)
            }
            _ => None,
        };
        // As many terms as before.
        expr.substitute(&value).unwrap_or_else(|_| expr.clone())
    }

    /// The value of a const or symbol in the kernel's text.
    fn value_of(&self, name: &str) -> Option<Expr> {
        let number = self.scope.consts.get(name).map(|(value, _)| Expr::constant(*value));
        number.or_else(|| {
            self.scope.symbols.contains_key(name).then(|| symbol_value(name, &self.symbols))?
        })
    }

    /// Whether a statement is missing of which an earlier diagnostic tells.
    pub(super) fn is_incomplete(&self) -> bool {
        self.is_silent
    }

    /// Reads all statements.
    pub(super) fn run(&mut self) -> Vec<Diagnostic> {
        let mut errors = self.prepare();
        for (line, text) in self.def.lines.iter().zip(&self.def.item.computes) {
            let source = Source { line, text };
            if let Err(mut found) = self.statement(source) {
                self.is_silent = true;
                // The same of two reads is told of the first.
                let mut told: BTreeSet<(Code, String)> = BTreeSet::new();
                found.retain(|error| told.insert((error.code, error.message.clone())));
                errors.extend(found);
                self.give_up(line);
            }
        }
        errors.extend(self.unread());
        errors
    }

    /// What is said besides the statements: ranges, the accumulator's type.
    fn prepare(&mut self) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        let facts = Facts::new(&self.symbols);
        for (name, bound) in &self.def.item.ranges {
            let place = diagnostic::Place::new(&self.def.file, bound.span());
            let values = |name: &str| self.value_of(name);
            let extent = constant(bound, &values, self.scope, &facts, &self.def.file);
            match extent.map_err(declare_first) {
                Ok(extent) => {
                    let (low, high) = facts.bounds(&extent).unwrap_or((-1, -1));
                    if low < 0 || high > i64::MAX.into() {
                        let message = format!("the range of `{}` is a number from 0", name.value);
                        errors.push(Diagnostic::error(Code::ShapeExtent, message, place, ""));
                    } else {
                        let extent = facts.simplify(&extent).unwrap_or(extent);
                        self.ranges.push((name.value.clone(), extent, place));
                    }
                }
                Err(found) => errors.extend(found),
            }
        }
        match self.accumulator_type() {
            Ok(ty) => self.accumulator = ty,
            Err(found) => errors.extend(found),
        }
        errors
    }

    fn accumulator_type(&self) -> Checked<Option<Scalar>> {
        let Some(text) = &self.def.item.acc else { return Ok(None) };
        let known = [Scalar::F64, Scalar::F32, Scalar::I64, Scalar::I32, Scalar::U64, Scalar::U32];
        match known.iter().find(|scalar| word(**scalar) == text.value) {
            Some(scalar) => Ok(Some(*scalar)),
            None => {
                let place = diagnostic::Place::new(&self.def.file, text.span.clone());
                let message = format!("nothing is accumulated in `{}`", text.value.escape_debug());
                let error = Diagnostic::error(Code::DtypeKernel, message, place, "");
                let words = known.map(word).join(", ");
                Err(vec![error.help(format!("accumulators are {words}"))])
            }
        }
    }

    /// After a fault, an intermediate means nothing: what reads it needs no further diagnostic.
    fn give_up(&mut self, line: &Line) {
        let name = &line.target.name;
        let is_operand = self.operands.iter().any(|operand| operand.name.value == *name);
        if !is_operand && !self.names.contains_key(name) {
            let known = Known { shape: Vec::new(), label: name.clone(), kind: KnownKind::Broken };
            self.names.insert(name.clone(), known);
        }
    }

    fn fault(
        &self,
        source: Source<'_>,
        code: Code,
        message: impl Into<String>,
        span: &Span,
    ) -> Diagnostic {
        let place = place_in(source.text, span, &self.def.file);
        Diagnostic::error(code, message, place, "")
    }

    fn local(&self, name: &str) -> Option<&'a LocalItem> {
        self.def.item.locals.iter().find(|local| local.name.value == name)
    }

    fn statement(&mut self, source: Source<'_>) -> Checked<()> {
        let line = source.line;
        self.reads_are_known(source)?;
        let name = &line.target.name;
        let shape = match self.names.get(name) {
            Some(Known { kind: KnownKind::Broken, .. }) => return Err(Vec::new()),
            Some(Known { kind: KnownKind::Inlined { .. }, .. }) => {
                let message = format!("`{name}` is written twice, and has no memory");
                let error =
                    self.fault(source, Code::KernelIntermediate, message, &line.target.span);
                return Err(vec![error.help(format!("give it memory: `local {name} dtype=f32`"))]);
            }
            known => known.cloned(),
        };
        let of_file = self.def.item.operands.is_none();
        let is_tensor = |name: &str| {
            self.names.contains_key(name) || of_file && self.place.named.contains_key(name)
        };
        let axes = Axes {
            line,
            text: source.text,
            file: &self.def.file,
            scope: self.scope,
            names: &self.names,
            symbols: &self.symbols,
            ranges: &self.ranges,
            is_tensor: &is_tensor,
        };
        let axes = axes.found(shape.as_ref())?;
        self.are_free(source, &axes)?;
        let shape = match (shape, self.local(name)) {
            (Some(known), _) => Some(known),
            (None, Some(item)) => Some(self.new_local(source, item, &axes)?),
            (None, None) => None,
        };
        match shape {
            Some(Known { kind: KnownKind::Stored { buffer, ty }, .. }) => {
                self.stored(source, axes, buffer, ty)
            }
            _ => self.inlined(source, &axes),
        }
    }

    /// Names that loops and arguments would have, and a target keeps for itself.
    fn are_free(&self, source: Source<'_>, axes: &[Axis]) -> Checked<()> {
        let span = &source.line.left;
        let place = place_in(source.text, span, &self.def.file);
        let found = axes.iter().filter_map(|axis| {
            crate::check::names::reserved_axis(&axis.name, self.place.config, place.clone())
        });
        let errors: Vec<Diagnostic> = found.collect();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Whether each tensor that is read is there, and was written if it is an intermediate.
    fn reads_are_known(&self, source: Source<'_>) -> Checked<()> {
        let mut errors = Vec::new();
        for read in source.line.value.nodes().into_iter().filter_map(super::text::Ast::read) {
            let name = &read.tensor.name;
            if self.names.contains_key(name) {
                continue;
            }
            let is_later = self.def.lines.iter().any(|line| line.target.name == *name);
            if is_later || self.local(name).is_some() {
                let message = format!("`{name}` is read before it is written");
                let error =
                    self.fault(source, Code::KernelIntermediate, message, &read.tensor.span);
                errors.push(error.help("write it in a `compute` above"));
                continue;
            }
            let own = self.names.keys().map(String::as_str);
            let of_file = self.def.item.operands.is_none();
            let declared = self.place.named.keys().copied().filter(|_| of_file);
            let known: BTreeSet<&str> = own.chain(declared).collect();
            let known: Vec<&str> = known.into_iter().collect();
            errors.push(unknown_tensor(read, &known, (source.text, &self.def.file)));
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn new_local(&mut self, source: Source<'_>, item: &LocalItem, axes: &[Axis]) -> Checked<Known> {
        let count = source.line.axes.len();
        let shape: Vec<Axis> = axes.iter().take(count).cloned().collect();
        let made = local::tensor(item, &shape, &self.symbols, (self.place, self.def.home))?;
        let scalar = made.tensor.dtype.scalar;
        let ty = super::arithmetic_type(&made.tensor, &made.tensor.places.dtype)?;
        debug_assert_eq!(computed(scalar), Some(ty));
        self.warnings.extend(made.warnings);
        self.add_symbols(made.tensor.layout.symbols.clone());
        let buffer = Buffer::Local(self.locals.len());
        self.locals.push(made.tensor);
        let label = item.name.value.clone();
        let known = Known { shape, label: label.clone(), kind: KnownKind::Stored { buffer, ty } };
        self.names.insert(label, known.clone());
        Ok(known)
    }

    /// The value of a statement; `use_value` gets it with the builder that made it.
    fn value<T>(
        &self,
        source: Source<'_>,
        axes: &[Axis],
        use_value: impl FnOnce(&Builder<'_>, Built) -> Checked<T>,
    ) -> Checked<T> {
        let mut facts = Facts::new(&self.symbols);
        for (k, axis) in (0_u32..).zip(axes) {
            facts.set_extent(Var::Axis(k), &axis.extent).map_err(|error| {
                let message = error.to_string();
                vec![self.fault(source, Code::ExprOverflow, message, &source.line.left)]
            })?;
        }
        let (visits, nodes) = (Cell::new(VISITED_IN_ALL), Cell::new(MAX_SIZE));
        let domain = Domain { axes, symbols: &self.symbols, facts: &facts, left: &visits };
        let builder = Builder {
            text: source.text,
            file: &self.def.file,
            scope: self.scope,
            domain,
            names: &self.names,
            values: &|name| self.value_of(name),
            left: &nodes,
        };
        let built = builder.built(&source.line.value)?;
        use_value(&builder, built)
    }

    fn inlined(&mut self, source: Source<'_>, axes: &[Axis]) -> Checked<()> {
        let line = source.line;
        let name = line.target.name.clone();
        if line.op != Reduction::Assign {
            let message = format!("`{name}` is put together from many values, and has no memory");
            let error = self.fault(source, Code::KernelIntermediate, message, &line.target.span);
            let near =
                crate::check::scope::suggestion(&name, self.names.keys().map(String::as_str));
            let error = near.into_iter().fold(error, Diagnostic::help);
            return Err(vec![error.help(format!("give it memory: `local {name} dtype=f32`"))]);
        }
        let value = self.value(source, axes, |_, built| Ok(built))?;
        let shape = axes.to_vec();
        let kind = KnownKind::Inlined { value, stale: None };
        self.names.insert(name.clone(), Known { shape, label: name, kind });
        Ok(())
    }

    fn stored(
        &mut self,
        source: Source<'_>,
        axes: Vec<Axis>,
        target: Buffer,
        ty: Scalar,
    ) -> Checked<()> {
        let line = source.line;
        let reduces = line.op != Reduction::Assign;
        if ty == Scalar::Bool && reduces {
            let message = "truth values are not put together".to_owned();
            let error = self.fault(source, Code::DtypeKernel, message, &line.op_span);
            return Err(vec![error.help("count them in an integer tensor: `select(…, 1, 0)`")]);
        }
        let accumulator = self.accumulator.filter(|_| reduces).unwrap_or(ty);
        if is_float(accumulator) != is_float(ty) {
            let text = self.def.item.acc.as_ref().map_or(&line.op_span, |text| &text.span);
            let place = diagnostic::Place::new(&self.def.file, text.clone());
            let message = format!(
                "`{}` is computed in {}, and is not accumulated in {}",
                self.label(&line.target.name),
                word(ty),
                word(accumulator)
            );
            let error = Diagnostic::error(Code::DtypeKernel, message, place, "");
            let help =
                if is_float(ty) { "`acc f32` or `acc f64`" } else { "`acc i32` or `acc i64`" };
            return Err(vec![error.help(format!("write {help}"))]);
        }
        let label = self.label(&line.target.name);
        let value = self.value(source, &axes, |builder, built| {
            store_value(builder, built, (line, &label), if reduces { accumulator } else { ty })
        })?;
        self.reads_its_element(source, &value, target)?;
        let value = if reduces { converted(value, accumulator) } else { value };
        let accumulate =
            self.def.item.accumulate.is_some() && reduces && matches!(target, Buffer::Operand(_));
        let accumulator = if reduces { accumulator } else { value.ty };
        let span = 0..source.text.value.len();
        self.statements.push(Statement {
            target,
            axes,
            written_axes: line.axes.len(),
            op: line.op,
            accumulate,
            accumulator,
            store: Mode::Round,
            value,
            text: source.text.value.trim().to_owned(),
            place: place_in(source.text, &span, &self.def.file),
        });
        self.outdate(&line.target.name, target);
        Ok(())
    }

    fn label(&self, name: &str) -> String {
        self.names.get(name).map_or_else(|| name.to_owned(), |known| known.label.clone())
    }

    /// Intermediates that read what was just written are not what they were.
    fn outdate(&mut self, name: &str, target: Buffer) {
        for known in self.names.values_mut() {
            if let KnownKind::Inlined { value, stale } = &mut known.kind
                && let Built::Loose(value) | Built::Typed(value) = value
                && reads(value).iter().any(|read| read.buffer == target)
            {
                stale.get_or_insert_with(|| name.to_owned());
            }
        }
    }

    /// Of what it writes, a statement reads no other element; and where it reduces, none at all.
    fn reads_its_element(&self, source: Source<'_>, value: &Value, target: Buffer) -> Checked<()> {
        let line = source.line;
        let own = (0_u32..).map(|k| Expr::var(Var::Axis(k))).take(line.axes.len());
        let own: Vec<Expr> = own.collect();
        let reduces = line.op != Reduction::Assign;
        let mut others = reads(value).into_iter().filter(|read| read.buffer == target);
        // An axis of one index is a number.
        let is_own = |index: &[Expr]| {
            index.iter().zip(&own).zip(self.extents(line)).all(|((index, own), extent)| {
                index == own || index.as_const() == Some(0) && extent == Some(1)
            })
        };
        if others.all(|read| is_own(&read.index) && !reduces) {
            return Ok(());
        }
        let name = &line.target.name;
        let nodes = line.value.nodes();
        let mut reads_it = nodes.iter().filter_map(|node| node.read());
        let span =
            reads_it.find(|read| read.tensor.name == *name).map_or(&line.left, |read| &read.span);
        let message = if reduces {
            format!("`{name}` is read while its elements are put together")
        } else {
            format!("`{name}` is read at another element than the one that is written")
        };
        let error = self.fault(source, Code::KernelOperand, message, span);
        Err(vec![if reduces {
            error.help("to go on from what it holds, say `accumulate #true`")
        } else {
            error.help("write into another tensor, or an intermediate: `local T dtype=f32`")
        }])
    }

    /// The extents of what a line writes, where they are numbers.
    fn extents(&self, line: &Line) -> Vec<Option<i128>> {
        let known = self.names.get(&line.target.name);
        let shape = known.map(|known| known.shape.as_slice()).unwrap_or_default();
        shape.iter().map(|axis| axis.extent.as_const()).collect()
    }

    /// Intermediates that nothing reads, local tensors that nothing writes, ranges of no axis.
    fn unread(&self) -> Vec<Diagnostic> {
        let lines = &self.def.lines;
        let read: BTreeSet<&str> = lines
            .iter()
            .flat_map(|line| line.value.nodes())
            .filter_map(|node| node.read().map(|read| read.tensor.name.as_str()))
            .collect();
        let operands: BTreeMap<&str, &Bound> =
            self.operands.iter().map(|operand| (operand.name.value.as_str(), operand)).collect();
        let mut errors = Vec::new();
        for (line, text) in lines.iter().zip(&self.def.item.computes) {
            let name = line.target.name.as_str();
            if operands.contains_key(name) || read.contains(name) {
                continue;
            }
            errors.push(self.dead(Source { line, text }));
        }
        for local in &self.def.item.locals {
            let name = local.name.value.as_str();
            let place = diagnostic::Place::new(&self.def.file, local.name.span.clone());
            let message = if operands.contains_key(name) {
                format!("`{name}` is an operand, and has memory already")
            } else if lines.iter().all(|line| line.target.name != name) {
                format!("nothing writes the local tensor `{name}`")
            } else {
                continue;
            };
            errors.push(Diagnostic::error(Code::KernelIntermediate, message, place, ""));
        }
        let mentioned: BTreeSet<&str> =
            self.def.item.computes.iter().flat_map(|text| words(&text.value)).collect();
        for (name, _) in &self.def.item.ranges {
            let place = diagnostic::Place::new(&self.def.file, name.span.clone());
            if self.scope.known().any(|known| known == name.value) {
                let message =
                    format!("the axis `{}` hides a const or symbol of the same name", name.value);
                let error = Diagnostic::error(Code::NameHides, message, place, "");
                errors.push(error.help("give the axis another name"));
            } else if !mentioned.contains(name.value.as_str()) {
                let message = format!("no statement has an axis `{}`", name.value);
                let error = Diagnostic::error(Code::KernelAxes, message, place, "");
                let near = crate::check::scope::suggestion(&name.value, mentioned.iter().copied());
                errors.push(near.into_iter().fold(error, Diagnostic::help));
            }
        }
        errors
    }

    fn dead(&self, source: Source<'_>) -> Diagnostic {
        let name = &source.line.target.name;
        let place = place_in(source.text, &source.line.target.span, &self.def.file);
        if self.def.item.operands.is_none() && self.local(name).is_none() {
            let message = format!("there is no tensor `{name}`");
            let known: Vec<&str> = self.place.named.keys().copied().collect();
            let mut error = Diagnostic::error(Code::NameUnknown, message, place, "");
            error.notes.push("as an intermediate it would be read by a `compute` below".to_owned());
            error.help.extend(crate::check::scope::nearest_or_all(name, "tensors", &known));
            return error;
        }
        let message = format!("`{name}` is no operand, and nothing reads it");
        let error = Diagnostic::error(Code::KernelIntermediate, message, place, "");
        let operands = self.operands.iter().map(|operand| operand.name.value.as_str());
        let known: Vec<&str> = operands.collect();
        let near = crate::check::scope::nearest_or_all(name, "operands", &known);
        near.into_iter().fold(error, Diagnostic::help)
    }
}

/// The value that a statement stores: of floats into floats, of integers into integers.
fn store_value(
    builder: &Builder<'_>,
    built: Built,
    (line, label): (&Line, &str),
    ty: Scalar,
) -> Checked<Value> {
    let ast = &line.value;
    let value = match built {
        Built::Typed(value) => value,
        Built::Index(_) if is_integer(ty) => builder.fit(built, Scalar::I64, ast)?,
        other => return builder.fit(other, ty, ast),
    };
    let fits = is_float(value.ty) && is_float(ty)
        || is_integer(value.ty) && is_integer(ty)
        || value.ty == ty;
    if fits {
        return Ok(value);
    }
    let shown = builder.shown(ast);
    let message =
        format!("the value is {}, and `{label}` is computed in {}", word(value.ty), word(ty));
    let help = match (value.ty, ty) {
        (_, Scalar::Bool) => format!("compare it: `{shown} != 0`"),
        _ => cast(shown, ty),
    };
    builder.mistyped(message, &ast.span, help)
}
