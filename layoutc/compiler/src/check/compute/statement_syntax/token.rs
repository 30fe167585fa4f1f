//! Tokenizer of statements: text → tokens with byte ranges.

use super::{StatementError, StatementErrorKind, StatementSpan};

/// Maximum length of a statement, in bytes. A longer one is an error.
const MAX_BYTES: usize = 1 << 16;

/// Words that are keywords or literals, and thus cannot be names.
const KEYWORDS: &[&str] = &["and", "or", "not", "true", "false", "inf", "nan"];

/// Operators and brackets. A sign comes before every sign that is a prefix of it: `//` before `/`.
const SIGNS: &[&str] = &[
    "??", "+=", "*=", "==", "!=", "<=", ">=", "//", "(", ")", "[", "]", ",", "=", "<", ">", "+",
    "-", "*", "/", "%", "&", "^",
];

#[derive(Debug, Clone, PartialEq)]
pub(super) enum StatementTokenKind {
    Integer(i128),
    Float(f64),
    Name(String),
    Keyword(&'static str),
    Sign(&'static str),
}

#[derive(Debug, Clone)]
pub(super) struct StatementToken {
    pub(super) kind: StatementTokenKind,
    pub(super) span: StatementSpan,
}

pub(super) fn tokenize(text: &str) -> Result<Vec<StatementToken>, StatementError> {
    if text.len() > MAX_BYTES {
        return Err(StatementError { kind: StatementErrorKind::TooDeep, span: 0..text.len() });
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(first) = rest.chars().next() else { break };
        if first.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if let Some(field) = field(rest, tokens.last(), at) {
            let span = at..at + field.len();
            return Err(StatementError { kind: StatementErrorKind::Field(shown(field)), span });
        }
        let (kind, length) = if first.is_ascii_digit() || first == '.' {
            let length = number_length(rest);
            let word = rest.get(..length).unwrap_or_default();
            let span = at..at + length;
            (number(word).map_err(|kind| StatementError { kind, span })?, length)
        } else if first.is_ascii_alphabetic() || first == '_' {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let word = rest.get(..length).unwrap_or_default();
            let keyword = KEYWORDS.iter().find(|keyword| **keyword == word);
            let kind = match keyword {
                Some(keyword) => StatementTokenKind::Keyword(keyword),
                None => StatementTokenKind::Name(word.to_owned()),
            };
            (kind, length)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (StatementTokenKind::Sign(sign), sign.len())
        } else {
            let span = at..at + first.len_utf8();
            return Err(StatementError { kind: StatementErrorKind::Character(first), span });
        };
        tokens.push(StatementToken { kind, span: at..at + length });
        at += length;
    }
    Ok(tokens)
}

/// Text `.d` at the start of `rest` if it directly follows a name, whose token is `before` and ends at byte `at`;
/// `None` otherwise.
fn field<'t>(rest: &'t str, before: Option<&StatementToken>, at: usize) -> Option<&'t str> {
    let name = rest.strip_prefix('.')?;
    let is_behind = before.is_some_and(|token| {
        matches!(token.kind, StatementTokenKind::Name(_)) && token.span.end == at
    });
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let length = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
    if is_behind && is_name { rest.get(..length.checked_add(1)?) } else { None }
}

/// Length in bytes of the number at the start of `rest`, including adjacent letters and `_`, so that an error covers
/// the whole word.
fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut length = 0;
    while let Some(byte) = bytes.get(length) {
        let before = rest.get(..length).unwrap_or_default();
        let mantissa = before.strip_suffix(['e', 'E']);
        let is_exponent = mantissa
            .is_some_and(|m| !m.is_empty() && m.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
        let is_sign = matches!(byte, b'+' | b'-') && is_exponent;
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || is_sign) {
            break;
        }
        length += 1;
    }
    length
}

fn number(word: &str) -> Result<StatementTokenKind, StatementErrorKind> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let whole = |text: &str| digits(text) && (text == "0" || !text.starts_with('0'));
    if whole(word) {
        let value = word.parse::<i64>().map_err(|_| StatementErrorKind::TooBig(shown(word)))?;
        return Ok(StatementTokenKind::Integer(value.into()));
    }
    let (mantissa, exponent) = match word.find(['e', 'E']) {
        Some(at) => (word.get(..at).unwrap_or_default(), word.get(at + 1..)),
        None => (word, None),
    };
    let is_exponent = |e: &str| digits(e.strip_prefix(['+', '-']).unwrap_or(e));
    let is_mantissa = match mantissa.split_once('.') {
        Some((before, behind)) => whole(before) && digits(behind),
        None => whole(mantissa),
    };
    if !is_mantissa || !exponent.is_none_or(is_exponent) {
        return Err(StatementErrorKind::Literal(shown(word)));
    }
    match word.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(StatementTokenKind::Float(value)),
        _ => Err(StatementErrorKind::TooBig(shown(word))),
    }
}

/// First 40 bytes of a word, followed by `…` if it is longer.
fn shown(word: &str) -> String {
    match word.get(..40) {
        Some(start) if word.len() > 40 => format!("{start}…"),
        _ => word.to_owned(),
    }
}
