//! Names that would become identifiers of a target: reserved words, names that differ in case only.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::codes::Code;
use crate::config::Config;
use crate::diagnostic::{Diagnostic, Place};
use crate::emit;
use crate::manifest::syntax::{Manifest, Name, TensorItem};

/// Every name of a manifest that a target cannot take, or takes for another.
pub(super) fn check(manifest: &Manifest, config: &Config) -> Vec<Diagnostic> {
    let file = &manifest.file;
    let mut diagnostics = Vec::new();
    let tensors: Vec<&Name> = manifest.tensors.iter().map(|tensor| &tensor.name).collect();
    distinct(&tensors, "tensors", file, &mut diagnostics);
    for tensor in &manifest.tensors {
        if config.project.prefix.is_empty() {
            reserved(&tensor.name, "tensor", file, &mut diagnostics);
        }
        axes(tensor, file, &mut diagnostics);
    }
    for symbol in &manifest.symbols {
        reserved(&symbol.name, "symbol", file, &mut diagnostics);
    }
    diagnostics
}

fn axes(tensor: &TensorItem, file: &Arc<str>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(shape) = &tensor.shape else { return };
    let names: Vec<&Name> = shape.axes.iter().map(|axis| &axis.name).collect();
    distinct(&names, "axes", file, diagnostics);
    for name in names {
        reserved(name, "axis", file, diagnostics);
    }
}

fn reserved(name: &Name, what: &str, file: &Arc<str>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(language) = emit::reserved(&name.value) else { return };
    let message =
        format!("`{}` is reserved in {language}, so no {what} can have this name", name.value);
    let place = Place::new(file, name.span.clone());
    let suffix = match what {
        "axis" => "axis",
        "symbol" => "extent",
        _ => "data",
    };
    let help = format!("call it `{}_{suffix}`, say", name.value.trim_start_matches('_'));
    diagnostics.push(Diagnostic::error(Code::NameReserved, message, place, "").help(help));
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
