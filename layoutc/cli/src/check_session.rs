//! Session of a command that discovers, reads and checks manifests: from PATHS, the paths on its command line, to
//! checked projects.

use std::path::PathBuf;

use layoutc_compiler::check::Recorder;
use layoutc_compiler::emit::{EmitJob, Emitter};
use layoutc_compiler::model::graph::Graph;
use layoutc_compiler::model::{Manifest, Tensor, View};
use layoutc_compiler::{CheckedProject, Compiler};

use crate::build::{own_of, report_emit_error};
use crate::command_error::CommandError;
use crate::console::Console;
use crate::paths::relative_to_cwd;
use crate::project::files::ProjectFiles;
use crate::project::read_set::ReadSet;
use crate::project::{self, Project};
use crate::report::{Report, counted};

/// Checked projects of a command, and the diagnostics of their manifests.
#[derive(Debug)]
pub(crate) struct CheckSession {
    /// Projects, each with the compiler's results for its manifests.
    pub(crate) projects: Vec<(Project, CheckedProject)>,
    pub(crate) report: Report,
}

impl CheckSession {
    /// Discovers, reads and checks the manifests of PATHS, the paths on the command line; no PATHS stand for the
    /// project of the working directory or of a parent folder. Errors in manifests and configurations are diagnostics
    /// in `report`, not errors of this function.
    ///
    /// # Errors
    /// Any error of [`project::discover`]. [`CommandError::Machine`] if a manifest cannot be read.
    pub(crate) fn open(paths: &[PathBuf], console: &mut Console) -> Result<Self, CommandError> {
        Self::checked(paths, None, console)
    }

    /// Opens a session as [`CheckSession::open`] does. Also stores in `recorder` the layout steps of the tensors that
    /// it selects by name.
    pub(crate) fn recording(
        paths: &[PathBuf],
        recorder: &Recorder,
        console: &mut Console,
    ) -> Result<Self, CommandError> {
        Self::checked(paths, Some(recorder), console)
    }

    fn checked(
        paths: &[PathBuf],
        recorder: Option<&Recorder>,
        console: &mut Console,
    ) -> Result<Self, CommandError> {
        let mut report = Report::default();
        let mut projects = Vec::new();
        for project in project::discover(paths, None, &mut report, &mut ReadSet::default())? {
            if console.verbose {
                let manifests = counted(project.manifests.len(), "manifest");
                console.remark(&format!("{}: {manifests}\n", relative_to_cwd(&project.root)));
            }
            let files = ProjectFiles::new(&project.root);
            let manifests: Vec<String> = project.manifests.keys().cloned().collect();
            let mut compiler = Compiler::new(&files, &project.config);
            if let Some(recorder) = recorder {
                compiler = compiler.recording(recorder);
            }
            let checked = compiler.check(&manifests);
            for (path, text) in files.into_texts()? {
                report.text(project.shown(&path), text.text);
            }
            report.add(checked.diagnostics.iter().map(|d| project.with_shown_paths(d)));
            projects.push((project, checked));
        }
        Ok(Self { projects, report })
    }

    /// Checked manifests that PATHS select, each as the pair of its path for display and the manifest. A manifest that
    /// only a `use` in another manifest refers to is omitted.
    pub(crate) fn requested_manifests(&self) -> impl Iterator<Item = (String, &Manifest)> {
        self.projects.iter().flat_map(|(project, checked)| {
            let is_requested = |path: &str| project.manifests.contains_key(path);
            let manifests = checked.manifests.iter().filter(move |m| is_requested(&m.path));
            manifests.map(|manifest| (project.shown(&manifest.path), manifest))
        })
    }

    /// Valid tensors of the requested manifests, each as the pair of the path of its manifest for display and the
    /// tensor.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = (String, &Tensor)> {
        self.requested_manifests().flat_map(|(file, manifest)| {
            manifest.tensors.iter().map(move |tensor| (file.clone(), tensor))
        })
    }

    /// Valid views of the requested manifests, each as the pair of the path of its manifest for display and the view.
    pub(crate) fn views(&self) -> impl Iterator<Item = (String, &View)> {
        self.requested_manifests().flat_map(|(file, manifest)| {
            manifest.views.iter().map(move |view| (file.clone(), view))
        })
    }

    /// Valid graphs of the requested manifests, each as the pair of the path of its manifest for display and the graph.
    pub(crate) fn graphs(&self) -> impl Iterator<Item = (String, &Graph)> {
        self.requested_manifests().flat_map(|(file, manifest)| {
            manifest.graphs.iter().map(move |graph| (file.clone(), graph))
        })
    }

    /// Adds errors that only a build finds to the report: for example limits of the targets, errors of planning, and
    /// missing templates. Templates are not rendered. Does nothing if the report has errors already.
    ///
    /// # Errors
    /// [`CommandError::Machine`] if a template or the templates folder cannot be read.
    pub(crate) fn check_build_refusals(&mut self) -> Result<(), CommandError> {
        if self.report.has_errors() {
            return Ok(());
        }
        for (project, checked) in &self.projects {
            let config = &project.config;
            let templates = own_of(project, config)?;
            let is_requested = |m: &&Manifest| project.manifests.contains_key(&m.path);
            let manifests = || checked.manifests.iter().filter(is_requested);
            let of = |target| manifests().map(move |manifest| EmitJob { target, manifest });
            let jobs: Vec<EmitJob<'_>> = config.target.names().into_iter().flat_map(of).collect();
            let found = Emitter::new(config, &templates).refusals(&jobs);
            report_emit_error(&found, project, &templates, &mut self.report);
        }
        Ok(())
    }

    /// Number of requested manifests in all projects.
    pub(crate) fn manifests(&self) -> usize {
        self.projects.iter().map(|(project, _)| project.manifests.len()).sum()
    }
}
