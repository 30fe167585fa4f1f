//! One line for each build.

use std::time::Duration;

use layoutc_compiler::diagnostic::Severity;
use serde_json::{Value, json};

use crate::args::{Format, Watch};
use crate::build::Built;
use crate::command::tell;
use crate::console::Console;
use crate::fault::Fault;
use crate::report::counted;
use crate::report::summary::{counts, stages_json, stages_text};

use super::look::Change;

/// The changes that a line names.
const NAMED: usize = 3;

/// How the last build went.
#[derive(Debug, Default)]
pub(super) struct Status {
    last: Option<Last>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Good,
    Bad,
}

/// How a build went, for what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All well.
    Good,
    /// An input is at fault.
    Bad,
    /// Something in an output folder is.
    Blocked,
    /// The machine is.
    Failed,
}

impl Outcome {
    /// How a build went.
    pub(super) fn of(built: &Result<Built, Fault>) -> Self {
        let report = match built {
            Ok(built) => &built.report,
            Err(Fault::Machine(_) | Fault::Interrupted) => return Outcome::Failed,
            Err(Fault::Input(_) | Fault::Usage(_) | Fault::NoProject) => return Outcome::Bad,
        };
        if !report.has_errors() {
            Outcome::Good
        } else if report.errors().all(|code| code.id().starts_with("output::")) {
            Outcome::Blocked
        } else {
            Outcome::Bad
        }
    }
}

impl Status {
    /// Tells of a build and what caused it; gives how it went.
    pub(super) fn tell(
        &mut self,
        args: &Watch,
        changes: &[Change],
        built: &Result<Built, Fault>,
        took: Duration,
        console: &mut Console,
    ) -> Outcome {
        let (errors, warnings) = match built {
            Ok(built) => {
                let report = &built.report;
                (report.count(Severity::Error), report.count(Severity::Warning))
            }
            Err(Fault::Input(diagnostics)) => (diagnostics.len(), 0),
            Err(Fault::Usage(_) | Fault::NoProject | Fault::Machine(_) | Fault::Interrupted) => {
                (1, 0)
            }
        };
        let stages = built.as_ref().ok().filter(|_| args.build.timings).map(|b| &b.stages);
        match console.format {
            Format::Json => {
                let mut object = object(changes, built.as_ref().ok(), took);
                object["errors"] = errors.into();
                object["warnings"] = warnings.into();
                if let Some(stages) = stages {
                    object["timings_ms"] = stages_json(stages);
                }
                console.result(&format!("{object}\n"));
                diagnostics(built, console);
            }
            Format::Text => {
                diagnostics(built, console);
                if !console.quiet {
                    let line = self.line(changes, built.as_ref().ok(), errors, took);
                    let stages = stages.map(|stages| format!("{}\n", stages_text(stages)));
                    console.result(&format!("{line}\n{}", stages.unwrap_or_default()));
                }
            }
        }
        console.flush();
        if self.last.is_none() && console.format == Format::Text && !console.quiet {
            console.remark("watching for changes; Ctrl-C ends it\n");
        }
        self.last = Some(if errors == 0 { Last::Good } else { Last::Bad });
        Outcome::of(built)
    }

    /// `layouts/a.kdl changed: rebuilt in 8 ms: 2 tensors; 3 outputs: 1 written, 2 unchanged`.
    fn line(
        &self,
        changes: &[Change],
        built: Option<&Built>,
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
            Some(Last::Good) => "rebuilt",
            Some(Last::Bad) => "good again",
        };
        let tensors = counted(built.tensors, "tensor");
        let outputs = counted(built.outputs.len(), "output");
        let counts = counts(&built.outputs);
        format!("{causes}{verb} in {ms} ms: {tensors}; {outputs}: {counts}")
    }
}

fn diagnostics(built: &Result<Built, Fault>, console: &mut Console) {
    match built {
        Ok(built) => built.report.print(console),
        Err(fault) => drop(tell(fault, console)),
    }
}

/// `a.kdl changed, b.kdl added and 2 more: `; nothing without changes.
fn causes(changes: &[Change]) -> String {
    let named: Vec<String> = changes.iter().take(NAMED).map(Change::text).collect();
    match changes.len() {
        0 => String::new(),
        len if len > NAMED => format!("{} and {} more: ", named.join(", "), len - NAMED),
        _ => format!("{}: ", named.join(", ")),
    }
}

fn object(changes: &[Change], built: Option<&Built>, took: Duration) -> Value {
    let outputs = built.map(|built| built.outputs.listed.as_slice()).unwrap_or_default();
    let output = |(status, path): &(crate::output::Status, String)| json!({ "path": path, "status": status.word() });
    json!({
        "version": 1,
        "kind": "rebuild",
        "changed": changes.iter().map(Change::json).collect::<Vec<_>>(),
        "ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "tensors": built.map_or(0, |built| built.tensors),
        "outputs": outputs.iter().map(output).collect::<Vec<_>>(),
    })
}
