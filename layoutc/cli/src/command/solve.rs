//! `layoutc solve`: finds the cheapest layouts for graphs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::model::graph::Graph;
use layoutc_compiler::query::inspect::{dot, solution_json, solution_text};
use layoutc_compiler::solve::{GraphPlan, LayoutChange, SolverOptions, solve};
use serde_json::json;

use crate::args;
use crate::check_session::CheckSession;
use crate::command_error::CommandError;
use crate::console::Console;

use super::{CommandOutcome, measure};

/// Options of `layoutc solve` other than PATHS.
pub(crate) struct SolveRequest<'a> {
    /// Names of the graphs to solve, all graphs if empty.
    pub(crate) names: &'a [String],
    pub(crate) format: args::FormatArg,
    /// Time limit for the solution of each graph.
    pub(crate) limit: Duration,
    /// True if the costs of conversions are measured on this machine.
    pub(crate) measure: bool,
    /// C compiler for the measurements, `None` for the default.
    pub(crate) cc: Option<&'a str>,
}

/// Solves the graphs in the manifests of `paths` that `request` selects, and prints their plans.
///
/// # Errors
/// [`CommandError::Usage`] if `request` names an unknown graph and there are no other errors. Errors of the measurement
/// of costs, and of [`CheckSession::open`].
pub(crate) fn run(
    paths: &[PathBuf],
    request: &SolveRequest<'_>,
    console: &mut Console,
) -> Result<CommandOutcome, CommandError> {
    let mut session = CheckSession::open(paths, console)?;
    let mut solved: Vec<(String, &Graph, GraphPlan)> = Vec::new();
    let mut faults = Vec::new();
    let mut known: Vec<&str> = Vec::new();
    for (project, checked) in &session.projects {
        let own = checked.manifests.iter().filter(|m| project.manifests.contains_key(&m.path));
        for manifest in own {
            for graph in &manifest.graphs {
                known.push(&graph.name);
                if !request.names.is_empty() && !request.names.contains(&graph.name) {
                    continue;
                }
                let measured =
                    request.measure.then(|| measure::costs(graph, &project.config, request.cc));
                let measured = measured.transpose()?;
                match within(graph, request.limit, measured.as_ref()) {
                    Ok(plan) => solved.push((project.shown(&manifest.path), graph, plan)),
                    Err(fault) => faults.push(project.with_shown_paths(&fault)),
                }
            }
        }
    }
    session.report.add_new(faults);
    let ending = CommandOutcome::of(&session.report);
    if ending == CommandOutcome::Success {
        if let Some(name) = request.names.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(CommandError::Usage(unknown(name, &known)));
        }
        if solved.is_empty() {
            console.remark("no graphs found\n");
        }
    }
    console.result(&printed(request.format, &solved));
    session.report.print(console);
    Ok(ending)
}

/// Cheapest plan for the layouts of `graph`, or the best plan found within the time `limit`. `measured` has costs in
/// bytes by conversion, which replace the computed ones. The error is the reason why there is no plan.
fn within(
    graph: &Graph,
    limit: Duration,
    measured: Option<&BTreeMap<LayoutChange, u64>>,
) -> Result<GraphPlan, Box<Diagnostic>> {
    let start = Instant::now();
    let stop = || start.elapsed() >= limit;
    let price = |tensor, from, to| measured?.get(&(tensor, from, to)).copied();
    let settings = SolverOptions { stop: &stop, ..SolverOptions::default() };
    match measured {
        None => solve(graph, &settings),
        Some(_) => solve(graph, &SolverOptions { price: Some(&price), ..settings }),
    }
}

fn unknown(name: &str, known: &[&str]) -> String {
    let hint = match known {
        [] => String::new(),
        known => format!("; expected one of `{}`", known.join("`, `")),
    };
    format!("unknown graph `{name}`{hint}")
}

fn printed(format: args::FormatArg, solved: &[(String, &Graph, GraphPlan)]) -> String {
    match format {
        args::FormatArg::Json => {
            let graphs: Vec<_> =
                solved.iter().map(|(_, graph, plan)| solution_json(graph, plan)).collect();
            format!("{}\n", json!({ "version": 1, "graphs": graphs }))
        }
        args::FormatArg::Dot => solved.iter().map(|(_, graph, plan)| dot(graph, plan)).collect(),
        args::FormatArg::Text | args::FormatArg::Cmake | args::FormatArg::Ninja => {
            let texts = solved.iter().map(|(file, graph, plan)| solution_text(graph, plan, file));
            let texts: Vec<String> = texts.map(|text| format!("{}\n", text.trim_end())).collect();
            texts.join("\n")
        }
    }
}
