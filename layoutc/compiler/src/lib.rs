//! Compiler from layout manifests to generated source. Reads no file, no clock and no environment.
//!
//! text → syntax ([`manifest`]) → model ([`check`]) → plan ([`plan`]) → source ([`emit`]). Each stage takes its input
//! by reference, returns a new value and collects all diagnostics. [`pack`] moves the elements of a tensor between
//! buffers in memory.
//!
//! ```
//! use layoutc_compiler::config::Config;
//! use layoutc_compiler::emit::Templates;
//! use layoutc_compiler::{Compiler, MemorySources};
//!
//! let sources = MemorySources::of("a.kdl", "tensor a dtype=f32 { shape { n 8; c 16 } }");
//! let (config, templates) = (Config::default(), Templates::default());
//! let compiler = Compiler::new(&sources, &config);
//! let checked = compiler.check(&["a.kdl".to_owned()]);
//! let files = compiler.emit(&checked, &templates).unwrap();
//! let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
//! assert_eq!(paths, ["c/a.h", "c/a.c", "c/tests/a_test.c"]);
//! ```

pub mod base;
pub mod check;
pub mod config;
pub mod editor;
pub mod emit;
pub mod env;
#[cfg(feature = "import")]
pub mod import;
pub mod ir;
mod loops;
mod lower;
pub mod machine;
pub mod manifest;
pub mod model;
pub mod pack;
pub mod passes;
pub mod plan;
pub mod query;
mod reference;
pub mod solve;
pub mod target;
pub mod warp;

pub use check::{CheckedProject, syntax_key};
pub use emit::GeneratedFile;
pub use env::sources::{LoadError, MemorySources, SourceLoader};

use base::diagnostic::Diagnostic;
use check::{CheckOptions, PlannerQuestions, Recorder, TensorCache};
use config::Config;
use emit::{Emitter, Templates};
use env::CompileEnv;

/// Functions of the planner that the check stage calls to validate schedules.
const PLANNER: PlannerQuestions = PlannerQuestions {
    tile_extents: plan::tile_extents,
    complete_schedule: plan::complete_schedule,
    schedule_diagnostics: plan::schedule_diagnostics,
};

/// Compiler of the manifests that the source loader of an environment provides, under one configuration.
#[derive(Clone, Copy)]
#[expect(missing_debug_implementations, reason = "trait objects without Debug")]
pub struct Compiler<'a> {
    env: CompileEnv<'a>,
    config: &'a Config,
    options: CheckOptions<'a>,
}

impl<'a> Compiler<'a> {
    /// Creates a compiler. A reference to a source loader as `env` stands for an environment without cache and
    /// observer.
    pub fn new(env: impl Into<CompileEnv<'a>>, config: &'a Config) -> Self {
        let options = CheckOptions { recorder: None, cache: None, planner: PLANNER };
        Self { env: env.into(), config, options }
    }

    /// Returns the compiler with a recorder: checks then record the layout after each step of the tensors that
    /// `recorder` selects.
    #[must_use]
    pub fn recording(mut self, recorder: &'a Recorder) -> Self {
        self.options.recorder = Some(recorder);
        self
    }

    /// Returns the compiler with a cache of checked tensors, which later checks with the same configuration reuse.
    #[must_use]
    pub fn caching(mut self, cache: &'a TensorCache) -> Self {
        self.options.cache = Some(cache);
        self
    }

    /// Checks the manifests at `paths`, and proves their layouts. Manifests that they import by `use` are read; their
    /// tensors, kernels and graphs are not checked.
    pub fn check(&self, paths: &[String]) -> CheckedProject {
        check::check(&self.env, paths, self.config, self.options)
    }

    /// Generated files of a checked project for every configured target, and the umbrella header if there is one; they
    /// are not written to disk.
    ///
    /// # Errors
    /// The errors of planning, of graphs without a plan, of templates and of colliding output paths, sorted by file and
    /// position.
    pub fn emit(
        &self,
        checked: &CheckedProject,
        templates: &Templates,
    ) -> Result<Vec<GeneratedFile>, Vec<Diagnostic>> {
        let emitter = Emitter::new(self.config, templates).observed_by(self.env.observer);
        emitter.all(&checked.manifests)
    }
}
