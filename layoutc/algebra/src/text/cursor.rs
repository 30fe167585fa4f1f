//! Sequential reader for parsers of notations.

use alloc::format;

use super::NotationFault;
use crate::expr::parse::Span;

/// Reader of a text, which keeps the position up to which it is read.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Read position, as a byte offset in the text.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Rest of the text that is not read yet.
    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Next character, which is not consumed; `None` at the end of the text.
    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Consumes the next character and returns it with its byte range; `None` at the end of the text.
    pub(crate) fn next(&mut self) -> Option<(char, Span)> {
        let c = self.peek()?;
        let start = self.at;
        self.at += c.len_utf8();
        Some((c, start..self.at))
    }

    /// Consumes white space.
    pub(crate) fn skip_blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.next();
        }
    }

    /// Consumes white space and comments, which are written as in C.
    pub(crate) fn skip_comments(&mut self) {
        loop {
            self.skip_blanks();
            let rest = self.rest();
            let length = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => end + 2,
                    None => return,
                }
            } else {
                return;
            };
            self.at += length;
        }
    }

    /// Consumes `word` if the text continues with it; false otherwise.
    pub(crate) fn eat(&mut self, word: &str) -> bool {
        let is_next = self.rest().starts_with(word);
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    /// Consumes all next characters that satisfy `test`, and returns them with their byte range.
    pub(crate) fn take_while(&mut self, test: impl Fn(char) -> bool) -> (&'a str, Span) {
        let start = self.at;
        while self.peek().is_some_and(&test) {
            self.next();
        }
        (self.text.get(start..self.at).unwrap_or_default(), start..self.at)
    }

    /// Consumes a decimal integer; `None` if the text does not continue with one.
    pub(crate) fn number(&mut self) -> Result<Option<(i128, Span)>, NotationFault> {
        let (digits, span) = self.take_while(|c| c.is_ascii_digit());
        if digits.is_empty() {
            return Ok(None);
        }
        match digits.parse::<i64>() {
            Ok(value) => Ok(Some((i128::from(value), span))),
            Err(_) => {
                let message = format!("`{}` does not fit 64 bits", short(digits));
                Err(NotationFault::value(span, message).help("write a smaller number"))
            }
        }
    }

    /// Consumes `word`; a fault if the text does not continue with it.
    pub(crate) fn expect(&mut self, word: &str) -> Result<(), NotationFault> {
        if self.eat(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// Consumes white space, then `word`; a fault if the text does not continue with it.
    pub(crate) fn token(&mut self, word: &str) -> Result<(), NotationFault> {
        self.skip_blanks();
        self.expect(word)
    }

    /// Consumes an integer; a fault that expects `what` if the text does not continue with one.
    pub(crate) fn expect_number(&mut self, what: &str) -> Result<(i128, Span), NotationFault> {
        match self.number()? {
            Some(number) => Ok(number),
            None => Err(self.expected(what)),
        }
    }

    /// Checks that the whole text is read; a fault otherwise.
    pub(crate) fn expect_end(&mut self) -> Result<(), NotationFault> {
        if self.rest().is_empty() { Ok(()) } else { Err(self.expected("the end of the text")) }
    }

    /// Fault at the read position, where `what` was expected.
    pub(crate) fn expected(&self, what: &str) -> NotationFault {
        match self.peek() {
            Some(c) => {
                let span = self.at..self.at + c.len_utf8();
                let found = if c.is_ascii_graphic() {
                    format!("`{c}`")
                } else {
                    format!("U+{:04X}", u32::from(c))
                };
                NotationFault::syntax(span, format!("expected {what}, found {found}"))
            }
            None => {
                let message = format!("expected {what}, found the end of the text");
                NotationFault::syntax(self.at..self.at, message)
            }
        }
    }
}

/// Word shortened to 24 characters for a message.
fn short(word: &str) -> alloc::string::String {
    let mut shown: alloc::string::String = word.chars().take(24).collect();
    if word.chars().nth(24).is_some() {
        shown.push('…');
    }
    shown
}
