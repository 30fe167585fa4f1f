//! `layoutc build`: checks, then writes the outputs that changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::Diagnostic;
use layoutc_compiler::{Output, emit};
use serde_json::{Value, json};

use crate::args::{Build, Format};
use crate::confine;
use crate::console::Console;
use crate::fault::{Fault, placeless};
use crate::output::{Plan, Status, Strictness, Sweep, lock};
use crate::project::paths::{is_below, slashed};
use crate::project::{Project, files, seen, walk};
use crate::report::counted;
use crate::report::summary::{Row, table};
use crate::session::{Session, localized};

use super::{Ending, outside};

/// One project's outputs and where they go.
struct Job {
    root: PathBuf,
    outputs: Vec<Output>,
    strictness: Strictness,
    sweep: Sweep,
}

impl Job {
    fn plan(&self) -> Result<Plan, Fault> {
        Plan::new(&self.root, self.outputs.clone(), self.strictness, &self.sweep)
    }
}

/// Builds what the arguments name.
pub(crate) fn run(args: &Build, console: &mut Console) -> Result<Ending, Fault> {
    let start = Instant::now();
    let mut session = Session::open(&args.paths, console)?;
    if args.out.is_some() && session.projects.len() > 1 {
        return Err(Fault::Usage("`--out` takes one project at a time".to_owned()));
    }
    let jobs = emit_all(args, &mut session)?;
    if session.report.has_errors() {
        session.report.print(console);
        return Ok(Ending::Bad);
    }
    let plans = jobs.iter().map(Job::plan).collect::<Result<Vec<Plan>, Fault>>();
    let mut plans = match plans {
        Err(Fault::Input(refusals)) => {
            session.report.add(refusals);
            session.report.print(console);
            return Ok(Ending::Bad);
        }
        plans => plans?,
    };
    if args.check {
        session.report.add(plans.iter().zip(&jobs).flat_map(|(plan, job)| differences(plan, job)));
    } else if !args.dry_run {
        write_all(&jobs, &mut plans, console)?;
    }
    show(args, &session, &jobs, &plans, start, console);
    session.report.print(console);
    Ok(Ending::of(&session.report))
}

/// The outputs of every project without errors; what emission has to say goes to the report.
fn emit_all(args: &Build, session: &mut Session) -> Result<Vec<Job>, Fault> {
    let mut jobs = Vec::new();
    let mut rehearsed = false;
    for (project, checked) in &session.projects {
        if session.report.has_errors() {
            break;
        }
        let templates = templates(project)?;
        if !templates.is_empty() && !rehearsed {
            confine::rehearse()?;
            rehearsed = true;
        }
        let mut config = project.config.clone();
        if let (Some(c), false) = (&mut config.target.c, project.is_whole) {
            // It would lack the headers of manifests that were not asked for.
            c.umbrella_header = None;
        }
        match emit(checked, &config, &templates) {
            Ok(outputs) => jobs.push(job(args, project, outputs)?),
            Err(diagnostics) => {
                session.report.add(diagnostics.iter().map(|d| localized(d, project)));
            }
        }
    }
    Ok(jobs)
}

fn job(args: &Build, project: &Project, mut outputs: Vec<Output>) -> Result<Job, Fault> {
    known_targets(&args.target, &outputs)?;
    if !args.target.is_empty() {
        outputs.retain(|output| args.target.iter().any(|asked| asked == target_of(output)));
    }
    let own = args.out.is_none();
    let root = match &args.out {
        Some(out) => std::path::absolute(out).map_err(|e| Fault::io("find", out, &e))?,
        None => own_folder(project)?,
    };
    // Files of a folder that others may use are never taken for left over.
    let sweep = match () {
        () if !own || !project.is_whole || root == project.root => Sweep::Nothing,
        () if args.target.is_empty() => Sweep::Everything,
        () => Sweep::Folders(args.target.clone()),
    };
    // What would be replaced is a difference, not a refusal, where nothing is written.
    let strictness = if args.force || args.check { Strictness::Force } else { Strictness::Careful };
    Ok(Job { root, outputs, strictness, sweep })
}

/// The folder of an output below the output folder: its target's name.
fn target_of(output: &Output) -> &str {
    output.path.split('/').next().unwrap_or_default()
}

fn known_targets(asked: &[String], outputs: &[Output]) -> Result<(), Fault> {
    let mut known: BTreeSet<&str> = outputs.iter().map(target_of).collect();
    known.insert("c");
    match asked.iter().find(|target| !known.contains(target.as_str())) {
        None => Ok(()),
        Some(target) => {
            let known = known.into_iter().collect::<Vec<_>>().join("`, `");
            Err(Fault::Usage(format!("there is no target `{target}`; there is `{known}`")))
        }
    }
}

/// The project's output folder: below its root, also when links are followed.
fn own_folder(project: &Project) -> Result<PathBuf, Fault> {
    let out_dir = project.config.project.out_dir.trim_end_matches('/');
    if out_dir == "." {
        return Ok(project.root.clone());
    }
    if !is_below(out_dir) {
        return Err(outside(out_dir));
    }
    let folder = project.root.join(out_dir);
    let home = fs::canonicalize(&project.root).map_err(|e| Fault::io("find", &project.root, &e))?;
    let existing = folder.ancestors().find(|part| part.symlink_metadata().is_ok());
    let existing = existing.unwrap_or(&project.root);
    match fs::canonicalize(existing) {
        Ok(real) if real.starts_with(home) => Ok(folder),
        Ok(_) => Err(Fault::Input(vec![crate::output::link(existing)])),
        Err(_) if existing.is_symlink() => Err(Fault::Input(vec![crate::output::link(existing)])),
        Err(error) => Err(Fault::io("find", existing, &error)),
    }
}

/// The user's own templates: by name below the templates folder.
fn templates(project: &Project) -> Result<BTreeMap<String, String>, Fault> {
    let folder = project.root.join(&project.config.project.templates_dir);
    let mut templates = BTreeMap::new();
    for file in walk::files(&folder)? {
        let Some(name) = file.strip_prefix(&folder).ok().and_then(slashed) else { continue };
        let text = files::read(&file).map_err(|error| {
            let (shown, reason) = (seen(&file), error.reason());
            let message = format!("cannot read the template `{shown}`: {reason}");
            Fault::Machine(Box::new(placeless(Code::OutputIo, message)))
        })?;
        templates.insert(name, text);
    }
    Ok(templates)
}

/// Writes under locks; what stands in the folders is looked at again once nobody else can write.
fn write_all(jobs: &[Job], plans: &mut [Plan], console: &mut Console) -> Result<(), Fault> {
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
        *plan = job.plan()?;
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

fn show(
    args: &Build,
    session: &Session,
    jobs: &[Job],
    plans: &[Plan],
    start: Instant,
    console: &mut Console,
) {
    let rows: Vec<Row> = session.tensors().map(|(file, tensor)| Row::new(tensor, &file)).collect();
    let outputs: Vec<(Status, String)> = jobs
        .iter()
        .zip(plans)
        .flat_map(|(job, plan)| {
            let shown = |path: &String| seen(&job.root.join(path));
            plan.files.iter().map(move |(path, (status, _))| (*status, shown(path)))
        })
        .collect();
    match console.format {
        Format::Json => {
            let written = |(status, path): &(Status, String)| -> Value {
                json!({ "path": path, "status": status.word() })
            };
            let mut object = json!({
                "version": 1,
                "kind": "build",
                "outputs": outputs.iter().map(written).collect::<Vec<_>>(),
                "tensors": rows.iter().map(Row::json).collect::<Vec<_>>(),
            });
            if args.dry_run || args.check {
                object["dry_run"] = Value::from(true);
            }
            console.result(&format!("{object}\n"));
        }
        Format::Text if !console.quiet => {
            console.result(&table(&rows));
            let text = outputs_text(&outputs, args.dry_run || args.check, console.verbose);
            console.result(&format!("{text} in {} ms\n", start.elapsed().as_millis()));
        }
        Format::Text => {}
    }
}

/// The unchanged outputs that are still listed without `-v`.
const LISTED: usize = 8;

fn outputs_text(outputs: &[(Status, String)], only_said: bool, verbose: bool) -> String {
    let count = |kind| outputs.iter().filter(|(status, _)| *status == kind).count();
    let mut text = String::new();
    let list_unchanged = verbose || count(Status::Unchanged) <= LISTED;
    for (status, path) in outputs {
        if *status != Status::Unchanged || list_unchanged {
            text.extend([format!("{:9}", status.word()).as_str(), "  ", path, "\n"]);
        }
    }
    let mut parts = Vec::new();
    for status in [Status::Written, Status::Unchanged, Status::Removed] {
        if count(status) > 0 || (status == Status::Written && outputs.is_empty()) {
            parts.push(format!("{} {}", count(status), status.word()));
        }
    }
    let total = counted(outputs.len(), "output");
    let head = if only_said { format!("{total}, nothing touched: ") } else { format!("{total}: ") };
    format!("{text}{head}{}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outputs_are_listed_and_counted() {
        let outputs = [
            (Status::Written, "generated/c/a.h".to_owned()),
            (Status::Unchanged, "generated/c/b.h".to_owned()),
            (Status::Removed, "generated/c/c.h".to_owned()),
        ];
        assert_eq!(
            outputs_text(&outputs, false, false),
            "\
written    generated/c/a.h
unchanged  generated/c/b.h
removed    generated/c/c.h
3 outputs: 1 written, 1 unchanged, 1 removed"
        );
        let many: Vec<_> =
            (0..9).map(|k| (Status::Unchanged, format!("generated/c/{k}.h"))).collect();
        assert_eq!(outputs_text(&many, true, false), "9 outputs, nothing touched: 9 unchanged");
    }
}
