//! Arithmetic on elements as text.

use super::binding::{Binding, binding};
use super::{Style, expr};
use crate::emit::dialect::Dialect;
use crate::emit::element;
use crate::plan::tree::{Expr, Number, NumberOp, Spelling};

/// How tightly the text of a value binds; larger is tighter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tight {
    Select,
    Or,
    And,
    Equality,
    Relation,
    Sum,
    Product,
    Unary,
    Primary,
}

/// A value as text.
pub fn number(style: Style, value: &Number) -> String {
    match style {
        Style::C(dialect) => in_c(dialect, value, &str::to_owned),
        Style::Python => python(value).0,
    }
}

/// A value as text in C, where `buffer` says how the elements of a buffer are reached.
pub(super) fn in_c(
    dialect: &'static Dialect,
    value: &Number,
    buffer: &dyn Fn(&str) -> String,
) -> String {
    c(Printed { dialect, buffer }, value).0
}

/// How values become text.
#[derive(Clone, Copy)]
struct Printed<'a> {
    dialect: &'static Dialect,
    buffer: &'a dyn Fn(&str) -> String,
}

fn held((text, tight): (String, Tight), least: Tight) -> String {
    if tight < least { format!("({text})") } else { text }
}

/// What stands beside its operands alone.
fn joined(a: &str, sign: &str, b: &str) -> String {
    [a, " ", sign, " ", b].concat()
}

fn c(of: Printed<'_>, value: &Number) -> (String, Tight) {
    let dialect = of.dialect;
    let style = Style::C(dialect);
    let part = |value: &Number, least| held(c(of, value), least);
    match value {
        Number::Constant { element, bits } => {
            let text = element::literal(dialect, element, bits, Spelling::Number);
            let tight = if text.starts_with(['-', '(']) { Tight::Unary } else { Tight::Primary };
            (text, tight)
        }
        Number::Name { name } => (name.clone(), Tight::Primary),
        Number::Item { array, index } => {
            (format!("{array}[{}]", expr(style, index)), Tight::Primary)
        }
        Number::Index { element, value } => {
            let ty = element::type_name(dialect, element, false);
            if ty == dialect.index && binding(style, value) == Binding::Primary {
                return (expr(style, value), Tight::Primary);
            }
            (format!("({ty})({})", expr(style, value)), Tight::Unary)
        }
        Number::Holds { condition } => (format!("({})", expr(style, condition)), Tight::Primary),
        Number::Load { buffer, index, through: None } => {
            (format!("{}[{}]", (of.buffer)(buffer), expr(style, index)), Tight::Primary)
        }
        Number::Load { buffer, index, through: Some(load) } => {
            (format!("{load}({buffer}, {})", expr(style, index)), Tight::Primary)
        }
        Number::Fetch { function, args } => (call(style, function, args), Tight::Primary),
        Number::Negate { a } => (format!("-{}", part(a, Tight::Primary)), Tight::Unary),
        Number::Not { a } => (format!("!{}", part(a, Tight::Primary)), Tight::Unary),
        Number::Binary { op, element, a, b } => c_binary(of, *op, element, a, b),
        Number::Select { condition, then, otherwise } => {
            let condition = part(condition, Tight::Or);
            let (then, otherwise) = (part(then, Tight::Or), part(otherwise, Tight::Or));
            (format!("{condition} ? {then} : {otherwise}"), Tight::Select)
        }
        Number::Call { function, element, args } => c_call(of, function, element, args),
        Number::Convert { element, value } if element == "bool" => {
            (joined(&part(value, Tight::Sum), "!=", "0"), Tight::Equality)
        }
        Number::Convert { element, value } => {
            let ty = element::type_name(dialect, element, false);
            (format!("({ty}){}", part(value, Tight::Unary)), Tight::Unary)
        }
        Number::Cast { cast, value } => {
            let value = c(of, value).0;
            (format!("{}cast_{cast}({value})", dialect.structure), Tight::Primary)
        }
    }
}

fn c_binary(
    of: Printed<'_>,
    op: NumberOp,
    element: &str,
    a: &Number,
    b: &Number,
) -> (String, Tight) {
    let part = |value: &Number, least| held(c(of, value), least);
    let plain = |sign: &str, left: Tight, right: Tight, tight: Tight| {
        (joined(&part(a, left), sign, &part(b, right)), tight)
    };
    let is_float = matches!(element, "f32" | "f64");
    let is_unsigned = matches!(element, "u32" | "u64");
    match op {
        NumberOp::Add => plain("+", Tight::Sum, Tight::Product, Tight::Sum),
        NumberOp::Subtract => plain("-", Tight::Sum, Tight::Product, Tight::Sum),
        NumberOp::Multiply => plain("*", Tight::Product, Tight::Unary, Tight::Product),
        NumberOp::Divide => plain("/", Tight::Product, Tight::Unary, Tight::Product),
        NumberOp::FloorDivide if is_unsigned => {
            plain("/", Tight::Product, Tight::Unary, Tight::Product)
        }
        NumberOp::Modulo if is_unsigned => plain("%", Tight::Product, Tight::Unary, Tight::Product),
        // Towards minus infinity: C's own quotient less one where the remainder has the other sign.
        NumberOp::FloorDivide => {
            let (a, b) = (part(a, Tight::Unary), part(b, Tight::Unary));
            let text = format!("({a} / {b} - ({a} % {b} != 0 && ({a} % {b} < 0) != ({b} < 0)))");
            (text, Tight::Primary)
        }
        NumberOp::Modulo => {
            let (a, b) = (part(a, Tight::Unary), part(b, Tight::Unary));
            (format!("(({a} % {b} + {b}) % {b})"), Tight::Primary)
        }
        NumberOp::And => plain("&&", Tight::Equality, Tight::Equality, Tight::And),
        NumberOp::Or => plain("||", Tight::Equality, Tight::Equality, Tight::Or),
        NumberOp::Min | NumberOp::Max if is_float => {
            let name = if op == NumberOp::Min { "fmin" } else { "fmax" };
            let name = (of.dialect.math)(name, element);
            let (a, b) = (c(of, a).0, c(of, b).0);
            (format!("{name}({a}, {b})"), Tight::Primary)
        }
        NumberOp::Min | NumberOp::Max => {
            let sign = if op == NumberOp::Min { "<" } else { ">" };
            let (a, b) = (part(a, Tight::Sum), part(b, Tight::Sum));
            (format!("({a} {sign} {b} ? {a} : {b})"), Tight::Primary)
        }
        NumberOp::Equal => plain("==", Tight::Sum, Tight::Sum, Tight::Equality),
        NumberOp::NotEqual => plain("!=", Tight::Sum, Tight::Sum, Tight::Equality),
        NumberOp::Less => plain("<", Tight::Sum, Tight::Sum, Tight::Relation),
        NumberOp::LessOrEqual => plain("<=", Tight::Sum, Tight::Sum, Tight::Relation),
    }
}

fn c_call(of: Printed<'_>, function: &str, element: &str, args: &[Number]) -> (String, Tight) {
    let is_float = matches!(element, "f32" | "f64");
    let text: Vec<String> = args.iter().map(|arg| c(of, arg).0).collect();
    let all = text.join(", ");
    match function {
        "abs" if is_float => {
            (format!("{}({all})", (of.dialect.math)("fabs", element)), Tight::Primary)
        }
        "abs" => (format!("({all} < 0 ? -({all}) : {all})"), Tight::Primary),
        "rsqrt" => {
            let one = if element == "f32" { "1.0f" } else { "1.0" };
            (format!("{one} / {}({all})", (of.dialect.math)("sqrt", element)), Tight::Product)
        }
        _ => (format!("{}({all})", (of.dialect.math)(function, element)), Tight::Primary),
    }
}

fn call(style: Style, function: &str, args: &[Expr]) -> String {
    let args: Vec<String> = args.iter().map(|arg| expr(style, arg)).collect();
    format!("{function}({})", args.join(", "))
}

/// In the manifest's own words, for people.
fn python(value: &Number) -> (String, Tight) {
    let style = Style::Python;
    let part = |value: &Number, least| held(python(value), least);
    match value {
        Number::Constant { element, bits } => {
            let text = element::literal(&crate::emit::dialect::C, element, bits, Spelling::Number);
            let text = text.trim_end_matches('f').to_ascii_lowercase();
            (text.replace("infinity", "inf"), Tight::Primary)
        }
        Number::Name { name } => (name.clone(), Tight::Primary),
        Number::Item { array: buffer, index } | Number::Load { buffer, index, .. } => {
            (format!("{buffer}[{}]", expr(style, index)), Tight::Primary)
        }
        Number::Index { value, .. } => (format!("({})", expr(style, value)), Tight::Primary),
        Number::Holds { condition } => (format!("({})", expr(style, condition)), Tight::Primary),
        Number::Fetch { function, args } => (call(style, function, args), Tight::Primary),
        Number::Negate { a } => (format!("-{}", part(a, Tight::Primary)), Tight::Unary),
        Number::Not { a } => (format!("not {}", part(a, Tight::Primary)), Tight::And),
        Number::Binary { op, a, b, .. } => {
            let (sign, tight) = match op {
                NumberOp::Min | NumberOp::Max => {
                    let name = if *op == NumberOp::Min { "min" } else { "max" };
                    let text = format!("{name}({}, {})", python(a).0, python(b).0);
                    return (text, Tight::Primary);
                }
                NumberOp::Add => ("+", Tight::Sum),
                NumberOp::Subtract => ("-", Tight::Sum),
                NumberOp::Multiply => ("*", Tight::Product),
                NumberOp::Divide => ("/", Tight::Product),
                NumberOp::FloorDivide => ("//", Tight::Product),
                NumberOp::Modulo => ("%", Tight::Product),
                NumberOp::And => ("and", Tight::And),
                NumberOp::Or => ("or", Tight::Or),
                NumberOp::Equal => ("==", Tight::Equality),
                NumberOp::NotEqual => ("!=", Tight::Equality),
                NumberOp::Less => ("<", Tight::Equality),
                NumberOp::LessOrEqual => ("<=", Tight::Equality),
            };
            let right = if tight == Tight::Sum { Tight::Product } else { Tight::Unary };
            let right = if tight < Tight::Sum { Tight::Sum } else { right };
            (joined(&part(a, tight.max(Tight::Equality)), sign, &part(b, right)), tight)
        }
        Number::Select { condition, then, otherwise } => {
            let parts = [condition, then, otherwise].map(|part| python(part).0);
            (format!("select({})", parts.join(", ")), Tight::Primary)
        }
        Number::Call { function, args, .. } => {
            let args: Vec<String> = args.iter().map(|arg| python(arg).0).collect();
            (format!("{function}({})", args.join(", ")), Tight::Primary)
        }
        Number::Convert { element, value } => {
            (format!("{element}({})", python(value).0), Tight::Primary)
        }
        Number::Cast { cast, value } => (format!("{cast}({})", python(value).0), Tight::Primary),
    }
}
