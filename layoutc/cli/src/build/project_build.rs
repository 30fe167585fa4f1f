//! Builds of projects up to the point where files are written: discover, scan, lock, check, generate.

use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::interrupt;
use crate::output::OverwritePolicy;
use crate::paths::relative_to_cwd;
use crate::project::read_set::ReadSet;
use crate::project::{self, Project};
use crate::report::{CAP, Report, counted};
use crate::state::log::{BuildLog, LogArena};
use crate::state::memo::DiskMemo;

use super::SelectArgs;
use super::job::{BuildJob, LockWait, guess_log};
use super::make::{self, BuildProducts};
use super::meter::{Meter, MeterDetail};
use super::output_plan::OutputPlan;
use super::read_cache::ManifestReads;
use super::scan::BuildScan;

pub(super) struct ProjectBuild<'a> {
    pub(super) job: BuildJob<'a>,
    pub(super) scan: BuildScan<'a>,
    pub(super) memo: DiskMemo,
    pub(super) made: BuildProducts,
    pub(super) plan: OutputPlan,
}

/// State that the steps of a build share: the progress, the report, the files read, and the console.
pub(super) struct BuildContext<'a> {
    pub(super) meter: &'a Meter,
    pub(super) report: Report,
    pub(super) reads: &'a mut ReadSet,
    pub(super) console: &'a mut Console,
    /// Maximum number of diagnostics per severity for which the source lines are displayed.
    pub(super) shown: usize,
}

impl<'a> BuildContext<'a> {
    pub(super) fn new(
        meter: &'a Meter,
        report: Report,
        reads: &'a mut ReadSet,
        console: &'a mut Console,
    ) -> Self {
        let shown = match console.format {
            ReportFormat::Json => usize::MAX,
            ReportFormat::Text => CAP,
        };
        Self { meter, report, reads, console, shown }
    }
}

/// Data for a build that another thread reads while the projects of the build are discovered.
#[derive(Debug)]
pub(crate) struct BuildPrefetch<'a> {
    /// Log that [`guess_log`] loaded. `BuildJob::new` takes it for the project to whose state folder it belongs, and
    /// loads the log of any other project.
    pub(crate) log: Option<BuildLog<'a>>,
    /// File states of the manifests that were read ahead. A manifest without a state is read when its project is
    /// scanned.
    pub(crate) prefetched: ManifestReads<'a>,
    /// Arena that owns the bytes of the logs.
    pub(crate) store: &'a LogArena,
}

/// Discovers the projects of `select`. Meanwhile, another thread reads a log ahead and, if `select` names no paths, the
/// manifests in it. Returns the projects and that data. `store` owns the bytes of the log. Errors in configurations are
/// added to `report`, and the files that were read to `reads`.
///
/// # Errors
/// [`CommandError::Usage`] if `--out` is given and there are several projects. Any error of [`project::discover`].
pub(super) fn discover<'a>(
    select: &SelectArgs,
    store: &'a LogArena,
    report: &mut Report,
    reads: &mut ReadSet,
) -> Result<(Vec<Project>, BuildPrefetch<'a>), CommandError> {
    let early = || {
        let (root, log) = guess_log(select, store)?;
        // For a part of a project, reading all its manifests would not pay.
        let prefetched = select.paths.is_empty().then(|| ManifestReads::at(root, &log.facts));
        Some((log, prefetched.unwrap_or_default()))
    };
    let find = || project::discover(&select.paths, select.root.as_deref(), report, reads);
    let (projects, early) = rayon::join(find, early);
    let (log, prefetched) = early.unzip();
    let projects = projects?;
    if select.out.is_some() && projects.len() > 1 {
        return Err(CommandError::Usage("`--out` accepts only one project".to_owned()));
    }
    Ok((projects, BuildPrefetch { log, prefetched: prefetched.unwrap_or_default(), store }))
}

/// Scans each of `projects` in order, with the data `ahead` that was read ahead. `strictness` is the policy for output
/// files that layoutc did not write. Locks the output folder of each project with work to do. `locking` says whether to
/// wait for another build; `None`, as in a dry run, locks nothing.
pub(super) fn all<'a>(
    select: &SelectArgs,
    projects: &'a [Project],
    mut ahead: BuildPrefetch<'a>,
    strictness: OverwritePolicy,
    locking: Option<LockWait>,
    desk: &mut BuildContext<'_>,
) -> Result<Vec<ProjectBuild<'a>>, CommandError> {
    let mut parts = Vec::new();
    for project in projects {
        announce(project, desk.console);
        let job = BuildJob::new(select, project, &mut ahead.log, ahead.store)?;
        let part = one(job, strictness, locking, &ahead.prefetched, desk)?;
        desk.reads.written.insert(part.job.home.path());
        parts.push(part);
    }
    desk.meter.lap("look");
    Ok(parts)
}

/// Scans the project of `job`, and locks its output folder if there is work to do. `strictness` is the policy for
/// output files that layoutc did not write. `locking` says whether to wait for another build; `None` locks nothing.
/// `prefetched` has file states that were read ahead. Scans the project again, without `prefetched`, if its state may
/// have changed before the lock was taken.
fn one<'a>(
    mut job: BuildJob<'a>,
    strictness: OverwritePolicy,
    locking: Option<LockWait>,
    prefetched: &ManifestReads<'_>,
    desk: &mut BuildContext<'_>,
) -> Result<ProjectBuild<'a>, CommandError> {
    let mut scan = BuildScan::take(&job, strictness, prefetched, desk.reads)?;
    if let Some(patience) = locking.filter(|_| !scan.is_done()) {
        interrupt::install_once()?;
        if job.lock(patience, desk.console)? {
            // The state may have changed while waiting.
            scan = BuildScan::take(&job, strictness, &ManifestReads::Nothing, desk.reads)?;
        }
    }
    let dir = job.state.dir().and_then(|dir| dir.try_clone().ok());
    let memo = DiskMemo::new(dir, scan.program());
    Ok(ProjectBuild {
        job,
        scan,
        memo,
        made: BuildProducts::default(),
        plan: OutputPlan::default(),
    })
}

/// Checks the manifests of each project that are stale or whose files must be generated. Stores the result in `made` of
/// the project.
pub(super) fn check_all(
    parts: &mut [ProjectBuild<'_>],
    desk: &mut BuildContext<'_>,
) -> Result<(), CommandError> {
    for ProjectBuild { job, scan, memo, made, .. } in parts {
        *made = make::check(job, scan, memo, desk)?;
    }
    desk.meter.lap("check");
    Ok(())
}

/// Checks the manifests of each project, then generates files unless the report has errors.
pub(super) fn make_all(
    parts: &mut [ProjectBuild<'_>],
    desk: &mut BuildContext<'_>,
) -> Result<(), CommandError> {
    check_all(parts, desk)?;
    for ProjectBuild { job, scan, made, .. } in parts {
        if !scan.work.is_empty() && !desk.report.has_errors() {
            make::emit(job, scan, made, desk)?;
        }
    }
    desk.meter.lap("emit");
    Ok(())
}

/// Runs `work` on the scanned projects of `select`, without locking or writing files. Returns the report, and the
/// result of `work`.
pub(super) fn plan_only<T>(
    select: &SelectArgs,
    console: &mut Console,
    work: impl FnOnce(&mut [ProjectBuild<'_>], &mut BuildContext<'_>) -> Result<T, CommandError>,
) -> Result<(Report, T), CommandError> {
    let (meter, mut report) = (Meter::start(MeterDetail::Counts), Report::default());
    let mut reads = ReadSet::default();
    let store = LogArena::default();
    let (projects, ahead) = discover(select, &store, &mut report, &mut reads)?;
    let mut desk = BuildContext::new(&meter, report, &mut reads, console);
    let mut parts = all(select, &projects, ahead, OverwritePolicy::Overwrite, None, &mut desk)?;
    let given = work(&mut parts, &mut desk)?;
    Ok((desk.report, given))
}

fn announce(project: &Project, console: &mut Console) {
    if console.verbose {
        let manifests = counted(project.manifests.len(), "manifest");
        console.remark(&format!("{}: {manifests}\n", relative_to_cwd(&project.root)));
    }
}
