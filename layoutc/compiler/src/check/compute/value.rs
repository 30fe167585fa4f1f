//! Type inference of the values of statements, from `ValueAst` to [`InferredValue`]: names are resolved, types are
//! assigned, and the indices of reads are checked. A number without a type takes the type of the other operand.

use std::cell::Cell;
use std::sync::Arc;

use layoutc_algebra::expr::{Expr, ExprError, Var};
use layoutc_algebra::symbol::Axis;

use super::bounds::StatementDomain;
use super::indexed::BoundsOf;
use super::statement_syntax::{StatementSpan, ValueAst, ValueAstKind};
use super::tensor_table::{TensorTable, slice_text};
use super::types::word;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, collect_both};
use crate::base::dtype::Scalar;
use crate::check::expr::{overflow, place_in};
use crate::check::scope::ManifestScope;
use crate::manifest::syntax::{ItemKind, SpannedText};
use crate::model::compute::{TypedExpr, TypedExprKind};

/// Type inference for the value of one statement. `text` is the text of the statement, `names` are the tensors,
/// `domain` has the axes and facts, and `values` the consts and symbols.
#[derive(Clone, Copy)]
pub(super) struct ValueBuilder<'a> {
    pub(super) text: &'a SpannedText,
    pub(super) file: &'a Arc<str>,
    pub(super) scope: &'a ManifestScope,
    pub(super) domain: StatementDomain<'a>,
    pub(super) names: &'a TensorTable,
    /// Function that returns the value of a const or symbol by its name; `None` for an unknown name.
    pub(super) values: &'a dyn Fn(&str) -> Option<Expr>,
    /// Number of expression nodes that inlining of intermediates may still add to the statement.
    pub(super) left: &'a Cell<usize>,
    /// Function that returns the known bounds of the elements of an integer tensor.
    pub(super) elements: &'a BoundsOf<'a>,
    /// Type to which integer elements that are read are converted: `i64` in a data-dependent index. `None` keeps the
    /// type in which kernels compute on the elements.
    pub(super) integers: Option<Scalar>,
}

/// Value after type inference. A number literal has no type until an operand or the target determines it.
#[derive(Debug, Clone)]
pub(super) enum InferredValue {
    /// Constant integer, such as a literal, which takes the type of the other operand or of the target.
    Number(i128),
    /// Integer expression over axes and symbols. Its type is `i64`, or `i32` where an `i32` is required, for example by
    /// the other operand.
    Index(Expr),
    /// Expression of float literals, which is `f32` until another operand or the target determines its type.
    FloatLiteral(TypedExpr),
    /// Value whose type is known.
    Typed(TypedExpr),
}

/// Operands of an operator after their types are unified. Both are of one kind; both values in `Typed` have the same
/// type.
pub(super) enum ValuePair {
    Numbers(i128, i128),
    Indices(Expr, Expr),
    FloatLiterals(TypedExpr, TypedExpr),
    Typed(TypedExpr, TypedExpr),
}

impl ValueBuilder<'_> {
    /// Copy of the builder for the inference of a data-dependent index: integer elements that are read become `i64`.
    pub(super) fn in_an_index(&self) -> Self {
        Self { integers: Some(Scalar::I64), ..*self }
    }

    /// Infers the parsed value `ast`: resolves its names, assigns types, and checks the indices of its reads. `Err` has
    /// the faults; it is empty if they have been reported.
    pub(super) fn infer(&self, ast: &ValueAst) -> CheckResult<InferredValue> {
        match &ast.kind {
            ValueAstKind::Integer(value) => Ok(InferredValue::Number(*value)),
            ValueAstKind::Float(value) => {
                let kind = TypedExprKind::Float(*value);
                Ok(InferredValue::FloatLiteral(TypedExpr { ty: Scalar::F32, kind }))
            }
            ValueAstKind::Bool(value) => {
                let kind = TypedExprKind::Bool(*value);
                Ok(InferredValue::Typed(TypedExpr { ty: Scalar::Bool, kind }))
            }
            ValueAstKind::Name(name) => self.name(name, &ast.span),
            ValueAstKind::Read(read) => self.read(read, None),
            ValueAstKind::Guarded(read, other) => self.read(read, Some(other)),
            ValueAstKind::Negate(a) => self.negated(a),
            ValueAstKind::Not(a) => {
                let value = self.truth(a)?;
                let kind = TypedExprKind::Not(Box::new(value));
                Ok(InferredValue::Typed(TypedExpr { ty: Scalar::Bool, kind }))
            }
            ValueAstKind::Binary(operator, sign, a, b) => self.binary(*operator, sign, [a, b]),
            ValueAstKind::Call(name, arguments) => self.call(name, arguments, &ast.span),
        }
    }

    pub(super) fn fault(
        &self,
        code: Code,
        message: impl Into<String>,
        span: &StatementSpan,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::error(code, message, place_in(self.text, span, self.file), label)
    }

    /// Diagnostic with the message `message` for the failure `error` of index arithmetic, at the byte range `span` of
    /// the statement's text.
    pub(super) fn overflow(
        &self,
        error: &ExprError,
        message: impl Into<String>,
        span: &StatementSpan,
    ) -> Diagnostic {
        overflow(error, message, place_in(self.text, span, self.file))
    }

    /// Error `message` for operands of the wrong type, located at the byte range `span` of the statement's text. Always
    /// `Err`.
    pub(super) fn mistyped<T>(
        &self,
        message: impl Into<String>,
        span: &StatementSpan,
        help: impl Into<String>,
    ) -> CheckResult<T> {
        Err(self.fault(Code::DtypeKernel, message, span, "").help(help).into())
    }

    pub(super) fn shown(&self, ast: &ValueAst) -> &str {
        slice_text(self.text, &ast.span)
    }

    fn name(&self, name: &str, span: &StatementSpan) -> CheckResult<InferredValue> {
        let axis = self.domain.axes.iter().position(|axis: &Axis| axis.name == name);
        if let Some(k) = axis.and_then(|k| u32::try_from(k).ok()) {
            return Ok(InferredValue::Index(Expr::var(Var::Axis(k))));
        }
        if let Some(value) = (self.values)(name) {
            return Ok(match value.as_const() {
                Some(number) => InferredValue::Number(number),
                None => InferredValue::Index(value),
            });
        }
        if [ItemKind::Const, ItemKind::Symbol].iter().any(|kind| self.scope.is_broken(*kind, name))
        {
            return Err(Vec::new());
        }
        let message = format!("unknown axis, const or symbol `{name}`");
        let error = self.fault(Code::NameUnknown, message, span, "");
        if self.names.contains_key(name) {
            return Err(error.help(format!("write `{name}[…]` to read an element")).into());
        }
        let axes = self.domain.axes.iter().map(|axis| axis.name.as_str());
        Err(error.nearest_or_all(name, "names", axes.chain(self.scope.known())).into())
    }

    fn negated(&self, a: &ValueAst) -> CheckResult<InferredValue> {
        let negate = |value: TypedExpr| match value.kind {
            TypedExprKind::Float(number) => {
                TypedExpr { ty: value.ty, kind: TypedExprKind::Float(-number) }
            }
            _ => TypedExpr { ty: value.ty, kind: TypedExprKind::Negate(Box::new(value)) },
        };
        match self.infer(a)? {
            InferredValue::Number(number) => Ok(InferredValue::Number(-number)),
            InferredValue::Index(expr) => self.index_of(Expr::negate(&expr), &a.span),
            InferredValue::FloatLiteral(value) => Ok(InferredValue::FloatLiteral(negate(value))),
            InferredValue::Typed(value) if value.ty == Scalar::Bool => {
                self.mistyped("cannot negate a boolean", &a.span, "write `not`")
            }
            InferredValue::Typed(value) => Ok(InferredValue::Typed(negate(value))),
        }
    }

    /// Inferred value of the index expression `expr` after simplification: `Number` if it is constant, otherwise
    /// `Index`. `Err` if `expr` is an error, or is not known to fit 64 bits; the error is located at `span` of the
    /// statement's text.
    pub(super) fn index_of(
        &self,
        expr: Result<Expr, ExprError>,
        span: &StatementSpan,
    ) -> CheckResult<InferredValue> {
        let simple = expr.and_then(|expr| self.domain.facts.simplify(&expr));
        let bounded = simple.and_then(|expr| {
            let (low, high) = self.domain.facts.bounds(&expr)?;
            Ok((expr, low >= i64::MIN.into() && high <= i64::MAX.into()))
        });
        match bounded {
            Ok((expr, true)) => Ok(match expr.as_const() {
                Some(number) => InferredValue::Number(number),
                None => InferredValue::Index(expr),
            }),
            Ok((_, false)) => {
                let message = "an index in the value does not fit 64 bits";
                Err(vec![self.overflow(&ExprError::Overflow, message, span)])
            }
            Err(error) => Err(vec![self.overflow(&error, error.to_string(), span)]),
        }
    }

    /// Infers two values and unifies their types, see [`Self::pair`].
    pub(super) fn infer_pair(&self, [a, b]: [&ValueAst; 2]) -> CheckResult<ValuePair> {
        let (x, y) = collect_both(self.infer(a), self.infer(b))?;
        self.pair((x, a), (y, b))
    }

    pub(super) fn truth(&self, ast: &ValueAst) -> CheckResult<TypedExpr> {
        let found = match self.infer(ast)? {
            InferredValue::Typed(value) if value.ty == Scalar::Bool => return Ok(value),
            InferredValue::Typed(value) => format!("is {}", word(value.ty)),
            InferredValue::Number(_) | InferredValue::Index(_) | InferredValue::FloatLiteral(_) => {
                "is a number".to_owned()
            }
        };
        let shown = self.shown(ast);
        let message = format!("expected a boolean, `{shown}` {found}");
        self.mistyped(message, &ast.span, format!("compare it: `{shown} != 0`"))
    }
}

pub(super) fn index(expr: Expr) -> TypedExpr {
    TypedExpr { ty: Scalar::I64, kind: TypedExprKind::Index(expr) }
}

/// Help text that suggests a cast of the text `shown` to `ty`: "write `f32(x)`".
pub(super) fn cast(shown: &str, ty: Scalar) -> String {
    format!("write `{}({shown})`", word(ty))
}
