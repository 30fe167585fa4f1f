//! Printer of index functions in Python. Statements on buffers are printed as comments, because a template defines how
//! a buffer is represented in Python.

use super::piece::{Infix, Piece};
use super::{Style, expr};
use crate::emit::dialect::C;
use crate::emit::element;
use crate::emit::syntax::{Expr, Number, NumberOp, Spelling, Stmt};

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
            Stmt::If { condition, is_usual: _, body, otherwise } => {
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
            | Stmt::Gather { .. }
            | Stmt::Unroll { .. }
            | Stmt::Barrier
            | Stmt::CopyAsync { .. }
            | Stmt::AwaitCopies
            | Stmt::Turn { .. }
            | Stmt::Fence { .. }
            | Stmt::DeclareArray { .. }
            | Stmt::DeclareBlock { .. }
            | Stmt::ShareRounds { .. }
            | Stmt::Single { .. }
            | Stmt::TeamArrays { .. }
            | Stmt::Invoke { .. }
            | Stmt::Put { .. } => line(text, depth, "# a statement on memory"),
        }
    }
    if text.len() == before {
        line(text, depth, "pass");
    }
}

/// Value in the syntax of manifests, for comments.
pub(super) fn number(value: &Number) -> Piece {
    let all = |args: &[&Number]| args.iter().map(|arg| number(arg)).collect::<Vec<_>>();
    match value {
        Number::Constant { element, bits } => {
            let text = element::literal(&C, element, bits, Spelling::Number);
            let text = text.trim_end_matches('f').to_ascii_lowercase();
            Piece::literal(text.replace("infinity", "inf"))
        }
        Number::Name { name } => Piece::primary(name),
        Number::Item { array: buffer, index } | Number::Load { buffer, index, .. } => {
            Piece::primary(format!("{buffer}[{}]", python(index)))
        }
        Number::Index { value: index, .. } | Number::Holds { condition: index } => {
            Piece::primary(format!("({})", python(index)))
        }
        Number::Fetch { function, args } => {
            Piece::call(function, args.iter().map(|arg| Piece::primary(python(arg))))
        }
        Number::Negate { a, .. } => Piece::prefix("-", number(a)),
        Number::Not { a } => Piece::not(number(a)),
        Number::Binary { op, a, b, .. } => match infix(*op) {
            Ok(operator) => Piece::infix(number(a), operator, number(b)),
            Err(function) => Piece::call(function, all(&[a, b])),
        },
        Number::Select { condition, then, otherwise } => {
            Piece::call("select", all(&[condition, then, otherwise]))
        }
        Number::Call { function, args, .. } => Piece::call(function, args.iter().map(number)),
        Number::Convert { to, value, .. } => Piece::call(to, [number(value)]),
        Number::Cast { cast, value } => Piece::call(cast, [number(value)]),
    }
}

/// Python operator, or `Err` with the name of a function if there is no operator.
fn infix(op: NumberOp) -> Result<Infix, &'static str> {
    Ok(match op {
        NumberOp::Add => Infix::sum("+"),
        NumberOp::Subtract => Infix::sum("-"),
        NumberOp::Multiply => Infix::product("*"),
        NumberOp::Divide => Infix::product("/"),
        NumberOp::FloorDivide => Infix::product("//"),
        NumberOp::Modulo => Infix::product("%"),
        NumberOp::And => Infix::and("and"),
        NumberOp::Or => Infix::or("or"),
        NumberOp::Equal => Infix::equality("=="),
        NumberOp::NotEqual => Infix::equality("!="),
        NumberOp::Less => Infix::equality("<"),
        NumberOp::LessOrEqual => Infix::equality("<="),
        NumberOp::Min => return Err("min"),
        NumberOp::Max => return Err("max"),
    })
}
