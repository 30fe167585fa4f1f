//! Indices that are read: `table[ids[t], d]`, `cache[slot[t], h]`. Each is an integer of 64 bits, proven inside its axis from what
//! the kernel says of the elements that it reads, or from their type; else it is looked at when the kernel runs.

use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::Axis;

use super::bounds::BoundsResult;
use super::statement_syntax::{IndexKind, IndexText, ReadAst, StatementSpan, ValueAst};
use super::tensor_table::{KernelTensor, KernelTensorKind, slice_text};
use super::types::{converted, is_integer, literal, word};
use super::value::{CheckResult, InferredValue, ValueBuilder, index};
use crate::codes::Code;
use crate::dtype::Scalar;
use crate::model::compute::{BufferRef, DataIndex, Gather, TypedExpr, TypedExprKind};

/// How deep elements may be indexed by elements: `a[b[c[t]]]` is two.
const MOST_NESTED: usize = 8;

/// Treatment of an index without elements that may leave its axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BoundsPolicy {
    /// It is looked at.
    Checked,
    /// It is refused.
    Refused,
}

impl ValueBuilder<'_> {
    /// A read at indices that are read, with what stands for the element outside: 0 where nothing is said.
    pub(super) fn gather(
        &self,
        read: &ReadAst,
        known: &KernelTensor,
        other: Option<(&ValueAst, InferredValue)>,
    ) -> CheckResult<InferredValue> {
        let KernelTensorKind::Stored { buffer, ty } = &known.kind else {
            let message = format!(
                "`{}` is not stored, and is read through an index tensor",
                read.tensor.name
            );
            return Err(vec![self.unstored(message, read)]);
        };
        let leaving = if other.is_some() { BoundsPolicy::Checked } else { BoundsPolicy::Refused };
        let index = self.access(&read.index, (known, &read.span), leaving)?;
        let outside = match other {
            Some((ast, built)) => self.convert_to(built, *ty, ast)?,
            None => nothing(*ty),
        };
        let gather = Gather { buffer: *buffer, index, outside };
        if nested(&gather) > MOST_NESTED {
            let message = format!(
                "elements index elements more than {MOST_NESTED} deep in `{}`",
                slice_text(self.text, &read.span)
            );
            let error = self.fault(Code::LimitNesting, message, &read.span, "");
            return Err(vec![
                error.help("write an index into memory in a statement before: `local s dtype=i64`"),
            ]);
        }
        Ok(InferredValue::Typed(TypedExpr {
            ty: *ty,
            kind: TypedExprKind::Gather(Box::new(gather)),
        }))
    }

    /// The indices of an access to `known`, which stands at `span`.
    pub(super) fn access(
        &self,
        texts: &[IndexText],
        (known, span): (&KernelTensor, &StatementSpan),
        leaving: BoundsPolicy,
    ) -> CheckResult<Vec<DataIndex>> {
        let (mut found, mut errors) = (Vec::new(), Vec::new());
        for (text, axis) in texts.iter().zip(&known.shape) {
            match self.one_index(text, (known, axis, span), leaving) {
                Ok(index) => found.push(index),
                Err(more) => errors.extend(more),
            }
        }
        if errors.is_empty() { Ok(found) } else { Err(errors) }
    }

    fn one_index(
        &self,
        text: &IndexText,
        access: (&KernelTensor, &Axis, &StatementSpan),
        leaving: BoundsPolicy,
    ) -> CheckResult<DataIndex> {
        match &text.kind {
            IndexKind::Axes(_) => {
                let expr = self.index(text)?;
                self.on_axes(&expr, text, access, leaving)
            }
            IndexKind::Data(ast) => match self.in_an_index().infer(ast)? {
                InferredValue::Number(number) => {
                    self.on_axes(&Expr::constant(number), text, access, leaving)
                }
                InferredValue::Index(expr) => self.on_axes(&expr, text, access, leaving),
                InferredValue::FloatLiteral(_) => self.no_integer("a float", ast),
                InferredValue::Typed(value) if is_integer(value.ty) => {
                    let value = converted(value, Scalar::I64);
                    self.looked_at(value, text, access)
                }
                InferredValue::Typed(value) => self.no_integer(&word(value.ty), ast),
            },
        }
    }

    fn no_integer<T>(&self, what: &str, ast: &ValueAst) -> CheckResult<T> {
        let shown = self.shown(ast);
        let message = format!("`{shown}` is {what}, and an index is an integer");
        let help = if what == "bool" {
            format!("write `select({shown}, 1, 0)`")
        } else {
            format!(
                "hold the indices as i32 or i64; or write `i64({shown})`, which rounds to nearest"
            )
        };
        self.mistyped(message, &ast.span, help)
    }

    /// An index over axes and symbols, beside one that is read.
    fn on_axes(
        &self,
        expr: &Expr,
        text: &IndexText,
        (known, axis, span): (&KernelTensor, &Axis, &StatementSpan),
        leaving: BoundsPolicy,
    ) -> CheckResult<DataIndex> {
        let leaves = self.domain.index_bounds(expr, &axis.extent);
        let value = index(expr.clone());
        let is_checked = leaves.iter().any(|sign| *sign != BoundsResult::Holds);
        if !is_checked || leaving == BoundsPolicy::Checked {
            return Ok(DataIndex { value, is_checked });
        }
        let at = leaves.iter().find_map(|sign| match sign {
            BoundsResult::Fails(at) => Some(at),
            BoundsResult::Holds | BoundsResult::Unknown => None,
        });
        let there = at.and_then(|at| expr.evaluate(&|var| at.value(var)).ok());
        let label = there.map_or_else(String::new, |there| format!("is {there}"));
        let shown = slice_text(self.text, span);
        let message = format!("`{shown}` leaves `{}` along `{}`", known.label, axis.name);
        let error = self.fault(Code::KernelOutside, message, &text.span(), label);
        Err(vec![
            error
                .note(known.signature_text(self.domain.symbols))
                .help(format!("where it is read, write what stands outside: `({shown} ?? 0)`")),
        ])
    }

    /// An index that is read: whether it must be looked at. One that is never inside is refused.
    fn looked_at(
        &self,
        value: TypedExpr,
        text: &IndexText,
        (known, axis, span): (&KernelTensor, &Axis, &StatementSpan),
    ) -> CheckResult<DataIndex> {
        let [low, high] = self.interval(&value);
        let extents = self.domain.facts.bounds(&axis.extent).ok();
        let most = extents.map_or(i128::MAX, |(_, most)| most);
        if most > 0 && (high < 0 || low >= most) {
            let shown = slice_text(self.text, span);
            let message = format!("`{shown}` is never inside `{}`", known.label);
            let label = format!("is {low} to {high}");
            let error = self.fault(Code::KernelOutside, message, &text.span(), label);
            return Err(vec![error.note(known.signature_text(self.domain.symbols)).help(format!(
                "axis `{}` has the indices 0 to {}",
                axis.name,
                most - 1
            ))]);
        }
        let least = extents.map_or(0, |(least, _)| least);
        let is_inside = low >= 0 && high < least || self.is_proven(&value, &axis.extent);
        Ok(DataIndex { value, is_checked: !is_inside })
    }
}

/// The value that replaces an element outside of the tensor.
fn nothing(ty: Scalar) -> TypedExpr {
    literal(0, ty).unwrap_or(TypedExpr { ty, kind: TypedExprKind::Bool(false) })
}

/// How deep elements index elements in a read.
fn nested(gather: &Gather) -> usize {
    let mut most = 0;
    for index in &gather.index {
        index.value.walk(&mut |part| {
            if let TypedExprKind::Gather(inner) = &part.kind {
                most = most.max(nested(inner));
            }
        });
    }
    most.saturating_add(1)
}

/// Known bounds of the elements of a tensor.
#[derive(Debug, Clone)]
pub(super) struct ElementBounds {
    /// They are below this and at least 0: the kernel says so.
    pub(super) below: Option<Expr>,
    /// The least and the greatest that their type holds.
    pub(super) limits: [i128; 2],
}

/// Gives what is known of the elements of a tensor.
pub(super) type BoundsOf<'a> = dyn Fn(BufferRef) -> ElementBounds + 'a;
