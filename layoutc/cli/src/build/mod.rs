//! One build: check, emit, compare with what is on disk, write. `build` does it once, `watch` again and again.

mod jobs;

use std::time::{Duration, Instant};

use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::Diagnostic;

use crate::args::{Build, Select};
use crate::confine;
use crate::console::Console;
use crate::fault::{Fault, placeless};
use crate::output::{Plan, Status, Strictness, lock};
use crate::project::reads::Reads;
use crate::project::seen;
use crate::session::Session;

pub(crate) use jobs::{Job, emit_all, own_folder};

/// A build that came to its end; whether a good one, its report says.
#[derive(Debug)]
pub(crate) struct Built {
    /// What was checked, and all there is to say.
    pub(crate) session: Session,
    /// What became of each output, or would, and the path that people see.
    pub(crate) outputs: Vec<(Status, String)>,
    /// How long each stage took.
    pub(crate) stages: Vec<(&'static str, Duration)>,
}

/// Measures stages that follow each other.
struct Clock {
    last: Instant,
    stages: Vec<(&'static str, Duration)>,
}

impl Clock {
    fn start() -> Self {
        Self { last: Instant::now(), stages: Vec::new() }
    }

    fn lap(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.stages.push((stage, now - self.last));
        self.last = now;
    }
}

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

/// Builds once. What was read is added to `reads`, also when there is a fault.
pub(crate) fn once(args: &Build, reads: &mut Reads, console: &mut Console) -> Result<Built, Fault> {
    let mut clock = Clock::start();
    let mut session = open(&args.select, reads, console)?;
    clock.lap("check");
    let jobs = emit_all(&args.select, &mut session, reads)?;
    clock.lap("emit");
    let ended = |session, outputs, clock: Clock| Built { session, outputs, stages: clock.stages };
    if session.report.has_errors() {
        return Ok(ended(session, Vec::new(), clock));
    }
    // What would be replaced is a difference, not a refusal, where nothing is written.
    let strictness = if args.force || args.check { Strictness::Force } else { Strictness::Careful };
    let plans = jobs.iter().map(|job| job.plan(strictness)).collect::<Result<Vec<Plan>, Fault>>();
    let mut plans = match plans {
        Err(Fault::Input(refusals)) => {
            session.report.add(refusals);
            return Ok(ended(session, Vec::new(), clock));
        }
        plans => plans?,
    };
    clock.lap("compare");
    if args.check {
        session.report.add(plans.iter().zip(&jobs).flat_map(|(plan, job)| differences(plan, job)));
    } else if !is_rehearsed(args) {
        write_all(&jobs, &mut plans, strictness, console)?;
        clock.lap("write");
    }
    let outputs = jobs.iter().zip(&plans).flat_map(|(job, plan)| {
        let shown = |path: &String| seen(&job.root.join(path));
        plan.files.iter().map(move |(path, (status, _))| (*status, shown(path)))
    });
    let outputs = outputs.collect();
    Ok(ended(session, outputs, clock))
}

/// Finds, reads and checks what is selected.
pub(crate) fn open(
    select: &Select,
    reads: &mut Reads,
    console: &mut Console,
) -> Result<Session, Fault> {
    let session = Session::open_noting(&select.paths, reads, console)?;
    if select.out.is_some() && session.projects.len() > 1 {
        return Err(Fault::Usage("`--out` takes one project at a time".to_owned()));
    }
    Ok(session)
}

/// Writes under locks; what stands in the folders is looked at again once nobody else can write.
fn write_all(
    jobs: &[Job],
    plans: &mut [Plan],
    strictness: Strictness,
    console: &mut Console,
) -> Result<(), Fault> {
    for (job, plan) in jobs.iter().zip(plans) {
        if plan.is_current() {
            continue;
        }
        let lock = lock(&job.root, || {
            if !console.quiet {
                let folder = seen(&job.root);
                console.remark(&format!("waiting for another build that writes to `{folder}`\n"));
            }
        })?;
        *plan = job.plan(strictness)?;
        plan.apply(&lock)?;
    }
    Ok(())
}

/// The outputs on disk that are not what they would be.
fn differences(plan: &Plan, job: &Job) -> Vec<Diagnostic> {
    let differing = plan.files.iter().filter(|(_, (status, _))| *status != Status::Unchanged);
    differing
        .map(|(path, (status, _))| {
            let file = job.root.join(path);
            let shown = seen(&file);
            let message = match status {
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
