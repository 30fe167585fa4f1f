//! Checks of manifests and generation of files in memory, which write nothing to disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::{Diagnostic, Label, Severity, sort};
use layoutc_compiler::check::CompilationUnit;
use layoutc_compiler::config::Config;
use layoutc_compiler::emit::{EmitJob, Emitter, GeneratedFile, Templates};
use layoutc_compiler::env::{CacheKey, CompileEnv, library};
use layoutc_compiler::model::Manifest;
use layoutc_compiler::{Compiler, LoadError, syntax_key};
use rayon::prelude::*;

use crate::command_error::CommandError;
use crate::paths::relative_to_cwd;
use crate::project::Project;
use crate::project::files::{self, FileReadError};
use crate::project::read_set::ReadSet;
use crate::report::Report;
use crate::state::fact::{BuildFact, CheckRecord, ContentHash, EmitRecord, Fingerprint};
use crate::state::memo::DiskMemo;
use crate::template_sandbox;

use super::job::BuildJob;
use super::project_build::BuildContext;
use super::scan::{BuildScan, RUNTIME, UMBRELLA, has_umbrella, template_files};
use super::{cache_key, summary_rows};

/// Checked manifests and generated files of a build, in memory.
#[derive(Debug, Default)]
pub(crate) struct BuildProducts {
    /// Manifests that this build checked, by path relative to the root of the project.
    pub(super) manifests: BTreeMap<String, Manifest>,
    /// Results of the checks of valid manifests, by path relative to the root of the project.
    pub(super) checked: BTreeMap<String, ManifestCheck>,
    /// Generated files, by pairs of code-generation target and path of the manifest; the path is empty for the umbrella
    /// header.
    pub(super) emitted: BTreeMap<(String, String), TargetFiles>,
    /// Pairs of path, relative to the root of the project, and fingerprint: the manifests that the checks read.
    inputs: Vec<(String, Fingerprint)>,
    /// Hash of the names and texts of the project's templates.
    templates: ContentHash,
}

/// Result of the check of a valid manifest.
#[derive(Debug)]
pub(super) struct ManifestCheck {
    /// Cache key of the check: hash of everything that its result depends on.
    pub(super) key: ContentHash,
    /// Paths of the manifests that the manifest uses, directly or indirectly, relative to the root of the project;
    /// without those of the library.
    pub(super) uses: Vec<String>,
    /// Paths of the files that must not exist, relative to the root of the project.
    absent: Vec<String>,
    tensors: u64,
    /// Warnings of the check, a list of `Diagnostic` encoded by postcard; empty if there are none.
    warnings: Vec<u8>,
}

impl ManifestCheck {
    fn fact(&self) -> CheckRecord<'_> {
        let [uses, absent] =
            [&self.uses, &self.absent].map(|paths| paths.iter().map(String::as_str).collect());
        let (key, tensors, warnings) = (self.key, self.tensors, self.warnings.as_slice());
        CheckRecord { key, uses, absent, tensors, warnings }
    }
}

/// Files generated from a manifest for one code-generation target, such as `c`.
#[derive(Debug)]
pub(super) struct TargetFiles {
    /// Cache key of the files: hash of everything that they depend on.
    key: ContentHash,
    /// Generated files, each with the hash of its text. Paths are relative to the output folder.
    pub(super) outputs: Vec<(GeneratedFile, ContentHash)>,
}

impl TargetFiles {
    fn new(key: ContentHash, outputs: Vec<GeneratedFile>) -> Self {
        let hashed = |output: GeneratedFile| {
            let hash = ContentHash::of(output.text.as_bytes());
            (output, hash)
        };
        Self { key, outputs: outputs.into_iter().map(hashed).collect() }
    }
}

/// Manifests of `scan` that this build checks, and the results of their checks, without generated files. Stale
/// manifests, which have no valid cached check, are all checked first. Fresh manifests, which have one, are checked
/// only if files must be generated from them and no stale manifest has errors. The diagnostics of all requested
/// manifests are added to the report of `desk`; those of a fresh manifest that is not checked come from its cached
/// check.
pub(super) fn check(
    job: &BuildJob<'_>,
    scan: &BuildScan<'_>,
    memo: &DiskMemo,
    desk: &mut BuildContext<'_>,
) -> Result<BuildProducts, CommandError> {
    let mut checking = CheckProgress {
        made: BuildProducts { templates: scan.templates, ..BuildProducts::default() },
        diagnostics: Vec::new(),
        texts: BTreeSet::new(),
    };
    checking.check(&scan.stale, job, scan, memo, desk)?;
    // Manifests with a valid cached check are only checked to generate their files, once the others have no errors.
    let work = scan.work.iter().map(|(_, manifest)| *manifest);
    let again: BTreeSet<&str> = if has_errors(&checking.diagnostics) {
        BTreeSet::new()
    } else {
        work.filter(|manifest| scan.fresh.contains_key(manifest)).collect()
    };
    let silent = scan.fresh.iter().filter(|(manifest, _)| !again.contains(*manifest));
    checking.diagnostics.extend(silent.flat_map(|(_, fresh)| &fresh.warnings).cloned());
    let again: Vec<String> = again.into_iter().map(str::to_owned).collect();
    checking.check(&again, job, scan, memo, desk)?;
    let CheckProgress { made, mut diagnostics, mut texts } = checking;
    sort(&mut diagnostics);
    read_texts(job, &diagnostics, desk.shown, &mut texts, &mut desk.report);
    desk.report.add(diagnostics.iter().map(|d| job.project.with_shown_paths(d)));
    Ok(made)
}

/// Products and diagnostics of the manifests that were checked so far.
struct CheckProgress {
    made: BuildProducts,
    diagnostics: Vec<Diagnostic>,
    /// Paths of the files whose texts are in the report.
    texts: BTreeSet<String>,
}

impl CheckProgress {
    fn check(
        &mut self,
        manifests: &[String],
        job: &BuildJob<'_>,
        scan: &BuildScan<'_>,
        memo: &DiskMemo,
        desk: &mut BuildContext<'_>,
    ) -> Result<(), CommandError> {
        if manifests.is_empty() {
            return Ok(());
        }
        desk.meter.expect(manifests.len() * 2);
        let sources = files::ProjectFiles::new(&job.project.root);
        let host = CompileEnv { sources: &sources, memo, observer: desk.meter };
        let checked = Compiler::new(host, &job.project.config).check(manifests);
        sources.note(desk.reads);
        let mut hashes = BTreeMap::new();
        for (path, text) in sources.into_texts()? {
            self.made.inputs.push((path.clone(), text.known));
            hashes.insert(path.clone(), text.known.hash);
            desk.report.text(job.project.shown(&path), text.text);
            self.texts.insert(path);
        }
        self.diagnostics.extend(checked.diagnostics.iter().cloned());
        let valid_check = |(manifest, unit): (&Manifest, &CompilationUnit)| {
            let check = manifest_check(scan, manifest, unit, &hashes)
                .filter(|_| !has_errors(&unit.diagnostics));
            Some((manifest.path.clone(), check?))
        };
        let units = checked.manifests.par_iter().zip(&checked.units);
        self.made.checked.par_extend(units.filter_map(valid_check));
        let manifests = checked.manifests.into_iter();
        self.made.manifests.extend(manifests.map(|manifest| (manifest.path.clone(), manifest)));
        Ok(())
    }
}

fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

/// Adds the texts of the files to `report` that the labels of the first `most` errors and the first `most` warnings in
/// `diagnostics` refer to. Files in `known` are skipped, and the paths of the other ones are added to `known`.
fn read_texts(
    job: &BuildJob<'_>,
    diagnostics: &[Diagnostic],
    most: usize,
    known: &mut BTreeSet<String>,
    report: &mut Report,
) {
    let shown = [Severity::Error, Severity::Warning]
        .into_iter()
        .flat_map(|severity| diagnostics.iter().filter(move |d| d.severity == severity).take(most));
    for label in shown.flat_map(|d| &d.labels) {
        if known.insert(label.place.file.to_string()) {
            read_text(job, label, report);
        }
    }
}

/// Adds the text of the file in which `label` lies to `report`, if the file can be read.
pub(super) fn read_text(job: &BuildJob<'_>, label: &Label, report: &mut Report) {
    let path = label.place.file.as_ref();
    if let Ok(text) = files::read(&job.project.root.join(path)) {
        report.text(job.project.shown(path), text.text);
    }
}

fn manifest_check(
    scan: &BuildScan<'_>,
    manifest: &Manifest,
    unit: &CompilationUnit,
    hashes: &BTreeMap<String, ContentHash>,
) -> Option<ManifestCheck> {
    // The texts of the library are part of the program, whose hash is in the key.
    let uses: Vec<&String> = unit.uses.iter().filter(|path| !library::is_library(path)).collect();
    let closure: BTreeSet<&String> = uses.iter().copied().chain([&manifest.path]).collect();
    let mut texts = Vec::new();
    for path in closure {
        texts.push((path.as_str(), hashes.get(path)?));
    }
    let warnings = match unit.diagnostics.as_slice() {
        [] => Vec::new(),
        warnings => postcard::to_allocvec(warnings).ok()?,
    };
    Some(ManifestCheck {
        key: cache_key::checked(scan.base, texts.into_iter()),
        uses: uses.into_iter().cloned().collect(),
        absent: unit.absent.clone(),
        tensors: manifest.tensors.len() as u64,
        warnings,
    })
}

/// Generates the files for all pairs of target and manifest in `scan.work`, and the umbrella header, from the checked
/// manifests in `made`, and the shared runtime if it is in `scan.work`. Stores the files in `made`. Errors, such as
/// those of planning and of templates, are added to the report of `desk`; after an error in the files of a manifest, no
/// files are stored. Templates of the project first run in the sandbox.
///
/// # Errors
/// [`CommandError::Input`] if the templates exceed the limits of the sandbox. [`CommandError::Machine`] if a template
/// cannot be read, or the sandbox cannot be started.
pub(super) fn emit(
    job: &BuildJob<'_>,
    scan: &BuildScan<'_>,
    made: &mut BuildProducts,
    desk: &mut BuildContext<'_>,
) -> Result<(), CommandError> {
    let BuildContext { meter, report, reads, .. } = desk;
    let templates = templates(job, made, reads)?;
    if !templates.user.is_empty() {
        template_sandbox::dry_run_in_child()?;
    }
    let work: Vec<(&str, &Manifest)> = scan
        .work
        .iter()
        .filter_map(|(target, manifest)| Some((*target, made.manifests.get(*manifest)?)))
        .collect();
    let units: Vec<EmitJob<'_>> =
        work.iter().map(|(target, manifest)| EmitJob { target, manifest }).collect();
    meter.expect(units.len());
    let emitter = Emitter::new(&job.project.config, &templates).observed_by(*meter);
    let emitted = match emitter.files(&units) {
        Ok(emitted) => emitted,
        Err(faults) => {
            report_emit_error(&faults, job.project, &templates, report);
            return Ok(());
        }
    };
    let files = |((target, manifest), outputs): (&(&str, &Manifest), Vec<GeneratedFile>)| {
        let checked = made.checked.get(&manifest.path)?;
        let key = cache_key::emitted(&checked.key, &made.templates, target, &manifest.path);
        let name = ((*target).to_owned(), manifest.path.clone());
        Some((name, TargetFiles::new(key, outputs)))
    };
    made.emitted = work.par_iter().zip(emitted).filter_map(files).collect();
    if has_umbrella(job)
        && let Err(fault) = emit_umbrella(job, scan, made, emitter)
    {
        report_emit_error(&[*fault], job.project, &templates, report);
    }
    if scan.work.contains(&RUNTIME) {
        match emitter.runtime() {
            Ok(header) => {
                let (target, name) = RUNTIME;
                let key = cache_key::runtime(scan.base);
                let files = TargetFiles::new(key, header.into_iter().collect());
                made.emitted.insert((target.to_owned(), name.to_owned()), files);
            }
            Err(fault) => report_emit_error(&[*fault], job.project, &templates, report),
        }
    }
    Ok(())
}

/// Generates the umbrella header of the project, which includes the C headers of all manifests, and stores it in
/// `made`. The error is a diagnostic about a template, or about another output with the path of the header.
fn emit_umbrella(
    job: &BuildJob<'_>,
    scan: &BuildScan<'_>,
    made: &mut BuildProducts,
    emitter: Emitter<'_>,
) -> Result<(), Box<Diagnostic>> {
    let (target, manifest) = UMBRELLA;
    let mut paths = Vec::new();
    for manifest in job.project.manifests.keys() {
        let new = made.emitted.get(&(target.to_owned(), manifest.clone()));
        match (new, job.log.facts.emitted((target, manifest))) {
            (Some(new), _) => paths.extend(new.outputs.iter().map(|(o, _)| o.path.as_str())),
            (None, Some(old)) => paths.extend(old.paths()),
            (None, None) => {}
        }
    }
    let key = cache_key::umbrella(scan.base, &made.templates, paths.iter().copied());
    if let Some(header) = emitter.umbrella(&paths)? {
        let name = (target.to_owned(), manifest.to_owned());
        made.emitted.insert(name, TargetFiles::new(key, vec![header]));
    }
    Ok(())
}

/// Adds `faults`, the errors of an [`Emitter`], to `report`. Also adds the texts of those `templates` to which they
/// refer.
pub(crate) fn report_emit_error(
    faults: &[Diagnostic],
    project: &Project,
    templates: &Templates,
    report: &mut Report,
) {
    for label in faults.iter().flat_map(|d| &d.labels) {
        if let Some(text) = templates.text_at(&label.place.file) {
            report.text(project.shown(&label.place.file), Arc::from(text));
        }
    }
    report.add(faults.iter().map(|d| project.with_shown_paths(d)));
}

/// Built-in templates and templates of the project of `job`. The latter are read. The states of those that are UTF-8
/// texts are added to `reads`, and a hash of the names and contents of all that can be read is stored in `made`.
fn templates(
    job: &BuildJob<'_>,
    made: &mut BuildProducts,
    reads: &mut ReadSet,
) -> Result<Templates, CommandError> {
    let (mut templates, mut unreadable) = (BTreeMap::new(), BTreeMap::new());
    let mut hashes = BTreeMap::new();
    for (name, path) in template_files(job.project)? {
        let found = template(&path)?;
        if let TemplateFile::Text(text) = found {
            hashes.insert(name.clone(), text.known.hash);
            templates.insert(name, unix(&text.text));
            reads.files.insert(path, Ok(text.known));
            continue;
        }
        if let Ok(known) = files::hash_if_changed(&path, None) {
            hashes.insert(name.clone(), known.hash);
        }
        if let TemplateFile::NotUtf8(at) = found {
            unreadable.insert(name, at);
        }
    }
    made.templates = cache_key::templates(hashes.iter().map(|(name, hash)| (name.as_str(), hash)));
    Ok(Templates::new(&job.project.config, templates, unreadable))
}

/// Built-in templates for the configuration `config`, and templates of `project`. A template of the project is named by
/// its path below the templates folder.
///
/// # Errors
/// [`CommandError::Machine`] if a template or the templates folder cannot be read.
pub(crate) fn own_of(project: &Project, config: &Config) -> Result<Templates, CommandError> {
    let (mut texts, mut unreadable) = (BTreeMap::new(), BTreeMap::new());
    for (name, path) in template_files(project)? {
        match template(&path)? {
            TemplateFile::Text(text) => drop(texts.insert(name, unix(&text.text))),
            TemplateFile::NotUtf8(at) => drop(unreadable.insert(name, at)),
            TemplateFile::Nothing => {}
        }
    }
    Ok(Templates::new(config, texts, unreadable))
}

enum TemplateFile {
    Text(files::FileText),
    /// File that is not UTF-8, with the byte offset of the first invalid byte. It is an error only if the template is
    /// used, because it may be an image or the backup of an editor.
    NotUtf8(usize),
    /// Path that cannot be a template: not a regular file, too large, or removed meanwhile.
    Nothing,
}

/// Reads the file at `path` below the templates folder, which need not be a template.
///
/// # Errors
/// [`CommandError::Machine`] if a system call fails.
fn template(path: &Path) -> Result<TemplateFile, CommandError> {
    match files::read(path) {
        Ok(text) => Ok(TemplateFile::Text(text)),
        Err(FileReadError::Refused(LoadError::NotUtf8 { valid_up_to })) => {
            Ok(TemplateFile::NotUtf8(valid_up_to))
        }
        Err(FileReadError::Refused(_)) => Ok(TemplateFile::Nothing),
        Err(error) => {
            let (shown, reason) = (relative_to_cwd(path), error.reason());
            let message = format!("cannot read the template `{shown}`: {reason}");
            Err(CommandError::Machine(Box::new(Diagnostic::without_span(Code::OutputIo, message))))
        }
    }
}

/// Text without a byte order mark, and with line feeds instead of CRLF line ends.
fn unix(text: &str) -> String {
    text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n")
}

/// Facts for the build log about the inputs, the manifests, the generated files and the output folder of a build.
/// Fingerprints of outputs on disk are not included. If `is_written` is false, because the generated files were not
/// written, facts about them and about the output folder are not included either.
pub(super) fn facts<'m>(
    scan: &'m BuildScan<'_>,
    made: &'m BuildProducts,
    is_written: bool,
) -> Vec<BuildFact<'m>> {
    let inputs = scan.hints.iter().chain(&made.inputs);
    let mut facts: Vec<BuildFact<'_>> =
        inputs.map(|(path, known)| BuildFact::Input(path, *known)).collect();
    facts.extend(
        made.checked.iter().map(|(manifest, check)| BuildFact::Checked(manifest, check.fact())),
    );
    for ((target, manifest), files) in made.emitted.iter().filter(|_| is_written) {
        let known = |hash: &ContentHash| Fingerprint { stat: None, hash: *hash };
        let outputs = files.outputs.iter().map(|(file, hash)| (file.path.as_str(), known(hash)));
        let emitted = EmitRecord { key: files.key, outputs: outputs.collect() };
        facts.push(BuildFact::Emitted(target, manifest, emitted));
    }
    if is_written && !scan.swept.is_empty() {
        let swept = scan.swept.iter().map(|(folder, stat)| (folder.as_str(), *stat));
        facts.push(BuildFact::Swept(swept.collect()));
    }
    facts
}

/// Cache keys that the next build may look up in the memo. They belong to the parsed texts, the summary rows and the
/// layout ABI of all manifests in the log and in `made`. The memo may drop entries with other keys.
pub(super) fn live(job: &BuildJob<'_>, made: &BuildProducts) -> BTreeSet<CacheKey> {
    let facts = &job.log.facts;
    let known = facts.inputs.values().chain(made.inputs.iter().map(|(_, known)| known));
    let texts = known.map(|known| &known.hash);
    let checked = facts.checked.values().map(|checked| checked.key);
    let checked = checked.chain(made.checked.values().map(|check| check.key));
    let lines = checked.flat_map(|key| summary_rows::keys(&key));
    texts.map(|hash| syntax_key(&hash.0)).chain(lines).collect()
}
