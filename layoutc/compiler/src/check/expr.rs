//! Parsing and name resolution of expressions in manifests, and diagnostics of their errors at the characters at fault.

use std::sync::Arc;

use layoutc_algebra::expr::curve::MAX_CELLS;
use layoutc_algebra::expr::parse::{self, ParseError, ParseErrorKind};
use layoutc_algebra::expr::{Expr, ExprError};
use layoutc_algebra::map::{MapError, MapErrorKind, resolve_constant};
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::Axis;

use super::foreign_syntax;
use super::scope::ManifestScope;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::base::nearest::{nearest, quantity};
use crate::manifest::syntax::{IntegerExpr, ItemKind, SpannedText};

/// Value of `bound`, an expression without axes. `values` returns the value of a name; `None` for an unknown name.
/// `scope` has the names that are suggested in its place. A divisor must be at least 1 for all values of the symbols,
/// whose ranges are `facts`. `Err` has the syntax error, or the faults that are not reported elsewhere, located in
/// `file`.
pub(super) fn constant(
    bound: &IntegerExpr,
    values: &dyn Fn(&str) -> Option<Expr>,
    scope: &ManifestScope,
    facts: &Facts,
    file: &Arc<str>,
) -> CheckResult<Expr> {
    let text = match bound {
        IntegerExpr::Integer(number) => return Ok(Expr::constant(number.value)),
        IntegerExpr::Text(text) => text,
    };
    let ast = parse::expression(&text.value).map_err(|e| vec![parse_fault(&e, text, file)])?;
    let known: Vec<&str> = scope.known().collect();
    resolve_constant(&ast, values, facts).map_err(|errors| {
        errors.iter().filter_map(|e| map_fault(e, text, scope, &known, file)).collect()
    })
}

/// Faults `faults` with one change: each error for an unknown name that suggests no similar name gets a help line that
/// shows how to declare the name.
pub(super) fn with_declaration_help(mut faults: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for fault in faults.iter_mut().filter(|fault| fault.code == Code::NameUnknown) {
        let name = fault.message.split('`').nth(1).unwrap_or_default();
        if fault.help.iter().all(|help| !help.starts_with("did you mean")) {
            fault.add_help(format!(
                "declare it above: `const {name} 16`, or `symbol {name} max=4096` if it is known only at run time"
            ));
        }
    }
    faults
}

/// Faults `faults` with one change: an error for an unknown name that is the name of an axis gets the message "expected
/// a number, found the axis", and help that suggests the extent of the axis. `axes` yields pairs `(name, extent)`;
/// `extent` is `None` if it is not constant.
pub(super) fn with_axis_help<'a>(
    mut faults: Vec<Diagnostic>,
    axes: &(impl Iterator<Item = (&'a str, Option<i128>)> + Clone),
) -> Vec<Diagnostic> {
    for fault in faults.iter_mut().filter(|fault| fault.code == Code::NameUnknown) {
        let name = fault.message.split('`').nth(1).unwrap_or_default().to_owned();
        let Some((_, extent)) = axes.clone().find(|axis| axis.0 == name) else { continue };
        fault.message = format!("expected a number, found the axis `{name}`");
        fault.help = vec![match extent {
            Some(extent) => format!("write a number: the extent of `{name}` is `{extent}`"),
            None => format!("write a number, or the symbol that is the extent of `{name}`"),
        }];
        fault.fixes.clear();
    }
    faults
}

/// Span in the manifest `file` of a part of `text`; `span` is the byte range of this part, relative to the start of
/// `text`.
pub(super) fn place_in(text: &SpannedText, span: &parse::Span, file: &Arc<str>) -> FileSpan {
    FileSpan::new(file, text.span.start + span.start..text.span.start + span.end)
}

/// Diagnostic of the syntax error `error` in the expression `text` of the manifest `file`.
pub(super) fn parse_fault(error: &ParseError, text: &SpannedText, file: &Arc<str>) -> Diagnostic {
    map_parse_fault(error, text, file, &[])
}

/// Diagnostic of the syntax error `error` in `text` of the manifest `file`: a map of `axes`, or an expression if `axes`
/// is empty.
pub(super) fn map_parse_fault(
    error: &ParseError,
    text: &SpannedText,
    file: &Arc<str>,
    axes: &[Axis],
) -> Diagnostic {
    let place = place_in(text, &error.span, file);
    let message = error.kind.to_string();
    match &error.kind {
        ParseErrorKind::Slash => {
            Diagnostic::error(Code::ExprSlash, message, place.clone(), "write `//`")
                .fix(place, "//")
                .help(format!(
                    "write `//` for floor division, as in Python: `{}`",
                    quotient(&text.value, error.span.start)
                ))
        }
        ParseErrorKind::TooBig { .. } => Diagnostic::error(Code::ExprOverflow, message, place, "")
            .note(format!("the largest literal is {}", i64::MAX))
            .help("write a smaller number: indices and sizes have 64 bits"),
        ParseErrorKind::TooDeep => Diagnostic::error(Code::ExprNesting, message, place, "")
            .help("split it into several `map` steps"),
        ParseErrorKind::EmptyGroup => {
            Diagnostic::error(Code::SeparatorsEmptyGroup, message, place, "empty group of axes")
                .help("write an index on both sides of this `|`, or remove it")
        }
        ParseErrorKind::Unexpected { .. } | ParseErrorKind::Character(_) => {
            let fault = Diagnostic::error(Code::ExprSyntax, message, place, "");
            let own = matches!(error.kind, ParseErrorKind::Unexpected { .. })
                .then(|| continuation_help(&text.value, error.span.start, axes));
            match foreign_syntax::map_of_axes(&text.value, axes) {
                Some(map) => fault.help(format!("write `{map}`")).fix(text.at(file), map),
                None => fault.help(
                    conditional(&error.kind)
                        .map_or_else(|| own.unwrap_or_else(|| FORM.to_owned()), str::to_owned),
                ),
            }
        }
        ParseErrorKind::Literal => {
            let word = text.value.get(error.span.clone()).unwrap_or_default();
            let error = Diagnostic::error(Code::ExprSyntax, message, place.clone(), "");
            match spelled(word) {
                Some(value) => error.help(format!("write `{value}`")).fix(place, value.to_string()),
                None => match quantity(word) {
                    Some((number, note)) => {
                        error.help(format!("write `{number}`{note}")).fix(place, number)
                    }
                    None => {
                        let digits: String =
                            word.chars().take_while(char::is_ascii_digit).collect();
                        let name = word.get(digits.len()..).filter(|name| !name.is_empty());
                        let (digits, name) = match name {
                            Some(name) if !digits.is_empty() => (digits.as_str(), name),
                            _ => ("4", "c"),
                        };
                        error.help(format!(
                            "write an operator between a number and a name: `{digits} * {name}`"
                        ))
                    }
                },
            }
        }
        ParseErrorKind::TwoStars => Diagnostic::error(Code::ExprSyntax, message, place, "")
            .help("merge the two `*` parameters, or name each axis of one of them"),
    }
}

/// Text `a // b` for help, where `a` and `b` are the words before and after the `/` at byte `at` of `text`. A missing
/// `a` is replaced by `c`, a missing `b` by `4`.
fn quotient(text: &str, at: usize) -> String {
    let is_other = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let before = text.get(..at).unwrap_or_default().trim_end();
    let before = before.rsplit(is_other).next().filter(|word| !word.is_empty());
    let after = text.get(at + 1..).unwrap_or_default().trim_start();
    let after = after.split(is_other).next().filter(|word| !word.is_empty());
    format!("{} // {}", before.unwrap_or("c"), after.unwrap_or("4"))
}

/// Help for an index that contains `<`, `>`, `?` or `!`, as in `a ? b : c`: indices have neither comparisons nor
/// conditionals. `None` for other errors.
fn conditional(kind: &ParseErrorKind) -> Option<&'static str> {
    matches!(kind, ParseErrorKind::Character('<' | '>' | '?' | '!'))
        .then_some("write an index as arithmetic: it has no comparisons and no conditionals")
}

/// Help that describes the form of expressions.
const FORM: &str = "expressions consist of integers, names, `+ - * // % & ^` and parentheses";

/// Help for an unexpected token at byte `at` of a map of `axes`, or of an expression if `axes` is empty.
fn continuation_help(text: &str, at: usize, axes: &[Axis]) -> String {
    let before = text.get(..at).unwrap_or_default().trim_end();
    let is_operand = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ')';
    if before.ends_with('*') && text.get(at..).is_some_and(|rest| rest.starts_with('*')) {
        return "write the value of the power: there is no `**`".to_owned();
    }
    let unit = |unit: &str| before.bytes().all(|b| b.is_ascii_digit()) && text[at..].trim() == unit;
    if ["B", "bytes", "byte", "elements", "bits"].into_iter().any(unit) {
        return format!("write the number alone: `{before}`");
    }
    let taken = ["//", "+", "-", "*", "%", "&", "^"].into_iter().find(|sign| {
        before.strip_suffix(*sign).is_some_and(|left| left.trim_end().ends_with(is_operand))
    });
    match taken {
        Some(sign) => {
            let left = before.strip_suffix(sign).unwrap_or_default().trim_end();
            let is_other = |c: char| !c.is_ascii_alphanumeric() && c != '_';
            let left = left.rsplit(is_other).next();
            let is_name = |word: &&str| word.starts_with(|c: char| !c.is_ascii_digit());
            match left.filter(is_name) {
                Some(left) => {
                    format!(
                        "write the right operand of `{sign}`, as in `{left} {sign} 4`, or remove it"
                    )
                }
                None => format!("write the right operand of `{sign}`, or remove it"),
            }
        }
        None if before.ends_with(',') => {
            "write an item after the comma, or remove the comma".to_owned()
        }
        None if text.contains("->") => format!("write a map like `{}`", example(axes)),
        None => FORM.to_owned(),
    }
}

/// Example of a map of `axes`, which splits the last one: `(n, c) -> (n, c // 4, c % 4)`.
fn example(axes: &[Axis]) -> String {
    let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
    let names = if names.is_empty() { vec!["n", "c"] } else { names };
    let (last, others) = names.split_last().unwrap_or((&"c", &[]));
    let others: String = others.iter().flat_map(|name| [name, ", "]).collect();
    format!("({others}{last}) -> ({others}{last} // 4, {last} % 4)")
}

/// Value of an integer, which may have leading zeros, `_` or a base prefix, such as `0x10`; `None` for any other word,
/// and for a value that does not fit 64 bits.
fn spelled(word: &str) -> Option<i64> {
    let digits = word.replace('_', "").to_ascii_lowercase();
    let of = |prefix: &str, radix| {
        digits.strip_prefix(prefix).and_then(|digits| i64::from_str_radix(digits, radix).ok())
    };
    of("0x", 16).or_else(|| of("0o", 8)).or_else(|| of("0b", 2)).or_else(|| digits.parse().ok())
}

/// Diagnostic with the message `message` for an expression that has too many nodes, or whose values overflow.
pub(super) fn overflow(
    error: &ExprError,
    message: impl Into<String>,
    place: FileSpan,
) -> Diagnostic {
    let help = match error {
        ExprError::TooLarge => {
            "write shorter indices: those of earlier steps are substituted into each"
        }
        _ => "reduce a factor or an extent, or declare a smaller `max` of a symbol",
    };
    Diagnostic::error(Code::ExprOverflow, message, place, "").help(help)
}

/// Diagnostic of `error`, a fault that was found when the names in the map or expression `text` were resolved: an
/// unknown name, or a broken rule such as a divisor below 1. `None` for an unknown name whose declaration may be
/// faulty, which is reported elsewhere. `known` are the names that `text` may use; a similar one is suggested.
pub(super) fn map_fault(
    error: &MapError,
    text: &SpannedText,
    scope: &ManifestScope,
    known: &[&str],
    file: &Arc<str>,
) -> Option<Diagnostic> {
    let place = place_in(text, &error.span, file);
    let message = error.kind.to_string();
    let plain = |code: Code| Diagnostic::error(code, message.clone(), place.clone(), "");
    Some(match &error.kind {
        MapErrorKind::UnknownName(name) => {
            if [ItemKind::Const, ItemKind::Symbol].iter().any(|kind| scope.is_broken(*kind, name)) {
                return None;
            }
            let error = plain(Code::NameUnknown);
            match nearest(name, known.iter().copied()) {
                Some(near) => error.with_suggestion(near),
                None if known.is_empty() => error,
                None => error.help(format!(
                    "known here: {}; or declare a number above: `const {name} 16`",
                    known.join(", ")
                )),
            }
        }
        MapErrorKind::Arity { axes, .. } => plain(Code::MapArity)
            .help(format!("name every axis: `({}) -> …`, or match the rest with `*name`", axes.join(", "))),
        MapErrorKind::DuplicateParameter(_) | MapErrorKind::DuplicateName(_) => {
            plain(Code::NameDuplicate).help("give one of the two another name")
        }
        MapErrorKind::Hides(_) => plain(Code::NameHides).help("give the axis another name"),
        MapErrorKind::EmptyGroup => plain(Code::SeparatorsEmptyGroup)
            .help("remove this `|`: the `*` parameter before it matches no axis here"),
        MapErrorKind::UnknownStar(name) => plain(Code::NameUnknown)
            .help(format!("add `*{name}` to the parameters, before `->`")),
        MapErrorKind::DivisorNotConstant => {
            plain(Code::ExprDivisor).help("use a number, a const, a parameter or a symbol as the divisor")
        }
        MapErrorKind::Divisor { .. } => plain(Code::ExprDivisor)
            .help("use a divisor of at least 1: floor division by a negative number differs between languages"),
        MapErrorKind::ExtentHasAxes => plain(Code::ExprExtent)
            .help("write a number, or an expression of consts, parameters and symbols"),
        MapErrorKind::UnknownFunction(name) => {
            let error_span = &error.span;
            let error = plain(Code::NameUnknown);
            match nearest(name, ["morton", "bitrev", "hilbert"]) {
                // The span of the error covers the whole call.
                Some(near) => error
                    .help(format!("did you mean `{near}`?"))
                    .fix(FileSpan { end: place.start + name.len(), ..place }, near),
                None => match foreign_syntax::operator(text.value.get(error_span.clone()).unwrap_or_default()) {
                    Some(own) => error.help(format!("write `{own}`")).fix(place, own),
                    None => error.help("use `morton`, `bitrev` or `hilbert`, or write a product with `*`"),
                },
            }
        }
        MapErrorKind::Arguments { name, .. } => {
            let [a, b] = call_arguments(&text.value, name, error.span.start);
            plain(Code::ExprFunction).help(match name.as_str() {
                "bitrev" => format!("write `bitrev({a}, 4)` for 4 bits of `{a}`"),
                "hilbert" => {
                    format!("write `hilbert({a}, {b})`, or `hilbert({a}, {b}, 64, 64)` for a box of 64 by 64")
                }
                _ => format!("write `morton({a}, {b})`"),
            })
        }
        MapErrorKind::ArgumentRange { low, .. } if *low < 0 => {
            let raised = raised(text.value.get(error.span.clone()).unwrap_or_default(), low.unsigned_abs());
            plain(Code::ExprFunction).help(format!("start it at 0: write `{raised}`")).fix(place, raised)
        }
        MapErrorKind::ArgumentRange { .. } => plain(Code::ExprFunction)
            .help("multiply it by less, or declare a smaller `max` of its symbol"),
        MapErrorKind::Bits => plain(Code::ExprFunction)
            .help("write the number of reversed bits as a number or a const: 4 bits hold 0 to 15"),
        MapErrorKind::Side => {
            let [a, b] = call_arguments(&text.value, "hilbert", error.span.start);
            plain(Code::ExprFunction).help(format!(
                "write the rows and columns of the box as numbers or consts: `hilbert({a}, {b}, 64, 64)`"
            ))
        }
        MapErrorKind::ArgumentExtent { name, most } => {
            let [a, b] = call_arguments(&text.value, name, error.span.start);
            plain(Code::ExprFunction).help(if *most <= MAX_CELLS.into() {
                format!(
                    "write a box that fits every size after the arguments, here of {most} rows: `{name}({a}, {b}, {most}, 64)`"
                )
            } else {
                format!(
                    "declare a smaller `max` of the symbol, and write the box after the arguments: `{name}({a}, {b}, 64, 64)`"
                )
            })
        }
        MapErrorKind::BeyondBox { high, .. } => plain(Code::ExprFunction)
            .help(format!("use a box with an extent of at least {} here", high.saturating_add(1))),
        MapErrorKind::Cells { .. } => {
            let call = text.value.get(error.span.clone()).unwrap_or_default();
            let [h, w] = two_names(call).unwrap_or(["h", "w"]);
            plain(Code::ExprFunction).help(format!(
                "tile first, and order the tiles: `(hilbert({h} // 8, {w} // 8), {h} % 8, {w} % 8)`"
            ))
        }
        MapErrorKind::Expr(error) => overflow(error, message, place),
    })
}

/// First two arguments of a call: `h` and `w` for `hilbert(h, w)`; `None` unless both are names or numbers.
fn two_names(call: &str) -> Option<[&str; 2]> {
    let (_, inside) = call.trim_end_matches(')').split_once('(')?;
    let mut names = inside.split(',').map(str::trim);
    let pair = [names.next()?, names.next()?];
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    pair.iter().all(|name| !name.is_empty() && name.chars().all(is_part)).then_some(pair)
}

/// First two arguments of the last call of the function `name` that begins at or before byte `at` of `text`. An
/// argument that is missing is replaced: the first by `h`, the second by `w`.
fn call_arguments<'t>(text: &'t str, name: &str, at: usize) -> [&'t str; 2] {
    let call = format!("{name}(");
    let end = text.len().min(at.saturating_add(call.len()));
    let inside = text.get(..end).and_then(|head| head.rfind(&call));
    let inside = inside.and_then(|start| text.get(start.saturating_add(call.len())..));
    let (mut depth, mut start, mut arguments) = (0_usize, 0, Vec::new());
    let inside = inside.unwrap_or_default();
    for (at, sign) in inside.char_indices() {
        match sign {
            '(' => depth = depth.saturating_add(1),
            ',' | ')' if depth == 0 => {
                arguments.extend(inside.get(start..at).map(str::trim));
                start = at.saturating_add(1);
                if sign == ')' {
                    break;
                }
            }
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    let mut arguments = arguments.into_iter();
    ["h", "w"].map(|other| arguments.next().filter(|text| !text.is_empty()).unwrap_or(other))
}

/// Text of the sum of an index and `more`. If the index ends with the subtraction of a number, the two numbers are
/// combined: `i - 2` plus 3 gives `i + 1`. An index with `&` or `^` is parenthesized first.
pub(super) fn raised(index: &str, more: u128) -> String {
    if index.contains(['&', '^']) {
        return format!("({index}) + {more}");
    }
    let last = index.rsplit_once('-').and_then(|(before, last)| {
        // A sign after another operator is not a subtraction.
        let before = before.trim_end();
        let subtracts = before.ends_with(|c: char| c.is_ascii_alphanumeric() || "_)".contains(c));
        let last: u128 = last.trim().parse().ok()?;
        (subtracts && last > 0).then_some((before, last))
    });
    match last {
        Some((before, last)) if last == more => before.to_string(),
        Some((before, last)) if last > more => format!("{before} - {}", last - more),
        Some((before, last)) => format!("{before} + {}", more - last),
        None => format!("{index} + {more}"),
    }
}
