//! Runs of layoutc for other build systems ([`BuildAction`]), each of which produces a part of the outputs of a
//! project. No manifest is checked to list the outputs: they follow from the configuration, the names of the manifests,
//! and whether the text of a manifest needs MPI.

use std::fs;
use std::path::PathBuf;

use layoutc_compiler::emit::outputs::{output_paths, runtime_path, umbrella_path};
use layoutc_compiler::manifest::text_needs_mpi;

use crate::command_error::CommandError;
use crate::output;
use crate::project::read_set::ReadSet;
use crate::project::{CONFIG, Project};
use crate::report::Report;
use crate::state::log::LogArena;

use super::SelectArgs;
use super::job::{BuildJob, below};
use super::project_build;
use super::scan::{has_runtime, has_umbrella, template_files};

/// Run of layoutc that another build system starts to produce some outputs of a project.
#[derive(Debug)]
pub(crate) struct BuildAction {
    /// Root folder of the project, which the run gets as `--root`.
    pub(crate) root: PathBuf,
    pub(crate) out: PathBuf,
    pub(crate) subject: ActionScope,
    /// Paths of the outputs that the run produces, sorted.
    pub(crate) outputs: Vec<PathBuf>,
}

/// Part of a project whose outputs an action produces.
#[derive(Debug)]
pub(crate) enum ActionScope {
    Manifest(PathBuf),
    /// Umbrella header, which includes the C headers of all manifests of the project. The paths are those of the
    /// configuration file and of the template files, on which it depends besides the set of outputs of the manifests.
    Project(Vec<PathBuf>),
}

/// Pair `(report, actions)`. `actions` are the runs that produce all outputs of `select`: in the order of projects, one
/// for each manifest with outputs in the order of paths, then one for the umbrella header if the project has one. Each
/// action for a manifest writes the header of the shared runtime if the project has one; it is an output of the first.
/// `report` has errors in configurations, and errors about outputs whose paths are equal or differ only in case; with
/// errors, `actions` may be incomplete.
pub(crate) fn actions(select: &SelectArgs) -> Result<(Report, Vec<BuildAction>), CommandError> {
    let (mut report, mut reads, store) = (Report::default(), ReadSet::brief(), LogArena::default());
    let (projects, _) = project_build::discover(select, &store, &mut report, &mut reads)?;
    let mut actions = Vec::new();
    for project in &projects {
        let job = BuildJob::new(select, project, &mut None, &store)?;
        let mut paths = Vec::new();
        let mut runtime = runtime_path(&project.config).filter(|_| has_runtime(&job));
        for manifest in project.manifests.keys() {
            // The manifest's own action reports its errors.
            let text = fs::read_to_string(below(project, manifest)).unwrap_or_default();
            let exchanges = text_needs_mpi(&text);
            let of_target =
                |target: &&str| output_paths(&project.config, target, manifest, exchanges);
            let own: Vec<String> =
                job.targets.iter().flat_map(of_target).chain(runtime.take()).collect();
            paths.extend(own.iter().cloned());
            let subject = ActionScope::Manifest(below(project, manifest));
            actions.extend(action(&job, subject, own));
        }
        if let Some(umbrella) = umbrella_path(&project.config).filter(|_| has_umbrella(&job)) {
            paths.push(umbrella.clone());
            let subject = ActionScope::Project(settings(project)?);
            actions.extend(action(&job, subject, vec![umbrella]));
        }
        report.add(output::collisions(paths.iter().map(String::as_str)));
    }
    Ok((report, actions))
}

fn action(job: &BuildJob<'_>, subject: ActionScope, outputs: Vec<String>) -> Option<BuildAction> {
    let out = job.home.path();
    let mut outputs: Vec<PathBuf> = outputs.into_iter().map(|path| out.join(path)).collect();
    outputs.sort();
    let root = job.project.root.clone();
    (!outputs.is_empty()).then_some(BuildAction { root, out, subject, outputs })
}

/// Absolute paths of the configuration file of the project, if it exists, and of its template files
/// ([`template_files`]).
fn settings(project: &Project) -> Result<Vec<PathBuf>, CommandError> {
    let config = below(project, CONFIG);
    let templates = template_files(project)?.into_iter().map(|(_, path)| path);
    Ok(config.is_file().then_some(config).into_iter().chain(templates).collect())
}
