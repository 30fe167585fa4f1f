//! Unification of the types of two operands, and conversion of a value to the type that an operation or a target
//! requires.

use layoutc_algebra::expr::Expr;

use super::statement_syntax::ValueAst;
use super::tensor_table::slice_text;
use super::types::{converted, is_float, is_integer, limits, literal, retyped, word};
use super::value::{InferredValue, ValueBuilder, ValuePair, cast, index};
use crate::base::diagnostic::CheckResult;
use crate::base::dtype::Scalar;
use crate::model::compute::TypedExpr;

impl ValueBuilder<'_> {
    /// Unifies the types of the operands `a` and `b`. A literal takes the type of the other operand if that is a
    /// number, but a float literal no integer type; `f32` widens to `f64`; an index becomes `i64`, or `i32` if the
    /// other operand is `i32`. `Err` for any other two types, most often with a cast as help, and for an integer
    /// literal that does not fit. `a_ast` and `b_ast` are the syntax of the operands, for messages.
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

    /// Error for an operation on an integer and a float literal. `sides` are its two operands in textual order;
    /// `integer` is the one of them that is the integer, which `what` describes in the message: "an index". The help
    /// shows a cast of the integer. Always `Err`.
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
        // The arguments of a call do not form one expression, so the help shows only the cast integer.
        let help = match between.contains(',') {
            true if is_integer(sides[0]) => format!("write `{a}`"),
            true => format!("write `{b}`"),
            false => format!("write `{a}{between}{b}`"),
        };
        self.mistyped(message, &span, help)
    }

    /// Value `built` as a value of type `ty`; `ast` is its syntax, for messages. Converted are an integer literal that
    /// fits `ty`, an index to `i64` or `i32`, a float literal to a float type, and an `f32` value to `f64`. Any other
    /// value of another type is an error, most often with a cast as help.
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

/// True if a text starts with a parenthesis that closes at its end, as in `(i + 1)`, but not in `(i) + (1)`.
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
