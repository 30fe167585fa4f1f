//! Statements and prototypes as text.

use std::fmt::Write as _;

use super::{Style, expr};
use crate::emit::dialect::Dialect;
use crate::emit::{comment, element};
use crate::plan::tree::{Expr, Function, Operand, ParamType, Returns, Stmt};

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
            Stmt::Copy { to, to_index, from, from_index, bytes } => {
                let (to, from) = (self.address(to, to_index), self.address(from, from_index));
                let bytes = cast(&self.expr(bytes), "size_t");
                self.line(depth, &format!("memcpy({to}, {from}, {bytes});"));
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
                self.line(depth, &format!("/* {} */", comment::escape(text)));
            }
        }
    }

    /// The address of an element.
    fn address(&self, buffer: &str, index: &Expr) -> String {
        if *index == Expr::int(0) {
            return buffer.to_owned();
        }
        format!("&{buffer}[{}]", self.expr(index))
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
