//! Maps of layout steps: text → [`MapText`] → [`IndexMap`].

use layoutc_algebra::expr::parse::{self, MapItemText, MapText, Span};
use layoutc_algebra::map::{IndexMap, MapScope, resolve};
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::Axis;

use super::expr::{map_fault, map_parse_fault};
use super::foreign_syntax;
use super::step_scope::StepScope;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::manifest::syntax::SpannedText;

/// Parses the map `text` from the axes `axes`, and resolves its names in the scope `ground`; `facts` are the ranges of
/// the symbols. Returns the pair (syntax tree, index map). `Err` has the syntax error, or the faults of names and rules
/// that are not reported elsewhere.
pub(super) fn resolved(
    text: &SpannedText,
    axes: &[Axis],
    facts: &Facts,
    ground: StepScope<'_>,
) -> CheckResult<(MapText, IndexMap)> {
    let file = ground.file;
    let parsed =
        parse::map(&text.value).map_err(|e| vec![map_parse_fault(&e, text, file, axes)])?;
    let scope = MapScope { axes, values: &|name| ground.value(name), facts };
    let known: Vec<&str> = match &parsed.params {
        Some(params) => params.iter().map(|p| p.name.as_str()).collect(),
        None => axes.iter().map(|a| a.name.as_str()).collect(),
    };
    let parameters = ground.parameters.iter().map(|(name, _)| name.as_str());
    let known: Vec<&str> =
        known.into_iter().chain(parameters).chain(ground.scope.known()).collect();
    let map = resolve(&parsed, scope).map_err(|errors| {
        if let Some(named) = foreign_syntax::named_by_colons(&parsed, &errors, text, file) {
            return vec![named];
        }
        errors
            .iter()
            .filter_map(|e| map_fault(e, text, ground.scope, &known, file))
            .map(|fault| foreign_syntax::with_omitted_axes(fault, text, axes))
            .collect::<Vec<_>>()
    })?;
    Ok((parsed, map))
}

/// Byte range of the extent that the map declares for one of its items: that of `4` in `c // 4 : 4`. `index` is the
/// byte range of the item's index, here `c // 4`. `None` if the item declares no extent.
pub(super) fn stated(map: &MapText, index: &Span) -> Option<Span> {
    map.items.iter().find_map(|item| match item {
        MapItemText::Expr { expr, extent: Some(extent), .. } if expr.span == *index => {
            Some(extent.span.clone())
        }
        _ => None,
    })
}

/// Checks that the storage axes of a map have distinct names; the error is located at `place`.
pub(super) fn unique_names(map: &IndexMap, place: &FileSpan) -> CheckResult<()> {
    for (k, item) in map.items.iter().enumerate() {
        if map.items.iter().take(k).any(|other| other.name == item.name) {
            let message = format!("two storage axes are called `{}`", item.name);
            let error = Diagnostic::error(Code::NameDuplicate, message, place.clone(), "");
            return Err(vec![error.help("give one of them another name")]);
        }
    }
    Ok(())
}
