//! One build: look, check, emit, compare with what is on disk, write. `build` does it once, `watch` again and again.
//!
//! What a build depends on is hashed, and what was made of it is remembered. What has not changed is not read, parsed,
//! proven, made or written again.

mod action;
mod cache_key;
mod depfile_rule;
mod graph;
mod job;
mod lock_file;
mod make;
mod meter;
mod output_plan;
mod project_build;
mod read_cache;
mod scan;
mod stamp_depfile;
mod summary_rows;

use std::path::PathBuf;
use std::time::Duration;

use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::Diagnostic;

use crate::args::{BuildArgs, ReportFormat, SelectArgs};
use crate::command_error::CommandError;
use crate::console::Console;
use crate::output::{OutputStatus, OverwritePolicy};
use crate::progress::{Progress, ProgressTask, ProgressUnit};
use crate::project::read_set::ReadSet;
use crate::project::{self, Project, relative_to_cwd};
use crate::report::Report;
use crate::report::summary::TensorRow;
use crate::state::log::LogArena;
use crate::template_sandbox;

pub(crate) use action::{ActionScope, BuildAction, actions};
pub(crate) use depfile_rule::{UNTOLD, is_expressible};
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

/// A build that came to its end; whether a good one, its report says.
#[derive(Debug)]
pub(crate) struct BuildSummary {
    /// All there is to say.
    pub(crate) report: Report,
    /// How many good tensors the manifests asked for have.
    pub(crate) tensors: usize,
    /// How many manifests were asked for.
    pub(crate) manifests: usize,
    /// The tensors: all if there are few, or if all were asked for; else the first of those that were checked.
    pub(crate) rows: Vec<TensorRow>,
    /// How many more were checked.
    pub(crate) more: usize,
    /// What became of the outputs, or would.
    pub(crate) outputs: OutputSummary,
    /// How long each stage took.
    pub(crate) stages: Vec<(&'static str, Duration)>,
    /// Every piece of work, where that was asked for.
    pub(crate) spans: Vec<WorkSpan>,
    /// The state folder of the first project, if it is there.
    pub(crate) state: Option<PathBuf>,
}

/// What became of outputs, or would.
#[derive(Debug, Default)]
pub(crate) struct OutputSummary {
    /// Each with the path that people see.
    pub(crate) listed: Vec<(OutputStatus, String)>,
    /// How many more are unchanged.
    pub(crate) more: usize,
}

impl OutputSummary {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.listed.len() + self.more
    }

    /// Of how many this became.
    pub(crate) fn count(&self, status: OutputStatus) -> usize {
        let listed = self.listed.iter().filter(|(of, _)| *of == status).count();
        if status == OutputStatus::Unchanged { listed + self.more } else { listed }
    }
}

/// Which tensors a build gives lines of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowSelection {
    /// All.
    All,
    /// All if there are few, else the first of those that were checked.
    Few,
    /// None.
    None,
}

/// The tensors and the outputs of which all get a line, whatever was done.
const FEW: usize = 32;

/// The stack of a thread that builds, in bytes: as much as a main thread has.
const STACK: usize = 8 << 20;

/// Makes `build` and `watch` work on as many threads as they were told to, or as there are cores.
/// `is_alone`: this thread does nothing else meanwhile.
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
    // All are awake before there is work for them.
    rayon::broadcast(|_| ());
    Ok(())
}

/// Whether this thread, the main one, has as large a stack as others get: then it builds with them.
fn has_large_stack() -> bool {
    let limit = rlimit::getrlimit(rlimit::Resource::STACK);
    limit.is_ok_and(|(bytes, _)| bytes >= STACK as u64)
}

/// Whether a build with these arguments leaves the disk as it is.
pub(crate) fn is_dry_run(args: &BuildArgs) -> bool {
    args.dry_run || args.check || template_sandbox::is_child()
}

/// What would be replaced is a difference, not a refusal, where nothing is written.
fn strictness(args: &BuildArgs) -> OverwritePolicy {
    if args.force || args.check { OverwritePolicy::Overwrite } else { OverwritePolicy::KeepForeign }
}

/// Builds once: projects that are known already, or else those that the arguments name. What was read is added to
/// `reads`, also when there is a fault.
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
    // On a thread of the pool itself: from any other one, each parallel step would wait for one of those to wake.
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

/// Checks, makes, compares and writes; the lines of the summary.
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
    let is_good = !report.has_errors();
    if is_good {
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
    let is_written = is_good && !report.has_errors() && !is_dry_run(args);
    let rule = if is_written { marks.rule(|| DependencyGraph::of(parts, reads))? } else { None };
    for part in parts {
        // What was checked is not asked for any more: it goes while files are written.
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

/// What depends on what in a build of `select`, and all there is to say; without an error, it is complete. Nothing is
/// written.
pub(crate) fn graph(
    select: &SelectArgs,
    console: &mut Console,
) -> Result<(Report, DependencyGraph), CommandError> {
    project_build::plan_only(select, console, |parts, desk| {
        project_build::make_all(parts, desk)?;
        Ok(DependencyGraph::of(parts, desk.reads))
    })
}

/// The lines of the summary.
struct SummaryRows {
    rows: Vec<TensorRow>,
    more: usize,
    /// How many good tensors there are.
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

/// Writes what is to be written, and remembers what was found.
fn finish(part: &mut ProjectBuild<'_>, is_written: bool) -> Result<(), CommandError> {
    let ProjectBuild { job, scan, memo, made, plan } = part;
    let mut facts = make::facts(scan, made, is_written);
    if is_written {
        facts.extend(plan.facts());
    }
    if job.held().is_none() {
        // Nothing was to be done. What was found on the way spares the next build a look.
        if is_written {
            job.hint(facts);
        }
        return Ok(());
    }
    if is_written {
        job.record(plan.pending_facts())?;
    }
    if let Some(lock) = job.held().filter(|_| is_written) {
        facts.extend(output_plan::apply(job, plan, lock)?);
    }
    if let Some(dir) = job.state.dir() {
        // What is not kept is computed again.
        drop(memo.flush(dir, &|| make::live(job, made)));
    }
    job.record(facts)
}

/// What became of the outputs: all if there are few, or if all are to be listed; else those that a build made anew.
fn outputs(parts: &[ProjectBuild<'_>], is_listed: bool) -> OutputSummary {
    let kept: usize = parts.iter().map(|part| part.plan.kept).sum();
    let is_listed = is_listed || kept <= FEW;
    let listed = parts.iter().flat_map(|ProjectBuild { job, scan, plan, .. }| {
        let folder = PathBuf::from(relative_to_cwd(&job.home.path()));
        let folder = project::paths::start(&folder).to_owned();
        let made = plan.files.iter().map(|(path, planned)| (path.as_str(), planned.status));
        let kept = scan.kept(job).filter(|_| is_listed && plan.kept > 0);
        let mut listed: Vec<_> =
            made.chain(kept.map(|path| (path, OutputStatus::Unchanged))).collect();
        listed.sort_unstable_by_key(|(path, _)| *path);
        let shown = move |path| folder.join(path).to_string_lossy().into_owned();
        listed.into_iter().map(move |(path, status)| (status, shown(path)))
    });
    OutputSummary { listed: listed.collect(), more: if is_listed { 0 } else { kept } }
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

/// The outputs on disk that are not what they would be.
fn differences(plan: &OutputPlan, job: &BuildJob<'_>) -> Vec<Diagnostic> {
    let differing =
        plan.files.iter().filter(|(_, planned)| planned.status != OutputStatus::Unchanged);
    differing
        .map(|(path, planned)| {
            let file = job.home.path().join(path);
            let shown = relative_to_cwd(&file);
            let message = match planned.status {
                OutputStatus::Removed => format!("`{shown}` is left over"),
                OutputStatus::Written | OutputStatus::Unchanged if !file.exists() => {
                    format!("`{shown}` is missing")
                }
                OutputStatus::Written | OutputStatus::Unchanged => {
                    format!("`{shown}` is not up to date")
                }
            };
            Diagnostic::without_span(Code::OutputStale, message).help("run `layoutc build`")
        })
        .collect()
}
