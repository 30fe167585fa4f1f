//! Filters of the templates: printers of syntax trees, and text filters with limited output.

use std::borrow::Cow;

use minijinja::value::{Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind};
use serde::de::DeserializeOwned;

use super::dialect::{C, C_PLAIN, CUDA, Dialect, Grammar, HIP, OPENCL, RUST};
use super::model::{Constant, MacroUnit};
use super::outputs::relative;
use super::print::{self, Style};
use super::shared;
use crate::emit::syntax::{Expr, Function, Stmt};

/// Maximum output of one call of the filters `indent`, `join`, `replace` and `defines`, and maximum text of one printed
/// value, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// Dialects that the filters print.
#[derive(Clone, Copy)]
pub(super) struct Dialects {
    /// Dialect of the model.
    own: &'static Dialect,
    /// C dialects with and without strength reduction, with the model's index type if the model is in C.
    c: [&'static Dialect; 2],
    opencl: &'static Dialect,
    cuda: &'static Dialect,
    hip: &'static Dialect,
}

impl Default for Dialects {
    fn default() -> Self {
        Self { own: &C, c: [&C, &C_PLAIN], opencl: &OPENCL, cuda: &CUDA, hip: &HIP }
    }
}

impl Dialects {
    /// Dialects for a model in `language` whose index type is `index`.
    pub(super) fn of(language: &str, index: &str) -> Self {
        let [own, plain] = Dialect::find(language, index).unwrap_or([&C, &C_PLAIN]);
        let mut all = Self { own, ..Self::default() };
        match language {
            "opencl" => all.opencl = own,
            "cuda" => all.cuda = own,
            "hip" => all.hip = own,
            "rust" => {}
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
            Some("hip") => Ok(self.hip),
            Some("rust") => Ok(&RUST),
            Some(other) => {
                let message = format!("there is no language `{other}`: c, opencl, cuda, hip, rust");
                Err(Error::new(ErrorKind::InvalidOperation, message))
            }
        }
    }
}

/// Adds the filters to an environment, and removes built-in filters with unlimited output.
pub(super) fn add(environment: &mut Environment<'_>, dialects: Dialects) {
    for name in ["format", "pprint", "string", "batch", "slice", "sum", "chain", "zip"] {
        environment.remove_filter(name);
    }
    environment.add_filter("indent", indent);
    environment.add_filter("join", join);
    environment.add_filter("replace", replace);
    let [c, plain] = dialects.c;
    for (name, dialect) in [
        ("c", c),
        ("c_plain", plain),
        ("opencl", dialects.opencl),
        ("cuda", dialects.cuda),
        ("hip", dialects.hip),
        ("rust", &RUST),
        ("code", dialects.own),
    ] {
        environment.add_filter(name, move |value: &Value, depth: Rest<usize>| {
            tree_text(value, Style::of(dialect), &depth)
        });
    }
    environment.add_filter("python", |value: &Value, depth: Rest<usize>| {
        tree_text(value, Style::Python, &depth)
    });
    environment.add_filter("prototype", move |value: &Value, language: Rest<String>| {
        let dialect = dialects.find(language.first())?;
        tree::<Function>(value).map(|function| print::prototype(dialect, &function))
    });
    environment.add_filter("parameters", move |value: &Value, restrict: Rest<String>| {
        // C sources may be compiled as C++, which lacks `restrict`: the sources define a macro.
        let own = dialects.own.restrict;
        let own = if own.is_empty() { "LAYOUTC_RESTRICT " } else { own };
        let restrict = if restrict.is_empty() { "" } else { own };
        tree::<Function>(value).map(|f| print::parameters(dialects.own, &f, restrict))
    });
    environment.add_filter("relative_to", |path: &str, file: &str| relative(file, path));
    environment.add_filter("comment", |text: &str| super::comment::escape(text));
    environment.add_filter("defines", move |values: &Value, language: Rest<String>| {
        defines(values, dialects.find(language.first())?)
    });
    environment.add_filter("define", move |value: &Value| {
        tree::<MacroUnit>(value).map(|unit| print::define(dialects.own, &unit))
    });
}

pub(super) fn too_long() -> Error {
    Error::new(ErrorKind::WriteFailure, "the text is too long")
}

/// Text of at most [`MAX_TEXT`] bytes; writing more fails.
struct BoundedText(String);

impl std::fmt::Write for BoundedText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len().saturating_add(text.len()) > MAX_TEXT {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// Text that a value is rendered as; an undefined value or more than [`MAX_TEXT`] bytes is an error.
pub(super) fn text_of(value: &Value) -> Result<Cow<'_, str>, Error> {
    if let Some(text) = value.as_str() {
        return if text.len() > MAX_TEXT { Err(too_long()) } else { Ok(Cow::Borrowed(text)) };
    }
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let mut text = BoundedText(String::new());
    std::fmt::Write::write_fmt(&mut text, format_args!("{value}")).map_err(|_| too_long())?;
    Ok(Cow::Owned(text.0))
}

fn push(text: &mut String, part: &str) -> Result<(), Error> {
    if text.len().saturating_add(part.len()) > MAX_TEXT {
        return Err(too_long());
    }
    text.push_str(part);
    Ok(())
}

/// Text with every line but the first indented by `width` blanks, at most 256; empty lines stay empty.
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

/// Syntax tree in a template value: borrowed from the model, or deserialized from a value that a template made.
fn tree<T: Clone + DeserializeOwned + 'static>(value: &Value) -> Result<Cow<'_, T>, Error> {
    if let Some(tree) = shared::part(value) {
        return Ok(Cow::Borrowed(tree));
    }
    let read = serde_json::to_value(value)
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))?;
    serde_json::from_value(read).map(Cow::Owned).map_err(|error| {
        Error::new(ErrorKind::InvalidOperation, format!("not a tree of the model: {error}"))
    })
}

/// Maximum indentation level that a filter prints.
const MAX_INDENT: usize = 32;

/// Text of an expression, a statement, a list of statements, or the body of a function. Statements are indented by the
/// first level in `depth`, by 1 if `depth` is empty.
fn tree_text(value: &Value, style: Style, depth: &[usize]) -> Result<String, Error> {
    let depth = depth.first().copied().unwrap_or(1).min(MAX_INDENT);
    if let Some(function) = shared::part(value) {
        return Ok(print::body(style, function, depth));
    }
    if let Some(tree) = shared::part(value) {
        return Ok(print::expr(style, tree));
    }
    if value.kind() == ValueKind::Seq {
        let body = tree::<Vec<Stmt>>(value)?;
        return Ok(print::stmts(style, &body, depth));
    }
    if value.get_attr("body").is_ok_and(|body| !body.is_undefined())
        && value.get_attr("params").is_ok_and(|params| !params.is_undefined())
    {
        return tree::<Function>(value).map(|function| print::body(style, &function, depth));
    }
    if let Ok(stmt) = tree::<Stmt>(value) {
        return Ok(print::stmts(style, std::slice::from_ref(&stmt), depth));
    }
    tree::<Expr>(value).map(|tree| print::expr(style, &tree))
}

/// Definitions of constants: lines `#define NAME value` with aligned values in C, `pub const NAME: i64 = value;` in
/// Rust.
fn defines(values: &Value, dialect: &'static Dialect) -> Result<String, Error> {
    let constants = tree::<Vec<Constant>>(values)?;
    if dialect.grammar == Grammar::Rust {
        let mut text = String::new();
        for constant in constants.iter() {
            push(&mut text, &print::constant(dialect, constant))?;
        }
        return Ok(text);
    }
    let width = constants.iter().map(|constant| constant.name.len()).max().unwrap_or(0);
    let blanks = " ".repeat(width.saturating_add(1));
    let mut text = String::new();
    for constant in constants.iter() {
        let value = print::expr(Style::C(dialect), &constant.value);
        let value = if value.starts_with('-') { format!("({value})") } else { value };
        push(&mut text, "#define ")?;
        push(&mut text, &constant.name)?;
        push(&mut text, blanks.get(constant.name.len()..).unwrap_or(" "))?;
        push(&mut text, &value)?;
        push(&mut text, "\n")?;
    }
    Ok(text)
}
