//! Translation of index maps and layout names of other languages and tools to manifest syntax, for help texts.

use std::sync::Arc;

use layoutc_algebra::expr::parse::{self, IndexAstKind, MapItemText, MapText};
use layoutc_algebra::map::{MapError, MapErrorKind};
use layoutc_algebra::notation::{self, Notation};
use layoutc_algebra::symbol::Axis;

use super::expr::place_in;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan, Fix};
use crate::manifest::syntax::SpannedText;

/// Maximum length of a map that is translated, in bytes. A longer map is not translated.
const LONGEST: usize = 400;

/// Translation of an index map from another language's syntax. `None` if the text is a valid map already, contains a
/// subscript such as `A[i]`, is longer than [`LONGEST`], or cannot be translated.
///
/// `lambda n, c: [n, c // 4, te.AXIS_SEPARATOR, c mod 4]` becomes `(n, c) -> (n, c // 4 | c % 4)`.
pub(super) fn translate_map(text: &str) -> Option<String> {
    if text.len() > LONGEST || parse::map(text).is_ok() || is_subscript(text) {
        return None;
    }
    let mut map = text.trim().to_owned();
    if map.starts_with('(') && !map.contains("->") {
        map = map.replacen("):", ") ->", 1);
    }
    for (theirs, ours) in MARKS {
        map = map.replace(theirs, ours);
    }
    map = separated(&in_words(&map));
    if let Some((params, items)) = map.strip_prefix("lambda ").and_then(|map| map.split_once(':')) {
        map = format!("({}) -> {}", params.trim(), items.trim());
    }
    if let Some((params, items)) = map.split_once("->") {
        let bare = params.trim();
        let is_wrapped = bare.starts_with('(') && bare.ends_with(')');
        let params = if is_wrapped { bare.to_owned() } else { format!("({bare})") };
        let items = items.trim();
        let is_wrapped = items.starts_with('(') || wrapped(items);
        let items = if is_wrapped { items.to_owned() } else { format!("({items})") };
        map = format!("{params} -> {items}");
    }
    let map = balanced(&map);
    let written = [map.clone(), flat(&map)];
    written.into_iter().find(|map| map != text && parse::map(map).is_ok())
}

/// Map `map`, in the syntax of manifests, completed with the axes of `axes` that it omits: each becomes a parameter,
/// and an item before the other items. `(c) -> (c)` becomes `(n, c) -> (n, c)` for the axes n and c. `None` for example
/// if no axis is omitted, if a parameter is not an axis, or if the map has no parameters.
fn with_all_axes(map: &str, axes: &[Axis]) -> Option<String> {
    let parsed = parse::map(map).ok()?;
    let params = parsed.params.as_ref()?;
    let is_axis = |name: &str| axes.iter().any(|axis| axis.name == name);
    if params.len() >= axes.len() || !params.iter().all(|param| is_axis(&param.name)) {
        return None;
    }
    let (_, items) = map.split_once("->")?;
    let items = items.trim().strip_prefix('(')?;
    let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
    let omitted = names.iter().filter(|name| !params.iter().any(|param| param.name == **name));
    let omitted: String = omitted.flat_map(|name| [*name, ", "]).collect();
    let map = format!("({}) -> ({omitted}{items}", names.join(", "));
    parse::map(&map).is_ok().then_some(map)
}

/// Translation of `text`, an index map in the syntax of another language, completed with the axes of `axes` that it
/// omits. `lambda c: [c]` becomes `(n, c) -> (n, c)` for the axes n and c. `None` if `text` is a valid map of manifests
/// already, or cannot be translated.
pub(super) fn map_of_axes(text: &str, axes: &[Axis]) -> Option<String> {
    let map = translate_map(text)?;
    Some(with_all_axes(&map, axes).unwrap_or(map))
}

/// Fault `fault` of the map `text`. If `fault` is a wrong number of parameters, and `with_all_axes` can complete the
/// map, its help and its fix are replaced by the complete map; otherwise `fault` is unchanged.
pub(super) fn with_omitted_axes(
    fault: Diagnostic,
    text: &SpannedText,
    axes: &[Axis],
) -> Diagnostic {
    let map = with_all_axes(&text.value, axes).filter(|_| fault.code == Code::MapArity);
    let (Some(map), Some(label)) = (map, fault.labels.first()) else { return fault };
    let place = text.at(&label.place.file);
    let help = vec![format!("write `{map}`")];
    Diagnostic { help, fixes: vec![Fix { place, text: map }], ..fault }
}

/// Error at `place` for an index map where a layout in the notation of TVM or oneDNN is expected:
/// `layout tvm="lambda n, c: [c, n]"`. The help shows the map as a step; axes of `axes` that the map omits are added to
/// it. `None` for other notations, and for a text without `[` or that cannot be translated to a map.
pub(super) fn index_map(
    text: &SpannedText,
    notation: Notation,
    axes: &[Axis],
    place: FileSpan,
) -> Option<Diagnostic> {
    let word = text.value.trim();
    if !matches!(notation, Notation::Tvm | Notation::Onednn) || !word.contains('[') {
        return None;
    }
    let map = map_of_axes(word, axes).or_else(|| {
        let (params, _) = word.split_once(':')?;
        let is_param = |name: &str| name.trim().bytes().all(|b| b.is_ascii_alphanumeric());
        let lambda = params.split(',').all(is_param).then(|| format!("lambda {word}"))?;
        map_of_axes(&lambda, axes)
    })?;
    let message = "expected a layout, found an index map";
    let error = Diagnostic::error(Code::NotationSyntax, message, place, "");
    Some(error.help(format!("write it as a step: `layout {{ map \"{map}\" }}`")))
}

/// Map in which nested parentheses around several items are removed: `(n, (c // 4, c % 4))` becomes
/// `(n, c // 4, c % 4)`. Parentheses of calls stay.
fn flat(map: &str) -> String {
    let mut open: Vec<(usize, bool, bool)> = Vec::new();
    let mut dropped = Vec::new();
    let mut before = ' ';
    for (at, c) in map.char_indices() {
        match c {
            '(' => open.push((at, before.is_ascii_alphanumeric() || before == '_', false)),
            ',' => open.last_mut().into_iter().for_each(|group| group.2 = true),
            ')' => {
                if let Some((start, false, true)) = open.pop()
                    && !open.is_empty()
                {
                    dropped.extend([start, at]);
                }
            }
            _ => {}
        }
        before = c;
    }
    map.char_indices().filter(|(at, _)| !dropped.contains(at)).map(|(_, c)| c).collect()
}

/// True if a `[` directly follows a name, a number or a `]`, as in the subscript `A[i]`.
fn is_subscript(text: &str) -> bool {
    text.match_indices('[').any(|(at, _)| {
        text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == ']')
    })
}

/// Map with the missing `)` added at its end, or the superfluous `)` removed there: `(n, c // (4)` becomes
/// `(n, c // (4))`.
fn balanced(map: &str) -> String {
    let count = |mark: char| map.matches(mark).count();
    let (open, close) = (count('('), count(')'));
    if open > close {
        return format!("{map}{}", ")".repeat(open - close));
    }
    let mut map = map.to_owned();
    for _ in open..close {
        if let Some(rest) = map.strip_suffix(')') {
            map = rest.to_owned();
        }
    }
    map
}

/// Punctuation of other languages as (foreign text, text in manifests).
const MARKS: &[(&str, &str)] = &[
    ("[", "("),
    ("]", ")"),
    ("{", "("),
    ("}", ")"),
    ("=>", "->"),
    ("→", "->"),
    ("↦", "->"),
    ("×", "*"),
    ("·", "*"),
    ("÷", "//"),
    ("−", "-"),
    ("⊕", "^"),
    ("\\", "//"),
    (";", ","),
];

/// Infix operators of other languages that are words, as (word, operator in manifests).
const WORDS: &[(&str, &str)] = &[
    ("floordiv", "//"),
    ("div", "//"),
    ("mod", "%"),
    ("rem", "%"),
    ("xor", "^"),
    ("and", "&"),
    ("plus", "+"),
    ("times", "*"),
];

/// Map in which operators of other languages are replaced: infix words by signs (see [`WORDS`]), shifts by constants by
/// quotients and products (`c >> 2` by `c // 4`), powers of integers by their values (`2 ** 3` by `8`), and a single
/// `/` by `//`. The end `.0` of a float is removed.
fn in_words(map: &str) -> String {
    let mut out = String::new();
    let mut rest = map;
    while let Some(c) = rest.chars().next() {
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        if letter(c) {
            let end = rest.find(|c| !letter(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            if let Some((power, after)) = power(word, after) {
                out.push_str(&power);
                rest = after;
                continue;
            }
            let word = word.strip_suffix(".0").unwrap_or(word);
            let is_call = after.starts_with('(');
            let ours = WORDS.iter().find(|row| row.0 == word && !is_call);
            out.push_str(ours.map_or(word, |row| row.1));
            rest = after;
            continue;
        }
        if let Some((sign, shift)) =
            [("<<", "*"), (">>", "//")].into_iter().find_map(|(sign, by)| {
                let after = rest.strip_prefix(sign)?.trim_start();
                let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
                let bits: u32 = after[..end].parse().ok().filter(|bits| *bits < 62)?;
                Some((format!("{by} {}", 1_u64 << bits), &after[end..]))
            })
        {
            out.push_str(&sign);
            rest = shift;
            continue;
        }
        if let Some(after) = rest.strip_prefix("//") {
            out.push_str("//");
            rest = after;
            continue;
        }
        out.push_str(if c == '/' { "//" } else { rest.get(..c.len_utf8()).unwrap_or_default() });
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    out
}

/// Pair `(value, rest)` for a power `base ** n` of integers, where `after` is the text that follows `base`: `value` is
/// the value of the power as text, `rest` is the text after it. `2` and `**3 + c` give `("8", " + c")`. `None` if no
/// power of integers follows, or if its value does not fit 64 bits.
fn power<'t>(base: &str, after: &'t str) -> Option<(String, &'t str)> {
    let exponent = after.trim_start().strip_prefix("**")?.trim_start();
    let end = exponent.find(|c: char| !c.is_ascii_digit()).unwrap_or(exponent.len());
    let (exponent, after) = exponent.split_at(end);
    let value = base.parse::<i64>().ok()?.checked_pow(exponent.parse().ok()?)?;
    Some((value.to_string(), after))
}

/// Map in which each `AXIS_SEPARATOR` of TVM, together with the commas around it, is replaced by `|`.
fn separated(map: &str) -> String {
    let mut parts: Vec<String> = vec![String::new()];
    let mut is_after = false;
    for part in map.split(',') {
        let last = part.trim().rsplit('.').next().unwrap_or_default();
        if last == "AXIS_SEPARATOR" {
            is_after = true;
            continue;
        }
        match parts.last_mut() {
            Some(before) if is_after => before.push_str(&format!(" |{part}")),
            _ => parts.push(part.to_owned()),
        }
        is_after = false;
    }
    parts.into_iter().skip(1).collect::<Vec<_>>().join(",")
}

/// True if the text starts with a `(` that is not closed before the last character.
fn wrapped(items: &str) -> bool {
    let mut depth = 0_usize;
    items.starts_with('(')
        && items.char_indices().all(|(at, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth > 0 || at + 1 == items.len()
        })
}

/// Operator expression in manifests for a function call of another language: `c // 4` for `floordiv(c, 4)`; `None` for
/// other calls.
pub(super) fn operator(call: &str) -> Option<String> {
    let (name, arguments) = call.split_once('(')?;
    let arguments = arguments.strip_suffix(')')?;
    let sign = match name.trim() {
        "floordiv" | "indexdiv" | "truncdiv" | "floor_div" | "div" => "//",
        "floormod" | "indexmod" | "truncmod" | "fmod" | "mod" | "rem" => "%",
        "xor" | "bitwise_xor" => "^",
        "and" | "bitwise_and" => "&",
        "add" => "+",
        "sub" => "-",
        "mul" => "*",
        _ => return None,
    };
    let mut depth = 0_usize;
    let commas: Vec<usize> = arguments
        .char_indices()
        .filter(|(_, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            *c == ',' && depth == 0
        })
        .map(|(at, _)| at)
        .collect();
    let [comma] = commas.as_slice() else { return None };
    let side = |side: &str| {
        let side = side.trim();
        let is_word = side.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if is_word { side.to_owned() } else { format!("({side})") }
    };
    Some(format!("{} {sign} {}", side(&arguments[..*comma]), side(&arguments[comma + 1..])))
}

/// Error for the first item of a map that names a new storage axis with `:` in place of `=`, as in `co: c // 4`; `None`
/// if no item does. `errors` are the faults that were found when the names of the map were resolved.
pub(super) fn named_by_colons(
    map: &MapText,
    errors: &[MapError],
    text: &SpannedText,
    file: &Arc<str>,
) -> Option<Diagnostic> {
    let has = |kind: &dyn Fn(&MapErrorKind) -> bool, span: &parse::Span| {
        errors.iter().any(|error| error.span == *span && kind(&error.kind))
    };
    map.items.iter().find_map(|item| {
        let MapItemText::Expr { name: None, expr, extent: Some(extent) } = item else {
            return None;
        };
        let IndexAstKind::Name(name) = &expr.kind else { return None };
        let is_unknown = has(&|kind| matches!(kind, MapErrorKind::UnknownName(_)), &expr.span);
        let has_axes = has(&|kind| matches!(kind, MapErrorKind::ExtentHasAxes), &extent.span);
        if !is_unknown || !has_axes {
            return None;
        }
        let place = place_in(text, &(expr.span.start..extent.span.end), file);
        let index = text.value.get(extent.span.clone())?;
        let message = "`:` is followed by an extent, not by an index";
        let gap = place_in(text, &(expr.span.end..extent.span.start), file);
        let error = Diagnostic::error(Code::ExprExtent, message, place, "");
        Some(error.help(format!("write `{name} = {index}` to name a storage axis")).fix(gap, " = "))
    })
}

/// Help for a layout name of another tool, such as `row_major` or `NCHW16c`; `None` for an unknown word. `axes` are the
/// axes of the layout; `None` if they are unknown, as in the declaration of a transform.
pub(super) fn layout(word: &str, axes: Option<&[Axis]>) -> Option<String> {
    let plain = word.replace(['_', '-'], "").to_ascii_lowercase();
    match plain.as_str() {
        "rowmajor" | "corder" | "c" | "contiguous" | "dense" | "linear" | "default" => {
            return Some(match axes {
                Some(_) => "remove the layout: a tensor without one is row-major".to_owned(),
                None => "remove the step: axes stay row-major".to_owned(),
            });
        }
        "columnmajor" | "colmajor" | "fortran" | "f" => {
            let Some(axes) = axes else {
                return Some("write `order` with the axes in reverse, as `order w h`".to_owned());
            };
            let names: Vec<&str> = axes.iter().rev().map(|axis| axis.name.as_str()).collect();
            return Some(format!("write `layout {{ order {} }}`", names.join(" ")));
        }
        _ => {}
    }
    let is_text = |notation| notation::notation_axes(notation, word, &[]).is_ok();
    if word.starts_with(|c: char| c.is_ascii_uppercase()) && is_text(Notation::Tvm) {
        return Some(format!("write it in TVM's notation: `layout tvm=\"{word}\"`"));
    }
    let has_block = word.contains(|c: char| c.is_ascii_digit());
    (has_block && is_text(Notation::Onednn))
        .then(|| format!("write it in oneDNN's notation: `layout onednn=\"{word}\"`"))
}
