//! `layoutc same`: compares the index maps of two tensors.

use layoutc_compiler::base::nearest::unknown_tensor;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::query::layout_equality::{
    ElementLocation, TensorComparison, compare_tensors,
};
use serde_json::{Map, Value, json};

use crate::args::SameArgs;
use crate::check_session::CheckSession;
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::report::json::{integer, integers};

use super::CommandOutcome;

/// Prints that two tensors have the same map, or how they differ: the first element whose location in memory differs,
/// or the numbers of physical axes. The outcome is [`CommandOutcome::InputError`] if they differ or cannot be compared.
///
/// # Errors
/// [`CommandError::Usage`] if the path is a folder, or a tensor is unknown and the manifest has no errors. Any error of
/// [`CheckSession::open`].
pub(crate) fn run(args: &SameArgs, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    if args.file.is_dir() {
        let folder = args.file.display();
        return Err(CommandError::Usage(format!("`{folder}` is a folder, expected a manifest")));
    }
    let mut session = CheckSession::open(std::slice::from_ref(&args.file), console)?;
    let found = [&args.first, &args.second]
        .map(|name| session.tensors().map(|(_, t)| t).find(|tensor| tensor.name == *name));
    let [Some(first), Some(second)] = found else {
        if session.report.has_errors() {
            session.report.print(console);
            return Ok(CommandOutcome::InputError);
        }
        let missing = if found[0].is_none() { &args.first } else { &args.second };
        let names: Vec<&str> = session.tensors().map(|(_, t)| t.name.as_str()).collect();
        return Err(CommandError::Usage(unknown_tensor(missing, &names)));
    };
    match compare_tensors(first, second) {
        Ok(found) => {
            let (line, ending) = match console.format {
                ReportFormat::Json => json_line(&found),
                ReportFormat::Text => text_line(&found, first, second),
            };
            console.result(&format!("{line}\n"));
            Ok(ending)
        }
        Err(error) => {
            let error =
                session.projects.first().map(|(project, _)| project.with_shown_paths(&error));
            session.report.add(error);
            session.report.print(console);
            Ok(CommandOutcome::InputError)
        }
    }
}

fn json_line(found: &TensorComparison) -> (String, CommandOutcome) {
    let place = |place: &ElementLocation| json!({ "physical": integers(&place.physical), "offset": integer(place.offset) });
    match found {
        TensorComparison::Same { equal_sizes } => (
            json!({ "same": true, "equal_sizes": equal_sizes }).to_string(),
            CommandOutcome::Success,
        ),
        TensorComparison::Differs { logical, symbols, places: [a, b] } => {
            let mut object = json!({
                "same": false,
                "index": integers(logical),
                "a": place(a),
                "b": place(b),
            });
            if let (false, Some(object)) = (symbols.is_empty(), object.as_object_mut()) {
                let values: Map<String, Value> =
                    symbols.iter().map(|(name, value)| (name.clone(), integer(*value))).collect();
                object.insert("symbols".to_owned(), Value::Object(values));
            }
            (object.to_string(), CommandOutcome::InputError)
        }
        TensorComparison::Ranks(ranks) => {
            let [a, b] = ranks.map(|rank| json!({ "physical_rank": rank }));
            let object = json!({ "same": false, "index": null, "a": a, "b": b });
            (object.to_string(), CommandOutcome::InputError)
        }
    }
}

fn text_line(
    found: &TensorComparison,
    first: &Tensor,
    second: &Tensor,
) -> (String, CommandOutcome) {
    let (a, b) = (&first.name, &second.name);
    let list = |index: &[i128]| {
        format!("[{}]", index.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
    };
    match found {
        TensorComparison::Same { equal_sizes } => {
            let sizes = if *equal_sizes { "" } else { "; their buffer sizes differ" };
            (format!("{a} and {b} are the same map{sizes}"), CommandOutcome::Success)
        }
        TensorComparison::Differs { logical, symbols, places } => {
            let index = list(logical);
            let place = |name: &str, place: &ElementLocation| {
                let physical = list(&place.physical);
                format!("\n  {name}{index} -> physical {physical}, offset {}", place.offset)
            };
            let values: Vec<String> =
                symbols.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let at = match values.as_slice() {
                [] => String::new(),
                values => format!(" for {}", values.join(", ")),
            };
            let places = place(a, &places[0]) + &place(b, &places[1]);
            (
                format!("{a} and {b} differ, first at {index}{at}{places}"),
                CommandOutcome::InputError,
            )
        }
        TensorComparison::Ranks([own, other]) => (
            format!("{a} and {b} differ: {own} and {other} physical axes"),
            CommandOutcome::InputError,
        ),
    }
}
