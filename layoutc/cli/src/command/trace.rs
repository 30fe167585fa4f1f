//! `layoutc trace`: traces an index through every step of a layout.

use std::sync::Arc;

use layoutc_compiler::check::Recorder;
use layoutc_compiler::query::trace;

use crate::args::{TraceArgs, restore_minus};
use crate::check_session::CheckSession;
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::report::{DiagnosticSource, Report, trace_report};

use super::CommandOutcome;
use super::element::{CoordinateArgError, coordinate, one_manifest, symbols, tensor};

/// Prints how each step of a tensor's layout maps the coordinate on the command line, or a diagnostic if the coordinate
/// is invalid. The outcome is [`CommandOutcome::InputError`] in the latter case, and if the tensor is not found in a
/// manifest with errors.
pub(crate) fn run(args: &TraceArgs, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    let recorder = Recorder::new(&args.tensor);
    let session = CheckSession::recording(one_manifest(&args.file)?, &recorder, console)?;
    let Some(tensor) = tensor(&session, &args.tensor, console)? else {
        return Ok(CommandOutcome::InputError);
    };
    let symbols = symbols(&args.set, tensor)?;
    let steps = recorder.into_steps();
    let text = restore_minus(&args.coordinate);
    let traced = coordinate(&text).and_then(|index| {
        let traced = trace::trace(tensor, &steps, &symbols, &index);
        traced.map_err(|error| CoordinateArgError::whole(&text, error.to_string()))
    });
    match traced {
        Ok(traced) => {
            console.result(&match console.format {
                ReportFormat::Json => trace_report::json(&traced),
                ReportFormat::Text => trace_report::text(&traced, console.paints_results),
            });
            Ok(CommandOutcome::Success)
        }
        Err(wrong) => {
            let source = DiagnosticSource::whole(&text);
            let diagnostic = wrong.diagnostic("<coordinate>", source);
            let mut report = Report::default();
            report.add([diagnostic]);
            report.text("<coordinate>".to_owned(), Arc::from(text));
            report.print(console);
            Ok(CommandOutcome::InputError)
        }
    }
}
