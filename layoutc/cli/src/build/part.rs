//! The parts of a build, one for each project, and what is done with them before anything is written.

use crate::args::{Format, Select};
use crate::console::Console;
use crate::fault::Fault;
use crate::interrupt;
use crate::output::Strictness;
use crate::project::reads::Reads;
use crate::project::{self, Project, seen};
use crate::report::{CAP, Report, counted};
use crate::state::log::{Log, Store};
use crate::state::memo::Disk;

use super::job::{Job, Patience, guess};
use super::looked::Looked;
use super::make::{self, Made};
use super::meter::{Detail, Meter};
use super::plan::Plan;
use super::scan::Scan;

/// One project in a build.
pub(super) struct Part<'a> {
    pub(super) job: Job<'a>,
    pub(super) scan: Scan<'a>,
    pub(super) memo: Disk,
    pub(super) made: Made,
    pub(super) plan: Plan,
}

/// What every step of a build has at hand.
pub(super) struct Desk<'a> {
    pub(super) meter: &'a Meter,
    pub(super) report: Report,
    pub(super) reads: &'a mut Reads,
    pub(super) console: &'a mut Console,
    /// How many diagnostics of each severity are shown, with the lines that they are about.
    pub(super) shown: usize,
}

impl<'a> Desk<'a> {
    /// A desk at which nothing was done yet.
    pub(super) fn new(
        meter: &'a Meter,
        report: Report,
        reads: &'a mut Reads,
        console: &'a mut Console,
    ) -> Self {
        let shown = match console.format {
            Format::Json => usize::MAX,
            Format::Text => CAP,
        };
        Self { meter, report, reads, console, shown }
    }
}

/// What is at hand before a build looks at anything.
#[derive(Debug)]
pub(crate) struct Ahead<'a> {
    /// A log that was read meanwhile; most likely the first project's.
    pub(crate) log: Option<Log<'a>>,
    /// Manifests that were looked at a moment ago.
    pub(crate) looked: Looked<'a>,
    /// Where logs are read to.
    pub(crate) store: &'a Store,
}

/// The projects that `select` names.
pub(super) fn discover<'a>(
    select: &Select,
    store: &'a Store,
    report: &mut Report,
    reads: &mut Reads,
) -> Result<(Vec<Project>, Ahead<'a>), Fault> {
    let early = || {
        let (root, log) = guess(select, store)?;
        // Of a part of a project most others need not be looked at.
        let looked = select.paths.is_empty().then(|| Looked::at(root, &log.facts));
        Some((log, looked.unwrap_or_default()))
    };
    let find = || project::discover(&select.paths, select.root.as_deref(), report, reads);
    let (projects, early) = rayon::join(find, early);
    let (log, looked) = early.unzip();
    let projects = projects?;
    if select.out.is_some() && projects.len() > 1 {
        return Err(Fault::Usage("`--out` takes one project at a time".to_owned()));
    }
    Ok((projects, Ahead { log, looked: looked.unwrap_or_default(), store }))
}

/// Finds out what is to be done in each project.
pub(super) fn all<'a>(
    select: &Select,
    projects: &'a [Project],
    mut ahead: Ahead<'a>,
    strictness: Strictness,
    locking: Option<Patience>,
    desk: &mut Desk<'_>,
) -> Result<Vec<Part<'a>>, Fault> {
    let mut parts = Vec::new();
    for project in projects {
        announce(project, desk.console);
        let job = Job::new(select, project, &mut ahead.log, ahead.store)?;
        let part = one(job, strictness, locking, &ahead.looked, desk)?;
        desk.reads.written.insert(part.job.home.path());
        parts.push(part);
    }
    desk.meter.lap("look");
    Ok(parts)
}

/// Finds out what is to be done in a project. If something is, and it may be, the output folder is locked.
fn one<'a>(
    mut job: Job<'a>,
    strictness: Strictness,
    locking: Option<Patience>,
    looked: &Looked<'_>,
    desk: &mut Desk<'_>,
) -> Result<Part<'a>, Fault> {
    let mut scan = Scan::take(&job, strictness, looked, desk.reads)?;
    if let Some(patience) = locking.filter(|_| !scan.is_done()) {
        interrupt::when_prepared()?;
        if job.lock(patience, desk.console)? {
            // Time went by, or another build went on.
            scan = Scan::take(&job, strictness, &Looked::Nothing, desk.reads)?;
        }
    }
    let dir = job.state.dir().and_then(|dir| dir.try_clone().ok());
    let memo = Disk::new(dir, scan.program());
    Ok(Part { job, scan, memo, made: Made::default(), plan: Plan::default() })
}

/// Checks what must be checked.
pub(super) fn check_all(parts: &mut [Part<'_>], desk: &mut Desk<'_>) -> Result<(), Fault> {
    for Part { job, scan, memo, made, .. } in parts {
        *made = make::check(job, scan, memo, desk)?;
    }
    desk.meter.lap("check");
    Ok(())
}

/// Checks and makes what must be. Where the report has errors the files are not made.
pub(super) fn make_all(parts: &mut [Part<'_>], desk: &mut Desk<'_>) -> Result<(), Fault> {
    check_all(parts, desk)?;
    for Part { job, scan, made, .. } in parts {
        if !scan.work.is_empty() && !desk.report.has_errors() {
            make::emit(job, scan, made, desk)?;
        }
    }
    desk.meter.lap("emit");
    Ok(())
}

/// Works on what `select` names, and writes nothing: what `work` gives, and all there is to say.
pub(super) fn rehearse<T>(
    select: &Select,
    console: &mut Console,
    work: impl FnOnce(&mut [Part<'_>], &mut Desk<'_>) -> Result<T, Fault>,
) -> Result<(Report, T), Fault> {
    let (meter, mut report) = (Meter::start(Detail::Counts), Report::default());
    let mut reads = Reads::default();
    let store = Store::default();
    let (projects, ahead) = discover(select, &store, &mut report, &mut reads)?;
    let mut desk = Desk::new(&meter, report, &mut reads, console);
    let mut parts = all(select, &projects, ahead, Strictness::Force, None, &mut desk)?;
    let given = work(&mut parts, &mut desk)?;
    Ok((desk.report, given))
}

fn announce(project: &Project, console: &mut Console) {
    if console.verbose {
        let manifests = counted(project.manifests.len(), "manifest");
        console.remark(&format!("{}: {manifests}\n", seen(&project.root)));
    }
}
