//! `layoutc build`: checks, then writes the outputs that changed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::build::chrome_trace::chrome_trace;
use crate::build::summary::{TensorRow, counts, stages_json, stages_table, table};
use crate::build::{
    BuildArgs, BuildSummary, OutputSummary, RowSelection, build_once, is_dry_run, start_threads,
};
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::interrupt;
use crate::output::{self, OutputStatus};
use crate::paths::relative_to_cwd;
use crate::project::read_set::ReadSet;
use crate::report::counted;

use super::CommandOutcome;

/// Builds the selected projects once, and prints the summary and the diagnostics. The outcome is
/// [`CommandOutcome::InputError`] if a diagnostic is an error.
pub(crate) fn run(args: &BuildArgs, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    start_threads(args, true)?;
    if !is_dry_run(args) {
        interrupt::prepare();
    }
    let start = Instant::now();
    let rows = match (console.format, console.verbose, console.quiet) {
        (ReportFormat::Json, ..) | (_, true, _) => RowSelection::All,
        (ReportFormat::Text, _, true) => RowSelection::None,
        (ReportFormat::Text, ..) => RowSelection::Few,
    };
    let built = build_once(args, rows, None, &mut ReadSet::brief(), console)?;
    let ending = CommandOutcome::of(&built.report);
    let trace = trace(args, &built, start.elapsed())?;
    // After `--check` the differences are the errors, and the list shows them all.
    if ending == CommandOutcome::Success || built.outputs.len() > 0 {
        show(args, &built, start.elapsed(), trace.as_deref(), console);
    }
    built.report.print(console);
    Ok(ending)
}

/// With `--timings`, writes the trace of the build, which took the time `elapsed`, to `trace.json` in the state folder.
/// Returns the path of that file relative to the working directory. `None` without `--timings`, in a dry run, or
/// without a state folder.
fn trace(
    args: &BuildArgs,
    built: &BuildSummary,
    elapsed: Duration,
) -> Result<Option<String>, CommandError> {
    let Some(folder) = built.state.as_ref().filter(|_| args.timings) else {
        return Ok(None);
    };
    if is_dry_run(args) {
        return Ok(None);
    }
    interrupt::install_once()?;
    let _writing = interrupt::WriteGuard::begin();
    let file = folder.join("trace.json");
    output::replace(&file, &chrome_trace(&built.spans, elapsed))?;
    Ok(Some(relative_to_cwd(&file)))
}

fn show(
    args: &BuildArgs,
    built: &BuildSummary,
    elapsed: Duration,
    trace: Option<&str>,
    console: &mut Console,
) {
    let BuildSummary { rows, outputs, stages, .. } = built;
    match console.format {
        ReportFormat::Json => {
            let written = |(status, path): &(OutputStatus, String)| -> Value {
                json!({ "path": path, "status": status.word() })
            };
            let mut object = json!({
                "version": 1,
                "kind": "build",
                "outputs": outputs.listed.iter().map(written).collect::<Vec<_>>(),
            });
            TensorRow::add_to(&mut object, rows);
            if is_dry_run(args) {
                object["dry_run"] = Value::from(true);
            }
            if args.timings {
                object["timings_ms"] = stages_json(stages);
                object["trace"] = trace.into();
            }
            console.result(&format!("{object}\n"));
        }
        ReportFormat::Text if !console.quiet => {
            console.result(&table(rows));
            if built.more > 0 {
                console.result(&format!("… and {}\n", counted(built.more, "more tensor")));
            }
            if built.tensors > rows.len() {
                let manifests = counted(built.manifests, "manifest");
                console.result(&format!("{} in {manifests}\n", counted(built.tensors, "tensor")));
            }
            let text = outputs_text(outputs, is_dry_run(args), console.verbose);
            console.result(&format!("{text} in {} ms\n", elapsed.as_millis()));
            if args.timings {
                console.result(&stages_table(stages, &built.spans, elapsed));
                if let Some(file) = trace {
                    console.result(&format!("trace: {file}\n"));
                }
            }
        }
        ReportFormat::Text => {}
    }
}

/// Maximum number of unchanged outputs that are listed without `-v`. If there are more, none of them is listed.
const LISTED: usize = 8;
/// Maximum number of outputs of any status that are listed without `-v`. The others are only counted.
const MOST: usize = 40;

fn outputs_text(outputs: &OutputSummary, only_said: bool, verbose: bool) -> String {
    let list_unchanged = verbose || outputs.count(OutputStatus::Unchanged) <= LISTED;
    let is_listed = |status: &OutputStatus| *status != OutputStatus::Unchanged || list_unchanged;
    let listed: Vec<_> = outputs.listed.iter().filter(|(status, _)| is_listed(status)).collect();
    let most = if verbose { listed.len() } else { MOST };
    let mut text = String::new();
    for (status, path) in listed.iter().take(most) {
        text.extend([format!("{:9}", status.word()).as_str(), "  ", path, "\n"]);
    }
    if listed.len() > most {
        text.push_str(&format!("… and {}\n", counted(listed.len() - most, "more output")));
    }
    let total = counted(outputs.len(), "output");
    let head = if only_said { format!("{total} (dry run): ") } else { format!("{total}: ") };
    format!("{text}{head}{}", counts(outputs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outputs_are_listed_and_counted() {
        let listed = vec![
            (OutputStatus::Written, "generated/c/a.h".to_owned()),
            (OutputStatus::Unchanged, "generated/c/b.h".to_owned()),
            (OutputStatus::Removed, "generated/c/c.h".to_owned()),
        ];
        let mut outputs = OutputSummary { listed, more: 0 };
        assert_eq!(
            outputs_text(&outputs, false, false),
            "\
written    generated/c/a.h
unchanged  generated/c/b.h
removed    generated/c/c.h
3 outputs: 1 written, 1 unchanged, 1 removed"
        );
        outputs.more = 8;
        assert_eq!(
            outputs_text(&outputs, true, false),
            "\
written    generated/c/a.h
removed    generated/c/c.h
11 outputs (dry run): 1 written, 9 unchanged, 1 removed"
        );
    }
}
