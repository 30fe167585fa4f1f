//! `when="R <= 3 and stride == 1 and padding == 'same'"`: whether an alternative is there.
//!
//! Integers and names of axes and properties with `+ - * // %`, compared; comparisons with `and`, `or`, `not`. A word in
//! single quotes is compared with a property that holds a word. What a node lacks is equal to nothing. It is read and
//! worked out in one pass.

use std::ops::Range;

/// A value of a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// An integer.
    Integer(i128),
    /// A word.
    Word(String),
    /// Whether something holds.
    Truth(bool),
    /// What a name means that is no axis here and no property: it is equal to nothing, and neither more nor less.
    Absent,
}

/// What is wrong with a condition: the bytes of the text, and why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) span: Range<usize>,
    pub(super) message: String,
}

/// How deep parentheses and `not` may nest.
const MAX_DEPTH: usize = 64;

/// Whether a condition holds. `lookup` gives the value of a name.
pub(super) fn holds(text: &str, lookup: &dyn Fn(&str) -> Option<Value>) -> Result<bool, Wrong> {
    let mut reader = Reader { text, at: 0, depth: 0, lookup };
    let value = reader.or()?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(wrong(reader.at..text.len(), "nothing more is expected here"));
    }
    match value {
        Value::Truth(truth) => Ok(truth),
        Value::Integer(_) | Value::Word(_) | Value::Absent => {
            Err(wrong(0..text.len(), "a condition is true or false: compare it"))
        }
    }
}

fn wrong(span: Range<usize>, message: impl Into<String>) -> Wrong {
    Wrong { span, message: message.into() }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    lookup: &'a dyn Fn(&str) -> Option<Value>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Takes one of these symbols, longest first.
    fn symbol(&mut self, symbols: &[&'static str]) -> Option<&'static str> {
        self.blanks();
        let found = symbols.iter().find(|symbol| self.rest().starts_with(**symbol))?;
        self.at += found.len();
        Some(found)
    }

    /// The bytes of the name that is next.
    fn name(&mut self) -> &'a str {
        self.blanks();
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let word = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        if word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') { word } else { "" }
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.name() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    fn or(&mut self) -> Result<Value, Wrong> {
        let start = self.at;
        let mut value = self.and()?;
        while self.word("or") {
            let other = self.and()?;
            let (a, b) = (self.truth(&value, start)?, self.truth(&other, start)?);
            value = Value::Truth(a || b);
        }
        Ok(value)
    }

    fn and(&mut self) -> Result<Value, Wrong> {
        let start = self.at;
        let mut value = self.not()?;
        while self.word("and") {
            let other = self.not()?;
            let (a, b) = (self.truth(&value, start)?, self.truth(&other, start)?);
            value = Value::Truth(a && b);
        }
        Ok(value)
    }

    fn not(&mut self) -> Result<Value, Wrong> {
        let mut turns = 0_usize;
        while self.word("not") {
            turns += 1;
        }
        let start = self.at;
        let value = self.comparison()?;
        if turns == 0 {
            return Ok(value);
        }
        let truth = self.truth(&value, start)?;
        Ok(Value::Truth(truth == turns.is_multiple_of(2)))
    }

    fn truth(&self, value: &Value, start: usize) -> Result<bool, Wrong> {
        match value {
            Value::Truth(truth) => Ok(*truth),
            Value::Integer(_) | Value::Word(_) | Value::Absent => {
                Err(wrong(start..self.at, "this is neither true nor false: compare it"))
            }
        }
    }

    fn comparison(&mut self) -> Result<Value, Wrong> {
        let start = self.at;
        let left = self.sum()?;
        let Some(symbol) = self.symbol(&["==", "!=", "<=", ">=", "<", ">"]) else {
            return Ok(left);
        };
        let right = self.sum()?;
        let holds = match (&left, &right, symbol) {
            (Value::Absent, _, symbol) | (_, Value::Absent, symbol) => symbol == "!=",
            (_, _, "==") if std::mem::discriminant(&left) == std::mem::discriminant(&right) => {
                left == right
            }
            (_, _, "!=") if std::mem::discriminant(&left) == std::mem::discriminant(&right) => {
                left != right
            }
            (Value::Integer(a), Value::Integer(b), "<=") => a <= b,
            (Value::Integer(a), Value::Integer(b), ">=") => a >= b,
            (Value::Integer(a), Value::Integer(b), "<") => a < b,
            (Value::Integer(a), Value::Integer(b), ">") => a > b,
            _ => {
                let message =
                    "only integers are larger or smaller, and only like is compared with like";
                return Err(wrong(start..self.at, message));
            }
        };
        Ok(Value::Truth(holds))
    }

    fn sum(&mut self) -> Result<Value, Wrong> {
        let start = self.at;
        let mut value = self.product()?;
        while let Some(symbol) = self.symbol(&["+", "-"]) {
            let other = self.product()?;
            value = self.arithmetic(&value, symbol, &other, start)?;
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<Value, Wrong> {
        let start = self.at;
        let mut value = self.atom()?;
        while let Some(symbol) = self.symbol(&["*", "//", "%"]) {
            let other = self.atom()?;
            value = self.arithmetic(&value, symbol, &other, start)?;
        }
        Ok(value)
    }

    fn arithmetic(
        &self,
        left: &Value,
        symbol: &str,
        right: &Value,
        start: usize,
    ) -> Result<Value, Wrong> {
        if [left, right].contains(&&Value::Absent) {
            return Ok(Value::Absent);
        }
        let (Value::Integer(a), Value::Integer(b)) = (left, right) else {
            return Err(wrong(start..self.at, format!("`{symbol}` takes integers")));
        };
        let value = match symbol {
            "+" => a.checked_add(*b),
            "-" => a.checked_sub(*b),
            "*" => a.checked_mul(*b),
            "//" => a.checked_div_euclid(*b).filter(|_| *b > 0),
            _ => a.checked_rem_euclid(*b).filter(|_| *b > 0),
        };
        let message = "a divisor is at least 1, and values fit 128 bits";
        value.map(Value::Integer).ok_or_else(|| wrong(start..self.at, message))
    }

    fn atom(&mut self) -> Result<Value, Wrong> {
        self.blanks();
        let start = self.at;
        if self.symbol(&["("]).is_some() {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(wrong(start..self.at, "nested too deep"));
            }
            let value = self.or()?;
            self.depth -= 1;
            return match self.symbol(&[")"]) {
                Some(_) => Ok(value),
                None => Err(wrong(start..start + 1, "this is never closed")),
            };
        }
        if self.symbol(&["'"]).is_some() {
            let Some((word, _)) = self.rest().split_once('\'') else {
                return Err(wrong(start..start + 1, "this word is never closed"));
            };
            self.at += word.len() + 1;
            return Ok(Value::Word(word.to_owned()));
        }
        let name = self.name();
        if !name.is_empty() && !["and", "or", "not"].contains(&name) {
            self.at += name.len();
            return Ok((self.lookup)(name).unwrap_or(Value::Absent));
        }
        let negative = self.symbol(&["-"]).is_some();
        self.blanks();
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let number = self.rest().get(..digits).and_then(|digits| digits.parse::<i128>().ok());
        let Some(number) = number else {
            let end = self.rest().chars().next().map_or(0, char::len_utf8);
            let message = "an integer, a name or a word in single quotes is expected here";
            return Err(wrong(self.at..self.at + end, message));
        };
        self.at += digits;
        Ok(Value::Integer(if negative { -number } else { number }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<Value> {
        match name {
            "R" => Some(Value::Integer(3)),
            "stride" => Some(Value::Integer(2)),
            "layout" => Some(Value::Word("NCHW".to_owned())),
            _ => None,
        }
    }

    #[test]
    fn conditions_hold_as_they_read() {
        for (text, expected) in [
            ("R <= 3", true),
            ("R < 3 or stride == 2", true),
            ("not R == 3 and stride == 2", false),
            ("not (R == 3 and stride == 1)", true),
            ("layout == 'NCHW'", true),
            ("layout != 'NHWC' and (R + 1) % 2 == 0", true),
            ("R * stride // 4 == 1", true),
            ("-1 < 0", true),
            ("R-1 == 2 and R -1 == 2 and R - -1 == 4", true),
            ("groups == 1 or C + 1 < 4", false),
            ("groups != 1", true),
        ] {
            assert_eq!(holds(text, &lookup), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        for (text, span) in [
            ("R <= ", 5..5),
            ("R", 0..1),
            ("R <= 3 )", 7..8),
            ("(R <= 3", 0..1),
            ("layout < 'x'", 0..12),
            ("R // 0 == 1", 0..6),
            ("R == 'x", 5..6),
        ] {
            assert_eq!(holds(text, &lookup).map_err(|wrong| wrong.span), Err(span), "{text}");
        }
    }
}
