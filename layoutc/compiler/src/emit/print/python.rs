//! Printer of index functions in Python. Statements on buffers are printed as comments, because a template defines how
//! a buffer is represented in Python.

use super::piece::{Infix, Piece};
use super::{Style, expr};
use crate::emit::dialect::C;
use crate::emit::element;
use crate::emit::syntax::{Expr, Spelling, Stmt, Value, ValueOp};

/// Text of statements, indented by `depth` levels of four blanks.
pub(super) fn stmts(body: &[Stmt], depth: usize) -> String {
    let mut text = String::new();
    write(&mut text, body, depth);
    text
}

fn line(text: &mut String, depth: usize, line: &str) {
    for _ in 0..depth {
        text.push_str("    ");
    }
    text.push_str(line);
    text.push('\n');
}

fn python(tree: &Expr) -> String {
    expr(Style::Python, tree)
}

fn write(text: &mut String, body: &[Stmt], depth: usize) {
    let inside = depth.saturating_add(1);
    let before = text.len();
    for stmt in body {
        match stmt {
            Stmt::Let { name, value } | Stmt::Set { name, value } => {
                line(text, depth, &format!("{name} = {}", python(value)));
            }
            Stmt::For { name, from, to, step, body, .. } => {
                let head =
                    format!("for {name} in range({}, {}, {step}):", python(from), python(to));
                line(text, depth, &head);
                write(text, body, inside);
            }
            Stmt::If { condition, likely: _, body, otherwise } => {
                line(text, depth, &format!("if {}:", python(condition)));
                write(text, body, inside);
                if !otherwise.is_empty() {
                    line(text, depth, "else:");
                    write(text, otherwise, inside);
                }
            }
            Stmt::Return { value } => line(text, depth, &format!("return {}", python(value))),
            Stmt::Assert { condition } => {
                line(text, depth, &format!("assert {}", python(condition)));
            }
            Stmt::Unused { .. } | Stmt::Declare { .. } => {}
            Stmt::Comment { text: remark } => {
                line(text, depth, &format!("# {}", crate::emit::comment::escape(remark)));
            }
            Stmt::LetElement { .. }
            | Stmt::Store { .. }
            | Stmt::StoreByte { .. }
            | Stmt::StoreVector { .. }
            | Stmt::Copy { .. }
            | Stmt::CopyRuns { .. }
            | Stmt::Transpose { .. }
            | Stmt::Transposes { .. }
            | Stmt::CastRuns { .. }
            | Stmt::CastTranspose { .. }
            | Stmt::ZeroRuns { .. }
            | Stmt::Zero { .. }
            | Stmt::WorkItem { .. }
            | Stmt::Share { .. }
            | Stmt::DeclareLocal { .. }
            | Stmt::Alias { .. }
            | Stmt::Accumulator { .. }
            | Stmt::LetIndex { .. }
            | Stmt::Update { .. }
            | Stmt::Unroll { .. }
            | Stmt::Barrier
            | Stmt::CopyAsync { .. }
            | Stmt::AwaitCopies
            | Stmt::RegisterTranspose { .. }
            | Stmt::Fence { .. }
            | Stmt::DeclareArray { .. }
            | Stmt::DeclareBlock { .. }
            | Stmt::OmpFor { .. }
            | Stmt::OmpSingle { .. }
            | Stmt::OmpShared { .. }
            | Stmt::Call { .. }
            | Stmt::ImageStore { .. } => line(text, depth, "# a statement on memory"),
        }
    }
    if text.len() == before {
        line(text, depth, "pass");
    }
}

/// Value in the syntax of manifests, for comments.
pub(super) fn number(value: &Value) -> Piece {
    let all = |args: &[&Value]| args.iter().map(|arg| number(arg)).collect::<Vec<_>>();
    match value {
        Value::Constant { element, bits } => {
            let text = element::literal(&C, element, bits, Spelling::Number);
            let text = text.trim_end_matches('f').to_ascii_lowercase();
            Piece::literal(text.replace("infinity", "inf"))
        }
        Value::Name { name } => Piece::primary(name),
        Value::Item { array: buffer, index } | Value::Load { buffer, index, .. } => {
            Piece::primary(format!("{buffer}[{}]", python(index)))
        }
        Value::Index { value: index, .. } | Value::Holds { condition: index } => {
            Piece::primary(format!("({})", python(index)))
        }
        Value::Fetch { function, args } => {
            Piece::call(function, args.iter().map(|arg| Piece::primary(python(arg))))
        }
        Value::Negate { a, .. } => Piece::prefix("-", number(a)),
        Value::Not { a } => Piece::not(number(a)),
        Value::Binary { op, a, b, .. } => match infix(*op) {
            Ok(operator) => Piece::infix(number(a), operator, number(b)),
            Err(function) => Piece::call(function, all(&[a, b])),
        },
        Value::Select { condition, then, otherwise } => {
            Piece::call("select", all(&[condition, then, otherwise]))
        }
        Value::Call { function, args, .. } => Piece::call(function, args.iter().map(number)),
        Value::Convert { to, value, .. } => Piece::call(to, [number(value)]),
        Value::Cast { cast, value } => Piece::call(cast, [number(value)]),
    }
}

/// Python operator, or `Err` with the name of a function if there is no operator.
fn infix(op: ValueOp) -> Result<Infix, &'static str> {
    Ok(match op {
        ValueOp::Add => Infix::sum("+"),
        ValueOp::Subtract => Infix::sum("-"),
        ValueOp::Multiply => Infix::product("*"),
        ValueOp::Divide => Infix::product("/"),
        ValueOp::FloorDivide => Infix::product("//"),
        ValueOp::Modulo => Infix::product("%"),
        ValueOp::And => Infix::and("and"),
        ValueOp::Or => Infix::or("or"),
        ValueOp::Equal => Infix::equality("=="),
        ValueOp::NotEqual => Infix::equality("!="),
        ValueOp::Less => Infix::equality("<"),
        ValueOp::LessOrEqual => Infix::equality("<="),
        ValueOp::Min => return Err("min"),
        ValueOp::Max => return Err("max"),
    })
}
