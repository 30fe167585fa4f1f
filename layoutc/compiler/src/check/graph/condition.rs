//! Evaluator of the conditions of alternatives: `when="R <= 3 and stride == 1 and padding == 'same'"`.
//!
//! A condition compares numbers, words in single quotes, properties, and extents of axes, and combines comparisons with
//! `and`, `or`, `not`. Integers have the operators `+ - * // %`. `in[1].C`, `in[1].rank`, `in[1].dtype` and `in[1][0]`
//! query one operand, `out[0].C` one result. A missing attribute compares unequal to everything. The text is parsed and
//! evaluated in one pass.

use std::ops::Range;

/// Value of an expression in a condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ConditionValue {
    /// Integer, such as an extent.
    Integer(i128),
    /// Number with a fraction or an exponent.
    Real(f64),
    /// Word: the text of a property, an element type, or a literal in single quotes.
    Word(String),
    /// Boolean, the result of a comparison or of `and`, `or`, `not`.
    Truth(bool),
    /// Value of a name or attribute that is not known for the node: unequal to everything, and unordered.
    Absent,
}

/// Fault of a condition: a byte range in its text, and a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WhenError {
    pub(super) span: Range<usize>,
    pub(super) message: String,
}

/// Query of a name or attribute in a condition, `stride` or `in[1].C`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConditionQuery<'a> {
    /// Property of the node, or the extent of the first axis of this name.
    Name(&'a str),
    /// Attribute of one operand or result.
    Of(ConditionTensor, TensorAttribute<'a>),
}

/// Operand or result that a query names, by its index from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConditionTensor {
    /// Operand: `in[1]`
    Operand(usize),
    /// Result: `out[0]`
    Result(usize),
}

/// Attribute of an operand or result that a query names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TensorAttribute<'a> {
    /// Rank or element type (`.rank`, `.dtype`), or the extent of the axis of this name.
    Name(&'a str),
    /// Extent of the axis at this position: `[2]`.
    At(usize),
}

/// Function that returns the value of a query; `None` if it is not known, for example because the node has no property
/// or axis of this name. The second argument is the byte range of the query in the text of the condition.
pub(super) type ConditionLookup<'a> =
    dyn Fn(ConditionQuery<'_>, Range<usize>) -> Option<ConditionValue> + 'a;

/// Maximum nesting depth of parentheses in a condition, in levels. A deeper condition is an error.
const MAX_DEPTH: usize = 64;

/// Evaluates the condition `text`. `lookup` returns the values of names and attributes; `and` and `or` evaluate both
/// operands.
///
/// # Errors
/// A syntax error, an invalid operation such as one on operands of the wrong type, or a result that is not a boolean.
pub(super) fn holds(text: &str, lookup: &ConditionLookup<'_>) -> Result<bool, WhenError> {
    let mut reader = ConditionEvaluator { text, at: 0, depth: 0, lookup };
    let value = reader.or()?;
    reader.blanks();
    if reader.at < text.len() {
        return Err(wrong(reader.at..text.len(), "expected the end of the condition"));
    }
    reader.truth(&value, 0)
}

fn wrong(span: Range<usize>, message: impl Into<String>) -> WhenError {
    WhenError { span, message: message.into() }
}

struct ConditionEvaluator<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    lookup: &'a ConditionLookup<'a>,
}

impl<'a> ConditionEvaluator<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Consumes blanks and a symbol, and returns the symbol: the first in `symbols` with which the rest of the text
    /// starts. `None` if there is none. In `symbols`, `<=` must come before its prefix `<`.
    fn symbol(&mut self, symbols: &[&'static str]) -> Option<&'static str> {
        self.blanks();
        let found = symbols.iter().find(|symbol| self.rest().starts_with(**symbol))?;
        self.at += found.len();
        Some(found)
    }

    /// Name at the current position, after any blanks; empty if there is none. The name is not consumed.
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

    fn or(&mut self) -> Result<ConditionValue, WhenError> {
        self.joined("or", Self::and, |a, b| a || b)
    }

    fn and(&mut self) -> Result<ConditionValue, WhenError> {
        self.joined("and", Self::not, |a, b| a && b)
    }

    /// Evaluates a chain such as `a and b and c`. `operand` reads and evaluates each value, `word` (`and`, `or`)
    /// separates them, and `join` combines two of them. They must be booleans; a single value without `word` may have
    /// any type.
    fn joined(
        &mut self,
        word: &str,
        operand: fn(&mut Self) -> Result<ConditionValue, WhenError>,
        join: fn(bool, bool) -> bool,
    ) -> Result<ConditionValue, WhenError> {
        let start = self.at;
        let mut value = operand(self)?;
        while self.word(word) {
            let other = operand(self)?;
            let (a, b) = (self.truth(&value, start)?, self.truth(&other, start)?);
            value = ConditionValue::Truth(join(a, b));
        }
        Ok(value)
    }

    fn not(&mut self) -> Result<ConditionValue, WhenError> {
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
        Ok(ConditionValue::Truth(truth == turns.is_multiple_of(2)))
    }

    fn truth(&self, value: &ConditionValue, start: usize) -> Result<bool, WhenError> {
        match value {
            ConditionValue::Truth(truth) => Ok(*truth),
            ConditionValue::Integer(_)
            | ConditionValue::Real(_)
            | ConditionValue::Word(_)
            | ConditionValue::Absent => Err(wrong(start..self.at, "expected a comparison")),
        }
    }

    fn comparison(&mut self) -> Result<ConditionValue, WhenError> {
        let start = self.at;
        let left = self.sum()?;
        let Some(symbol) = self.symbol(&["==", "!=", "<=", ">=", "<", ">"]) else {
            return Ok(left);
        };
        let is_equality = ["==", "!="].contains(&symbol);
        let right = self.sum()?;
        let order = match (&left, &right) {
            (ConditionValue::Absent, _) | (_, ConditionValue::Absent) => {
                return Ok(ConditionValue::Truth(symbol == "!="));
            }
            (ConditionValue::Integer(a), ConditionValue::Integer(b)) => Some(a.cmp(b)),
            (
                ConditionValue::Integer(_) | ConditionValue::Real(_),
                ConditionValue::Integer(_) | ConditionValue::Real(_),
            ) => real(&left).zip(real(&right)).and_then(|(a, b)| a.partial_cmp(&b)),
            (ConditionValue::Word(a), ConditionValue::Word(b)) if is_equality => Some(a.cmp(b)),
            (ConditionValue::Truth(a), ConditionValue::Truth(b)) if is_equality => Some(a.cmp(b)),
            _ => None,
        };
        let Some(order) = order else {
            let message = "mismatched types: only numbers are ordered, and only values of one type are compared";
            return Err(wrong(start..self.at, message));
        };
        let holds = match symbol {
            "==" => order.is_eq(),
            "!=" => order.is_ne(),
            "<=" => order.is_le(),
            ">=" => order.is_ge(),
            "<" => order.is_lt(),
            _ => order.is_gt(),
        };
        Ok(ConditionValue::Truth(holds))
    }

    fn sum(&mut self) -> Result<ConditionValue, WhenError> {
        self.chain(&["+", "-"], Self::product)
    }

    fn product(&mut self) -> Result<ConditionValue, WhenError> {
        self.chain(&["*", "//", "%"], Self::atom)
    }

    /// Evaluates a chain such as `a + b - c` from left to right. `operand` reads and evaluates each value; `symbols`
    /// are the arithmetic operators between them, of equal precedence. A single value may have any type.
    fn chain(
        &mut self,
        symbols: &[&'static str],
        operand: fn(&mut Self) -> Result<ConditionValue, WhenError>,
    ) -> Result<ConditionValue, WhenError> {
        let start = self.at;
        let mut value = operand(self)?;
        while let Some(symbol) = self.symbol(symbols) {
            let other = operand(self)?;
            value = self.arithmetic(&value, symbol, &other, start)?;
        }
        Ok(value)
    }

    fn arithmetic(
        &self,
        left: &ConditionValue,
        symbol: &str,
        right: &ConditionValue,
        start: usize,
    ) -> Result<ConditionValue, WhenError> {
        if [left, right].contains(&&ConditionValue::Absent) {
            return Ok(ConditionValue::Absent);
        }
        let (ConditionValue::Integer(a), ConditionValue::Integer(b)) = (left, right) else {
            return Err(wrong(start..self.at, format!("`{symbol}` takes integers")));
        };
        let value = match symbol {
            "+" => a.checked_add(*b),
            "-" => a.checked_sub(*b),
            "*" => a.checked_mul(*b),
            "//" => a.checked_div_euclid(*b).filter(|_| *b > 0),
            _ => a.checked_rem_euclid(*b).filter(|_| *b > 0),
        };
        let message = "a divisor below 1, or a value beyond 128 bits";
        value.map(ConditionValue::Integer).ok_or_else(|| wrong(start..self.at, message))
    }

    fn atom(&mut self) -> Result<ConditionValue, WhenError> {
        self.blanks();
        let start = self.at;
        if self.symbol(&["("]).is_some() {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(wrong(start..self.at, "nested too deeply"));
            }
            let value = self.or()?;
            self.depth -= 1;
            return match self.symbol(&[")"]) {
                Some(_) => Ok(value),
                None => Err(wrong(start..start + 1, "unclosed parenthesis")),
            };
        }
        if self.symbol(&["'"]).is_some() {
            let Some((word, _)) = self.rest().split_once('\'') else {
                return Err(wrong(start..start + 1, "unclosed quote"));
            };
            self.at += word.len() + 1;
            return Ok(ConditionValue::Word(word.to_owned()));
        }
        let name = self.name();
        if !name.is_empty() && !["and", "or", "not"].contains(&name) {
            let start = self.at;
            self.at += name.len();
            let query = match name {
                "in" | "out" if self.rest().starts_with('[') => self.of_tensor(name == "in")?,
                _ => ConditionQuery::Name(name),
            };
            return Ok((self.lookup)(query, start..self.at).unwrap_or(ConditionValue::Absent));
        }
        let negative = self.symbol(&["-"]).is_some();
        self.blanks();
        let (length, is_real) = number(self.rest());
        let digits = self.rest().get(..length).unwrap_or_default();
        let value = if is_real {
            let value = digits.parse().ok().filter(|value: &f64| value.is_finite());
            value.map(|value| ConditionValue::Real(if negative { -value } else { value }))
        } else {
            let value = digits.parse::<i128>().ok();
            value.map(|value| ConditionValue::Integer(if negative { -value } else { value }))
        };
        let Some(value) = value else {
            let end = self.rest().chars().next().map_or(0, char::len_utf8);
            let message = "expected a number, a name or a word in single quotes";
            return Err(wrong(self.at..self.at + end, message));
        };
        self.at += length;
        Ok(value)
    }

    /// Parses a query's text after `in` (if `is_operand`) or `out`: `[1].C` or `[1][0]`.
    fn of_tensor(&mut self, is_operand: bool) -> Result<ConditionQuery<'a>, WhenError> {
        let number = self.bracket()?;
        let tensor = if is_operand {
            ConditionTensor::Operand(number)
        } else {
            ConditionTensor::Result(number)
        };
        if self.rest().starts_with('[') {
            return Ok(ConditionQuery::Of(tensor, TensorAttribute::At(self.bracket()?)));
        }
        let start = self.at;
        let name = if self.symbol(&["."]).is_some() { self.name() } else { "" };
        if name.is_empty() {
            let message =
                "expected `.rank`, `.dtype`, the name of an axis (`.C`) or its position (`[0]`)";
            return Err(wrong(start..self.at, message));
        }
        self.at += name.len();
        Ok(ConditionQuery::Of(tensor, TensorAttribute::Name(name)))
    }

    /// Parses an index in brackets, `[1]`, and returns the number.
    fn bracket(&mut self) -> Result<usize, WhenError> {
        let start = self.at;
        let inside = self.rest().strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let number = inside.and_then(|(digits, _)| digits.trim().parse::<u16>().ok());
        let (Some((digits, _)), Some(number)) = (inside, number) else {
            let message = "expected the index of an operand, result or axis, from 0: `in[1]`";
            return Err(wrong(start..start + 1, message));
        };
        self.at += digits.len() + 2;
        Ok(usize::from(number))
    }
}

/// Value of a number as a float, for a comparison with a real; `None` for values that are not numbers.
fn real(value: &ConditionValue) -> Option<f64> {
    match value {
        // Parsing the decimal text rounds to the nearest f64.
        ConditionValue::Integer(value) => value.to_string().parse().ok(),
        ConditionValue::Real(value) => Some(*value),
        ConditionValue::Word(_) | ConditionValue::Truth(_) | ConditionValue::Absent => None,
    }
}

/// Pair `(length, is_real)` for the number at the start of a text: its length in bytes, 0 if there is none, and true if
/// it has a fraction or an exponent, as `0.5` and `1e-5` do.
fn number(text: &str) -> (usize, bool) {
    let digits = |from: usize| text.bytes().skip(from).take_while(u8::is_ascii_digit).count();
    let whole = digits(0);
    let mut length = whole;
    if whole > 0 && text.as_bytes().get(length).copied() == Some(b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    if whole > 0 && matches!(text.as_bytes().get(length).copied(), Some(b'e' | b'E')) {
        let sign =
            usize::from(matches!(text.as_bytes().get(length + 1).copied(), Some(b'+' | b'-')));
        let power = digits(length + 1 + sign);
        length += if power > 0 { 1 + sign + power } else { 0 };
    }
    (length, length > whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(query: ConditionQuery<'_>, _: Range<usize>) -> Option<ConditionValue> {
        match query {
            ConditionQuery::Name("R")
            | ConditionQuery::Of(
                ConditionTensor::Operand(1),
                TensorAttribute::Name("O") | TensorAttribute::At(2),
            ) => Some(ConditionValue::Integer(3)),
            ConditionQuery::Name("alpha") => Some(ConditionValue::Real(0.1)),
            ConditionQuery::Name("stride") => Some(ConditionValue::Integer(2)),
            ConditionQuery::Name("layout") => Some(ConditionValue::Word("NCHW".to_owned())),
            ConditionQuery::Of(ConditionTensor::Result(0), TensorAttribute::Name("dtype")) => {
                Some(ConditionValue::Word("f32".to_owned()))
            }
            ConditionQuery::Name(_) | ConditionQuery::Of(..) => None,
        }
    }

    #[test]
    fn conditions_evaluate_by_operator_precedence() {
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
            ("alpha == 0.1 and alpha < 1 and alpha > -1e-5 and alpha != 1.5E+1", true),
            ("R == 3.0 and R < 3.5 and stride > 1.99", true),
            ("in[1].O == 3 and in[1][2] == R and out[0].dtype == 'f32'", true),
            ("in[1].O - 1 < 2 or in[ 1 ][2] != 3", false),
            ("in[2].rank == 4 or out[0][0] == 1", false),
            ("in == 1", false),
        ] {
            assert_eq!(holds(text, &lookup), Ok(expected), "{text}");
        }
    }

    #[test]
    fn invalid_conditions_report_their_span() {
        for (text, span) in [
            ("R <= ", 5..5),
            ("R", 0..1),
            ("R <= 3 )", 7..8),
            ("(R <= 3", 0..1),
            ("layout < 'x'", 0..12),
            ("R // 0 == 1", 0..6),
            ("R == 'x", 5..6),
            ("alpha == 0.", 10..11),
            ("alpha == 1e", 10..11),
            ("alpha + 1 == 2", 0..10),
            ("alpha == 'x'", 0..12),
            ("in[x].C == 1", 2..3),
            ("in[1] == 1", 5..6),
            ("in[99999].C == 1", 2..3),
            ("in[1].9 == 1", 5..6),
        ] {
            assert_eq!(holds(text, &lookup).map_err(|wrong| wrong.span), Err(span), "{text}");
        }
    }
}
