//! Inference of data-dependent indices: `table[ids[t], d]`, `cache[slot[t], h]`. Each is a 64-bit integer. It is proven
//! in bounds from the declared range of the elements that it reads, or from their type; otherwise the generated kernel
//! checks it.

use layoutc_algebra::expr::Expr;
use layoutc_algebra::symbol::Axis;

use super::statement_syntax::{IndexKind, IndexText, ReadAst, StatementSpan, ValueAst};
use super::tensor_table::{KernelTensor, KernelTensorKind, slice_text};
use super::types::{converted, is_integer, literal, word};
use super::value::{InferredValue, ValueBuilder, index};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, collect_all};
use crate::base::dtype::Scalar;
use crate::check::index_point::ClaimResult;
use crate::model::compute::{BufferRef, DataIndex, Gather, TypedExpr, TypedExprKind};

/// Maximum nesting depth of gathers: `a[b[c[t]]]` has depth 2. A deeper one is an error.
const MOST_NESTED: usize = 8;

/// Treatment of an index of a gather or scatter that consists of axes and symbols, and that is not proven in bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BoundsPolicy {
    /// The index is accepted, and the generated kernel checks it.
    Checked,
    /// The index is refused with an error.
    Refused,
}

impl ValueBuilder<'_> {
    /// Infers the gather `read`, a read with data-dependent indices, of the tensor `known`. `other` is the pair
    /// (syntax, inferred value) of the value after `??`, which stands for elements out of bounds. If it is `None`, such
    /// elements are 0 (false for `bool`), and an index of axes and symbols alone must be proven in bounds.
    pub(super) fn gather(
        &self,
        read: &ReadAst,
        known: &KernelTensor,
        other: Option<(&ValueAst, InferredValue)>,
    ) -> CheckResult<InferredValue> {
        let KernelTensorKind::Stored { buffer, ty } = &known.kind else {
            let message = format!(
                "`{}` is read through an index tensor, and is not stored",
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
            let shown = slice_text(self.text, &read.span);
            let message = format!("index reads in `{shown}` are nested deeper than {MOST_NESTED}");
            let error = self.fault(Code::LimitNesting, message, &read.span, "");
            let help = "store an index in an earlier statement: `local s dtype=i64`";
            return Err(error.help(help).into());
        }
        Ok(InferredValue::Typed(TypedExpr {
            ty: *ty,
            kind: TypedExprKind::Gather(Box::new(gather)),
        }))
    }

    /// Indices of a gather or scatter of the tensor `known`, inferred from `texts`, one for each axis of the tensor:
    /// `ids[t]` and `d` for `table[ids[t], d]`. `span` is the byte range of the access in the statement. The generated
    /// kernel checks each data-dependent index that is not proven in bounds; `leaving` is the treatment of other
    /// indices that are not proven. `Err` if, for example, an index is refused, is no integer, or is data-dependent and
    /// out of bounds in every iteration.
    pub(super) fn access(
        &self,
        texts: &[IndexText],
        (known, span): (&KernelTensor, &StatementSpan),
        leaving: BoundsPolicy,
    ) -> CheckResult<Vec<DataIndex>> {
        let pairs = texts.iter().zip(&known.shape);
        collect_all(pairs.map(|(text, axis)| self.one_index(text, (known, axis, span), leaving)))
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
                    self.data_index(value, text, access)
                }
                InferredValue::Typed(value) => self.no_integer(&word(value.ty), ast),
            },
        }
    }

    fn no_integer<T>(&self, what: &str, ast: &ValueAst) -> CheckResult<T> {
        let shown = self.shown(ast);
        let message = format!("expected an integer index, `{shown}` is {what}");
        let help = if what == "bool" {
            format!("write `select({shown}, 1, 0)`")
        } else {
            format!(
                "store the indices as i32 or i64, or write `i64({shown})`, which rounds to nearest"
            )
        };
        self.mistyped(message, &ast.span, help)
    }

    /// Infers `expr`, an index of a gather or scatter that consists of axes and symbols; `text` is its text. The tuple
    /// is (the tensor that is accessed, the axis that is indexed, byte range of the access in the statement). `leaving`
    /// is the treatment of an index that is not proven in bounds.
    fn on_axes(
        &self,
        expr: &Expr,
        text: &IndexText,
        (known, axis, span): (&KernelTensor, &Axis, &StatementSpan),
        leaving: BoundsPolicy,
    ) -> CheckResult<DataIndex> {
        let leaves = self.domain.index_bounds(expr, &axis.extent);
        let value = index(expr.clone());
        let is_checked = leaves.iter().any(|sign| *sign != ClaimResult::Holds);
        if !is_checked || leaving == BoundsPolicy::Checked {
            return Ok(DataIndex { value, is_checked });
        }
        let at = leaves.iter().find_map(|sign| match sign {
            ClaimResult::Fails(at) => Some(at),
            ClaimResult::Holds | ClaimResult::Unknown => None,
        });
        let there = at.and_then(|at| expr.evaluate(&|var| at.value(var)).ok());
        let label = there.map_or_else(String::new, |there| format!("is {there}"));
        let shown = slice_text(self.text, span);
        let message =
            format!("`{shown}` is out of bounds of `{}` along axis `{}`", known.label, axis.name);
        let error = self.fault(Code::KernelOutside, message, &text.span(), label);
        let help = format!("for a read, give a value for elements outside: `({shown} ?? 0)`");
        Err(error.note(known.signature_text(self.domain.symbols)).help(help).into())
    }

    /// Infers the data-dependent index `value`, whose text is `text`; the generated kernel checks it unless it is
    /// proven in bounds. The tuple is as in [`Self::on_axes`]. `Err` for an index that is out of bounds in every
    /// iteration.
    fn data_index(
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
            let message = format!("`{shown}` is always out of bounds of `{}`", known.label);
            let label = format!("is between {low} and {high}");
            let error = self.fault(Code::KernelOutside, message, &text.span(), label);
            let help = format!("axis `{}` has the indices 0 to {}", axis.name, most - 1);
            return Err(error.note(known.signature_text(self.domain.symbols)).help(help).into());
        }
        let least = extents.map_or(0, |(least, _)| least);
        let is_inside = low >= 0 && high < least || self.is_proven(&value, &axis.extent);
        Ok(DataIndex { value, is_checked: !is_inside })
    }
}

/// Value of out-of-bounds elements of a gather without `??`: 0 of type `ty`, false for `bool`.
fn nothing(ty: Scalar) -> TypedExpr {
    literal(0, ty).unwrap_or(TypedExpr { ty, kind: TypedExprKind::Bool(false) })
}

/// Nesting depth of `gather`: 1 if its indices contain no gather, otherwise 1 more than the deepest gather in them.
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

/// Known bounds of the elements of an integer tensor.
#[derive(Debug, Clone)]
pub(super) struct ElementBounds {
    /// Exclusive upper bound of the elements that the kernel declares; the lower bound is then 0. `None` if none is
    /// declared.
    pub(super) below: Option<Expr>,
    /// Least and greatest value of the tensor's element type, both inclusive.
    pub(super) limits: [i128; 2],
}

/// Function that returns the known bounds of the elements of an integer tensor.
pub(super) type BoundsOf<'a> = dyn Fn(BufferRef) -> ElementBounds + 'a;
