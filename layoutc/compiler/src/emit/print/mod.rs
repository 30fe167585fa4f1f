//! Printers: one of expressions for all languages, one of statements and functions for all languages of the C family, one
//! for Rust, and one with Python's syntax for comments.
//!
//! Parentheses are printed where the grammar needs them, and where gcc or clang warn without them, for example around
//! operands with a binary operator in a shift, in `&` and in `^`.

mod binding;
mod define;
mod groups;
mod head;
mod moved;
mod numbers;
mod piece;
mod python;
mod rust;
mod stmts;
#[cfg(test)]
mod tests;
mod threads;

pub use self::define::define;
pub use self::head::{parameters, prototype};
pub use self::numbers::number;
pub use self::rust::constant;
pub use self::stmts::{body, stmts};

use self::binding::{Binding, binding, one_or_zero, power_of_two};
use super::dialect::{Dialect, Grammar};
use crate::emit::syntax::{Compare, Expr};

/// Syntax of printed expressions.
#[derive(Debug, Clone, Copy)]
pub enum Style {
    /// Syntax of a language of the C family.
    C(&'static Dialect),
    /// Syntax of Rust.
    Rust(&'static Dialect),
    /// Python, which is also the syntax of manifests.
    Python,
}

impl Style {
    /// Syntax of a dialect.
    pub fn of(dialect: &'static Dialect) -> Self {
        match dialect.grammar {
            Grammar::C => Self::C(dialect),
            Grammar::Rust => Self::Rust(dialect),
        }
    }

    /// Dialect of a target language; `None` for Python.
    fn dialect(self) -> Option<&'static Dialect> {
        match self {
            Self::C(dialect) | Self::Rust(dialect) => Some(dialect),
            Self::Python => None,
        }
    }
}

/// Text of an expression.
pub fn expr(style: Style, tree: &Expr) -> String {
    let mut text = String::with_capacity(64);
    write(&mut text, style, tree);
    text
}

/// Appends an expression to `text`.
fn write(text: &mut String, style: Style, tree: &Expr) {
    Printer { style, text }.expr(tree);
}

struct Printer<'t> {
    style: Style,
    text: &'t mut String,
}

impl Printer<'_> {
    fn expr(&mut self, tree: &Expr) {
        match tree {
            Expr::Int { value } => self.int(*value),
            Expr::Bool { value } => self.boolean(*value),
            Expr::Name { name } => self.text.push_str(name),
            Expr::Output { name } => self.prefixed("*", name),
            Expr::Address { name } => {
                let is_rust = matches!(self.style, Style::Rust(_));
                self.prefixed(if is_rust { "&mut " } else { "&" }, name);
            }
            Expr::Neg { a } => {
                self.text.push('-');
                self.at(a, Binding::Primary);
            }
            Expr::Add { args } => self.sum(args),
            Expr::Mul { args } => self.joined(args, " * ", Binding::Product, Binding::Unary),
            Expr::Div { a, b } | Expr::FloorDiv { a, b } => self.quotient(tree, a, b),
            Expr::Mod { a, b } | Expr::FloorMod { a, b } => self.remainder(tree, a, b),
            Expr::BitAnd { args } => self.joined(args, " & ", Binding::Unary, Binding::Unary),
            Expr::BitXor { args } => self.joined(args, " ^ ", Binding::Unary, Binding::Unary),
            Expr::Min { a, b } => self.helper("min", &[a, b], &[]),
            Expr::Max { a, b } => self.helper("max", &[a, b], &[]),
            Expr::Hilbert { a, b, rows, columns } => {
                self.helper("hilbert", &[a, b], &[*rows, *columns]);
            }
            Expr::HilbertCell { a, rows, columns } => {
                self.helper("hilbert_cell", &[a], &[*rows, *columns]);
            }
            Expr::Select { condition, then, otherwise } => self.select(condition, then, otherwise),
            Expr::Call { name, args } => {
                self.text.push_str(name);
                self.text.push('(');
                self.joined(args, ", ", Binding::Select, Binding::Select);
                self.text.push(')');
            }
            Expr::Compare { op, a, b } => self.binary(a, sign(*op), b, [Binding::Sum; 2]),
            Expr::All { args } if args.is_empty() => self.boolean(true),
            Expr::All { args } => {
                let and = match self.style {
                    Style::C(_) | Style::Rust(_) => " && ",
                    Style::Python => " and ",
                };
                self.joined(args, and, Binding::Equality, Binding::Equality);
            }
            Expr::Not { a } => {
                self.text.push_str(match self.style {
                    Style::C(_) | Style::Rust(_) => "!",
                    Style::Python => "not ",
                });
                self.at(a, Binding::Primary);
            }
        }
    }

    /// Prints `tree`, in parentheses if its precedence is lower than `least`.
    fn at(&mut self, tree: &Expr, least: Binding) {
        if binding(self.style, tree) < least {
            self.text.push('(');
            self.expr(tree);
            self.text.push(')');
        } else {
            self.expr(tree);
        }
    }

    fn prefixed(&mut self, operator: &str, name: &str) {
        if self.style.dialect().is_some() {
            self.text.push_str(operator);
        }
        self.text.push_str(name);
    }

    fn boolean(&mut self, value: bool) {
        self.text.push_str(match (self.style, value) {
            (Style::C(_) | Style::Rust(_), true) => "true",
            (Style::C(_) | Style::Rust(_), false) => "false",
            (Style::Python, true) => "True",
            (Style::Python, false) => "False",
        });
    }

    fn int(&mut self, value: i64) {
        let (open, close) = match self.style {
            Style::C(dialect)
                if value == i64::MIN || value.saturating_abs() > dialect.plain_literal =>
            {
                dialect.wide_literal
            }
            Style::C(_) | Style::Rust(_) | Style::Python => ("", ""),
        };
        self.text.push_str(if value < 0 { "-" } else { "" });
        self.text.push_str(open);
        match self.style {
            // The digits of the value itself exceed the type.
            Style::C(_) if value == i64::MIN => {
                push_integer(self.text, i64::MAX.unsigned_abs());
                self.text.push_str(close);
                self.text.push_str(" - 1");
            }
            Style::C(_) | Style::Rust(_) | Style::Python => {
                push_integer(self.text, value.unsigned_abs());
                self.text.push_str(close);
            }
        }
    }

    fn sum(&mut self, args: &[Expr]) {
        // The first term that is not subtracted is printed first, if there is one: `6 - c * 4`, not `-c * 4 + 6`.
        let first = args.iter().position(|arg| !is_subtracted(arg)).unwrap_or(0);
        if let Some(term) = args.get(first) {
            self.text.push_str(if is_subtracted(term) { "-" } else { "" });
            self.magnitude(term);
        }
        for (k, term) in args.iter().enumerate() {
            if k != first {
                self.text.push_str(if is_subtracted(term) { " - " } else { " + " });
                self.magnitude(term);
            }
        }
    }

    /// Prints a term of a sum without its sign, which is printed already.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other term is added")]
    fn magnitude(&mut self, term: &Expr) {
        match term {
            Expr::Neg { a } => self.at(a, Binding::Product),
            Expr::Int { value } if is_subtracted(term) => self.int(-value),
            Expr::Mul { args } => match args.split_last() {
                Some((Expr::Int { value }, rest)) if is_subtracted(term) => {
                    self.joined(rest, " * ", Binding::Product, Binding::Unary);
                    if *value != -1 {
                        self.text.push_str(if rest.is_empty() { "" } else { " * " });
                        self.int(-value);
                    }
                }
                _ => self.expr(term),
            },
            other => self.at(other, Binding::Product),
        }
    }

    /// Prints operands separated by `with`. Parentheses are omitted from precedence `first` for the first operand and
    /// `least` for the others: `*` associates to the left, so that only the first factor may be a quotient.
    fn joined(&mut self, args: &[Expr], with: &str, first: Binding, least: Binding) {
        for (k, arg) in args.iter().enumerate() {
            self.text.push_str(if k == 0 { "" } else { with });
            self.at(arg, if k == 0 { first } else { least });
        }
    }

    fn quotient(&mut self, tree: &Expr, a: &Expr, b: &Expr) {
        match (binding(self.style, tree), power_of_two(b)) {
            (Binding::Shift, Some(shift)) => {
                self.at(a, Binding::Unary);
                self.text.push_str(" >> ");
                push_integer(self.text, shift.into());
            }
            (Binding::Primary, _) => self.helper("floor_div", &[a, b], &[]),
            _ => {
                let sign = if self.style.dialect().is_some() { " / " } else { " // " };
                self.binary(a, sign, b, [Binding::Product, Binding::Unary]);
            }
        }
    }

    fn remainder(&mut self, tree: &Expr, a: &Expr, b: &Expr) {
        match (binding(self.style, tree), b) {
            (Binding::And, Expr::Int { value }) => {
                self.at(a, Binding::Unary);
                self.text.push_str(" & ");
                self.int(value - 1);
            }
            (Binding::Primary, _) => self.helper("floor_mod", &[a, b], &[]),
            _ => self.binary(a, " % ", b, [Binding::Product, Binding::Unary]),
        }
    }

    fn binary(&mut self, a: &Expr, sign: &str, b: &Expr, least: [Binding; 2]) {
        self.at(a, least[0]);
        self.text.push_str(sign);
        self.at(b, least[1]);
    }

    /// Prints a call of a helper function, with the prefix of the dialect, in Python without one. `sides` are
    /// integer arguments after `args`.
    fn helper(&mut self, name: &str, args: &[&Expr], sides: &[i64]) {
        if let Some(dialect) = self.style.dialect() {
            self.text.push_str(dialect.helper);
        }
        self.text.push_str(name);
        self.text.push('(');
        for (k, arg) in args.iter().enumerate() {
            self.text.push_str(if k == 0 { "" } else { ", " });
            self.at(arg, Binding::Select);
        }
        for side in sides {
            self.text.push_str(", ");
            self.int(*side);
        }
        self.text.push(')');
    }

    fn select(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) {
        match self.style {
            // A comparison has the value 1 or 0 in C.
            Style::C(_) if one_or_zero(then, otherwise) => {
                self.text.push('(');
                self.at(condition, Binding::All);
                self.text.push(')');
            }
            Style::C(_) => {
                self.binary(condition, " ? ", then, [Binding::All, Binding::Sum]);
                self.text.push_str(" : ");
                self.expr(otherwise);
            }
            Style::Rust(_) if one_or_zero(then, otherwise) => {
                self.text.push_str("i64::from(");
                self.expr(condition);
                self.text.push(')');
            }
            Style::Rust(_) => {
                self.text.push_str("if ");
                self.expr(condition);
                self.text.push_str(" { ");
                self.expr(then);
                self.text.push_str(" } else { ");
                self.expr(otherwise);
                self.text.push_str(" }");
            }
            Style::Python => {
                self.binary(then, " if ", condition, [Binding::Sum, Binding::All]);
                self.text.push_str(" else ");
                self.expr(otherwise);
            }
        }
    }
}

fn sign(op: Compare) -> &'static str {
    match op {
        Compare::Eq => " == ",
        Compare::Lt => " < ",
        Compare::Le => " <= ",
        Compare::Ge => " >= ",
    }
}

/// True if a term of a sum is printed after a minus sign: a negation, a negative constant other than `i64::MIN`, or a
/// product whose last factor is one.
fn is_subtracted(term: &Expr) -> bool {
    let negative = |value: i64| value < 0 && value > i64::MIN;
    match term {
        Expr::Neg { .. } => true,
        Expr::Int { value } => negative(*value),
        Expr::Mul { args } => {
            matches!(args.last(), Some(Expr::Int { value }) if negative(*value))
        }
        _ => false,
    }
}

/// Appends the decimal digits of `value` to `text`.
fn push_integer(text: &mut String, value: u64) {
    if value > 9 {
        push_integer(text, value / 10);
    }
    let digit = u32::try_from(value % 10).unwrap_or(0);
    text.push(char::from_digit(digit, 10).unwrap_or('0'));
}
