//! Umbrella header, which includes the headers of all manifests.

use std::sync::Arc;

use super::filters::Dialects;
use super::globals::file_names;
use super::language::C_FILES;
use super::outputs::{exchanged, relative, umbrella_header};
use super::render::Frames;
use super::template_value::TemplateValue;
use super::{GeneratedFile, Templates, tidy};
use crate::base::codes::Code;
use crate::base::content_hash;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::config::Config;

/// Fuel of the template per included header, in addition to `FUEL`, both in minijinja instructions.
const FUEL_PER_HEADER: u64 = 1000;
const FUEL: u64 = 100_000;

/// Template model of the umbrella header: name and version of the generator, include guard, and sorted paths of the
/// included headers, relative to its folder.
pub(super) struct Umbrella {
    pub(super) generator: String,
    pub(super) guard: String,
    pub(super) includes: Vec<String>,
}

/// Umbrella header; see [`Emitter::umbrella`](super::Emitter::umbrella).
pub(super) fn umbrella(
    config: &Config,
    outputs: &[&str],
    templates: &Templates,
) -> Result<Option<GeneratedFile>, Box<Diagnostic>> {
    let Some((c, path)) = umbrella_header(config) else { return Ok(None) };
    let below = |output: &&str| output.strip_prefix("c/").map(str::to_owned);
    let others: Vec<String> = outputs.iter().filter_map(below).collect();
    if let Some(other) = others.iter().find(|other| other.eq_ignore_ascii_case(&path)) {
        let place = FileSpan::new(&Arc::from("layoutc.toml"), c.umbrella_span.clone());
        let message =
            format!("two outputs have the same path: the umbrella header and `c/{other}`");
        let fault = Diagnostic::error(Code::OutputCollision, message, place, "");
        return Err(Box::new(fault.help("give the umbrella header another name")));
    }
    let suffix = C_FILES.files.first().map_or("", |file| file.suffix);
    // Headers that need MPI are not included: most users of the umbrella header do not have MPI.
    let needs_mpi = |path: &str| exchanged(path).is_some_and(|header| others.contains(&header));
    let is_included = |path: &&String| path.ends_with(suffix) && !needs_mpi(path);
    let headers: Vec<String> = others.iter().filter(is_included).cloned().collect();
    let header = header(&path, &headers, &config.project.prefix, templates)?;
    Ok(Some(GeneratedFile { path: format!("c/{}", header.path), text: header.text }))
}

/// Header at `path` that includes `headers` in sorted order, by paths relative to its own folder. `path` and `headers`
/// are relative to the same folder. `prefix` is that of the include guard.
///
/// # Errors
/// `template::*` from a project template.
#[expect(clippy::result_large_err, reason = "one diagnostic, on the way out")]
fn header(
    path: &str,
    headers: &[String],
    prefix: &str,
    templates: &Templates,
) -> Result<GeneratedFile, Diagnostic> {
    let mut includes: Vec<String> = headers.iter().map(|header| relative(path, header)).collect();
    includes.sort();
    let fuel = FUEL_PER_HEADER.saturating_mul(u64::try_from(includes.len()).unwrap_or(u64::MAX));
    let model = Umbrella {
        generator: format!("layoutc {}", env!("CARGO_PKG_VERSION")),
        // The extension in `path` makes the guard differ from that of a manifest.
        guard: format!("{}_H", file_names(path, prefix).0),
        includes,
    };
    let frames = Frames::new(templates, "c", Dialects::default());
    let text =
        frames.render("c/umbrella.h.j2", model.to_template_value(), FUEL.saturating_add(fuel))?;
    Ok(GeneratedFile { text: content_hash::seal(path, &tidy(&text)), path: path.to_owned() })
}
