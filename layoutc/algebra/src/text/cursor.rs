//! Sequential reader of a text, [`Cursor`], for the parsers of the notations of other tools.

use alloc::format;

use super::NotationFault;
use crate::expr::parse::Span;

/// Reader of a text, with the byte offset of the next character to read.
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

    /// Part of the text from the read position to the end.
    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Next character of the text, without consuming it; `None` at the end of the text.
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

    /// Consumes white space and the comments `// …` and `/* … */`. Stops before a `/*` without `*/`.
    pub(crate) fn skip_comments(&mut self) {
        loop {
            self.skip_blanks();
            let rest = self.rest();
            let length = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                match rest.get(2..).and_then(|rest| rest.find("*/")) {
                    Some(length) => length + 4,
                    None => return,
                }
            } else {
                return;
            };
            self.at += length;
        }
    }

    /// Consumes `word` and returns true if the text continues with `word`; otherwise consumes nothing and returns
    /// false.
    pub(crate) fn eat(&mut self, word: &str) -> bool {
        let is_next = self.rest().starts_with(word);
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    /// Consumes characters up to the first one that does not satisfy `test`, and returns them with their byte range.
    pub(crate) fn take_while(&mut self, test: impl Fn(char) -> bool) -> (&'a str, Span) {
        let start = self.at;
        while self.peek().is_some_and(&test) {
            self.next();
        }
        (self.text.get(start..self.at).unwrap_or_default(), start..self.at)
    }

    /// Consumes a decimal integer without sign, and returns its value and byte range; `None` if the text does not
    /// continue with a digit. A value above `2^63 - 1` is a fault of the kind `Value`.
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

    /// Consumes `word`; returns a fault if the text does not continue with `word`.
    pub(crate) fn expect(&mut self, word: &str) -> Result<(), NotationFault> {
        if self.eat(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// Consumes white space, then `word`; returns a fault if the text does not continue with `word`.
    pub(crate) fn token(&mut self, word: &str) -> Result<(), NotationFault> {
        self.skip_blanks();
        self.expect(word)
    }

    /// Consumes a decimal integer without sign, and returns its value and byte range. If the text does not continue
    /// with a digit, the fault says that `what` was expected.
    pub(crate) fn expect_number(&mut self, what: &str) -> Result<(i128, Span), NotationFault> {
        match self.number()? {
            Some(number) => Ok(number),
            None => Err(self.expected(what)),
        }
    }

    /// Returns a fault unless the whole text is read.
    pub(crate) fn expect_end(&mut self) -> Result<(), NotationFault> {
        if self.rest().is_empty() { Ok(()) } else { Err(self.expected("the end of the text")) }
    }

    /// Fault at the read position, whose message says that `what` was expected and which character was found.
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

/// First 24 characters of a word, followed by `…` if the word is longer, for a message.
fn short(word: &str) -> alloc::string::String {
    let mut shown: alloc::string::String = word.chars().take(24).collect();
    if word.chars().nth(24).is_some() {
        shown.push('…');
    }
    shown
}
