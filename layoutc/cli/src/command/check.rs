//! `layoutc check`: checks manifests and proves their layouts, and writes nothing.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;

use crate::build::summary::{TensorRow, table};
use crate::check_session::CheckSession;
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::report::counted;

use super::CommandOutcome;

/// Checks the manifests of PATHS, the paths on the command line, and prints the diagnostics. With `--format json`, also
/// prints one row for each tensor, view and graph. As text, prints their numbers, and with `--verbose` the rows, unless
/// there are errors.
pub(crate) fn run(
    paths: &[PathBuf],
    console: &mut Console,
) -> Result<CommandOutcome, CommandError> {
    let start = Instant::now();
    let mut session = CheckSession::open(paths, console)?;
    session.check_build_refusals()?;
    let ending = CommandOutcome::of(&session.report);
    let tensors = session.tensors().map(|(file, tensor)| TensorRow::new(tensor).of(file));
    let views = session.views().map(|(file, view)| TensorRow::view(view).of(file));
    let (count, view_count) = (session.tensors().count(), session.views().count());
    let graphs =
        session.graphs().filter_map(|(file, graph)| Some(TensorRow::graph(graph)?.of(file)));
    let graph_count = session.graphs().count();
    let rows: Vec<TensorRow> = tensors.chain(views).chain(graphs).collect();
    match console.format {
        ReportFormat::Json => {
            let mut object = json!({ "version": 1, "kind": "check" });
            TensorRow::add_to(&mut object, &rows);
            console.result(&format!("{object}\n"));
        }
        ReportFormat::Text if ending == CommandOutcome::Success && !console.quiet => {
            if console.verbose {
                console.result(&table(&rows));
            }
            let parts = [(count, "tensor"), (view_count, "view"), (graph_count, "graph")];
            let parts = parts
                .iter()
                .enumerate()
                .filter(|(k, part)| part.0 > 0 || (*k == 0 && rows.is_empty()));
            let parts: Vec<String> = parts.map(|(_, part)| counted(part.0, part.1)).collect();
            console.result(&format!(
                "{} in {} proven in {} ms\n",
                parts.join(" and "),
                counted(session.manifests(), "manifest"),
                start.elapsed().as_millis()
            ));
        }
        ReportFormat::Text => {}
    }
    session.report.print(console);
    Ok(ending)
}
