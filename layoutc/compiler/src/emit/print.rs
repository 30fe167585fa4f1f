//! Trees as text: one printer for every language of the C family, and for Python's operators in comments.
//!
//! Parentheses are those that the grammar needs, and those without which gcc and clang warn: sums and bit operations
//! inside a shift, anything but a name inside `&` and `^`.

use std::fmt::Write as _;

use super::dialect::Dialect;
use super::element;
use crate::plan::tree::{Compare, Expr, Function, Operand, ParamType, Returns, Stmt};

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

/// Statements as text, each line indented by `depth` levels of four blanks.
pub fn stmts(dialect: &'static Dialect, body: &[Stmt], depth: usize) -> String {
    let mut text = String::new();
    Writer { dialect, text: &mut text }.stmts(body, depth);
    text
}

/// `returns name(parameters)`, without a semicolon.
pub fn prototype(dialect: &'static Dialect, function: &Function) -> String {
    let returns = match function.returns {
        Returns::Nothing => "void",
        Returns::Index => dialect.index,
        Returns::Bool => dialect.boolean,
    };
    let params: Vec<String> = function
        .params
        .iter()
        .map(|param| match &param.ty {
            ParamType::Index => format!("{} {}", dialect.index, param.name),
            ParamType::OutIndex => format!("{} *{}", dialect.index, param.name),
            ParamType::Input { element } => {
                let ty = element::type_name(dialect, element, true);
                format!("{}const {ty} *{}", dialect.pointer, param.name)
            }
            ParamType::Output { element } => {
                let ty = element::type_name(dialect, element, true);
                format!("{}{ty} *{}", dialect.pointer, param.name)
            }
        })
        .collect();
    let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
    format!("{returns} {}({params})", function.name)
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
pub(super) fn power_of_two(tree: &Expr) -> Option<u32> {
    let Expr::Int { value } = tree else { return None };
    (*value > 1 && value.count_ones() == 1).then(|| value.trailing_zeros())
}

struct Writer<'a> {
    dialect: &'static Dialect,
    text: &'a mut String,
}

impl Writer<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        if !line.is_empty() {
            for _ in 0..depth {
                self.text.push_str("    ");
            }
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn expr(&self, tree: &Expr) -> String {
        expr(Style::C(self.dialect), tree)
    }

    fn stmts(&mut self, body: &[Stmt], depth: usize) {
        for stmt in body {
            self.stmt(stmt, depth);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize) {
        match stmt {
            Stmt::Let { name, value } => {
                let line = format!("const {} {name} = {};", self.dialect.index, self.expr(value));
                self.line(depth, &line);
            }
            Stmt::LetElement { name, element, bits } => {
                let ty = element::type_name(self.dialect, element, false);
                let value = element::literal(element, bits);
                self.line(depth, &format!("const {ty} {name} = {value};"));
            }
            Stmt::For { name, from, to, step, body } => {
                let index = self.dialect.index;
                let (from, to) = (self.expr(from), self.expr(to));
                let next =
                    if *step == 1 { format!("++{name}") } else { format!("{name} += {step}") };
                let line = format!("for ({index} {name} = {from}; {name} < {to}; {next}) {{");
                self.line(depth, &line);
                self.stmts(body, depth.saturating_add(1));
                self.line(depth, "}");
            }
            Stmt::If { condition, body } => {
                let line = format!("if ({}) {{", self.expr(condition));
                self.line(depth, &line);
                self.stmts(body, depth.saturating_add(1));
                self.line(depth, "}");
            }
            Stmt::Store { buffer, index, value, through } => {
                self.store(buffer, index, value, through.as_deref(), depth);
            }
            Stmt::StoreByte { buffer, index, value } => {
                let line = format!("{buffer}[{}] = 0x{value:02X};", self.expr(index));
                self.line(depth, &line);
            }
            Stmt::Zero { buffer, bytes } => {
                let bytes = cast(&self.expr(bytes), "size_t");
                self.line(depth, &format!("memset({buffer}, 0, {bytes});"));
            }
            Stmt::Set { name, value } => {
                let line = format!("*{name} = {};", self.expr(value));
                self.line(depth, &line);
            }
            Stmt::Return { value } => {
                let line = format!("return {};", self.expr(value));
                self.line(depth, &line);
            }
            Stmt::Assert { condition } => {
                let line = format!("assert({});", self.expr(condition));
                self.line(depth, &line);
            }
            Stmt::Unused { name } => self.line(depth, &format!("(void){name};")),
            Stmt::Comment { text } => {
                self.line(depth, &format!("/* {} */", super::comment::escape(text)));
            }
        }
    }

    fn store(
        &mut self,
        buffer: &str,
        index: &Expr,
        value: &Operand,
        through: Option<&str>,
        depth: usize,
    ) {
        let value = match value {
            Operand::Element { name } => name.clone(),
            Operand::Load { buffer, index, through: None } => {
                format!("{buffer}[{}]", self.expr(index))
            }
            Operand::Load { buffer, index, through: Some(load) } => {
                format!("{load}({buffer}, {})", self.expr(index))
            }
        };
        let index = self.expr(index);
        let line = match through {
            None => format!("{buffer}[{index}] = {value};"),
            Some(store) => format!("{store}({buffer}, {index}, {value});"),
        };
        self.line(depth, &line);
    }
}

fn cast(text: &str, ty: &str) -> String {
    let simple = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match (simple, text.bytes().all(|b| b.is_ascii_digit())) {
        (_, true) => text.to_owned(),
        (true, _) => format!("({ty}){text}"),
        (false, _) => {
            let mut wrapped = String::new();
            // Writing to a string cannot fail.
            let _ok = write!(wrapped, "({ty})({text})");
            wrapped
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::dialect::{C, C_PLAIN};

    fn name(name: &str) -> Expr {
        Expr::name(name)
    }

    fn boxed(tree: Expr) -> Box<Expr> {
        Box::new(tree)
    }

    fn c(tree: &Expr) -> String {
        expr(Style::C(&C), tree)
    }

    #[test]
    fn powers_of_two_are_shifts_and_masks_in_the_parentheses_that_compilers_ask_for() {
        let sum = Expr::Add { args: vec![name("h"), Expr::int(1)] };
        let div = Expr::FloorDiv { a: boxed(sum.clone()), b: boxed(Expr::int(4)) };
        let rest = Expr::FloorMod { a: boxed(div.clone()), b: boxed(Expr::int(8)) };
        assert_eq!(c(&div), "(h + 1) >> 2");
        assert_eq!(c(&rest), "((h + 1) >> 2) & 7");
        let total = Expr::Add { args: vec![rest.clone(), Expr::int(3)] };
        assert_eq!(c(&total), "(((h + 1) >> 2) & 7) + 3");
        let product = Expr::Mul { args: vec![div, Expr::int(3)] };
        assert_eq!(c(&product), "((h + 1) >> 2) * 3");
        assert_eq!(expr(Style::Python, &rest), "(h + 1) // 4 % 8");
        let xor = Expr::BitXor { args: vec![rest, name("w")] };
        assert_eq!(c(&xor), "(((h + 1) >> 2) & 7) ^ w");
    }

    #[test]
    fn other_divisors_divide_where_the_operand_is_not_negative() {
        let b = || boxed(Expr::int(3));
        let div = Expr::Div { a: boxed(name("x")), b: b() };
        let rest = Expr::Mod { a: boxed(div.clone()), b: boxed(name("k")) };
        assert_eq!(c(&rest), "x / 3 % k");
        let floor = Expr::FloorDiv { a: boxed(name("x")), b: b() };
        assert_eq!(c(&floor), "layoutc_floor_div(x, 3)");
        let floor = Expr::FloorMod { a: boxed(name("x")), b: boxed(Expr::int(4)) };
        assert_eq!(expr(Style::C(&C_PLAIN), &floor), "plain_floor_mod(x, 4)");
        let inner = Expr::Div { a: boxed(name("x")), b: boxed(div) };
        assert_eq!(c(&inner), "x / (x / 3)");
    }

    #[test]
    fn sums_start_with_a_term_that_is_added() {
        let product = Expr::Mul { args: vec![name("c"), Expr::int(-4)] };
        assert_eq!(c(&Expr::Add { args: vec![product.clone(), Expr::int(6)] }), "6 - c * 4");
        let neg = Expr::Neg { a: boxed(name("c")) };
        assert_eq!(c(&Expr::Add { args: vec![neg.clone(), Expr::int(-1)] }), "-c - 1");
        assert_eq!(c(&Expr::Mul { args: vec![name("a"), neg] }), "a * -c");
        let both = Expr::Add { args: vec![name("a"), name("b")] };
        assert_eq!(c(&Expr::Neg { a: boxed(both) }), "-(a + b)");
    }

    #[test]
    fn wide_literals_carry_their_type() {
        assert_eq!(c(&Expr::int(2_147_483_647)), "2147483647");
        assert_eq!(c(&Expr::int(2_147_483_648)), "INT64_C(2147483648)");
        assert_eq!(c(&Expr::int(-2_147_483_648)), "-INT64_C(2147483648)");
        assert_eq!(c(&Expr::int(i64::MIN)), "-INT64_C(9223372036854775807) - 1");
    }

    #[test]
    fn conditions_bind_as_c_has_it() {
        let low = Expr::compare(Compare::Ge, name("a"), Expr::int(0));
        let high = Expr::compare(Compare::Lt, name("a"), name("b"));
        let all = Expr::All { args: vec![low, high.clone()] };
        assert_eq!(c(&all), "a >= 0 && a < b");
        assert_eq!(expr(Style::Python, &all), "a >= 0 and a < b");
        assert_eq!(c(&Expr::Not { a: boxed(all) }), "!(a >= 0 && a < b)");
        let select = Expr::Select {
            condition: boxed(high),
            then: boxed(Expr::int(1)),
            otherwise: boxed(Expr::int(0)),
        };
        assert_eq!(c(&Expr::Add { args: vec![name("q"), select] }), "q + (a < b)");
    }
}
