//! Names at file scope: files, guards, and every identifier that is generated.

use std::collections::{BTreeMap, BTreeSet};

use layoutc_algebra::layout::Layout;

use super::model::Files;
use super::{CSettings, place};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::model::{Manifest, Tensor};

/// The guard macro and the files' names. A folder in the stem would let two guards collide: a hash tells them apart.
pub(super) fn file_names(out_stem: &str, prefix: &str) -> (String, Files) {
    let name = out_stem.rsplit('/').next().unwrap_or(out_stem);
    let mut guard: String = format!("{prefix}{out_stem}")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect();
    let plain = out_stem.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !plain {
        let hash = blake3::hash(out_stem.as_bytes()).to_hex();
        guard = format!("{guard}_{}", hash.as_str().get(..6).unwrap_or("").to_ascii_uppercase());
    }
    let starts_well = guard.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    let guard = if starts_well { format!("{guard}_H") } else { format!("LAYOUT_{guard}_H") };
    let files = Files {
        header: format!("{name}.h"),
        source: format!("{name}.c"),
        test: format!("{name}_test.c"),
    };
    (guard, files)
}

/// Every identifier at file scope. Two that are equal are faults.
pub(super) fn globals(
    manifest: &Manifest,
    settings: &CSettings,
) -> Result<BTreeSet<String>, Vec<Diagnostic>> {
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    let mut faults = Vec::new();
    let mut claim = |name: String, owner: String, at: &Place| {
        if let Some(other) = owners.get(&name) {
            let message = format!("`{name}` would be generated twice: for {other} and for {owner}");
            let fault = Diagnostic::error(Code::NameCollision, message, at.clone(), "");
            faults.push(fault.help("rename one of the two, or set another `prefix`"));
        } else if let Some(language) = super::reserved_function(&name) {
            let message = format!("`{name}`, generated for {owner}, belongs to {language}");
            let fault = Diagnostic::error(Code::NameCollision, message, at.clone(), "");
            faults.push(fault.help("rename it, or set a `prefix`"));
        } else {
            owners.insert(name, owner);
        }
    };
    for tensor in &manifest.tensors {
        let ident = format!("{}{}", settings.prefix, tensor.name);
        let upper = ident.to_ascii_uppercase();
        let owner = |what: &str| format!("{what} of tensor `{}`", tensor.name);
        for what in ["offset", "logical", "pack", "unpack", "load", "store", "symbols_ok"] {
            claim(format!("{ident}_{what}"), owner(what), &tensor.place);
        }
        for k in 0..tensor.layout.physical_shape.len() {
            claim(format!("{ident}_index_{k}"), owner("an index function"), &tensor.place);
        }
        for name in quantity_names(&tensor.layout) {
            claim(format!("{ident}_{name}"), owner(&name), &tensor.place);
            let what = name.replace('_', " ");
            claim(format!("{upper}_{}", name.to_ascii_uppercase()), owner(&what), &tensor.place);
        }
        for (macro_name, what) in label_names(tensor, &upper) {
            claim(macro_name, owner(&what), &tensor.place);
        }
    }
    for convert in &manifest.converts {
        let named = [convert.from, convert.to].map(|k| manifest.tensors.get(k));
        if let [Some(from), Some(to)] = named {
            let name = format!("{}{}_to_{}", settings.prefix, from.name, to.name);
            claim(
                name,
                format!("convert `{}` to `{}`", from.name, to.name),
                &place(&manifest.path),
            );
        }
    }
    if faults.is_empty() { Ok(owners.into_keys().collect()) } else { Err(faults) }
}

fn quantity_names(layout: &Layout) -> Vec<String> {
    let mut names: Vec<String> = ["rank", "physical_rank", "logical_elements", "physical_elements"]
        .iter()
        .chain(&["bytes", "alignment"])
        .map(|name| (*name).to_owned())
        .collect();
    names.extend(layout.logical.iter().map(|axis| format!("extent_{}", axis.name)));
    for axis in &layout.storage {
        names.push(format!("storage_extent_{}", axis.name));
        names.push(format!("stride_{}", axis.name));
    }
    names.extend((0..layout.physical_shape.len()).map(|k| format!("physical_extent_{k}")));
    names
}

/// The macros of labels, `INPUT_FIELD_X`, each with what it is.
pub(super) fn label_names(tensor: &Tensor, upper: &str) -> Vec<(String, String)> {
    let mut names = Vec::new();
    for (axis, labels) in tensor.layout.logical.iter().zip(&tensor.labels) {
        let axis_upper = axis.name.to_ascii_uppercase();
        for label in labels {
            let name = format!("{upper}_{axis_upper}_{}", label.to_ascii_uppercase());
            names.push((name, format!("label `{label}`")));
        }
    }
    names
}
