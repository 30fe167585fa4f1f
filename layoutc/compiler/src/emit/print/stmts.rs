//! Printer of statements.

use std::fmt::Write as _;

use super::groups::is_once;
use super::head::dialect_of;
use super::moved::{element_of, moved};
use super::numbers::{gathered, in_c};
use super::{Style, expr, python, rust, write};
use crate::emit::dialect::{Assert, Dialect};
use crate::emit::syntax::{
    Compare, Expr, Function, LoopKind, Operand, Param, Stmt, Strided, Value,
};
use crate::emit::{comment, element, register_transposes};

/// Text of statements, indented by `depth` levels of four blanks.
pub fn stmts(style: Style, body: &[Stmt], depth: usize) -> String {
    match style {
        Style::C(dialect) => written(dialect, &[], body, depth),
        Style::Rust(dialect) => rust::stmts(dialect, body, depth),
        Style::Python => python::stmts(body, depth),
    }
}

/// Text of a function's body, indented by `depth` levels.
pub fn body(style: Style, function: &Function, depth: usize) -> String {
    match style {
        Style::C(dialect) => {
            let dialect = dialect_of(dialect, function);
            let is_promise = |stmt: &Stmt| matches!(stmt, Stmt::Assert { .. });
            if !matches!(dialect.assert, Assert::Asked) || !function.body.iter().any(is_promise) {
                return written(dialect, &function.params, &function.body, depth);
            }
            // Conditions that the caller checks are not printed, and a parameter may have no other use.
            let is_printed =
                |stmt: &&Stmt| !is_promise(stmt) && !matches!(stmt, Stmt::Unused { .. });
            let rest = function.body.iter().filter(is_printed);
            let body: Vec<Stmt> = function.unchecked.iter().chain(rest).cloned().collect();
            written(dialect, &function.params, &body, depth)
        }
        Style::Rust(dialect) => rust::body(dialect, function, depth),
        Style::Python => python::stmts(&function.body, depth),
    }
}

fn written(dialect: &'static Dialect, params: &[Param], body: &[Stmt], depth: usize) -> String {
    let mut text = String::with_capacity(1024);
    let number = dialect.index;
    Writer { dialect, params, number, text: &mut text }.stmts(body, depth);
    text
}

pub(super) struct Writer<'a> {
    pub(super) dialect: &'static Dialect,
    /// Parameters of the function.
    params: &'a [Param],
    /// Type of `Let` variables: the index type, or `int` in a loop over the threads of a block.
    pub(super) number: &'static str,
    text: &'a mut String,
}

impl<'a> Writer<'a> {
    pub(super) fn line(&mut self, depth: usize, line: &str) {
        if !line.is_empty() {
            for _ in 0..depth {
                self.text.push_str("    ");
            }
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(super) fn expr(&self, tree: &Expr) -> String {
        expr(Style::C(self.dialect), tree)
    }

    /// Starts a line: indentation, then `parts`.
    pub(super) fn begin(&mut self, depth: usize, parts: &[&str]) {
        for _ in 0..depth {
            self.text.push_str("    ");
        }
        self.put(parts);
    }

    pub(super) fn put(&mut self, parts: &[&str]) {
        parts.iter().for_each(|part| self.text.push_str(part));
    }

    pub(super) fn put_expr(&mut self, tree: &Expr) {
        write(self.text, Style::C(self.dialect), tree);
    }

    fn put_args(&mut self, args: &[Expr]) {
        for (k, arg) in args.iter().enumerate() {
            self.put(if k == 0 { &[] } else { &[", "] });
            self.put_expr(arg);
        }
    }

    pub(super) fn stmts(&mut self, body: &'a [Stmt], depth: usize) {
        let Some((last, before)) = body.split_last() else { return };
        before.iter().for_each(|stmt| self.stmt(stmt, depth));
        match last {
            Stmt::Share { name, to, among: LoopKind::Thread, round: None, body } if is_once(to) => {
                self.once_by_each_item(name, body, true, depth);
            }
            last => self.stmt(last, depth),
        }
    }

    /// Prints a chain of `if`, `else if` and `else` from its condition on; the caller has indented the line.
    fn branches(&mut self, stmt: &'a Stmt, depth: usize) {
        let mut next = Some(stmt);
        while let Some(Stmt::If { condition, likely, body, otherwise }) = next.take() {
            let usual = if *likely { self.dialect.usual } else { "" };
            let (open, close) = if usual.is_empty() { ("", "") } else { ("(", ")") };
            self.put(&["if (", usual, open]);
            self.put_expr(condition);
            self.put(&[close, ") {\n"]);
            self.stmts(body, depth.saturating_add(1));
            match otherwise.as_slice() {
                [] => {}
                [only @ Stmt::If { .. }] => {
                    self.begin(depth, &["} else "]);
                    next = Some(only);
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

    fn stmt(&mut self, stmt: &'a Stmt, depth: usize) {
        match stmt {
            Stmt::Let { name, value } => {
                self.begin(depth, &["const ", self.number, " ", name, " = "]);
                self.put_expr(value);
                self.put(&[";\n"]);
            }
            Stmt::LetElement { name, element, bits, spelling } => {
                let ty = element::type_name(self.dialect, element, false);
                let value = element::literal(self.dialect, element, bits, *spelling);
                self.line(depth, &format!("const {ty} {name} = {value};"));
            }
            Stmt::For { name, from, to, step, parallel, body } => {
                if *parallel {
                    self.openmp("parallel for");
                }
                self.begin(depth, &["for (", self.dialect.index, " ", name, " = "]);
                self.put_expr(from);
                self.put(&["; "]);
                self.put_expr(&Expr::compare(Compare::Lt, Expr::name(name), to.clone()));
                match step {
                    1 => self.put(&["; ++", name]),
                    step => self.put(&["; ", name, " += ", &step.to_string()]),
                }
                self.put(&[") {\n"]);
                self.stmts(body, depth.saturating_add(1));
                self.line(depth, "}");
            }
            Stmt::If { .. } => {
                self.begin(depth, &[]);
                self.branches(stmt, depth);
            }
            Stmt::WorkItem { axes } => self.work_item(axes, depth),
            Stmt::Share { name, to, among: LoopKind::GridStride, round: _, body } => {
                self.share_among_groups(name, to, body, depth);
            }
            Stmt::Share { name, to, among: LoopKind::Block, round: _, body } => {
                self.one_for_each_group(name, to, body, depth);
            }
            Stmt::Share { name, to, among: LoopKind::Thread, round: None, body } if is_once(to) => {
                self.once_by_each_item(name, body, false, depth);
            }
            Stmt::Share { name, to, among: LoopKind::Thread, round, body } => {
                self.share_among_items(name, to, round.as_deref(), body, depth);
            }
            Stmt::DeclareLocal { name, element, elements } => {
                let ty = element::type_name(self.dialect, element, false);
                let local = self.dialect.groups.local;
                self.line(depth, &format!("{local}{ty} {name}[{elements}];"));
            }
            Stmt::Alias { name, buffer, element, written } => {
                let ty = element::type_name(self.dialect, element, false);
                let access = if *written { "" } else { "const " };
                let seen = format!("{}{access}{ty} *", self.dialect.pointer);
                self.line(depth, &format!("{seen}const {name} = ({seen}){buffer};"));
            }
            Stmt::RegisterTranspose { from, first, to, element, rows, columns } => {
                let name = register_transposes::name(self.dialect, element, [*rows, *columns]);
                self.begin(depth, &[&name, "("]);
                self.put_address(from, first);
                self.put(&[", ", to, ");\n"]);
            }
            Stmt::Fence { whole_bytes } => {
                self.begin(depth, &["layoutc_fence("]);
                self.put_expr(whole_bytes);
                self.put(&[");\n"]);
            }
            Stmt::Barrier => self.line(depth, self.dialect.groups.barrier),
            Stmt::CopyAsync { to, to_index, from, from_index, element } => {
                self.begin(depth, &[self.dialect.groups.async_copy.function, "("]);
                self.put_address(to, to_index);
                self.put(&[", "]);
                self.put_address(from, from_index);
                let ty = element::type_name(self.dialect, element, false);
                self.put(&[", sizeof(", &ty, "));\n"]);
            }
            Stmt::AwaitCopies => {
                for line in self.dialect.groups.async_copy.wait {
                    self.line(depth, line);
                }
            }
            Stmt::Declare { names } => {
                let line = format!("{} {};", self.dialect.index, names.join(", "));
                self.line(depth, &line);
            }
            Stmt::DeclareArray { name, element, elements } => {
                let ty = element::type_name(self.dialect, element, false);
                let line = format!("{ty} {name}[{elements}];");
                self.line(depth, &line);
            }
            Stmt::DeclareBlock { name, memory, element, elements } => {
                let ty = element::type_name(self.dialect, element, false);
                self.line(depth, &format!("{ty} {memory}[{elements}];"));
                let line = format!("{ty} *LAYOUTC_RESTRICT const {name} = {memory};");
                self.line(depth, &line);
            }
            Stmt::OmpFor { waits } => self.openmp(if *waits { "for" } else { "for nowait" }),
            Stmt::OmpSingle { body } => self.single(body, depth),
            Stmt::OmpShared { arrays } => self.team_arrays(arrays, depth),
            Stmt::Accumulator { name, element, value } => {
                let ty = element::type_name(self.dialect, element, false);
                self.begin(depth, &[&ty, " ", name, " = "]);
                self.put_number(value);
                self.put(&[";\n"]);
            }
            Stmt::LetIndex { name, value } => {
                self.begin(depth, &["const ", self.dialect.index, " ", name, " = "]);
                let cast = ["(", self.dialect.index, ")("];
                let is_narrow = self.dialect.index_max <= i64::from(i32::MAX);
                self.put(if is_narrow { &cast } else { &[] });
                self.put_number(value);
                self.put(&[if is_narrow { ");\n" } else { ";\n" }]);
            }
            Stmt::Update { into, how, element, value } => {
                let elements = |buffer: &str| self.elements(buffer, "const ");
                let line = gathered(self.dialect, (into, *how, value), element, &elements);
                self.line(depth, &line);
            }
            Stmt::Unroll { rounds } => {
                if let Some(line) = (self.dialect.unroll)(*rounds) {
                    self.line(depth, &line);
                }
            }
            Stmt::Call { name, args } => {
                self.begin(depth, &[name, "("]);
                self.put_args(args);
                self.put(&[");\n"]);
            }
            Stmt::ImageStore { function, args, value } => {
                self.begin(depth, &[function, "("]);
                self.put_args(args);
                self.put(if args.is_empty() { &[] } else { &[", "] });
                self.put_operand(value);
                self.put(&[");\n"]);
            }
            Stmt::Store { buffer, index, value, through } => {
                match moved(self.dialect, self.params, stmt) {
                    Some(moved) => self.move_bits(&moved, depth),
                    None => self.store(buffer, index, value, through.as_deref(), depth),
                }
            }
            Stmt::StoreVector { buffer, index, array, item, elements } => {
                let elements = elements.to_string();
                self.begin(depth, &[self.dialect.store_vector, "(", &elements, ", "]);
                self.put_address(buffer, index);
                self.put(&[", "]);
                self.put_address(array, item);
                self.put(&[");\n"]);
            }
            Stmt::StoreByte { buffer, index, value } => {
                self.begin(depth, &[buffer, "["]);
                self.put_expr(index);
                self.put(&[&format!("] = 0x{value:02X};\n")]);
            }
            Stmt::Copy { to, to_index, from, from_index, bytes } => {
                self.begin(depth, &["memcpy("]);
                self.put_address(to, to_index);
                self.put(&[", "]);
                self.put_address(from, from_index);
                self.put(&[", ", &cast(&self.expr(bytes), "size_t"), ");\n"]);
            }
            Stmt::CopyRuns { to, from, count, bytes, whole_bytes } => {
                let args = [count, bytes, whole_bytes];
                self.call_on_blocks("copy_runs", &[(to, None), (from, None)], &args, depth);
            }
            Stmt::Transpose { element_bytes, to, from, rows, columns, typical: _, whole_bytes } => {
                let cached = if whole_bytes.is_near() { "cached_" } else { "" };
                let function = format!("transpose_{cached}{element_bytes}");
                let args = [rows, columns, whole_bytes];
                self.call_on_blocks(&function, &[(to, None), (from, None)], &args, depth);
            }
            Stmt::Transposes {
                element_bytes,
                to,
                to_step,
                from,
                from_step,
                from_next,
                rows,
                columns,
                typical: _,
                count,
                whole_bytes,
            } => {
                let function = format!("transpose_blocks_{element_bytes}");
                let places = [(to, Some(to_step)), (from, Some(from_step))];
                let args = [rows, columns, count, from_next, whole_bytes];
                self.call_on_blocks(&function, &places, &args, depth);
            }
            Stmt::CastRuns { cast, to, from, count, elements } => {
                let function = format!("cast_runs_{cast}");
                let places = [(to, None), (from, None)];
                self.call_on_blocks(&function, &places, &[count, elements], depth);
            }
            Stmt::CastTranspose { cast, together, to, from, rows, columns, whole_bytes } => {
                let function = format!("cast_transpose_{cast}_{together}");
                let args = [rows, columns, whole_bytes];
                self.call_on_blocks(&function, &[(to, None), (from, None)], &args, depth);
            }
            Stmt::ZeroRuns { to, count, bytes } => {
                self.call_on_blocks("zero_runs", &[(to, None)], &[count, bytes], depth);
            }
            Stmt::Zero { buffer, index, bytes } => {
                self.begin(depth, &["memset("]);
                self.put_address(buffer, index);
                self.put(&[", 0, ", &cast(&self.expr(bytes), "size_t"), ");\n"]);
            }
            Stmt::Set { name, value } => {
                self.begin(depth, &["*", name, " = "]);
                self.put_expr(value);
                self.put(&[";\n"]);
            }
            Stmt::Return { value } => {
                self.begin(depth, &["return "]);
                self.put_expr(value);
                self.put(&[";\n"]);
            }
            Stmt::Assert { condition } => match self.dialect.assert {
                Assert::Abort => {
                    self.begin(depth, &["assert("]);
                    self.put_expr(condition);
                    self.put(&[");\n"]);
                }
                Assert::Leave => {
                    let not = Expr::Not { a: Box::new(condition.clone()) };
                    self.begin(depth, &["if ("]);
                    self.put_expr(&not);
                    self.put(&[") {\n"]);
                    self.line(depth.saturating_add(1), "return;");
                    self.line(depth, "}");
                }
                Assert::Asked => {}
            },
            Stmt::Unused { name } => self.begin(depth, &["(void)", name, ";\n"]),
            Stmt::Comment { text } => {
                self.begin(depth, &["/* ", &comment::escape(text), " */\n"]);
            }
        }
    }

    fn put_number(&mut self, value: &Value) {
        let text = in_c(self.dialect, value, &|buffer| self.elements(buffer, "const "));
        self.put(&[&text]);
    }

    /// Prints the address of an element: `&buffer[index]`, or `buffer` for index 0.
    pub(super) fn put_address(&mut self, buffer: &str, index: &Expr) {
        if *index == Expr::int(0) {
            self.put(&[buffer]);
        } else {
            self.put(&["&", buffer, "["]);
            self.put_expr(index);
            self.put(&["]"]);
        }
    }

    /// Prints a call of the relayout primitive `layoutc_<function>`. Each of `places` is passed as an address and a
    /// stride, followed by the distance between blocks if it has one; `args` follow.
    fn call_on_blocks(
        &mut self,
        function: &str,
        places: &[(&Strided, Option<&Expr>)],
        args: &[&Expr],
        depth: usize,
    ) {
        self.begin(depth, &["layoutc_", function, "("]);
        for (place, step) in places {
            self.put_address(&place.buffer, &place.index);
            self.put(&[", "]);
            for bytes in std::iter::once(&place.stride).chain(*step) {
                self.put_expr(bytes);
                self.put(&[", "]);
            }
        }
        for (k, arg) in args.iter().enumerate() {
            self.put(if k == 0 { &[] } else { &[", "] });
            self.put_expr(arg);
        }
        self.put(&[");\n"]);
    }

    /// Prints the name of a buffer through which elements are accessed. If it is a parameter with `f16` elements and
    /// the language cannot copy halves, the buffer is cast to the integers with their bits. `access` is `const ` for a
    /// read, empty for a write.
    fn put_elements(&mut self, buffer: &str, access: &str) {
        let elements = self.elements(buffer, access);
        self.put(&[&elements]);
    }

    fn elements(&self, buffer: &str, access: &str) -> String {
        match (&self.dialect.half, element_of(self.params, buffer)) {
            (Some(half), Some("f16")) => {
                ["((", self.dialect.pointer, access, half.bits, " *)", buffer, ")"].concat()
            }
            _ => buffer.to_owned(),
        }
    }

    fn put_operand(&mut self, value: &Operand) {
        match value {
            Operand::Element { name } => self.put(&[name]),
            Operand::Number { value } => self.put_number(value),
            Operand::Cast { cast, value } => {
                self.put(&[self.dialect.structure, "cast_", cast, "("]);
                self.put_operand(value);
                self.put(&[")"]);
            }
            Operand::Call { name, args } => {
                self.put(&[name, "("]);
                self.put_args(args);
                self.put(&[")"]);
            }
            Operand::Load { buffer, index, through: None } => {
                self.put_elements(buffer, "const ");
                self.put(&["["]);
                self.put_expr(index);
                self.put(&["]"]);
            }
            Operand::Load { buffer, index, through: Some(load) } => {
                self.put(&[load, "(", buffer, ", "]);
                self.put_expr(index);
                self.put(&[")"]);
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
        self.begin(depth, &[]);
        match through {
            None => {
                self.put_elements(buffer, "");
                self.put(&["["]);
            }
            Some(store) => self.put(&[store, "(", buffer, ", "]),
        }
        self.put_expr(index);
        self.put(&[if through.is_none() { "] = " } else { ", " }]);
        self.put_operand(value);
        self.put(&[if through.is_none() { ";\n" } else { ");\n" }]);
    }
}

pub(super) fn cast(text: &str, ty: &str) -> String {
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
