//! Type inference for calls in values: math functions, `min`, `max`, `select` and casts.

use super::statement_syntax::{NameToken, StatementSpan, ValueAst, ValueAstKind};
use super::types::{
    CASTS, arithmetic_scalar, cast_named, converted, is_float, literal, retyped, word,
};
use super::value::{InferredValue, ValueBuilder, ValuePair, cast, index};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, collect_all, collect_both};
use crate::base::dtype::Scalar;
use crate::model::compute::{Arithmetic, MathFunction, TypedExpr, TypedExprKind};

/// Functions on floats (`abs` also on integers) as (name in manifests, function, number of arguments).
const FUNCTIONS: &[(&str, MathFunction, usize)] = &[
    ("abs", MathFunction::Abs, 1),
    ("exp", MathFunction::Exp, 1),
    ("log", MathFunction::Log, 1),
    ("sqrt", MathFunction::Sqrt, 1),
    ("rsqrt", MathFunction::Rsqrt, 1),
    ("tanh", MathFunction::Tanh, 1),
    ("erf", MathFunction::Erf, 1),
    ("floor", MathFunction::Floor, 1),
    ("pow", MathFunction::Pow, 2),
];

/// Functions that users may expect from other languages and that manifests lack, as pairs (name, replacement). The
/// replacement follows "write" in the help of the error; its variables `condition`, `x`, `a` and `b`, in this order,
/// stand for the arguments of the call.
const FOREIGN_FUNCTIONS: &[(&str, &str)] = &[
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
    ("sum", "`+=` in place of `=`: axes that are not on the left are summed over"),
    ("mean", "`+=` with each value divided: `B[i] += A[i, j] / 64`"),
    ("ceil", "`-floor(-x)`"),
    ("round", "`floor(x + 0.5)`"),
    ("reciprocal", "`1 / x`"),
    ("float", "`f32(x)`"),
    ("half", "`f16(x)`"),
    ("int", "`i32(x)`"),
];

impl ValueBuilder<'_> {
    pub(super) fn call(
        &self,
        name: &NameToken,
        arguments: &[ValueAst],
        span: &StatementSpan,
    ) -> CheckResult<InferredValue> {
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
                None => self.unknown_function(name, arguments),
            },
        }
    }

    fn unknown_function<T>(&self, name: &NameToken, arguments: &[ValueAst]) -> CheckResult<T> {
        let message = format!("there is no function `{}`", name.name);
        let error = self.fault(Code::NameUnknown, message, &name.span, "");
        let casts: Vec<String> = CASTS.iter().map(|ty| word(*ty)).collect();
        let functions = FUNCTIONS.iter().map(|(name, _, count)| (*name, *count..=*count));
        let others = [("min", 2..=usize::MAX), ("max", 2..=usize::MAX), ("select", 3..=3)];
        let casts = casts.iter().map(|name| (name.as_str(), 1..=1));
        let known: Vec<_> = functions.chain(others).chain(casts).collect();
        if self.names.contains_key(&name.name) {
            return Err(error.help(format!("write `{}[…]` to read an element", name.name)).into());
        }
        if let Some((_, ours)) = FOREIGN_FUNCTIONS.iter().find(|row| row.0 == name.name) {
            return Err(error.help(format!("write {}", self.filled(ours, arguments))).into());
        }
        let takes_as_many = known.iter().filter(|(_, counts)| counts.contains(&arguments.len()));
        let error = error.nearest(&name.name, takes_as_many.map(|(known, _)| *known));
        if error.help.is_empty() {
            let known: Vec<&str> = known.iter().map(|(known, _)| *known).collect();
            return Err(error.help(format!("expected one of {}", known.join(", "))).into());
        }
        Err(error.into())
    }

    /// Text of `ours`, an equivalent from [`FOREIGN_FUNCTIONS`], with the arguments in place of its variables:
    /// `select(condition, a, b)` becomes `select(m, 0, x)` for the arguments `m`, `0` and `x`. `ours` itself if the
    /// number of arguments is not the number of its variables.
    fn filled(&self, ours: &str, arguments: &[ValueAst]) -> String {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut words: Vec<&str> = Vec::new();
        let mut rest = ours;
        while let Some(c) = rest.chars().next() {
            let end = rest.find(|other| is_part(other) != is_part(c) || !is_part(c));
            let end = end.filter(|end| *end > 0).unwrap_or(if is_part(c) {
                rest.len()
            } else {
                c.len_utf8()
            });
            let (word, after) = rest.split_at(end);
            words.push(word);
            rest = after;
        }
        let variables: Vec<&str> = ["condition", "x", "a", "b"]
            .into_iter()
            .filter(|variable| words.contains(variable))
            .collect();
        if variables.len() != arguments.len() {
            return ours.to_owned();
        }
        let value = |word: &&str| {
            let at = variables.iter().position(|variable| variable == word);
            let Some(argument) = at.and_then(|at| arguments.get(at)) else {
                return (*word).to_owned();
            };
            let shown = self.shown(argument);
            let is_atom = !matches!(
                argument.kind,
                ValueAstKind::Binary(..) | ValueAstKind::Negate(_) | ValueAstKind::Not(_)
            ) || shown.starts_with('(');
            if is_atom { shown.to_owned() } else { format!("({shown})") }
        };
        words.iter().map(value).collect()
    }

    fn arguments(
        &self,
        name: &NameToken,
        arguments: &[ValueAst],
        count: std::ops::RangeInclusive<usize>,
        span: &StatementSpan,
    ) -> CheckResult<()> {
        if count.contains(&arguments.len()) {
            return Ok(());
        }
        let least = count.start();
        let more = if count.end() > least { " or more" } else { "" };
        let noun = if *count.end() == 1 { "argument" } else { "arguments" };
        let message =
            format!("`{}` takes {least}{more} {noun}, not {}", name.name, arguments.len());
        let own = arguments.iter().map(|argument| self.shown(argument));
        let values = own.chain(std::iter::repeat("0")).take(*least).collect::<Vec<_>>().join(", ");
        let error = self.fault(Code::ExprFunction, message, span, "");
        Err(vec![error.help(format!("write `{}({values})`", name.name))])
    }

    /// Infers the types of all arguments; `Err` has the faults of all of them.
    fn all(&self, arguments: &[ValueAst]) -> CheckResult<Vec<InferredValue>> {
        collect_all(arguments.iter().map(|argument| self.infer(argument)))
    }

    fn extremum(&self, op: Arithmetic, arguments: &[ValueAst]) -> CheckResult<InferredValue> {
        let all = self.all(arguments)?;
        let mut rest = all.into_iter().zip(arguments);
        let Some((mut least, mut ast)) = rest.next() else { return Err(Vec::new()) };
        for (next, next_ast) in rest {
            let both = |a: TypedExpr, b: TypedExpr| TypedExpr::binary(a.ty, op, a, b);
            least = match self.pair((least, ast), (next, next_ast))? {
                ValuePair::Numbers(a, b) if op == Arithmetic::Min => {
                    InferredValue::Number(a.min(b))
                }
                ValuePair::Numbers(a, b) => InferredValue::Number(a.max(b)),
                ValuePair::Indices(a, b) => InferredValue::Typed(both(index(a), index(b))),
                ValuePair::FloatLiterals(a, b) => InferredValue::FloatLiteral(both(a, b)),
                ValuePair::Typed(a, _) if a.ty == Scalar::Bool => {
                    let help = "write `and` for the minimum, `or` for the maximum";
                    return self.mistyped("booleans are not ordered", &next_ast.span, help);
                }
                ValuePair::Typed(a, b) => InferredValue::Typed(both(a, b)),
            };
            ast = next_ast;
        }
        Ok(least)
    }

    fn select(&self, condition: &ValueAst, [a, b]: [&ValueAst; 2]) -> CheckResult<InferredValue> {
        let (condition, sides) = collect_both(self.truth(condition), self.infer_pair([a, b]))?;
        let select = |a: TypedExpr, b: TypedExpr| {
            let ty = a.ty;
            let (condition, a, b) = (Box::new(condition.clone()), Box::new(a), Box::new(b));
            TypedExpr { ty, kind: TypedExprKind::Select(condition, a, b) }
        };
        Ok(match sides {
            ValuePair::Numbers(x, y) => {
                return self.selected_numbers((x, a), (y, b), select);
            }
            ValuePair::Indices(a, b) => InferredValue::Typed(select(index(a), index(b))),
            ValuePair::FloatLiterals(a, b) => InferredValue::FloatLiteral(select(a, b)),
            ValuePair::Typed(a, b) => InferredValue::Typed(select(a, b)),
        })
    }

    /// Value of a `select` between two integer literals, each given as a pair (number, syntax): `i32` if both numbers
    /// fit `i32`, otherwise `i64`. `select` builds the value from the two typed literals.
    fn selected_numbers(
        &self,
        (a, a_ast): (i128, &ValueAst),
        (b, b_ast): (i128, &ValueAst),
        select: impl Fn(TypedExpr, TypedExpr) -> TypedExpr,
    ) -> CheckResult<InferredValue> {
        let both = |ty| literal(a, ty).zip(literal(b, ty));
        if let Some((a, b)) = both(Scalar::I32) {
            return Ok(InferredValue::Typed(select(a, b)));
        }
        let a = self.convert_to(InferredValue::Number(a), Scalar::I64, a_ast)?;
        let b = self.convert_to(InferredValue::Number(b), Scalar::I64, b_ast)?;
        Ok(InferredValue::Typed(select(a, b)))
    }

    fn function(
        &self,
        function: MathFunction,
        name: &NameToken,
        arguments: &[ValueAst],
    ) -> CheckResult<InferredValue> {
        let all = self.all(arguments)?;
        let absolute = |value: TypedExpr| {
            let ty = value.ty;
            InferredValue::Typed(TypedExpr { ty, kind: TypedExprKind::Call(function, vec![value]) })
        };
        if function == MathFunction::Abs {
            match all.as_slice() {
                [InferredValue::Number(number)] => return Ok(InferredValue::Number(number.abs())),
                [InferredValue::Index(expr)] => return Ok(absolute(index(expr.clone()))),
                [InferredValue::Typed(value)] if value.ty != Scalar::Bool => {
                    return Ok(absolute(value.clone()));
                }
                _ => {}
            }
        }
        // The first typed argument determines the type, `f64` overriding `f32`; with literals alone the result adapts.
        let own = all.iter().fold(None, |own, built| match built {
            InferredValue::Typed(value) if own != Some(Scalar::F64) => Some(value.ty),
            _ => own,
        });
        let ty = own.filter(|ty| is_float(*ty)).unwrap_or(Scalar::F32);
        let mut values = Vec::new();
        for (built, ast) in all.into_iter().zip(arguments) {
            if let InferredValue::Typed(value) = &built
                && !is_float(value.ty)
            {
                let (shown, is) = (self.shown(ast), word(value.ty));
                let message = format!("`{}` takes floats, and `{shown}` is {is}", name.name);
                return self.mistyped(message, &ast.span, cast(shown, ty));
            }
            values.push(self.convert_to(built, ty, ast)?);
        }
        let value = TypedExpr { ty, kind: TypedExprKind::Call(function, values) };
        let kind = if own.is_some() { InferredValue::Typed } else { InferredValue::FloatLiteral };
        Ok(kind(value))
    }

    /// Infers a cast to the type `ty`. A cast to a narrow type such as `f16` changes only the value: the result has the
    /// type in which kernels compute on `f16`, which is `f32`.
    fn cast_into(&self, ty: Scalar, argument: &ValueAst) -> CheckResult<InferredValue> {
        let wide = arithmetic_scalar(ty).unwrap_or(ty);
        let value = match self.infer(argument)? {
            InferredValue::Number(number) => match literal(number, wide) {
                Some(value) => value,
                None => self.convert_to(InferredValue::Number(number), Scalar::I64, argument)?,
            },
            InferredValue::Index(expr) => index(expr),
            InferredValue::FloatLiteral(value) if is_float(wide) => retyped(value, wide),
            InferredValue::FloatLiteral(value) => retyped(value, Scalar::F64),
            InferredValue::Typed(value) => value,
        };
        Ok(InferredValue::Typed(converted(converted(value, ty), wide)))
    }
}
