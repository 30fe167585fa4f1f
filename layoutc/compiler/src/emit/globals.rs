//! Names at file scope: files, guards, and every identifier that is generated.

use std::collections::{BTreeMap, BTreeSet};

use super::model::Files;
use super::{Part, Settings};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::model::{Manifest, Memory, Tensor};

/// The beginning of the guard macro and the files' names. A folder in the stem would let two guards collide: a hash tells them apart.
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
    let guard = if starts_well { guard } else { format!("LAYOUT_{guard}") };
    let files = Files {
        stem: name.to_owned(),
        header: format!("{name}.h"),
        source: format!("{name}.c"),
        test: format!("{name}_test.c"),
        bench: format!("{name}_bench.c"),
    };
    (guard, files)
}

/// Every identifier at file scope. Two that are equal are faults.
pub(super) fn globals(
    manifest: &Manifest,
    settings: &Settings,
) -> Result<BTreeSet<String>, Vec<Diagnostic>> {
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    let mut faults = Vec::new();
    let mut claim = |name: String, owner: String, at: &Place| {
        if let Some(other) = owners.get(&name) {
            let message = format!("`{name}` would be generated twice: for {other} and for {owner}");
            let fault = Diagnostic::error(Code::NameCollision, message, at.clone(), "");
            faults.push(fault.help("rename one of the two, or set another `prefix`"));
        } else if let Some(language) = settings.dialect.reserved_function(&name) {
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
            claim(format!("{ident}_{what}"), owner(what), &tensor.places.layout);
        }
        if settings.language.kernels {
            for what in KERNEL_NAMES {
                claim(format!("{ident}_{what}"), owner(what), &tensor.places.layout);
            }
            for what in ["pack", "unpack", "fill"] {
                for name in range_names(&format!("{ident}_{what}")) {
                    claim(name, owner("a launch range"), &tensor.places.layout);
                }
            }
        }
        for k in 0..tensor.layout.physical_shape.len() {
            claim(format!("{ident}_index_{k}"), owner("an index function"), &tensor.places.layout);
        }
        if settings.emit.contains(&Part::Macros) {
            claim(format!("{upper}_OFFSET"), owner("the offset macro"), &tensor.places.layout);
            for k in 0..tensor.layout.physical_shape.len() {
                let name = format!("{upper}_INDEX_{k}");
                claim(name, owner("an index macro"), &tensor.places.layout);
            }
        }
        for name in quantity_names(tensor) {
            claim(format!("{ident}_{name}"), owner(&name), &tensor.places.layout);
            let what = name.replace('_', " ");
            claim(
                format!("{upper}_{}", name.to_ascii_uppercase()),
                owner(&what),
                &tensor.places.layout,
            );
        }
        for (macro_name, what) in label_names(tensor, &upper) {
            claim(macro_name, owner(&what), &tensor.places.layout);
        }
    }
    for convert in &manifest.converts {
        let named = [convert.from, convert.to].map(|k| manifest.tensors.get(k));
        if let [Some(from), Some(to)] = named {
            let name = format!("{}{}_to_{}", settings.prefix, from.name, to.name);
            let owner = format!("convert `{}` to `{}`", from.name, to.name);
            let at = &convert.place;
            if settings.language.kernels {
                for name in [format!("{name}_kernel"), format!("{name}_fill")] {
                    claim(name, owner.clone(), at);
                }
                for name in range_names(&name) {
                    claim(name, owner.clone(), at);
                }
            }
            claim(name, owner, at);
        }
    }
    if faults.is_empty() { Ok(owners.into_keys().collect()) } else { Err(faults) }
}

/// What a target with kernels has besides.
const KERNEL_NAMES: &[&str] =
    &["fill", "fetch", "put", "fill_kernel", "pack_kernel", "unpack_kernel"];

/// The constants and the functions of a kernel's launch range.
fn range_names(kernel: &str) -> Vec<String> {
    let upper = kernel.to_ascii_uppercase();
    let sizes = (0..3).flat_map(|axis| {
        [format!("{upper}_GLOBAL_SIZE_{axis}"), format!("{kernel}_global_size_{axis}")]
    });
    sizes.chain([format!("{upper}_WORK_DIM")]).collect()
}

fn quantity_names(tensor: &Tensor) -> Vec<String> {
    let layout = &tensor.layout;
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
    if matches!(tensor.memory, Memory::Image2d | Memory::Image2dArray) {
        let image = ["width", "height", "layers", "row_pitch", "channel_order", "channel_type"];
        names.extend(image.iter().map(|what| format!("image_{what}")));
    }
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
