//! Semantic analysis: lowers the typed syntax of manifests ([`syntax`](crate::manifest::syntax)) to the model
//! ([`crate::model`]). The lowering resolves names, types, shapes and maps, and proves the layouts; their errors are
//! raised here. Paths of manifests → [`CheckedProject`].
//!
//! Each manifest is read once, and its scope is merged with those of the manifests that it uses. Then every tensor of
//! the requested manifests is checked independently: an error in one does not hide errors in others.

mod axis_order_advice;
mod cast;
mod compute;
mod convert;
mod declarations;
mod domain;
mod expr;
mod faults;
mod foreign_syntax;
mod gate;
mod graph;
mod index_point;
mod injectivity_report;
mod layout_attributes;
mod load;
mod map_suggestion;
mod mesh;
mod names;
mod padding;
mod record_type;
mod replay;
mod reshard;
mod ring;
mod scope;
mod space;
mod step_faults;
mod step_map;
mod step_recorder;
mod step_scope;
mod step_text;
mod step_values;
mod steps;
mod strides;
mod swizzle;
mod symbol_facts;
mod tensor;
mod tensor_cache;
mod use_cycles;
mod view;
mod warp_access;

pub(crate) use faults::build_fault;
pub(crate) use injectivity_report::bare_fault;

use std::collections::BTreeSet;

use layoutc_algebra::symbol::Symbol;
use rayon::prelude::*;

pub use load::{syntax_key, used_path};
pub use step_recorder::{Recorder, StepRecord, StepRecords};
pub use tensor_cache::TensorCache;

use crate::base::diagnostic::{CheckResult, Diagnostic, Severity, sort};
use crate::config::Config;
use crate::env::{CompileEnv, CompileStage, ResultCache};
use crate::manifest::syntax::TensorItem;
use crate::model::compute::{BufferRef, LoopSchedule, SharedLoop, Statement, StatementSchedule};
use crate::model::{Manifest, Spanned, Tensor};

/// Result of a check: the models of the items without errors, and all diagnostics.
#[derive(Debug, Clone)]
pub struct CheckedProject {
    /// Models of the requested manifests that can be read, in the order of the request, with the items that have no
    /// errors.
    pub manifests: Vec<Manifest>,
    /// Dependencies and diagnostics of the requested manifests, one unit for each, in the order of `manifests`.
    pub units: Vec<CompilationUnit>,
    /// All errors and warnings, sorted by file and position.
    pub diagnostics: Vec<Diagnostic>,
}

/// Dependencies and diagnostics of one manifest. Its check stays valid as long as the configuration, its own text and
/// the texts of `uses` do not change, no file of `absent` appears, and no other manifest that they name in `use` becomes
/// readable.
#[derive(Debug, Clone)]
pub struct CompilationUnit {
    /// Paths of the readable manifests that this one uses, directly or indirectly, sorted.
    pub uses: Vec<String>,
    /// Paths of the files that must not exist, sorted: those that a `use` of a manifest of the library would name as a
    /// relative path.
    pub absent: Vec<String>,
    /// Diagnostics of the manifest, and the faults in reading and in the scopes of the manifests that it uses, sorted
    /// by file and position.
    pub diagnostics: Vec<Diagnostic>,
}

impl CheckedProject {
    /// True if no diagnostic is an error; there may be warnings.
    pub fn is_valid(&self) -> bool {
        self.diagnostics.iter().all(|d| d.severity != Severity::Error)
    }
}

/// Options of a check: a recorder, a cache, and the functions of the planner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CheckOptions<'a> {
    /// Recorder of the layout steps of the tensors that it selects; `None` records nothing.
    pub(crate) recorder: Option<&'a Recorder>,
    /// Cache of checked tensors across checks with the same configuration; `None` caches nothing.
    pub(crate) cache: Option<&'a TensorCache>,
    /// Functions of the planner that the check of schedules calls.
    pub(crate) planner: PlannerQuestions,
}

/// Functions of the planner that the check calls. They are passed as function pointers, so that this module does not
/// depend on the planner, which is a later stage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlannerQuestions {
    /// Function that returns the extents of a cached tile, see [`TileExtents`].
    pub(crate) tile_extents: TileExtents,
    /// Function that checks a complete schedule, see [`CheckCompleteSchedule`].
    pub(crate) complete_schedule: CheckCompleteSchedule,
    /// Function that returns the diagnostics of the schedules in a manifest: errors for directives of conversions and
    /// for loops of intermediates that the planner cannot follow, and warnings for kernel schedules that it considers
    /// slow.
    pub(crate) schedule_diagnostics: fn(&Manifest) -> Vec<Diagnostic>,
}

/// Function that returns the extents in elements, one for each axis, of the tile of a buffer that one iteration of a
/// loop of a statement uses. `None` if the statement does not have the loop, or does not access the buffer at affine
/// indices. `Err` if the tile cannot be cached at this loop, for example because it has no constant size.
///
/// Arguments: the target; the statement; (symbols, schedule of the kernel); (buffer, name of the loop); (the names of
/// the loops that have caches, the loop in which the statement's intermediates are computed).
pub(crate) type TileExtents = fn(
    &Tensor,
    &Statement,
    (&[Symbol], &LoopSchedule),
    (BufferRef, &Spanned<String>),
    (&[String], Option<SharedLoop>),
) -> Result<Option<Vec<i128>>, Box<Diagnostic>>;

/// Function that checks a complete schedule of a statement without its caches. Returns a list with one element for each
/// cache in the last argument: the extents in elements, one for each axis, of the tile that is cached; `None` if the
/// statement does not access the buffer at affine indices. `Err` if the statement does not allow the schedule or one of
/// the caches.
///
/// Arguments: the target; the statement; the symbols; the schedule; the caches as pairs (buffer, name of the loop).
pub(crate) type CheckCompleteSchedule = fn(
    &Tensor,
    &Statement,
    &[Symbol],
    &StatementSchedule,
    &[(BufferRef, Spanned<String>)],
) -> Result<Vec<Option<Vec<i128>>>, Box<Diagnostic>>;

/// Checks the manifests at `paths`, and proves their layouts. Manifests that they use are loaded, and contribute the
/// items of their scopes, such as consts and transforms; their tensors, views and graphs are not checked.
pub(crate) fn check(
    host: &CompileEnv<'_>,
    paths: &[String],
    config: &Config,
    options: CheckOptions<'_>,
) -> CheckedProject {
    let (files, mut diagnostics) = load::load(host, paths);
    let scopes = scope::gather(&files, &mut diagnostics);
    let requested: Vec<usize> = paths.iter().filter_map(|path| files.position(path)).collect();
    let general = diagnostics.clone();
    let results: Vec<(Manifest, CompilationUnit, Vec<Diagnostic>)> = requested
        .into_par_iter()
        .filter_map(|file| {
            host.observer.begin();
            let around = ProjectContext { files: &files, scopes: &scopes, config, options };
            let (manifest, found) = check_manifest(file, around, host.memo)?;
            let unit = unit(file, &files, &general, &found);
            host.observer.end(CompileStage::Check, &manifest.path);
            Some((manifest, unit, found))
        })
        .collect();
    let (mut manifests, mut units) = (Vec::new(), Vec::new());
    for (manifest, unit, found) in results {
        units.push(unit);
        manifests.push(manifest);
        diagnostics.extend(found);
    }
    sort(&mut diagnostics);
    CheckedProject { manifests, units, diagnostics }
}

fn unit(
    file: usize,
    files: &load::ManifestSet,
    general: &[Diagnostic],
    found: &[Diagnostic],
) -> CompilationUnit {
    let path = |file: &usize| files.syntax(*file).map(|syntax| syntax.file.to_string());
    let closure = files.closure(file);
    let needed: BTreeSet<String> = closure.iter().filter_map(path).collect();
    let in_needed =
        |d: &&Diagnostic| d.labels.first().is_some_and(|l| needed.contains(l.place.file.as_ref()));
    let mut diagnostics: Vec<Diagnostic> = general.iter().filter(in_needed).cloned().collect();
    diagnostics.extend(found.iter().cloned());
    sort(&mut diagnostics);
    let own = path(&file);
    let uses = needed.into_iter().filter(|path| Some(path) != own.as_ref()).collect();
    let absent = files.absent(file).into_iter().collect();
    CompilationUnit { uses, absent, diagnostics }
}

/// Files, scopes and settings that the checks of all manifests of a project share.
#[derive(Clone, Copy)]
struct ProjectContext<'a> {
    files: &'a load::ManifestSet,
    scopes: &'a scope::ManifestScopes,
    config: &'a Config,
    options: CheckOptions<'a>,
}

fn check_manifest(
    file: usize,
    around: ProjectContext<'_>,
    memo: &dyn ResultCache,
) -> Option<(Manifest, Vec<Diagnostic>)> {
    let ProjectContext { files, scopes, config, options } = around;
    let CheckOptions { recorder, cache, planner } = options;
    let syntax = files.syntax(file)?;
    let mut diagnostics = names::check(syntax, config);
    // The first tensor of a name takes precedence.
    let named = syntax.tensors.iter().rev().map(|item| (item.name.value.as_str(), item));
    let named = named.collect();
    let viewed = syntax.views.iter().map(|view| view.of.value.as_str()).collect();
    let (named, viewed) = (&named, &viewed);
    let place = tensor::ManifestContext {
        file,
        files,
        scopes,
        config,
        memo,
        recorder,
        planner,
        named,
        viewed,
    };
    let now = cache.and_then(|cache| cache.open(file, files, scopes));
    let again = |item: &TensorItem| {
        now.as_ref()?.lookup(item, viewed.contains(item.name.value.as_str()), recorder)
    };
    let checked: Vec<CheckResult<tensor::CheckedTensor>> = syntax
        .tensors
        .par_iter()
        .map(|item| again(item).map_or_else(|| tensor::check(item, place), Ok))
        .collect();
    if let Some(now) = &now {
        now.store(&checked);
    }
    let (mut tensors, mut builders) = (Vec::new(), Vec::new());
    for result in checked {
        match result {
            Ok(mut checked) => {
                checked.record_steps(recorder);
                tensors.push(checked.tensor);
                builders.push(checked.builder);
                diagnostics.extend(checked.warnings);
            }
            Err(found) => diagnostics.extend(found),
        }
    }
    diagnostics.extend(gate::same::check(syntax, &tensors, memo));
    let views = view::check(place, &tensors, &builders, &mut diagnostics);
    let declared = declarations::Declarations { syntax, tensors: &tensors, views: &views };
    let (converts, reshards) = convert::check(declared, scopes.get(file), &mut diagnostics);
    let path = syntax.file.to_string();
    let computes = compute::check(place, declared, &mut diagnostics);
    let graphs = graph::check(place, &mut diagnostics);
    let schedules = Vec::new();
    let manifest =
        Manifest { path, tensors, views, converts, reshards, computes, graphs, schedules };
    if config.target.has_cpu() {
        diagnostics.extend((planner.schedule_diagnostics)(&manifest));
    }
    Some((manifest, diagnostics))
}
