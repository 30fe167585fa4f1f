//! Manifests found, read and checked: what every command starts with.

use std::path::PathBuf;
use std::sync::Arc;

use layoutc_compiler::check::{CheckOptions, Recorder, sort};
use layoutc_compiler::config::Config;
use layoutc_compiler::diagnostic::Diagnostic;
use layoutc_compiler::env::CompileEnv;
use layoutc_compiler::model::graph::Graph;
use layoutc_compiler::model::{Manifest, Tensor, View};
use layoutc_compiler::{
    CheckedProject, EmitJob, check, check_convert_schedules, check_with_options, emit_diagnostics,
};

use crate::build::{own_of, report_emit_error};
use crate::command_error::CommandError;
use crate::console::Console;
use crate::project::files::ProjectFiles;
use crate::project::read_set::ReadSet;
use crate::project::{self, Project};
use crate::report::{Report, counted};

/// The checked projects of a command, and what there is to say of them.
#[derive(Debug)]
pub(crate) struct CheckSession {
    /// Each project with what the compiler found in it.
    pub(crate) projects: Vec<(Project, CheckedProject)>,
    /// Everything to be printed.
    pub(crate) report: Report,
}

impl CheckSession {
    /// Finds, reads and checks what PATHS name.
    pub(crate) fn open(paths: &[PathBuf], console: &mut Console) -> Result<Self, CommandError> {
        Self::checked_by(
            &|files, manifests, config| check(files, manifests, config),
            paths,
            console,
        )
    }

    /// The same, and the steps of one tensor go to `recorder`.
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
                console
                    .remark(&format!("{}: {manifests}\n", project::relative_to_cwd(&project.root)));
            }
            let files = ProjectFiles::new(&project.root);
            let manifests: Vec<String> = project.manifests.keys().cloned().collect();
            let checked = check(&files, &manifests, &project.config);
            for (path, text) in files.into_texts()? {
                report.text(project.shown(&path), text.text);
            }
            report.add(checked.diagnostics.iter().map(|d| with_user_paths(d, &project)));
            projects.push((project, checked));
        }
        Ok(Self { projects, report })
    }

    /// The manifests asked for, each with its path as people see it.
    pub(crate) fn asked(&self) -> impl Iterator<Item = (String, &Manifest)> {
        self.projects.iter().flat_map(|(project, checked)| {
            let asked = |path: &str| project.manifests.contains_key(path);
            let manifests = checked.manifests.iter().filter(move |m| asked(&m.path));
            manifests.map(|manifest| (project.shown(&manifest.path), manifest))
        })
    }

    /// The good tensors of the manifests asked for, each with its manifest's path as people see it.
    pub(crate) fn tensors(&self) -> impl Iterator<Item = (String, &Tensor)> {
        self.asked().flat_map(|(file, manifest)| {
            manifest.tensors.iter().map(move |tensor| (file.clone(), tensor))
        })
    }

    /// The good views likewise.
    pub(crate) fn views(&self) -> impl Iterator<Item = (String, &View)> {
        self.asked().flat_map(|(file, manifest)| {
            manifest.views.iter().map(move |view| (file.clone(), view))
        })
    }

    /// The good graphs likewise.
    pub(crate) fn graphs(&self) -> impl Iterator<Item = (String, &Graph)> {
        self.asked().flat_map(|(file, manifest)| {
            manifest.graphs.iter().map(move |graph| (file.clone(), graph))
        })
    }

    /// Adds to the report what a build would refuse: choices that a conversion cannot follow; and where all else is
    /// well, as a build then goes on, what targets cannot hold.
    ///
    /// # Errors
    /// A template that cannot be read.
    pub(crate) fn check_build_refusals(&mut self) -> Result<(), CommandError> {
        let is_well = !self.report.has_errors();
        for (project, checked) in &self.projects {
            let config = &project.config;
            let mut found: Vec<Diagnostic> =
                checked.manifests.iter().flat_map(check_convert_schedules).collect();
            let templates = own_of(project, config)?;
            if is_well {
                let names = config.target.names();
                let is_asked = |m: &&Manifest| project.manifests.contains_key(&m.path);
                let asked = || checked.manifests.iter().filter(is_asked);
                let of = |target| asked().map(move |manifest| EmitJob { target, manifest });
                let work: Vec<EmitJob<'_>> = names.iter().flat_map(|target| of(target)).collect();
                found.extend(emit_diagnostics(&work, config, &templates));
            }
            sort(&mut found);
            report_emit_error(&found, project, &templates, &mut self.report);
        }
        Ok(())
    }

    /// How many manifests were asked for.
    pub(crate) fn manifests(&self) -> usize {
        self.projects.iter().map(|(project, _)| project.manifests.len()).sum()
    }
}

/// A diagnostic with the paths that people see.
pub(crate) fn with_user_paths(diagnostic: &Diagnostic, project: &Project) -> Diagnostic {
    let mut diagnostic = diagnostic.clone();
    for label in &mut diagnostic.labels {
        label.place.file = Arc::from(project.shown(&label.place.file));
    }
    for fix in &mut diagnostic.fixes {
        fix.place.file = Arc::from(project.shown(&fix.place.file));
    }
    diagnostic
}
