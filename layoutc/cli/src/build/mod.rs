//! One build: look, check, emit, compare with what is on disk, write. `build` does it once, `watch` again and again.
//!
//! What a build depends on is hashed, and what was made of it is remembered. What has not changed is not read, parsed,
//! proven, made or written again.

mod graph;
mod job;
mod key;
mod lines;
mod locked;
mod make;
mod marks;
mod meter;
mod plan;
mod progress;
mod rule;
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
use crate::session::localized;
use crate::state::memo::Disk;

pub(crate) use graph::{Graph, Kind};
pub(crate) use job::places;
pub(crate) use meter::Span;

use job::{Job, Patience};

use make::Made;
use marks::Marks;
use meter::{Detail, Meter};
use plan::Plan;
use progress::Progress;
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
    /// The tensors: all if there are few, or if all were asked for; else the first of those that were checked.
    pub(crate) rows: Vec<Row>,
    /// How many more were checked.
    pub(crate) more: usize,
    /// What became of each output, or would, and the path that people see.
    pub(crate) outputs: Vec<(Status, String)>,
    /// How long each stage took.
    pub(crate) stages: Vec<(&'static str, Duration)>,
    /// Every piece of work, where that was asked for.
    pub(crate) spans: Vec<Span>,
    /// The state folder of the first project.
    pub(crate) state: Option<PathBuf>,
}

/// Which tensors a build gives lines of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// All.
    All,
    /// All if there are few, else the first of those that were checked.
    Few,
    /// None.
    None,
}

/// The tensors of which all get a line, whatever was done.
const FEW: usize = 32;

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

/// What would be replaced is a difference, not a refusal, where nothing is written.
fn strictness(args: &Build) -> Strictness {
    if args.force || args.check { Strictness::Force } else { Strictness::Careful }
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
    let meter = Meter::start(if args.timings { Detail::Spans } else { Detail::Counts });
    let marks = Marks::look(args)?;
    let mut report = Report::default();
    let locking = match (is_rehearsed(args), args.no_wait) {
        (true, _) => None,
        (false, true) => Some(Patience::GiveUp),
        (false, false) => Some(Patience::Wait),
    };
    let projects = discover(&args.select, &mut report, reads)?;
    let shown = Desk::shown(console);
    let mut desk = Desk { meter: &meter, report, reads, console, shown };
    let mut parts = parts(&args.select, &projects, strictness(args), locking, &mut desk)?;
    let lines = std::thread::scope(|scope| {
        let _progress = Progress::show(scope, &meter, desk.console);
        work(args, &marks, &mut parts, rows, &mut desk)
    })?;
    let report = desk.report;
    Ok(built(&parts, lines, report, meter))
}

/// Checks, makes, compares and writes; the lines of the summary.
fn work(
    args: &Build,
    marks: &Marks,
    parts: &mut [Part<'_>],
    rows: Rows,
    desk: &mut Desk<'_>,
) -> Result<Lines, Fault> {
    make_all(parts, desk)?;
    let Desk { meter, report, reads, .. } = desk;
    if args.locked && !report.has_errors() {
        hold_to_lock(parts, report)?;
    }
    let lines = lines(parts, rows);
    let is_good = !report.has_errors();
    if is_good {
        for part in &mut *parts {
            match plan::plan(&part.job, &mut part.scan, &mut part.made, strictness(args))? {
                Ok(plan) => part.plan = plan,
                Err(refusals) => report.add(refusals),
            }
        }
        meter.lap("compare");
    }
    if args.check {
        report.add(parts.iter().flat_map(|part| differences(&part.plan, &part.job)));
    }
    let is_written = is_good && !report.has_errors() && !is_rehearsed(args);
    let rule = if is_written { marks.rule(|| Graph::of(parts, reads))? } else { None };
    for part in parts {
        finish(part, is_written)?;
    }
    if is_written {
        marks.leave(rule.as_deref())?;
        meter.lap("write");
    }
    Ok(lines)
}

/// What depends on what in a build of `select`, and all there is to say; without an error, it is complete. Nothing is
/// written.
pub(crate) fn graph(select: &Select, console: &mut Console) -> Result<(Report, Graph), Fault> {
    let (meter, mut report) = (Meter::start(Detail::Counts), Report::default());
    let mut reads = Reads::default();
    let projects = discover(select, &mut report, &mut reads)?;
    let shown = Desk::shown(console);
    let mut desk = Desk { meter: &meter, report, reads: &mut reads, console, shown };
    let mut parts = parts(select, &projects, Strictness::Force, None, &mut desk)?;
    make_all(&mut parts, &mut desk)?;
    let graph = Graph::of(&parts, desk.reads);
    Ok((desk.report, graph))
}

/// Reports what differs from the lock files.
fn hold_to_lock(parts: &[Part<'_>], report: &mut Report) -> Result<(), Fault> {
    for Part { job, scan, memo, made, .. } in parts {
        let tensors = lines::all_abi(job, scan, made, memo);
        let differences = locked::differences(job.project, &tensors)?;
        for label in differences.found.iter().flat_map(|d| &d.labels) {
            make::read_text(job, label, report);
        }
        if let Some((file, text)) = differences.file {
            report.text(file, text);
        }
        report.add(differences.found.iter().map(|d| localized(d, job.project)));
    }
    Ok(())
}

/// A lock file that was written, or was right already.
#[derive(Debug)]
pub(crate) struct Locking {
    /// The path that people see.
    pub(crate) path: String,
    /// How many tensors it has.
    pub(crate) tensors: usize,
    /// What became of it.
    pub(crate) status: Status,
}

/// Writes the lock file of every project that `paths` name, where all is well.
pub(crate) fn lock_files(
    paths: &[PathBuf],
    console: &mut Console,
) -> Result<(Report, Vec<Locking>), Fault> {
    let (meter, mut report) = (Meter::start(Detail::Counts), Report::default());
    let mut reads = Reads::default();
    let select = Select { paths: paths.to_vec(), target: Vec::new(), out: None, state: None };
    let projects = discover(&select, &mut report, &mut reads)?;
    if let Some(part) = projects.iter().find(|project| !project.is_whole) {
        let root = seen(&part.root);
        return Err(Fault::Usage(format!("a lock file is of a whole project; name `{root}`")));
    }
    let shown = Desk::shown(console);
    let mut desk = Desk { meter: &meter, report, reads: &mut reads, console, shown };
    let mut parts = parts(&select, &projects, Strictness::Force, None, &mut desk)?;
    check_all(&mut parts, &mut desk)?;
    let report = desk.report;
    let mut files = Vec::new();
    for Part { job, scan, memo, made, .. } in parts.iter().filter(|_| !report.has_errors()) {
        let tensors = lines::all_abi(job, scan, made, memo);
        let path = locked::file(job.project);
        let status = crate::output::replace(&path, &locked::text(&tensors))?;
        files.push(Locking { path: seen(&path), tensors: tensors.len(), status });
    }
    Ok((report, files))
}

/// What every step of a build has at hand.
struct Desk<'a> {
    meter: &'a Meter,
    report: Report,
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

/// Finds out what is to be done in each project.
fn parts<'a>(
    select: &Select,
    projects: &'a [Project],
    strictness: Strictness,
    locking: Option<Patience>,
    desk: &mut Desk<'_>,
) -> Result<Vec<Part<'a>>, Fault> {
    let mut parts = Vec::new();
    for project in projects {
        announce(project, desk.console);
        let part = part(select, project, strictness, locking, desk)?;
        desk.reads.written.insert(part.job.home.path());
        parts.push(part);
    }
    desk.meter.lap("look");
    Ok(parts)
}

/// Checks what must be checked.
fn check_all(parts: &mut [Part<'_>], desk: &mut Desk<'_>) -> Result<(), Fault> {
    for Part { job, scan, memo, made, .. } in parts {
        *made = make::make(job, scan, memo, desk)?;
    }
    desk.meter.lap("check");
    Ok(())
}

/// Checks and makes what must be. Where the report has errors the files are not made.
fn make_all(parts: &mut [Part<'_>], desk: &mut Desk<'_>) -> Result<(), Fault> {
    check_all(parts, desk)?;
    for Part { job, scan, made, .. } in parts {
        if !scan.work.is_empty() && !desk.report.has_errors() {
            make::emit(job, scan, made, desk)?;
        }
    }
    desk.meter.lap("emit");
    Ok(())
}

/// The lines of the summary.
struct Lines {
    rows: Vec<Row>,
    more: usize,
}

fn lines(parts: &[Part<'_>], rows: Rows) -> Lines {
    let of = |part: &Part<'_>| lines::tensors(&part.job, &part.scan, &part.made);
    let is_all = rows == Rows::All || parts.iter().map(of).sum::<usize>() <= FEW;
    let mut lines = Lines { rows: Vec::new(), more: 0 };
    for Part { job, scan, memo, made, .. } in parts.iter().filter(|_| rows != Rows::None) {
        if is_all {
            lines.rows.extend(lines::all(job, scan, made, memo));
        } else {
            let room = FEW.saturating_sub(lines.rows.len());
            let (first, more) = lines::checked(job, made, room);
            lines.rows.extend(first);
            lines.more += more;
        }
    }
    lines
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

fn built(parts: &[Part<'_>], lines: Lines, report: Report, meter: Meter) -> Built {
    let (stages, spans) = meter.finish();
    let outputs = parts.iter().flat_map(|part| {
        let folder = PathBuf::from(seen(&part.job.home.path()));
        let folder = project::paths::start(&folder).to_owned();
        part.plan.files.iter().map(move |(path, planned)| {
            (planned.status, folder.join(path).to_string_lossy().into_owned())
        })
    });
    Built {
        report,
        tensors: parts.iter().map(|part| lines::tensors(&part.job, &part.scan, &part.made)).sum(),
        manifests: parts.iter().map(|part| part.job.project.manifests.len()).sum(),
        rows: lines.rows,
        more: lines.more,
        outputs: outputs.collect(),
        stages,
        spans,
        state: parts.first().map(|part| part.job.state.path()),
    }
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
