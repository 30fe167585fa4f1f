//! `layoutc library`: lists the manifests of the library, and prints one.

use layoutc_compiler::base::nearest::nearest;
use layoutc_compiler::env::library::{LIBRARY, LibraryManifest};
use serde_json::json;

use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};

use super::CommandOutcome;

/// Prints the manifest `name` of the library, or a list of all manifests if `name` is `None`.
///
/// # Errors
/// [`CommandError::Usage`] if the library has no manifest of this name.
pub(crate) fn run(
    name: Option<&str>,
    console: &mut Console,
) -> Result<CommandOutcome, CommandError> {
    match name {
        None => list(console),
        Some(name) => print(find(name)?, console),
    }
    Ok(CommandOutcome::Success)
}

fn list(console: &mut Console) {
    let width = LIBRARY.iter().map(|one| one.path.len()).max().unwrap_or(0);
    for LibraryManifest { path, purpose, .. } in LIBRARY {
        let line = match console.format {
            ReportFormat::Json => json!({ "path": path, "purpose": purpose }).to_string(),
            ReportFormat::Text => format!("{path:width$}  {purpose}"),
        };
        console.result(&format!("{line}\n"));
    }
}

fn print(one: &LibraryManifest, console: &mut Console) {
    let LibraryManifest { path, purpose, text } = one;
    match console.format {
        ReportFormat::Json => {
            let object = json!({ "path": path, "purpose": purpose, "text": text });
            console.result(&format!("{object}\n"));
        }
        ReportFormat::Text => console.result(text),
    }
}

/// Names of a manifest of the library on the command line: its path in a `use`, `std/nvidia.kdl`, and its short name,
/// `nvidia`.
fn names(one: &LibraryManifest) -> [&'static str; 2] {
    let file = one.path.rsplit('/').next().unwrap_or(one.path);
    [one.path, file.strip_suffix(".kdl").unwrap_or(file)]
}

fn find(name: &str) -> Result<&'static LibraryManifest, CommandError> {
    let unknown = || {
        let near = nearest(name, LIBRARY.iter().flat_map(names));
        let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let line =
            format!("the library has no manifest `{name}`{hint} (`layoutc library` lists all)");
        CommandError::Usage(line)
    };
    LIBRARY.iter().find(|one| names(one).contains(&name)).ok_or_else(unknown)
}
