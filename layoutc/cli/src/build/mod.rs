//! Build of projects: scan, check, emit, compare with the disk, write. `layoutc build` runs it once, `layoutc watch`
//! repeatedly.
//!
//! Everything that a build depends on is hashed, and its results are cached, so that unchanged files need not be read,
//! parsed, proven, generated or written again.

mod action;
mod args;
mod cache_key;
pub(crate) mod chrome_trace;
mod depfile_rule;
mod graph;
mod job;
mod lock_file;
mod make;
mod meter;
mod orphans;
mod output_plan;
mod project_build;
mod read_cache;
mod scan;
mod stamp_depfile;
pub(crate) mod summary;
mod summary_rows;

use std::path::PathBuf;
use std::time::Duration;

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;
use rustix::process::{Resource, getrlimit};

use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::output::{OutputStatus, OverwritePolicy};
use crate::paths::{relative_to_cwd, start};
use crate::progress::{Progress, ProgressTask, ProgressUnit};
use crate::project::Project;
use crate::project::read_set::ReadSet;
use crate::report::Report;
use crate::state::log::LogArena;
use crate::template_sandbox;

pub(crate) use action::{ActionScope, BuildAction, actions};
pub(crate) use args::{BuildArgs, SelectArgs};
pub(crate) use depfile_rule::{UNESCAPABLE, is_expressible};
pub(crate) use graph::{DependencyGraph, FileKind};
pub(crate) use job::guess_log;
pub(crate) use job::output_locations;
pub(crate) use lock_file::{LockFileUpdate, lock_files};
pub(crate) use make::{own_of, report_emit_error};
pub(crate) use meter::WorkSpan;
pub(crate) use project_build::BuildPrefetch;
pub(crate) use read_cache::ManifestReads;

use job::{BuildJob, LockWait};
use meter::{Meter, MeterDetail};
use output_plan::OutputPlan;
use project_build::{BuildContext, ProjectBuild};
use stamp_depfile::StampFiles;
use summary::TensorRow;

/// Result of a build that ran to its end, with or without errors.
#[derive(Debug)]
pub(crate) struct BuildSummary {
    pub(crate) report: Report,
    /// Number of valid tensors in the requested manifests.
    pub(crate) tensors: usize,
    /// Number of requested manifests.
    pub(crate) manifests: usize,
    /// Summary rows. If the build has at most `FEW` tensors, or with [`RowSelection::All`], they are of all tensors,
    /// views and graphs. Otherwise they are of the first tensors that this build checked, at most `FEW`, and of the
    /// graphs in the manifests that it checked. Empty for [`RowSelection::None`].
    pub(crate) rows: Vec<TensorRow>,
    /// Number of tensors that this build checked and that have no row in `rows`; 0 for [`RowSelection::None`].
    pub(crate) more: usize,
    pub(crate) outputs: OutputSummary,
    /// Name and duration of each stage of the build, in order.
    pub(crate) stages: Vec<(&'static str, Duration)>,
    /// All tasks of the build by start time with `--timings`, else empty.
    pub(crate) spans: Vec<WorkSpan>,
    /// Absolute path of the state folder of the first project, `None` if the folder does not exist.
    pub(crate) state: Option<PathBuf>,
}

/// Outputs of a build with their status: written, unchanged or removed.
#[derive(Debug, Default)]
pub(crate) struct OutputSummary {
    /// Status of each listed output, and its path relative to the working directory.
    pub(crate) listed: Vec<(OutputStatus, String)>,
    /// Number of unchanged outputs that are not in `listed`.
    pub(crate) more: usize,
}

impl OutputSummary {
    /// Total number of outputs: those in `listed`, and the unchanged ones that are not.
    pub(crate) fn len(&self) -> usize {
        self.listed.len() + self.more
    }

    /// Number of outputs with the status `status`, in `listed` or not.
    pub(crate) fn count(&self, status: OutputStatus) -> usize {
        let listed = self.listed.iter().filter(|(of, _)| *of == status).count();
        if status == OutputStatus::Unchanged { listed + self.more } else { listed }
    }
}

/// Selection of the tensors that get a row in the summary of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowSelection {
    All,
    /// Rows of all tensors, views and graphs if there are at most `FEW` tensors. Otherwise rows of the first tensors
    /// that this build checked, at most `FEW`, and of the graphs in the manifests that it checked.
    Few,
    None,
}

/// Number of tensors, or of unchanged outputs, up to which all of them are listed.
const FEW: usize = 32;

/// Stack size of a worker thread in bytes, as large as that of a main thread.
const STACK: usize = 8 << 20;

/// Starts the thread pool of `build` and `watch`, with the number of threads of `--jobs`, or one per processor.
/// `is_alone` is true if this process runs a single build. The calling thread then becomes one of the threads of the
/// pool, if its stack is large enough.
///
/// # Errors
/// [`CommandError::Machine`] if the threads cannot be started.
pub(crate) fn start_threads(args: &BuildArgs, is_alone: bool) -> Result<(), CommandError> {
    let jobs = args.jobs.map_or(0, usize::from);
    let mut pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).stack_size(STACK);
    if is_alone && has_large_stack() {
        pool = pool.use_current_thread();
    }
    pool.build_global().map_err(|error| {
        let message = format!("cannot start threads: {error}");
        CommandError::Machine(Box::new(Diagnostic::without_span(Code::OutputIo, message)))
    })?;
    // Wakes all threads before there is work for them.
    rayon::broadcast(|_| ());
    Ok(())
}

/// True if the stack of the main thread may grow as large as those of the pool's threads, so that it can join
/// the pool.
fn has_large_stack() -> bool {
    getrlimit(Resource::Stack).current.is_none_or(|bytes| bytes >= STACK as u64)
}

/// True if a build with these arguments writes nothing.
pub(crate) fn is_dry_run(args: &BuildArgs) -> bool {
    args.dry_run || args.check || template_sandbox::is_child()
}

/// Policy for files at output paths that layoutc did not write, or that were edited since: overwritten with `--force`,
/// else kept and reported as errors. With `--check`, which writes nothing, they count as overwritten, so that they are
/// reported as out of date.
fn strictness(args: &BuildArgs) -> OverwritePolicy {
    if args.force || args.check { OverwritePolicy::Overwrite } else { OverwritePolicy::KeepForeign }
}

/// Runs one build with the options `args`. `known` has the projects, and the data that was read ahead for them; `None`
/// to discover the projects of `args`. `rows` selects the rows of the summary. Adds the files that the build read to
/// `reads`, also on errors. Errors in manifests, templates and outputs are in the report of the result.
///
/// # Errors
/// A [`CommandError`] if the build cannot run to its end, as after an invalid command line or a failed system call.
pub(crate) fn build_once<'a>(
    args: &BuildArgs,
    rows: RowSelection,
    known: Option<(&'a [Project], BuildPrefetch<'a>)>,
    reads: &mut ReadSet,
    console: &mut Console,
) -> Result<BuildSummary, CommandError> {
    let meter = Meter::start(if args.timings { MeterDetail::Spans } else { MeterDetail::Counts });
    let marks = StampFiles::read_existing(args)?;
    let (store, mut report) = (LogArena::default(), Report::default());
    // Runs on a thread of the pool: from any other thread, each parallel step would wake one first.
    rayon::scope(|_| {
        if let Some((projects, ahead)) = known {
            let desk = BuildContext::new(&meter, report, reads, console);
            return build(args, rows, &marks, projects, ahead, desk);
        }
        let (projects, ahead) = project_build::discover(&args.select, &store, &mut report, reads)?;
        let desk = BuildContext::new(&meter, report, reads, console);
        build(args, rows, &marks, &projects, ahead, desk)
    })
}

fn build<'a>(
    args: &BuildArgs,
    rows: RowSelection,
    marks: &StampFiles,
    projects: &'a [Project],
    ahead: BuildPrefetch<'a>,
    mut desk: BuildContext<'_>,
) -> Result<BuildSummary, CommandError> {
    let locking = match (is_dry_run(args), args.no_wait) {
        (true, _) => None,
        (false, true) => Some(LockWait::Fail),
        (false, false) => Some(LockWait::Wait),
    };
    let (select, how) = (&args.select, strictness(args));
    let mut parts = project_build::all(select, projects, ahead, how, locking, &mut desk)?;
    let is_done = parts.iter().all(|part| part.scan.is_done());
    let meter = desk.meter;
    let progress = || meter.progress();
    let shown = ProgressTask { doing: "building", unit: ProgressUnit::Steps, progress: &progress };
    let lines = std::thread::scope(|scope| {
        let _progress = (!is_done).then(|| Progress::show(scope, shown, desk.console));
        run_stages(args, marks, &mut parts, rows, &mut desk)
    })?;
    let BuildContext { meter, report, console, .. } = desk;
    let is_listed = console.format == ReportFormat::Json || console.verbose;
    let outputs = outputs(&parts, is_listed);
    Ok(built(&parts, lines, outputs, report, meter))
}

/// Checks the manifests of the projects `parts`, generates files, and compares them with the disk. Then writes them,
/// and the stamp and the depfile of `marks`, unless the report has errors or the run is dry. Returns the summary rows
/// that `rows` selects.
fn run_stages(
    args: &BuildArgs,
    marks: &StampFiles,
    parts: &mut [ProjectBuild<'_>],
    rows: RowSelection,
    desk: &mut BuildContext<'_>,
) -> Result<SummaryRows, CommandError> {
    project_build::make_all(parts, desk)?;
    let BuildContext { meter, report, reads, .. } = desk;
    if args.locked && !report.has_errors() {
        lock_file::check_lock_files(parts, reads, report)?;
    }
    let lines = lines(parts, rows);
    let is_valid = !report.has_errors();
    if is_valid {
        for part in &mut *parts {
            match output_plan::plan(&part.job, &part.scan, &mut part.made, strictness(args))? {
                Ok(plan) => part.plan = plan,
                Err(refusals) => report.add(refusals),
            }
        }
        meter.lap("compare");
    }
    if args.check {
        report.add(parts.iter().flat_map(|part| differences(&part.plan, &part.job)));
    }
    let is_written = is_valid && !report.has_errors() && !is_dry_run(args);
    let rule = if is_written { marks.rule(|| DependencyGraph::of(parts, reads))? } else { None };
    for part in parts {
        // Frees the checked manifests while files are written.
        let spent = std::mem::take(&mut part.made.manifests);
        rayon::scope(|scope| {
            if !spent.is_empty() {
                scope.spawn(|_| drop(spent));
            }
            finish(part, is_written)
        })?;
    }
    if is_written {
        marks.write_after_build(rule.as_deref())?;
        meter.lap("write");
    }
    Ok(lines)
}

/// Pair `(report, graph)`: the report of a build of `select` that writes no file, and its dependency graph. The graph
/// is complete if the report has no errors.
pub(crate) fn graph(
    select: &SelectArgs,
    console: &mut Console,
) -> Result<(Report, DependencyGraph), CommandError> {
    project_build::plan_only(select, console, |parts, desk| {
        project_build::make_all(parts, desk)?;
        Ok(DependencyGraph::of(parts, desk.reads))
    })
}

/// Summary rows of a build (`rows`), the number of checked tensors without a row (`more`), and the number of all
/// tensors.
struct SummaryRows {
    rows: Vec<TensorRow>,
    more: usize,
    /// Number of valid tensors in the requested manifests.
    tensors: usize,
}

fn lines(parts: &[ProjectBuild<'_>], rows: RowSelection) -> SummaryRows {
    let of = |part: &ProjectBuild<'_>| summary_rows::tensors(&part.job, &part.scan, &part.made);
    let tensors = parts.iter().map(of).sum();
    let is_all = rows == RowSelection::All || tensors <= FEW;
    let mut lines = SummaryRows { rows: Vec::new(), more: 0, tensors };
    for ProjectBuild { job, scan, memo, made, .. } in
        parts.iter().filter(|_| rows != RowSelection::None)
    {
        if is_all {
            lines.rows.extend(summary_rows::all(job, scan, made, memo));
        } else {
            let room = FEW.saturating_sub(lines.rows.len());
            let (first, more) = summary_rows::checked(job, made, room);
            lines.rows.extend(first);
            lines.more += more;
        }
    }
    lines
}

/// Stores the facts and cached results of the build of the project `part` in its state folder. If `is_written` is true,
/// which requires a build without errors that is not a dry run, also writes the planned outputs of the project. Without
/// the lock of the state folder, as in a dry run or if there was nothing to do, it stores at most facts that save work
/// in the next build.
fn finish(part: &mut ProjectBuild<'_>, is_written: bool) -> Result<(), CommandError> {
    let ProjectBuild { job, scan, memo, made, plan } = part;
    let mut facts = make::facts(scan, made, is_written);
    if is_written {
        facts.extend(plan.facts());
    }
    if job.held_lock().is_none() {
        // Nothing to do. The new facts save reads in the next build.
        if is_written {
            job.hint(facts);
        }
        return Ok(());
    }
    if is_written {
        job.record(plan.pending_facts())?;
    }
    if let Some(lock) = job.held_lock().filter(|_| is_written) {
        facts.extend(output_plan::apply(job, plan, lock)?);
    }
    if let Some(dir) = job.state.dir() {
        // If this fails, later builds recompute the results.
        drop(memo.flush(dir, &|| make::live(job, made)));
    }
    job.record(facts)
}

/// Outputs of the projects `parts` with their status. All of them are listed if at most `FEW` are up to date or
/// `is_listed` is true. Otherwise only the outputs that were generated or removed are listed, and the others are
/// counted.
fn outputs(parts: &[ProjectBuild<'_>], is_listed: bool) -> OutputSummary {
    let up_to_date: usize = parts.iter().map(|part| part.plan.up_to_date).sum();
    let is_listed = is_listed || up_to_date <= FEW;
    let listed = parts.iter().flat_map(|ProjectBuild { job, scan, plan, .. }| {
        let folder = PathBuf::from(relative_to_cwd(&job.home.path()));
        let folder = start(&folder).to_owned();
        let made = plan.files.iter().map(|(path, planned)| (path.as_str(), planned.status));
        let unchanged = scan.up_to_date_paths(job).filter(|_| is_listed && plan.up_to_date > 0);
        let mut listed: Vec<_> =
            made.chain(unchanged.map(|path| (path, OutputStatus::Unchanged))).collect();
        listed.sort_unstable_by_key(|(path, _)| *path);
        let shown = move |path| folder.join(path).to_string_lossy().into_owned();
        listed.into_iter().map(move |(path, status)| (status, shown(path)))
    });
    OutputSummary { listed: listed.collect(), more: if is_listed { 0 } else { up_to_date } }
}

fn built(
    parts: &[ProjectBuild<'_>],
    lines: SummaryRows,
    outputs: OutputSummary,
    report: Report,
    meter: &Meter,
) -> BuildSummary {
    let (stages, spans) = meter.finish();
    BuildSummary {
        report,
        tensors: lines.tensors,
        manifests: parts.iter().map(|part| part.job.project.manifests.len()).sum(),
        rows: lines.rows,
        more: lines.more,
        outputs,
        stages,
        spans,
        state: parts.first().and_then(|part| part.job.state.dir().map(|_| part.job.state.path())),
    }
}

/// Errors about the differences between the outputs on disk and those of this build, for `--check`: one for each output
/// that is missing, out of date, or no longer generated.
fn differences(plan: &OutputPlan, job: &BuildJob<'_>) -> Vec<Diagnostic> {
    let differing =
        plan.files.iter().filter(|(_, planned)| planned.status != OutputStatus::Unchanged);
    differing
        .map(|(path, planned)| {
            let file = job.home.path().join(path);
            let shown = relative_to_cwd(&file);
            let message = match planned.status {
                OutputStatus::Removed => format!("`{shown}` is no longer generated"),
                OutputStatus::Written | OutputStatus::Unchanged if !file.exists() => {
                    format!("`{shown}` is missing")
                }
                OutputStatus::Written | OutputStatus::Unchanged => {
                    format!("`{shown}` is out of date")
                }
            };
            Diagnostic::without_span(Code::OutputStale, message).help("run `layoutc build`")
        })
        .collect()
}
