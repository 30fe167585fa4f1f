//! From the checked model to the text of generated files.
//!
//! [`emit`] plans every tensor and relayout of a manifest, builds the template model, and renders the templates of
//! the target over it. It writes no file.

pub mod comment;
pub mod dialect;
mod element;
mod fits;
mod globals;
pub mod model;
mod needs;
pub mod print;
pub mod render;
pub mod seal;
mod test_unit;
mod types;
mod unit;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use self::render::Templates;

use self::dialect::C;
use crate::codes::Code;
use crate::config::IndexType;
use crate::diagnostic::{Diagnostic, Place};
use crate::model::Manifest;
use crate::plan::lower::PlanError;

/// What the configuration says of the C target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CSettings {
    /// Put before every generated identifier, in upper case before every macro.
    pub prefix: String,
    /// The standard that the header names: `c99` or later.
    pub standard: String,
    /// The type of indices, extents and offsets.
    pub index: IndexType,
    /// What is asked for.
    pub emit: BTreeSet<Part>,
}

impl Default for CSettings {
    fn default() -> Self {
        let emit = [Part::Constants, Part::Index, Part::Pack, Part::Test].into_iter().collect();
        Self { prefix: String::new(), standard: "c99".to_owned(), index: IndexType::Int64, emit }
    }
}

/// A part of the generated code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Constants and counts.
    Constants,
    /// Index functions.
    Index,
    /// pack, unpack and convert; brings the index functions along.
    Pack,
    /// The test program; brings everything along.
    Test,
}

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its path below the target's folder, with `/`.
    pub path: String,
    /// Its text, sealed.
    pub text: String,
}

/// Steps that a built-in template may take, plus those for each tensor.
const FUEL: u64 = 2_000_000;
const FUEL_PER_TENSOR: u64 = 50_000;
/// The same for templates of the user's.
const USER_FUEL: u64 = 1_000_000;

/// The language that keeps `name` for itself, so that it cannot name an axis, a symbol or a tensor without prefix.
/// `int` gives `C`, `class` gives `C++`, `errno` gives `the C library`; a free name gives `None`.
pub fn reserved(name: &str) -> Option<&'static str> {
    C.reserved(name)
}

/// The same for the name of a function, which must not be one of the C library's either: `exp`, `round`.
pub fn reserved_function(name: &str) -> Option<&'static str> {
    C.reserved(name).or_else(|| C.functions.contains(&name).then_some("the C library"))
}

/// The C files of one manifest: header, source (where something is packed) and test program. `out_stem` is their
/// path without extension, with `/`: `layers/a` gives `layers/a.h`, `layers/a.c`, `layers/a_test.c`.
///
/// # Errors
/// Every fault found: `padding::fill`, `name::collision`, `limit::generated`, `limit::index_type`, `template::*`.
pub fn emit(
    manifest: &Manifest,
    settings: &CSettings,
    out_stem: &str,
    templates: &Templates,
) -> Result<Vec<Output>, Vec<Diagnostic>> {
    let mut unit = unit::build(manifest, settings, out_stem)?;
    unit.stamp = stamp(&unit, templates);
    let model = serde_json::to_value(&unit)
        .map_err(|error| vec![limit(place(&manifest.path), "", &error.to_string())])?;
    let mut wanted = vec![("c/header.h.j2", format!("{out_stem}.h"))];
    if unit.emit.pack {
        wanted.push(("c/source.c.j2", format!("{out_stem}.c")));
    }
    if unit.emit.test {
        wanted.push(("c/test.c.j2", format!("{out_stem}_test.c")));
    }
    let mut outputs = Vec::new();
    let mut faults = Vec::new();
    for (name, path) in wanted {
        match render::render(templates, name, &model, fuel(manifest, templates)) {
            Ok(text) => outputs.push(Output { path, text: seal::seal(&tidy(&text)) }),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(outputs) } else { Err(faults) }
}

fn fuel(manifest: &Manifest, templates: &Templates) -> u64 {
    let tensors = manifest.tensors.len().saturating_add(manifest.converts.len());
    let tensors = u64::try_from(tensors).unwrap_or(u64::MAX);
    let base = if templates.user.is_empty() { FUEL } else { USER_FUEL };
    base.saturating_add(tensors.saturating_mul(FUEL_PER_TENSOR))
}

/// A number that changes with whatever the files are made from.
fn stamp(unit: &model::Unit, templates: &Templates) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(serde_json::to_string(unit).unwrap_or_default().as_bytes());
    for (name, _) in render::BUILT_IN {
        hasher.update(templates.get(name).unwrap_or_default().as_bytes());
    }
    for (name, text) in &templates.user {
        hasher.update(name.as_bytes());
        hasher.update(text.as_bytes());
    }
    let hex = hasher.finalize().to_hex();
    // 31 bits: an `int` everywhere.
    let value = u32::from_str_radix(hex.as_str().get(..8).unwrap_or("0"), 16).unwrap_or(0);
    format!("0x{:08X}", value & 0x7FFF_FFFF)
}

/// No blanks at line ends, no two empty lines in a row, one line end at the end.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let mut empty = true;
    for line in text.lines().map(str::trim_end) {
        if !(line.is_empty() && empty) {
            tidied.push_str(line);
            tidied.push('\n');
        }
        empty = line.is_empty();
    }
    while tidied.ends_with("\n\n") {
        tidied.pop();
    }
    tidied
}

fn place(file: &str) -> Place {
    Place::new(&Arc::from(file), 0..0)
}

fn limit(at: Place, name: &str, what: &str) -> Diagnostic {
    let message = format!("`{name}` cannot be generated: {what}");
    Diagnostic::error(Code::LimitGenerated, message, at, "")
}

fn plan_fault(at: Place, name: &str, error: &PlanError) -> Diagnostic {
    limit(at, name, &error.to_string())
}
