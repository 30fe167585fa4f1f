//! `layoutc explain`: prints the page of a diagnostic code.

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::nearest::nearest;
use serde_json::json;

use crate::code_pages::page;
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};

use super::CommandOutcome;

/// Prints the page of the diagnostic code `code`; `None` prints the list of all codes. `code` may have the form in
/// which messages show it, such as `error[map::not_injective]`.
///
/// # Errors
/// [`CommandError::Usage`] if the code is unknown.
pub(crate) fn run(
    code: Option<&str>,
    console: &mut Console,
) -> Result<CommandOutcome, CommandError> {
    match code {
        None => list(console),
        Some(code) => explain(code, console)?,
    }
    Ok(CommandOutcome::Success)
}

fn list(console: &mut Console) {
    let mut codes: Vec<&Code> = Code::ALL.iter().collect();
    codes.sort_by_key(|code| code.id());
    let width = codes.iter().map(|code| code.id().len()).max().unwrap_or(0);
    for code in codes {
        let line = match console.format {
            ReportFormat::Json => json!({ "code": code.id(), "title": code.title() }).to_string(),
            ReportFormat::Text => format!("{:width$}  {}", code.id(), code.title()),
        };
        console.result(&format!("{line}\n"));
    }
}

fn explain(argument: &str, console: &mut Console) -> Result<(), CommandError> {
    // Accepts the printed form `error[map::not_injective]`, or only the code.
    let id = argument.split_once('[').map_or(argument, |(_, rest)| rest).trim_end_matches(':');
    let id = id.strip_suffix(']').unwrap_or(id);
    let Some(code) = Code::ALL.iter().find(|code| code.id() == id) else {
        return Err(CommandError::Usage(unknown(id)));
    };
    let text = page(id).unwrap_or(code.title());
    let text = match console.format {
        ReportFormat::Json => {
            json!({ "code": id, "title": code.title(), "text": text }).to_string()
        }
        ReportFormat::Text => text.trim_end().to_owned(),
    };
    console.result(&format!("{text}\n"));
    Ok(())
}

fn unknown(id: &str) -> String {
    let ids = || Code::ALL.iter().map(|code| code.id());
    let what = |id: &'static str| id.split_once("::").map_or(id, |(_, what)| what);
    // The area of the code, the part before `::`, may be wrong or missing.
    let near = nearest(id, ids()).or_else(|| {
        let name = id.split_once("::").map_or(id, |(_, what)| what);
        let near = nearest(name, ids().map(what))?;
        ids().find(|known| what(known) == near)
    });
    let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    format!("unknown code `{id}`{hint} (`layoutc explain` lists all)")
}
