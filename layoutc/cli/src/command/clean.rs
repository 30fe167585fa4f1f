//! `layoutc clean`: removes outputs that were not edited since layoutc wrote them.

use std::collections::BTreeSet;

use layoutc_compiler::emit::render::BUILT_IN;
use serde_json::{Value, json};

use crate::args::CleanArgs;
use crate::build::output_locations;
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::output::{CleanPlan, SweepScope};
use crate::paths::relative_to_cwd;
use crate::project::{self, Project};
use crate::report::{Report, counted};
use crate::state::log::{BuildLog, LogArena};

use super::CommandOutcome;

/// Removes the outputs of the selected projects that were not edited, and their state folders, and prints the paths of
/// the outputs. With `--dry-run`, only prints. An edited output is kept with a warning. A project without an output
/// folder is skipped.
pub(crate) fn run(args: &CleanArgs, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    let mut report = Report::default();
    let projects = project::homes(&args.paths, &mut report)?;
    if args.out.is_some() && projects.len() > 1 {
        return Err(CommandError::Usage("`--out` accepts only one project".to_owned()));
    }
    let (mut removed, store) = (Vec::new(), LogArena::default());
    for project in &projects {
        let (home, mut state) = output_locations(project, args.out.as_deref())?;
        let root = home.path();
        let mut wait = |holder: &str| {
            if !console.quiet {
                let folder = relative_to_cwd(&root);
                console.remark(&format!("waiting for {holder}, which is writing to `{folder}`\n"));
            }
            Ok(())
        };
        if !root.is_dir() {
            if state.path().is_dir() && !args.dry_run {
                let lock = state.lock(&mut wait)?;
                state.remove(&lock);
            }
            continue;
        }
        // In a folder shared with other files, only the folders of the targets are searched.
        let is_shared = args.out.is_some() || root == project.root;
        let sweep =
            if is_shared { SweepScope::Folders(targets(project)) } else { SweepScope::Everything };
        let cleaning = if args.dry_run {
            let log = BuildLog::load(&state.path(), state.dir(), &store)?;
            CleanPlan::new(&home, &log.facts, &sweep)?
        } else {
            let lock = state.lock(wait)?;
            let log = BuildLog::load(&state.path(), state.dir(), &store)?;
            let cleaning = CleanPlan::new(&home, &log.facts, &sweep)?;
            cleaning.apply(&lock)?;
            state.remove(&lock);
            if !is_shared {
                // Fails if the folder contains other files.
                drop(std::fs::remove_dir(&root));
            }
            cleaning
        };
        removed.extend(cleaning.own().map(|path| relative_to_cwd(&root.join(path))));
        report.add(cleaning.preserved());
    }
    show(args, &removed, console);
    report.print(console);
    Ok(CommandOutcome::of(&report))
}

/// Names of the folders in the output folder that may contain outputs: one per target with built-in templates (and
/// `common`), and one per target that the configuration of `project` defines. Sorted.
fn targets(project: &Project) -> Vec<String> {
    let target = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
    let built_in = BUILT_IN.iter().map(|(name, _)| target(name));
    let own = project.config.target.own.keys().cloned();
    let targets: BTreeSet<String> = built_in.chain(own).collect();
    targets.into_iter().collect()
}

fn show(args: &CleanArgs, removed: &[String], console: &mut Console) {
    match console.format {
        ReportFormat::Json => {
            let output = |path: &String| json!({ "path": path, "status": "removed" });
            let outputs: Vec<Value> = removed.iter().map(output).collect();
            let mut object = json!({ "version": 1, "kind": "clean", "outputs": outputs });
            if args.dry_run {
                object["dry_run"] = Value::from(true);
            }
            console.result(&format!("{object}\n"));
        }
        ReportFormat::Text if !console.quiet => {
            for path in removed {
                console.result(&format!("removed    {path}\n"));
            }
            let total = counted(removed.len(), "output");
            let touched = if args.dry_run { " (dry run)" } else { "" };
            console.result(&format!("{total}{touched}: {} removed\n", removed.len()));
        }
        ReportFormat::Text => {}
    }
}
