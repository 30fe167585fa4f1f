//! Texts that hold expressions: parsed, looked up, and every fault at its own characters.

use std::sync::Arc;

use layoutc_algebra::curve::MAX_CELLS;
use layoutc_algebra::expr::Expr;
use layoutc_algebra::map::{MapError, MapErrorKind, resolve_constant};
use layoutc_algebra::parse::{self, ParseError, ParseErrorKind};
use layoutc_algebra::simplify::Facts;

use super::scope::Scope;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::manifest::syntax::{Bound, Kind, Text};
use crate::nearest::nearest;

/// An expression free of axes.
pub(super) fn constant(
    bound: &Bound,
    values: &dyn Fn(&str) -> Option<Expr>,
    scope: &Scope,
    facts: &Facts,
    file: &Arc<str>,
) -> Result<Expr, Vec<Diagnostic>> {
    let text = match bound {
        Bound::Integer(number) => return Ok(Expr::constant(number.value)),
        Bound::Text(text) => text,
    };
    let ast = parse::expression(&text.value).map_err(|e| vec![parse_fault(&e, text, file)])?;
    let known: Vec<&str> = scope.known().collect();
    resolve_constant(&ast, values, facts).map_err(|errors| {
        errors.iter().filter_map(|e| map_fault(e, text, scope, &known, file)).collect()
    })
}

/// Adds to the names that nothing declares how they are declared, unless another name was meant.
pub(super) fn declare_first(mut faults: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for fault in faults.iter_mut().filter(|fault| fault.code == Code::NameUnknown) {
        let name = fault.message.split('`').nth(1).unwrap_or_default();
        if fault.help.iter().all(|help| !help.starts_with("did you mean")) {
            fault.help.push(format!(
                "declare it above: `const {name} 16`, or `symbol {name} max=4096` if it is known only at run time"
            ));
        }
    }
    faults
}

/// The place of bytes of a text.
pub(super) fn place_in(text: &Text, span: &parse::Span, file: &Arc<str>) -> Place {
    Place::new(file, text.span.start + span.start..text.span.start + span.end)
}

/// A text that is no expression or map.
pub(super) fn parse_fault(error: &ParseError, text: &Text, file: &Arc<str>) -> Diagnostic {
    let place = place_in(text, &error.span, file);
    let message = error.kind.to_string();
    match &error.kind {
        ParseErrorKind::Slash => {
            Diagnostic::error(Code::ExprSlash, message, place.clone(), "write `//`")
                .fix(place, "//")
                .help("`//` is the quotient rounded down, as in Python: `c // 4`")
        }
        ParseErrorKind::TooBig { .. } => Diagnostic::error(Code::ExprOverflow, message, place, "")
            .note(format!("the largest literal is {}", i64::MAX)),
        ParseErrorKind::TooDeep => Diagnostic::error(Code::ExprNesting, message, place, "")
            .help("let one map follow another, each with a part of it"),
        ParseErrorKind::EmptyGroup => Diagnostic::error(
            Code::SeparatorsEmptyGroup,
            message,
            place,
            "a group of axes is empty",
        ),
        ParseErrorKind::Unexpected { .. }
        | ParseErrorKind::Character(_)
        | ParseErrorKind::Literal
        | ParseErrorKind::TwoStars => Diagnostic::error(Code::ExprSyntax, message, place, ""),
    }
}

/// A map or expression that breaks a rule; `None` where an earlier diagnostic says enough.
pub(super) fn map_fault(
    error: &MapError,
    text: &Text,
    scope: &Scope,
    known: &[&str],
    file: &Arc<str>,
) -> Option<Diagnostic> {
    let place = place_in(text, &error.span, file);
    let message = error.kind.to_string();
    let plain = |code: Code| Diagnostic::error(code, message.clone(), place.clone(), "");
    Some(match &error.kind {
        MapErrorKind::UnknownName(name) => {
            if [Kind::Const, Kind::Symbol].iter().any(|kind| scope.is_broken(*kind, name)) {
                return None;
            }
            let error = plain(Code::NameUnknown);
            match nearest(name, known.iter().copied()) {
                Some(near) => error.meant(near),
                None if known.is_empty() => error,
                None => error.help(format!("known here: {}", known.join(", "))),
            }
        }
        MapErrorKind::Arity { axes, .. } => plain(Code::MapArity)
            .help(format!("name every axis: `({}) -> …`, or take the rest with `*name`", axes.join(", "))),
        MapErrorKind::DuplicateParameter(_) | MapErrorKind::DuplicateName(_) => plain(Code::NameDuplicate),
        MapErrorKind::Hides(_) => plain(Code::NameHides).help("give the axis another name"),
        MapErrorKind::UnknownStar(name) if name.is_empty() => {
            Diagnostic::error(Code::SeparatorsEmptyGroup, "a separator leaves a group of axes empty", place, "")
        }
        MapErrorKind::UnknownStar(_) => plain(Code::NameUnknown),
        MapErrorKind::DivisorNotConstant => {
            plain(Code::ExprDivisor).help("a divisor is a number, a const, a parameter or a symbol")
        }
        MapErrorKind::Divisor { .. } => plain(Code::ExprDivisor)
            .help("divisors are at least 1: floor division by a negative number differs between languages"),
        MapErrorKind::Product => plain(Code::ExprProduct)
            .help("an index may be multiplied by a number, a const or a symbol, not by another index"),
        MapErrorKind::ExtentHasAxes => plain(Code::ExprExtent),
        MapErrorKind::UnknownFunction(_) => plain(Code::NameUnknown),
        MapErrorKind::Arguments { .. }
        | MapErrorKind::ArgumentRange { .. }
        | MapErrorKind::Bits
        | MapErrorKind::Side => plain(Code::ExprFunction),
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
        MapErrorKind::Expr(_) => plain(Code::ExprOverflow),
    })
}
