//! Diagnostics of syntax errors in statements.

use std::sync::Arc;

use super::statement_syntax::{IN_AN_INDEX, MAX_DEPTH, StatementError, StatementErrorKind};
use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;
use crate::check::expr::{parse_fault, place_in};
use crate::manifest::syntax::SpannedText;

/// Help with an example of a statement.
const FORM: &str = "write a statement like `B[i, j] = 2 * A[j, i] + 1`";

/// Help for a power that is written as an operator.
const POWER: &str = "write a power as `pow(x, 2)`, or as a product: `x * x`";

/// Help for indices in separate brackets.
const ONE_PAIR: &str = "write all indices of a tensor in one pair of brackets: `B[i, j]`";

/// The diagnostic of a syntax error.
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
                    "an index that reads elements has no `&` or `^`: write `x % 4` for `x & 3`"
                }
                "`^`" => POWER,
                "`&`" => "write `and`",
                "`[`" if before.trim_end().ends_with(']') => ONE_PAIR,
                "`if`" | "`else`" => "write `select(condition, a, b)`",
                _ if from.starts_with("++") || from.starts_with("--") => {
                    "write `+= 1`, or `-= 1` as `+= -1`"
                }
                _ => FORM,
            };
            syntax(format!("expected {expected}, found {found}")).help(help)
        }
        StatementErrorKind::Character(c) => {
            let error = syntax(format!("unexpected character `{}` in a statement", c.escape_debug()));
            match c {
                _ if text.value.trim_start().starts_with("for ") => {
                    error.help("loops are derived from the axes: write `b[i] = 2 * a[i]` alone")
                }
                ';' => error.help("remove it: each `compute` contains one statement"),
                '!' => error.help("write `not`"),
                '^' => error.help(POWER),
                '&' => error.help("write `and`"),
                '|' => error.help("write `or`"),
                '?' => error
                    .help("write `A[…] ?? 0` for a value outside, `select(c, a, b)` for a choice"),
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
        StatementErrorKind::Literal(literal) => syntax(format!("`{literal}` is not a number")).help(
            "write literals in decimal, without leading zeros, `_` or letters: `10`, `0.5`, `1e-3`",
        ),
        StatementErrorKind::Field(field) => {
            let message =
                format!("kernels that use a field of a record, `{field}`, are not supported yet");
            fault(Code::NameNotYet, message).help("store each field in its own tensor")
        }
        StatementErrorKind::TooDeep => {
            let message = format!("the statement is nested deeper than {MAX_DEPTH}, or too long");
            fault(Code::ExprNesting, message)
                .help("split it into several statements")
        }
        StatementErrorKind::Chained => {
            syntax("comparisons cannot be chained".to_owned()).help("write `a < b and b < c`")
        }
        StatementErrorKind::Guard => {
            syntax("`??` must follow a read".to_owned())
                .note("`??` has the lowest precedence")
                .help("parenthesize the read with its value outside: `(A[…] ?? 0)`")
        }
        StatementErrorKind::Keyword(word) => {
            syntax(format!("`{word}` is a reserved word")).help("give it another name")
        }
        StatementErrorKind::NoOperator => {
            let from = text.value.get(error.span.start..).unwrap_or_default();
            let help = if from.starts_with('[') { ONE_PAIR } else { FORM };
            syntax("expected `=`, `+=`, `*=`, `min=` or `max=`".to_owned()).help(help)
        }
        StatementErrorKind::Index(error, span) => {
            let start = text.span.start + span.start;
            let value = text.value.get(span.clone()).unwrap_or_default().to_owned();
            let part = SpannedText { value, span: start..start + span.len(), quoted: true };
            parse_fault(error, &part, file)
        }
    }
}
