//! Reads arguments and property values as texts, names, integers and integer expressions.

use std::ops::Range;

use super::ManifestReader;
use super::message_words::show;
use super::rename::Renames;
use crate::base::codes::Code;
use crate::base::diagnostic::Fix;
use crate::base::dtype::known_types;
use crate::base::nearest::quantity;
use crate::manifest::syntax::{Identifier, IntegerExpr, IntegerLiteral, SpannedText};
use crate::manifest::tree::{Entry, ManifestValue};

/// Maximum length of a name, in characters.
pub(super) const NAME_LIMIT: usize = 128;

/// Noun phrase of an element type in messages.
pub(super) const ELEMENT_TYPE: &str = "an element type";

/// Help text for an invalid name for which no valid one can be suggested.
const OTHER_NAME: &str = "write a letter or `_`, then letters, digits and `_`, at most 128";

/// Help text for a value that is not an integer or an integer expression.
const NUMBER: &str = "write an integer, or an expression in quotes";

/// Maximum length in bytes of a string that a help text repeats on one line. For a longer string the help text suggests
/// a raw string.
const SHOWN: usize = 200;

/// Length in bytes of the escape sequence, such as `\n` or `\u{41}`, at the start of `rest`.
fn escape_length(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match chars.next() {
        Some((_, 'u')) => rest.find('}').map_or(2, |end| end + 1),
        Some((at, c)) if c.is_whitespace() => {
            let length = rest[at..].find(|c: char| !c.is_whitespace());
            length.map_or(rest.len(), |length| at + length)
        }
        Some((at, c)) => at + c.len_utf8(),
        None => rest.len(),
    }
}

/// True if `word` is `[A-Za-z_][A-Za-z0-9_]*`, of any length.
pub(super) fn is_name(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Names of a list with commas, joined by spaces: `"a,b"` gives `a b`. `None` unless the entry is a string of at least
/// two names with commas between them.
fn several_names(entry: &Entry) -> Option<String> {
    let names: Vec<&str> = entry.text()?.split(',').map(str::trim).collect();
    (names.len() > 1 && names.iter().all(|name| is_name(name))).then(|| names.join(" "))
}

/// Characters after which an expression needs another operand: operators and `(`.
const OPERATORS: [char; 8] = ['+', '-', '*', '/', '%', '&', '^', '('];

/// True if a word is an incomplete expression: it ends with an operator or `(`, begins with `)` or an operator that
/// needs an operand before it, or has unequal numbers of `(` and `)`. Examples are `*`, `8*` and `-1)`.
fn is_cut_off(word: &str) -> bool {
    let opened = word.matches('(').count();
    word.ends_with(OPERATORS)
        || word.starts_with(['*', '/', '%', '&', '^', ')'])
        || opened != word.matches(')').count()
}

/// Text of one or more integer expressions, separated by spaces, without the spaces around operators: `2 * k 4` gives
/// `2*k 4`.
fn joined(text: &str) -> String {
    let mut joined = String::new();
    for word in text.split_whitespace() {
        let goes_on = joined.ends_with(OPERATORS)
            || word.starts_with(['+', '*', '/', '%', '&', '^', ')'])
            || word == "-";
        if !joined.is_empty() && !goes_on {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    joined
}

/// Integer part of a decimal number whose fraction is zero: `8` for `8.0`. `None` for other words, or beyond 64 bits.
fn whole_number(word: &str) -> Option<&str> {
    let (whole, zeros) = word.split_once('.')?;
    let is_whole = !zeros.is_empty() && zeros.bytes().all(|b| b == b'0');
    (is_whole && whole.parse::<i64>().is_ok()).then_some(whole)
}

/// Pair `(numbers, reason)` for a text such as `8x8` or `64B`; `reason` is appended to the help text. `8x8` gives
/// (`8 8`, `: spaces separate arguments`). `None` for any other text.
fn plain_numbers(text: &str) -> Option<(String, String)> {
    let text = text.trim();
    let is_digits = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    for mark in [',', 'x', 'X', '×'] {
        let mut parts = text.split(mark).map(str::trim);
        if text.contains(mark) && parts.all(is_digits) {
            let numbers: Vec<&str> = text.split(mark).map(str::trim).collect();
            return Some((numbers.join(" "), ": spaces separate arguments".to_owned()));
        }
    }
    quantity(text)
}

impl ManifestReader<'_, '_> {
    /// Reads a string without escapes; `None` for a value that is no string or has escapes, which is reported. `what`
    /// is the noun phrase for the entry in messages: `an axis`.
    pub(super) fn text_of(&mut self, entry: &Entry, what: &str) -> Option<SpannedText> {
        let ManifestValue::String(value) = &entry.value else {
            if what == ELEMENT_TYPE {
                self.wrong_kind(entry, what, &format!("write one of {}", known_types()));
            } else {
                self.wrong_kind(entry, what, "write a word or a quoted string");
            }
            return None;
        };
        if !entry.plain {
            self.escaped(entry, value, what);
            return None;
        }
        Some(SpannedText {
            value: value.clone(),
            span: entry.content.clone(),
            quoted: entry.quoted,
        })
    }

    /// Reports the first escape sequence of a string, whose value with escapes resolved is `value`; `what` is the noun
    /// phrase for the string.
    fn escaped(&mut self, entry: &Entry, value: &str, what: &str) {
        let source = self.text.get(entry.content.clone()).unwrap_or_default();
        let message = format!("{what} cannot contain escapes");
        let (span, label) = match source.find('\\') {
            Some(at) => {
                let length = escape_length(&source[at..]);
                let start = entry.content.start + at;
                (start..start + length, "an escape")
            }
            None => (entry.span.clone(), ""),
        };
        let quotes = self.faults.place(entry.span.clone());
        let fault = self.faults.error(Code::ExprEscape, message, span, label);
        let blanks = value.replace(['\n', '\r', '\t'], " ");
        if blanks.len() > SHOWN || blanks.chars().any(char::is_control) {
            fault.add_help("use a raw string, `#\"…\"#`, which has no escapes");
            return;
        }
        let raw = blanks.contains(['\\', '"']) && !blanks.contains("\"#");
        let text = if raw { format!("#\"{blanks}\"#") } else { format!("\"{blanks}\"") };
        let more = if raw { ", a raw string without escapes" } else { "" };
        fault.add_help(format!("write `{text}`{more}"));
        fault.fixes.push(Fix { place: quotes, text });
    }

    pub(super) fn wrong_kind(&mut self, entry: &Entry, what: &str, help: &str) {
        let message = format!("{what} cannot be {}", entry.value.kind());
        self.faults.error(Code::KdlValue, message, entry.span.clone(), "").add_help(help);
    }

    /// Text and location of the name of a node or the key of a property. `span` is its byte range including quotes. The
    /// location is the range without the quotes, or `span` if the name has escapes.
    pub(super) fn inside(&self, name: &str, span: &Range<usize>) -> SpannedText {
        let quotes = span.len().saturating_sub(name.len()) / 2;
        let content = span.start + quotes..span.end - quotes;
        let exact = self.text.get(content.clone()) == Some(name);
        let span = if exact { content } else { span.clone() };
        SpannedText { value: name.to_owned(), span, quoted: exact && quotes > 0 }
    }

    /// Reads a name; `None` for a value that is no valid name, which is reported. `what` is the noun phrase for the
    /// entry in messages: `an axis`.
    pub(super) fn name(&mut self, entry: &Entry, what: &str) -> Option<Identifier> {
        let text = self.text_of(entry, what)?;
        self.as_name(&text)
    }

    /// Converts a text to a name; `None` for a text that is not `[A-Za-z_][A-Za-z0-9_]*` or is longer than
    /// [`NAME_LIMIT`], which is reported.
    pub(super) fn as_name(&mut self, text: &SpannedText) -> Option<Identifier> {
        let (value, span) = (text.value.clone(), text.span.clone());
        if is_name(&value) && value.len() <= NAME_LIMIT {
            return Some(Identifier { value, span });
        }
        // An empty name has no bytes: the quotes are marked.
        let place =
            if span.is_empty() && text.quoted { span.start - 1..span.end + 1 } else { span };
        let message = if value.is_empty() {
            "empty name".to_owned()
        } else if is_name(&value) {
            format!("a name of {} characters is too long: the limit is {NAME_LIMIT}", value.len())
        } else {
            format!("`{}` is not a name", show(&value))
        };
        let near = self.renames.get_or_init(|| Renames::of(self.text)).get(&value);
        let fault = self.faults.error(Code::NameInvalid, message, place, "");
        fault.add_note(
            "names consist of ASCII letters, digits and `_`, and do not begin with a digit",
        );
        if let Some((at, c)) = value.chars().enumerate().find(|(_, c)| !c.is_ascii()) {
            let code = u32::from(c);
            fault.add_note(format!("character {} is U+{code:04X}, which is not ASCII", at + 1));
            fault.add_help(OTHER_NAME);
        } else if let Some(name) = value.strip_suffix(',').filter(|name| is_name(name)) {
            fault.add_help(format!(
                "write `{name}`: spaces separate arguments, `;` separates nodes"
            ));
            fault.add_fix(name);
        } else if let Some(name) = value.strip_suffix(':').filter(|name| is_name(name)) {
            fault.add_help(format!("write `{name}` followed by a space"));
            fault.add_fix(name);
        } else if let Some(name) = near {
            fault.add_help(format!("write `{name}`"));
            fault.add_fix(name);
        } else {
            fault.add_help(OTHER_NAME);
        }
        None
    }

    /// Reads an integer, or a string with an expression of consts, symbols and parameters, which is not parsed. `None`
    /// after a reported error. The report has the code `code` for a value of another kind, an empty string, or numbers
    /// in quotes such as `"8x8"`; invalid names, escapes and missing quotes have codes of their own. `what` is the noun
    /// phrase for the entry in messages.
    pub(super) fn bound(&mut self, entry: &Entry, what: &str, code: Code) -> Option<IntegerExpr> {
        match &entry.value {
            ManifestValue::Integer(value) => Some(IntegerExpr::Integer(IntegerLiteral {
                value: *value,
                span: entry.span.clone(),
            })),
            ManifestValue::String(_) => {
                let text = self.text_of(entry, what)?;
                if !text.quoted && !is_name(&text.value) {
                    return self.unquoted(&text);
                }
                if text.value.trim().is_empty() {
                    let message = format!("{what} is empty");
                    self.faults.error(code, message, entry.span.clone(), "").add_help(NUMBER);
                    return None;
                }
                if is_name(&text.value) {
                    self.as_name(&text)?;
                } else if let Some((number, note)) = plain_numbers(&text.value) {
                    let message = format!("{what} is a plain number, not `{}`", show(&text.value));
                    let fault = self.faults.error(code, message, entry.span.clone(), "");
                    fault.add_help(format!("write `{number}`{note}"));
                    fault.add_fix(number);
                    return None;
                }
                Some(IntegerExpr::Text(text))
            }
            _ => {
                let message = format!("{what} cannot be {}", entry.value.kind());
                let whole = self.text.get(entry.span.clone()).and_then(whole_number);
                let fault = self.faults.error(code, message, entry.span.clone(), "");
                match whole {
                    Some(number) => {
                        fault.add_help(format!("write `{number}`"));
                        fault.add_fix(number);
                    }
                    None => {
                        fault.add_help(NUMBER);
                    }
                }
                None
            }
        }
    }

    /// Reports an expression that is not quoted, and suggests quotes. Always returns `None`.
    pub(super) fn unquoted<T>(&mut self, text: &SpannedText) -> Option<T> {
        let message = "an expression must be one quoted string";
        let fault = self.faults.error(Code::ExprUnquoted, message, text.span.clone(), "");
        fault.add_help(format!("write `\"{}\"`", text.value));
        fault.add_fix(format!("\"{}\"", text.value));
        None
    }

    /// Reads the words of a string, separated by white space, each with its byte range. `None` after a reported error,
    /// such as a string without words. `what` is the noun phrase for the entry in messages.
    pub(super) fn words(&mut self, entry: &Entry, what: &str) -> Option<Vec<SpannedText>> {
        let text = self.text_of(entry, what)?;
        let mut words = Vec::new();
        let mut at = 0;
        for word in text.value.split(char::is_whitespace) {
            if !word.is_empty() {
                let start = text.span.start + at;
                let span = start..start + word.len();
                words.push(SpannedText { value: word.to_owned(), span, quoted: text.quoted });
            }
            at += word.len();
            at += text.value.get(at..).and_then(|r| r.chars().next()).map_or(0, char::len_utf8);
        }
        if words.is_empty() {
            let message = format!("{what} is empty");
            let help = "write one or more, separated by spaces";
            return self.refuse(Code::KdlValue, message, &entry.span, help);
        }
        Some(words)
    }

    /// Reads the names in a string, separated by white space: `"io ii"`. `None` if one is invalid, which is reported.
    /// `what` is the noun phrase for the entry in messages.
    pub(super) fn names(&mut self, entry: &Entry, what: &str) -> Option<Vec<Identifier>> {
        if let Some(names) = several_names(entry) {
            let written = self.text.get(entry.content.clone()).unwrap_or_default();
            let message = format!("`{}` is not a name", show(written));
            let fault = self.faults.error(Code::NameInvalid, message, entry.span.clone(), "");
            fault.add_help(format!("separate them with spaces: `\"{names}\"`"));
            fault.add_fix(format!("\"{names}\""));
            return None;
        }
        let words = self.words(entry, what)?;
        let names: Vec<Option<Identifier>> = words.iter().map(|word| self.as_name(word)).collect();
        names.into_iter().collect()
    }

    /// Reads a list of integer expressions: a string with expressions separated by white space, `"4 2*k"`, or one
    /// unquoted entry. `None` after a reported error. An expression with spaces, `"2 * k"`, is an error. `what` is the
    /// noun phrase for the entry in messages.
    pub(super) fn bounds(&mut self, entry: &Entry, what: &str) -> Option<Vec<IntegerExpr>> {
        if !entry.quoted {
            return self.bound(entry, what, Code::KdlValue).map(|bound| vec![bound]);
        }
        let words = self.words(entry, what)?;
        if words.iter().any(|word| is_cut_off(&word.value)) {
            let written = self.text.get(entry.content.clone()).unwrap_or_default();
            let joined = joined(written);
            let message = format!("spaces separate the numbers in `{}`", show(written));
            let fault = self.faults.error(Code::ExprSyntax, message, entry.span.clone(), "");
            fault.add_help(format!("write each expression without spaces: `\"{joined}\"`"));
            fault.add_fix(format!("\"{joined}\""));
            return None;
        }
        let bounds = words.into_iter().map(|word| match word.value.parse::<i128>() {
            Ok(value) if !word.value.starts_with('+') => {
                IntegerExpr::Integer(IntegerLiteral { value, span: word.span })
            }
            Ok(_) | Err(_) => IntegerExpr::Text(word),
        });
        Some(bounds.collect())
    }

    /// Reads all entries as integer expressions. Every invalid entry is reported; if there is one, the result is
    /// `None`. `what` is the noun phrase for one entry in messages.
    pub(super) fn all_bounds(&mut self, entries: &[Entry], what: &str) -> Option<Vec<IntegerExpr>> {
        let bounds: Vec<Option<IntegerExpr>> =
            entries.iter().map(|entry| self.bound(entry, what, Code::KdlValue)).collect();
        bounds.into_iter().collect()
    }

    /// Reads all entries as names. Every invalid entry is reported; if there is one, the result is `None`. `what` is
    /// the noun phrase for one entry in messages.
    pub(super) fn all_names(&mut self, entries: &[Entry], what: &str) -> Option<Vec<Identifier>> {
        let names: Vec<Option<Identifier>> =
            entries.iter().map(|entry| self.one_name(entry, what)).collect();
        names.into_iter().collect()
    }

    /// Reads an argument that must be one name. `None`, after a report, for anything else. For a list with commas,
    /// `a,b`, the help text shows separate arguments, `a b`. `what` is the noun phrase for the entry in messages.
    pub(super) fn one_name(&mut self, entry: &Entry, what: &str) -> Option<Identifier> {
        let Some(names) = several_names(entry) else { return self.name(entry, what) };
        let written = self.text.get(entry.content.clone()).unwrap_or_default();
        let message = format!("`{}` is not a name", show(written));
        let fault = self.faults.error(Code::NameInvalid, message, entry.span.clone(), "");
        fault.add_help(format!("write each as a separate argument: `{names}`"));
        fault.add_fix(names);
        None
    }
}
