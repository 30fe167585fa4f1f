//! Compiler from layout manifests to generated source. Reads no file, no clock and no environment.
//!
//! text → syntax ([`manifest`]) → model ([`check()`]) → plan ([`plan`]) → source ([`emit()`]). Each stage takes its
//! input by reference, returns a new value and collects all diagnostics. [`run`] executes the plan of a tensor on
//! buffers in memory.

pub mod base;
pub mod check;
pub mod config;
pub mod editor;
pub mod emit;
pub mod env;
#[cfg(feature = "import")]
pub mod import;
pub mod manifest;
pub mod model;
pub mod outputs;
pub mod plan;
pub mod query;
pub mod run;
pub mod solve;

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

pub use check::{CheckedProject, syntax_key};
pub use env::sources::{LoadError, MemorySources, SourceLoader};
pub use outputs::{output_paths, text_needs_mpi, umbrella_path};

use base::codes::Code;
use base::diagnostic::{Diagnostic, FileSpan};
use check::CheckOptions;
use config::{Config, CudaIndex, EmitKind, IndexType, OpenClIndex, TargetCustom};
use emit::dialect::{C, C_INT32, CUDA, CUDA_INT64, OPENCL, OPENCL_INT64};
use emit::language::{C_FILES, CUDA_FILES, OPENCL_FILES};
use emit::{OwnFile, Part, Settings, Target, Templates};
use env::{CompileEnv, CompileStage, NoObserver, Observer};
use model::Manifest;
use outputs::{common_folder, stem, umbrella_header};
use plan::Naming;
use plan::cores::Cores;
use plan::lower::PlanError;
use plan::nest::{Moves, Ways};

/// Generated file, not written yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFile {
    /// Path below the output folder, with `/`; starts with the target's folder.
    pub path: String,
    /// Text, with its seal ([`content_hash`](base::content_hash)).
    pub text: String,
}

/// Checks and proves the manifests at `paths` and those they import by `use`, and verifies their graphs.
pub fn check(sources: &dyn SourceLoader, paths: &[String], config: &Config) -> CheckedProject {
    check_with(&CompileEnv::new(sources), paths, config)
}

/// Like [`check()`], with a result cache and an observer.
pub fn check_with(host: &CompileEnv<'_>, paths: &[String], config: &Config) -> CheckedProject {
    check_with_options(host, paths, config, CheckOptions::default())
}

/// Like [`check_with`], with recording and a tensor cache.
pub fn check_with_options(
    host: &CompileEnv<'_>,
    paths: &[String],
    config: &Config,
    aside: CheckOptions<'_>,
) -> CheckedProject {
    with_graph_checks(check::check(host, paths, config, aside))
}

/// Adds the diagnostics of graphs with fixed or unsatisfiable layouts.
fn with_graph_checks(mut checked: CheckedProject) -> CheckedProject {
    let CheckedProject { manifests, units, diagnostics } = &mut checked;
    for (manifest, unit) in manifests.iter().zip(units) {
        let mut found: Vec<Diagnostic> = manifest.graphs.iter().flat_map(solve::verify).collect();
        found.extend(manifest.graphs.iter().filter_map(solve::impossible).map(|fault| *fault));
        if !found.is_empty() {
            diagnostics.extend(found.iter().cloned());
            unit.diagnostics.extend(found);
            check::sort(&mut unit.diagnostics);
        }
    }
    check::sort(diagnostics);
    checked
}

/// Generates the files of a checked project for every configured target. `templates` are the project's own templates by
/// their path below the templates folder: `c/header.h.j2`.
///
/// # Errors
/// All planning and template diagnostics, sorted as [`check()`] sorts.
pub fn emit(
    checked: &CheckedProject,
    config: &Config,
    templates: &BTreeMap<String, String>,
) -> Result<Vec<GeneratedFile>, Vec<Diagnostic>> {
    let templates = own_templates(config, templates.clone(), BTreeMap::new());
    let names = config.target.names();
    let work: Vec<EmitJob<'_>> = names
        .iter()
        .flat_map(|target| checked.manifests.iter().map(|manifest| EmitJob { target, manifest }))
        .collect();
    let outputs = emit_each(&work, config, &templates, &NoObserver)?;
    let mut outputs: Vec<GeneratedFile> = outputs.into_iter().flatten().collect();
    let paths: Vec<&str> = outputs.iter().map(|output| output.path.as_str()).collect();
    let header = umbrella(config, &paths, &templates).map_err(|fault| vec![fault])?;
    outputs.extend(header);
    Ok(outputs)
}

/// Imports the graph of an ONNX model as the text of a manifest.
///
/// # Errors
/// A requested graph, function or tensor is missing, or the model has a feature that graphs do not support.
#[cfg(feature = "import")]
pub fn import_onnx(
    file: Vec<u8>,
    options: &import::ImportOptions<'_>,
) -> Result<import::ImportedGraph, import::ImportError> {
    let is_reserved =
        |name: &str| [&C, &OPENCL, &CUDA].iter().any(|own| own.reserved(name).is_some());
    import::import(file.into(), options, &is_reserved)
}

/// Project templates, the paths of those that are not UTF-8 (with the number of valid bytes), and their folder from the
/// configuration.
pub fn own_templates(
    config: &Config,
    user: BTreeMap<String, String>,
    unreadable: BTreeMap<String, usize>,
) -> Templates {
    Templates { user, unreadable, folder: config.project.templates_dir.clone() }
}

/// Manifest to generate for one target.
#[derive(Debug, Clone, Copy)]
pub struct EmitJob<'a> {
    /// Name of the target.
    pub target: &'a str,
    /// Checked manifest.
    pub manifest: &'a Manifest,
}

/// Files of each job, in the order of the jobs.
///
/// # Errors
/// All planning and template diagnostics, sorted as [`check()`] sorts.
pub fn emit_each(
    work: &[EmitJob<'_>],
    config: &Config,
    templates: &Templates,
    observer: &dyn Observer,
) -> Result<Vec<Vec<GeneratedFile>>, Vec<Diagnostic>> {
    let common = common_folder(&config.project.sources);
    let settings = target_settings(config);
    let is_wanted = |settings: &&Settings| work.iter().any(|w| w.target == settings.target);
    let targets: BTreeMap<&str, Target<'_>> = settings
        .iter()
        .filter(is_wanted)
        .map(|settings| (settings.target.as_str(), Target::new(settings, templates)))
        .collect();
    let results: Vec<Result<Vec<GeneratedFile>, Vec<Diagnostic>>> = work
        .par_iter()
        .map(|work| {
            let Some(target) = targets.get(work.target) else { return Ok(Vec::new()) };
            observer.begin();
            let stem = stem(&work.manifest.path, &common);
            let manifest = work.manifest.for_target(work.target);
            let files = match manifest.graphs.as_slice() {
                [] => target.files(&manifest, &stem),
                _ => solve::lay_out(&manifest).and_then(|manifest| target.files(&manifest, &stem)),
            };
            observer.end(CompileStage::Emit, &work.manifest.path);
            Ok(files?
                .into_iter()
                .map(|f| GeneratedFile {
                    path: format!("{}/{}", work.target, f.path),
                    text: f.text,
                })
                .collect())
        })
        .collect();
    let (mut outputs, mut faults) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(files) => outputs.push(files),
            Err(found) => faults.extend(found),
        }
    }
    // A diagnostic that all targets share is reported once.
    check::sort(&mut faults);
    if faults.is_empty() { Ok(outputs) } else { Err(faults) }
}

/// Diagnostics that [`emit()`] would report, without rendering: target limits, planning, missing templates. Excludes
/// errors raised by a project's template while it is rendered.
pub fn emit_diagnostics(
    work: &[EmitJob<'_>],
    config: &Config,
    templates: &Templates,
) -> Vec<Diagnostic> {
    let common = common_folder(&config.project.sources);
    let settings = target_settings(config);
    let of = |work: &EmitJob<'_>| {
        let own = |settings: &&Settings| settings.target == work.target;
        let Some(settings) = settings.iter().find(own) else { return Vec::new() };
        let stem = stem(&work.manifest.path, &common);
        let manifest = work.manifest.for_target(work.target);
        let target = Target::new(settings, templates);
        let refused = match manifest.graphs.as_slice() {
            [] => target.unit(&manifest, &stem).map(drop),
            _ => solve::lay_out(&manifest)
                .and_then(|manifest| target.unit(&manifest, &stem).map(drop)),
        };
        refused.err().unwrap_or_default()
    };
    let mut faults: Vec<Diagnostic> = work.par_iter().flat_map_iter(of).collect();
    check::sort(&mut faults);
    faults
}

/// Errors of `convert` schedules that the conversion cannot follow, as [`emit()`] reports them. Schedules apply to C.
pub fn check_convert_schedules(manifest: &Manifest) -> Vec<Diagnostic> {
    let avoid = |_: &str| false;
    let ways = Ways { cores: Cores::One, moves: Moves::Blocks };
    let naming = Naming { prefix: "", avoid: &avoid, ways };
    let chosen = manifest.converts.iter().filter(|convert| !convert.choices.is_empty());
    let refused = chosen.filter_map(|convert| match plan::convert(manifest, convert, &naming) {
        Err(error @ PlanError::Choice { .. }) => {
            let name = manifest.tensors.get(convert.from).map_or("", |tensor| &tensor.name);
            Some(emit::plan_fault(convert.place.clone(), name, &error))
        }
        _ => None,
    });
    refused.collect()
}

/// Umbrella header, which includes the headers of all manifests; `None` if the configuration has none. `outputs` are
/// the paths of all other outputs.
///
/// # Errors
/// `output::collision` with another output, and template errors.
#[expect(clippy::result_large_err, reason = "one diagnostic, on the error path")]
pub fn umbrella(
    config: &Config,
    outputs: &[&str],
    templates: &Templates,
) -> Result<Option<GeneratedFile>, Diagnostic> {
    let Some((c, path)) = umbrella_header(config) else { return Ok(None) };
    let below = |output: &&str| output.strip_prefix("c/").map(str::to_owned);
    let others: Vec<String> = outputs.iter().filter_map(below).collect();
    if let Some(other) = others.iter().find(|other| other.eq_ignore_ascii_case(&path)) {
        let place = FileSpan::new(&Arc::from("layoutc.toml"), c.umbrella_span.clone());
        let message =
            format!("two outputs have the same path: the umbrella header and `c/{other}`");
        let fault = Diagnostic::error(Code::OutputCollision, message, place, "");
        return Err(fault.help("give the umbrella header another name"));
    }
    let suffix = C_FILES.files.first().map_or("", |file| file.suffix);
    // Headers that need MPI are left out: most users of the umbrella header do not have MPI.
    let needs_mpi = |path: &str| {
        path.strip_suffix("_mpi.h").is_some_and(|stem| others.contains(&format!("{stem}{suffix}")))
    };
    let is_included = |path: &&String| path.ends_with(suffix) && !needs_mpi(path);
    let headers: Vec<String> = others.iter().filter(is_included).cloned().collect();
    let header = emit::umbrella(&path, &headers, &config.project.prefix, templates)?;
    Ok(Some(GeneratedFile { path: format!("c/{}", header.path), text: header.text }))
}

/// Emission settings of each target in the configuration.
fn target_settings(config: &Config) -> Vec<Settings> {
    let prefix = &config.project.prefix;
    let target = &config.target;
    let mut all = Vec::new();
    if let Some(c) = &target.c {
        let dialect = match c.index_type {
            IndexType::Int64 => &C,
            IndexType::Int32 => &C_INT32,
        };
        let macros = c.macros.then_some(Part::Macros);
        let emit = c.emit.iter().copied().map(output_kind).chain(macros).collect();
        let standard = c.standard.name().to_owned();
        let cores = if c.openmp { Cores::All } else { Cores::One };
        all.push(Settings { dialect, standard, emit, cores, ..Settings::of(&C_FILES) });
    }
    if let Some(opencl) = &target.opencl {
        let dialect = match opencl.index_type {
            OpenClIndex::Int => &OPENCL,
            OpenClIndex::Long => &OPENCL_INT64,
        };
        let [width, height] = opencl.image_max;
        let image_max = OPENCL_FILES.image_max.map(|[_, _, images]| [width, height, images]);
        let standard = "1.2".to_owned();
        all.push(Settings { dialect, standard, image_max, ..Settings::of(&OPENCL_FILES) });
    }
    if let Some(cuda) = &target.cuda {
        let dialect = match cuda.index_type {
            CudaIndex::Int => &CUDA,
            CudaIndex::Int64 => &CUDA_INT64,
        };
        let standard = cuda.arch.join(", ");
        all.push(Settings { dialect, standard, ..Settings::of(&CUDA_FILES) });
    }
    all.extend(target.own.iter().map(|(name, own)| own_target(name, own)));
    for settings in &mut all {
        prefix.clone_into(&mut settings.prefix);
    }
    all
}

/// Settings of a custom target, which renders the same template model as C.
fn own_target(name: &str, own: &TargetCustom) -> Settings {
    let place = FileSpan::new(&Arc::from("layoutc.toml"), own.span.clone());
    let (template, extension) = (own.template.clone(), own.extension.clone());
    Settings {
        target: name.to_owned(),
        own: Some(OwnFile { template, extension, place }),
        ..Settings::c()
    }
}

fn output_kind(emit: EmitKind) -> Part {
    match emit {
        EmitKind::Constants => Part::Constants,
        EmitKind::Index => Part::Index,
        EmitKind::Pack => Part::Pack,
        EmitKind::Test => Part::Test,
        EmitKind::Bench => Part::Bench,
    }
}
