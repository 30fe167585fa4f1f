//! Dependency graph of the files of a build.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::paths::normal;
use crate::project::CONFIG;
use crate::project::read_set::ReadSet;
use crate::state::fact::EmitRecord;

use super::job::below;
use super::lock_file;
use super::project_build::ProjectBuild;
use super::scan::{RUNTIME, UMBRELLA, has_runtime, has_umbrella};

/// Role of a file in the dependency graph of a build: one of three inputs (configuration, template, manifest), or an
/// output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    /// Configuration file: `layoutc.toml`, or `layoutc.lock` with `--locked`.
    Config,
    /// Template file of the project.
    Template,
    /// Manifest that was requested on the command line, or that a requested manifest uses.
    Manifest,
    Output,
}

impl FileKind {
    /// Name of the file kind in JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            FileKind::Config => "config",
            FileKind::Template => "template",
            FileKind::Manifest => "manifest",
            FileKind::Output => "output",
        }
    }
}

/// Files of a build by absolute path, and the dependencies between them.
#[derive(Debug, Default)]
pub(crate) struct DependencyGraph {
    pub(crate) nodes: BTreeMap<PathBuf, FileKind>,
    /// Dependencies as pairs `(input, dependent)` of absolute paths. The dependent is an output that depends on the
    /// input, or a manifest that uses the input (another manifest) directly or indirectly.
    pub(crate) edges: BTreeSet<(PathBuf, PathBuf)>,
}

impl DependencyGraph {
    /// Dependency graph of a successful build of the projects `parts`. `reads` contains the files that the build read.
    pub(super) fn of(parts: &[ProjectBuild<'_>], reads: &ReadSet) -> Self {
        let mut graph = Self::default();
        for part in parts {
            graph.add(part, reads);
        }
        graph
    }

    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Path> {
        self.chosen(|kind| kind == FileKind::Output)
    }

    /// Absolute paths of all files that are not outputs: configurations, templates and manifests, sorted.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Path> {
        self.chosen(|kind| kind != FileKind::Output)
    }

    fn chosen(&self, is_chosen: impl Fn(FileKind) -> bool) -> impl Iterator<Item = &Path> {
        let chosen = self.nodes.iter().filter(move |(_, kind)| is_chosen(**kind));
        chosen.map(|(path, _)| path.as_path())
    }

    fn add(&mut self, part: &ProjectBuild<'_>, reads: &ReadSet) {
        let project = part.job.project;
        let mut shared = settings(part, reads);
        let mut outputs = Vec::new();
        for manifest in project.manifests.keys() {
            let path = normal(&below(project, manifest));
            self.nodes.insert(path.clone(), FileKind::Manifest);
            for used in uses(part, manifest) {
                let used = normal(&below(project, used));
                self.nodes.insert(used.clone(), FileKind::Manifest);
                self.edges.insert((used, path.clone()));
            }
            for target in &part.job.targets {
                for output in files(part, target, manifest) {
                    self.edges.insert((path.clone(), output.clone()));
                    outputs.push(output);
                }
            }
        }
        let manifests = project.manifests.keys().map(|manifest| normal(&below(project, manifest)));
        let (target, manifest) = UMBRELLA;
        if has_umbrella(&part.job) {
            for output in files(part, target, manifest) {
                self.edges.extend(manifests.clone().map(|path| (path, output.clone())));
                outputs.push(output);
            }
        }
        if has_runtime(&part.job) {
            outputs.extend(files(part, RUNTIME.0, RUNTIME.1));
        }
        shared.retain(|path, _| !self.nodes.contains_key(path));
        for output in outputs {
            self.edges.extend(shared.keys().map(|path| (path.clone(), output.clone())));
            self.nodes.insert(output, FileKind::Output);
        }
        self.nodes.extend(shared);
    }
}

/// Files on which every output of the project depends, by absolute path: the configuration, the lock file if it was
/// read, and all template files, because a template may include any other. Only files that `reads` has as readable are
/// included.
fn settings(part: &ProjectBuild<'_>, reads: &ReadSet) -> BTreeMap<PathBuf, FileKind> {
    let project = part.job.project;
    let is_read = |path: &PathBuf| reads.files.get(path).is_some_and(Result::is_ok);
    let configs = [CONFIG, lock_file::NAME].map(|name| (below(project, name), FileKind::Config));
    let mut settings: BTreeMap<PathBuf, FileKind> =
        configs.into_iter().filter(|(path, _)| is_read(path)).collect();
    let folder = below(project, project.config.project.templates_dir.trim_end_matches('/'));
    let templates = reads.files.keys().filter(|path| path.starts_with(&folder));
    settings
        .extend(templates.filter(|path| is_read(path)).map(|p| (p.clone(), FileKind::Template)));
    settings
}

/// Paths, relative to the root of the project, of the manifests that `manifest` uses directly or indirectly. They come
/// from the check in this build, else from the log; empty if neither has a check of the manifest.
fn uses<'p>(part: &'p ProjectBuild<'_>, manifest: &str) -> Vec<&'p str> {
    let old = || part.job.log.facts.checked.get(manifest).map(|old| old.uses.clone());
    match part.made.checked.get(manifest) {
        Some(new) => new.uses.iter().map(String::as_str).collect(),
        None => old().unwrap_or_default(),
    }
}

/// Absolute paths of the outputs that are generated from the manifest `manifest` for the code-generation target
/// `target`: by this build, else by the last build in the log.
fn files(part: &ProjectBuild<'_>, target: &str, manifest: &str) -> Vec<PathBuf> {
    let folder = part.job.home.path();
    let name = (target.to_owned(), manifest.to_owned());
    let paths: Vec<&str> = match part.made.emitted.get(&name) {
        Some(new) => new.outputs.iter().map(|(output, _)| output.path.as_str()).collect(),
        None => part
            .job
            .log
            .facts
            .emitted((target, manifest))
            .into_iter()
            .flat_map(EmitRecord::paths)
            .collect(),
    };
    paths.into_iter().map(|path| folder.join(path)).collect()
}
