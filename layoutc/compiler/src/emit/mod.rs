//! Code generation: from the checked model to the text of the generated files.
//!
//! [`emit`] plans every tensor and relayout of a manifest, builds the template model, and renders the templates of the
//! target with that model. No file is written to disk.

mod arithmetic;
pub mod array;
mod bench_unit;
mod cast_model;
mod casts;
pub mod comment;
mod compute_bench;
mod compute_model;
mod compute_numbers;
mod compute_test;
mod compute_unit;
pub mod dialect;
mod element;
mod file_names;
mod filters;
mod float_bits;
mod globals;
mod index_range;
mod jobs;
mod kernel_model;
mod kernels;
pub mod language;
mod lengths;
mod macros;
pub mod model;
pub mod outputs;
pub mod print;
mod record;
mod register_transposes;
pub mod render;
mod requirements;
mod reshard_model;
mod reshard_unit;
pub mod runtime;
mod schedule_model;
mod schedule_unit;
mod settings;
pub mod shared;
pub mod syntax;
mod target_limits;
mod template_value;
mod test_unit;
mod types;
mod umbrella;
mod unit;
mod view_unit;
mod wrap;

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

pub use self::jobs::{EmitJob, Emitter};
pub use self::render::Templates;
pub use self::settings::{OwnFile, Part, Settings};

use self::filters::Dialects;
use self::render::Frames;
use self::template_value::TemplateValue;
use crate::base::codes::Code;
use crate::base::content_hash;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::base::nearest::nearest;
use crate::loops::error::PlanError;
use crate::model::Manifest;

/// Generated file in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFile {
    /// Path with `/` separators. In the results of [`Target`] it is relative to the target's folder: `layers/a.h`. In
    /// the results of [`Emitter`] and of [`Compiler`](crate::Compiler) it is relative to the output folder:
    /// `c/layers/a.h`.
    pub path: String,
    /// Complete text. The first line is a comment with the content hash of [`content_hash`], unless the file format has
    /// no comments.
    pub text: String,
}

/// Fuel of a rendering with built-in templates only, in minijinja instructions; `FUEL_PER_TENSOR` is added per tensor,
/// view, conversion and kernel.
const FUEL: u64 = 2_000_000;
const FUEL_PER_TENSOR: u64 = 50_000;
/// Fuel in place of `FUEL` if the project has templates of its own, in minijinja instructions.
const USER_FUEL: u64 = 1_000_000;

/// Target with compiled templates, which generates the files of any number of manifests.
#[derive(Debug)]
pub struct Target<'a> {
    settings: &'a Settings,
    templates: &'a Templates,
    /// Compiled templates; set by the first call of [`Self::files`].
    frames: OnceLock<Frames<'a>>,
    /// Hash of the texts of all templates.
    texts: blake3::Hash,
}

impl<'a> Target<'a> {
    /// Creates a target; its templates are compiled later, by the first call of [`Self::files`].
    pub fn new(settings: &'a Settings, templates: &'a Templates) -> Self {
        let built_in = render::BUILT_IN.iter().filter_map(|(name, _)| templates.get(name));
        let user = templates.user.iter().flat_map(|(name, text)| [name.as_str(), text]);
        let mut texts = blake3::Hasher::new();
        for text in built_in.chain(user) {
            texts.update(text.as_bytes());
        }
        Self { settings, templates, frames: OnceLock::new(), texts: texts.finalize() }
    }

    fn frames(&self) -> &Frames<'a> {
        self.frames.get_or_init(|| {
            let name = self.settings.language.name;
            Frames::new(self.templates, name, Dialects::of(name, self.settings.dialect.index))
        })
    }

    /// Template model of a manifest for this target, with an empty `stamp`. `out_stem` is as in [`Target::files`].
    ///
    /// # Errors
    /// The diagnostics of [`Target::files`], except those raised while a template is rendered.
    pub(crate) fn unit(
        &self,
        manifest: &Manifest,
        out_stem: &str,
    ) -> Result<model::Unit, Vec<Diagnostic>> {
        let Self { settings, templates, .. } = self;
        let used = wanted(settings, out_stem, manifest.needs_mpi());
        let unreadable: Vec<Diagnostic> =
            used.iter().filter_map(|(name, _)| templates.unreadable(name)).collect();
        if !unreadable.is_empty() {
            return Err(unreadable);
        }
        if let Some(fault) = settings.own.as_ref().and_then(|own| missing(own, templates)) {
            return Err(vec![fault]);
        }
        unit::build(manifest, settings, out_stem)
    }

    /// Files generated from one manifest. `out_stem` is the path of the header without extension, with `/` separators:
    /// `layers/a` gives `layers/a.h`, `layers/a.c`, `tests/layers/a_test.c`.
    ///
    /// # Errors
    /// The diagnostics of the first step that fails: `padding::fill`, `name::collision`, `limit::generated`,
    /// `limit::index_type`, `limit::choice`, `target::*`, `template::*`.
    pub fn files(
        &self,
        manifest: &Manifest,
        out_stem: &str,
    ) -> Result<Vec<GeneratedFile>, Vec<Diagnostic>> {
        let Self { settings, templates, texts, .. } = self;
        let (unit, frames) = rayon::join(|| self.unit(manifest, out_stem), || self.frames());
        let mut unit = unit?;
        unit.stamp = stamp(&unit, texts).map_err(|error| {
            let place = FileSpan::new(&Arc::from(manifest.path.as_str()), 0..0);
            vec![limit(place, &manifest.path, &error.to_string()).help(OUR_FAULT)]
        })?;
        let model = unit.to_template_value();
        let file = |(name, path): (String, String)| {
            let text = frames.render(&name, model.clone(), fuel(manifest, templates))?;
            let text = if settings.own.is_some() { ended(text) } else { tidy(&text) };
            Ok(GeneratedFile { text: content_hash::seal(&path, &text), path })
        };
        let files: Vec<Result<GeneratedFile, Diagnostic>> =
            wanted(settings, out_stem, manifest.needs_mpi()).into_par_iter().map(file).collect();
        let (mut outputs, mut faults) = (Vec::new(), Vec::new());
        for file in files {
            match file {
                Ok(output) => outputs.push(output),
                Err(fault) => faults.push(fault),
            }
        }
        if faults.is_empty() { Ok(outputs) } else { Err(faults) }
    }
}

/// Generates the files of a single manifest; see [`Target::files`].
///
/// # Errors
/// The diagnostics of [`Target::files`].
pub fn emit(
    manifest: &Manifest,
    settings: &Settings,
    out_stem: &str,
    templates: &Templates,
) -> Result<Vec<GeneratedFile>, Vec<Diagnostic>> {
    Target::new(settings, templates).files(manifest, out_stem)
}

/// Diagnostic for a custom target whose template does not exist; `None` if the template exists.
fn missing(own: &OwnFile, templates: &Templates) -> Option<Diagnostic> {
    if templates.get(&own.template).is_some() {
        return None;
    }
    let message = format!("there is no template `{}`", own.template.escape_debug());
    let fault = Diagnostic::error(Code::TemplateMissing, message, own.place.clone(), "");
    let known = templates.user.keys().map(String::as_str);
    let near = nearest(&own.template, known.chain(render::BUILT_IN.iter().map(|row| row.0)));
    Some(match near {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault.help("templates lie below `templates-dir`, which is `templates` by default"),
    })
}

/// Paths of the generated files of a manifest, in the order of [`Target::files`], whose `out_stem` is the argument.
/// `exchanges` is true if the manifest converts sharded tensors; nothing else in the manifest changes the paths.
pub fn paths(settings: &Settings, out_stem: &str, exchanges: bool) -> Vec<String> {
    wanted(settings, out_stem, exchanges).into_iter().map(|(_, path)| path).collect()
}

/// Pairs (template name, output path) of the files to generate for a manifest. `out_stem` and `exchanges` are as in
/// [`paths`].
fn wanted(settings: &Settings, out_stem: &str, exchanges: bool) -> Vec<(String, String)> {
    if let Some(own) = &settings.own {
        return vec![(own.template.clone(), format!("{out_stem}.{}", own.extension))];
    }
    let emit = settings.parts();
    let asked = |part: Option<Part>| match part {
        Some(Part::Reshard) => emit.pack && exchanges,
        Some(Part::ReshardTest) => emit.test && exchanges,
        Some(Part::Pack) => emit.pack,
        Some(Part::Test) => emit.test,
        Some(Part::Bench) => emit.bench,
        Some(Part::Constants | Part::Index | Part::Macros) | None => true,
    };
    let files = settings.language.files.iter().filter(|file| asked(file.part));
    files.map(|file| (file.template.to_owned(), file.path(out_stem))).collect()
}

fn fuel(manifest: &Manifest, templates: &Templates) -> u64 {
    let views = manifest.views.len();
    let tensors =
        manifest.tensors.len().saturating_add(views).saturating_add(manifest.converts.len());
    let tensors = tensors.saturating_add(manifest.computes.len());
    let tensors = u64::try_from(tensors).unwrap_or(u64::MAX);
    let base = if templates.user.is_empty() { FUEL } else { USER_FUEL };
    base.saturating_add(tensors.saturating_mul(FUEL_PER_TENSOR))
}

/// Stamp of the generated files: `0x` and 8 hexadecimal digits of a 31-bit hash of the model and of the template texts.
/// `texts` is the hash of these texts.
fn stamp(unit: &model::Unit, texts: &blake3::Hash) -> Result<String, postcard::Error> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&postcard::to_allocvec(unit)?);
    hasher.update(texts.as_bytes());
    Ok(short_hash(&hasher))
}

/// The first 31 bits of a hash, so that the value fits an `int` of every target: `0x` and 8 hexadecimal digits.
fn short_hash(hasher: &blake3::Hasher) -> String {
    let hex = hasher.finalize().to_hex();
    let value = u32::from_str_radix(hex.as_str().get(..8).unwrap_or("0"), 16).unwrap_or(0);
    format!("0x{:08X}", value & 0x7FFF_FFFF)
}

/// Text of a custom target's file, with a line feed at its end unless it is empty; the text is otherwise unchanged.
fn ended(text: String) -> String {
    if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" }
}

/// Text of a built-in target's file: without trailing blanks, without empty lines at the start, at the end or after
/// another empty line, and with one line feed at the end unless it is empty. [`wrap::wrap`] breaks lines of more than
/// [`wrap::COLUMNS`] columns.
fn tidy(text: &str) -> String {
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let mut tidied = String::with_capacity(text.len().saturating_add(1));
    // Unchanged lines are copied in one piece, which starts at byte `kept`.
    let (mut kept, mut start, mut empty) = (0, 0, true);
    let mut is_directive = false;
    let unended = (!text.ends_with('\n')).then_some(text.len());
    for end in memchr::memchr_iter(b'\n', text.as_bytes()).chain(unended) {
        let line = part(start, end);
        let trimmed = match line.as_bytes().last() {
            Some(b'!'..=b'~') => line,
            _ => line.trim_end(),
        };
        let is_dropped = trimmed.is_empty() && empty;
        empty = trimmed.is_empty();
        let next = end.saturating_add(1);
        is_directive = is_directive || trimmed.trim_start().starts_with('#');
        let is_long = trimmed.len() > wrap::COLUMNS;
        if is_dropped || is_long || trimmed.len() < line.len() {
            tidied.push_str(part(kept, start));
            if is_long {
                wrap::wrap(trimmed, is_directive, &mut tidied);
            } else if !is_dropped {
                tidied.push_str(trimmed);
                tidied.push('\n');
            }
            kept = next;
        }
        is_directive &= trimmed.ends_with('\\');
        start = next;
    }
    tidied.push_str(text.get(kept..).unwrap_or_default());
    if !tidied.is_empty() && !tidied.ends_with('\n') {
        tidied.push('\n');
    }
    while tidied.ends_with("\n\n") {
        tidied.pop();
    }
    tidied
}

fn limit(at: FileSpan, name: &str, what: &str) -> Diagnostic {
    let message = format!("`{name}` cannot be generated: {what}");
    Diagnostic::error(Code::LimitGenerated, message, at, "")
}

/// Diagnostic for a plan that cannot be made. `at` is its location, and `name` the tensor, relayout or kernel. If a
/// request of the manifest is not possible ([`PlanError::Choice`]), the location is that of the request instead.
pub(crate) fn plan_fault(at: FileSpan, name: &str, error: &PlanError) -> Diagnostic {
    if let Some(refusal) = error.refusal() {
        return refusal;
    }
    let help = match error {
        PlanError::Depth | PlanError::Expr(_) => {
            "take steps of the layout out, or write what several do as one `map`"
        }
        PlanError::Literal { .. } => "make an extent or a factor smaller",
        PlanError::Macro { .. } => "leave macros out: `macros = false` in `[target.c]`",
        PlanError::Scope | PlanError::Choice { .. } => OUR_FAULT,
    };
    limit(at, name, &error.to_string()).help(help)
}

/// Help of a diagnostic that only a fault of layoutc can cause.
const OUR_FAULT: &str =
    "this is a fault of layoutc, not of the manifest: please report it with the manifest";
