//! `layoutc deps`: prints the dependency graph of the files of a build.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::args::{DepsArgs, FormatArg};
use crate::build::{self, DependencyGraph, FileKind};
use crate::command_error::CommandError;
use crate::console::Console;
use crate::paths::relative_to_cwd;
use crate::report::counted;

use super::CommandOutcome;

/// Prints the dependency graph of the files of the selected projects in the format `format`: DOT, JSON, or a list.
/// Prints only the diagnostics if a manifest has errors.
pub(crate) fn run(
    args: &DepsArgs,
    format: FormatArg,
    console: &mut Console,
) -> Result<CommandOutcome, CommandError> {
    let (report, graph) = build::graph(&args.select, console)?;
    let ending = CommandOutcome::of(&report);
    if ending == CommandOutcome::Success {
        let text = match format {
            FormatArg::Dot => dot(&graph),
            FormatArg::Json => object(&graph).to_string() + "\n",
            FormatArg::Text | FormatArg::Cmake | FormatArg::Ninja => list(&graph),
        };
        console.result(&text);
    }
    report.print(console);
    Ok(ending)
}

fn object(graph: &DependencyGraph) -> Value {
    let nodes = graph.nodes.iter();
    let nodes =
        nodes.map(|(path, kind)| json!({ "path": relative_to_cwd(path), "kind": kind.word() }));
    let edges = graph.edges.iter();
    let edges =
        edges.map(|(from, to)| json!({ "from": relative_to_cwd(from), "to": relative_to_cwd(to) }));
    json!({
        "version": 1,
        "kind": "deps",
        "nodes": nodes.collect::<Vec<_>>(),
        "edges": edges.collect::<Vec<_>>(),
    })
}

/// Dependency graph as a text list of the inputs. A manifest is followed by the manifests that it uses (`<-`), then by
/// its dependents (`->`). Any other input is followed by the number of its dependents.
fn list(graph: &DependencyGraph) -> String {
    let (mut sources, mut results) = (BTreeMap::new(), BTreeMap::new());
    for (from, to) in &graph.edges {
        sources.entry(to).or_insert_with(Vec::new).push(from);
        results.entry(from).or_insert_with(Vec::new).push(to);
    }
    let mut text = String::new();
    for (path, kind) in graph.nodes.iter().filter(|(_, kind)| **kind != FileKind::Output) {
        text.extend([&relative_to_cwd(path), "\n"]);
        let results = results.get(path).map_or(&[][..], Vec::as_slice);
        if *kind == FileKind::Manifest {
            let sources = sources.get(path).map_or(&[][..], Vec::as_slice);
            text.extend(sources.iter().map(|from| format!("  <- {}\n", relative_to_cwd(from))));
            text.extend(results.iter().map(|to| format!("  -> {}\n", relative_to_cwd(to))));
        } else {
            text.push_str(&format!("  -> {}\n", counted(results.len(), "output")));
        }
    }
    text
}

fn dot(graph: &DependencyGraph) -> String {
    let mut text = String::from("digraph layoutc {\n  rankdir=LR\n");
    for (path, kind) in &graph.nodes {
        let shape = match kind {
            FileKind::Manifest => "box",
            FileKind::Output => "note",
            FileKind::Config | FileKind::Template => "ellipse",
        };
        text.push_str(&format!("  {} [shape={shape}]\n", quoted(path)));
    }
    for (from, to) in &graph.edges {
        text.push_str(&format!("  {} -> {}\n", quoted(from), quoted(to)));
    }
    text + "}\n"
}

/// Path of `path` relative to the working directory, quoted as a Graphviz identifier.
fn quoted(path: &Path) -> String {
    format!("\"{}\"", relative_to_cwd(path).replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphviz_syntax_is_escaped() {
        let here = std::env::current_dir().expect("a folder");
        assert_eq!(quoted(&here.join("a \"b\"\\n.kdl")), r#""a \"b\"\\n.kdl""#);
    }
}
