//! `layoutc check`: proves, and writes nothing.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;

use crate::args::Format;
use crate::console::Console;
use crate::fault::Fault;
use crate::report::counted;
use crate::report::summary::{Row, table};
use crate::session::Session;

use super::Ending;

/// Checks what PATHS name.
pub(crate) fn run(paths: &[PathBuf], console: &mut Console) -> Result<Ending, Fault> {
    let start = Instant::now();
    let mut session = Session::open(paths, console)?;
    session.refuse()?;
    let ending = Ending::of(&session.report);
    let tensors = session.tensors().map(|(file, tensor)| Row::new(tensor).of(file));
    let views = session.views().map(|(file, view)| Row::view(view).of(file));
    let (count, view_count) = (session.tensors().count(), session.views().count());
    let graphs = session.graphs().filter_map(|(file, graph)| Some(Row::graph(graph)?.of(file)));
    let graph_count = session.graphs().count();
    let rows: Vec<Row> = tensors.chain(views).chain(graphs).collect();
    match console.format {
        Format::Json => {
            let mut object = json!({ "version": 1, "kind": "check" });
            Row::add_to(&mut object, &rows);
            console.result(&format!("{object}\n"));
        }
        Format::Text if ending == Ending::Good && !console.quiet => {
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
        Format::Text => {}
    }
    session.report.print(console);
    Ok(ending)
}
