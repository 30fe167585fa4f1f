//! Printer of arithmetic on elements.

use super::binding::{Binding, binding, power_of_two};
use super::piece::{Infix, Piece};
use super::{Style, expr, rust};
use crate::base::dtype::{Dtype, Scalar};
use crate::emit::dialect::Dialect;
use crate::emit::syntax::{Expr, ReduceOp, Spelling, Value, ValueOp};
use crate::emit::{arithmetic, element};
use crate::passes::{helper, update_helper};

/// Text of an element value: in the dialect of `style`, or in Python.
pub fn number(style: Style, value: &Value) -> String {
    match style {
        Style::C(dialect) => in_c(dialect, value, &str::to_owned),
        Style::Rust(dialect) => rust::number(dialect, value),
        Style::Python => super::python::number(value).alone(),
    }
}

/// Text of a value in C. `buffer` maps the name of a buffer to the expression that its elements are read from.
pub(super) fn in_c(
    dialect: &'static Dialect,
    value: &Value,
    buffer: &dyn Fn(&str) -> String,
) -> String {
    c(Printed { dialect, buffer }, value).alone()
}

/// Statement that updates an accumulator: `sum += value;`. The tuple is (accumulator, reduce op, value), `element` the
/// type of both, and `buffer` maps the name of a buffer to the expression that its elements are read from.
pub(super) fn gathered(
    dialect: &'static Dialect,
    (into, how, value): (&Value, ReduceOp, &Value),
    element: &str,
    buffer: &dyn Fn(&str) -> String,
) -> String {
    let of = Printed { dialect, buffer };
    let there = c(of, into).alone();
    let binary = |op| c_binary(of, op, element, into, value).alone();
    let wraps = unsigned_type(dialect, element).is_some();
    match how {
        ReduceOp::Set => format!("{there} = {};", c(of, value).alone()),
        ReduceOp::Sum if wraps => format!("{there} = {};", binary(ValueOp::Add)),
        ReduceOp::Product if wraps => format!("{there} = {};", binary(ValueOp::Multiply)),
        ReduceOp::Sum => format!("{there} += {};", c(of, value).alone()),
        ReduceOp::Product => format!("{there} *= {};", c(of, value).alone()),
        // The accumulator is kept unless the value compares less (greater); a NaN never does.
        ReduceOp::Min | ReduceOp::Max => {
            let sign = if how == ReduceOp::Min { "<" } else { ">" };
            let helper = Dtype::of_plan(element)
                .and_then(|dtype| update_helper(how, dtype, value).map(|helper| (helper, dtype)));
            let found = match helper {
                Some((helper, dtype)) => {
                    let function = arithmetic::function(dialect, helper, dtype);
                    Piece::call(&function, [c(of, value), c(of, into)])
                }
                None => {
                    let is_it = Piece::infix(c(of, value), Infix::relation(sign), c(of, into));
                    Piece::choice(is_it, c(of, value), c(of, into))
                }
            };
            format!("{there} = {};", found.alone())
        }
    }
}

/// Options of the C printer: the dialect, and `buffer` as in [`in_c`].
#[derive(Clone, Copy)]
struct Printed<'a> {
    dialect: &'static Dialect,
    buffer: &'a dyn Fn(&str) -> String,
}

fn c(of: Printed<'_>, value: &Value) -> Piece {
    let dialect = of.dialect;
    let style = Style::C(dialect);
    if let Some((helper, dtype, args)) = helper(value) {
        let function = arithmetic::function(dialect, helper, dtype);
        return Piece::call(&function, args.into_iter().map(|arg| c(of, arg)));
    }
    match value {
        Value::Constant { element, bits } => {
            Piece::literal(element::literal(dialect, element, bits, Spelling::Number))
        }
        Value::Name { name } => Piece::primary(name),
        Value::Item { array, index } => Piece::primary(format!("{array}[{}]", expr(style, index))),
        Value::Index { element, value } => index(dialect, element, value),
        Value::Holds { condition } => Piece::primary(format!("({})", expr(style, condition))),
        Value::Load { buffer, index, through: None } => {
            Piece::primary(format!("{}[{}]", (of.buffer)(buffer), expr(style, index)))
        }
        Value::Load { buffer, index, through: Some(load) } => {
            Piece::primary(format!("{load}({buffer}, {})", expr(style, index)))
        }
        Value::Fetch { function, args } => Piece::primary(call(style, function, args)),
        Value::Negate { element, a } => match unsigned_type(dialect, element) {
            Some(_) => wrapped(of, element, unsigned(of, element, value)),
            None => Piece::prefix("-", c(of, a)),
        },
        Value::Not { a } => Piece::prefix("!", c(of, a)),
        Value::Binary { op, element, a, b } => c_binary(of, *op, element, a, b),
        Value::Select { condition, then, otherwise } => {
            Piece::choice(c(of, condition), c(of, then), c(of, otherwise))
        }
        Value::Call { function, element, args } => c_call(of, function, element, args),
        Value::Convert { to, value, .. } if to == "bool" => {
            Piece::infix(c(of, value), Infix::equality("!="), Piece::primary("0"))
        }
        Value::Convert { to, value, .. } => {
            Piece::cast(&element::type_name(dialect, to, false), c(of, value))
        }
        Value::Cast { cast, value } => {
            let within = if arithmetic::is_within(cast, value) { "_within" } else { "" };
            Piece::call(&format!("{}cast_{cast}{within}", dialect.structure), [c(of, value)])
        }
    }
}

/// Index expression as a value of type `element`. A 32-bit index may overflow, so that its arithmetic is done in 64
/// bits if [`has_operators_alone`] is true.
fn index(dialect: &'static Dialect, element: &str, value: &Expr) -> Piece {
    let style = Style::C(dialect);
    let ty = element::type_name(dialect, element, false);
    if binding(style, value) == Binding::Primary {
        let text = Piece::primary(expr(style, value));
        return if ty == dialect.index { text } else { Piece::cast(&ty, text) };
    }
    let wide = (dialect.scalars)(Scalar::I64);
    if dialect.index_max > i64::from(i32::MAX) || !has_operators_alone(dialect, value) {
        return Piece::cast(&ty, Piece::primary(format!("({})", expr(style, value))));
    }
    let widened = value.map(&|part| match part {
        Expr::Name { name } => Expr::Name { name: format!("({wide}){name}") },
        other => other,
    });
    Piece::cast(&ty, Piece::primary(format!("({})", expr(style, &widened))))
}

/// True if an index expression is built of constants, names, sums, products, negations, divisions and remainders alone,
/// and none of them is printed as a call of a function.
fn has_operators_alone(dialect: &Dialect, value: &Expr) -> bool {
    let mut alone = true;
    value.visit(&mut |part| {
        alone &= match part {
            Expr::FloorDiv { b, .. } | Expr::FloorMod { b, .. } => {
                dialect.shifts && power_of_two(b).is_some()
            }
            Expr::Int { .. }
            | Expr::Name { .. }
            | Expr::Add { .. }
            | Expr::Mul { .. }
            | Expr::Neg { .. }
            | Expr::Div { .. }
            | Expr::Mod { .. } => true,
            _ => false,
        };
    });
    alone
}

fn c_binary(of: Printed<'_>, op: ValueOp, element: &str, a: &Value, b: &Value) -> Piece {
    let operator = match op {
        ValueOp::Add | ValueOp::Subtract | ValueOp::Multiply
            if unsigned_type(of.dialect, element).is_some() =>
        {
            return wrapped(of, element, unsigned_binary(of, op, element, [a, b]));
        }
        ValueOp::Add => Infix::sum("+"),
        ValueOp::Subtract => Infix::sum("-"),
        ValueOp::Multiply => Infix::product("*"),
        ValueOp::Divide | ValueOp::FloorDivide => Infix::product("/"),
        ValueOp::Modulo => Infix::product("%"),
        ValueOp::And => Infix::and("&&"),
        ValueOp::Or => Infix::or("||"),
        ValueOp::Equal => Infix::equality("=="),
        ValueOp::NotEqual => Infix::equality("!="),
        ValueOp::Less => Infix::relation("<"),
        ValueOp::LessOrEqual => Infix::relation("<="),
        // Printed before, as a call of a helper function.
        ValueOp::Min => return Piece::call("min", [c(of, a), c(of, b)]),
        ValueOp::Max => return Piece::call("max", [c(of, a), c(of, b)]),
    };
    Piece::infix(c(of, a), operator, c(of, b))
}

/// Unsigned type in which sums and products of a signed 32-bit or 64-bit type are computed, so that overflow wraps;
/// `None` for any other type.
fn unsigned_type(dialect: &Dialect, element: &str) -> Option<&'static str> {
    match Dtype::of_plan(element)?.scalar {
        Scalar::I32 => Some((dialect.scalars)(Scalar::U32)),
        Scalar::I64 => Some((dialect.scalars)(Scalar::U64)),
        _ => None,
    }
}

/// Cast of `value`, which has the unsigned type of `element`, to `element`.
fn wrapped(of: Printed<'_>, element: &str, value: Piece) -> Piece {
    Piece::cast(&element::type_name(of.dialect, element, false), value)
}

/// Signed value converted to the unsigned type of `element`; sums, products and negations are computed in that type.
fn unsigned(of: Printed<'_>, element: &str, value: &Value) -> Piece {
    match value {
        Value::Binary {
            op: op @ (ValueOp::Add | ValueOp::Subtract | ValueOp::Multiply),
            element: own,
            a,
            b,
        } if own == element => unsigned_binary(of, *op, element, [a, b]),
        Value::Negate { element: own, a } if own == element => {
            Piece::infix(Piece::primary("0"), Infix::sum("-"), unsigned(of, element, a))
        }
        _ => Piece::cast(unsigned_type(of.dialect, element).unwrap_or_default(), c(of, value)),
    }
}

fn unsigned_binary(of: Printed<'_>, op: ValueOp, element: &str, [a, b]: [&Value; 2]) -> Piece {
    let operator = match op {
        ValueOp::Subtract => Infix::sum("-"),
        ValueOp::Multiply => Infix::product("*"),
        _ => Infix::sum("+"),
    };
    // A literal is converted implicitly if the other operand is unsigned.
    let plain = |value| if is_literal(value) { c(of, value) } else { unsigned(of, element, value) };
    let first = if is_literal(b) { unsigned(of, element, a) } else { plain(a) };
    Piece::infix(first, operator, plain(b))
}

/// True if a value, of type `i32` or `i64`, is a constant that is not negative.
fn is_literal(value: &Value) -> bool {
    let Value::Constant { element, bits } = value else { return false };
    let bits = u64::from_str_radix(bits, 16).unwrap_or(u64::MAX);
    bits <= if element == "i32" { 0x7FFF_FFFF } else { 0x7FFF_FFFF_FFFF_FFFF }
}

fn c_call(of: Printed<'_>, function: &str, element: &str, args: &[Value]) -> Piece {
    let math = |function: &str| {
        let function = (of.dialect.math)(function, element);
        Piece::call(&function, args.iter().map(|arg| c(of, arg)))
    };
    match (function, args) {
        ("abs", [only]) if matches!(element, "u32" | "u64") => c(of, only),
        ("abs", _) => math("fabs"),
        ("rsqrt", _) => {
            let one = if element == "f32" { "1.0f" } else { "1.0" };
            Piece::infix(Piece::primary(one), Infix::product("/"), math("sqrt"))
        }
        _ => math(function),
    }
}

fn call(style: Style, function: &str, args: &[Expr]) -> String {
    let args: Vec<String> = args.iter().map(|arg| expr(style, arg)).collect();
    format!("{function}({})", args.join(", "))
}
