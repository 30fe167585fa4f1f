//! Lowering of the statements of a kernel, in order, on the tensors of one instance.

use std::cell::Cell;
use std::collections::BTreeSet;

use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::{Axis, Symbol};

use super::axes::AxisInference;
use super::bounds::{StatementDomain, VISITED_IN_ALL};
use super::inline::MAX_SIZE;
use super::statement_syntax::{StatementAst, StatementSpan};
use super::tensor_table::{KernelTensor, KernelTensorKind, TensorTable};
use super::types::{arithmetic_scalar, word};
use super::value::{InferredValue, ValueBuilder};
use super::{KernelDef, OperandBinding};
use super::{bracket_depth, local};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::base::dtype::Scalar;
use crate::check::declarations::Declarations;
use crate::check::expr::{constant, overflow, place_in, with_declaration_help};
use crate::check::replay::{symbol_value, words};
use crate::check::scope::ManifestScope;
use crate::check::tensor::ManifestContext;
use crate::manifest::syntax::{Identifier, IntegerExpr as Number, LocalItem, SpannedText};
use crate::model::compute::{BufferRef, ComputeAt, Reduction, Statement};
use crate::model::{Spanned, Tensor};

/// Lowering of a kernel for one instance. `statements` are those lowered so far, `names` is the table of the tensors
/// that they use, and `locals` has the stored intermediates among these. `ranges` are the declared ranges as tuples
/// (name, exclusive upper bound, location). `symbols` are those of the operands, of the kernel's text, and of the
/// layouts of `locals`. `accumulator` is the type that the kernel's `acc` item gives for reductions, and `compute_at`
/// has the locals that are computed inside a loop.
pub(super) struct KernelLowering<'a> {
    pub(super) def: &'a KernelDef,
    /// Scope that resolves the names of consts and symbols in the kernel's text.
    pub(super) scope: &'a ManifestScope,
    pub(super) place: ManifestContext<'a>,
    declared: Declarations<'a>,
    /// Operands of the kernel, in the order of the function's parameters.
    pub(super) operands: Vec<OperandBinding>,
    pub(super) symbols: Vec<Symbol>,
    pub(super) names: TensorTable,
    pub(super) ranges: Vec<(String, Expr, FileSpan)>,
    pub(super) accumulator: Option<Scalar>,
    pub(super) locals: Vec<Tensor>,
    pub(super) compute_at: Vec<ComputeAt>,
    pub(super) statements: Vec<Statement>,
    pub(super) warnings: Vec<Diagnostic>,
    /// True if a statement has errors and was left out, so that `statements` is incomplete.
    is_silent: bool,
}

/// Statement of a kernel with its text and the statements after it.
#[derive(Clone, Copy)]
pub(super) struct StatementSource<'a> {
    pub(super) line: &'a StatementAst,
    pub(super) text: &'a SpannedText,
    /// Parsed statements after this one, in order.
    pub(super) later: &'a [StatementAst],
}

impl StatementSource<'_> {
    /// Number of the statement in its kernel `def`, from 1.
    pub(super) fn number(&self, def: &KernelDef) -> usize {
        def.lines.len().saturating_sub(self.later.len())
    }
}

impl<'a> KernelLowering<'a> {
    /// Creates the lowering of the kernel `def`, with no statement lowered yet. `scope` resolves names in the kernel's
    /// text, and `operands` bind names to tensors and views of `declared`.
    pub(super) fn new(
        def: &'a KernelDef,
        scope: &'a ManifestScope,
        place: ManifestContext<'a>,
        declared: Declarations<'a>,
        operands: Vec<OperandBinding>,
    ) -> Self {
        let mut program = Self {
            def,
            scope,
            place,
            declared,
            operands,
            symbols: Vec::new(),
            names: TensorTable::new(),
            ranges: Vec::new(),
            accumulator: None,
            locals: Vec::new(),
            compute_at: Vec::new(),
            statements: Vec::new(),
            warnings: Vec::new(),
            is_silent: false,
        };
        program.symbols();
        program.operands();
        program
    }

    fn tensor(&self, operand: &OperandBinding) -> Option<&'a Tensor> {
        self.declared.tensor(operand.tensor)
    }

    /// Operand or stored intermediate `name`, as a reference; `None` if there is none.
    pub(super) fn buffer(&self, name: &str) -> Option<BufferRef> {
        let operand = self.operands.iter().position(|operand| operand.name.value == name);
        let local = self.locals.iter().position(|local| local.name == name);
        operand.map(BufferRef::Operand).or(local.map(BufferRef::Local))
    }

    /// Tensor of the operand or stored intermediate that `buffer` refers to; `None` if `buffer` refers to none of this
    /// kernel.
    pub(super) fn memory(&self, buffer: BufferRef) -> Option<&Tensor> {
        match buffer {
            BufferRef::Operand(k) => self.tensor(self.operands.get(k)?),
            BufferRef::Local(k) => self.locals.get(k),
        }
    }

    /// Sets `self.symbols`: the symbols of the operands, in the order of the operands, then those that the kernel's
    /// text names.
    fn symbols(&mut self) {
        let own = self.operands.iter().filter_map(|operand| self.tensor(operand));
        let own: Vec<Symbol> = own.flat_map(|tensor| tensor.layout.symbols().to_vec()).collect();
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
            let ty = arithmetic_scalar(tensor.dtype.scalar).unwrap_or(tensor.dtype.scalar);
            let shape = tensor.layout.logical().iter().map(|axis| Axis {
                name: axis.name.clone(),
                extent: self.renumbered(&axis.extent, tensor.layout.symbols()),
            });
            let kind = KernelTensorKind::Stored { buffer: BufferRef::Operand(k), ty };
            let known = KernelTensor { shape: shape.collect(), label: tensor.name.clone(), kind };
            self.names.insert(operand.name.value.clone(), known);
        }
    }

    /// Copy of `expr`, which is over `symbols`, the symbols of a tensor, with each symbol numbered by the position of
    /// the symbol of the same name in `self.symbols`.
    fn renumbered(&self, expr: &Expr, symbols: &[Symbol]) -> Expr {
        let value = |var| match var {
            Var::Symbol(k) => {
                let symbol = symbols.get(usize::try_from(k).ok()?)?;
                symbol_value(&symbol.name, &self.symbols)
            }
            _ => None,
        };
        // Renaming symbols does not change the number of terms, so substitution cannot fail.
        expr.substitute(&value).unwrap_or_else(|_| expr.clone())
    }

    /// Value of the const `name`, or the variable of the symbol `name`, in the kernel's text; `None` if there is none.
    fn value_of(&self, name: &str) -> Option<Expr> {
        let number = self.scope.consts.get(name).map(|(value, _)| Expr::constant(*value));
        number.or_else(|| {
            self.scope.symbols.contains_key(name).then(|| symbol_value(name, &self.symbols))?
        })
    }

    /// True if a statement has errors and was left out, so that no code must be generated for the kernel.
    pub(super) fn is_incomplete(&self) -> bool {
        self.is_silent
    }

    /// Lowers all statements in order, and returns the errors of the whole kernel. A statement with errors is left out,
    /// and the next ones are checked nevertheless.
    pub(super) fn run(&mut self) -> Vec<Diagnostic> {
        let mut errors = self.prepare();
        let mut later = self.def.lines.as_slice();
        for (line, text) in self.def.lines.iter().zip(&self.def.item.computes) {
            later = later.get(1..).unwrap_or_default();
            let source = StatementSource { line, text, later };
            if let Err(mut found) = self.statement(source) {
                self.is_silent = true;
                // Report a fault that two reads share once.
                let mut reported: BTreeSet<(Code, String)> = BTreeSet::new();
                found.retain(|error| reported.insert((error.code, error.message.clone())));
                errors.extend(found);
                self.mark_broken(line);
            }
        }
        errors.extend(self.unread());
        errors
    }

    /// Sets `self.ranges` and `self.accumulator` from the kernel's `range` and `acc` items, and returns the errors of
    /// invalid ones, which are not set.
    fn prepare(&mut self) -> Vec<Diagnostic> {
        let mut errors = Vec::new();
        let facts = Facts::new(&self.symbols);
        for (name, bound) in &self.def.item.ranges {
            let place = bound.at(&self.def.file);
            let values = |name: &str| self.value_of(name);
            let extent = constant(bound, &values, self.scope, &facts, &self.def.file);
            match extent.map_err(with_declaration_help) {
                Ok(extent) => {
                    let (low, high) = facts.bounds(&extent).unwrap_or((-1, -1));
                    if low < 0 || high > i64::MAX.into() {
                        let message =
                            format!("the range of `{}` is not between 0 and 2^63 - 1", name.value);
                        let help =
                            if low < 0 { "write 0 or more" } else { "write a smaller number" };
                        let error = Diagnostic::error(Code::ShapeExtent, message, place, "");
                        errors.push(error.help(help));
                    } else {
                        let extent = facts.simplify(&extent).unwrap_or(extent);
                        self.ranges.push((name.value.clone(), extent, place));
                    }
                }
                Err(found) => errors.extend(found),
            }
        }
        if let Some(text) = &self.def.item.acc {
            use Scalar::{F32, F64, I32, I64, U32, U64};
            let known = [F64, F32, I64, I32, U64, U32];
            self.accumulator = known.into_iter().find(|scalar| word(*scalar) == text.value);
            if self.accumulator.is_none() {
                let message = format!("cannot accumulate in `{}`", text.value.escape_debug());
                let place = text.at(&self.def.file);
                let error = Diagnostic::error(Code::DtypeKernel, message, place, "");
                let words = known.map(word).join(", ");
                errors.push(error.help(format!("expected one of {words}")));
            }
        }
        errors
    }

    /// Adds the target of the faulty statement `line` to the tensor table as an invalid intermediate, so that reads of
    /// it are not reported as unknown; adds nothing if the target is in the table already.
    fn mark_broken(&mut self, line: &StatementAst) {
        let name = &line.target.name;
        let is_operand = self.operands.iter().any(|operand| operand.name.value == *name);
        if !is_operand && !self.names.contains_key(name) {
            let (shape, label) = (Vec::new(), name.clone());
            let known = KernelTensor { shape, label, kind: KernelTensorKind::Broken };
            self.names.insert(name.clone(), known);
        }
    }

    pub(super) fn fault(
        &self,
        source: StatementSource<'_>,
        code: Code,
        message: impl Into<String>,
        span: &StatementSpan,
    ) -> Diagnostic {
        let place = place_in(source.text, span, &self.def.file);
        Diagnostic::error(code, message, place, "")
    }

    /// True if the kernel may read a tensor `name`: the tensor table has it, or the manifest declares a tensor of this
    /// name (views do not count) and the kernel has no `operands` item.
    pub(super) fn could_read(&self, name: &str) -> bool {
        let of_file = self.def.item.operands.is_none();
        self.names.contains_key(name) || of_file && self.place.named.contains_key(name)
    }

    pub(super) fn local(&self, name: &str) -> Option<&'a LocalItem> {
        self.def.item.locals.iter().find(|local| local.name.value == name)
    }

    fn statement(&mut self, source: StatementSource<'_>) -> CheckResult<()> {
        let line = source.line;
        self.reads_are_known(source)?;
        let name = &line.target.name;
        let shape = match self.names.get(name) {
            Some(KernelTensor { kind: KernelTensorKind::Broken, .. }) => return Err(Vec::new()),
            Some(KernelTensor { kind: KernelTensorKind::Inlined { .. }, .. }) => {
                let message = format!("intermediate `{name}` is written twice, and needs storage");
                let error =
                    self.fault(source, Code::KernelIntermediate, message, &line.target.span);
                return Err(vec![error.help(format!("add `local {name} dtype=f32`"))]);
            }
            known => known.cloned(),
        };
        self.may_be_scattered(source, shape.as_ref())?;
        let (axes, written) = AxisInference { program: self, source }.infer(shape.as_ref())?;
        self.check_axis_names(source, &axes)?;
        let shape = match (shape, self.local(name)) {
            (Some(known), _) => Some(known),
            (None, Some(item)) => Some(self.new_local(source, item, &axes)?),
            (None, None) if line.op != Reduction::Assign => {
                let item = self.implied(source, &axes)?;
                Some(self.new_local(source, &item, &axes)?)
            }
            (None, None) => None,
        };
        match shape {
            Some(KernelTensor { kind: KernelTensorKind::Stored { buffer, ty }, .. }) => {
                self.stored(source, (axes, written), buffer, ty)
            }
            _ => self.inlined(source, &axes),
        }
    }

    /// Checks that no axis has a name that a target language reserves, as generated loops and arguments are named after
    /// axes.
    fn check_axis_names(&self, source: StatementSource<'_>, axes: &[Axis]) -> CheckResult<()> {
        let span = &source.line.left;
        let place = place_in(source.text, span, &self.def.file);
        let found = axes.iter().filter_map(|axis| {
            crate::check::names::reserved_axis(&axis.name, self.place.config, place.clone())
        });
        let errors: Vec<Diagnostic> = found.collect();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Checks that each tensor that the statement reads is in the tensor table. An operand always is; an intermediate
    /// is if an earlier statement writes it.
    fn reads_are_known(&self, source: StatementSource<'_>) -> CheckResult<()> {
        let mut errors = Vec::new();
        for read in source.line.reads() {
            let name = &read.tensor.name;
            if self.names.contains_key(name) {
                continue;
            }
            let is_later = self.def.lines.iter().any(|line| line.target.name == *name);
            if is_later || self.local(name).is_some() {
                let message = format!("`{name}` is read before it is written");
                let error =
                    self.fault(source, Code::KernelIntermediate, message, &read.tensor.span);
                errors.push(error.help("write it in an earlier `compute`"));
                continue;
            }
            let own = self.names.keys().map(String::as_str);
            let of_file = self.def.item.operands.is_none();
            let declared = self.place.named.keys().copied().filter(|_| of_file);
            let known: BTreeSet<&str> = own.chain(declared).collect();
            let message = format!("there is no tensor `{name}`");
            let error = self.fault(source, Code::NameUnknown, message, &read.tensor.span);
            errors.push(self.with_operands(error.nearest_or_all(name, "tensors", known)));
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn new_local(
        &mut self,
        source: StatementSource<'_>,
        item: &LocalItem,
        axes: &[Axis],
    ) -> CheckResult<KernelTensor> {
        let count = source.line.axes.len();
        let shape: Vec<Axis> = axes.iter().take(count).cloned().collect();
        let made = local::tensor(item, &shape, &self.symbols, (self.place, self.def.home))?;
        let ty = super::arithmetic_type(&made.tensor, &made.tensor.places.dtype)?;
        if let Some(at) = &item.at {
            self.compute_at.push(self.computed_at(item, at, &shape)?);
        }
        self.warnings.extend(made.warnings);
        self.add_symbols(made.tensor.layout.symbols().to_vec());
        let buffer = BufferRef::Local(self.locals.len());
        self.locals.push(made.tensor);
        let label = item.name.value.clone();
        let kind = KernelTensorKind::Stored { buffer, ty };
        let known = KernelTensor { shape, label: label.clone(), kind };
        self.names.insert(label, known.clone());
        Ok(known)
    }

    /// Directive of the local `item` that is computed in each iteration of the loop `at`, an axis of the local. `shape`
    /// are the axes of the local. `Err` if the local has a layout, or no axis `at`.
    fn computed_at(
        &self,
        item: &LocalItem,
        at: &Identifier,
        shape: &[Axis],
    ) -> CheckResult<ComputeAt> {
        let (name, word) = (&item.name.value, &at.value);
        let fault = |message: String| {
            Diagnostic::error(Code::KernelSchedule, message, at.at(&self.def.file), "")
        };
        if item.layout.is_some() {
            let error = fault(format!("`{name}` has a layout, and is computed in a loop"));
            return Err(error
                .help("remove the layout: an iteration has a row-major buffer")
                .into());
        }
        let Some(axis) = shape.iter().position(|axis| axis.name == *word) else {
            let names = shape.iter().map(|axis| axis.name.as_str());
            let error = fault(format!("`{name}` has no axis `{word}`"));
            return Err(error.nearest_or_all(word, "axes", names).into());
        };
        let at = Spanned { value: word.clone(), place: at.at(&self.def.file) };
        Ok(ComputeAt { local: name.clone(), axis, at })
    }

    /// Infers the value of the statement `source`, whose axes are `axes`, the reduced ones last. Returns the result of
    /// `use_value`, which gets the builder and the inferred value. `Err` without a call of `use_value` if the inference
    /// fails, or if the value needs too many nested parentheses in the generated code.
    pub(super) fn value<T>(
        &self,
        source: StatementSource<'_>,
        axes: &[Axis],
        use_value: impl FnOnce(&ValueBuilder<'_>, InferredValue) -> CheckResult<T>,
    ) -> CheckResult<T> {
        let mut facts = Facts::new(&self.symbols);
        for (k, axis) in (0_u32..).zip(axes) {
            facts.set_extent(Var::Axis(k), &axis.extent).map_err(|error| {
                let place = place_in(source.text, &source.line.left, &self.def.file);
                vec![overflow(&error, error.to_string(), place)]
            })?;
        }
        let elements = |buffer| self.elements(buffer, axes);
        let (visits, nodes) = (Cell::new(VISITED_IN_ALL), Cell::new(MAX_SIZE));
        let domain = StatementDomain { axes, symbols: &self.symbols, facts: &facts, left: &visits };
        let builder = ValueBuilder {
            text: source.text,
            file: &self.def.file,
            scope: self.scope,
            domain,
            names: &self.names,
            values: &|name| self.value_of(name),
            left: &nodes,
            elements: &elements,
            integers: None,
        };
        let built = builder.infer(&source.line.value)?;
        let brackets = bracket_depth::of(&built);
        if brackets > bracket_depth::MOST {
            let message = format!(
                "the value needs {brackets} nested parentheses in the generated code; the limit is {}",
                bracket_depth::MOST
            );
            let error = self.fault(source, Code::LimitNesting, message, &source.line.value.span);
            let help = "store a part of it in an earlier statement: `local t dtype=f32`";
            return Err(error.help(help).into());
        }
        use_value(&builder, built)
    }

    /// Item `local T dtype=…`, without a layout, for the target T of a reduction if the kernel declares none. The
    /// element type is that of the kernel's `acc` item if there is one, otherwise the type of the reduced value. `axes`
    /// are all axes of the statement, the reduced ones last.
    fn implied(&self, source: StatementSource<'_>, axes: &[Axis]) -> CheckResult<LocalItem> {
        let target = &source.line.target;
        let own = self.value(source, axes, |_, built| {
            Ok(match built {
                InferredValue::Number(_) => Scalar::I32,
                InferredValue::Index(_) => Scalar::I64,
                InferredValue::FloatLiteral(value) | InferredValue::Typed(value) => value.ty,
            })
        })?;
        let span = place_in(source.text, &target.span, &self.def.file);
        let span = span.start..span.end;
        let value = word(self.accumulator.unwrap_or(own));
        Ok(LocalItem {
            name: Identifier { value: target.name.clone(), span: span.clone() },
            dtype: SpannedText { value, span: span.clone(), quoted: false },
            layout: None,
            at: None,
            span,
        })
    }

    fn inlined(&mut self, source: StatementSource<'_>, axes: &[Axis]) -> CheckResult<()> {
        let line = source.line;
        let name = line.target.name.clone();
        let value = self.value(source, axes, |_, built| Ok(built))?;
        let shape = axes.to_vec();
        let kind = KernelTensorKind::Inlined { value, stale: None };
        self.names.insert(name.clone(), KernelTensor { shape, label: name, kind });
        Ok(())
    }

    pub(super) fn label(&self, name: &str) -> String {
        self.names.get(name).map_or_else(|| name.to_owned(), |known| known.label.clone())
    }
}
