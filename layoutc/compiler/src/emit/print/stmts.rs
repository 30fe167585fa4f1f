//! Statements and prototypes as text.

use std::fmt::Write as _;

use super::{Style, expr, python};
use crate::emit::dialect::{Assert, Dialect};
use crate::emit::{comment, element};
use crate::plan::tree::{Expr, Function, Operand, Param, ParamType, Returns, Stmt, WorkAxis};

/// Statements as text, each line indented by `depth` levels of four blanks.
pub fn stmts(style: Style, body: &[Stmt], depth: usize) -> String {
    match style {
        Style::C(dialect) => write(dialect, &[], body, depth),
        Style::Python => python::stmts(body, depth),
    }
}

/// The body of a function, each line indented by `depth` levels.
pub fn body(style: Style, function: &Function, depth: usize) -> String {
    match style {
        Style::C(dialect) => {
            write(dialect_of(dialect, function), &function.params, &function.body, depth)
        }
        Style::Python => python::stmts(&function.body, depth),
    }
}

fn write(dialect: &'static Dialect, params: &[Param], body: &[Stmt], depth: usize) -> String {
    let mut text = String::new();
    Writer { dialect, params, text: &mut text }.stmts(body, depth);
    text
}

/// The dialect of a function: that with wide indices where it counts bytes.
fn dialect_of(dialect: &'static Dialect, function: &Function) -> &'static Dialect {
    if function.returns == Returns::Bytes { dialect.for_bytes() } else { dialect }
}

/// `returns name(parameters)`, without a semicolon.
pub fn prototype(dialect: &'static Dialect, function: &Function) -> String {
    let dialect = dialect_of(dialect, function);
    let returns = match function.returns {
        Returns::Nothing => "void",
        Returns::Index | Returns::Bytes => dialect.index,
        Returns::Bool => dialect.boolean,
    };
    format!("{returns} {}({})", function.name, parameters(dialect, function, dialect.restrict))
}

/// The parameters of a function, `restrict` before the names of pointers to elements.
pub fn parameters(dialect: &'static Dialect, function: &Function, restrict: &str) -> String {
    let image = |rank: &u32| dialect.images.iter().find(|image| image.rank == *rank);
    let params: Vec<String> = function
        .params
        .iter()
        .map(|Param { name, ty }| match ty {
            ParamType::Index => format!("{} {name}", dialect.index),
            ParamType::OutIndex => format!("{} *{name}", dialect.index),
            ParamType::Input { element } => {
                let ty = buffer_type(dialect, element);
                format!("{}const {ty} *{restrict}{name}", dialect.pointer)
            }
            ParamType::Output { element } => {
                let ty = buffer_type(dialect, element);
                format!("{}{ty} *{restrict}{name}", dialect.pointer)
            }
            ParamType::InputImage { rank, .. } => {
                format!("{} {name}", image(rank).map_or("", |image| image.read))
            }
            ParamType::OutputImage { rank, .. } => {
                format!("{} {name}", image(rank).map_or("", |image| image.write))
            }
        })
        .collect();
    if params.is_empty() { "void".to_owned() } else { params.join(", ") }
}

/// The type that a pointer to elements points to.
fn buffer_type(dialect: &Dialect, element: &str) -> String {
    match &dialect.half {
        Some(half) if element == "f16" => half.memory.to_owned(),
        _ => element::type_name(dialect, element, true),
    }
}

struct Writer<'a> {
    dialect: &'static Dialect,
    /// The parameters of the function.
    params: &'a [Param],
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
                let value = element::literal(self.dialect, element, bits);
                self.line(depth, &format!("const {ty} {name} = {value};"));
            }
            Stmt::For { name, from, to, step, parallel, body } => {
                for line in self.dialect.parallel.iter().filter(|_| *parallel) {
                    self.line(0, line);
                }
                let index = self.dialect.index;
                let (from, to) = (self.expr(from), self.expr(to));
                let next =
                    if *step == 1 { format!("++{name}") } else { format!("{name} += {step}") };
                let line = format!("for ({index} {name} = {from}; {name} < {to}; {next}) {{");
                self.line(depth, &line);
                self.stmts(body, depth.saturating_add(1));
                self.line(depth, "}");
            }
            Stmt::If { condition, body, otherwise } => {
                let line = format!("if ({}) {{", self.expr(condition));
                self.line(depth, &line);
                self.stmts(body, depth.saturating_add(1));
                if !otherwise.is_empty() {
                    self.line(depth, "} else {");
                    self.stmts(otherwise, depth.saturating_add(1));
                }
                self.line(depth, "}");
            }
            Stmt::WorkItem { axes } => self.work_item(axes, depth),
            Stmt::Declare { names } => {
                let line = format!("{} {};", self.dialect.index, names.join(", "));
                self.line(depth, &line);
            }
            Stmt::DeclareTexel { name, element, lanes } => {
                let ty = element::type_name(self.dialect, element, false);
                let line = format!("{ty} {name}[{lanes}];");
                self.line(depth, &line);
            }
            Stmt::Invoke { name, args } => {
                let args: Vec<String> = args.iter().map(|arg| self.expr(arg)).collect();
                self.line(depth, &format!("{name}({});", args.join(", ")));
            }
            Stmt::Put { function, args, value } => {
                let mut args: Vec<String> = args.iter().map(|arg| self.expr(arg)).collect();
                args.push(self.operand(value));
                self.line(depth, &format!("{function}({});", args.join(", ")));
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
            Stmt::Assert { condition } => match self.dialect.assert {
                Assert::Abort => {
                    let line = format!("assert({});", self.expr(condition));
                    self.line(depth, &line);
                }
                Assert::Leave => {
                    let not = Expr::Not { a: Box::new(condition.clone()) };
                    let line = format!("if ({}) {{", self.expr(&not));
                    self.line(depth, &line);
                    self.line(depth.saturating_add(1), "return;");
                    self.line(depth, "}");
                }
                Assert::Asked => {}
            },
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

    /// The numbers of this work item, after a guard: launch ranges may be rounded up.
    fn work_item(&mut self, axes: &[WorkAxis], depth: usize) {
        let items = axes.iter().zip(self.dialect.work_item);
        let beyond: Vec<String> = items
            .clone()
            .map(|(axis, item)| match &axis.extent {
                Expr::Int { .. } => format!("{item} >= {}", self.expr(&axis.extent)),
                extent => format!("{item} >= {}", cast(&self.expr(extent), self.dialect.work_size)),
            })
            .collect();
        self.line(depth, &format!("if ({}) {{", beyond.join(" || ")));
        self.line(depth.saturating_add(1), "return;");
        self.line(depth, "}");
        for (axis, item) in items {
            let index = self.dialect.index;
            let number = if item.contains(' ') { format!("({item})") } else { item.to_owned() };
            self.line(depth, &format!("const {index} {} = ({index}){number};", axis.name));
        }
    }

    /// The element type of a parameter; `None` for what is no parameter.
    fn element_of(&self, buffer: &str) -> Option<&str> {
        let param = self.params.iter().find(|param| param.name == buffer)?;
        match &param.ty {
            ParamType::Input { element } | ParamType::Output { element } => Some(element),
            ParamType::Index
            | ParamType::OutIndex
            | ParamType::InputImage { .. }
            | ParamType::OutputImage { .. } => None,
        }
    }

    /// A buffer of elements; of its bits, where the language does not copy the elements themselves.
    fn elements(&self, buffer: &str, access: &str) -> String {
        match (&self.dialect.half, self.element_of(buffer)) {
            (Some(half), Some("f16")) => {
                format!("(({}{access}{} *){buffer})", self.dialect.pointer, half.bits)
            }
            _ => buffer.to_owned(),
        }
    }

    fn operand(&self, value: &Operand) -> String {
        match value {
            Operand::Element { name } => name.clone(),
            Operand::Call { name, args } => {
                let args: Vec<String> = args.iter().map(|arg| self.expr(arg)).collect();
                format!("{name}({})", args.join(", "))
            }
            Operand::Load { buffer, index, through: None } => {
                format!("{}[{}]", self.elements(buffer, "const "), self.expr(index))
            }
            Operand::Load { buffer, index, through: Some(load) } => {
                format!("{load}({buffer}, {})", self.expr(index))
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
        let (index, value) = (self.expr(index), self.operand(value));
        let line = match through {
            None => format!("{}[{index}] = {value};", self.elements(buffer, "")),
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
