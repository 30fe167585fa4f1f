//! Templates to text, within bounds: of steps, of recursion, of bytes.
//!
//! A pure function of the templates and the serialised model, so that a caller may run templates that it does not
//! trust in a process of their own: `{% set x = x ~ x %}` thirty times over takes memory that no bound here sees.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Rest, Value};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior};

use super::dialect::{C, C_PLAIN, CUDA, Dialect, OPENCL};
use super::print::{self, Style};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::plan::tree::{Expr, Function, Stmt};

/// The most that one template may write, in bytes.
pub const MAX_OUTPUT: usize = 64 << 20;
/// The most that one call of a filter may give, in bytes.
const MAX_TEXT: usize = 1 << 20;
const RECURSION: usize = 64;

/// A template's name and text.
macro_rules! built_in {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../templates/", $name)))
    };
}

/// The built-in templates, by name.
pub const BUILT_IN: &[(&str, &str)] = &[
    built_in!("c/bench.c.j2"),
    built_in!("c/floats.h.j2"),
    built_in!("c/header.h.j2"),
    built_in!("c/source.c.j2"),
    built_in!("c/test.c.j2"),
    built_in!("c/umbrella.h.j2"),
    built_in!("common/counts.j2"),
    built_in!("common/index.j2"),
    built_in!("common/integers.j2"),
    built_in!("common/packed.j2"),
    built_in!("common/title.j2"),
    built_in!("cuda/header.cuh.j2"),
    built_in!("cuda/image.cuh.j2"),
    built_in!("cuda/kernels.cu.j2"),
    built_in!("cuda/launcher.cuh.j2"),
    built_in!("cuda/source.cu.j2"),
    built_in!("opencl/host.h.j2"),
    built_in!("opencl/image.cl.j2"),
    built_in!("opencl/kernels.cl.j2"),
    built_in!("opencl/launch.h.j2"),
    built_in!("opencl/program.cl.j2"),
];

/// Built-in templates and the user's, which go first.
#[derive(Debug, Clone)]
pub struct Templates {
    /// The user's, by name: `c/header.h.j2`.
    pub user: BTreeMap<String, String>,
    /// The folder that they lie in: places name their files below it.
    pub folder: String,
}

impl Default for Templates {
    fn default() -> Self {
        Self { user: BTreeMap::new(), folder: "templates".to_owned() }
    }
}

impl Templates {
    /// The text of a template: the user's, else the built-in one.
    pub fn get(&self, name: &str) -> Option<&str> {
        let built_in = || BUILT_IN.iter().find(|(known, _)| *known == name).map(|row| row.1);
        self.user.get(name).map(String::as_str).or_else(built_in)
    }

    /// How places call the file of a template.
    fn file(&self, name: &str) -> Arc<str> {
        Arc::from(format!("{}/{name}", self.folder.trim_end_matches('/')))
    }

    /// The text of the template whose file places call so.
    pub fn text_at(&self, file: &str) -> Option<&str> {
        let below = file.strip_prefix(self.folder.trim_end_matches('/'))?;
        self.get(below.strip_prefix('/')?)
    }
}

/// Renders template `name` over `model` with at most `fuel` steps.
///
/// # Errors
/// A diagnostic with the template's name and the place in its text: `template::syntax`,
/// `template::undefined`, `template::fuel`, `template::output`.
#[expect(clippy::result_large_err, reason = "one diagnostic, on the way out")]
pub fn render(
    templates: &Templates,
    name: &str,
    model: &serde_json::Value,
    fuel: u64,
) -> Result<String, Diagnostic> {
    let written = Arc::new(AtomicUsize::new(0));
    let environment = environment(templates, fuel, &written, Dialects::of(model));
    let told = |error: &Error| diagnostic(templates, name, error, fuel);
    let template = environment.get_template(name).map_err(|error| told(&error))?;
    let mut out = Capped { text: Vec::new() };
    template
        .render_captured_to(Value::from(minijinja::value::Serde(model)), &mut out)
        .map_err(|error| told(&error))?;
    String::from_utf8(out.text).map_err(|_| {
        let place = Place::new(&templates.file(name), 0..0);
        Diagnostic::error(
            Code::TemplateOutput,
            "the template writes bytes that are not UTF-8",
            place,
            "",
        )
    })
}

/// The dialects that filters print.
#[derive(Clone, Copy)]
struct Dialects {
    /// The model's own.
    own: &'static Dialect,
    /// C, and without strength reduction; with the model's index type where the model is C's.
    c: [&'static Dialect; 2],
    opencl: &'static Dialect,
    cuda: &'static Dialect,
}

impl Dialects {
    fn of(model: &serde_json::Value) -> Self {
        let word = |key| model.pointer(key).and_then(serde_json::Value::as_str).unwrap_or_default();
        let name = word("/language/name");
        let [own, plain] = Dialect::find(name, word("/language/index")).unwrap_or([&C, &C_PLAIN]);
        let mut all = Self { own, c: [&C, &C_PLAIN], opencl: &OPENCL, cuda: &CUDA };
        match name {
            "opencl" => all.opencl = own,
            "cuda" => all.cuda = own,
            _ => all.c = [own, plain],
        }
        all
    }

    fn find(&self, name: Option<&String>) -> Result<&'static Dialect, Error> {
        match name.map(String::as_str) {
            None => Ok(self.own),
            Some("c") => Ok(self.c[0]),
            Some("opencl") => Ok(self.opencl),
            Some("cuda") => Ok(self.cuda),
            Some(other) => {
                let message = format!("there is no language `{other}`: c, opencl, cuda");
                Err(Error::new(ErrorKind::InvalidOperation, message))
            }
        }
    }
}

fn environment<'t>(
    templates: &'t Templates,
    fuel: u64,
    written: &Arc<AtomicUsize>,
    dialects: Dialects,
) -> Environment<'t> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(fuel));
    environment.set_recursion_limit(RECURSION);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        environment.set_syntax(syntax);
    }
    let owned = templates.clone();
    environment.set_loader(move |name| Ok(owned.get(name).map(str::to_owned)));
    let total = Arc::clone(written);
    environment.set_formatter(move |out, _state, value| {
        let text = text_of(value)?;
        // What goes into a captured block is counted too: `{% set x %}{{ x }}{{ x }}{% endset %}` doubles.
        if total.fetch_add(text.len(), Ordering::Relaxed) > MAX_OUTPUT {
            return Err(too_long());
        }
        out.write_str(&text).map_err(|_| too_long())
    });
    for name in ["format", "pprint", "string", "batch", "slice", "sum", "chain", "zip"] {
        environment.remove_filter(name);
    }
    environment.add_filter("indent", indent);
    environment.add_filter("join", join);
    environment.add_filter("replace", replace);
    let [c, plain] = dialects.c;
    for (name, dialect) in
        [("c", c), ("c_plain", plain), ("opencl", dialects.opencl), ("cuda", dialects.cuda)]
    {
        environment.add_filter(name, move |value: &Value, depth: Rest<usize>| {
            tree_text(value, Style::C(dialect), &depth)
        });
    }
    environment.add_filter("code", move |value: &Value, depth: Rest<usize>| {
        tree_text(value, Style::C(dialects.own), &depth)
    });
    environment.add_filter("python", |value: &Value, depth: Rest<usize>| {
        tree_text(value, Style::Python, &depth)
    });
    environment.add_filter("prototype", move |value: &Value, language: Rest<String>| {
        let dialect = dialects.find(language.first())?;
        parse::<Function>(value).map(|function| print::prototype(dialect, &function))
    });
    environment.add_filter("parameters", move |value: &Value, restrict: Rest<String>| {
        let restrict = if restrict.is_empty() { "" } else { dialects.own.restrict };
        parse::<Function>(value).map(|f| print::parameters(dialects.own, &f, restrict))
    });
    environment.add_filter("comment", |text: &str| super::comment::escape(text));
    environment.add_filter("defines", move |values: &Value, language: Rest<String>| {
        defines(values, dialects.find(language.first())?)
    });
    environment.add_filter("define", move |value: &Value| {
        parse(value).map(|unit| print::define(dialects.own, &unit))
    });
    environment.remove_global("debug");
    environment
}

struct Capped {
    text: Vec<u8>,
}

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.text.len().saturating_add(bytes.len()) > MAX_OUTPUT {
            return Err(std::io::Error::other("the output is too long"));
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn too_long() -> Error {
    Error::new(ErrorKind::WriteFailure, "the text is too long")
}

/// Collects text up to [`MAX_TEXT`] bytes, and fails beyond.
struct Bounded(String);

impl std::fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len().saturating_add(text.len()) > MAX_TEXT {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

fn text_of(value: &Value) -> Result<String, Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let mut text = Bounded(String::new());
    std::fmt::Write::write_fmt(&mut text, format_args!("{value}")).map_err(|_| too_long())?;
    Ok(text.0)
}

fn push(text: &mut String, part: &str) -> Result<(), Error> {
    if text.len().saturating_add(part.len()) > MAX_TEXT {
        return Err(too_long());
    }
    text.push_str(part);
    Ok(())
}

/// Every line but the first moved right by `width` blanks; empty lines stay empty.
fn indent(text: &str, width: usize) -> Result<String, Error> {
    let blanks = " ".repeat(width.min(256));
    let mut indented = String::new();
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            push(&mut indented, "\n")?;
            if !line.is_empty() {
                push(&mut indented, &blanks)?;
            }
        }
        push(&mut indented, line)?;
    }
    Ok(indented)
}

#[expect(clippy::needless_pass_by_value, reason = "what minijinja passes")]
fn join(values: &Value, with: Rest<String>) -> Result<String, Error> {
    let with = with.first().map_or("", String::as_str);
    let mut joined = String::new();
    for (number, value) in values.try_iter()?.enumerate() {
        if number > 0 {
            push(&mut joined, with)?;
        }
        push(&mut joined, &text_of(&value)?)?;
    }
    Ok(joined)
}

fn replace(text: &str, from: &str, to: &str) -> Result<String, Error> {
    if from.is_empty() {
        return Err(Error::new(ErrorKind::InvalidOperation, "nothing to replace"));
    }
    let mut replaced = String::new();
    for (number, part) in text.split(from).enumerate() {
        if number > 0 {
            push(&mut replaced, to)?;
        }
        push(&mut replaced, part)?;
    }
    Ok(replaced)
}

fn parse<T: serde::de::DeserializeOwned>(value: &Value) -> Result<T, Error> {
    let tree = serde_json::to_value(value)
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))?;
    serde_json::from_value(tree).map_err(|error| {
        Error::new(ErrorKind::InvalidOperation, format!("not a tree of the model: {error}"))
    })
}

/// The deepest indentation that a filter prints.
const MAX_INDENT: usize = 32;

/// An expression, or a statement, a list of them, the body of a function: indented by `depth` levels, by one if none is
/// given.
fn tree_text(value: &Value, style: Style, depth: &[usize]) -> Result<String, Error> {
    let depth = depth.first().copied().unwrap_or(1).min(MAX_INDENT);
    if value.kind() == minijinja::value::ValueKind::Seq {
        let body: Vec<Stmt> = parse(value)?;
        return Ok(print::stmts(style, &body, depth));
    }
    if value.get_attr("body").is_ok_and(|body| !body.is_undefined())
        && value.get_attr("params").is_ok_and(|params| !params.is_undefined())
    {
        return parse::<Function>(value).map(|function| print::body(style, &function, depth));
    }
    if let Ok(stmt) = parse::<Stmt>(value) {
        return Ok(print::stmts(style, &[stmt], depth));
    }
    parse::<Expr>(value).map(|tree| print::expr(style, &tree))
}

/// `#define` lines of constants, their values in one column.
fn defines(values: &Value, dialect: &'static Dialect) -> Result<String, Error> {
    let constants: Vec<super::model::Constant> = parse(values)?;
    let width = constants.iter().map(|constant| constant.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for constant in constants {
        let value = print::expr(Style::C(dialect), &constant.value);
        let value = if value.starts_with('-') { format!("({value})") } else { value };
        push(&mut text, &format!("#define {:width$} {value}\n", constant.name))?;
    }
    Ok(text)
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
    let place = Place::new(&templates.file(file), span);
    let mut diagnostic = Diagnostic::error(code, format!("template `{file}`: {what}"), place, "");
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        diagnostic = diagnostic.note(inner.to_string());
        cause = inner.source();
    }
    diagnostic
}
