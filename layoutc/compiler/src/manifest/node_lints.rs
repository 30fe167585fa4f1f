//! Checks the tokens of one node before it is parsed, for messages that are more specific than those of the parser. It
//! finds numbers out of range, KDL 1 syntax, and expressions without quotes.

use std::ops::Range;

use super::bracket_lists;
use super::diagnostic_sink::DiagnosticSink;
use super::lex::{KdlToken, KdlTokenKind, has_comments};
use super::number;
use crate::base::codes::Code;
use crate::base::diagnostic::Fix;
use crate::base::dtype::known_types;
use crate::base::nearest::nearest;

use super::read::{ITEMS, NodeScope};

/// Checks `head`, the tokens of a node without its block. Returns true if they are valid; otherwise reports one error
/// and returns false. `parent` is the name of the enclosing node, empty at the top level. A token of kind
/// [`KdlTokenKind::Bad`] makes the result false without a report, because the lexer has reported it.
pub(super) fn check(
    text: &str,
    head: &[KdlToken],
    parent: &str,
    faults: &mut DiagnosticSink,
) -> bool {
    if head.iter().any(|token| token.kind == KdlTokenKind::Bad) {
        return false;
    }
    if let Some(token) =
        head.iter().find(|token| token.kind == KdlTokenKind::Stray || token.glued_comment)
    {
        unquoted(text, head, token, parent, faults);
        return false;
    }
    if parent == "shape" && commas_in_shape(text, head, faults) {
        return false;
    }
    if head.get(1).is_some_and(|token| token.kind == KdlTokenKind::Equals) {
        property_for_node(text, head, parent, faults);
        return false;
    }
    if let Some(span) = misplaced_equals(head) {
        let message = "misplaced `=`: it belongs between a property and its value";
        let fault = faults.error(Code::KdlSyntax, message, span, "");
        fault.add_help("write `name=value`, or leave the `=` out");
        return false;
    }
    let words = head.iter().enumerate().all(|(at, token)| match token.kind {
        KdlTokenKind::Bare => {
            let key =
                at == 0 || head.get(at + 1).is_some_and(|next| next.kind == KdlTokenKind::Equals);
            !no_element_type(text, head, at, faults) && word(text, token.span.clone(), key, faults)
        }
        KdlTokenKind::Quoted { hashes: 0 } => escapes(text, token, faults),
        KdlTokenKind::MultiLine => {
            lines(text, token, faults);
            false
        }
        _ => true,
    });
    if !words {
        return false;
    }
    if let Some(pair) = head.windows(2).find(|pair| touching(pair)) {
        let span = pair[0].span.start..pair[1].span.end;
        let apart = [&pair[0], &pair[1]].map(|token| text.get(token.span.clone()));
        let apart = apart.map(Option::unwrap_or_default).join(" ");
        let fault = faults.error(Code::KdlSyntax, "missing space between two words", span, "");
        fault.add_help(format!("write `{apart}`"));
        fault.add_fix(apart);
        return false;
    }
    true
}

/// Reports commas between the axes of a shape, as in `n 4, c 8,`, and returns true. Returns false, without a report, if
/// `head` has no comma, or if it is not a list of names with one extent each.
fn commas_in_shape(text: &str, head: &[KdlToken], faults: &mut DiagnosticSink) -> bool {
    let written = |token: &KdlToken| text.get(token.span.clone()).unwrap_or_default();
    let is_comma =
        |token: &&KdlToken| token.kind == KdlTokenKind::Bare && written(token).ends_with(',');
    let Some(comma) = head.iter().find(is_comma) else { return false };
    let words: Vec<&str> = head.iter().map(written).collect();
    let words = words.join(" ").replace(',', ";");
    let nodes = words.trim_end_matches([';', ' ']);
    let is_axis = |axis: &str| axis.split_whitespace().count() == 2;
    if !head.iter().all(|token| token.kind == KdlTokenKind::Bare) || !nodes.split(';').all(is_axis)
    {
        return false;
    }
    let span = head.first().map_or(0, |token| token.span.start)
        ..head.last().map_or(0, |token| token.span.end);
    let place = faults.place(span);
    let mark = comma.span.end - 1..comma.span.end;
    let message = "`;` separates the axes of a shape, not `,`";
    let fault = faults.error(Code::KdlSyntax, message, mark, "");
    fault.add_help(format!("write `{nodes}`"));
    fault.fixes.push(Fix { place, text: nodes.to_owned() });
    true
}

/// Byte range of the first `=` that is not between a property's key and its value; `None` if there is none.
fn misplaced_equals(head: &[KdlToken]) -> Option<Range<usize>> {
    let mut at = 1;
    while let Some(token) = head.get(at) {
        let is_word =
            |at: usize| head.get(at).is_some_and(|token| token.kind != KdlTokenKind::Equals);
        if token.kind == KdlTokenKind::Equals {
            return Some(token.span.clone());
        }
        if is_word(at + 1) || head.len() == at + 1 {
            at += 1;
        } else if is_word(at + 2) {
            at += 3;
        } else {
            return head.get(at + 1).map(|equals| equals.span.clone());
        }
    }
    None
}

/// True if the two tokens of `pair` are adjacent without a space and neither is `=`.
fn touching(pair: &[KdlToken]) -> bool {
    pair[0].span.end == pair[1].span.start
        && pair.iter().all(|token| token.kind != KdlTokenKind::Equals)
}

/// Returns true if every backslash of a string begins a KDL escape sequence. Otherwise reports the first that does not,
/// and returns false.
fn escapes(text: &str, token: &KdlToken, faults: &mut DiagnosticSink) -> bool {
    let source = text.get(token.span.clone()).unwrap_or_default();
    let mut rest = source.char_indices();
    while let Some((at, c)) = rest.next() {
        let Some((next_at, next)) = (if c == '\\' { rest.next() } else { continue }) else { break };
        let after = source.get(next_at + 1..).unwrap_or_default();
        let is_valid = match next {
            '"' | '\\' | 'b' | 'f' | 'n' | 'r' | 't' | 's' => true,
            'u' => scalar(after).is_some(),
            other => other.is_whitespace(),
        };
        if !is_valid {
            let span = token.span.start + at..token.span.start + next_at + next.len_utf8();
            let message = format!("`\\{next}` is not a KDL escape sequence");
            faults
                .error(Code::KdlSyntax, message, span, "")
                .add_help("use a raw string, `#\"…\"#`, which has no escapes");
            return false;
        }
    }
    true
}

/// Maximum length in bytes of a string that a help text repeats on one line. For a longer string the help text shows
/// `"…"`.
const SHOWN: usize = 200;

/// Reports a string in triple quotes, which manifests do not allow, and suggests it on one line.
fn lines(text: &str, token: &KdlToken, faults: &mut DiagnosticSink) {
    let source = text.get(token.span.clone()).unwrap_or_default();
    let words: Vec<&str> = source.trim_matches(['#', '"']).split_whitespace().collect();
    let line = words.join(" ");
    let message = "a string must be on one line, in one pair of quotes";
    let fault = faults.error(Code::ExprEscape, message, token.span.clone(), "");
    if line.len() > SHOWN || line.contains(['"', '\\']) {
        fault.add_help("write it as `\"…\"` on one line");
    } else {
        fault.add_help(format!("write it on one line: `\"{line}\"`"));
        fault.add_fix(format!("\"{line}\""));
    }
}

/// Character that an escape such as `\u{1F600}` denotes; `after` is the text behind the `u`. `None` if the escape is
/// malformed.
fn scalar(after: &str) -> Option<char> {
    let (digits, _) = after.strip_prefix('{')?.split_once('}')?;
    let hex = (1..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| hex)?)
}

/// Reports `token`, a token of the node `head`. It is a bracket, `/` or `\`, which are valid only inside quotes, or a
/// word that a `//` comment follows without a space, as in `c//4`. The help text mostly shows the expression around the
/// token in quotes. For a list in brackets and for parentheses after the name of an item, it shows the equivalent KDL.
/// `parent` is the name of the enclosing node, empty at the top level.
fn unquoted(
    text: &str,
    head: &[KdlToken],
    token: &KdlToken,
    parent: &str,
    faults: &mut DiagnosticSink,
) {
    let of = |token: &KdlToken| text.get(token.span.clone()).unwrap_or_default();
    let name = head.first().map(of).unwrap_or_default();
    let outside = || format!("unexpected `{}` outside quotes", of(token));
    // The text from the word with the error to the end of the line is taken as the intended expression.
    let glued = |pair: &[KdlToken]| pair[0].span.end == pair[1].span.start;
    let at = head.iter().position(|t| t.span == token.span).unwrap_or_default();
    if let Some(list) = bracket_lists::parse_list(text, head, at, parent) {
        bracketed(list, token, outside(), faults);
        return;
    }
    if ITEMS.contains(&name) && of(token) == "(" {
        let fault = faults.error(Code::ExprUnquoted, outside(), token.span.clone(), "");
        fault.add_help(match name {
            "kernel" => {
                "write the tensors in the block: `kernel k { operands A B; compute \"…\" }`"
                    .to_owned()
            }
            _ => format!("write `{name} NAME property=value {{ … }}`: a node has no parentheses"),
        });
        return;
    }
    let is_statement =
        name == "compute" || (parent == "kernel" && !NodeScope::KERNEL.words().0.contains(&name));
    let mut first = at;
    while first > 1
        && glued(&head[first - 1..=first])
        && head[first - 1].kind != KdlTokenKind::Equals
    {
        first -= 1;
    }
    if name == "map" || name == "compute" {
        first = 1.min(at);
    } else if is_statement {
        first = 0;
    }
    let start = head.get(first).map_or(token.span.start, |t| t.span.start);
    let rest = text.get(start..).unwrap_or_default();
    let end = rest.find(['\n', '\r', '{', '}', ';', '"']).unwrap_or(rest.len());
    let mut meant = rest.get(..end).unwrap_or_default().trim_end();
    if name != "map" && !is_statement {
        meant = meant.split_whitespace().next().unwrap_or_default();
    }
    let place = faults.place(start..start + meant.len());
    let meant = meant.trim_matches(QUOTES);
    let text_in_quotes = match name {
        "map" => format!("\"{}\"", meant.replace('[', "(").replace(']', ")")),
        _ if is_statement && first == 0 => format!("compute \"{meant}\""),
        _ => format!("\"{meant}\""),
    };
    let help = format!("write it as one quoted string: `{text_in_quotes}`");
    let fix = Fix { place, text: text_in_quotes };
    if token.glued_comment {
        let span = start..token.span.end + 2;
        let message = "`//` begins a comment here: the rest of the line is lost";
        let label = format!(
            "`{}` is all that is left",
            text.get(start..token.span.end).unwrap_or_default()
        );
        let fault = faults.error(Code::ExprUnquoted, message, span, label);
        fault.add_help(help).add_help("put a space before `//` to begin a comment");
        fault.fixes.push(fix);
    } else if of(token) == "\\" {
        let message = "a `\\` outside quotes continues a line and must be its last character";
        let fault = faults.error(Code::KdlSyntax, message, token.span.clone(), "");
        fault.add_help("leave it out, or begin a new line after it");
    } else if name != "map" && !is_statement && matches!(of(token), "[" | "]") {
        let fault = faults.error(Code::ExprUnquoted, outside(), token.span.clone(), "");
        fault.add_help(match name.trim_end_matches(':') {
            "shape" => "write the axes as nodes in a block: `shape { n 16; c 4 }`",
            "[" if parent.is_empty() => {
                "a tensor is written `tensor input dtype=f32 { shape { n 16; c 4 } }`"
            }
            _ => "remove it: spaces separate arguments, and a block is written `{ … }`",
        });
    } else {
        let fault = faults.error(Code::ExprUnquoted, outside(), token.span.clone(), "");
        fault.add_help(help);
        fault.fixes.push(fix);
    }
}

/// Reports a list in brackets with its replacement in KDL. `token` is its opening bracket. `outside` is the message for
/// a list outside of a shape.
fn bracketed(
    list: bracket_lists::BracketList,
    token: &KdlToken,
    outside: String,
    faults: &mut DiagnosticSink,
) {
    let place = faults.place(list.place);
    let fault = if list.is_shape {
        let message = "axes are nodes in a block: each has a name";
        faults.error(Code::ShapeForm, message, list.list, "")
    } else {
        faults.error(Code::ExprUnquoted, outside, token.span.clone(), "")
    };
    fault.add_help(list.help);
    if !list.text.is_empty() {
        fault.fixes.push(Fix { place, text: list.text });
    }
}

/// Reports a property, such as `n=1`, at the start of the node `head`, where a name is expected, and suggests the node
/// `n 1`. `parent` is the name of the enclosing node. If the enclosing node may have the property, suggests to write it
/// there instead.
fn property_for_node(text: &str, head: &[KdlToken], parent: &str, faults: &mut DiagnosticSink) {
    let of = |token: &KdlToken| text.get(token.span.clone()).unwrap_or_default();
    let whole = head[0].span.start..head.last().map_or(0, |token| token.span.end);
    let words: Vec<&str> = head.iter().filter(|t| t.kind != KdlTokenKind::Equals).map(of).collect();
    let (code, meant) = if parent == "shape" {
        let axes: Vec<String> = words.chunks(2).map(|pair| pair.join(" ")).collect();
        (Code::ShapeForm, axes.join("; "))
    } else {
        (Code::KdlSyntax, words.join(" "))
    };
    let message = format!("expected a space after the node name `{}`", of(&head[0]));
    let fault = faults.error(code, message, whole.clone(), "");
    let is_property =
        NodeScope::of(parent).is_some_and(|scope| scope.words().1.contains(&of(&head[0])));
    if let (true, [name, value]) = (is_property, words.as_slice()) {
        fault.add_help(format!("write it as a property: `{parent} … {name}={value}`"));
        return;
    }
    fault.add_help(format!("write `{meant}`"));
    if !text.get(whole).is_some_and(has_comments) {
        fault.add_fix(meant);
    }
}

/// Quotation marks that other languages use and KDL does not.
const QUOTES: &[char] = &['\'', '`', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}'];

/// Returns true, after a report, if the token at position `at` of `head` is a word such as `true` where an element type
/// is expected, as in `dtype=true`.
fn no_element_type(text: &str, head: &[KdlToken], at: usize, faults: &mut DiagnosticSink) -> bool {
    let of = |at: usize| head.get(at).and_then(|token| text.get(token.span.clone()));
    let key = at.checked_sub(2).and_then(of);
    let is_property = at.checked_sub(1).and_then(of) == Some("=");
    let (Some("dtype" | "pack-from"), true) = (key, is_property) else { return false };
    let Some(word @ ("true" | "false" | "null" | "inf" | "nan")) = of(at) else { return false };
    let message = format!("unknown element type `{word}`");
    let fault = faults.error(Code::DtypeUnknown, message, head[at].span.clone(), "");
    if ["true", "false"].contains(&word) {
        fault.add_suggestion("bool");
    }
    fault.add_help(format!("expected one of {}", known_types()));
    true
}

/// Checks the unquoted word at `span`. Returns true if it is a valid name, keyword or number; otherwise reports it and
/// returns false. `is_name` is true for the name of a node and the key of a property, which cannot be numbers.
fn word(text: &str, span: Range<usize>, is_name: bool, faults: &mut DiagnosticSink) -> bool {
    let word = text.get(span.clone()).unwrap_or_default();
    let start = span.start;
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    if word.starts_with(QUOTES) {
        let message = "a string needs double quotes";
        let fault = faults.error(Code::KdlSyntax, message, span, "");
        let inside = word.trim_matches(QUOTES);
        fault.add_help(format!("write `\"{inside}\"`"));
        if word.len() > 1 && word.ends_with(QUOTES) {
            fault.add_fix(format!("\"{inside}\""));
        }
        return false;
    }
    if matches!(unsigned, "true" | "false" | "null" | "inf" | "nan") {
        let fault = faults.error(Code::KdlSyntax, format!("`{word}` is a keyword"), span, "");
        fault
            .add_help(format!("KDL 2 writes it `#{word}`"))
            .add_help("KDL 1 wrote keywords without `#`; manifests are KDL 2");
        fault.add_fix(format!("#{word}"));
        return false;
    }
    if word.starts_with('#') && !KEYWORDS.contains(&word) {
        let message = format!("`{}` is not a KDL keyword", shorten(word));
        let fault = faults.error(Code::KdlSyntax, message, span, "");
        if word == "#include" {
            fault.add_help("import a manifest with `use \"common.kdl\"`");
            return false;
        }
        if is_name || word == "#" {
            let rest = text.get(start + 1..).unwrap_or_default();
            let comment = rest.lines().next().unwrap_or_default().trim();
            fault.add_help(format!("a comment begins with `//`: write `// {comment}`"));
            return false;
        }
        fault.add_note("the keywords are `#true`, `#false`, `#null`, `#inf`, `#-inf` and `#nan`");
        match nearest(word, KEYWORDS.iter().copied()) {
            Some(near) => fault.add_suggestion(near),
            None => {
                fault.add_help("write one of these, or leave the `#` out");
            }
        }
        return false;
    }
    if matches!(word, "r") && text.get(span.end..).is_some_and(|rest| rest.starts_with(['"', '#']))
    {
        let fault = faults.error(Code::KdlSyntax, "`r` does not begin a raw string", span, "");
        fault.add_help("KDL 1 wrote `r\"…\"`; KDL 2 writes `#\"…\"#`");
        return false;
    }
    let first = unsigned.strip_prefix('.').unwrap_or(unsigned);
    if !first.starts_with(|c: char| c.is_ascii_digit()) {
        return true;
    }
    if is_name {
        let message = format!("expected a name, found the number `{word}`");
        let fault = faults.error(Code::KdlSyntax, message, span, "");
        fault.add_help("begin the name with a letter or `_`");
        return false;
    }
    match number::read(unsigned) {
        Ok(()) => true,
        Err((message, help)) => {
            let fault = faults.error(Code::KdlNumber, message, span, "");
            match number::number_suggestion(word, text.get(..start).unwrap_or_default()) {
                Some((text, why)) => fault.add_help(format!("write `{text}`{why}")).add_fix(text),
                None => {
                    fault.add_help(help);
                }
            }
            false
        }
    }
}

/// Keywords of KDL 2, with their number sign.
const KEYWORDS: &[&str] = &["#true", "#false", "#null", "#inf", "#-inf", "#nan"];

/// First 40 characters of a word, followed by `…` if there are more.
pub(super) fn shorten(word: &str) -> String {
    let mut start: String = word.chars().take(40).collect();
    if start.len() < word.len() {
        start.push('…');
    }
    start
}
