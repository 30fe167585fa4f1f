//! Textual form of the loop IR: `Display` for [`Function`] prints one statement per line, indented by nesting, for the
//! expected outputs of pass tests and for debugging.

use std::fmt::{self, Display, Formatter, Write as _};

use super::{
    Compare, Expr, Function, LoopKind, Param, Primitive, ReduceOp, Stmt, Storage, Strided, Value,
    ValueOp,
};
use crate::base::fill::digits;

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        separated(f, self.params.iter().map(|Param { name, ty }| format!("{name}: {ty:?}")))?;
        writeln!(f, ") -> {:?}", self.returns)?;
        lines(f, &self.body, 1)
    }
}

fn lines(f: &mut Formatter<'_>, body: &[Stmt], depth: usize) -> fmt::Result {
    for stmt in body {
        let indent = depth.saturating_mul(2);
        writeln!(f, "{:indent$}{stmt}", "")?;
        match stmt {
            Stmt::If { body, otherwise, .. } => {
                lines(f, body, depth.saturating_add(1))?;
                if !otherwise.is_empty() {
                    writeln!(f, "{:indent$}else", "")?;
                    lines(f, otherwise, depth.saturating_add(1))?;
                }
            }
            _ => stmt.nested().try_for_each(|body| lines(f, body, depth.saturating_add(1)))?,
        }
    }
    Ok(())
}

fn separated(f: &mut Formatter<'_>, parts: impl IntoIterator<Item = impl Display>) -> fmt::Result {
    parts.into_iter().enumerate().try_for_each(|(k, part)| {
        f.write_str(if k == 0 { "" } else { ", " })?;
        write!(f, "{part}")
    })
}

/// Prints one line for the statement, such as `for i in 0..n by 4`, without the statements nested in it.
impl Display for Stmt {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Let { name, value } => write!(f, "let {name} = {value}"),
            Self::LetIndex { name, value } => write!(f, "let {name} = index {value}"),
            Self::LetElement { name, dtype, bytes, .. } => {
                write!(f, "let {name} = {dtype} 0x{}", digits(*dtype, bytes))
            }
            Self::Variable { name, dtype, value } => write!(f, "var {name}: {dtype} = {value}"),
            Self::Declare { names } => {
                f.write_str("declare ")?;
                separated(f, names)
            }
            Self::Allocate { name, dtype, elements, storage } => {
                let storage = match storage {
                    Storage::Private => "private",
                    Storage::Shared => "shared",
                    Storage::Restrict { .. } => "restrict",
                    Storage::Team { .. } => "team",
                };
                write!(f, "allocate {storage} {name}: {dtype}[{elements}]")
            }
            Self::Alias { name, buffer, dtype, written } => {
                let access = if *written { "writes" } else { "reads" };
                write!(f, "alias {name}: {dtype} {access} {buffer}")
            }
            Self::For { name, from, to, step, kind, .. } => {
                write!(f, "for {name} in {from}..{to}")?;
                if *step != 1 {
                    write!(f, " by {step}")?;
                }
                match kind {
                    LoopKind::Serial => Ok(()),
                    LoopKind::Unrolled(count) => write!(f, " unrolled {count}"),
                    LoopKind::Parallel => f.write_str(" parallel"),
                    LoopKind::Worksharing { waits: true } => f.write_str(" worksharing"),
                    LoopKind::Worksharing { waits: false } => f.write_str(" worksharing nowait"),
                    LoopKind::GridStride => f.write_str(" grid-stride"),
                    LoopKind::Block => f.write_str(" block"),
                    LoopKind::Thread { .. } => f.write_str(" thread"),
                }
            }
            Self::Launch { axes } => {
                f.write_str("launch ")?;
                separated(f, axes.iter().map(|axis| format!("{} < {}", axis.name, axis.extent)))
            }
            Self::If { condition, likely, .. } => {
                write!(f, "if {condition}{}", if *likely { " likely" } else { "" })
            }
            Self::Store { buffer, index, value, .. } => write!(f, "{buffer}[{index}] = {value}"),
            Self::StoreByte { buffer, index, value } => {
                write!(f, "bytes of {buffer}[{index}] = {value:#04x}")
            }
            Self::Update { into, how, value, .. } => {
                let sign = match how {
                    ReduceOp::Set => "=",
                    ReduceOp::Sum => "+=",
                    ReduceOp::Product => "*=",
                    ReduceOp::Min => "min=",
                    ReduceOp::Max => "max=",
                };
                write!(f, "{into} {sign} {value}")
            }
            Self::Single { .. } => f.write_str("single"),
            Self::Primitive(primitive) => write!(f, "{primitive}"),
            Self::Set { name, value } => write!(f, "*{name} = {value}"),
            Self::Return { value } => write!(f, "return {value}"),
            Self::Assert { condition } => write!(f, "assert {condition}"),
            Self::Comment { text } => write!(f, "# {text}"),
        }
    }
}

impl Display for Strided {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}] by {} bytes", self.buffer, self.index, self.stride)
    }
}

impl Display for Primitive {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Copy { to, to_index, from, from_index, bytes } => {
                write!(f, "copy {to}[{to_index}], {from}[{from_index}], {bytes} bytes")
            }
            Self::CopyRuns { to, from, count, bytes, .. } => {
                write!(f, "copy_runs {to}, {from}, {count} x {bytes} bytes")
            }
            Self::Transpose { element_bytes, to, from, rows, columns, blocks, .. } => {
                write!(f, "transpose_{element_bytes} {to}, {from}, {rows} x {columns}")?;
                match blocks {
                    Some(blocks) => write!(f, ", {} blocks", blocks.count),
                    None => Ok(()),
                }
            }
            Self::CastRuns { cast, to, from, count, elements } => {
                write!(f, "{} {to}, {from}, {count} x {elements}", cast.name())
            }
            Self::CastTranspose { cast, to, from, rows, columns, .. } => {
                write!(f, "{} transposed {to}, {from}, {rows} x {columns}", cast.name())
            }
            Self::Zero { buffer, index, bytes } => {
                write!(f, "zero {buffer}[{index}], {bytes} bytes")
            }
            Self::ZeroRuns { to, count, bytes } => {
                write!(f, "zero_runs {to}, {count} x {bytes} bytes")
            }
            Self::TransposeWords { from, first, to, rows, columns, .. } => {
                write!(f, "transpose_words {to}, {from}[{first}], {rows} x {columns}")
            }
            Self::StoreVector { to, to_index, from, from_index, elements } => {
                write!(f, "store_vector {to}[{to_index}], {from}[{from_index}], {elements}")
            }
            Self::Fence { .. } => f.write_str("fence"),
            Self::Barrier => f.write_str("barrier"),
            Self::CopyAsync { dtype: _, to, to_index, from, from_index } => {
                write!(f, "copy_async {to}[{to_index}], {from}[{from_index}]")
            }
            Self::AwaitCopies => f.write_str("await_copies"),
            Self::Call { name, args } => call(f, name, args),
            Self::StoreTexel { function, args, value } => {
                call(f, function, args)?;
                write!(f, " = {value}")
            }
        }
    }
}

fn call(f: &mut Formatter<'_>, name: &str, args: &[impl Display]) -> fmt::Result {
    write!(f, "{name}(")?;
    separated(f, args)?;
    f.write_char(')')
}

/// Prints the operands `args` joined by `operator`, in parentheses: `(a * b * c)`. An operand `Neg` of a sum, except
/// the first, is printed as a subtraction: `(a - b)`.
fn joined(f: &mut Formatter<'_>, args: &[Expr], operator: &str) -> fmt::Result {
    f.write_char('(')?;
    for (k, arg) in args.iter().enumerate() {
        match arg {
            Expr::Neg { a } if operator == "+" && k > 0 => write!(f, " - {a}")?,
            arg if k == 0 => write!(f, "{arg}")?,
            arg => write!(f, " {operator} {arg}")?,
        }
    }
    f.write_char(')')
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int { value } => write!(f, "{value}"),
            Self::Bool { value } => write!(f, "{value}"),
            Self::Name { name } => f.write_str(name),
            Self::Output { name } => write!(f, "*{name}"),
            Self::Address { name } => write!(f, "&{name}"),
            Self::Neg { a } => write!(f, "-{a}"),
            Self::Add { args } => joined(f, args, "+"),
            Self::Mul { args } => joined(f, args, "*"),
            Self::BitAnd { args } => joined(f, args, "&"),
            Self::BitXor { args } => joined(f, args, "^"),
            Self::All { args } => joined(f, args, "and"),
            Self::Div { a, b } => write!(f, "({a} / {b})"),
            Self::FloorDiv { a, b } => write!(f, "({a} // {b})"),
            Self::Mod { a, b } | Self::FloorMod { a, b } => write!(f, "({a} % {b})"),
            Self::Min { a, b } => write!(f, "min({a}, {b})"),
            Self::Max { a, b } => write!(f, "max({a}, {b})"),
            Self::Hilbert { a, b, rows, columns } => {
                write!(f, "hilbert({a}, {b}, {rows}, {columns})")
            }
            Self::HilbertCell { a, rows, columns } => {
                write!(f, "hilbert_cell({a}, {rows}, {columns})")
            }
            Self::Select { condition, then, otherwise } => {
                write!(f, "({then} if {condition} else {otherwise})")
            }
            Self::Call { name, args } => call(f, name, args),
            Self::Compare { op, a, b } => {
                let op = match op {
                    Compare::Eq => "==",
                    Compare::Lt => "<",
                    Compare::Le => "<=",
                    Compare::Ge => ">=",
                };
                write!(f, "{a} {op} {b}")
            }
            Self::Not { a } => write!(f, "not {a}"),
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant { dtype, bits } => write!(f, "{dtype} 0x{bits:x}"),
            Self::Name { name } => f.write_str(name),
            Self::Item { array: buffer, index } | Self::Load { buffer, index, .. } => {
                write!(f, "{buffer}[{index}]")
            }
            Self::Index { dtype, value } => write!(f, "{dtype}({value})"),
            Self::Holds { condition } => write!(f, "({condition})"),
            Self::Fetch { function, args } => call(f, function, args),
            Self::Negate { a, .. } => write!(f, "-{a}"),
            Self::Not { a } => write!(f, "not {a}"),
            Self::Binary { op, a, b, .. } => {
                let op = match op {
                    ValueOp::Add => "+",
                    ValueOp::Subtract => "-",
                    ValueOp::Multiply => "*",
                    ValueOp::Divide => "/",
                    ValueOp::FloorDivide => "//",
                    ValueOp::Modulo => "%",
                    ValueOp::And => "and",
                    ValueOp::Or => "or",
                    ValueOp::Min => return write!(f, "min({a}, {b})"),
                    ValueOp::Max => return write!(f, "max({a}, {b})"),
                    ValueOp::Equal => "==",
                    ValueOp::NotEqual => "!=",
                    ValueOp::Less => "<",
                    ValueOp::LessOrEqual => "<=",
                };
                write!(f, "({a} {op} {b})")
            }
            Self::Select { condition, then, otherwise } => {
                write!(f, "({then} if {condition} else {otherwise})")
            }
            Self::Call { function, args, .. } => call(f, function.name(), args),
            Self::Convert { to, value, .. } => write!(f, "{to}({value})"),
            Self::Cast { cast, value } => write!(f, "{}({value})", cast.name()),
        }
    }
}
