//! Pseudo-code of planned statements, independent of the target language.

use crate::emit::print::{Style, expr, number};
use crate::emit::syntax::{self, Expr, Operand, ReduceOp, Stmt, Strided};
use crate::ir;

/// Lines of pseudo-code for statements, indented by two blanks per nesting level.
pub(super) fn lines(body: Vec<ir::Stmt>) -> Vec<String> {
    let mut lines = Vec::new();
    write(&mut lines, &syntax::stmts(body), 0);
    lines
}

fn write(lines: &mut Vec<String>, body: &[Stmt], depth: usize) {
    for stmt in body {
        let mut line = |text: String| lines.push([&"  ".repeat(depth), text.as_str()].concat());
        match stmt {
            Stmt::For { name, from, to, step, parallel, body } => {
                let by = if *step == 1 { String::new() } else { format!(" by {step}") };
                let cores = if *parallel { ", parallel" } else { "" };
                line(format!("for {name} in {}..{}{by}{cores}:", text(from), text(to)));
                write(lines, body, depth.saturating_add(1));
            }
            Stmt::If { condition, likely: _, body, otherwise } => {
                line(format!("if {}:", text(condition)));
                write(lines, body, depth.saturating_add(1));
                if !otherwise.is_empty() {
                    lines.push(["  ".repeat(depth).as_str(), "else:"].concat());
                    write(lines, otherwise, depth.saturating_add(1));
                }
            }
            _ => {
                if let Some(text) = simple(stmt) {
                    line(text);
                }
            }
        }
    }
}

/// Line of pseudo-code for a statement that contains no other statements; `None` for a statement that is not shown.
#[expect(clippy::wildcard_enum_match_arm, reason = "a function that moves a tensor has no others")]
fn simple(stmt: &Stmt) -> Option<String> {
    Some(match stmt {
        Stmt::Let { name, value } | Stmt::Set { name, value } => {
            format!("{name} = {}", text(value))
        }
        Stmt::LetElement { name, bits, element, .. } => {
            format!("{name} = {element} of bits 0x{bits}")
        }
        Stmt::Store { buffer, index, value, .. } => {
            format!("{buffer}[{}] = {}", text(index), operand(value))
        }
        Stmt::StoreByte { buffer, index, value } => {
            format!("byte {} of {buffer} = {value}", text(index))
        }
        Stmt::Copy { to, to_index, from, from_index, bytes } => {
            let (there, here) = (text(to_index), text(from_index));
            format!("copy {} bytes to {to}[{there}] from {from}[{here}]", text(bytes))
        }
        Stmt::Transpose { element_bytes, to, from, rows, columns, .. } => {
            let (rows, columns) = (text(rows), text(columns));
            let (to, from) = (strided(to, "columns"), strided(from, "rows"));
            let unit = if *element_bytes == 1 { "byte" } else { "bytes" };
            format!(
                "transpose {rows} rows of {columns} columns, {element_bytes} {unit} each, to {to}, from {from}"
            )
        }
        Stmt::Transposes {
            element_bytes,
            to,
            to_step,
            from,
            from_step,
            rows,
            columns,
            count,
            ..
        } => {
            let [rows, columns, count] = [rows, columns, count].map(text);
            let (to, from) = (strided(to, "columns"), strided(from, "rows"));
            let (to_step, from_step) = (text(to_step), text(from_step));
            let unit = if *element_bytes == 1 { "byte" } else { "bytes" };
            format!(
                "transpose {count} blocks of {rows} rows and {columns} columns, {element_bytes} {unit} each, to {to}, blocks {to_step} bytes apart, from {from}, blocks {from_step} bytes apart"
            )
        }
        Stmt::CopyRuns { to, from, count, bytes, .. } => {
            let (to, from) = (strided(to, "runs"), strided(from, "runs"));
            format!("copy {} runs of {} bytes to {to}, from {from}", text(count), text(bytes))
        }
        Stmt::CastRuns { cast, to, from, count, elements } => {
            let (to, from) = (strided(to, "runs"), strided(from, "runs"));
            let (count, elements) = (text(count), text(elements));
            format!("{cast}: {count} runs of {elements} elements to {to}, from {from}")
        }
        Stmt::CastTranspose { cast, together, to, from, rows, columns, .. } => {
            let (rows, columns) = (text(rows), text(columns));
            let (to, from) = (strided(to, "columns"), strided(from, "rows"));
            let each =
                if *together == 1 { String::new() } else { format!(", {together} elements each") };
            format!(
                "{cast}: transpose {rows} rows of {columns} columns{each}, to {to}, from {from}"
            )
        }
        Stmt::ZeroRuns { to, count, bytes } => {
            let to = strided(to, "runs");
            format!("zero {} runs of {} bytes at {to}", text(count), text(bytes))
        }
        Stmt::Zero { buffer, index, bytes } => {
            format!("zero {} bytes at {buffer}[{}]", text(bytes), text(index))
        }
        Stmt::Accumulator { name, value, .. } | Stmt::LetIndex { name, value } => {
            format!("{name} = {}", number(Style::Python, value))
        }
        Stmt::DeclareArray { name, element, elements }
        | Stmt::DeclareBlock { name, element, elements, memory: _ } => {
            format!("{name} = {elements} times {element}")
        }
        Stmt::Update { into, how, value, .. } => {
            let sign = match how {
                ReduceOp::Set => "=",
                ReduceOp::Sum => "+=",
                ReduceOp::Product => "*=",
                ReduceOp::Min => "min=",
                ReduceOp::Max => "max=",
            };
            let [into, value] = [into, value].map(|side| number(Style::Python, side));
            format!("{into} {sign} {value}")
        }
        Stmt::Assert { condition } => format!("given {}", text(condition)),
        Stmt::Comment { text } => format!("# {text}"),
        Stmt::Return { value } => format!("return {}", text(value)),
        _ => return None,
    })
}

fn operand(value: &Operand) -> String {
    match value {
        Operand::Load { buffer, index, .. } => format!("{buffer}[{}]", text(index)),
        Operand::Element { name } => name.clone(),
        Operand::Number { value } => number(Style::Python, value),
        Operand::Cast { cast, value } => format!("{cast}({})", operand(value)),
        Operand::Call { name, args } => {
            format!("{name}({})", args.iter().map(text).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Text of a strided access: `logical[p0] (columns 256 bytes apart)`. `places` has the first position and the stride in
/// bytes; `of` is the plural noun for a position, here `columns`.
fn strided(places: &Strided, of: &str) -> String {
    let Strided { buffer, index, stride } = places;
    format!("{buffer}[{}] ({of} {} bytes apart)", text(index), text(stride))
}

fn text(tree: &Expr) -> String {
    expr(Style::Python, tree)
}
