//! Checks of names that become identifiers in generated code: reserved words, duplicates, and names that differ only in
//! case.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::record_type;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::config::Config;
use crate::manifest::syntax::{
    FIELD, GraphItem, Identifier, ManifestSyntax, RecordItem, ShapeItem, SpannedText,
};
use crate::target::keywords::{C, Keywords};

/// Diagnostics for the names in a manifest that are reserved in a target language, or that collide in generated code
/// because they are equal or differ only in case.
pub(super) fn check(manifest: &ManifestSyntax, config: &Config) -> Vec<Diagnostic> {
    let mut checker = NameChecker {
        file: &manifest.file,
        is_prefixed: !config.project.prefix.is_empty(),
        keywords: Vec::new(),
        found: Vec::new(),
    };
    let views = manifest.views.iter().map(|view| &view.name);
    let tensors = manifest.tensors.iter().map(|tensor| &tensor.name);
    checker.distinct(&tensors.chain(views).collect::<Vec<_>>(), "tensors");
    for tensor in &manifest.tensors {
        checker.keywords = keywords(config, tensor.targets.as_deref());
        checker.global(&tensor.name, "tensor");
        checker.axes(tensor.shape.as_ref(), tensor.record.as_ref());
    }
    checker.keywords = keywords(config, None);
    for view in &manifest.views {
        checker.global(&view.name, "view");
        checker.axes(view.shape.as_ref(), None);
    }
    checker.functions(manifest);
    for kernel in &manifest.kernels {
        for name in kernel.operands.iter().flatten() {
            checker.reserved(name, "operand");
        }
        for local in &kernel.locals {
            checker.reserved(&local.name, "intermediate");
        }
    }
    manifest.graphs.iter().for_each(|graph| checker.graph(graph));
    for symbol in &manifest.symbols {
        checker.reserved(&symbol.name, "symbol");
    }
    checker.found
}

/// Error for the axis `name` of a statement, located at `place`, if C or a configured target reserves the name;
/// otherwise `None`.
pub(super) fn reserved_axis(name: &str, config: &Config, place: FileSpan) -> Option<Diagnostic> {
    let keywords = keywords(config, None);
    let language = keywords.iter().find_map(|words| words.reserved(name))?;
    Some(reserved_name(name, "axis", language, place))
}

fn reserved_name(name: &str, what: &str, language: &str, place: FileSpan) -> Diagnostic {
    let message = format!("{what} name `{name}` is reserved in {language}");
    let suffix = match what {
        "axis" => "axis",
        "symbol" => "extent",
        "kernel" | "instance" => "kernel",
        _ => "data",
    };
    let help = format!("rename it, for example to `{}_{suffix}`", name.trim_start_matches('_'));
    Diagnostic::error(Code::NameReserved, message, place, "").help(help)
}

/// Reserved names of C and of the configured targets that are in `targets`; `None` stands for all configured targets. C
/// is always included, as the other languages derive from it.
fn keywords(config: &Config, targets: Option<&[SpannedText]>) -> Vec<&'static Keywords> {
    let is_target =
        |name: &&str| targets.is_none_or(|all| all.iter().any(|text| text.value == **name));
    let names = config.target.names();
    let languages =
        names.iter().filter(|name| is_target(name)).filter_map(|name| Keywords::of(name));
    [&C].into_iter().chain(languages).collect()
}

/// Checker of the names of a manifest, with the errors found.
struct NameChecker<'a> {
    file: &'a Arc<str>,
    /// True if the project sets a prefix for generated names, so that names of items are never reserved words.
    is_prefixed: bool,
    keywords: Vec<&'static Keywords>,
    found: Vec<Diagnostic>,
}

impl NameChecker<'_> {
    /// Checks that the name of an item is not reserved, unless the project sets a prefix for generated names. `what` is
    /// the noun for the item in the message: "tensor".
    fn global(&mut self, name: &Identifier, what: &str) {
        if !self.is_prefixed {
            self.reserved(name, what);
        }
    }

    fn reserved(&mut self, name: &Identifier, what: &str) {
        let reserved = self.keywords.iter().find_map(|words| words.reserved(&name.value));
        self.found.extend(
            reserved.map(|language| reserved_name(&name.value, what, language, name.at(self.file))),
        );
    }

    /// Checks the names of a graph. Its own name prefixes the generated types and functions, such as `NAME_run`: it
    /// must not be reserved, unless the project sets a prefix. Its tensors and nodes become members of the generated
    /// structures `NAME_buffers` and `NAME_operators`: their names must not be keywords. The names of tensors must
    /// differ, also when case is ignored.
    fn graph(&mut self, graph: &GraphItem) {
        self.global(&graph.name, "graph");
        let results = graph.nodes.iter().flat_map(|node| &node.outputs);
        let tensors: Vec<&Identifier> =
            graph.tensors.iter().chain(results).map(|tensor| &tensor.name).collect();
        let nodes: Vec<&Identifier> = graph.nodes.iter().map(|node| &node.name).collect();
        self.distinct(&tensors, "tensors of the graph");
        for (what, names) in [("tensor", tensors), ("node", nodes)] {
            for name in names {
                // Members may have the name of a library function, but not of a keyword.
                let mut languages =
                    self.keywords.iter().filter_map(|words| words.reserved(&name.value));
                if languages.any(|language| !language.ends_with("library")) {
                    self.reserved(name, what);
                }
            }
        }
    }

    /// Checks the names of the functions that are generated for kernels and instances. Each must differ from the names
    /// of tensors, of views and of other functions, also when case is ignored; two kernels are not compared with each
    /// other. It must not be reserved, unless the project sets a prefix for generated names.
    fn functions(&mut self, manifest: &ManifestSyntax) {
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
            let (own, others) = (&name.value, &earlier.value);
            let message = if own == others {
                format!("the {what} has the same name as the {other} `{own}`")
            } else {
                format!("the {what} `{own}` and the {other} `{others}` differ only in case")
            };
            self.clash(name, earlier, message, format!("give the {what} another name"));
        }
        for (what, name) in functions.into_iter().filter(|_| !self.is_prefixed) {
            let mut keywords = self.keywords.iter();
            let reserved = keywords.find_map(|words| words.reserved_function(&name.value));
            self.found.extend(
                reserved.map(|language| {
                    reserved_name(&name.value, what, &language, name.at(self.file))
                }),
            );
        }
    }

    fn axes(&mut self, shape: Option<&ShapeItem>, record: Option<&RecordItem>) {
        let Some(shape) = shape else { return };
        let mut names: Vec<&Identifier> = shape.axes.iter().map(|axis| &axis.name).collect();
        let field = record.filter(|record| record.is_axis()).map(record_type::axis_name);
        // Fields of an element are members of a structure, those of an axis only constants.
        let members = record.filter(|record| !record.is_axis());
        for field in members.into_iter().flat_map(|record| &record.fields) {
            self.reserved(&field.name, "field");
        }
        let is_placed = shape.axes.iter().any(|axis| axis.name.value == FIELD);
        names.extend(field.iter().filter(|_| !is_placed));
        self.distinct(&names, "axes");
        for name in names {
            self.reserved(name, "axis");
        }
    }

    /// Reports each name in `names` that is equal to an earlier one when case is ignored: generated files or macros of
    /// the two would collide. `what` is the noun for the names in the plural: "tensors".
    fn distinct(&mut self, names: &[&Identifier], what: &str) {
        let mut seen: BTreeMap<String, &Identifier> = BTreeMap::new();
        for name in names {
            let upper = name.value.to_ascii_uppercase();
            let Some(earlier) = seen.insert(upper, name) else { continue };
            let (own, other) = (&name.value, &earlier.value);
            let message = if own == other {
                format!("two {what} are called `{own}`")
            } else {
                format!("the {what} `{other}` and `{own}` differ only in case")
            };
            self.clash(name, earlier, message, "give one of them another name".to_owned());
        }
    }

    fn clash(&mut self, name: &Identifier, earlier: &Identifier, message: String, help: String) {
        let is_equal = name.value == earlier.value;
        let code = if is_equal { Code::NameDuplicate } else { Code::NameCase };
        let error = Diagnostic::error(code, message, name.at(self.file), "");
        let error = error.with_label(earlier.at(self.file), "the other one");
        self.found.push(error.help(help));
    }
}
