//! One build: look, check, emit, compare with what is on disk, write. `build` does it once, `watch` again and again.
//!
//! What a build depends on is hashed, and what was made of it is remembered. What has not changed is not read, parsed,
//! proven, made or written again.

mod clock;
mod job;
mod key;
mod make;
mod plan;
mod scan;

use std::path::PathBuf;
use std::time::Duration;

use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::Diagnostic;

use crate::args::{Build, Format, Select};
use crate::confine;
use crate::console::Console;
use crate::fault::{Fault, placeless};
use crate::output::{Status, Strictness};
use crate::project::reads::Reads;
use crate::project::{self, Project, seen};
use crate::report::summary::Row;
use crate::report::{CAP, Report};
use crate::state::memo::Disk;

pub(crate) use job::places;

use job::{Job, Patience};

use clock::Clock;
use make::Made;
use plan::Plan;
use scan::Scan;

/// A build that came to its end; whether a good one, its report says.
#[derive(Debug)]
pub(crate) struct Built {
    /// All there is to say.
    pub(crate) report: Report,
    /// How many good tensors the manifests asked for have.
    pub(crate) tensors: usize,
    /// How many manifests were asked for.
    pub(crate) manifests: usize,
    /// The tensors: all if there are few, or if all were asked for; else those that were checked.
    pub(crate) rows: Vec<Row>,
    /// What became of each output, or would, and the path that people see.
    pub(crate) outputs: Vec<(Status, String)>,
    /// How long each stage took.
    pub(crate) stages: Vec<(&'static str, Duration)>,
}

/// Which tensors a build gives lines of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// All.
    All,
    /// All if there are few, else those that were checked.
    Few,
    /// None.
    None,
}

/// The tensors of which all get a line, whatever was done.
pub(crate) const FEW: usize = 32;

/// Makes `build` and `watch` work on as many threads as they were told to.
pub(crate) fn limit_threads(args: &Build) -> Result<(), Fault> {
    let Some(jobs) = args.jobs else { return Ok(()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(jobs));
    pool.build_global().map_err(|error| {
        let message = format!("cannot start {jobs} threads: {error}");
        Fault::Machine(Box::new(placeless(Code::OutputIo, message)))
    })
}

/// Whether a build with these arguments leaves the disk as it is.
pub(crate) fn is_rehearsed(args: &Build) -> bool {
    args.dry_run || args.check || confine::is_child()
}

/// One project in a build.
struct Part<'a> {
    job: Job<'a>,
    scan: Scan,
    memo: Disk,
    made: Made,
    plan: Plan,
}

/// Builds once. What was read is added to `reads`, also when there is a fault.
pub(crate) fn once(
    args: &Build,
    rows: Rows,
    reads: &mut Reads,
    console: &mut Console,
) -> Result<Built, Fault> {
    let mut clock = Clock::start();
    let mut report = Report::default();
    let strictness = if args.force || args.check { Strictness::Force } else { Strictness::Careful };
    let locking = match (is_rehearsed(args), args.no_wait) {
        (true, _) => None,
        (false, true) => Some(Patience::GiveUp),
        (false, false) => Some(Patience::Wait),
    };
    let projects = discover(&args.select, &mut report, reads)?;
    let shown = Desk::shown(console);
    let mut desk = Desk { clock: &mut clock, report: &mut report, reads, console, shown };
    let mut parts = prepare(&args.select, &projects, strictness, locking, &mut desk)?;
    let is_good = !report.has_errors();
    if is_good {
        for part in &mut parts {
            match plan::plan(&part.job, &part.scan, &mut part.made, strictness)? {
                Ok(plan) => part.plan = plan,
                Err(refusals) => report.add(refusals),
            }
        }
        clock.lap("compare");
    }
    if args.check {
        report.add(parts.iter().flat_map(|part| differences(&part.plan, &part.job)));
    }
    let is_written = is_good && !report.has_errors() && !is_rehearsed(args);
    for part in &mut parts {
        finish(part, is_written)?;
    }
    if is_written {
        clock.lap("write");
    }
    Ok(built(&parts, rows, report, clock))
}

/// The files that a build of `select` writes, and all there is to say. Nothing is written.
pub(crate) fn outputs(
    select: &Select,
    console: &mut Console,
) -> Result<(Report, Vec<PathBuf>), Fault> {
    let (mut clock, mut report, mut reads) = (Clock::start(), Report::default(), Reads::default());
    let projects = discover(select, &mut report, &mut reads)?;
    let shown = Desk::shown(console);
    let mut desk =
        Desk { clock: &mut clock, report: &mut report, reads: &mut reads, console, shown };
    let parts = prepare(select, &projects, Strictness::Force, None, &mut desk)?;
    let files = parts.iter().flat_map(|part| {
        let folder = part.job.home.path();
        let new = part.made.emitted.values().flat_map(|files| &files.outputs);
        let new = new.map(|(output, _)| output.path.as_str());
        let old = part.scan.standing.keys().map(String::as_str);
        old.chain(new).map(move |path| folder.join(path)).collect::<Vec<_>>()
    });
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    Ok((report, files))
}

/// What every step of a build has at hand.
struct Desk<'a> {
    clock: &'a mut Clock,
    report: &'a mut Report,
    reads: &'a mut Reads,
    console: &'a mut Console,
    /// How many diagnostics of each severity are shown, with the lines that they are about.
    shown: usize,
}

impl Desk<'_> {
    fn shown(console: &Console) -> usize {
        match console.format {
            Format::Json => usize::MAX,
            Format::Text => CAP,
        }
    }
}

fn discover(
    select: &Select,
    report: &mut Report,
    reads: &mut Reads,
) -> Result<Vec<Project>, Fault> {
    let projects = project::discover(&select.paths, report, reads)?;
    if select.out.is_some() && projects.len() > 1 {
        return Err(Fault::Usage("`--out` takes one project at a time".to_owned()));
    }
    Ok(projects)
}

/// Finds out what is to be done, checks and makes it. Where the report has errors the files are not made.
fn prepare<'a>(
    select: &Select,
    projects: &'a [Project],
    strictness: Strictness,
    locking: Option<Patience>,
    desk: &mut Desk<'_>,
) -> Result<Vec<Part<'a>>, Fault> {
    let mut parts = Vec::new();
    for project in projects {
        announce(project, desk.console);
        parts.push(part(select, project, strictness, locking, desk)?);
    }
    desk.clock.lap("look");
    for Part { job, scan, memo, made, .. } in &mut parts {
        *made = make::make(job, scan, memo, desk)?;
    }
    desk.clock.lap("check");
    for Part { job, scan, made, .. } in &mut parts {
        if !scan.work.is_empty() && !desk.report.has_errors() {
            make::emit(job, scan, made, desk)?;
        }
        desk.reads.written.insert(job.home.path());
    }
    desk.clock.lap("emit");
    Ok(parts)
}

fn announce(project: &Project, console: &mut Console) {
    if console.verbose {
        let manifests = crate::report::counted(project.manifests.len(), "manifest");
        console.remark(&format!("{}: {manifests}\n", seen(&project.root)));
    }
}

/// Finds out what is to be done in a project. If something is, and it may be, the output folder is locked.
fn part<'a>(
    select: &Select,
    project: &'a Project,
    strictness: Strictness,
    locking: Option<Patience>,
    desk: &mut Desk<'_>,
) -> Result<Part<'a>, Fault> {
    let mut job = Job::new(select, project)?;
    let mut scan = Scan::take(&job, strictness, desk.reads)?;
    if let Some(patience) = locking.filter(|_| !scan.is_done())
        && job.lock(patience, desk.console)?
    {
        // Another build went on in the meantime.
        scan = Scan::take(&job, strictness, desk.reads)?;
    }
    let dir = job.state.dir().and_then(|dir| dir.try_clone().ok());
    let memo = Disk::new(dir, scan.program());
    Ok(Part { job, scan, memo, made: Made::default(), plan: Plan::default() })
}

/// Writes what is to be written, and remembers what was found.
fn finish(part: &mut Part<'_>, is_written: bool) -> Result<(), Fault> {
    let Part { job, scan, memo, made, plan } = part;
    let mut facts = make::facts(scan, made, is_written);
    if is_written && job.held().is_some() {
        job.record(plan.coming())?;
    }
    let Some(lock) = job.held() else {
        if is_written {
            facts.extend(plan.facts());
            job.hint(facts);
        }
        return Ok(());
    };
    if is_written {
        facts.extend(plan::apply(job, plan, lock)?);
        facts.extend(plan.facts());
    }
    if let Some(dir) = job.state.dir() {
        // What is not kept is computed again.
        drop(memo.flush(dir, &|| make::live(job, made)));
    }
    job.record(facts)
}

fn built(parts: &[Part<'_>], rows: Rows, report: Report, clock: Clock) -> Built {
    let tensors = parts.iter().map(tensors).sum();
    let manifests = parts.iter().map(|part| part.job.project.manifests.len()).sum();
    let lists_all = rows == Rows::All || rows == Rows::Few && tensors <= FEW;
    let rows = match rows {
        Rows::None => Vec::new(),
        Rows::All | Rows::Few => parts.iter().flat_map(|part| part_rows(part, lists_all)).collect(),
    };
    let outputs = parts.iter().flat_map(|part| {
        let folder = PathBuf::from(seen(&part.job.home.path()));
        let folder = project::paths::start(&folder).to_owned();
        part.plan.files.iter().map(move |(path, planned)| {
            (planned.status, folder.join(path).to_string_lossy().into_owned())
        })
    });
    let outputs = outputs.collect();
    Built { report, tensors, manifests, rows, outputs, stages: clock.stages() }
}

/// How many good tensors the manifests of a part have.
fn tensors(part: &Part<'_>) -> usize {
    let count = |manifest: &String| match part.made.manifests.get(manifest) {
        Some(manifest) => manifest.tensors.len(),
        None => part.scan.tensors(&part.job, manifest),
    };
    part.job.project.manifests.keys().map(count).sum()
}

fn part_rows(part: &Part<'_>, lists_all: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for manifest in part.job.project.manifests.keys() {
        match (part.made.manifests.get(manifest), part.scan.fresh.get(manifest)) {
            (Some(manifest), _) => rows.extend(manifest.tensors.iter().map(Row::new)),
            (None, Some(fresh)) if lists_all => {
                rows.extend(make::rows(&part.job, &part.memo, manifest, &fresh.key));
            }
            (None, _) => {}
        }
    }
    let shown = |row: Row| {
        let file = part.job.project.shown(row.file());
        row.of(file)
    };
    rows.into_iter().map(shown).collect()
}

/// The outputs on disk that are not what they would be.
fn differences(plan: &Plan, job: &Job<'_>) -> Vec<Diagnostic> {
    let differing = plan.files.iter().filter(|(_, planned)| planned.status != Status::Unchanged);
    differing
        .map(|(path, planned)| {
            let file = job.home.path().join(path);
            let shown = seen(&file);
            let message = match planned.status {
                Status::Removed => format!("`{shown}` is left over"),
                Status::Written | Status::Unchanged if !file.exists() => {
                    format!("`{shown}` is missing")
                }
                Status::Written | Status::Unchanged => format!("`{shown}` is not up to date"),
            };
            placeless(Code::OutputStale, message).help("run `layoutc build`")
        })
        .collect()
}
