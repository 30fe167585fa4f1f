//! Statements of index functions in Python. Moves of whole tensors are left to the template: what a buffer is in
//! Python is its business, so their statements become comments.

use super::{Style, expr};
use crate::plan::tree::{Expr, Stmt};

/// Statements as text, each line indented by `depth` levels of four blanks.
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
            | Stmt::Gather { .. }
            | Stmt::Unroll { .. }
            | Stmt::Barrier
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
