//! Names that would become identifiers of a target: reserved words, names that differ in case only.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::record;
use crate::codes::Code;
use crate::config::Config;
use crate::diagnostic::{Diagnostic, Place};
use crate::emit::dialect::{C, Dialect};
use crate::emit::language::Language;
use crate::manifest::syntax::{FIELD, Manifest, Name, Record, Shape, Text};

/// Every name of a manifest that a target cannot take, or takes for another.
pub(super) fn check(manifest: &Manifest, config: &Config) -> Vec<Diagnostic> {
    let file = &manifest.file;
    let mut diagnostics = Vec::new();
    let views = manifest.views.iter().map(|view| &view.name);
    let tensors: Vec<&Name> =
        manifest.tensors.iter().map(|tensor| &tensor.name).chain(views).collect();
    distinct(&tensors, "tensors", file, &mut diagnostics);
    let all = dialects(config, None);
    for tensor in &manifest.tensors {
        let dialects = dialects(config, tensor.targets.as_deref());
        if config.project.prefix.is_empty() {
            reserved(&tensor.name, "tensor", &dialects, file, &mut diagnostics);
        }
        axes(tensor.shape.as_ref(), tensor.record.as_ref(), &dialects, file, &mut diagnostics);
    }
    for view in &manifest.views {
        if config.project.prefix.is_empty() {
            reserved(&view.name, "view", &all, file, &mut diagnostics);
        }
        axes(view.shape.as_ref(), None, &all, file, &mut diagnostics);
    }
    for symbol in &manifest.symbols {
        reserved(&symbol.name, "symbol", &all, file, &mut diagnostics);
    }
    diagnostics
}

/// The languages of the targets that are asked for: a name need not be free in any other. C's words are kept in all,
/// as every language here grew out of it.
fn dialects(config: &Config, targets: Option<&[Text]>) -> Vec<&'static Dialect> {
    let asked = |name: &&str| targets.is_none_or(|all| all.iter().any(|text| text.value == **name));
    let names = config.target.names();
    let languages = names.iter().filter(|name| asked(name)).filter_map(|name| Language::find(name));
    [&C].into_iter().chain(languages.map(|language| language.dialect)).collect()
}

fn axes(
    shape: Option<&Shape>,
    record: Option<&Record>,
    dialects: &[&Dialect],
    file: &Arc<str>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Some(shape) = shape else { return };
    let mut names: Vec<&Name> = shape.axes.iter().map(|axis| &axis.name).collect();
    let field = record.map(record::axis_name);
    let is_placed = shape.axes.iter().any(|axis| axis.name.value == FIELD);
    names.extend(field.iter().filter(|_| !is_placed));
    distinct(&names, "axes", file, diagnostics);
    for name in names {
        reserved(name, "axis", dialects, file, diagnostics);
    }
}

/// An axis of a kernel that a target cannot take.
pub(super) fn reserved_axis(name: &str, config: &Config, place: Place) -> Option<Diagnostic> {
    fault(name, "axis", &dialects(config, None), place)
}

/// A kernel whose function no target can take.
pub(super) fn function(name: &Name, config: &Config, file: &Arc<str>) -> Option<Diagnostic> {
    if !config.project.prefix.is_empty() {
        return None;
    }
    fault(&name.value, "kernel", &dialects(config, None), Place::new(file, name.span.clone()))
}

fn reserved(
    name: &Name,
    what: &str,
    dialects: &[&Dialect],
    file: &Arc<str>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    diagnostics.extend(fault(&name.value, what, dialects, Place::new(file, name.span.clone())));
}

fn fault(name: &str, what: &str, dialects: &[&Dialect], place: Place) -> Option<Diagnostic> {
    let language = dialects.iter().find_map(|dialect| dialect.reserved(name))?;
    let message = format!("`{name}` is reserved in {language}, so no {what} can have this name");
    let suffix = match what {
        "axis" => "axis",
        "symbol" => "extent",
        "kernel" => "all",
        _ => "data",
    };
    let help = format!("call it `{}_{suffix}`, say", name.trim_start_matches('_'));
    Some(Diagnostic::error(Code::NameReserved, message, place, "").help(help))
}

/// Names that are equal, or equal but for case: files and macros would collide.
fn distinct(names: &[&Name], what: &str, file: &Arc<str>, diagnostics: &mut Vec<Diagnostic>) {
    let mut seen: BTreeMap<String, &Name> = BTreeMap::new();
    for name in names {
        let Some(earlier) = seen.insert(name.value.to_ascii_uppercase(), name) else { continue };
        let (code, message) = if earlier.value == name.value {
            (Code::NameDuplicate, format!("two {what} are called `{}`", name.value))
        } else {
            let message =
                format!("the {what} `{}` and `{}` differ in case only", earlier.value, name.value);
            (Code::NameCase, message)
        };
        let place = Place::new(file, name.span.clone());
        let error = Diagnostic::error(code, message, place, "");
        diagnostics.push(error.also(Place::new(file, earlier.span.clone()), "the other one"));
    }
}
