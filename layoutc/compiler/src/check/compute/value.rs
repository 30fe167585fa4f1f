//! Type inference of the values of statements, from `ValueAst` to [`InferredValue`]: names are resolved, types are
//! assigned, and reads are proven in bounds. A number without a type takes the type of the other operand.

use std::cell::Cell;
use std::sync::Arc;

use layoutc_algebra::expr::{BinOp, Expr, ExprError, Var, apply};
use layoutc_algebra::symbol::Axis;

use super::bounds::StatementDomain;
use super::indexed::BoundsOf;
use super::statement_syntax::{InfixOperator, StatementSpan, ValueAst, ValueAstKind};
use super::tensor_table::{TensorTable, slice_text};
use super::types::{
    converted, index_operator, is_float, is_integer, limits, literal, retyped, word,
};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, collect_both};
use crate::base::dtype::Scalar;
use crate::check::expr::{overflow, place_in};
use crate::check::scope::ManifestScope;
use crate::manifest::syntax::{ItemKind, SpannedText};
use crate::model::compute::{Arithmetic, ComparePredicate, TypedExpr, TypedExprKind};

/// Inference of the type of the value of one statement, whose text is `text`, with the tensors `names`, the axes and
/// facts of `domain`, and the consts and symbols of `values`.
#[derive(Clone, Copy)]
pub(super) struct ValueBuilder<'a> {
    pub(super) text: &'a SpannedText,
    pub(super) file: &'a Arc<str>,
    pub(super) scope: &'a ManifestScope,
    pub(super) domain: StatementDomain<'a>,
    pub(super) names: &'a TensorTable,
    /// Function that returns the value of a const or symbol by its name; `None` for an unknown name.
    pub(super) values: &'a dyn Fn(&str) -> Option<Expr>,
    /// Number of expression nodes by which inlining of intermediates may still enlarge the statement.
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
    /// Integer literal, which adapts to any type.
    Number(i128),
    /// Arithmetic on axes and symbols: an `i64`, or an `i32` next to an `i32`.
    Index(Expr),
    /// Expression of float literals, which is `f32` until an operand determines its type.
    FloatLiteral(TypedExpr),
    /// Value whose type is known.
    Typed(TypedExpr),
}

/// Both operands of an operator after their types are unified: always of the same variant, and of the same type if
/// `Typed`.
pub(super) enum ValuePair {
    Numbers(i128, i128),
    Indices(Expr, Expr),
    FloatLiterals(TypedExpr, TypedExpr),
    Typed(TypedExpr, TypedExpr),
}

impl ValueBuilder<'_> {
    /// Copy of the builder for a data-dependent index of the statement, in which integer elements that are read become
    /// `i64`.
    pub(super) fn in_an_index(&self) -> Self {
        Self { integers: Some(Scalar::I64), ..*self }
    }

    /// Infers the type of the parsed value `ast`.
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

    /// `Err` with an error for operands of the wrong type, at a byte range of the statement's text.
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
    /// `Index`. `Err` if `expr` is an error, or the value may exceed 64 bits; the error is located at `span` of the
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

    fn binary(
        &self,
        operator: InfixOperator,
        sign: &StatementSpan,
        sides: [&ValueAst; 2],
    ) -> CheckResult<InferredValue> {
        match operator {
            InfixOperator::Arithmetic(op @ (Arithmetic::And | Arithmetic::Or)) => {
                let (a, b) = collect_both(self.truth(sides[0]), self.truth(sides[1]))?;
                Ok(InferredValue::Typed(TypedExpr::binary(Scalar::Bool, op, a, b)))
            }
            InfixOperator::Arithmetic(op) => {
                self.arithmetic(op, self.infer_pair(sides)?, sign, sides)
            }
            InfixOperator::Compare(op) => self.compared(op, self.infer_pair(sides)?, sign),
        }
    }

    fn compared(
        &self,
        op: ComparePredicate,
        pair: ValuePair,
        sign: &StatementSpan,
    ) -> CheckResult<InferredValue> {
        let (a, b) = match pair {
            ValuePair::Numbers(a, b) => (index(Expr::constant(a)), index(Expr::constant(b))),
            ValuePair::Indices(a, b) => (index(a), index(b)),
            ValuePair::FloatLiterals(a, b) | ValuePair::Typed(a, b) => (a, b),
        };
        if a.ty == Scalar::Bool
            && !matches!(op, ComparePredicate::Equal | ComparePredicate::NotEqual)
        {
            let help = "compare them with `==` or `!=`";
            return self.mistyped("booleans are not ordered", sign, help);
        }
        let kind = TypedExprKind::Compare(op, Box::new(a), Box::new(b));
        Ok(InferredValue::Typed(TypedExpr { ty: Scalar::Bool, kind }))
    }

    fn arithmetic(
        &self,
        op: Arithmetic,
        pair: ValuePair,
        sign: &StatementSpan,
        sides: [&ValueAst; 2],
    ) -> CheckResult<InferredValue> {
        let span = sides[0].span.start..sides[1].span.end;
        match (pair, index_operator(op)) {
            (ValuePair::Numbers(a, b), Some(op)) => {
                let value = apply(op, a, b).ok().filter(|value| i64::try_from(*value).is_ok());
                match value {
                    Some(value) => Ok(InferredValue::Number(value)),
                    None if b <= 0 && matches!(op, BinOp::FloorDiv | BinOp::Mod) => {
                        Err(self.divisor(b, &sides[1].span))
                    }
                    None => {
                        let message = "a value in the expression does not fit 64 bits";
                        Err(self.overflow(&ExprError::Overflow, message, &span).into())
                    }
                }
            }
            (ValuePair::Indices(a, b), Some(op)) => self.indices(op, (&a, &b), &span),
            (ValuePair::Numbers(..) | ValuePair::Indices(..), None) => {
                self.whole_quotient(sign, sides)
            }
            (ValuePair::FloatLiterals(a, b), _) => {
                self.typed_arithmetic(op, (a, b), sign, sides).map(InferredValue::FloatLiteral)
            }
            (ValuePair::Typed(a, b), _) => {
                self.typed_arithmetic(op, (a, b), sign, sides).map(InferredValue::Typed)
            }
        }
    }

    /// Error for a constant divisor below 1, at a byte range of the statement's text.
    fn divisor(&self, divisor: i128, span: &StatementSpan) -> Vec<Diagnostic> {
        let message = format!("expected a divisor of at least 1, found {divisor}");
        let error = self.fault(Code::ExprDivisor, message, span, "");
        error.help("write a divisor of at least 1").into()
    }

    fn whole_quotient<T>(&self, sign: &StatementSpan, sides: [&ValueAst; 2]) -> CheckResult<T> {
        let [a, b] = sides.map(|side| self.shown(side));
        let help = format!(
            "write `{a} // {b}` for floor division, or convert an operand to a float: `f32({a}) / {b}`"
        );
        self.mistyped("cannot divide integers with `/`", sign, help)
    }

    /// Infers `a op b` on axes and symbols: an index expression, or an `i64` value for a quotient or remainder whose
    /// divisor may be 0 or less. A constant divisor below 1 is an error.
    fn indices(
        &self,
        op: BinOp,
        (a, b): (&Expr, &Expr),
        span: &StatementSpan,
    ) -> CheckResult<InferredValue> {
        let divides = matches!(op, BinOp::FloorDiv | BinOp::Mod);
        let least = self.domain.facts.bounds(b).map_or(i128::MIN, |(least, _)| least);
        if divides && least < 1 {
            if b.as_const().is_some() {
                return Err(self.divisor(least, span));
            }
            let op = if op == BinOp::Mod { Arithmetic::Modulo } else { Arithmetic::FloorDivide };
            let (a, b) = (index(a.clone()), index(b.clone()));
            return Ok(InferredValue::Typed(TypedExpr::binary(Scalar::I64, op, a, b)));
        }
        self.index_of(Expr::binary(op, a, b), span)
    }

    fn typed_arithmetic(
        &self,
        op: Arithmetic,
        (a, b): (TypedExpr, TypedExpr),
        sign: &StatementSpan,
        sides: [&ValueAst; 2],
    ) -> CheckResult<TypedExpr> {
        let ty = a.ty;
        if ty == Scalar::Bool {
            let help = format!(
                "combine them with `and`, `or` and `not`, or convert each to a number: `select({}, 1, 0)`",
                self.shown(sides[0])
            );
            return self.mistyped("booleans have no arithmetic", sign, help);
        }
        if op == Arithmetic::Divide && is_integer(ty) {
            return self.whole_quotient(sign, sides);
        }
        if matches!(op, Arithmetic::FloorDivide | Arithmetic::Modulo) && is_float(ty) {
            let [a, b] = sides.map(|side| self.shown(side));
            let message = format!(
                "`{}` takes integers, and the operands are {}",
                slice_text(self.text, sign),
                word(ty)
            );
            let floor = format!("floor({a} / {b})");
            let help = if op == Arithmetic::Modulo {
                format!("write `{a} - {b} * {floor}`")
            } else {
                format!("write `{floor}`")
            };
            return self.mistyped(message, sign, help);
        }
        Ok(TypedExpr::binary(ty, op, a, b))
    }

    /// Unifies the types of the operands `a` and `b`: a number takes the type of the other operand, `f32` widens to
    /// `f64`, an index becomes `i64`, or `i32` next to an `i32`. `Err` for any other mismatch, with a cast as help.
    /// `a_ast` and `b_ast` are the operands' syntax, for messages.
    pub(super) fn pair(
        &self,
        (a, a_ast): (InferredValue, &ValueAst),
        (b, b_ast): (InferredValue, &ValueAst),
    ) -> CheckResult<ValuePair> {
        Ok(match (a, b) {
            (InferredValue::Number(a), InferredValue::Number(b)) => ValuePair::Numbers(a, b),
            (InferredValue::Index(a), InferredValue::Index(b)) => ValuePair::Indices(a, b),
            (InferredValue::Index(a), InferredValue::Number(b)) => {
                ValuePair::Indices(a, Expr::constant(b))
            }
            (InferredValue::Number(a), InferredValue::Index(b)) => {
                ValuePair::Indices(Expr::constant(a), b)
            }
            (InferredValue::Typed(a), InferredValue::Typed(b)) => match (a.ty, b.ty) {
                (Scalar::F64, Scalar::F32) => ValuePair::Typed(a, converted(b, Scalar::F64)),
                (Scalar::F32, Scalar::F64) => ValuePair::Typed(converted(a, Scalar::F64), b),
                (x, y) if x == y => ValuePair::Typed(a, b),
                (x, y) => {
                    let (shown, other) = (self.shown(a_ast), self.shown(b_ast));
                    let message = format!(
                        "mismatched types: `{shown}` is {}, and `{other}` is {}",
                        word(x),
                        word(y)
                    );
                    let (inner, into) = if is_float(x) || !is_float(y) && x != Scalar::Bool {
                        (other, x)
                    } else {
                        (shown, y)
                    };
                    let span = a_ast.span.start..b_ast.span.end;
                    return self.mistyped(message, &span, cast(inner, into));
                }
            },
            (InferredValue::Typed(a), InferredValue::FloatLiteral(_)) if is_integer(a.ty) => {
                return self.not_float(&word(a.ty), [a_ast, b_ast], a_ast);
            }
            (InferredValue::FloatLiteral(_), InferredValue::Typed(b)) if is_integer(b.ty) => {
                return self.not_float(&word(b.ty), [a_ast, b_ast], b_ast);
            }
            (InferredValue::Index(_), InferredValue::FloatLiteral(_)) => {
                return self.not_float("an index", [a_ast, b_ast], a_ast);
            }
            (InferredValue::FloatLiteral(_), InferredValue::Index(_)) => {
                return self.not_float("an index", [a_ast, b_ast], b_ast);
            }
            (InferredValue::Typed(a), b) => {
                let b = self.convert_to(b, a.ty, b_ast)?;
                ValuePair::Typed(a, b)
            }
            (a, InferredValue::Typed(b)) => {
                let a = self.convert_to(a, b.ty, a_ast)?;
                ValuePair::Typed(a, b)
            }
            (InferredValue::FloatLiteral(a), b) => {
                ValuePair::FloatLiterals(a, self.convert_to(b, Scalar::F32, b_ast)?)
            }
            (a, InferredValue::FloatLiteral(b)) => {
                ValuePair::FloatLiterals(self.convert_to(a, Scalar::F32, a_ast)?, b)
            }
        })
    }

    /// `Err` for an integer next to a float literal. `integer` is one of `sides` and is described by `what` ("an
    /// index"). The help shows the operation with a cast of the integer.
    fn not_float<T>(
        &self,
        what: &str,
        sides: [&ValueAst; 2],
        integer: &ValueAst,
    ) -> CheckResult<T> {
        let span = sides[0].span.start..sides[1].span.end;
        let between = slice_text(self.text, &(sides[0].span.end..sides[1].span.start));
        let is_integer = |side: &ValueAst| side.span == integer.span;
        let [a, b] = sides.map(|side| {
            let shown = self.shown(side);
            if !is_integer(side) {
                shown.to_owned()
            } else if is_parenthesized(shown) {
                format!("f32{shown}")
            } else {
                format!("f32({shown})")
            }
        });
        let literal = sides.into_iter().find(|side| !is_integer(side)).unwrap_or(integer);
        let message = format!(
            "mismatched types: `{}` is {what}, and `{}` is a float",
            self.shown(integer),
            self.shown(literal)
        );
        // Arguments of a call are no expression together.
        let help = match between.contains(',') {
            true if is_integer(sides[0]) => format!("write `{a}`"),
            true => format!("write `{b}`"),
            false => format!("write `{a}{between}{b}`"),
        };
        self.mistyped(message, &span, help)
    }

    /// Value `built` as a value of type `ty`: a number, index or float literal is converted. A typed value of another
    /// type is an error whose help shows a cast.
    pub(super) fn convert_to(
        &self,
        built: InferredValue,
        ty: Scalar,
        ast: &ValueAst,
    ) -> CheckResult<TypedExpr> {
        let shown = self.shown(ast);
        let refused = |what: &str| {
            let message = format!("expected {}, `{shown}` is {what}", word(ty));
            let help = match ty {
                Scalar::Bool => format!("compare it: `{shown} != 0`"),
                _ => cast(shown, ty),
            };
            self.mistyped(message, &ast.span, help)
        };
        match built {
            InferredValue::Number(number) => match (literal(number, ty), limits(ty)) {
                (Some(value), _) => Ok(value),
                (None, Some((low, high))) => {
                    let message = format!("{number} does not fit {}", word(ty));
                    let help = format!("the range of {} is {low} to {high}", word(ty));
                    self.mistyped(message, &ast.span, help)
                }
                (None, None) => refused("a number"),
            },
            InferredValue::Index(expr) => match ty {
                Scalar::I64 => Ok(index(expr)),
                Scalar::I32 => Ok(converted(index(expr), Scalar::I32)),
                Scalar::Bool => refused("an index"),
                _ => refused("an index, which is i64"),
            },
            InferredValue::FloatLiteral(value) if is_float(ty) => Ok(retyped(value, ty)),
            InferredValue::FloatLiteral(_) if ty == Scalar::Bool => refused("a number"),
            InferredValue::FloatLiteral(_) => {
                let message = format!("expected {}, `{shown}` is a float", word(ty));
                let help = format!(
                    "write an integer, or `{}({shown})`, which rounds to nearest",
                    word(ty)
                );
                self.mistyped(message, &ast.span, help)
            }
            InferredValue::Typed(value) if value.ty == ty => Ok(value),
            InferredValue::Typed(value) if value.ty == Scalar::F32 && ty == Scalar::F64 => {
                Ok(converted(value, ty))
            }
            InferredValue::Typed(value) => refused(&word(value.ty)),
        }
    }
}

/// True if the first parenthesis of a text closes at its end, as in `(i + 1)`, but not in `(i) + (1)`.
fn is_parenthesized(text: &str) -> bool {
    let mut depth = 0_usize;
    let closes = |(at, c): (usize, char)| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(at)
    };
    text.char_indices().find_map(closes).is_some_and(|at| at > 0 && at + 1 == text.len())
}

pub(super) fn index(expr: Expr) -> TypedExpr {
    TypedExpr { ty: Scalar::I64, kind: TypedExprKind::Index(expr) }
}

/// Help text that suggests a cast of the text `shown` to `ty`: "write `f32(x)`".
pub(super) fn cast(shown: &str, ty: Scalar) -> String {
    format!("write `{}({shown})`", word(ty))
}
