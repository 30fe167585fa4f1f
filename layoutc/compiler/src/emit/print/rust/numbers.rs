//! Printer of arithmetic on elements in Rust. Integers wrap. A truth value is a `bool` inside of an expression, and a
//! `u8` in a buffer, a variable and the result of an expression.

use super::super::binding::{Binding, binding};
use super::super::piece::{Infix, Piece};
use super::super::{Style, expr};
use crate::base::dtype::{Dtype, Scalar};
use crate::emit::dialect::Dialect;
use crate::emit::syntax::{Expr, ReduceOp, Spelling, Value, ValueOp};
use crate::emit::{arithmetic, element};
use crate::passes::{helper, update_helper};

/// Text of an element value.
pub(in super::super) fn number(dialect: &'static Dialect, value: &Value) -> String {
    word(dialect, value).alone()
}

/// Statement that combines an accumulator with `value`: `sum += value;`. `element` is the type of both.
pub(super) fn update(
    dialect: &'static Dialect,
    into: &Value,
    how: ReduceOp,
    element: &str,
    value: &Value,
) -> String {
    let [found, there] = [value, into].map(|side| number(dialect, side));
    let wrapping = |op| binary(dialect, op, element, [into, value]).alone();
    let result = match how {
        ReduceOp::Set => found,
        ReduceOp::Sum if is_float(element) => return format!("{there} += {found};"),
        ReduceOp::Product if is_float(element) => return format!("{there} *= {found};"),
        ReduceOp::Sum => wrapping(ValueOp::Add),
        ReduceOp::Product => wrapping(ValueOp::Multiply),
        ReduceOp::Min => extreme(dialect, (ReduceOp::Min, "<"), element, [into, value]),
        ReduceOp::Max => extreme(dialect, (ReduceOp::Max, ">"), element, [into, value]),
    };
    format!("{there} = {result};")
}

/// Lesser or greater one of an accumulator and a value. The accumulator is kept unless the value compares less
/// (greater); a NaN never does.
fn extreme(
    dialect: &'static Dialect,
    (how, sign): (ReduceOp, &str),
    element: &str,
    [into, value]: [&Value; 2],
) -> String {
    let [found, there] = [value, into].map(|side| word(dialect, side));
    let dtype = Dtype::of_plan(element);
    let known = dtype.and_then(|dtype| Some((update_helper(how, dtype, value)?, dtype)));
    if let Some((helper, dtype)) = known {
        return Piece::call(&arithmetic::function(dialect, helper, dtype), [found, there]).alone();
    }
    let [found, there] = [found, there].map(Piece::alone);
    format!("if {found} {sign} {there} {{ {found} }} else {{ {there} }}")
}

/// Index expression as a subscript: `(i * 8 + j) as usize`, or an integer.
pub(super) fn subscript(dialect: &'static Dialect, index: &Expr) -> String {
    let style = Style::Rust(dialect);
    match (index, binding(style, index)) {
        (Expr::Int { value: 0.. }, _) => expr(style, index),
        (_, Binding::Primary) => format!("{} as usize", expr(style, index)),
        _ => format!("({}) as usize", expr(style, index)),
    }
}

/// Element of a buffer or array: `a[i as usize]`.
pub(super) fn item(dialect: &'static Dialect, buffer: &str, index: &Expr) -> String {
    format!("{buffer}[{}]", subscript(dialect, index))
}

/// True if a value is printed as an expression of type `bool`.
fn is_truth(value: &Value) -> bool {
    match value {
        Value::Holds { .. } | Value::Not { .. } => true,
        Value::Convert { to, .. } => to == "bool",
        Value::Binary { op, .. } => matches!(
            op,
            ValueOp::And
                | ValueOp::Or
                | ValueOp::Equal
                | ValueOp::NotEqual
                | ValueOp::Less
                | ValueOp::LessOrEqual
        ),
        _ => false,
    }
}

/// Value in the type of its elements: a truth value is a `u8`.
fn word(dialect: &'static Dialect, value: &Value) -> Piece {
    let piece = printed(dialect, value);
    if is_truth(value) { Piece::call("u8::from", [piece]) } else { piece }
}

/// Truth value as a `bool`.
fn truth(dialect: &'static Dialect, value: &Value) -> Piece {
    let piece = printed(dialect, value);
    if is_truth(value) {
        return piece;
    }
    Piece::infix(piece, Infix::equality("!="), Piece::primary("0"))
}

fn printed(dialect: &'static Dialect, value: &Value) -> Piece {
    let style = Style::Rust(dialect);
    if let Some((helper, dtype, args)) = helper(value) {
        let function = arithmetic::function(dialect, helper, dtype);
        return Piece::call(&function, args.into_iter().map(|arg| word(dialect, arg)));
    }
    match value {
        Value::Constant { element, bits } => {
            Piece::literal(element::literal(dialect, element, bits, Spelling::Number))
        }
        Value::Name { name } => Piece::primary(name),
        Value::Item { array: buffer, index } | Value::Load { buffer, index, through: None } => {
            Piece::primary(item(dialect, buffer, index))
        }
        Value::Load { buffer, index, through: Some(load) } => {
            Piece::primary(format!("{load}({buffer}, {})", expr(style, index)))
        }
        Value::Index { element, value } => {
            let ty = element::type_name(dialect, element, false);
            let mut text = expr(style, value);
            // Without its type a literal is an `i32`.
            if ty != dialect.index && matches!(value, Expr::Int { .. }) {
                text.extend(["_", dialect.index]);
            }
            let is_primary = binding(style, value) == Binding::Primary;
            let index = if is_primary { Piece::primary(text) } else { Piece::lowest(text) };
            if ty == dialect.index { index } else { Piece::cast_as(index, &ty) }
        }
        Value::Holds { condition } => Piece::lowest(expr(style, &super::truth(condition))),
        Value::Fetch { function, args } => {
            Piece::call(function, args.iter().map(|arg| Piece::primary(expr(style, arg))))
        }
        Value::Negate { element, a } if is_integer(element) => {
            Piece::call(&method(dialect, element, "wrapping_neg"), [word(dialect, a)])
        }
        Value::Negate { a, .. } => Piece::prefix("-", word(dialect, a)),
        Value::Not { a } => Piece::prefix("!", truth(dialect, a)),
        Value::Binary { op, element, a, b } => binary(dialect, *op, element, [a, b]),
        Value::Select { condition, then, otherwise } => {
            let condition = truth(dialect, condition).alone();
            let [then, otherwise] = [then, otherwise].map(|side| word(dialect, side).alone());
            Piece::lowest(format!("if {condition} {{ {then} }} else {{ {otherwise} }}"))
        }
        Value::Call { function, element, args } => call(dialect, function, element, args),
        Value::Convert { from, to, value } if to == "bool" => {
            let zero = if is_float(from) { "0.0" } else { "0" };
            Piece::infix(word(dialect, value), Infix::equality("!="), Piece::primary(zero))
        }
        Value::Convert { to, value, .. } => {
            let ty = element::type_name(dialect, to, false);
            let mut value_text = word(dialect, value);
            // Without its type a literal is an `i32`.
            if let Value::Constant { element, .. } = value.as_ref()
                && is_integer(element)
            {
                let from = element::type_name(dialect, element, false);
                value_text = Piece::literal(format!("{}_{from}", value_text.alone()));
            }
            Piece::cast_as(value_text, &ty)
        }
        Value::Cast { cast, value } => {
            let function = format!("{}cast_{cast}", dialect.structure);
            Piece::call(&function, [word(dialect, value)])
        }
    }
}

fn binary(dialect: &'static Dialect, op: ValueOp, element: &str, [a, b]: [&Value; 2]) -> Piece {
    let wrapping = |name: &str| {
        let method = method(dialect, element, name);
        Piece::call(&method, [a, b].map(|side| word(dialect, side)))
    };
    let operator = match op {
        ValueOp::Add if is_integer(element) => return wrapping("wrapping_add"),
        ValueOp::Subtract if is_integer(element) => return wrapping("wrapping_sub"),
        ValueOp::Multiply if is_integer(element) => return wrapping("wrapping_mul"),
        ValueOp::Add => Infix::sum("+"),
        ValueOp::Subtract => Infix::sum("-"),
        ValueOp::Multiply => Infix::product("*"),
        ValueOp::Divide | ValueOp::FloorDivide => Infix::product("/"),
        ValueOp::Modulo => Infix::product("%"),
        ValueOp::And | ValueOp::Or => {
            let operator = if op == ValueOp::And { Infix::and("&&") } else { Infix::or("||") };
            return Piece::infix(truth(dialect, a), operator, truth(dialect, b));
        }
        ValueOp::Equal => Infix::equality("=="),
        ValueOp::NotEqual => Infix::equality("!="),
        ValueOp::Less => Infix::rust_relation("<"),
        ValueOp::LessOrEqual => Infix::rust_relation("<="),
        // Printed before, as a call of a helper function.
        ValueOp::Min => return wrapping("min"),
        ValueOp::Max => return wrapping("max"),
    };
    Piece::infix(word(dialect, a), operator, word(dialect, b))
}

fn call(dialect: &'static Dialect, function: &str, element: &str, args: &[Value]) -> Piece {
    let math = |function: &str| {
        let function = (dialect.math)(function, element);
        Piece::call(&function, args.iter().map(|arg| word(dialect, arg)))
    };
    match (function, args) {
        ("abs", [only]) if matches!(element, "u32" | "u64") => word(dialect, only),
        ("rsqrt", _) => {
            let one = if element == "f32" { "1.0_f32" } else { "1.0_f64" };
            Piece::infix(Piece::primary(one), Infix::product("/"), math("sqrt"))
        }
        _ => math(function),
    }
}

/// Path of a method of an element type: `i32::wrapping_add`.
fn method(dialect: &'static Dialect, element: &str, name: &str) -> String {
    [&element::type_name(dialect, element, false), "::", name].concat()
}

fn is_float(element: &str) -> bool {
    let scalar = Dtype::of_plan(element).map(|dtype| dtype.scalar);
    matches!(scalar, Some(Scalar::F32 | Scalar::F64))
}

/// True for an arithmetic type that is neither f32, f64 nor bool.
fn is_integer(element: &str) -> bool {
    !is_float(element) && element != "bool"
}
