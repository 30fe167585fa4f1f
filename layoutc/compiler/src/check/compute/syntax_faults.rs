//! Diagnostics of syntax errors in statements, with help that shows the correct form.

use std::sync::Arc;

use super::statement_syntax::{IN_AN_INDEX, MAX_DEPTH, StatementError, StatementErrorKind};
use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;
use crate::check::expr::{parse_fault, place_in};
use crate::manifest::syntax::SpannedText;

/// Help with an example of a statement.
const FORM: &str =
    "a statement is a target with its axes, an operator and a value: `B[i, j] = 2 * A[j, i] + 1`";

/// Help for indices in separate brackets.
const ONE_PAIR: &str = "write all indices of a tensor in one pair of brackets: `B[i, j]`";

/// Help for a power written as `x ^ 2` or `x ** 2`; `before` is the text before the operator.
fn power(before: &str) -> String {
    let base = operand_before(before.trim_end_matches('*')).unwrap_or("x");
    format!("write a power as `pow({base}, 2)`, or as a product: `{base} * {base}`")
}

/// Help for `&` or `^` in an index that reads elements, with the remainder that replaces a mask: `x % 4` for `x & 3`.
/// `before` is the text before the operator; `from` is the text that starts with the operator.
fn masked(before: &str, from: &str) -> String {
    let digits = from.trim_start_matches(['&', '^', ' ']);
    let digits = digits.get(..digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len()));
    let mask = digits.and_then(|digits| digits.parse::<u64>().ok());
    let divisor = mask.and_then(|mask| mask.checked_add(1)).filter(|next| next.is_power_of_two());
    let example = match (operand_before(before), mask, divisor) {
        (Some(operand), Some(mask), Some(divisor)) if from.starts_with('&') => {
            format!("`{operand} % {divisor}` for `{operand} & {mask}`")
        }
        _ => "`x % 4` for `x & 3`".to_owned(),
    };
    format!("an index that reads elements has no `&` or `^`: write {example}")
}

/// Operand at the end of a text: `A[i]` for `2 * A[i]`, `(a + b)` for `c - (a + b)`. `None` if there is none.
fn operand_before(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let mut start = text.len();
    let (mut depth, mut is_word) = (0_usize, false);
    for (at, c) in text.char_indices().rev() {
        match c {
            ']' | ')' if depth > 0 || !is_word => depth += 1,
            '[' | '(' if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            _ if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') => is_word = true,
            _ => break,
        }
        start = at;
    }
    text.get(start..).filter(|operand| depth == 0 && !operand.is_empty())
}

/// Help for a syntax error where a value was expected. `before` is the text before the error; `found` describes the
/// token that was found there.
fn missing_value(before: &str, found: &str) -> String {
    let signs =
        ["+=", "*=", "//", "==", "!=", "<=", ">=", "=", "+", "-", "*", "/", "%", "<", ">", ","];
    let before = before.trim_end();
    let sign = signs.iter().find(|sign| before.ends_with(**sign));
    match (sign, found) {
        (Some(sign), "the end") if sign.ends_with('=') => {
            format!("write a value after `{sign}`: `{before} 0`")
        }
        (Some(sign), _) => format!("write a value after `{sign}`, or remove `{sign}`"),
        _ => FORM.to_owned(),
    }
}

/// Diagnostic for a syntax error in the statement `text` of `file`.
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
                "`*`" if before.ends_with('*') => power(before),
                "`^`" | "`&`" if *expected == IN_AN_INDEX => masked(before, from),
                "`^`" => power(before),
                "`&`" => "write `and`".to_owned(),
                "`[`" if before.trim_end().ends_with(']') => ONE_PAIR.to_owned(),
                "`if`" | "`else`" => "write `select(condition, a, b)`".to_owned(),
                _ if from.starts_with("++") || from.starts_with("--") => {
                    "write `+= 1`, or `-= 1` as `+= -1`".to_owned()
                }
                _ if *expected == "a value" => missing_value(before, found),
                _ if expected.contains("axes alone") => {
                    "write axes alone on the left, and the arithmetic in the index of a read: `B[i] = A[i - 1]`".to_owned()
                }
                "the end" if expected.ends_with("`]`") => "close the index with `]`".to_owned(),
                _ if *expected == "`[` and the axes" => {
                    let target = before.trim();
                    format!("write the axes of `{target}` in brackets, as in `{target}[i, j]`")
                }
                _ => FORM.to_owned(),
            };
            syntax(format!("expected {expected}, found {found}")).help(help)
        }
        StatementErrorKind::Character(c) => {
            let error_start = error.span.start;
            let error = syntax(format!("unexpected character `{}` in a statement", c.escape_debug()));
            match c {
                _ if text.value.trim_start().starts_with("for ") => {
                    error.help("loops are derived from the axes: write `b[i] = 2 * a[i]` alone")
                }
                ';' => error.help("remove it: each `compute` contains one statement"),
                '!' => error.help("write `not`"),
                '^' => error.help(power(text.value.get(..error_start).unwrap_or_default())),
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
        StatementErrorKind::Chained { first, middle, rest } => {
            let [first, middle, rest] =
                [first, middle, rest].map(|span| text.value.get(span.clone()).unwrap_or_default());
            syntax("comparisons cannot be chained".to_owned())
                .help(format!("write `{first} and {middle} {rest}`"))
        }
        StatementErrorKind::Guard => {
            let before = text.value.get(..error.span.start).unwrap_or_default();
            let read = operand_before(before).filter(|read| read.ends_with(']'));
            let read = read.unwrap_or("A[…]");
            syntax("`??` must follow a read".to_owned())
                .note("`??` has the lowest precedence")
                .help(format!("parenthesize the read with its value outside: `({read} ?? 0)`"))
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
