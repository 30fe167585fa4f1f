//! Discovers, reads and checks manifests, as the first step of most commands.

use std::path::PathBuf;

use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::check::{CheckOptions, Recorder, sort};
use layoutc_compiler::config::Config;
use layoutc_compiler::env::CompileEnv;
use layoutc_compiler::model::graph::Graph;
use layoutc_compiler::model::{Manifest, Tensor, View};
use layoutc_compiler::{
    CheckedProject, EmitJob, check, check_convert_schedules, check_with_options, emit_diagnostics,
};

use crate::build::{own_of, report_emit_error};
use crate::command_error::CommandError;
use crate::console::Console;
use crate::paths::relative_to_cwd;
use crate::project::files::ProjectFiles;
use crate::project::read_set::ReadSet;
use crate::project::{self, Project};
use crate::report::{Report, counted};

/// Checked projects of a command, and their diagnostics.
#[derive(Debug)]
pub(crate) struct CheckSession {
    /// Projects with the compiler's results.
    pub(crate) projects: Vec<(Project, CheckedProject)>,
    pub(crate) report: Report,
}

impl CheckSession {
    /// Discovers, reads and checks the manifests of PATHS.
    pub(crate) fn open(paths: &[PathBuf], console: &mut Console) -> Result<Self, CommandError> {
        Self::checked_by(
            &|files, manifests, config| check(files, manifests, config),
            paths,
            console,
        )
    }

    /// Like [`Self::open`]; records the steps of one tensor.
    pub(crate) fn recording(
        paths: &[PathBuf],
        recorder: &Recorder,
        console: &mut Console,
    ) -> Result<Self, CommandError> {
        let check = |files: &ProjectFiles, manifests: &[String], config: &Config| {
            let aside = CheckOptions { recorder: Some(recorder), ..CheckOptions::default() };
            check_with_options(&CompileEnv::new(files), manifests, config, aside)
        };
        Self::checked_by(&check, paths, console)
    }

    fn checked_by(
        check: &dyn Fn(&ProjectFiles, &[String], &Config) -> CheckedProject,
        paths: &[PathBuf],
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
            let checked = check(&files, &manifests, &project.config);
            for (path, text) in files.into_texts()? {
                report.text(project.shown(&path), text.text);
            }
            report.add(checked.diagnostics.iter().map(|d| project.with_shown_paths(d)));
            projects.push((project, checked));
        }
        Ok(Self { projects, report })
    }

    /// Requested manifests, with their display paths.
    pub(crate) fn requested_manifests(&self) -> impl Iterator<Item = (String, &Manifest)> {
        self.projects.iter().flat_map(|(project, checked)| {
            let is_requested = |path: &str| project.manifests.contains_key(path);
            let manifests = checked.manifests.iter().filter(move |m| is_requested(&m.path));
            manifests.map(|manifest| (project.shown(&manifest.path), manifest))
        })
    }

    /// Valid tensors of the requested manifests, with the display paths of those.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = (String, &Tensor)> {
        self.requested_manifests().flat_map(|(file, manifest)| {
            manifest.tensors.iter().map(move |tensor| (file.clone(), tensor))
        })
    }

    /// Valid views, like [`Self::tensors`].
    pub(crate) fn views(&self) -> impl Iterator<Item = (String, &View)> {
        self.requested_manifests().flat_map(|(file, manifest)| {
            manifest.views.iter().map(move |view| (file.clone(), view))
        })
    }

    /// Valid graphs, like [`Self::tensors`].
    pub(crate) fn graphs(&self) -> impl Iterator<Item = (String, &Graph)> {
        self.requested_manifests().flat_map(|(file, manifest)| {
            manifest.graphs.iter().map(move |graph| (file.clone(), graph))
        })
    }

    /// Adds the errors that only a build would find: `convert` schedules that cannot be followed; and, if the report has
    /// no errors yet, all that generation reports without rendering (limits of the targets, planning, missing templates).
    ///
    /// # Errors
    /// A template cannot be read.
    pub(crate) fn check_build_refusals(&mut self) -> Result<(), CommandError> {
        let is_well = !self.report.has_errors();
        for (project, checked) in &self.projects {
            let config = &project.config;
            let mut found: Vec<Diagnostic> =
                checked.manifests.iter().flat_map(check_convert_schedules).collect();
            let templates = own_of(project, config)?;
            if is_well {
                let names = config.target.names();
                let is_requested = |m: &&Manifest| project.manifests.contains_key(&m.path);
                let manifests = || checked.manifests.iter().filter(is_requested);
                let of = |target| manifests().map(move |manifest| EmitJob { target, manifest });
                let work: Vec<EmitJob<'_>> = names.iter().flat_map(|target| of(target)).collect();
                found.extend(emit_diagnostics(&work, config, &templates));
            }
            sort(&mut found);
            report_emit_error(&found, project, &templates, &mut self.report);
        }
        Ok(())
    }

    /// Number of requested manifests.
    pub(crate) fn manifests(&self) -> usize {
        self.projects.iter().map(|(project, _)| project.manifests.len()).sum()
    }
}
