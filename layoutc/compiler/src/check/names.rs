//! Names that become identifiers in generated code: reserved words, and names that differ only in case.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::record;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::config::Config;
use crate::manifest::syntax::{
    FIELD, GraphItem, Identifier, ManifestSyntax, RecordItem, ShapeItem, SpannedText,
};
use crate::target::keywords::{C, Keywords};

/// Diagnostics for names that are reserved in a target language or collide in generated code.
pub(super) fn check(manifest: &ManifestSyntax, config: &Config) -> Vec<Diagnostic> {
    let file = &manifest.file;
    let mut diagnostics = Vec::new();
    let views = manifest.views.iter().map(|view| &view.name);
    let tensors: Vec<&Identifier> =
        manifest.tensors.iter().map(|tensor| &tensor.name).chain(views).collect();
    distinct(&tensors, "tensors", file, &mut diagnostics);
    let all = keywords(config, None);
    for tensor in &manifest.tensors {
        let keywords = keywords(config, tensor.targets.as_deref());
        if config.project.prefix.is_empty() {
            reserved(&tensor.name, "tensor", &keywords, file, &mut diagnostics);
        }
        axes(tensor.shape.as_ref(), tensor.record.as_ref(), &keywords, file, &mut diagnostics);
    }
    for view in &manifest.views {
        if config.project.prefix.is_empty() {
            reserved(&view.name, "view", &all, file, &mut diagnostics);
        }
        axes(view.shape.as_ref(), None, &all, file, &mut diagnostics);
    }
    functions(manifest, config, &all, &mut diagnostics);
    for kernel in &manifest.kernels {
        let locals = kernel.locals.iter().map(|local| &local.name);
        for name in kernel.operands.iter().flatten().chain(locals) {
            reserved(name, "operand", &all, file, &mut diagnostics);
        }
    }
    for graph in &manifest.graphs {
        graph_names(graph, config, &all, file, &mut diagnostics);
    }
    for symbol in &manifest.symbols {
        reserved(&symbol.name, "symbol", &all, file, &mut diagnostics);
    }
    diagnostics
}

/// Checks the names of a graph: its tensors and nodes become members of structures, its own name a prefix.
fn graph_names(
    graph: &GraphItem,
    config: &Config,
    keywords: &[&Keywords],
    file: &Arc<str>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    if config.project.prefix.is_empty() {
        reserved(&graph.name, "graph", keywords, file, diagnostics);
    }
    let results = graph.nodes.iter().flat_map(|node| &node.outputs);
    let tensors: Vec<&Identifier> =
        graph.tensors.iter().chain(results).map(|tensor| &tensor.name).collect();
    let nodes: Vec<&Identifier> = graph.nodes.iter().map(|node| &node.name).collect();
    distinct(&tensors, "tensors of the graph", file, diagnostics);
    // Members may have the name of a library function, but not of a keyword.
    let is_word = |name: &&&Identifier| {
        let mut languages = keywords.iter().filter_map(|words| words.reserved(&name.value));
        languages.any(|language| !language.ends_with("library"))
    };
    for (what, names) in [("tensor", tensors), ("node", nodes)] {
        for name in names.iter().filter(is_word) {
            reserved(name, what, keywords, file, diagnostics);
        }
    }
}

/// The error for an axis of a statement whose name a requested target reserves.
pub(super) fn reserved_axis(name: &str, config: &Config, place: FileSpan) -> Option<Diagnostic> {
    let keywords = keywords(config, None);
    let language = keywords.iter().find_map(|words| words.reserved(name))?;
    let message = format!("axis name `{name}` is reserved in {language}");
    let error = Diagnostic::error(Code::NameReserved, message, place, "");
    Some(error.help(format!("rename it, for example to `{}_axis`", name.trim_start_matches('_'))))
}

/// Keywords of the requested targets; other languages do not restrict names. C is always included, as the other
/// languages derive from it.
fn keywords(config: &Config, targets: Option<&[SpannedText]>) -> Vec<&'static Keywords> {
    let is_target =
        |name: &&str| targets.is_none_or(|all| all.iter().any(|text| text.value == **name));
    let names = config.target.names();
    let languages =
        names.iter().filter(|name| is_target(name)).filter_map(|name| Keywords::of(name));
    [&C].into_iter().chain(languages).collect()
}

/// Checks the functions of kernels: each name must be unique, also among tensors and views.
fn functions(
    manifest: &ManifestSyntax,
    config: &Config,
    keywords: &[&Keywords],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let file = &manifest.file;
    let tensors = manifest.tensors.iter().map(|tensor| ("tensor", &tensor.name));
    let views = manifest.views.iter().map(|view| ("view", &view.name));
    let kernels = manifest.kernels.iter().filter(|kernel| kernel.operands.is_none());
    let kernels = kernels.map(|kernel| ("kernel", &kernel.name));
    let instances = manifest.instances.iter().map(|instance| ("instance", &instance.name));
    let functions: Vec<_> = kernels.chain(instances).collect();
    let mut seen: BTreeMap<String, (&str, &Identifier)> = BTreeMap::new();
    for (what, name) in tensors.chain(views).chain(functions.iter().copied()) {
        let upper = name.value.to_ascii_uppercase();
        let Some((other, earlier)) = seen.get(&upper).copied() else {
            seen.insert(upper, (what, name));
            continue;
        };
        // Clashes of tensors and views with one another are reported elsewhere.
        let is_reported =
            !["kernel", "instance"].contains(&what) || (what, other) == ("kernel", "kernel");
        if is_reported {
            continue;
        }
        let (code, message) = if earlier.value == name.value {
            let message = format!("the {what} has the same name as the {other} `{}`", name.value);
            (Code::NameDuplicate, message)
        } else {
            let message = format!(
                "the {what} `{}` and the {other} `{}` differ only in case",
                name.value, earlier.value
            );
            (Code::NameCase, message)
        };
        let place = FileSpan::new(file, name.span.clone());
        let error = Diagnostic::error(code, message, place, "");
        let error = error.with_label(FileSpan::new(file, earlier.span.clone()), "the other one");
        diagnostics.push(error.help(format!("give the {what} another name")));
    }
    for (what, name) in functions.iter().filter(|_| config.project.prefix.is_empty()) {
        let reserved = keywords.iter().find_map(|words| words.reserved_function(&name.value));
        let Some(language) = reserved else { continue };
        let message = format!("{what} name `{}` is reserved in {language}", name.value);
        let place = FileSpan::new(file, name.span.clone());
        let help =
            format!("rename it, for example to `{}_kernel`", name.value.trim_start_matches('_'));
        diagnostics.push(Diagnostic::error(Code::NameReserved, message, place, "").help(help));
    }
}

fn axes(
    shape: Option<&ShapeItem>,
    record: Option<&RecordItem>,
    keywords: &[&Keywords],
    file: &Arc<str>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Some(shape) = shape else { return };
    let mut names: Vec<&Identifier> = shape.axes.iter().map(|axis| &axis.name).collect();
    let field = record.filter(|record| record.is_axis()).map(record::axis_name);
    // Fields of an element are members of a structure, those of an axis only constants.
    let members = record.filter(|record| !record.is_axis());
    for field in members.into_iter().flat_map(|record| &record.fields) {
        reserved(&field.name, "field", keywords, file, diagnostics);
    }
    let is_placed = shape.axes.iter().any(|axis| axis.name.value == FIELD);
    names.extend(field.iter().filter(|_| !is_placed));
    distinct(&names, "axes", file, diagnostics);
    for name in names {
        reserved(name, "axis", keywords, file, diagnostics);
    }
}

fn reserved(
    name: &Identifier,
    what: &str,
    keywords: &[&Keywords],
    file: &Arc<str>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let reserved = keywords.iter().find_map(|words| words.reserved(&name.value));
    let Some(language) = reserved else { return };
    let message = format!("{what} name `{}` is reserved in {language}", name.value);
    let place = FileSpan::new(file, name.span.clone());
    let suffix = match what {
        "axis" => "axis",
        "symbol" => "extent",
        _ => "data",
    };
    let help =
        format!("rename it, for example to `{}_{suffix}`", name.value.trim_start_matches('_'));
    diagnostics.push(Diagnostic::error(Code::NameReserved, message, place, "").help(help));
}

/// Reports names that are equal, or equal except for case: files and macros would collide.
fn distinct(names: &[&Identifier], what: &str, file: &Arc<str>, diagnostics: &mut Vec<Diagnostic>) {
    let mut seen: BTreeMap<String, &Identifier> = BTreeMap::new();
    for name in names {
        let Some(earlier) = seen.insert(name.value.to_ascii_uppercase(), name) else { continue };
        let (code, message) = if earlier.value == name.value {
            (Code::NameDuplicate, format!("two {what} are called `{}`", name.value))
        } else {
            let message =
                format!("the {what} `{}` and `{}` differ only in case", earlier.value, name.value);
            (Code::NameCase, message)
        };
        let place = FileSpan::new(file, name.span.clone());
        let error = Diagnostic::error(code, message, place, "");
        let error = error.with_label(FileSpan::new(file, earlier.span.clone()), "the other one");
        diagnostics.push(error.help("give one of them another name"));
    }
}
