//! `layoutc outputs`: lists the files that a build writes.

use std::path::Path;

use serde_json::json;

use crate::args::{FormatArg, OutputsArgs};
use crate::build;
use crate::build::SelectArgs;
use crate::command_error::CommandError;
use crate::console::Console;
use crate::paths::relative_to_cwd;

use super::{CommandOutcome, ninja};

/// Prints the paths of the outputs of the selected projects in the format `format`: a list, JSON, a `CMake` command, or
/// a build file for ninja. Prints only the diagnostics if there are errors.
pub(crate) fn run(
    args: &OutputsArgs,
    format: FormatArg,
    console: &mut Console,
) -> Result<CommandOutcome, CommandError> {
    if format == FormatArg::Ninja {
        return ninja(&args.select, console);
    }
    let (report, graph) = build::graph(&args.select, console)?;
    let ending = CommandOutcome::of(&report);
    if ending == CommandOutcome::Success {
        let text = match format {
            FormatArg::Cmake => cmake(graph.outputs()),
            FormatArg::Json => {
                let outputs: Vec<String> = graph.outputs().map(relative_to_cwd).collect();
                json!({ "version": 1, "kind": "outputs", "outputs": outputs }).to_string() + "\n"
            }
            FormatArg::Text | FormatArg::Ninja | FormatArg::Dot => {
                graph.outputs().map(|file| relative_to_cwd(file) + "\n").collect()
            }
        };
        console.result(&text);
    }
    report.print(console);
    Ok(ending)
}

/// Prints a build file for ninja with one build edge per manifest. Errors in manifests are not found here, but when
/// ninja runs the actions.
fn ninja(select: &SelectArgs, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    let (report, actions) = build::actions(select)?;
    let ending = CommandOutcome::of(&report);
    if ending == CommandOutcome::Success {
        console.result(&ninja::file(&actions, select)?);
    }
    report.print(console);
    Ok(ending)
}

/// `CMake` command `set(LAYOUTC_OUTPUTS …)` with one absolute path per line. The paths are absolute because `CMake`
/// resolves relative ones against the folder of the including file.
fn cmake<'a>(files: impl Iterator<Item = &'a Path>) -> String {
    let mut text = String::from("set(LAYOUTC_OUTPUTS\n");
    for file in files {
        text.extend(["  ", &quoted(file), "\n"]);
    }
    text + ")\n"
}

/// Path in double quotes, as one element of a `CMake` list.
fn quoted(file: &Path) -> String {
    let mut text = String::from("\"");
    for c in file.to_string_lossy().chars() {
        if matches!(c, '\\' | '"' | '$' | ';') {
            text.push('\\');
        }
        text.push(c);
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cmake_syntax_in_paths_is_escaped() {
        let files = ["/a b/c.h", "/$x;\"y\\/c.h"].map(Path::new);
        let expected = "set(LAYOUTC_OUTPUTS\n  \"/a b/c.h\"\n  \"/\\$x\\;\\\"y\\\\/c.h\"\n)\n";
        assert_eq!(cmake(files.into_iter()), expected);
    }
}
