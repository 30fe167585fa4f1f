//! Type inference for binary operators in values: arithmetic, comparisons and connectives.

use layoutc_algebra::expr::{BinOp, Expr, ExprError, apply};

use super::statement_syntax::{InfixOperator, StatementSpan, ValueAst};
use super::tensor_table::slice_text;
use super::types::{index_operator, is_float, is_integer, word};
use super::value::{InferredValue, ValueBuilder, ValuePair, index};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, collect_both};
use crate::base::dtype::Scalar;
use crate::model::compute::{Arithmetic, ComparePredicate, TypedExpr, TypedExprKind};

impl ValueBuilder<'_> {
    pub(super) fn binary(
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

    /// Error for the constant divisor `divisor`, which is below 1, at the byte range `span` of the statement's text.
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

    /// Infers `a op b` for expressions `a` and `b` over axes and symbols. The result is an index expression, or a
    /// number if it is constant; for a quotient or remainder whose divisor may be 0 or less, it is a value of type
    /// `i64`. A constant divisor below 1 is an error.
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
}
