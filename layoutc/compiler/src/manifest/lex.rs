//! KDL lexer: splits text into strings, comments, braces and words. It limits nesting without recursion and does not
//! resolve values.
//!
//! Source: KDL 2.0.0, sections "Whitespace", "Newline", "String" and "Disallowed Literal Code Points".

use std::ops::Range;
use std::sync::Arc;

use super::diagnostic_sink::DiagnosticSink;
use crate::base::codes::Code;

/// Maximum nesting depth of blocks and of comments; deeper nesting is an error.
pub(super) const NESTING_LIMIT: usize = 128;

/// Maximum number of tokens before a `//` that are searched for the name of the current node, so that lexing takes
/// linear time. A name that is farther away is not found.
const NODE_TOKENS: usize = 64;

/// Kind of a KDL token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KdlTokenKind {
    /// Unquoted name, number or keyword: `tensor`, `16`, `#true`.
    Bare,
    /// Quoted string on one line: `"a"` has 0 `hashes`, the raw string `#"a"#` has 1.
    Quoted { hashes: usize },
    /// String in triple quotes, which may have several lines.
    MultiLine,
    /// String or character whose error is reported already.
    Bad,
    /// Opening brace `{` of a block.
    Open,
    /// Closing brace `}` of a block.
    Close,
    /// Equals sign `=` between a property's key and its value.
    Equals,
    /// End of a node: `;` or a line end.
    End,
    /// Slash-dash `/-`, which comments out the next element.
    SlashDash,
    /// One of the characters `( ) [ ] / \` outside quotes, where manifests do not use it.
    Stray,
}

/// Token of a text with its byte range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KdlToken {
    pub(super) kind: KdlTokenKind,
    pub(super) span: Range<usize>,
    /// True if the token is an unquoted word or of kind [`KdlTokenKind::Stray`] and a `//` comment follows without a
    /// space, as in `c//4`.
    pub(super) glued_comment: bool,
}

/// Tokens of a text in order; errors are reported to `faults`. `None` if a comment or a string in triple quotes is
/// unclosed, or comments are nested deeper than [`NESTING_LIMIT`].
pub(super) fn lex(text: &str, faults: &mut DiagnosticSink) -> Option<Vec<KdlToken>> {
    let (tokens, is_whole) = lexed(text, faults);
    is_whole.then_some(tokens)
}

/// Tokens of a text up to the first fatal error, such as an unclosed comment; nothing is reported.
pub(super) fn lex_lossy(text: &str) -> Vec<KdlToken> {
    lexed(text, &mut DiagnosticSink::new(&Arc::from(""))).0
}

/// Tokens of a text up to the first fatal error, such as an unclosed comment, and true if there is no such error. All
/// errors are reported to `faults`.
fn lexed(text: &str, faults: &mut DiagnosticSink) -> (Vec<KdlToken>, bool) {
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut lexer = Lexer { text, at, tokens: Vec::new(), faults };
    let mut is_whole = true;
    while is_whole && lexer.at < text.len() {
        is_whole = lexer.step().is_some();
    }
    (lexer.tokens, is_whole)
}

/// True if the text `part` contains a comment, a `/-`, or a backslash that escapes a line end.
pub(super) fn has_comments(part: &str) -> bool {
    let mut at = 0;
    for token in lex_lossy(part) {
        let gap = part.get(at..token.span.start).unwrap_or_default();
        if token.kind == KdlTokenKind::SlashDash || !gap.chars().all(is_space) {
            return true;
        }
        at = token.span.end;
    }
    part.get(at..).is_some_and(|rest| !rest.chars().all(is_space))
}

struct Lexer<'a, 'f> {
    text: &'a str,
    at: usize,
    tokens: Vec<KdlToken>,
    faults: &'f mut DiagnosticSink,
}

impl Lexer<'_, '_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn push(&mut self, kind: KdlTokenKind, start: usize) {
        let glued_comment = matches!(kind, KdlTokenKind::Bare | KdlTokenKind::Stray)
            && self.rest().starts_with("//");
        self.tokens.push(KdlToken { kind, span: start..self.at, glued_comment });
    }

    fn single(&mut self, kind: KdlTokenKind, bytes: usize) {
        let start = self.at;
        self.at += bytes;
        self.push(kind, start);
    }

    fn step(&mut self) -> Option<()> {
        let Some(first) = self.peek() else { return Some(()) };
        let rest = self.rest();
        if let Some(bytes) = newline(rest) {
            self.single(KdlTokenKind::End, bytes);
        } else if is_space(first) {
            self.at += first.len_utf8();
        } else if rest.starts_with("//") {
            self.line_comment();
        } else if rest.starts_with("/*") {
            self.block_comment()?;
        } else if rest.starts_with("/-") {
            self.single(KdlTokenKind::SlashDash, 2);
        } else if let Some(hashes) = string_hashes(rest) {
            self.string(hashes)?;
        } else if is_disallowed(first) {
            self.disallowed(first);
            self.single(KdlTokenKind::Bad, first.len_utf8());
        } else {
            self.mark(first)?;
        }
        Some(())
    }

    fn mark(&mut self, first: char) -> Option<()> {
        match first {
            '{' => self.single(KdlTokenKind::Open, 1),
            '}' => self.single(KdlTokenKind::Close, 1),
            '=' => self.single(KdlTokenKind::Equals, 1),
            ';' => self.single(KdlTokenKind::End, 1),
            '\\' => self.line_continuation()?,
            '(' | ')' | '[' | ']' | '/' => self.single(KdlTokenKind::Stray, 1),
            _ => self.bare(),
        }
        Some(())
    }

    fn bare(&mut self) {
        let start = self.at;
        self.at += self.rest().chars().take_while(|&c| c == '#').map(char::len_utf8).sum::<usize>();
        let length = self.rest().find(|c| !is_bare(c)).unwrap_or(self.rest().len());
        self.at += length;
        self.push(KdlTokenKind::Bare, start);
    }

    fn line_comment(&mut self) {
        let glued = self.tokens.last().is_some_and(|t| t.glued_comment && t.span.end == self.at);
        let glued = glued || self.is_in_map();
        while let Some(c) = self.peek() {
            if newline(self.rest()).is_some() {
                return;
            }
            self.faults.tail_lost |= glued && matches!(c, '{' | '}');
            self.disallowed(c);
            self.at += c.len_utf8();
        }
    }

    /// True if a `//` in the current node is a division: the node's name is `map` or `compute`, and it has a bracket,
    /// `/` or `\` outside quotes before the `//`.
    fn is_in_map(&self) -> bool {
        let ends = |token: &&KdlToken| {
            matches!(token.kind, KdlTokenKind::End | KdlTokenKind::Open | KdlTokenKind::Close)
        };
        let node = self.tokens.iter().rev().take(NODE_TOKENS).take_while(|token| !ends(token));
        let node: Vec<&KdlToken> = node.collect();
        let name = node.last().and_then(|first| self.text.get(first.span.clone()));
        matches!(name, Some("map" | "compute"))
            && node.iter().any(|token| token.kind == KdlTokenKind::Stray)
    }

    /// Skips a block comment and the comments nested in it; `None` if the comment is unclosed or nested too deep, which
    /// is reported.
    fn block_comment(&mut self) -> Option<()> {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(c) = self.peek() {
            if self.rest().starts_with("/*") {
                depth += 1;
                if depth > NESTING_LIMIT {
                    self.faults.nesting("comments", self.at..self.at + 2);
                    return None;
                }
                self.at += 2;
            } else if self.rest().starts_with("*/") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return Some(());
                }
            } else {
                self.disallowed(c);
                self.at += c.len_utf8();
            }
        }
        self.faults
            .error(Code::KdlSyntax, "unclosed comment", start..start + 2, "")
            .add_help("close it with `*/`; comments nest");
        None
    }

    /// Skips a backslash, the line end that it escapes, and the comments between the two. If neither a line end nor the
    /// end of the text follows, the backslash becomes a [`KdlTokenKind::Stray`] token. `None` if one of the comments is
    /// unclosed or nested too deep, which is reported.
    fn line_continuation(&mut self) -> Option<()> {
        let start = self.at;
        self.at += 1;
        loop {
            let Some(c) = self.peek() else { return Some(()) };
            if let Some(bytes) = newline(self.rest()) {
                self.at += bytes;
                return Some(());
            }
            if is_space(c) {
                self.at += c.len_utf8();
            } else if self.rest().starts_with("//") {
                self.line_comment();
            } else if self.rest().starts_with("/*") {
                self.block_comment()?;
            } else {
                self.at = start + 1;
                self.push(KdlTokenKind::Stray, start);
                return Some(());
            }
        }
    }

    /// Reads a string with `hashes` number signs on each side; with at least one, the string is raw and has no escapes.
    /// `None` if a string in triple quotes is unclosed.
    fn string(&mut self, hashes: usize) -> Option<()> {
        let start = self.at;
        self.at += hashes;
        let triple = self.rest().starts_with("\"\"\"");
        let quotes = if triple { 3 } else { 1 };
        let end = format!("{}{}", "\"".repeat(quotes), "#".repeat(hashes));
        self.at += quotes;
        let kind = if triple { KdlTokenKind::MultiLine } else { KdlTokenKind::Quoted { hashes } };
        let mut clean = true;
        while let Some(c) = self.peek() {
            if self.rest().starts_with(&end) {
                self.at += end.len();
                self.push(if clean { kind } else { KdlTokenKind::Bad }, start);
                return Some(());
            }
            if hashes == 0 && c == '\\' {
                self.escape();
                continue;
            }
            if !triple && newline(self.rest()).is_some() {
                break;
            }
            clean &= !self.disallowed(c);
            self.at += c.len_utf8();
        }
        self.unclosed_string(start, &end, triple)
    }

    /// Skips a backslash in a string and the text that it escapes: one character, or white space with line ends.
    fn escape(&mut self) {
        self.at += 1;
        let blank = |c: char| is_space(c) || is_newline(c);
        let Some(c) = self.peek() else { return };
        if blank(c) {
            let length = self.rest().find(|c| !blank(c)).unwrap_or(self.rest().len());
            self.at += length;
        } else if !is_disallowed(c) {
            self.at += c.len_utf8();
        }
    }

    /// Reports a string that begins at byte `start` and lacks its closing quotes `end`. If `triple` is true, it has
    /// triple quotes: it then extends to the end of the file, and the result is `None`. Otherwise a
    /// [`KdlTokenKind::Bad`] token up to the end of the line is added.
    fn unclosed_string(&mut self, start: usize, end: &str, triple: bool) -> Option<()> {
        let message =
            if triple { "unclosed string" } else { "this string is not closed on its line" };
        let fault = self.faults.error(Code::KdlSyntax, message, start..self.at, "");
        fault.add_help(format!("close it with `{end}`"));
        self.faults.tail_lost = true;
        if triple {
            return None;
        }
        self.push(KdlTokenKind::Bad, start);
        Some(())
    }

    /// Reports the character `c` at the current position if KDL does not allow it; returns true if so.
    fn disallowed(&mut self, c: char) -> bool {
        let bad = is_disallowed(c);
        if bad {
            let code = u32::from(c);
            let span = self.at..self.at + c.len_utf8();
            let message = format!("the character U+{code:04X} is not allowed in a manifest");
            let fault = self.faults.error(Code::KdlCharacter, message, span, "");
            fault.add_help("remove it: it is invisible or changes the text direction");
        }
        bad
    }
}

/// Length in bytes of the line end at the start of `rest`, 2 for `\r\n`; `None` if `rest` does not begin with a line
/// end.
pub(super) fn newline(rest: &str) -> Option<usize> {
    if rest.starts_with("\r\n") {
        return Some(2);
    }
    rest.chars().next().filter(|&c| is_newline(c)).map(char::len_utf8)
}

fn is_newline(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{b}' | '\u{c}' | '\u{2028}' | '\u{2029}')
}

pub(super) fn is_space(c: char) -> bool {
    matches!(
        c,
        '\t' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

fn is_disallowed(c: char) -> bool {
    matches!(
        c,
        '\0'..='\u{8}' | '\u{e}'
            ..='\u{1f}' | '\u{7f}' | '\u{200e}' | '\u{200f}' | '\u{202a}'
            ..='\u{202e}' | '\u{2066}'
            ..='\u{2069}' | '\u{feff}'
    )
}

fn is_bare(c: char) -> bool {
    !matches!(c, '\\' | '/' | '(' | ')' | '{' | '}' | '[' | ']' | ';' | '"' | '#' | '=')
        && !is_newline(c)
        && !is_space(c)
        && !is_disallowed(c)
}

/// Number of `#` before the opening quote of a string; `None` if `rest` does not begin with a string.
fn string_hashes(rest: &str) -> Option<usize> {
    let hashes = rest.bytes().take_while(|&b| b == b'#').count();
    (rest.as_bytes().get(hashes) == Some(&b'"')).then_some(hashes)
}
