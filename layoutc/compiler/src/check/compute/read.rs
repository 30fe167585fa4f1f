//! Type inference for reads of tensors: indices are resolved, and each index of axes and symbols is proven in bounds
//! unless the read gives a value for out-of-bounds elements, `A[i - 1] ?? 0`.

use layoutc_algebra::expr::parse::{MapItemText, MapText};
use layoutc_algebra::expr::{Expr, ExprError, Var};
use layoutc_algebra::map::{MapScope, resolve};
use layoutc_algebra::symbol::Axis;

use super::inline::{InlineError, ValueInliner};
use super::statement_syntax::{IndexKind, IndexText, ReadAst, ValueAst};
use super::tensor_table::{KernelTensor, KernelTensorKind, slice_text};
use super::types::{converted, is_integer};
use super::value::{InferredValue, ValueBuilder};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, collect_all, collect_both};
use crate::check::expr::map_fault;
use crate::check::index_point::{ClaimResult, IndexPoint};
use crate::manifest::syntax::SpannedText;
use crate::model::compute::{BoundaryCondition, ElementRead, TypedExpr, TypedExprKind};
use crate::model::layout_names;

/// Axes of a tensor along which the index of a read is not proven in bounds, by position: in `below` the index may be
/// negative, in `beyond` it may be the extent or more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BoundarySides {
    pub(super) below: Vec<usize>,
    pub(super) beyond: Vec<usize>,
}

/// Index of a read that is out of bounds, or is not proven in bounds. `axis` is the position of the indexed axis of the
/// tensor.
struct OutOfBounds {
    axis: usize,
    /// Iteration and symbol values at which the index is out of bounds; `None` if the index is only not proven in
    /// bounds.
    at: Option<IndexPoint>,
}

impl ValueBuilder<'_> {
    /// Infers the value and type of the read `read`. `other` is the value after `??`, which stands for out-of-bounds
    /// elements; if it is `None`, every index of axes and symbols must be proven in bounds. Data-dependent indices that
    /// are not proven are checked at run time. `Err` is empty if the tensor is unknown or invalid, which has been
    /// reported.
    pub(super) fn read(
        &self,
        read: &ReadAst,
        other: Option<&ValueAst>,
    ) -> CheckResult<InferredValue> {
        let Some(known) = self.names.get(&read.tensor.name) else { return Err(Vec::new()) };
        if matches!(known.kind, KernelTensorKind::Broken) {
            return Err(Vec::new());
        }
        if known.shape.len() != read.index.len() {
            return Err(vec![self.wrong_rank(read, known)]);
        }
        let other = other.map(|ast| Ok((ast, self.infer(ast)?))).transpose();
        if read.is_gather() {
            return Ok(self.as_read(self.gather(read, known, other?)?));
        }
        // The value outside is inferred before the bounds are checked, to report its faults too.
        let index = collect_all(read.index.iter().map(|text| self.index(text)));
        let (index, other) = collect_both(index, other)?;
        let (sides, leaves) = self.sides(&index, &known.shape);
        if let Some(leaves) = leaves.as_ref().filter(|_| other.is_none()) {
            return Err(self.outside(read, known, &index, leaves).into());
        }
        let name = &read.tensor.name;
        match &known.kind {
            KernelTensorKind::Broken => Err(Vec::new()),
            KernelTensorKind::Stored { buffer, ty } => {
                let value =
                    other.map(|(ast, built)| self.convert_to(built, *ty, ast)).transpose()?;
                let BoundarySides { below, beyond } = sides;
                let outside = value.filter(|_| !below.is_empty() || !beyond.is_empty());
                let outside = outside.map(|value| BoundaryCondition { value, below, beyond });
                let found = ElementRead { buffer: *buffer, index, outside };
                let found = TypedExpr { ty: *ty, kind: TypedExprKind::Read(Box::new(found)) };
                Ok(self.as_read(InferredValue::Typed(found)))
            }
            KernelTensorKind::Inlined { value, stale } => {
                if let Some((ast, built)) = other {
                    self.pair((value.clone(), ast), (built, ast))?;
                    if leaves.is_some() {
                        let message = format!(
                            "`{name}` is not stored, so its elements outside have no value"
                        );
                        return Err(self.unstored(message, read).into());
                    }
                }
                if let Some(written) = stale {
                    let message = format!("`{name}` reads `{written}`, which was written after it");
                    return Err(self.unstored(message, read).into());
                }
                Ok(self.as_read(self.inlined(read, value, &index)?))
            }
        }
    }

    /// Value `built` of an element that is read. If `self.integers` is a type, as in a data-dependent index, a typed
    /// integer is converted to it. Any other value is unchanged.
    fn as_read(&self, built: InferredValue) -> InferredValue {
        match (built, self.integers) {
            (InferredValue::Typed(value), Some(ty)) if is_integer(value.ty) => {
                InferredValue::Typed(converted(value, ty))
            }
            (built, _) => built,
        }
    }

    fn inlined(
        &self,
        read: &ReadAst,
        value: &InferredValue,
        index: &[Expr],
    ) -> CheckResult<InferredValue> {
        let shapes = |buffer| {
            let stored = self.names.values().find(|known| {
                matches!(&known.kind, KernelTensorKind::Stored { buffer: own, .. } if *own == buffer)
            });
            stored.map(|known| known.shape.as_slice())
        };
        let inliner = ValueInliner::new(self.domain, index, &shapes, self.left);
        inliner.inline(value).map_err(|refused| match refused {
            InlineError::Size => {
                let message =
                    format!("the value is too large when `{}` is inlined", read.tensor.name);
                vec![self.unstored(message, read)]
            }
            InlineError::Expr(error) => vec![self.overflow(&error, error.to_string(), &read.span)],
        })
    }

    /// Error `message` at the read of an intermediate that needs storage; the help shows its `local` declaration.
    pub(super) fn unstored(&self, message: String, read: &ReadAst) -> Diagnostic {
        let error = self.fault(Code::KernelIntermediate, message, &read.span, "");
        error.help(format!("add `local {} dtype=f32`", read.tensor.name))
    }

    fn wrong_rank(&self, read: &ReadAst, known: &KernelTensor) -> Diagnostic {
        let count = |n: usize, one: &str, more: &str| {
            if n == 1 { format!("1 {one}") } else { format!("{n} {more}") }
        };
        let message = format!(
            "`{}` has {}, and {} here",
            known.label,
            count(known.shape.len(), "axis", "axes"),
            count(read.index.len(), "index is used", "indices are used"),
        );
        self.fault(Code::KernelAxes, message, &read.span, "")
            .note(known.signature_text(self.domain.symbols))
            .help("write one index per axis, in the order of the axes")
    }

    /// Resolves an index without reads to a simplified expression over the axes of the statement and symbols.
    pub(super) fn index(&self, text: &IndexText) -> CheckResult<Expr> {
        let start = self.text.span.start + text.start;
        let value = slice_text(self.text, &(text.start..text.start + text.length)).to_owned();
        let part = SpannedText { value, span: start..start + text.length, quoted: true };
        let IndexKind::Axes(ast) = &text.kind else { return Err(Vec::new()) };
        let item = MapItemText::Expr { name: None, expr: ast.clone(), extent: None };
        let map = MapText { params: None, items: vec![item], separators: Vec::new() };
        let mut facts = layoutc_algebra::normal_form::simplify::Facts::new(self.domain.symbols);
        let mut failed = None;
        for (k, axis) in (0_u32..).zip(self.domain.axes) {
            failed = failed.or(facts.set_extent(Var::Storage(k), &axis.extent).err());
        }
        let scope = MapScope { axes: self.domain.axes, values: self.values, facts: &facts };
        let axes = self.domain.axes.iter().map(|axis| axis.name.as_str());
        let known: Vec<&str> = axes.chain(self.scope.known()).collect();
        let resolved = resolve(&map, scope).map_err(|errors| {
            let fault = |error| map_fault(error, &part, self.scope, &known, self.file);
            errors.iter().filter_map(fault).collect::<Vec<Diagnostic>>()
        })?;
        let overflow =
            |error: ExprError| vec![self.overflow(&error, error.to_string(), &text.span())];
        if let Some(error) = failed {
            return Err(overflow(error));
        }
        let Some(item) = resolved.items.first() else { return Err(Vec::new()) };
        let over_axes = item.index.substitute(&|var| match var {
            Var::Storage(k) => Some(Expr::var(Var::Axis(k))),
            _ => None,
        });
        over_axes.and_then(|expr| self.domain.facts.simplify(&expr)).map_err(overflow)
    }

    /// Pair `(sides, first)`: `sides` are the axes of `shape` along which `index` is not proven in bounds; `index` has
    /// one expression for each axis. `first` is the index for an error: the first one that a witness proves to be out
    /// of bounds, otherwise the first that is not proven. `None` if all are proven in bounds.
    fn sides(&self, index: &[Expr], shape: &[Axis]) -> (BoundarySides, Option<OutOfBounds>) {
        let (mut sides, mut first) = (BoundarySides::default(), None);
        for (axis, (index, own)) in index.iter().zip(shape).enumerate() {
            let [below, beyond] = self.domain.index_bounds(index, &own.extent);
            for (sign, list) in [(below, &mut sides.below), (beyond, &mut sides.beyond)] {
                let at = match sign {
                    ClaimResult::Holds => continue,
                    ClaimResult::Fails(at) => Some(at),
                    ClaimResult::Unknown => None,
                };
                list.push(axis);
                // A witness says more than a failed proof.
                let is_better = match &first {
                    None => true,
                    Some(OutOfBounds { at: known, .. }) => known.is_none() && at.is_some(),
                };
                if is_better {
                    first = Some(OutOfBounds { axis, at });
                }
            }
        }
        (sides, first)
    }

    fn outside(
        &self,
        read: &ReadAst,
        known: &KernelTensor,
        index: &[Expr],
        leaves: &OutOfBounds,
    ) -> Diagnostic {
        let shown = slice_text(self.text, &read.span);
        let span = read.index.get(leaves.axis).map_or(read.span.clone(), IndexText::span);
        let guard = format!("give a value for elements outside: `({shown} ?? 0)`");
        let own = known.shape.get(leaves.axis);
        let name = own.map_or("", |axis| axis.name.as_str());
        let Some(at) = &leaves.at else {
            let message = format!("cannot prove that `{shown}` stays inside `{}`", known.label);
            return self
                .fault(Code::KernelOutside, message, &span, "")
                .note(known.signature_text(self.domain.symbols))
                .help(guard)
                .help("or declare facts of the symbols: `min`, `max`, `multiple`");
        };
        let value = |expr: &Expr| expr.evaluate(&|var| at.value(var));
        let there = index.get(leaves.axis).and_then(|expr| value(expr).ok()).unwrap_or_default();
        let extent = own.and_then(|axis| value(&axis.extent).ok()).unwrap_or_default();
        let mut places: Vec<String> = Vec::new();
        let vars = index.get(leaves.axis).map(Expr::vars).unwrap_or_default();
        let extent_vars = own.map(|axis| axis.extent.vars()).unwrap_or_default();
        for var in vars.into_iter().chain(extent_vars) {
            let name = layout_names::variable(var, self.domain.axes, &[], self.domain.symbols);
            let place = at.value(var).map(|value| format!("{name} = {value}"));
            places.extend(place.filter(|place| !places.contains(place)));
        }
        let whole = |expr: &Expr| value(expr).map_or("?".to_owned(), |value| value.to_string());
        let element = index.iter().map(whole).collect::<Vec<_>>().join(", ");
        let at_place =
            if places.is_empty() { String::new() } else { format!("at {} ", places.join(", ")) };
        let message = format!("`{shown}` is out of bounds of `{}`", known.label);
        let counted = format!("extent {extent}");
        let mut error = self
            .fault(Code::KernelOutside, message, &span, format!("is {there}"))
            .note(format!(
                "{at_place}it reads `{}[{element}]`, and axis `{name}` of `{}` has {counted}",
                read.tensor.name, known.label
            ))
            .help(guard);
        let indices: Result<Vec<i128>, ExprError> = index.iter().map(value).collect();
        error.witness = indices.map(|index| vec![index]).unwrap_or_default();
        error
    }
}
