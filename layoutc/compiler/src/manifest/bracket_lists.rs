//! Interprets lists in brackets or parentheses, as in `shape [16, 4]`, and suggests their KDL equivalents,
//! `shape { d0 16; d1 4 }`.

use std::ops::Range;

use super::lex::{KdlToken, KdlTokenKind, has_comments};

/// List in brackets or parentheses, with its replacement in KDL.
pub(super) struct BracketList {
    /// Byte range of the list in the text, including brackets.
    pub(super) list: Range<usize>,
    /// Byte range in the text that `text` replaces; `0..0` if `text` is empty.
    pub(super) place: Range<usize>,
    /// KDL text that replaces the range `place`, such as `shape { d0 16; d1 4 }`; empty if there is no replacement.
    pub(super) text: String,
    /// Help text that shows the replacement.
    pub(super) help: String,
    /// True for a list directly after the node name `shape`, also with `=` or `:` between the two, and for a list at
    /// the start of a node in the block of a `shape` node. False for any other list, such as the property in
    /// `tensor a shape=[4]`.
    pub(super) is_shape: bool,
}

/// Interpretation of the list that opens at position `at` of `head`, the tokens of a node without its block. `parent`
/// is the name of the enclosing node, empty at the top level. `None` in each of these cases:
/// - the node is a `map` or `compute`, whose text is an expression
/// - the list is not closed in `head`, or a word touches it
/// - the list is empty, has comments, or has an element that is no word, in a shape no axis
/// - the list begins a node whose parent is not `shape`
pub(super) fn parse_list(
    text: &str,
    head: &[KdlToken],
    at: usize,
    parent: &str,
) -> Option<BracketList> {
    let of = |token: &KdlToken| text.get(token.span.clone()).unwrap_or_default();
    let first = head.first()?;
    let name = of(first).trim_end_matches(':');
    if matches!(name, "map" | "compute") {
        return None;
    }
    let list = list(text, head, at)?;
    let inside = text.get(list.start + 1..list.end - 1)?;
    if has_comments(inside) {
        return None;
    }
    let is_value = at > 0 && head.get(at - 1)?.kind == KdlTokenKind::Equals;
    let shape = |words: String, place: Range<usize>| {
        let help = format!("write `{words}`");
        Some(BracketList { list: list.clone(), place, text: words, help, is_shape: true })
    };
    let from_name = first.span.start..list.end;
    if name == "shape" && (at == 1 || (at == 2 && is_value)) {
        return shape(format!("shape {{ {} }}", axes(inside)?), from_name);
    }
    if parent == "shape" && at == 0 {
        return shape(axes(inside)?, list.clone());
    }
    let words = words(inside)?;
    let blanks = words.join(" ");
    let plain = |text: String, place: Range<usize>, help: String| {
        Some(BracketList { list: list.clone(), place, text, help, is_shape: false })
    };
    if is_value && at > 2 {
        let key = of(head.get(at - 2)?);
        if key == "shape" {
            let help = format!("write it in the block: `shape {{ {} }}`", axes(inside)?);
            return plain(String::new(), 0..0, help);
        }
        let value = if words.len() == 1 { blanks } else { format!("\"{blanks}\"") };
        let help = format!("write `{key}={value}`");
        return plain(value, list.clone(), help);
    }
    if name == "layout" && (at == 1 || is_value) {
        let whole = format!("layout {{ order {blanks} }}");
        let help = format!("write the order of the axes as a step: `{whole}`");
        return plain(whole, from_name, help);
    }
    match at {
        0 => None,
        1 if name == of(first) => {
            let help = format!("write `{name} {blanks}`: spaces separate arguments");
            plain(blanks, list.clone(), help)
        }
        1 | 2 if at == 1 || is_value => {
            let help = format!("write `{name} {blanks}`: spaces separate arguments");
            plain(format!("{name} {blanks}"), from_name, help)
        }
        _ => {
            let help = format!("write `{blanks}`: spaces separate arguments");
            plain(blanks, list.clone(), help)
        }
    }
}

/// Byte range of the list that opens at position `at` of `head`, including brackets. `None` if the token there is not
/// `(` or `[`, if the list is not closed in `head`, or if a word touches the list. An `=` may touch the opening
/// bracket.
fn list(text: &str, head: &[KdlToken], at: usize) -> Option<Range<usize>> {
    let mark = |token: &KdlToken| match token.kind {
        KdlTokenKind::Stray => text.get(token.span.clone()),
        _ => None,
    };
    let open = head.get(at)?;
    mark(open).filter(|mark| ["(", "["].contains(mark))?;
    let mut depth = 0_usize;
    let close = head.iter().skip(at).position(|token| {
        match mark(token) {
            Some("(" | "[") => depth += 1,
            Some(")" | "]") => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })?;
    let close = head.get(at + close)?;
    let is_apart = |before: Option<&KdlToken>, after: Option<&KdlToken>| match (before, after) {
        (Some(before), Some(after)) => {
            before.kind == KdlTokenKind::Equals || before.span.end < after.span.start
        }
        _ => true,
    };
    let before = at.checked_sub(1).and_then(|before| head.get(before));
    let after = head.iter().find(|token| token.span.start >= close.span.end);
    let apart = is_apart(before, Some(open)) && is_apart(Some(close), after);
    apart.then_some(open.span.start..close.span.end)
}

/// Elements of a list that spaces or commas separate, without their quotes. `inside` is the text between the brackets.
/// `None` for an empty list, and for an element other than `...`, `*`, or a word of letters, digits and `_`.
fn words(inside: &str) -> Option<Vec<&str>> {
    let words = inside.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.map(|word| word.trim_matches('"')).collect();
    let letter = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let is_word =
        |word: &str| ["...", "*"].contains(&word) || (!word.is_empty() && word.bytes().all(letter));
    (!words.is_empty() && words.iter().all(|word| is_word(word))).then_some(words)
}

/// Axes of a list as KDL nodes: `n=16, c=4` gives `n 16; c 4`, and `16, 4` gives `d0 16; d1 4`. `inside` is the text
/// between the brackets. `None` for an empty list, and for an element other than an extent or a name with an extent.
fn axes(inside: &str) -> Option<String> {
    let of_item = |item: &str| -> Option<Vec<String>> {
        let parted = item.replace(['=', ':'], " ");
        Some(words(&parted)?.into_iter().map(str::to_owned).collect())
    };
    let mut items: Vec<Vec<String>> = Vec::new();
    if inside.contains(',') {
        for item in inside.split(',').filter(|item| !item.trim().is_empty()) {
            items.push(of_item(item)?);
        }
    } else {
        let words = of_item(inside)?;
        let is_named = words.first()?.starts_with(|c: char| !c.is_ascii_digit());
        let size = if is_named && words.len().is_multiple_of(2) { 2 } else { 1 };
        items.extend(words.chunks(size).map(<[String]>::to_vec));
    }
    let axes: Option<Vec<String>> = items
        .iter()
        .enumerate()
        .map(|(k, item)| match item.as_slice() {
            [extent] => Some(format!("d{k} {extent}")),
            [name, extent] => Some(format!("{name} {extent}")),
            _ => None,
        })
        .collect();
    axes.filter(|axes| !axes.is_empty()).map(|axes| axes.join("; "))
}
