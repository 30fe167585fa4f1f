//! Report of each build of a watch, with a status line.

use std::time::Duration;

use layoutc_compiler::base::diagnostic::Severity;
use serde_json::{Value, json};

use crate::args::WatchArgs;
use crate::build::BuildSummary;
use crate::build::summary::{counts, stages_json, stages_text};
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::exit_code::report_error;
use crate::report::counted;

use super::snapshot::InputChange;

/// Maximum number of changed inputs that a status line names.
const NAMED: usize = 3;

/// Reporter of the builds of a watch. It remembers the result of the last build, which decides between words such as
/// `rebuilt` and `fixed`.
#[derive(Debug, Default)]
pub(super) struct StatusReporter {
    last: Option<LastBuild>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastBuild {
    Success,
    Failure,
}

/// Outcome of a build. It decides two things: whether the watch observes the output folders, and whether it rebuilds
/// without a change of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BuildOutcome {
    Success,
    /// Build with an error in an input.
    InputError,
    /// Build with errors that concern only its outputs, such as a file that must not be overwritten.
    Blocked,
    /// Build with an error of the system.
    Failed,
}

impl BuildOutcome {
    pub(super) fn of(built: &Result<BuildSummary, CommandError>) -> Self {
        let report = match built {
            Ok(built) => &built.report,
            Err(CommandError::Machine(_) | CommandError::Interrupted) => {
                return BuildOutcome::Failed;
            }
            Err(CommandError::Input(_) | CommandError::Usage(_) | CommandError::NoProject) => {
                return BuildOutcome::InputError;
            }
        };
        if !report.has_errors() {
            BuildOutcome::Success
        } else if report.errors().all(|code| code.id().starts_with("output::")) {
            BuildOutcome::Blocked
        } else {
            BuildOutcome::InputError
        }
    }
}

impl StatusReporter {
    /// Reports the build with the result `built`, which took the time `took`, and the changes that caused it: as a JSON
    /// object or as a status line, and its diagnostics. Returns the outcome of the build.
    pub(super) fn report(
        &mut self,
        args: &WatchArgs,
        changes: &[InputChange],
        built: &Result<BuildSummary, CommandError>,
        took: Duration,
        console: &mut Console,
    ) -> BuildOutcome {
        let (errors, warnings) = match built {
            Ok(built) => {
                let report = &built.report;
                (report.count(Severity::Error), report.count(Severity::Warning))
            }
            Err(CommandError::Input(diagnostics)) => (diagnostics.len(), 0),
            Err(
                CommandError::Usage(_)
                | CommandError::NoProject
                | CommandError::Machine(_)
                | CommandError::Interrupted,
            ) => (1, 0),
        };
        let stages = built.as_ref().ok().filter(|_| args.build.timings).map(|b| &b.stages);
        match console.format {
            ReportFormat::Json => {
                let mut object = object(changes, built.as_ref().ok(), took);
                object["errors"] = errors.into();
                object["warnings"] = warnings.into();
                if let Some(stages) = stages {
                    object["timings_ms"] = stages_json(stages);
                }
                console.result(&format!("{object}\n"));
                diagnostics(built, console);
            }
            ReportFormat::Text => {
                diagnostics(built, console);
                if !console.quiet {
                    let line = self.line(changes, built.as_ref().ok(), errors, took);
                    let stages = stages.map(|stages| format!("{}\n", stages_text(stages)));
                    console.result(&format!("{line}\n{}", stages.unwrap_or_default()));
                }
            }
        }
        console.flush();
        if self.last.is_none() && console.format == ReportFormat::Text && !console.quiet {
            console.remark("watching for changes; press Ctrl-C to stop\n");
        }
        self.last = Some(if errors == 0 { LastBuild::Success } else { LastBuild::Failure });
        BuildOutcome::of(built)
    }

    /// Status line of a build that took the time `took`, with the changes that caused it:
    /// `layouts/a.kdl changed: rebuilt in 8 ms: 2 tensors; 3 outputs: 1 written, 2 unchanged`. It gives the number of
    /// errors instead if `errors` is not 0 or the build did not end (`built` is `None`).
    fn line(
        &self,
        changes: &[InputChange],
        built: Option<&BuildSummary>,
        errors: usize,
        took: Duration,
    ) -> String {
        let causes = causes(changes);
        let ms = took.as_millis();
        let Some(built) = built.filter(|_| errors == 0) else {
            return format!("{causes}{} in {ms} ms", counted(errors, "error"));
        };
        let verb = match self.last {
            None => "built",
            Some(LastBuild::Success) => "rebuilt",
            Some(LastBuild::Failure) => "fixed",
        };
        let tensors = counted(built.tensors, "tensor");
        let outputs = counted(built.outputs.len(), "output");
        let counts = counts(&built.outputs);
        format!("{causes}{verb} in {ms} ms: {tensors}; {outputs}: {counts}")
    }
}

fn diagnostics(built: &Result<BuildSummary, CommandError>, console: &mut Console) {
    match built {
        Ok(built) => built.report.print(console),
        Err(fault) => drop(report_error(fault, console)),
    }
}

/// Start of a status line with the inputs that changed, at most [`NAMED`] by name:
/// `a.kdl changed, b.kdl added, c.kdl removed and 2 more: `. Empty if no input changed.
fn causes(changes: &[InputChange]) -> String {
    let named: Vec<String> = changes.iter().take(NAMED).map(InputChange::text).collect();
    match changes.len() {
        0 => String::new(),
        len if len > NAMED => format!("{} and {} more: ", named.join(", "), len - NAMED),
        _ => format!("{}: ", named.join(", ")),
    }
}

fn object(changes: &[InputChange], built: Option<&BuildSummary>, took: Duration) -> Value {
    let outputs = built.map(|built| built.outputs.listed.as_slice()).unwrap_or_default();
    let output = |(status, path): &(crate::output::OutputStatus, String)| json!({ "path": path, "status": status.word() });
    json!({
        "version": 1,
        "kind": "rebuild",
        "changed": changes.iter().map(InputChange::json).collect::<Vec<_>>(),
        "ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "tensors": built.map_or(0, |built| built.tensors),
        "outputs": outputs.iter().map(output).collect::<Vec<_>>(),
    })
}
