//! Tokens of maps and expressions, with byte ranges.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::BinOp;
use super::parse::{MAX_BYTES, ParseError, ParseErrorKind, Span};

/// Token of a map or expression without its position: an integer, a name, an operator or a punctuation mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MapTokenKind {
    Int(i128),
    Name(String),
    Op(BinOp),
    Open,
    Close,
    Comma,
    Bar,
    Arrow,
    Equals,
    Colon,
}

/// Token of a map or expression, with its byte range in the text.
#[derive(Debug, Clone)]
pub(super) struct MapToken {
    pub(super) kind: MapTokenKind,
    pub(super) span: Span,
}

/// Tokens of a map or an expression, in the order of the text. Fails on an unknown character, a single `/`, an invalid
/// integer literal, or a text of more than [`MAX_BYTES`] bytes.
pub(super) fn tokenize(text: &str) -> Result<Vec<MapToken>, ParseError> {
    if text.len() > MAX_BYTES {
        return Err(ParseError { kind: ParseErrorKind::TooDeep, span: 0..text.len() });
    }
    let mut tokens = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, c)) = rest.next() {
        if c.is_ascii_whitespace() {
            continue;
        }
        let mut end = start + c.len_utf8();
        let mut followed_by = |wanted: char| rest.next_if(|(_, next)| *next == wanted).is_some();
        let kind = match c {
            '(' => MapTokenKind::Open,
            ')' => MapTokenKind::Close,
            ',' => MapTokenKind::Comma,
            '|' => MapTokenKind::Bar,
            ':' => MapTokenKind::Colon,
            '=' => MapTokenKind::Equals,
            '+' => MapTokenKind::Op(BinOp::Add),
            '*' => MapTokenKind::Op(BinOp::Mul),
            '%' => MapTokenKind::Op(BinOp::Mod),
            '&' => MapTokenKind::Op(BinOp::And),
            '^' => MapTokenKind::Op(BinOp::Xor),
            '-' if followed_by('>') => {
                end += 1;
                MapTokenKind::Arrow
            }
            '-' => MapTokenKind::Op(BinOp::Sub),
            '/' if followed_by('/') => {
                end += 1;
                MapTokenKind::Op(BinOp::FloorDiv)
            }
            '/' => return Err(ParseError { kind: ParseErrorKind::Slash, span: start..end }),
            c if c.is_ascii_alphanumeric() || c == '_' => {
                while let Some((at, next)) =
                    rest.next_if(|(_, n)| n.is_ascii_alphanumeric() || *n == '_')
                {
                    end = at + next.len_utf8();
                }
                word(text.get(start..end).unwrap_or_default(), start..end)?
            }
            c => return Err(ParseError { kind: ParseErrorKind::Character(c), span: start..end }),
        };
        tokens.push(MapToken { kind, span: start..end });
    }
    Ok(tokens)
}

fn word(text: &str, span: Span) -> Result<MapTokenKind, ParseError> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(MapTokenKind::Name(text.to_string()));
    }
    let decimal =
        text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if !decimal {
        return Err(ParseError { kind: ParseErrorKind::Literal, span });
    }
    match text.parse::<i64>() {
        Ok(value) => Ok(MapTokenKind::Int(i128::from(value))),
        Err(_) => Err(ParseError { kind: ParseErrorKind::TooBig { digits: text.len() }, span }),
    }
}
