//! Printer of Rust: heads, constants and statements of functions. Statements of GPU kernels, of OpenMP and of the C
//! runtime are not printed: a plan for Rust has none of them.

mod numbers;

use std::collections::BTreeMap;

use self::numbers::{item, subscript};
use super::binding::{Binding, binding};
use super::{Style, expr};
use crate::base::dtype::Dtype;
use crate::emit::dialect::Dialect;
use crate::emit::model::Constant;
use crate::emit::syntax::{
    Expr, Function, Operand, Param, ParamType, Returns, Spelling, Stmt, Strided, Value,
};
use crate::emit::{comment, element};

pub(super) use self::numbers::number;

/// Function head `pub fn name(n: i64, a: &[f32], b: &mut [f32])`, followed by `-> type` if there is a result.
pub(super) fn head(dialect: &'static Dialect, function: &Function) -> String {
    let params: Vec<String> = function.params.iter().map(|param| typed(dialect, param)).collect();
    let returns = match function.returns {
        Returns::Nothing => String::new(),
        Returns::Index | Returns::Bytes => format!(" -> {}", dialect.index),
        Returns::Bool => format!(" -> {}", dialect.boolean),
    };
    format!("pub fn {}({}){returns}", function.name, params.join(", "))
}

fn typed(dialect: &'static Dialect, Param { name, ty }: &Param) -> String {
    let items = |element: &str| element::type_name(dialect, element, true);
    match ty {
        ParamType::Index => format!("{name}: {}", dialect.index),
        ParamType::OutIndex => format!("{name}: &mut {}", dialect.index),
        ParamType::Input { element } | ParamType::InputImage { element, .. } => {
            format!("{name}: &[{}]", items(element))
        }
        ParamType::Output { element } | ParamType::OutputImage { element, .. } => {
            format!("{name}: &mut [{}]", items(element))
        }
    }
}

/// Definition of a constant: the line `pub const NAME: i64 = value;`.
pub fn constant(dialect: &'static Dialect, constant: &Constant) -> String {
    let value = expr(Style::Rust(dialect), &constant.value);
    format!("pub const {}: {} = {value};\n", constant.name, dialect.index)
}

/// Text of statements, indented by `depth` levels of four blanks.
pub(super) fn stmts(dialect: &'static Dialect, body: &[Stmt], depth: usize) -> String {
    let mut writer = Writer { dialect, elements: BTreeMap::new(), text: String::new() };
    writer.stmts(body, depth);
    writer.text
}

/// Text of a function's body, indented by `depth` levels. The lengths of buffers are checked after the conditions on
/// symbols, and a final `return` is printed as the value of the body.
pub(super) fn body(dialect: &'static Dialect, function: &Function, depth: usize) -> String {
    let buffer = |param: &'_ Param| match &param.ty {
        ParamType::Input { element } | ParamType::Output { element } => {
            Some((param.name.clone(), element.clone()))
        }
        _ => None,
    };
    let elements = function.params.iter().filter_map(buffer).collect();
    let mut writer = Writer { dialect, elements, text: String::with_capacity(1024) };
    let is_prologue = |stmt: &Stmt| matches!(stmt, Stmt::Assert { .. } | Stmt::Unused { .. });
    let start = function.body.iter().take_while(|stmt| is_prologue(stmt)).count();
    let (prologue, rest) = function.body.split_at(start);
    writer.stmts(prologue, depth);
    for (buffer, items) in &function.lengths {
        if !matches!(items, Expr::Int { value: ..=0 }) {
            let line = format!("assert!({buffer}.len() >= {});", subscript(dialect, items));
            writer.line(depth, &line);
        }
    }
    match rest.split_last() {
        Some((Stmt::Return { value }, before)) => {
            writer.stmts(before, depth);
            let value = writer.expr(value);
            writer.line(depth, &value);
        }
        _ => writer.stmts(rest, depth),
    }
    writer.text
}

struct Writer {
    dialect: &'static Dialect,
    /// Element types of buffers and arrays by name, in manifest notation.
    elements: BTreeMap<String, String>,
    text: String,
}

impl Writer {
    fn line(&mut self, depth: usize, line: &str) {
        for _ in 0..depth {
            self.text.push_str("    ");
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn expr(&self, tree: &Expr) -> String {
        expr(Style::Rust(self.dialect), tree)
    }

    fn type_name(&self, element: &str) -> String {
        element::type_name(self.dialect, element, false)
    }

    fn number(&self, value: &Value) -> String {
        number(self.dialect, value)
    }

    fn stmts(&mut self, body: &[Stmt], depth: usize) {
        body.iter().for_each(|stmt| self.stmt(stmt, depth));
    }

    fn block(&mut self, head: &str, body: &[Stmt], depth: usize) {
        self.line(depth, head);
        self.stmts(body, depth.saturating_add(1));
        self.line(depth, "}");
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize) {
        let index = self.dialect.index;
        match stmt {
            Stmt::Let { name, value } => {
                let line = format!("let {name}: {index} = {};", self.expr(value));
                self.line(depth, &line);
            }
            Stmt::LetIndex { name, value } => {
                let line = format!("let {name}: {index} = {};", self.number(value));
                self.line(depth, &line);
            }
            Stmt::LetElement { name, element, bits, spelling } => {
                let value = element::literal(self.dialect, element, bits, *spelling);
                let line = format!("let {name}: {} = {value};", self.type_name(element));
                self.line(depth, &line);
            }
            Stmt::Accumulator { name, element, value } => {
                let value = self.number(value);
                let line = format!("let mut {name}: {} = {value};", self.type_name(element));
                self.line(depth, &line);
            }
            Stmt::Declare { names } => {
                for name in names {
                    self.line(depth, &format!("let mut {name}: {index} = 0;"));
                }
            }
            Stmt::DeclareArray { name, element, elements }
            | Stmt::DeclareBlock { name, memory: _, element, elements } => {
                self.array(name, element, *elements, depth);
            }
            Stmt::For { name, from, to, step, parallel: _, body } => {
                self.counting_loop([name, index], [from, to], *step, body, depth);
            }
            Stmt::If { .. } => self.branches(stmt, depth),
            Stmt::OmpSingle { body } => self.stmts(body, depth),
            Stmt::Update { into, how, element, value } => {
                let line = numbers::update(self.dialect, into, *how, element, value);
                self.line(depth, &line);
            }
            Stmt::Store { .. } | Stmt::StoreByte { .. } => self.store(stmt, depth),
            Stmt::Copy { .. } | Stmt::Zero { .. } | Stmt::CastRuns { .. } => {
                self.run(stmt, depth);
            }
            Stmt::Call { name, args } => {
                let args: Vec<String> = args.iter().map(|arg| self.expr(arg)).collect();
                self.line(depth, &format!("{name}({});", args.join(", ")));
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
                let line = format!("assert!({});", self.expr(&truth(condition)));
                self.line(depth, &line);
            }
            Stmt::Comment { text } => {
                self.line(depth, &format!("// {}", comment::escape(text)));
            }
            Stmt::Unused { .. } | Stmt::Unroll { .. } | Stmt::Fence { .. } => {}
            Stmt::StoreVector { .. }
            | Stmt::CopyRuns { .. }
            | Stmt::Transpose { .. }
            | Stmt::Transposes { .. }
            | Stmt::CastTranspose { .. }
            | Stmt::ZeroRuns { .. }
            | Stmt::WorkItem { .. }
            | Stmt::Share { .. }
            | Stmt::DeclareLocal { .. }
            | Stmt::Alias { .. }
            | Stmt::Barrier
            | Stmt::CopyAsync { .. }
            | Stmt::AwaitCopies
            | Stmt::RegisterTranspose { .. }
            | Stmt::OmpFor { .. }
            | Stmt::OmpShared { .. }
            | Stmt::ImageStore { .. } => self.unprintable(depth),
        }
    }

    /// Prints an error of the Rust compiler in place of a statement that a plan for Rust does not have.
    fn unprintable(&mut self, depth: usize) {
        self.line(depth, "compile_error!(\"a statement without an equivalent in Rust\");");
    }

    fn array(&mut self, name: &str, element: &str, elements: i64, depth: usize) {
        let zero = element::literal(self.dialect, element, "0", Spelling::Number);
        let ty = self.type_name(element);
        self.elements.insert(name.to_owned(), element.to_owned());
        self.line(depth, &format!("let mut {name}: [{ty}; {elements}] = [{zero}; {elements}];"));
    }

    /// Prints a loop over a range, or a `while` loop for a step other than 1.
    fn counting_loop(
        &mut self,
        [name, index]: [&str; 2],
        bounds: [&Expr; 2],
        step: i64,
        body: &[Stmt],
        depth: usize,
    ) {
        let style = Style::Rust(self.dialect);
        let [from, to] = bounds.map(|bound| {
            let text = self.expr(bound);
            if binding(style, bound) < Binding::Sum { format!("({text})") } else { text }
        });
        // The type of a literal would be `i32` if nothing else determines it.
        let from = match bounds[0] {
            Expr::Int { .. } => format!("{from}_{index}"),
            Expr::Select { .. } => format!("{from} as {index}"),
            _ => from,
        };
        if step == 1 {
            return self.block(&format!("for {name} in {from}..{to} {{"), body, depth);
        }
        self.line(depth, &format!("let mut {name}: {index} = {from};"));
        self.line(depth, &format!("while {name} < {to} {{"));
        self.stmts(body, depth.saturating_add(1));
        self.line(depth.saturating_add(1), &format!("{name} += {step};"));
        self.line(depth, "}");
    }

    fn branches(&mut self, stmt: &Stmt, depth: usize) {
        let (mut next, mut lead) = (Some(stmt), "");
        while let Some(Stmt::If { condition, likely: _, body, otherwise }) = next.take() {
            let head = format!("{lead}if {} {{", self.expr(&truth(condition)));
            self.line(depth, &head);
            self.stmts(body, depth.saturating_add(1));
            match otherwise.as_slice() {
                [] => {}
                [only @ Stmt::If { .. }] => {
                    (next, lead) = (Some(only), "} else ");
                    continue;
                }
                otherwise => {
                    self.line(depth, "} else {");
                    self.stmts(otherwise, depth.saturating_add(1));
                }
            }
            self.line(depth, "}");
        }
    }

    fn store(&mut self, stmt: &Stmt, depth: usize) {
        let dialect = self.dialect;
        let line = match stmt {
            Stmt::Store { buffer, index, value, through: None } => {
                format!("{} = {};", item(dialect, buffer, index), self.operand(value))
            }
            Stmt::Store { buffer, index, value, through: Some(store) } => {
                format!("{store}({buffer}, {}, {});", self.expr(index), self.operand(value))
            }
            Stmt::StoreByte { buffer, index, value } => {
                format!("{} = 0x{value:02X};", item(dialect, buffer, index))
            }
            _ => return self.unprintable(depth),
        };
        self.line(depth, &line);
    }

    /// Prints a statement on contiguous elements as one on slices, a conversion as a loop.
    fn run(&mut self, stmt: &Stmt, depth: usize) {
        match stmt {
            Stmt::Copy { to, to_index, from, from_index, bytes } => {
                let count = self.items(to, bytes);
                let to = self.slice(to, to_index, &count);
                let from = self.slice(from, from_index, &count);
                self.line(depth, &format!("{to}.copy_from_slice(&{from});"));
            }
            Stmt::Zero { buffer, index, bytes } => {
                let count = self.items(buffer, bytes);
                let zero = match self.elements.get(buffer) {
                    Some(element) if !is_packed(element) => {
                        element::literal(self.dialect, element, "0", Spelling::Number)
                    }
                    _ => "0".to_owned(),
                };
                let slice = self.slice(buffer, index, &count);
                self.line(depth, &format!("{slice}.fill({zero});"));
            }
            Stmt::CastRuns { cast, to, from, count: Expr::Int { value: 1 }, elements } => {
                let count = subscript(self.dialect, elements);
                let [to, from] = [to, from]
                    .map(|Strided { buffer, index, stride: _ }| self.slice(buffer, index, &count));
                let cast = format!("{}cast_{cast}", self.dialect.structure);
                let pairs = format!("{to}.iter_mut().zip(&{from})");
                self.line(depth, &format!("for (to, from) in {pairs} {{"));
                self.line(depth.saturating_add(1), &format!("*to = {cast}(*from);"));
                self.line(depth, "}");
            }
            _ => self.unprintable(depth),
        }
    }

    /// Number of items of a buffer or array in `bytes` bytes, as a subscript.
    fn items(&self, buffer: &str, bytes: &Expr) -> String {
        let dtype = self.elements.get(buffer).and_then(|element| Dtype::of_plan(element));
        let size = dtype.map_or(1, |dtype| i64::from((dtype.element_bits() / 8).max(1)));
        let count = match bytes {
            bytes if size == 1 => bytes.clone(),
            Expr::Int { value } => Expr::int(value.div_euclid(size)),
            bytes => Expr::Div { a: Box::new(bytes.clone()), b: Box::new(Expr::int(size)) },
        };
        subscript(self.dialect, &count)
    }

    /// Slice of `count` items of a buffer from an index on.
    fn slice(&self, buffer: &str, index: &Expr, count: &str) -> String {
        match index {
            Expr::Int { value: 0 } => format!("{buffer}[..{count}]"),
            index => format!("{buffer}[{}..][..{count}]", subscript(self.dialect, index)),
        }
    }

    fn operand(&self, value: &Operand) -> String {
        match value {
            Operand::Element { name } => name.clone(),
            Operand::Number { value } => self.number(value),
            Operand::Cast { cast, value } => {
                format!("{}cast_{cast}({})", self.dialect.structure, self.operand(value))
            }
            Operand::Call { name, args } => {
                let args: Vec<String> = args.iter().map(|arg| self.expr(arg)).collect();
                format!("{name}({})", args.join(", "))
            }
            Operand::Load { buffer, index, through: None } => item(self.dialect, buffer, index),
            Operand::Load { buffer, index, through: Some(load) } => {
                format!("{load}({buffer}, {})", self.expr(index))
            }
        }
    }
}

/// Condition in which a variable stands for the comparison with 0: a variable that holds a truth value is a `u8`.
fn truth(condition: &Expr) -> Expr {
    match condition {
        Expr::Name { name } => Expr::Name { name: format!("{name} != 0") },
        Expr::All { args } => Expr::All { args: args.iter().map(truth).collect() },
        Expr::Not { a } => {
            let a = match truth(a) {
                Expr::Name { name } => Expr::Name { name: format!("({name})") },
                other => other,
            };
            Expr::Not { a: Box::new(a) }
        }
        other => other.clone(),
    }
}

/// True for an element type whose elements share bytes.
fn is_packed(element: &str) -> bool {
    Dtype::of_plan(element).is_some_and(|dtype| dtype.element_bits() < 8)
}
