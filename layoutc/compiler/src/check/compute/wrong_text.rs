//! What is wrong with the text of a statement, as diagnostics.

use std::sync::Arc;

use super::text::{MAX_DEPTH, TextError, TextErrorKind};
use crate::check::expr::{parse_fault, place_in};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::manifest::syntax::Text;

/// How a statement is written.
const FORM: &str = "a statement is written `B[i, j] = 2 * A[j, i] + 1`";

/// The fault at its characters.
pub(super) fn text_fault(error: &TextError, text: &Text, file: &Arc<str>) -> Diagnostic {
    let place = place_in(text, &error.span, file);
    let fault = |code: Code, message: String| Diagnostic::error(code, message, place.clone(), "");
    let syntax = |message: String| fault(Code::KernelSyntax, message);
    match &error.kind {
        TextErrorKind::Unexpected { expected, found } => {
            syntax(format!("expected {expected}, found {found}")).help(FORM)
        }
        TextErrorKind::Character(c) => {
            let error = syntax(format!("`{}` means nothing in a statement", c.escape_debug()));
            match c {
                '!' => error.help("it is written `not`"),
                '|' => error.help("it is written `or`"),
                '?' => error
                    .help("what stands outside is written `A[…] ?? 0`; a choice `select(c, a, b)`"),
                _ => error.help(FORM),
            }
        }
        TextErrorKind::TooBig(literal) => {
            fault(Code::ExprOverflow, format!("the literal {literal} is too large"))
                .note(format!(
                    "the largest integer is {}, the largest float {:e}",
                    i64::MAX,
                    f64::MAX
                ))
                .help("write a smaller number, or `inf`")
        }
        TextErrorKind::Literal(literal) => syntax(format!("`{literal}` is no number")).help(
            "literals are decimal, without leading zeros, `_` or letters: `10`, `0.5`, `1e-3`",
        ),
        TextErrorKind::TooDeep => {
            let message = format!("the statement is nested deeper than {MAX_DEPTH}, or too long");
            fault(Code::ExprNesting, message)
                .help("let one statement follow another, each with a part of it")
        }
        TextErrorKind::Chained => {
            syntax("comparisons are not chained".to_owned()).help("write `a < b and b < c`")
        }
        TextErrorKind::Guard => {
            syntax("`??` stands behind a read, and this is more than one".to_owned())
                .note("`??` binds the loosest of all operators")
                .help("parenthesise the read with what stands for it outside: `(A[…] ?? 0)`")
        }
        TextErrorKind::Gather => {
            syntax("an index is arithmetic on axes, not an element".to_owned())
                .help("write axes, numbers, consts and symbols between the brackets")
        }
        TextErrorKind::Keyword(word) => {
            syntax(format!("`{word}` is a word of the language")).help("give it another name")
        }
        TextErrorKind::NoOperator => {
            syntax("a statement writes by `=`, `+=`, `*=`, `min=` or `max=`".to_owned()).help(FORM)
        }
        TextErrorKind::Index(error, span) => {
            let start = text.span.start + span.start;
            let value = text.value.get(span.clone()).unwrap_or_default().to_owned();
            let part = Text { value, span: start..start + span.len(), quoted: true };
            parse_fault(error, &part, file)
        }
    }
}
