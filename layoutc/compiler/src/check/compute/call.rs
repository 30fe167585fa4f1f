//! Calls: functions, `select`, casts.

use super::text::{Ast, Span, Word};
use super::types::{CASTS, cast_named, computed, converted, is_float, literal, retyped, word};
use super::value::{Builder, Built, Checked, Pair, cast, index};
use crate::codes::Code;
use crate::dtype::Scalar;
use crate::model::compute::{Arithmetic, Function, Value, ValueKind};
use crate::nearest::nearest;

/// The functions of floats, with how many numbers they take.
const FUNCTIONS: &[(&str, Function, usize)] = &[
    ("abs", Function::Abs, 1),
    ("exp", Function::Exp, 1),
    ("log", Function::Log, 1),
    ("sqrt", Function::Sqrt, 1),
    ("rsqrt", Function::Rsqrt, 1),
    ("tanh", Function::Tanh, 1),
    ("erf", Function::Erf, 1),
    ("floor", Function::Floor, 1),
    ("pow", Function::Pow, 2),
];

/// Functions of other languages, each with what it is in ours.
const ELSEWHERE: &[(&str, &str)] = &[
    ("relu", "`max(x, 0)`"),
    ("sigmoid", "`1 / (1 + exp(-x))`"),
    ("silu", "`x / (1 + exp(-x))`"),
    ("gelu", "`0.5 * x * (1 + erf(x * 0.70710678))`"),
    ("where", "`select(condition, a, b)`"),
    ("clip", "`min(max(x, a), b)`"),
    ("clamp", "`min(max(x, a), b)`"),
    ("fabs", "`abs(x)`"),
    ("fmax", "`max(a, b)`"),
    ("fmin", "`min(a, b)`"),
    ("maximum", "`max(a, b)`"),
    ("minimum", "`min(a, b)`"),
    ("square", "`x * x`"),
    ("sum", "`+=` in place of `=`: what is no axis on the left is added up"),
    ("mean", "`+=` and the divided value: `B[i] += A[i, j] / 64`"),
    ("ceil", "`-floor(-x)`"),
    ("round", "`floor(x + 0.5)`"),
    ("reciprocal", "`1 / x`"),
    ("float", "`f32(x)`"),
    ("half", "`f16(x)`"),
    ("int", "`i32(x)`"),
];

impl Builder<'_> {
    pub(super) fn call(&self, name: &Word, arguments: &[Ast], span: &Span) -> Checked<Built> {
        if let Some(ty) = cast_named(&name.name) {
            self.arguments(name, arguments, 1..=1, span)?;
            return match arguments {
                [argument] => self.cast_into(ty, argument),
                _ => Err(Vec::new()),
            };
        }
        match name.name.as_str() {
            "min" | "max" => {
                self.arguments(name, arguments, 2..=usize::MAX, span)?;
                let op = if name.name == "min" { Arithmetic::Min } else { Arithmetic::Max };
                self.extremum(op, arguments)
            }
            "select" => {
                self.arguments(name, arguments, 3..=3, span)?;
                match arguments {
                    [condition, a, b] => self.select(condition, [a, b]),
                    _ => Err(Vec::new()),
                }
            }
            _ => match FUNCTIONS.iter().find(|row| row.0 == name.name) {
                Some((_, function, count)) => {
                    self.arguments(name, arguments, *count..=*count, span)?;
                    self.function(*function, name, arguments)
                }
                None => self.unknown_function(name, arguments.len()),
            },
        }
    }

    fn unknown_function<T>(&self, name: &Word, arguments: usize) -> Checked<T> {
        let message = format!("there is no function `{}`", name.name);
        let error = self.fault(Code::NameUnknown, message, &name.span, "");
        let casts: Vec<String> = CASTS.iter().map(|ty| word(*ty)).collect();
        let functions = FUNCTIONS.iter().map(|(name, _, count)| (*name, *count..=*count));
        let others = [("min", 2..=usize::MAX), ("max", 2..=usize::MAX), ("select", 3..=3)];
        let casts = casts.iter().map(|name| (name.as_str(), 1..=1));
        let known: Vec<_> = functions.chain(others).chain(casts).collect();
        if self.names.contains_key(&name.name) {
            return Err(vec![error.help(format!("an element is read as `{}[…]`", name.name))]);
        }
        if let Some((_, ours)) = ELSEWHERE.iter().find(|row| row.0 == name.name) {
            return Err(vec![error.help(format!("write {ours}"))]);
        }
        let takes_as_many = known.iter().filter(|(_, counts)| counts.contains(&arguments));
        Err(vec![match nearest(&name.name, takes_as_many.map(|(known, _)| *known)) {
            Some(near) => error.meant(near),
            None => {
                let known: Vec<&str> = known.iter().map(|(known, _)| *known).collect();
                error.help(format!("functions are {}", known.join(", ")))
            }
        }])
    }

    fn arguments(
        &self,
        name: &Word,
        arguments: &[Ast],
        count: std::ops::RangeInclusive<usize>,
        span: &Span,
    ) -> Checked<()> {
        if count.contains(&arguments.len()) {
            return Ok(());
        }
        let least = count.start();
        let more = if count.end() > least { " or more" } else { "" };
        let noun = if *count.end() == 1 { "value" } else { "values" };
        let message =
            format!("`{}` takes {least}{more} {noun}, not {}", name.name, arguments.len());
        let values = ["a", "b", "c"].into_iter().take(*least).collect::<Vec<_>>().join(", ");
        let error = self.fault(Code::ExprFunction, message, span, "");
        Err(vec![error.help(format!("write `{}({values})`", name.name))])
    }

    /// All arguments, and what is wrong with any.
    fn all(&self, arguments: &[Ast]) -> Checked<Vec<Built>> {
        let (mut built, mut errors) = (Vec::new(), Vec::new());
        for argument in arguments {
            match self.built(argument) {
                Ok(value) => built.push(value),
                Err(found) => errors.extend(found),
            }
        }
        if built.len() == arguments.len() { Ok(built) } else { Err(errors) }
    }

    fn extremum(&self, op: Arithmetic, arguments: &[Ast]) -> Checked<Built> {
        let all = self.all(arguments)?;
        let mut rest = all.into_iter().zip(arguments);
        let Some((mut least, mut ast)) = rest.next() else { return Err(Vec::new()) };
        for (next, next_ast) in rest {
            let both = |a: Value, b: Value| {
                let ty = a.ty;
                Value { ty, kind: ValueKind::Binary(op, Box::new(a), Box::new(b)) }
            };
            least = match self.pair((least, ast), (next, next_ast))? {
                Pair::Numbers(a, b) if op == Arithmetic::Min => Built::Number(a.min(b)),
                Pair::Numbers(a, b) => Built::Number(a.max(b)),
                Pair::Indices(a, b) => Built::Typed(both(index(a), index(b))),
                Pair::Loose(a, b) => Built::Loose(both(a, b)),
                Pair::Typed(a, _) if a.ty == Scalar::Bool => {
                    let help = "write `and` for the lesser, `or` for the greater".to_owned();
                    let message = "truth values have no order".to_owned();
                    return self.mistyped(message, &next_ast.span, help);
                }
                Pair::Typed(a, b) => Built::Typed(both(a, b)),
            };
            ast = next_ast;
        }
        Ok(least)
    }

    fn select(&self, condition: &Ast, [a, b]: [&Ast; 2]) -> Checked<Built> {
        let condition = self.truth(condition);
        let sides = match (self.built(a), self.built(b)) {
            (Ok(x), Ok(y)) => self.pair((x, a), (y, b)),
            (x, y) => Err([x.err(), y.err()].into_iter().flatten().flatten().collect()),
        };
        let (condition, sides) = match (condition, sides) {
            (Ok(condition), Ok(sides)) => (condition, sides),
            (condition, sides) => {
                let errors = [condition.err(), sides.err()];
                return Err(errors.into_iter().flatten().flatten().collect());
            }
        };
        let select = |a: Value, b: Value| {
            let ty = a.ty;
            let (condition, a, b) = (Box::new(condition.clone()), Box::new(a), Box::new(b));
            Value { ty, kind: ValueKind::Select(condition, a, b) }
        };
        Ok(match sides {
            Pair::Numbers(x, y) => {
                return self.selected_numbers((x, a), (y, b), select);
            }
            Pair::Indices(a, b) => Built::Typed(select(index(a), index(b))),
            Pair::Loose(a, b) => Built::Loose(select(a, b)),
            Pair::Typed(a, b) => Built::Typed(select(a, b)),
        })
    }

    /// `select(c, 1, 0)`: an `i32`, or an `i64` where one of the two is no `i32`.
    fn selected_numbers(
        &self,
        (a, a_ast): (i128, &Ast),
        (b, b_ast): (i128, &Ast),
        select: impl Fn(Value, Value) -> Value,
    ) -> Checked<Built> {
        let both = |ty| literal(a, ty).zip(literal(b, ty));
        if let Some((a, b)) = both(Scalar::I32) {
            return Ok(Built::Typed(select(a, b)));
        }
        let a = self.fit(Built::Number(a), Scalar::I64, a_ast)?;
        let b = self.fit(Built::Number(b), Scalar::I64, b_ast)?;
        Ok(Built::Typed(select(a, b)))
    }

    fn function(&self, function: Function, name: &Word, arguments: &[Ast]) -> Checked<Built> {
        let all = self.all(arguments)?;
        if function == Function::Abs {
            match all.as_slice() {
                [Built::Number(number)] => return Ok(Built::Number(number.abs())),
                [Built::Index(expr)] => {
                    let kind = ValueKind::Call(function, vec![index(expr.clone())]);
                    return Ok(Built::Typed(Value { ty: Scalar::I64, kind }));
                }
                [Built::Typed(value)] if value.ty != Scalar::Bool => {
                    let kind = ValueKind::Call(function, vec![value.clone()]);
                    return Ok(Built::Typed(Value { ty: value.ty, kind }));
                }
                _ => {}
            }
        }
        // The first of a type of its own gives the type; numbers alone are floats still to be typed.
        let own = all.iter().zip(arguments).fold(None, |own, (built, _)| match built {
            Built::Typed(value) if own != Some(Scalar::F64) => Some(value.ty),
            _ => own,
        });
        let ty = own.filter(|ty| is_float(*ty)).unwrap_or(Scalar::F32);
        let mut values = Vec::new();
        for (built, ast) in all.into_iter().zip(arguments) {
            if let Built::Typed(value) = &built
                && !is_float(value.ty)
            {
                let message = format!(
                    "`{}` is of floats, and `{}` is {}",
                    name.name,
                    self.shown(ast),
                    word(value.ty)
                );
                return self.mistyped(message, &ast.span, cast(self.shown(ast), ty));
            }
            values.push(self.fit(built, ty, ast)?);
        }
        let value = Value { ty, kind: ValueKind::Call(function, values) };
        Ok(if own.is_some() { Built::Typed(value) } else { Built::Loose(value) })
    }

    /// A cast; into a narrow type it rounds to that, and goes back to the type that it is computed in.
    fn cast_into(&self, ty: Scalar, argument: &Ast) -> Checked<Built> {
        let wide = computed(ty).unwrap_or(ty);
        let value = match self.built(argument)? {
            Built::Number(number) => match literal(number, wide) {
                Some(value) => value,
                None => self.fit(Built::Number(number), Scalar::I64, argument)?,
            },
            Built::Index(expr) => index(expr),
            Built::Loose(value) if is_float(wide) => retyped(value, wide),
            Built::Loose(value) => retyped(value, Scalar::F64),
            Built::Typed(value) => value,
        };
        Ok(Built::Typed(converted(converted(value, ty), wide)))
    }
}
