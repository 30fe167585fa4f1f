//! Scan of a project. It determines which manifests and outputs are up to date, and which must be checked, generated or
//! removed. Only files that may have changed are read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::emit::outputs::runtime_path;
use rayon::prelude::*;

use crate::command_error::CommandError;
use crate::output::{ExistingOutput, ExpectedOutput, OutputSurvey, OverwritePolicy, survey};
use crate::paths::{normal, slashed};
use crate::project::files::{hash_if_changed, hash_if_changed_up_to};
use crate::project::read_set::{FileState, ReadSet};
use crate::project::{CONFIG, Project, file_tree};
use crate::state::fact::{BuildFacts, ContentHash, EmitRecord, Fingerprint, PathSet};
use crate::state::stat::FileStat;

use super::cache_key::{self, BaseHashes};
use super::job::{BuildJob, below};
use super::orphans::OrphanCandidates;
use super::read_cache::{AT_ONCE, ManifestMap, ManifestReads, with_uses};

/// Name under which the build log contains the layoutc binary as an input. No file can have this name.
const PROGRAM: &str = "\0program";
/// Unit of generation of the umbrella header. The path of its manifest is empty, because the header includes the C
/// headers of all manifests.
pub(super) const UMBRELLA: EmitUnit<'static> = ("c", "");

/// Unit of generation of the header with the shared runtime, which depends on no manifest. No manifest can have its path.
pub(super) const RUNTIME: EmitUnit<'static> = ("c", "\0runtime");

/// Unit of generation: the files that are generated from one manifest for one code-generation target. It is a pair of
/// the name of the target and the path of the manifest.
pub(super) type EmitUnit<'a> = (&'a str, &'a str);

/// Result of the scan of a project: the cached results and outputs that are up to date, and the work that remains.
#[derive(Debug)]
pub(crate) struct BuildScan<'a> {
    /// Hashes of the inputs on which all results of the project depend.
    pub(super) base: BaseHashes,
    /// Hash of the names and texts of the project's templates.
    pub(super) templates: ContentHash,
    /// Cached checks that are still valid, by path of the manifest.
    pub(super) fresh: ManifestMap<'a, ValidCheck>,
    /// Paths of the manifests that must be checked, because the log has no valid check of them.
    pub(super) stale: Vec<String>,
    /// Units (code-generation target and manifest) whose files must be generated.
    pub(super) work: Vec<EmitUnit<'a>>,
    /// Units (code-generation target and manifest) whose files are up to date.
    up_to_date: Vec<EmitUnit<'a>>,
    /// State of the file on disk at each output path of the up-to-date units. A file with the fingerprint in the log is
    /// omitted.
    pub(super) on_disk: OutputSurvey,
    /// Names and fingerprints of the inputs for which the log does not have the current fingerprint.
    pub(super) hints: Vec<(String, Fingerprint)>,
    /// Files in the output folder that are candidates for removal, as outputs that are no longer generated.
    pub(super) found: OrphanCandidates,
    /// Paths of outputs that are no longer generated, relative to the output folder. Empty while files must be
    /// generated, because the set of outputs is not known before.
    pub(super) left_over: Vec<String>,
    /// Pairs of path and metadata: the folders in the output folder, if they contain no other files than requested
    /// outputs. Empty if there are other files. Also empty, for example, if files must be generated, if the log has
    /// these folders already, or if a folder changed too recently for its metadata to show the next change.
    pub(super) swept: Vec<(String, FileStat)>,
    /// True if the output folder needs no change: its swept part contains no other files than the outputs in the log,
    /// and these are the outputs of this build, all up to date.
    pub(super) is_same: bool,
    is_littered: bool,
}

/// Check result of a manifest in the log that is still valid, because the inputs of its cache key are unchanged.
#[derive(Debug)]
pub(super) struct ValidCheck {
    pub(super) key: ContentHash,
    pub(super) warnings: Vec<Diagnostic>,
}

impl<'a> BuildScan<'a> {
    /// Scans the inputs and outputs of `job`. Adds the states of the templates to `reads`, and, unless `reads` is
    /// brief, those of the manifests that were looked at. `strictness` is the policy for output files that layoutc did
    /// not write or that were edited. `prefetched` has the file states of the manifests that were read ahead.
    pub(super) fn take(
        job: &BuildJob<'a>,
        strictness: OverwritePolicy,
        prefetched: &ManifestReads<'_>,
        reads: &mut ReadSet,
    ) -> Result<Self, CommandError> {
        let mut inputs = InputScan { job, hints: Vec::new() };
        let base = inputs.base(reads)?;
        let templates = inputs.templates(reads)?;
        let texts = inputs.manifests(prefetched);
        let (validity, found) = rayon::join(
            || check_validity(job, base, &templates, &texts, strictness),
            || OrphanCandidates::find(job),
        );
        let ((validity, on_disk), found) = (validity?, found?);
        let mut scan = Self {
            base,
            templates,
            fresh: ManifestMap::default(),
            stale: Vec::new(),
            work: Vec::new(),
            up_to_date: Vec::new(),
            on_disk,
            hints: Vec::new(),
            found,
            left_over: Vec::new(),
            swept: Vec::new(),
            is_same: false,
            is_littered: job.state.is_littered(),
        };
        scan.outputs(job, validity);
        scan.scan_leftovers(job, strictness)?;
        inputs.learn(&texts, reads);
        inputs.learn_absent(reads);
        scan.hints = inputs.hints;
        Ok(scan)
    }

    /// True if there is no manifest to check, no file to generate or remove, and no temporary file of a killed build to
    /// remove.
    pub(super) fn is_done(&self) -> bool {
        self.stale.is_empty()
            && self.work.is_empty()
            && self.left_over.is_empty()
            && !self.is_littered
    }

    /// Hash of the layoutc binary.
    pub(super) fn program(&self) -> ContentHash {
        self.base.program
    }

    /// Number of tensors of a manifest with a valid cached check, else 0.
    pub(super) fn tensors(&self, job: &BuildJob<'_>, manifest: &str) -> usize {
        let checked = self.fresh.get(manifest).and_then(|_| job.log.facts.checked.get(manifest));
        checked.map_or(0, |checked| usize::try_from(checked.tensors).unwrap_or(usize::MAX))
    }

    /// Paths of the up-to-date outputs, relative to the output folder.
    pub(super) fn up_to_date_paths<'j>(
        &self,
        job: &'j BuildJob<'_>,
    ) -> impl Iterator<Item = &'j str> {
        let emitted = self.up_to_date.iter().filter_map(|unit| job.log.facts.emitted(*unit));
        emitted.flat_map(EmitRecord::paths)
    }

    /// Errors about files on disk that outputs must not overwrite.
    pub(super) fn refusals(&self) -> impl Iterator<Item = &Diagnostic> {
        self.on_disk.values().filter_map(|file| file.as_ref().err().map(AsRef::as_ref))
    }

    /// Sorts manifests into `fresh` and `stale`, and units into `up_to_date` and `work`. `validity` has one entry per
    /// manifest of the job, in order.
    fn outputs(&mut self, job: &BuildJob<'a>, validity: Vec<ManifestValidity>) {
        for (target, nth) in job.targets.iter().zip(0..) {
            for (manifest, validity) in job.manifests().zip(&validity) {
                let is_valid = validity.targets.get(nth) == Some(&true);
                let units = if is_valid { &mut self.up_to_date } else { &mut self.work };
                units.push((*target, manifest));
            }
        }
        for (manifest, ManifestValidity { fresh, .. }) in job.manifests().zip(validity) {
            match fresh {
                Some(fresh) => drop(self.fresh.insert(manifest, fresh)),
                None => self.stale.push(manifest.to_owned()),
            }
        }
        if self.on_disk.is_empty() {
            return;
        }
        let on_disk = &self.on_disk;
        let (lacking, whole) =
            self.up_to_date.iter().partition(|unit| needs_rebuild(on_disk, &job.log.facts, **unit));
        self.up_to_date = whole;
        for unit in &lacking {
            let emitted = job.log.facts.emitted(*unit);
            emitted
                .into_iter()
                .flat_map(EmitRecord::paths)
                .for_each(|p| drop(self.on_disk.remove(p)));
        }
        self.work.extend::<Vec<_>>(lacking);
    }

    /// Scans the shared runtime and the umbrella header, if the build has them. Unless one must be generated, sets
    /// `is_same`, `left_over` and `swept` from the files in the output folder. Scans the runtime only if a manifest is
    /// stale or a unit must be generated, because the set of outputs is then not known yet.
    fn scan_leftovers(
        &mut self,
        job: &BuildJob<'a>,
        strictness: OverwritePolicy,
    ) -> Result<(), CommandError> {
        if has_runtime(job) {
            self.project_unit(job, RUNTIME, cache_key::runtime(self.base), strictness)?;
        }
        if !(self.work.is_empty() && self.stale.is_empty()) {
            return Ok(());
        }
        if has_umbrella(job) {
            let of_target = self.up_to_date.iter().filter(|(target, _)| *target == UMBRELLA.0);
            let of_manifests = of_target.filter(|unit| **unit != RUNTIME);
            let paths = of_manifests.filter_map(|unit| job.log.facts.emitted(*unit));
            let paths = paths.flat_map(EmitRecord::paths);
            let key = cache_key::umbrella(self.base, &self.templates, paths);
            self.project_unit(job, UMBRELLA, key, strictness)?;
        }
        if self.work.is_empty() {
            let is_tidy = matches!(self.found, OrphanCandidates::Known);
            self.is_same = is_tidy && job.log.facts.are_all(self.up_to_date.len());
            if self.is_same {
                return Ok(());
            }
            let paths: PathSet<'_> = self.up_to_date_paths(job).collect();
            let is_requested = |path: &str| paths.contains(path);
            self.left_over = self.found.left_over(job, &is_requested)?;
            self.swept = self.found.swept(&is_requested).unwrap_or_default();
        }
        Ok(())
    }

    /// Adds a unit that depends on no single manifest to `up_to_date` if its cached files have the key `key` and are in
    /// the output folder, else to `work`.
    fn project_unit(
        &mut self,
        job: &BuildJob<'a>,
        unit: EmitUnit<'static>,
        key: ContentHash,
        strictness: OverwritePolicy,
    ) -> Result<(), CommandError> {
        let facts = &job.log.facts;
        if facts.emitted(unit).is_some_and(|emitted| emitted.key == key) {
            let mut on_disk = survey_outputs(job, &[unit], strictness)?;
            if !needs_rebuild(&on_disk, facts, unit) {
                self.up_to_date.push(unit);
                self.on_disk.append(&mut on_disk);
                return Ok(());
            }
        }
        self.work.push(unit);
        Ok(())
    }
}

/// State of the file on disk at each output path of `units`, by path. A file with the fingerprint in the log is
/// omitted. `strictness` is the policy for files that layoutc did not write or that were edited.
fn survey_outputs(
    job: &BuildJob<'_>,
    units: &[EmitUnit<'_>],
    strictness: OverwritePolicy,
) -> Result<OutputSurvey, CommandError> {
    let files = units.iter().flat_map(|unit| job.log.facts.files(*unit));
    let wanted = files.map(|(path, hash, known)| ExpectedOutput { path, hash, known });
    let wanted: Vec<ExpectedOutput<'_>> = wanted.collect();
    survey(&job.home, &wanted, &job.log.facts, strictness)
}

/// True if the files of `unit` must be generated again: according to `on_disk`, one of them is missing, or has another
/// text than the log records.
fn needs_rebuild(on_disk: &OutputSurvey, facts: &BuildFacts, unit: EmitUnit<'_>) -> bool {
    let must_be_made = |path: &str| {
        matches!(on_disk.get(path), Some(Ok(ExistingOutput::Nothing | ExistingOutput::Other)))
    };
    facts.emitted(unit).is_some_and(|emitted| emitted.paths().any(must_be_made))
}

/// True if this build has an umbrella header: the configuration names one, the whole project is built, and the C target
/// is requested.
pub(super) fn has_umbrella(job: &BuildJob<'_>) -> bool {
    let c = job.project.config.target.c.as_ref();
    let is_wanted = c.is_some_and(|c| c.umbrella_header.is_some());
    is_wanted && job.project.is_whole && job.targets.contains(&UMBRELLA.0)
}

/// True if this build has a header with the shared runtime: the configuration asks for it, and the C target is requested.
pub(super) fn has_runtime(job: &BuildJob<'_>) -> bool {
    runtime_path(&job.project.config).is_some() && job.targets.contains(&RUNTIME.0)
}

/// Validity of the cached check of a manifest, and of its cached generated files.
#[derive(Debug)]
struct ManifestValidity {
    /// Cached check of the manifest, `None` if it is not valid.
    fresh: Option<ValidCheck>,
    /// One entry per code-generation target of the job, in order: true if the files generated from the manifest for the
    /// target are up to date according to the log.
    targets: Vec<bool>,
}

/// Pair `(validity, on_disk)`. `validity` has one entry per manifest of `job`, in order. `on_disk` has the states of
/// the files at the output paths of the units whose files are up to date according to the log. `templates` is the hash
/// of the templates, and `texts` has the file states of the manifests.
fn check_validity<'m>(
    job: &BuildJob<'m>,
    base: BaseHashes,
    templates: &ContentHash,
    texts: &ManifestMap<'_, FileState>,
    strictness: OverwritePolicy,
) -> Result<(Vec<ManifestValidity>, OutputSurvey), CommandError> {
    let manifests: Vec<&'m str> = job.manifests().collect();
    let validity = |manifest: &&'m str| {
        let fresh = valid_check(job, manifest, base, texts);
        let is_made = |target: &&str| {
            let Some(fresh) = &fresh else { return false };
            let key = cache_key::emitted(&fresh.key, templates, target, manifest);
            job.log.facts.emitted((target, manifest)).is_some_and(|emitted| emitted.key == key)
        };
        let targets = job.targets.iter().map(is_made).collect();
        ManifestValidity { fresh, targets }
    };
    let together = |manifests: &[&'m str]| {
        let all: Vec<ManifestValidity> = manifests.iter().map(validity).collect();
        let of = |(nth, target): (usize, &&'m str)| {
            let is_valid = move |one: &ManifestValidity| one.targets.get(nth) == Some(&true);
            let valid = manifests.iter().zip(&all).filter(move |(_, one)| is_valid(one));
            let target = *target;
            valid.map(move |(manifest, _)| (target, *manifest))
        };
        let units: Vec<EmitUnit<'_>> = job.targets.iter().enumerate().flat_map(of).collect();
        Ok((all, survey_outputs(job, &units, strictness)?))
    };
    let parts: Vec<(Vec<ManifestValidity>, OutputSurvey)> =
        manifests.par_chunks(AT_ONCE).map(together).collect::<Result<_, CommandError>>()?;
    let (mut all, mut on_disk) = (Vec::with_capacity(manifests.len()), OutputSurvey::new());
    for (validity, mut found) in parts {
        all.extend(validity);
        on_disk.append(&mut found);
    }
    Ok((all, on_disk))
}

fn valid_check(
    job: &BuildJob<'_>,
    manifest: &str,
    base: BaseHashes,
    texts: &ManifestMap<'_, FileState>,
) -> Option<ValidCheck> {
    let checked = job.log.facts.checked.get(manifest)?;
    if checked.absent.iter().any(|path| below(job.project, path).symlink_metadata().is_ok()) {
        return None;
    }
    let mut closure = checked.uses.clone();
    closure.push(manifest);
    closure.sort_unstable();
    closure.dedup();
    let mut parts = Vec::with_capacity(closure.len());
    for path in closure {
        parts.push((path, &texts.get(path)?.as_ref().ok()?.hash));
    }
    let key = cache_key::checked(base, parts.into_iter());
    if key != checked.key {
        return None;
    }
    let warnings = match checked.warnings {
        [] => Vec::new(),
        encoded => postcard::from_bytes(encoded).ok()?,
    };
    Some(ValidCheck { key, warnings })
}

/// Scan of the inputs of a build job: the layoutc binary, the templates and the manifests. Compares the fingerprint of
/// each with the one in the log, and collects the names and fingerprints that differ in `hints`.
struct InputScan<'j, 'a> {
    job: &'j BuildJob<'a>,
    hints: Vec<(String, Fingerprint)>,
}

impl<'j> InputScan<'j, '_> {
    /// File state of the input at `path`, whose name in the log is `name`. Adds its fingerprint to `hints` if the log
    /// has another one or none.
    fn look(&mut self, name: &str, path: &Path) -> FileState {
        let seen = hash_if_changed(path, self.job.log.facts.inputs.get(name));
        self.note(name, &seen);
        seen
    }

    fn note(&mut self, name: &str, seen: &FileState) {
        if let Ok(known) = seen
            && self.job.log.facts.inputs.get(name) != Some(known)
        {
            self.hints.push((name.to_owned(), *known));
        }
    }

    fn base(&mut self, reads: &ReadSet) -> Result<BaseHashes, CommandError> {
        let program =
            if self.job.project.is_given { ContentHash::default() } else { self.program()? };
        // Its state is known from the discovery. Outside of projects there is none, and the hash is 0.
        let config = reads.files.get(&below(self.job.project, CONFIG));
        Ok(BaseHashes { program, config: config.map_or_else(ContentHash::default, hash) })
    }

    /// Hash of the layoutc binary. It is the hash in the log if the metadata of the binary equals that in the log;
    /// otherwise the binary is read.
    fn program(&mut self) -> Result<ContentHash, CommandError> {
        let find = |e| CommandError::io("find", "layoutc".as_ref(), &e);
        let program = std::env::current_exe().map_err(find)?;
        let known = self.job.log.facts.inputs.get(PROGRAM);
        let seen = hash_if_changed_up_to(u64::MAX, &program, known);
        self.note(PROGRAM, &seen);
        Ok(hash(&seen))
    }

    fn templates(&mut self, reads: &mut ReadSet) -> Result<ContentHash, CommandError> {
        let mut texts = BTreeMap::new();
        for (name, path) in template_files(self.job.project)? {
            let input = format!("{}/{name}", self.job.project.config.project.templates_dir);
            let seen = self.look(&input, &path);
            if let Ok(known) = &seen {
                texts.insert(name, known.hash);
            }
            reads.files.insert(path, seen);
        }
        Ok(cache_key::templates(texts.iter().map(|(name, hash)| (name.as_str(), hash))))
    }

    /// File states of the requested manifests that the log contains, and of the manifests that they use. Other
    /// requested manifests are omitted, because they must be checked in any case.
    fn manifests<'l>(
        &self,
        prefetched: &'l ManifestReads<'j>,
    ) -> Cow<'l, ManifestMap<'j, FileState>> {
        let (job, facts) = (self.job, &self.job.log.facts);
        let checked = job.manifests().filter_map(|manifest| facts.checked.get_key_value(manifest));
        let names = with_uses(checked.map(|(name, checked)| (*name, checked)));
        prefetched.texts(&job.project.root, names, facts)
    }

    /// Records the files that the manifests with a check in the log require to be absent.
    fn learn_absent(&self, reads: &mut ReadSet) {
        if reads.is_brief {
            return;
        }
        let checked = self.job.manifests().filter_map(|path| self.job.log.facts.checked.get(path));
        for path in checked.flat_map(|checked| &checked.absent) {
            reads.record_state(&normal(&below(self.job.project, path)), &ReadSet::default());
        }
    }

    fn learn(&mut self, texts: &ManifestMap<'_, FileState>, reads: &mut ReadSet) {
        for (name, seen) in texts {
            self.note(name, seen);
            if reads.is_brief {
                continue;
            }
            let path = below(self.job.project, name);
            let is_normal = !name.split('/').any(|part| part == "..");
            reads.files.insert(if is_normal { path } else { normal(&path) }, seen.clone());
        }
    }
}

/// Hash of an input's text, or of the error message if the input cannot be read.
fn hash(seen: &FileState) -> ContentHash {
    match seen {
        Ok(known) => known.hash,
        Err(reason) => ContentHash::of(reason.as_bytes()),
    }
}

/// Pairs `(name, path)` of all files below the templates folder of `project`, except hidden ones, sorted by path. They
/// may be templates. `name` is the path relative to the templates folder, with `/` as separator. Links that lead out of
/// the project are not followed, unless `--root` is given.
///
/// # Errors
/// [`CommandError::Machine`] if a folder cannot be read.
pub(super) fn template_files(project: &Project) -> Result<Vec<(String, PathBuf)>, CommandError> {
    let folder = below(project, &project.config.project.templates_dir);
    // A sandbox consists of links that lead outside.
    let fence = (!project.is_given).then_some(project.root.as_path());
    let files = file_tree::within(&folder, fence)?.files();
    let named = |file: PathBuf| Some((file.strip_prefix(&folder).ok().and_then(slashed)?, file));
    Ok(files.into_iter().filter_map(named).collect())
}
