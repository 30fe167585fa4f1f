//! Parallel generation of the files of several manifests for several targets.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::outputs::{common_folder, stem};
use super::runtime::header;
use super::umbrella::umbrella;
use super::{GeneratedFile, Settings, Target, Templates};
use crate::base::diagnostic::{self, Diagnostic};
use crate::config::Config;
use crate::env::{CompileStage, NoObserver, Observer};
use crate::model::Manifest;
use crate::solve;

/// Manifest to be generated for one target.
#[derive(Debug, Clone, Copy)]
pub struct EmitJob<'a> {
    /// Name of the target in the configuration.
    pub target: &'a str,
    /// Checked manifest with the tensors of all targets.
    pub manifest: &'a Manifest,
}

impl EmitJob<'_> {
    /// Result of `stage` on the manifest restricted to the target, with the layouts of its graphs solved. `Err` has the
    /// diagnostics of the solution of the graphs, or those of `stage`.
    fn run<T>(
        &self,
        stage: impl FnOnce(&Manifest) -> Result<T, Vec<Diagnostic>>,
    ) -> Result<T, Vec<Diagnostic>> {
        let manifest = self.manifest.for_target(self.target);
        match manifest.graphs.as_slice() {
            [] => stage(&manifest),
            _ => stage(&solve::lay_out(&manifest)?),
        }
    }
}

/// Generator of the files of a project, under one configuration.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "a trait object without Debug")]
pub struct Emitter<'a> {
    config: &'a Config,
    templates: &'a Templates,
    observer: &'a dyn Observer,
}

impl<'a> Emitter<'a> {
    /// Creates a generator from the configuration and the built-in and project templates.
    pub fn new(config: &'a Config, templates: &'a Templates) -> Self {
        Self { config, templates, observer: &NoObserver }
    }

    /// Sets the observer that is notified of the generation of each job.
    #[must_use]
    pub fn observed_by(mut self, observer: &'a dyn Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Files of all manifests for every configured target: target by target, in the order of the manifests. The
    /// umbrella header and the shared runtime are the last files, if they are configured.
    ///
    /// # Errors
    /// The diagnostics of [`files`](Self::files), or the one of [`umbrella`](Self::umbrella).
    pub fn all(&self, manifests: &[Manifest]) -> Result<Vec<GeneratedFile>, Vec<Diagnostic>> {
        let of = |target| manifests.iter().map(move |manifest| EmitJob { target, manifest });
        let jobs: Vec<EmitJob<'_>> = self.config.target.names().into_iter().flat_map(of).collect();
        let mut files: Vec<_> = self.files(&jobs)?.into_iter().flatten().collect();
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let header = self.umbrella(&paths).map_err(|fault| vec![*fault])?;
        files.extend(header);
        files.extend(self.runtime().map_err(|fault| vec![*fault])?);
        Ok(files)
    }

    /// Umbrella header, which includes the C headers among `outputs`, except those that need MPI; `None` if none is
    /// configured. `outputs` are the paths of all other outputs, with the folder of their target: `c/a.h`.
    ///
    /// # Errors
    /// `output::collision` if another output has the same path, regardless of case, and `template::*`.
    pub fn umbrella(&self, outputs: &[&str]) -> Result<Option<GeneratedFile>, Box<Diagnostic>> {
        umbrella(self.config, outputs, self.templates)
    }

    /// Header with the runtime that the C sources of the project share; `None` if the sources define what they need.
    ///
    /// # Errors
    /// `limit::generated` if the runtime is invalid.
    pub fn runtime(&self) -> Result<Option<GeneratedFile>, Box<Diagnostic>> {
        header::header(self.config)
    }

    /// Files of each job, in the order of the jobs; empty for a job whose target is not configured.
    ///
    /// # Errors
    /// All diagnostics of [`Target::files`] and of the solution of graphs, sorted and without duplicates.
    pub fn files(&self, jobs: &[EmitJob<'_>]) -> Result<Vec<Vec<GeneratedFile>>, Vec<Diagnostic>> {
        let Self { config, templates, observer } = *self;
        let common = common_folder(&config.project.sources);
        let settings = Settings::of_config(config);
        let is_wanted = |settings: &&Settings| jobs.iter().any(|job| job.target == settings.target);
        let targets: BTreeMap<&str, Target<'_>> = settings
            .iter()
            .filter(is_wanted)
            .map(|settings| (settings.target.as_str(), Target::new(settings, templates)))
            .collect();
        let results: Vec<Result<Vec<GeneratedFile>, Vec<Diagnostic>>> = jobs
            .par_iter()
            .map(|job| {
                let Some(target) = targets.get(job.target) else { return Ok(Vec::new()) };
                observer.begin();
                let stem = stem(&job.manifest.path, &common);
                let files = job.run(|manifest| target.files(manifest, &stem));
                observer.end(CompileStage::Emit, &job.manifest.path);
                let mut files = files?;
                files
                    .iter_mut()
                    .for_each(|file| file.path = format!("{}/{}", job.target, file.path));
                Ok(files)
            })
            .collect();
        let (mut outputs, mut faults) = (Vec::new(), Vec::new());
        for result in results {
            match result {
                Ok(files) => outputs.push(files),
                Err(found) => faults.extend(found),
            }
        }
        // A diagnostic that several targets share is reported once.
        diagnostic::sort(&mut faults);
        if faults.is_empty() { Ok(outputs) } else { Err(faults) }
    }

    /// Diagnostics that [`files`](Self::files) reports before any template is rendered, such as those for graphs
    /// without a solution, limits of the target, plans that cannot be made, and missing templates. Sorted and without
    /// duplicates; empty if there are none.
    pub fn refusals(&self, jobs: &[EmitJob<'_>]) -> Vec<Diagnostic> {
        let Self { config, templates, .. } = *self;
        let common = common_folder(&config.project.sources);
        let settings = Settings::of_config(config);
        let of = |job: &EmitJob<'_>| {
            let own = settings.iter().find(|settings| settings.target == job.target);
            let Some(settings) = own else { return Vec::new() };
            let stem = stem(&job.manifest.path, &common);
            let target = Target::new(settings, templates);
            job.run(|manifest| target.unit(manifest, &stem).map(drop)).err().unwrap_or_default()
        };
        let mut faults: Vec<Diagnostic> = jobs.par_iter().flat_map_iter(of).collect();
        diagnostic::sort(&mut faults);
        faults
    }
}
