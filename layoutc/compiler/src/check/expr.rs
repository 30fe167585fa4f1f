//! Texts that hold expressions: parsed, looked up, and every fault at its own characters.

use std::sync::Arc;

use layoutc_algebra::curve::MAX_CELLS;
use layoutc_algebra::expr::{Expr, ExprError};
use layoutc_algebra::map::{MapError, MapErrorKind, resolve_constant};
use layoutc_algebra::parse::{self, ParseError, ParseErrorKind};
use layoutc_algebra::simplify::Facts;

use super::foreign_syntax;
use super::scope::ManifestScope;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, FileSpan};
use crate::manifest::syntax::{IntegerExpr, ItemKind, SpannedText};
use crate::nearest::{expand_suffix, nearest};

/// An expression free of axes.
pub(super) fn constant(
    bound: &IntegerExpr,
    values: &dyn Fn(&str) -> Option<Expr>,
    scope: &ManifestScope,
    facts: &Facts,
    file: &Arc<str>,
) -> Result<Expr, Vec<Diagnostic>> {
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

/// Adds to the names that nothing declares how they are declared, unless another name was meant.
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

/// The same faults, where a name is that of one of these axes: to declare it would hide the axis. An extent that is no
/// number is `None`.
pub(super) fn with_axis_help<'a>(
    mut faults: Vec<Diagnostic>,
    axes: &(impl Iterator<Item = (&'a str, Option<i128>)> + Clone),
) -> Vec<Diagnostic> {
    for fault in faults.iter_mut().filter(|fault| fault.code == Code::NameUnknown) {
        let name = fault.message.split('`').nth(1).unwrap_or_default().to_owned();
        let Some((_, extent)) = axes.clone().find(|axis| axis.0 == name) else { continue };
        fault.message = format!("`{name}` is an axis, and a number is wanted here");
        fault.help = vec![match extent {
            Some(extent) => format!("write a number: the extent of `{name}` is `{extent}`"),
            None => format!("write a number, or the symbol that is the extent of `{name}`"),
        }];
        fault.fixes.clear();
    }
    faults
}

/// The place of bytes of a text.
pub(super) fn place_in(text: &SpannedText, span: &parse::Span, file: &Arc<str>) -> FileSpan {
    FileSpan::new(file, text.span.start + span.start..text.span.start + span.end)
}

/// A text that is no expression or map.
pub(super) fn parse_fault(error: &ParseError, text: &SpannedText, file: &Arc<str>) -> Diagnostic {
    let place = place_in(text, &error.span, file);
    let message = error.kind.to_string();
    match &error.kind {
        ParseErrorKind::Slash => {
            Diagnostic::error(Code::ExprSlash, message, place.clone(), "write `//`")
                .fix(place, "//")
                .help("`//` is the quotient rounded down, as in Python: `c // 4`")
        }
        ParseErrorKind::TooBig { .. } => Diagnostic::error(Code::ExprOverflow, message, place, "")
            .note(format!("the largest literal is {}", i64::MAX))
            .help("write a smaller number: indices and sizes have 64 bits"),
        ParseErrorKind::TooDeep => Diagnostic::error(Code::ExprNesting, message, place, "")
            .help("let one map follow another, each with a part of it"),
        ParseErrorKind::EmptyGroup => Diagnostic::error(
            Code::SeparatorsEmptyGroup,
            message,
            place,
            "a group of axes is empty",
        )
        .help("write an index on both sides of this `|`, or take it out"),
        ParseErrorKind::Unexpected { .. } | ParseErrorKind::Character(_) => {
            let fault = Diagnostic::error(Code::ExprSyntax, message, place, "");
            let own = matches!(error.kind, ParseErrorKind::Unexpected { .. })
                .then(|| continuation_help(&text.value, error.span.start));
            match foreign_syntax::translate_map(&text.value) {
                Some(map) => fault
                    .help(format!("write `{map}`"))
                    .fix(FileSpan::new(file, text.span.clone()), map),
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
                None => match expand_suffix(word) {
                    Some(number) => error.help(format!("write `{number}`")).fix(place, number),
                    None => error.help("write an operator between a number and a name: `4 * c`"),
                },
            }
        }
        ParseErrorKind::TwoStars => Diagnostic::error(Code::ExprSyntax, message, place, "")
            .help("let one `*` parameter take what both take, or name each axis of one of them"),
    }
}

/// The way out where a choice between values is written.
fn conditional(kind: &ParseErrorKind) -> Option<&'static str> {
    matches!(kind, ParseErrorKind::Character('<' | '>' | '?' | '!'))
        .then_some("an index is arithmetic, the same for all elements: no comparison, no choice")
}

/// What expressions are made of.
const FORM: &str = "expressions have whole numbers, names, `+ - * // % & ^` and parentheses";

/// How a text goes on at a byte where something else stands.
fn continuation_help(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default().trim_end();
    let is_operand = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ')';
    if before.ends_with('*') && text.get(at..).is_some_and(|rest| rest.starts_with('*')) {
        return "write a power as the number that it is: there is no `**`".to_owned();
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
            format!("write what `{sign}` takes on its right, as in `c {sign} 4`, or take it out")
        }
        None if before.ends_with(',') => {
            "write what follows the comma, or take the comma out".to_owned()
        }
        None if text.contains("->") => "a map is written `(n, c) -> (n, c // 4, c % 4)`".to_owned(),
        None => FORM.to_owned(),
    }
}

/// The value of a number that is written with leading zeros, `_` or a base.
fn spelled(word: &str) -> Option<i64> {
    let digits = word.replace('_', "").to_ascii_lowercase();
    let of = |prefix: &str, radix| {
        digits.strip_prefix(prefix).and_then(|digits| i64::from_str_radix(digits, radix).ok())
    };
    of("0x", 16).or_else(|| of("0o", 8)).or_else(|| of("0b", 2)).or_else(|| digits.parse().ok())
}

/// An expression that is too large, or whose values are.
pub(super) fn overflow(
    error: &ExprError,
    message: impl Into<String>,
    place: FileSpan,
) -> Diagnostic {
    let help = match error {
        ExprError::TooLarge => "write shorter indices: what a step before writes stands in each",
        _ => "make a factor or an extent smaller, or state a smaller `max` of a symbol",
    };
    Diagnostic::error(Code::ExprOverflow, message, place, "").help(help)
}

/// A map or expression that breaks a rule; `None` where an earlier diagnostic says enough.
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
                    "known here: {}; a number is declared above: `const {name} 16`",
                    known.join(", ")
                )),
            }
        }
        MapErrorKind::Arity { axes, .. } => plain(Code::MapArity)
            .help(format!("name every axis: `({}) -> …`, or take the rest with `*name`", axes.join(", "))),
        MapErrorKind::DuplicateParameter(_) | MapErrorKind::DuplicateName(_) => {
            plain(Code::NameDuplicate).help("give one of the two another name")
        }
        MapErrorKind::Hides(_) => plain(Code::NameHides).help("give the axis another name"),
        MapErrorKind::UnknownStar(name) if name.is_empty() => {
            Diagnostic::error(Code::SeparatorsEmptyGroup, "a separator leaves a group of axes empty", place, "")
                .help("take this `|` out: the `*` parameter before it takes no axis here")
        }
        MapErrorKind::UnknownStar(name) => plain(Code::NameUnknown)
            .help(format!("write `*{name}` among the parameters too, before `->`")),
        MapErrorKind::DivisorNotConstant => {
            plain(Code::ExprDivisor).help("a divisor is a number, a const, a parameter or a symbol")
        }
        MapErrorKind::Divisor { .. } => plain(Code::ExprDivisor)
            .help("divisors are at least 1: floor division by a negative number differs between languages"),
        MapErrorKind::ExtentHasAxes => plain(Code::ExprExtent)
            .help("write a number, or an expression of consts, parameters and symbols"),
        MapErrorKind::UnknownFunction(name) => {
            let error_span = &error.span;
            let error = plain(Code::NameUnknown);
            match nearest(name, ["morton", "bitrev", "hilbert"]) {
                // The place is that of the whole call.
                Some(near) => error
                    .help(format!("did you mean `{near}`?"))
                    .fix(FileSpan { end: place.start + name.len(), ..place }, near),
                None => match foreign_syntax::operator(text.value.get(error_span.clone()).unwrap_or_default()) {
                    Some(own) => error.help(format!("write `{own}`")).fix(place, own),
                    None => error.help("functions are `morton`, `bitrev` and `hilbert`; a product has a `*`"),
                },
            }
        }
        MapErrorKind::Arguments { name, .. } => plain(Code::ExprFunction).help(match name.as_str() {
            "bitrev" => "write `bitrev(c, 4)` for 4 bits of `c`",
            "hilbert" => "write `hilbert(h, w)`, or `hilbert(h, w, 64, 64)` in a box of 64 by 64",
            _ => "write `morton(h, w)`",
        }),
        MapErrorKind::ArgumentRange { low, .. } if *low < 0 => {
            let raised = raised(text.value.get(error.span.clone()).unwrap_or_default(), low.unsigned_abs());
            plain(Code::ExprFunction).help(format!("let it count from 0: write `{raised}`")).fix(place, raised)
        }
        MapErrorKind::ArgumentRange { .. } => plain(Code::ExprFunction)
            .help("multiply it by less, or state a smaller `max` of its symbol"),
        MapErrorKind::Bits => plain(Code::ExprFunction)
            .help("write how many bits are put in reverse as a number or a const: 4 bits hold 0 to 15"),
        MapErrorKind::Side => plain(Code::ExprFunction)
            .help("write the rows and the columns of the box as numbers or consts: `hilbert(h, w, 64, 64)`"),
        MapErrorKind::ArgumentExtent { name, most } if *most <= MAX_CELLS.into() => {
            plain(Code::ExprFunction).help(format!(
                "write the box for every size behind the arguments, {most} long here: `{name}(h, w, {most}, 64)`"
            ))
        }
        MapErrorKind::ArgumentExtent { name, .. } => plain(Code::ExprFunction).help(format!(
            "give the symbol a smaller `max`, and write the box behind the arguments: `{name}(h, w, 64, 64)`"
        )),
        MapErrorKind::BeyondBox { high, .. } => plain(Code::ExprFunction)
            .help(format!("the box needs an extent of at least {} here", high.saturating_add(1))),
        MapErrorKind::Cells { .. } => plain(Code::ExprFunction)
            .help("tile first, and order the tiles: `(hilbert(h // 8, w // 8), h % 8, w % 8)`"),
        MapErrorKind::Expr(error) => overflow(error, message, place),
    })
}

/// The index with `more` added: what it subtracts last is subtracted less.
pub(super) fn raised(index: &str, more: u128) -> String {
    if index.contains(['&', '^']) {
        return format!("({index}) + {more}");
    }
    let last = index.rsplit_once('-').and_then(|(before, last)| {
        // A sign behind another operator is no subtraction.
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
