//! Rendering of templates to text, with limits on steps, recursion and output bytes.
//!
//! The result is a pure function of the templates and the serialized model, so that a caller can render untrusted
//! templates in a separate process: `{% set x = x ~ x %}` thirty times allocates memory that no limit here counts.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};

use super::filters::{self, Dialects, text_of, too_long};
use super::runtime;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::config::Config;

/// Greatest output of one template, in bytes, inclusive.
pub const MAX_OUTPUT: usize = 64 << 20;
/// Initial capacity of the output buffer, in bytes.
const USUAL_OUTPUT: usize = 64 << 10;
const RECURSION: usize = 64;

/// Pair (name, text) of a built-in template.
macro_rules! built_in {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../templates/", $name)))
    };
}

/// Built-in templates as pairs (name, text), sorted by folder.
pub const BUILT_IN: &[(&str, &str)] = &[
    built_in!("c/access.h.j2"),
    built_in!("c/bench.c.j2"),
    built_in!("c/compute_test.c.j2"),
    built_in!("c/floats.h.j2"),
    built_in!("c/header.h.j2"),
    built_in!("c/mpi.c.j2"),
    built_in!("c/mpi.h.j2"),
    built_in!("c/mpi_test.c.j2"),
    built_in!("c/schedule.c.j2"),
    built_in!("c/schedule.h.j2"),
    built_in!("c/ring_test.c.j2"),
    built_in!("c/sharding_test.c.j2"),
    built_in!("c/source.c.j2"),
    built_in!("c/test.c.j2"),
    built_in!("c/umbrella.h.j2"),
    built_in!("c/view_test.c.j2"),
    built_in!("common/arithmetic.j2"),
    built_in!("common/casts.j2"),
    built_in!("common/counts.j2"),
    built_in!("common/float_bits.j2"),
    built_in!("common/index.j2"),
    built_in!("common/integers.j2"),
    built_in!("common/packed.j2"),
    built_in!("common/stream.j2"),
    built_in!("common/title.j2"),
    built_in!("common/transposes.j2"),
    built_in!("common/view.j2"),
    built_in!("cuda/access.cuh.j2"),
    built_in!("cuda/header.cuh.j2"),
    built_in!("cuda/image.cuh.j2"),
    built_in!("cuda/kernels.cu.j2"),
    built_in!("cuda/launcher.cuh.j2"),
    built_in!("cuda/source.cu.j2"),
    built_in!("opencl/access.cl.j2"),
    built_in!("opencl/host.h.j2"),
    built_in!("opencl/image.cl.j2"),
    built_in!("opencl/kernels.cl.j2"),
    built_in!("opencl/launch.h.j2"),
    built_in!("opencl/program.cl.j2"),
    built_in!("rust/arithmetic.rs.j2"),
    built_in!("rust/casts.rs.j2"),
    built_in!("rust/floats.rs.j2"),
    built_in!("rust/integers.rs.j2"),
    built_in!("rust/module.rs.j2"),
    built_in!("rust/packed.rs.j2"),
];

/// Built-in templates, and the project's templates, which override built-in ones of the same name.
#[derive(Debug, Clone)]
pub struct Templates {
    /// Texts of the project's templates by name: `c/header.h.j2`.
    pub user: BTreeMap<String, String>,
    /// Project templates that are not UTF-8: number of valid bytes before the error, by name.
    pub unreadable: BTreeMap<String, usize>,
    /// Folder of the project's templates as configured; diagnostics name a template's file `FOLDER/NAME`.
    pub folder: String,
}

impl Default for Templates {
    fn default() -> Self {
        let (user, unreadable) = (BTreeMap::new(), BTreeMap::new());
        Self { user, unreadable, folder: "templates".to_owned() }
    }
}

impl Templates {
    /// Creates the template set from the project's templates: `user` has the texts by name, `unreadable` the number of
    /// valid bytes of each template that is not UTF-8. The folder is `templates-dir` of the configuration.
    pub fn new(
        config: &Config,
        user: BTreeMap<String, String>,
        unreadable: BTreeMap<String, usize>,
    ) -> Self {
        Self { user, unreadable, folder: config.project.templates_dir.clone() }
    }

    /// Text of a template: the project's if there is one, otherwise the built-in one. `None` if neither exists.
    pub fn get(&self, name: &str) -> Option<&str> {
        let built_in = || BUILT_IN.iter().find(|(known, _)| *known == name).map(|row| row.1);
        self.user.get(name).map(String::as_str).or_else(built_in)
    }

    /// Diagnostic for a template that is not UTF-8; `None` for any other template.
    pub(super) fn unreadable(&self, name: &str) -> Option<Diagnostic> {
        let at = self.unreadable.get(name)?;
        let message = format!("template `{}`: {}", name.escape_debug(), not_utf8(*at));
        let place = FileSpan::new(&self.file(name), 0..0);
        let fault = Diagnostic::error(Code::TemplateSyntax, message, place, "");
        Some(fault.help("save it as UTF-8"))
    }

    /// Path of a template's file in diagnostics.
    fn file(&self, name: &str) -> Arc<str> {
        Arc::from(format!("{}/{name}", self.folder.trim_end_matches('/')))
    }

    /// Text of the template with this path in diagnostics; `None` if `file` is not below the templates folder or
    /// unknown.
    pub fn text_at(&self, file: &str) -> Option<&str> {
        let below = file.strip_prefix(self.folder.trim_end_matches('/'))?;
        self.get(below.strip_prefix('/')?)
    }
}

/// Compiled templates of one language, shared by all renderings.
#[derive(Debug)]
pub(super) struct Frames<'t> {
    templates: &'t Templates,
    environment: Environment<'static>,
}

impl<'t> Frames<'t> {
    /// Compiles the built-in templates of `language` and `common`, and all project templates; any other template is
    /// compiled at its first use.
    pub(super) fn new(templates: &'t Templates, language: &str, dialects: Dialects) -> Self {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_recursion_limit(RECURSION);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
            environment.set_syntax(syntax);
        }
        let owned = templates.clone();
        environment.set_loader(move |name| match owned.unreadable.get(name) {
            Some(at) => Err(Error::new(ErrorKind::BadSerialization, not_utf8(*at))),
            None => Ok(owned.get(name).map(str::to_owned)),
        });
        filters::add(&mut environment, dialects);
        runtime::add(&mut environment);
        environment.remove_global("debug");
        let built_in = BUILT_IN.iter().map(|(name, _)| *name).filter(|name| {
            name.split_once('/').is_some_and(|(folder, _)| [language, "common"].contains(&folder))
        });
        for name in built_in.chain(templates.user.keys().map(String::as_str)) {
            // An error is reported where the template is used.
            let _compiled = environment.get_template(name);
        }
        Self { templates, environment }
    }

    /// Renders template `name` with `model`, limited to `fuel` steps.
    ///
    /// # Errors
    /// A diagnostic at the position in the template's text: `template::syntax`, `template::undefined`,
    /// `template::fuel`, `template::output`.
    #[expect(clippy::result_large_err, reason = "one diagnostic, on the way out")]
    pub(super) fn render(&self, name: &str, model: Value, fuel: u64) -> Result<String, Diagnostic> {
        let mut environment = self.environment.clone();
        environment.set_fuel(Some(fuel));
        let written = AtomicUsize::new(0);
        environment.set_formatter(move |out, _state, value| {
            let text = text_of(value)?;
            // Output captured in a block counts too: `{% set x %}{{ x }}{{ x }}{% endset %}` doubles `x`.
            if written.fetch_add(text.len(), Ordering::Relaxed) > MAX_OUTPUT {
                return Err(too_long());
            }
            out.write_str(&text).map_err(|_| too_long())
        });
        let told = |error: &Error| diagnostic(self.templates, name, error, fuel);
        let template = environment.get_template(name).map_err(|error| told(&error))?;
        let mut out = Capped { text: Vec::with_capacity(USUAL_OUTPUT) };
        template.render_captured_to(model, &mut out).map_err(|error| told(&error))?;
        String::from_utf8(out.text).map_err(|_| {
            let place = FileSpan::new(&self.templates.file(name), 0..0);
            Diagnostic::error(
                Code::TemplateOutput,
                "the template writes bytes that are not UTF-8",
                place,
                "",
            )
            .help("let it write text alone")
        })
    }
}

fn not_utf8(at: usize) -> String {
    format!("it is not UTF-8 at byte {at}")
}

struct Capped {
    text: Vec<u8>,
}

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if self.text.len().saturating_add(bytes.len()) > MAX_OUTPUT {
            return Err(std::io::Error::other("the output is too long"));
        }
        self.text.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other kinds are the template's own")]
fn diagnostic(templates: &Templates, name: &str, error: &Error, fuel: u64) -> Diagnostic {
    let code = match error.kind() {
        ErrorKind::UndefinedError => Code::TemplateUndefined,
        ErrorKind::OutOfFuel => Code::TemplateFuel,
        ErrorKind::WriteFailure => Code::TemplateOutput,
        _ => Code::TemplateSyntax,
    };
    let (file, line) = (error.name().unwrap_or(name), error.line());
    let what = match error.kind() {
        ErrorKind::OutOfFuel => format!("takes more than {fuel} steps"),
        kind => error.detail().map_or_else(|| kind.to_string(), str::to_owned),
    };
    let source = templates.get(file).unwrap_or("");
    let line_at = line.and_then(|line| line.checked_sub(1));
    let start: usize =
        line_at.map_or(0, |line| source.split_inclusive('\n').take(line).map(str::len).sum());
    let text = line_at.and_then(|line| source.lines().nth(line)).unwrap_or("");
    let span = error
        .range()
        .filter(|range| range.end <= source.len() && range.start <= range.end)
        .unwrap_or(start..start.saturating_add(text.len()));
    let place = FileSpan::new(&templates.file(file), span);
    let mut diagnostic = Diagnostic::error(code, format!("template `{file}`: {what}"), place, "");
    let help = match code {
        Code::TemplateUndefined => "the values are listed in `schemas/template-model.json`",
        Code::TemplateFuel => "loop over the model alone: the bound grows with it",
        Code::TemplateOutput => "let it write less: data belongs into files of data",
        _ => "close each block, and use the filters that `layoutc explain template::syntax` names",
    };
    diagnostic = diagnostic.help(help);
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        diagnostic = diagnostic.note(inner.to_string());
        cause = inner.source();
    }
    diagnostic
}
