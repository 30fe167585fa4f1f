//! Parser of the elements that the three forms of XLA's sharding texts share: blanks, comments, numbers and
//! lists.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::expr::parse::Span;
use crate::notation::NotationFault;
use crate::text::cursor::Cursor;

/// Maximum number of axes of a tensor, a mesh or an iota in a sharding text; more axes are a fault.
pub(super) const AXES: usize = 64;

/// Non-negative number of a text, with its byte range.
pub(super) type SpannedInt = (i64, Span);

/// Parser of XLA's sharding texts.
pub(super) struct ShardingParser<'a> {
    pub(super) cursor: Cursor<'a>,
}

impl<'a> ShardingParser<'a> {
    /// Skips white space and comments.
    pub(super) fn blank(&mut self) {
        self.cursor.skip_comments();
    }

    /// Next character after white space and comments; `None` at the end of the text.
    pub(super) fn peek(&mut self) -> Option<char> {
        self.blank();
        self.cursor.peek()
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<(), NotationFault> {
        self.blank();
        self.cursor.expect(word)
    }

    pub(super) fn eat(&mut self, word: &str) -> bool {
        self.blank();
        self.cursor.eat(word)
    }

    /// Skips white space and comments, and consumes the ASCII letters, digits and `_` that follow. Returns these
    /// characters with their byte range; empty if there are none.
    pub(super) fn word(&mut self) -> (&'a str, Span) {
        self.blank();
        self.cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// Parses a non-negative number with its byte range; a negative number, and one above `i64::MAX`, is a fault.
    /// `what` names the expected number in the fault, such as `a device`.
    pub(super) fn number(&mut self, what: &str) -> Result<SpannedInt, NotationFault> {
        self.blank();
        let start = self.cursor.at();
        if self.cursor.peek() == Some('-') {
            self.cursor.next();
            let (value, span) = self.cursor.expect_number(what)?;
            let message = format!("-{value} is below 0");
            let fault = NotationFault::value(start..span.end, message);
            return Err(fault.help("write 0 or more"));
        }
        let (value, span) = self.cursor.expect_number(what)?;
        Ok((i64::try_from(value).unwrap_or(i64::MAX), span))
    }

    /// Parses a positive number with its byte range. `many` is the plural noun that the number counts, such as `tiles`,
    /// for a fault.
    pub(super) fn size(&mut self, many: &str) -> Result<SpannedInt, NotationFault> {
        let (value, span) = self.number("a number")?;
        if value == 0 {
            let fault = NotationFault::value(span, format!("0 {many} hold nothing"));
            return Err(fault.help("write 1 or more"));
        }
        Ok((value, span))
    }

    /// Parses one or more entries separated by commas with `entry`, up to and including the closing sign `close`, such
    /// as `]`. The caller has consumed the opening sign.
    pub(super) fn list<T>(
        &mut self,
        close: &str,
        mut entry: impl FnMut(&mut Self) -> Result<T, NotationFault>,
    ) -> Result<Vec<T>, NotationFault> {
        let mut entries = Vec::new();
        loop {
            entries.push(entry(self)?);
            if self.eat(close) {
                return Ok(entries);
            }
            self.blank();
            if !self.cursor.eat(",") {
                return Err(self.cursor.expected(&format!("`,` or `{close}`")));
            }
        }
    }

    /// Skips the value of `metadata=`, such as `{op_name="x"}`, from `{` to its `}`, including nested braces and
    /// strings in `"`. The value does not affect the sharding.
    pub(super) fn metadata(&mut self) -> Result<(), NotationFault> {
        self.expect("{")?;
        let mut depth = 1_usize;
        while depth > 0 {
            match self.cursor.next() {
                Some(('{', _)) => depth += 1,
                Some(('}', _)) => depth -= 1,
                Some(('"', _)) => self.string('"')?,
                Some(_) => {}
                None => return Err(self.cursor.expected("`}`")),
            }
        }
        Ok(())
    }

    /// Skips a quoted string after its opening quote, including its closing quote. The character after a `\` does not
    /// end the string.
    fn string(&mut self, quote: char) -> Result<(), NotationFault> {
        loop {
            match self.cursor.next() {
                Some(('\\', _)) => {
                    self.cursor.next();
                }
                Some((c, _)) if c == quote => return Ok(()),
                Some(_) => {}
                None => return Err(self.cursor.expected(&format!("`{quote}`"))),
            }
        }
    }
}

/// Fault at `span` if `count` exceeds [`AXES`]. `what` is the plural noun for the fault, such as `axes`.
pub(super) fn few(count: usize, what: &str, span: &Span) -> Result<(), NotationFault> {
    if count <= AXES {
        return Ok(());
    }
    let message = format!("{count} {what} are more than {AXES}");
    Err(NotationFault::unsupported(span.clone(), message).help("write fewer"))
}

/// Product of positive sizes; a fault at `span` if it overflows 64 bits.
pub(super) fn product(
    sizes: impl IntoIterator<Item = i64>,
    span: &Span,
) -> Result<i64, NotationFault> {
    let product = sizes.into_iter().try_fold(1_i64, i64::checked_mul);
    product.ok_or_else(|| {
        let message = "these are more devices than 64 bits can count";
        NotationFault::value(span.clone(), message).help("write smaller numbers")
    })
}

/// Number of devices as text: `3 devices`, `1 device`.
pub(super) fn devices(count: i64) -> String {
    match count {
        1 => "1 device".into(),
        _ => format!("{count} devices"),
    }
}
