//! What is wrong with the text of a statement, as diagnostics.

use std::sync::Arc;

use super::statement_syntax::{IN_AN_INDEX, MAX_DEPTH, StatementError, StatementErrorKind};
use crate::check::expr::{parse_fault, place_in};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::manifest::syntax::SpannedText;

/// How a statement is written.
const FORM: &str = "a statement is written `B[i, j] = 2 * A[j, i] + 1`";

/// The way out where a power is written as an operator.
const POWER: &str = "a power is `pow(x, 2)`, or a product: `x * x`";

/// The way out where each index has brackets of its own.
const ONE_PAIR: &str = "all indices of a tensor stand in one pair of brackets: `B[i, j]`";

/// The fault at its characters.
pub(super) fn text_fault(
    error: &StatementError,
    text: &SpannedText,
    file: &Arc<str>,
) -> Diagnostic {
    let place = place_in(text, &error.span, file);
    let fault = |code: Code, message: String| Diagnostic::error(code, message, place.clone(), "");
    let syntax = |message: String| fault(Code::KernelSyntax, message);
    match &error.kind {
        StatementErrorKind::Unexpected { expected, found } => {
            let (before, from) = text.value.split_at_checked(error.span.start).unwrap_or_default();
            let help = match found.as_str() {
                "`*`" if before.ends_with('*') => POWER,
                "`^`" | "`&`" if *expected == IN_AN_INDEX => {
                    "an index that reads elements has no `&` and `^`: `x & 3` is `x % 4`"
                }
                "`^`" => POWER,
                "`&`" => "it is written `and`",
                "`[`" if before.trim_end().ends_with(']') => ONE_PAIR,
                "`if`" | "`else`" => "a choice is written `select(condition, a, b)`",
                _ if from.starts_with("++") || from.starts_with("--") => {
                    "write `+= 1`, or `-= 1` as `+= -1`"
                }
                _ => FORM,
            };
            syntax(format!("expected {expected}, found {found}")).help(help)
        }
        StatementErrorKind::Character(c) => {
            let error = syntax(format!("`{}` means nothing in a statement", c.escape_debug()));
            match c {
                _ if text.value.trim_start().starts_with("for ") => {
                    error.help("loops are made of the axes: write `b[i] = 2 * a[i]` alone")
                }
                ';' => error.help("take it out: each statement stands in a `compute` of its own"),
                '!' => error.help("it is written `not`"),
                '^' => error.help(POWER),
                '&' => error.help("it is written `and`"),
                '|' => error.help("it is written `or`"),
                '?' => error
                    .help("what stands outside is written `A[…] ?? 0`; a choice `select(c, a, b)`"),
                _ => error.help(FORM),
            }
        }
        StatementErrorKind::TooBig(literal) => {
            fault(Code::ExprOverflow, format!("the literal {literal} is too large"))
                .note(format!(
                    "the largest integer is {}, the largest float {:e}",
                    i64::MAX,
                    f64::MAX
                ))
                .help("write a smaller number, or `inf`")
        }
        StatementErrorKind::Literal(literal) => syntax(format!("`{literal}` is no number")).help(
            "literals are decimal, without leading zeros, `_` or letters: `10`, `0.5`, `1e-3`",
        ),
        StatementErrorKind::Field(field) => {
            let message =
                format!("kernels that use a field of a record, `{field}`, are not built yet");
            fault(Code::NameNotYet, message).help("hold each field in a tensor of its own")
        }
        StatementErrorKind::TooDeep => {
            let message = format!("the statement is nested deeper than {MAX_DEPTH}, or too long");
            fault(Code::ExprNesting, message)
                .help("let one statement follow another, each with a part of it")
        }
        StatementErrorKind::Chained => {
            syntax("comparisons are not chained".to_owned()).help("write `a < b and b < c`")
        }
        StatementErrorKind::Guard => {
            syntax("`??` stands behind a read, and this is more than one".to_owned())
                .note("`??` binds the loosest of all operators")
                .help("parenthesise the read with what stands for it outside: `(A[…] ?? 0)`")
        }
        StatementErrorKind::Keyword(word) => {
            syntax(format!("`{word}` is a word of the language")).help("give it another name")
        }
        StatementErrorKind::NoOperator => {
            let from = text.value.get(error.span.start..).unwrap_or_default();
            let help = if from.starts_with('[') { ONE_PAIR } else { FORM };
            syntax("a statement writes by `=`, `+=`, `*=`, `min=` or `max=`".to_owned()).help(help)
        }
        StatementErrorKind::Index(error, span) => {
            let start = text.span.start + span.start;
            let value = text.value.get(span.clone()).unwrap_or_default().to_owned();
            let part = SpannedText { value, span: start..start + span.len(), quoted: true };
            parse_fault(error, &part, file)
        }
    }
}
