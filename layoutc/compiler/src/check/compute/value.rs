//! Values: names looked up, types given, every read proven inside.
//!
//! A number without a type adapts to what stands beside it; see [`Built`].

use std::cell::Cell;
use std::sync::Arc;

use layoutc_algebra::expr::{BinOp, Expr, ExprError, Var, apply};
use layoutc_algebra::layout::Axis;

use super::indexed::ElementsOf;
use super::inside::Domain;
use super::known::{Names, written};
use super::text::{Ast, AstKind, Operator, Span};
use super::types::{converted, is_float, is_integer, limits, literal, retyped, word};
use crate::check::expr::{overflow, place_in};
use crate::check::scope::{Scope, nearest_or_all};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::dtype::Scalar;
use crate::manifest::syntax::{Kind, Text};
use crate::model::compute::{Arithmetic, Comparison, Value, ValueKind};

/// What builds the value of one statement.
#[derive(Clone, Copy)]
pub(super) struct Builder<'a> {
    pub(super) text: &'a Text,
    pub(super) file: &'a Arc<str>,
    pub(super) scope: &'a Scope,
    pub(super) domain: Domain<'a>,
    pub(super) names: &'a Names,
    /// The value of a const or a symbol.
    pub(super) values: &'a dyn Fn(&str) -> Option<Expr>,
    /// How many nodes of intermediates may still be written in place.
    pub(super) left: &'a Cell<usize>,
    /// The known bounds of the elements of a tensor.
    pub(super) elements: &'a ElementsOf<'a>,
    /// The type that integers which are read are given; `None` where they keep their own.
    pub(super) integers: Option<Scalar>,
}

/// A value on the way: numbers have no type of their own yet.
#[derive(Debug, Clone)]
pub(super) enum Built {
    /// An integer that adapts to any type beside it.
    Number(i128),
    /// Arithmetic on axes and symbols: an `i64`, or an `i32` beside one.
    Index(Expr),
    /// Float literals, and what is made of them: `f32` until something beside it says otherwise.
    Loose(Value),
    /// A value of its own type.
    Typed(Value),
}

/// Two values of one kind.
pub(super) enum Pair {
    Numbers(i128, i128),
    Indices(Expr, Expr),
    Loose(Value, Value),
    Typed(Value, Value),
}

/// All that is wrong; nothing where an earlier diagnostic says enough.
pub(super) type Checked<T> = Result<T, Vec<Diagnostic>>;

impl Builder<'_> {
    /// A builder for an index that is read.
    pub(super) fn in_an_index(&self) -> Self {
        Self { integers: Some(Scalar::I64), ..*self }
    }

    /// The value that a text means.
    pub(super) fn built(&self, ast: &Ast) -> Checked<Built> {
        match &ast.kind {
            AstKind::Integer(value) => Ok(Built::Number(*value)),
            AstKind::Float(value) => {
                let kind = ValueKind::Float(*value);
                Ok(Built::Loose(Value { ty: Scalar::F32, kind }))
            }
            AstKind::Bool(value) => {
                let kind = ValueKind::Bool(*value);
                Ok(Built::Typed(Value { ty: Scalar::Bool, kind }))
            }
            AstKind::Name(name) => self.name(name, &ast.span),
            AstKind::Read(read) => self.read(read, None),
            AstKind::Guarded(read, other) => self.read(read, Some(other)),
            AstKind::Negate(a) => self.negated(a),
            AstKind::Not(a) => {
                let value = self.truth(a)?;
                let kind = ValueKind::Not(Box::new(value));
                Ok(Built::Typed(Value { ty: Scalar::Bool, kind }))
            }
            AstKind::Binary(operator, sign, a, b) => self.binary(*operator, sign, [a, b]),
            AstKind::Call(name, arguments) => self.call(name, arguments, &ast.span),
        }
    }

    pub(super) fn fault(
        &self,
        code: Code,
        message: impl Into<String>,
        span: &Span,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::error(code, message, place_in(self.text, span, self.file), label)
    }

    /// Arithmetic that is too large; `message` says which.
    pub(super) fn overflow(
        &self,
        error: &ExprError,
        message: impl Into<String>,
        span: &Span,
    ) -> Diagnostic {
        overflow(error, message, place_in(self.text, span, self.file))
    }

    /// A fault of types; `help` says what to write.
    pub(super) fn mistyped<T>(&self, message: String, span: &Span, help: String) -> Checked<T> {
        Err(vec![self.fault(Code::DtypeKernel, message, span, "").help(help)])
    }

    pub(super) fn shown(&self, ast: &Ast) -> &str {
        written(self.text, &ast.span)
    }

    fn name(&self, name: &str, span: &Span) -> Checked<Built> {
        let axis = self.domain.axes.iter().position(|axis: &Axis| axis.name == name);
        if let Some(k) = axis.and_then(|k| u32::try_from(k).ok()) {
            return Ok(Built::Index(Expr::var(Var::Axis(k))));
        }
        if let Some(value) = (self.values)(name) {
            return Ok(match value.as_const() {
                Some(number) => Built::Number(number),
                None => Built::Index(value),
            });
        }
        if [Kind::Const, Kind::Symbol].iter().any(|kind| self.scope.is_broken(*kind, name)) {
            return Err(Vec::new());
        }
        let message = format!("`{name}` is no axis, const or symbol here");
        let mut error = self.fault(Code::NameUnknown, message, span, "");
        if self.names.contains_key(name) {
            error.helped(format!("an element of it is written `{name}[…]`"));
        } else {
            let axes = self.domain.axes.iter().map(|axis| axis.name.as_str());
            let known: Vec<&str> = axes.chain(self.scope.known()).collect();
            nearest_or_all(&mut error, name, "names", &known);
        }
        Err(vec![error])
    }

    fn negated(&self, a: &Ast) -> Checked<Built> {
        let negate = |value: Value| match value.kind {
            ValueKind::Float(number) => Value { ty: value.ty, kind: ValueKind::Float(-number) },
            _ => Value { ty: value.ty, kind: ValueKind::Negate(Box::new(value)) },
        };
        match self.built(a)? {
            Built::Number(number) => Ok(Built::Number(-number)),
            Built::Index(expr) => self.index_of(Expr::negate(&expr), &a.span),
            Built::Loose(value) => Ok(Built::Loose(negate(value))),
            Built::Typed(value) if value.ty == Scalar::Bool => self.mistyped(
                "a truth value has no sign".to_owned(),
                &a.span,
                "write `not`".to_owned(),
            ),
            Built::Typed(value) => Ok(Built::Typed(negate(value))),
        }
    }

    /// An index as a value, if it fits 64 bits.
    pub(super) fn index_of(&self, expr: Result<Expr, ExprError>, span: &Span) -> Checked<Built> {
        let simple = expr.and_then(|expr| self.domain.facts.simplify(&expr));
        let bounded = simple.and_then(|expr| {
            let (low, high) = self.domain.facts.bounds(&expr)?;
            Ok((expr, low >= i64::MIN.into() && high <= i64::MAX.into()))
        });
        match bounded {
            Ok((expr, true)) => Ok(match expr.as_const() {
                Some(number) => Built::Number(number),
                None => Built::Index(expr),
            }),
            Ok((_, false)) => {
                let message = "an index in the value does not fit 64 bits";
                Err(vec![self.overflow(&ExprError::Overflow, message, span)])
            }
            Err(error) => Err(vec![self.overflow(&error, error.to_string(), span)]),
        }
    }

    /// Both values, and what is wrong with either.
    fn both(&self, [a, b]: [&Ast; 2]) -> Checked<(Built, Built)> {
        match (self.built(a), self.built(b)) {
            (Ok(a), Ok(b)) => Ok((a, b)),
            (a, b) => Err([a.err(), b.err()].into_iter().flatten().flatten().collect()),
        }
    }

    pub(super) fn truth(&self, ast: &Ast) -> Checked<Value> {
        let told = match self.built(ast)? {
            Built::Typed(value) if value.ty == Scalar::Bool => return Ok(value),
            Built::Typed(value) => format!("is {}", word(value.ty)),
            Built::Number(_) | Built::Index(_) | Built::Loose(_) => "is a number".to_owned(),
        };
        let message = format!("`{}` {told}, and a truth value is to stand here", self.shown(ast));
        let help = format!("compare it: `{} != 0`", self.shown(ast));
        self.mistyped(message, &ast.span, help)
    }

    fn binary(&self, operator: Operator, sign: &Span, sides: [&Ast; 2]) -> Checked<Built> {
        match operator {
            Operator::Arithmetic(op @ (Arithmetic::And | Arithmetic::Or)) => {
                let (a, b) = match (self.truth(sides[0]), self.truth(sides[1])) {
                    (Ok(a), Ok(b)) => (a, b),
                    (a, b) => {
                        return Err([a.err(), b.err()].into_iter().flatten().flatten().collect());
                    }
                };
                let kind = ValueKind::Binary(op, Box::new(a), Box::new(b));
                Ok(Built::Typed(Value { ty: Scalar::Bool, kind }))
            }
            Operator::Arithmetic(op) => {
                let (a, b) = self.both(sides)?;
                let pair = self.pair((a, sides[0]), (b, sides[1]))?;
                self.arithmetic(op, pair, sign, sides)
            }
            Operator::Compare(op) => {
                let (a, b) = self.both(sides)?;
                let pair = self.pair((a, sides[0]), (b, sides[1]))?;
                self.compared(op, pair, sign)
            }
        }
    }

    fn compared(&self, op: Comparison, pair: Pair, sign: &Span) -> Checked<Built> {
        let (a, b) = match pair {
            Pair::Numbers(a, b) => (index(Expr::constant(a)), index(Expr::constant(b))),
            Pair::Indices(a, b) => (index(a), index(b)),
            Pair::Loose(a, b) | Pair::Typed(a, b) => (a, b),
        };
        if a.ty == Scalar::Bool && !matches!(op, Comparison::Equal | Comparison::NotEqual) {
            let message = "truth values have no order".to_owned();
            return self.mistyped(message, sign, "compare them by `==` or `!=`".to_owned());
        }
        let kind = ValueKind::Compare(op, Box::new(a), Box::new(b));
        Ok(Built::Typed(Value { ty: Scalar::Bool, kind }))
    }

    fn arithmetic(
        &self,
        op: Arithmetic,
        pair: Pair,
        sign: &Span,
        sides: [&Ast; 2],
    ) -> Checked<Built> {
        let whole = match op {
            Arithmetic::Add => Some(BinOp::Add),
            Arithmetic::Subtract => Some(BinOp::Sub),
            Arithmetic::Multiply => Some(BinOp::Mul),
            Arithmetic::FloorDivide => Some(BinOp::FloorDiv),
            Arithmetic::Modulo => Some(BinOp::Mod),
            _ => None,
        };
        let span = sides[0].span.start..sides[1].span.end;
        match (pair, whole) {
            (Pair::Numbers(a, b), Some(op)) => {
                let value = apply(op, a, b).ok().filter(|value| i64::try_from(*value).is_ok());
                match value {
                    Some(value) => Ok(Built::Number(value)),
                    None if b <= 0 && matches!(op, BinOp::FloorDiv | BinOp::Mod) => {
                        let message = format!("the divisor is {b}");
                        Err(vec![
                            self.fault(Code::ExprDivisor, message, &sides[1].span, "")
                                .help("divisors of numbers are at least 1"),
                        ])
                    }
                    None => {
                        let message = "a value in the expression does not fit 64 bits";
                        Err(vec![self.overflow(&ExprError::Overflow, message, &span)])
                    }
                }
            }
            (Pair::Indices(a, b), Some(op)) => self.indices(op, (&a, &b), &span),
            (Pair::Numbers(..) | Pair::Indices(..), None) => self.whole_quotient(sign, sides),
            (Pair::Loose(a, b), _) => {
                self.typed_arithmetic(op, (a, b), sign, sides).map(Built::Loose)
            }
            (Pair::Typed(a, b), _) => {
                self.typed_arithmetic(op, (a, b), sign, sides).map(Built::Typed)
            }
        }
    }

    fn whole_quotient<T>(&self, sign: &Span, sides: [&Ast; 2]) -> Checked<T> {
        let [a, b] = sides.map(|side| self.shown(side));
        let message = "integers have no `/`".to_owned();
        self.mistyped(
            message,
            sign,
            format!("write `{a} // {b}` for the quotient rounded down, or make one a float: `f32({a}) / {b}`"),
        )
    }

    /// Arithmetic on axes and symbols; a quotient whose divisor may be 0 or less is one of values.
    fn indices(&self, op: BinOp, (a, b): (&Expr, &Expr), span: &Span) -> Checked<Built> {
        let divides = matches!(op, BinOp::FloorDiv | BinOp::Mod);
        let least = self.domain.facts.bounds(b).map_or(i128::MIN, |(least, _)| least);
        if divides && least < 1 {
            if b.as_const().is_some() {
                let message = format!("the divisor is {least}");
                return Err(vec![
                    self.fault(Code::ExprDivisor, message, span, "")
                        .help("divisors of indices are at least 1"),
                ]);
            }
            let op = if op == BinOp::Mod { Arithmetic::Modulo } else { Arithmetic::FloorDivide };
            let (a, b) = (Box::new(index(a.clone())), Box::new(index(b.clone())));
            let kind = ValueKind::Binary(op, a, b);
            return Ok(Built::Typed(Value { ty: Scalar::I64, kind }));
        }
        self.index_of(Expr::binary(op, a, b), span)
    }

    fn typed_arithmetic(
        &self,
        op: Arithmetic,
        (a, b): (Value, Value),
        sign: &Span,
        sides: [&Ast; 2],
    ) -> Checked<Value> {
        let ty = a.ty;
        if ty == Scalar::Bool {
            let message = "truth values have no arithmetic".to_owned();
            let help = "write `select(…, 1, 0)`, or `and`, `or` and `not`".to_owned();
            return self.mistyped(message, sign, help);
        }
        if op == Arithmetic::Divide && is_integer(ty) {
            return self.whole_quotient(sign, sides);
        }
        if matches!(op, Arithmetic::FloorDivide | Arithmetic::Modulo) && is_float(ty) {
            let [a, b] = sides.map(|side| self.shown(side));
            let message = format!(
                "`{}` is of integers, and these are {}",
                written(self.text, sign),
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
        Ok(Value { ty, kind: ValueKind::Binary(op, Box::new(a), Box::new(b)) })
    }

    /// Both in one type: numbers adapt, `f32` goes to `f64`, an index to `i32`. The words of a mismatch show the cast.
    pub(super) fn pair(
        &self,
        (a, a_ast): (Built, &Ast),
        (b, b_ast): (Built, &Ast),
    ) -> Checked<Pair> {
        Ok(match (a, b) {
            (Built::Number(a), Built::Number(b)) => Pair::Numbers(a, b),
            (Built::Index(a), Built::Index(b)) => Pair::Indices(a, b),
            (Built::Index(a), Built::Number(b)) => Pair::Indices(a, Expr::constant(b)),
            (Built::Number(a), Built::Index(b)) => Pair::Indices(Expr::constant(a), b),
            (Built::Loose(a), Built::Loose(b)) => Pair::Loose(a, b),
            (Built::Loose(a), b @ (Built::Number(_) | Built::Index(_))) => {
                let b = self.fit(b, Scalar::F32, b_ast)?;
                Pair::Loose(a, b)
            }
            (a @ (Built::Number(_) | Built::Index(_)), Built::Loose(b)) => {
                let a = self.fit(a, Scalar::F32, a_ast)?;
                Pair::Loose(a, b)
            }
            (Built::Typed(a), Built::Typed(b)) => match (a.ty, b.ty) {
                (Scalar::F64, Scalar::F32) => Pair::Typed(a, converted(b, Scalar::F64)),
                (Scalar::F32, Scalar::F64) => Pair::Typed(converted(a, Scalar::F64), b),
                (x, y) if x == y => Pair::Typed(a, b),
                (x, y) => {
                    let (shown, other) = (self.shown(a_ast), self.shown(b_ast));
                    let message = format!("`{shown}` is {}, and `{other}` is {}", word(x), word(y));
                    let (inner, into) = if is_float(x) || !is_float(y) && x != Scalar::Bool {
                        (other, x)
                    } else {
                        (shown, y)
                    };
                    let span = a_ast.span.start..b_ast.span.end;
                    return self.mistyped(message, &span, cast(inner, into));
                }
            },
            (Built::Typed(a), b) => {
                let b = self.fit(b, a.ty, b_ast)?;
                Pair::Typed(a, b)
            }
            (a, Built::Typed(b)) => {
                let a = self.fit(a, b.ty, a_ast)?;
                Pair::Typed(a, b)
            }
        })
    }

    /// The value in this type: numbers adapt; what has another type is refused with the cast that it needs.
    pub(super) fn fit(&self, built: Built, ty: Scalar, ast: &Ast) -> Checked<Value> {
        let shown = self.shown(ast);
        let refused = |what: &str, help: String| {
            let message = format!("`{shown}` is {what}, and {} is to stand here", word(ty));
            self.mistyped(message, &ast.span, help)
        };
        match built {
            Built::Number(number) => match (literal(number, ty), limits(ty)) {
                (Some(value), _) => Ok(value),
                (None, Some((low, high))) => {
                    let message = format!("{number} is no {}", word(ty));
                    let help = format!("{} holds {low} to {high}", word(ty));
                    self.mistyped(message, &ast.span, help)
                }
                (None, None) => refused("a number", format!("compare it: `{shown} != 0`")),
            },
            Built::Index(expr) => match ty {
                Scalar::I64 => Ok(index(expr)),
                Scalar::I32 => Ok(converted(index(expr), Scalar::I32)),
                Scalar::Bool => refused("an index", format!("compare it: `{shown} != 0`")),
                _ => refused("an index, which is i64", cast(shown, ty)),
            },
            Built::Loose(value) if is_float(ty) => Ok(retyped(value, ty)),
            Built::Loose(_) if ty == Scalar::Bool => {
                refused("a number", format!("compare it: `{shown} != 0`"))
            }
            Built::Loose(_) => refused("a float", cast(shown, ty)),
            Built::Typed(value) if value.ty == ty => Ok(value),
            Built::Typed(value) if value.ty == Scalar::F32 && ty == Scalar::F64 => {
                Ok(converted(value, ty))
            }
            Built::Typed(value) if ty == Scalar::Bool => {
                refused(&word(value.ty), format!("compare it: `{shown} != 0`"))
            }
            Built::Typed(value) => refused(&word(value.ty), cast(shown, ty)),
        }
    }
}

/// An index as a value.
pub(super) fn index(expr: Expr) -> Value {
    Value { ty: Scalar::I64, kind: ValueKind::Index(expr) }
}

/// `write f32(x)`, for help.
pub(super) fn cast(shown: &str, ty: Scalar) -> String {
    format!("write `{}({shown})`", word(ty))
}
