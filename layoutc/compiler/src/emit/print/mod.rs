//! Trees as text: one printer for every language of the C family, and for Python's operators in comments.
//!
//! Parentheses are those that the grammar needs, and those without which gcc and clang warn: sums and bit operations
//! inside a shift, anything but a name inside `&` and `^`.

mod define;
mod python;
mod stmts;
#[cfg(test)]
mod tests;

pub use self::define::define;
pub use self::stmts::{body, parameters, prototype, stmts};

use super::dialect::Dialect;
use crate::plan::tree::{Compare, Expr};

/// How expressions look.
#[derive(Debug, Clone, Copy)]
pub enum Style {
    /// A language of the C family.
    C(&'static Dialect),
    /// Python, which is the manifest's own syntax too.
    Python,
}

/// How tightly an operator binds; larger is tighter. The order is C's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Select,
    All,
    Xor,
    And,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Unary,
    Primary,
}

/// An expression as text.
pub fn expr(style: Style, tree: &Expr) -> String {
    Printer { style }.expr(tree).0
}

struct Printer {
    style: Style,
}

impl Printer {
    fn expr(&self, tree: &Expr) -> (String, Binding) {
        match tree {
            Expr::Int { value } => self.int(*value),
            Expr::Bool { value } => (self.boolean(*value).to_owned(), Binding::Primary),
            Expr::Name { name } => (name.clone(), Binding::Primary),
            Expr::Output { name } => match self.style {
                Style::C(_) => (format!("*{name}"), Binding::Unary),
                Style::Python => (name.clone(), Binding::Primary),
            },
            Expr::Address { name } => match self.style {
                Style::C(_) => (format!("&{name}"), Binding::Unary),
                Style::Python => (name.clone(), Binding::Primary),
            },
            Expr::Neg { a } => (format!("-{}", self.at(a, Binding::Primary)), Binding::Unary),
            Expr::Add { args } => (self.sum(args), Binding::Sum),
            Expr::Mul { args } => (self.product(args), Binding::Product),
            Expr::Div { a, b } => self.quotient(a, b, false),
            Expr::Mod { a, b } => self.remainder(a, b, false),
            Expr::FloorDiv { a, b } => self.quotient(a, b, true),
            Expr::FloorMod { a, b } => self.remainder(a, b, true),
            Expr::BitAnd { args } => (self.joined(args, " & ", Binding::Unary), Binding::And),
            Expr::BitXor { args } => (self.joined(args, " ^ ", Binding::Unary), Binding::Xor),
            Expr::Min { a, b } => self.extreme("min", a, b),
            Expr::Max { a, b } => self.extreme("max", a, b),
            Expr::Select { condition, then, otherwise } => self.select(condition, then, otherwise),
            Expr::Call { name, args } => {
                let args: Vec<String> = args.iter().map(|arg| self.expr(arg).0).collect();
                (format!("{name}({})", args.join(", ")), Binding::Primary)
            }
            Expr::Compare { op, a, b } => self.compare(*op, a, b),
            Expr::All { args } if args.is_empty() => {
                (self.boolean(true).to_owned(), Binding::Primary)
            }
            Expr::All { args } => {
                let and = match self.style {
                    Style::C(_) => " && ",
                    Style::Python => " and ",
                };
                (self.joined(args, and, Binding::Equality), Binding::All)
            }
            Expr::Not { a } => match self.style {
                Style::C(_) => (format!("!{}", self.at(a, Binding::Primary)), Binding::Unary),
                Style::Python => (format!("not {}", self.at(a, Binding::Primary)), Binding::All),
            },
        }
    }

    /// `tree`, in parentheses if it binds less tightly than `least`.
    fn at(&self, tree: &Expr, least: Binding) -> String {
        let (text, binding) = self.expr(tree);
        if binding < least { format!("({text})") } else { text }
    }

    fn boolean(&self, value: bool) -> &'static str {
        match (self.style, value) {
            (Style::C(_), true) => "true",
            (Style::C(_), false) => "false",
            (Style::Python, true) => "True",
            (Style::Python, false) => "False",
        }
    }

    fn int(&self, value: i64) -> (String, Binding) {
        let binding = if value < 0 { Binding::Unary } else { Binding::Primary };
        let Style::C(dialect) = self.style else { return (value.to_string(), binding) };
        if value == i64::MIN {
            // Its digits alone do not fit.
            let (open, close) = dialect.wide_literal;
            return (format!("-{open}{}{close} - 1", i64::MAX), Binding::Sum);
        }
        if value.abs() <= dialect.plain_literal {
            return (value.to_string(), binding);
        }
        let (open, close) = dialect.wide_literal;
        let sign = if value < 0 { "-" } else { "" };
        (format!("{sign}{open}{}{close}", value.unsigned_abs()), binding)
    }

    fn sum(&self, args: &[Expr]) -> String {
        // A term that is added goes first where there is one: `6 - c * 4`, not `-c * 4 + 6`.
        let parts: Vec<(bool, String)> = args.iter().map(|arg| self.term(arg)).collect();
        let first = parts.iter().position(|(negative, _)| !negative).unwrap_or(0);
        let mut text = String::new();
        if let Some((negative, magnitude)) = parts.get(first) {
            text.push_str(if *negative { "-" } else { "" });
            text.push_str(magnitude);
        }
        for (k, (negative, magnitude)) in parts.iter().enumerate() {
            if k != first {
                text.push_str(if *negative { " - " } else { " + " });
                text.push_str(magnitude);
            }
        }
        text
    }

    /// A term of a sum: whether it is subtracted, and what.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other term is added")]
    fn term(&self, term: &Expr) -> (bool, String) {
        match term {
            Expr::Neg { a } => (true, self.at(a, Binding::Product)),
            Expr::Int { value } if *value < 0 && *value > i64::MIN => (true, self.int(-value).0),
            Expr::Mul { args } => match args.split_last() {
                Some((Expr::Int { value }, rest)) if *value < 0 && *value > i64::MIN => {
                    let mut factors = rest.to_vec();
                    if *value != -1 {
                        factors.push(Expr::int(-value));
                    }
                    (true, self.product(&factors))
                }
                _ => (false, self.product(args)),
            },
            other => (false, self.at(other, Binding::Product)),
        }
    }

    fn product(&self, args: &[Expr]) -> String {
        let mut text = String::new();
        for (k, arg) in args.iter().enumerate() {
            // Only the first factor may be a quotient: `*` binds to the left.
            let least = if k == 0 { Binding::Product } else { Binding::Unary };
            if k > 0 {
                text.push_str(" * ");
            }
            text.push_str(&self.at(arg, least));
        }
        text
    }

    fn joined(&self, args: &[Expr], with: &str, least: Binding) -> String {
        let args: Vec<String> = args.iter().map(|arg| self.at(arg, least)).collect();
        args.join(with)
    }

    fn quotient(&self, a: &Expr, b: &Expr, floor: bool) -> (String, Binding) {
        if let Style::C(dialect) = self.style {
            if let (Some(shift), true) = (power_of_two(b), dialect.shifts) {
                return (format!("{} >> {shift}", self.at(a, Binding::Unary)), Binding::Shift);
            }
            if floor {
                return self.helper(dialect, "floor_div", a, b);
            }
            return (self.binary(a, "/", b), Binding::Product);
        }
        (self.binary(a, "//", b), Binding::Product)
    }

    fn remainder(&self, a: &Expr, b: &Expr, floor: bool) -> (String, Binding) {
        if let Style::C(dialect) = self.style {
            if let (Some(_), Expr::Int { value }, true) = (power_of_two(b), b, dialect.shifts) {
                let mask = self.int(value - 1).0;
                return (format!("{} & {mask}", self.at(a, Binding::Unary)), Binding::And);
            }
            if floor {
                return self.helper(dialect, "floor_mod", a, b);
            }
        }
        (self.binary(a, "%", b), Binding::Product)
    }

    fn binary(&self, a: &Expr, op: &str, b: &Expr) -> String {
        format!("{} {op} {}", self.at(a, Binding::Product), self.at(b, Binding::Unary))
    }

    fn helper(&self, dialect: &Dialect, name: &str, a: &Expr, b: &Expr) -> (String, Binding) {
        let text = format!("{}{name}({}, {})", dialect.helper, self.expr(a).0, self.expr(b).0);
        (text, Binding::Primary)
    }

    fn extreme(&self, name: &str, a: &Expr, b: &Expr) -> (String, Binding) {
        match self.style {
            Style::C(dialect) => self.helper(dialect, name, a, b),
            Style::Python => {
                let text = format!("{name}({}, {})", self.expr(a).0, self.expr(b).0);
                (text, Binding::Primary)
            }
        }
    }

    fn select(&self, condition: &Expr, then: &Expr, otherwise: &Expr) -> (String, Binding) {
        let one_or_zero = then == &Expr::int(1) && otherwise == &Expr::int(0);
        let (c, t, o) =
            (self.at(condition, Binding::All), self.at(then, Binding::Sum), self.expr(otherwise).0);
        match self.style {
            // A comparison is 1 or 0 in C.
            Style::C(_) if one_or_zero => (format!("({c})"), Binding::Primary),
            Style::C(_) => (format!("{c} ? {t} : {o}"), Binding::Select),
            Style::Python => (format!("{t} if {c} else {o}"), Binding::Select),
        }
    }

    fn compare(&self, op: Compare, a: &Expr, b: &Expr) -> (String, Binding) {
        let (sign, binding) = match op {
            Compare::Eq => ("==", Binding::Equality),
            Compare::Lt => ("<", Binding::Relation),
            Compare::Le => ("<=", Binding::Relation),
            Compare::Ge => (">=", Binding::Relation),
        };
        (format!("{} {sign} {}", self.at(a, Binding::Sum), self.at(b, Binding::Sum)), binding)
    }
}

/// `k` where `tree` is the integer `2^k`, k > 0.
pub(in crate::emit) fn power_of_two(tree: &Expr) -> Option<u32> {
    let Expr::Int { value } = tree else { return None };
    (*value > 1 && value.count_ones() == 1).then(|| value.trailing_zeros())
}
