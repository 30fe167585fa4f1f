//! Arguments of commands that identify an element: manifest, tensor, values of symbols, coordinate.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::slice;
use std::sync::Arc;

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::{Diagnostic, FileSpan};
use layoutc_compiler::base::nearest::{nearest, unknown_tensor};
use layoutc_compiler::model::Tensor;

use crate::check_session::CheckSession;
use crate::command_error::CommandError;
use crate::console::Console;
use crate::report::DiagnosticSource;

/// List with the path `file` of one manifest, in the form of PATHS, the paths on a command line.
///
/// # Errors
/// [`CommandError::Usage`] if `file` is a folder.
pub(crate) fn one_manifest(file: &PathBuf) -> Result<&[PathBuf], CommandError> {
    if file.is_dir() {
        let folder = file.display();
        return Err(CommandError::Usage(format!("`{folder}` is a folder, expected a manifest")));
    }
    Ok(slice::from_ref(file))
}

/// Tensor called `name` in the requested manifests. `None` if there is no such tensor and the session has errors,
/// because the tensor may be in a manifest with errors; the errors are then printed.
///
/// # Errors
/// [`CommandError::Usage`] if `name` is a view, or if there is no tensor of this name and the session has no errors.
pub(crate) fn tensor<'s>(
    session: &'s CheckSession,
    name: &str,
    console: &mut Console,
) -> Result<Option<&'s Tensor>, CommandError> {
    if let Some((_, tensor)) = session.tensors().find(|(_, tensor)| tensor.name == name) {
        return Ok(Some(tensor));
    }
    if let Some((_, view)) = session.views().find(|(_, view)| view.tensor.name == name) {
        let of = &view.of_name;
        return Err(CommandError::Usage(format!("`{name}` is a view; use its base `{of}`")));
    }
    missing(session, name, console)
}

/// Tensor called `name`, or the tensor of the view called `name`, which has the layout of the view. `None` if there is
/// neither and the session has errors, which are then printed.
///
/// # Errors
/// [`CommandError::Usage`] if there is neither and the session has no errors.
pub(crate) fn tensor_or_view<'s>(
    session: &'s CheckSession,
    name: &str,
    console: &mut Console,
) -> Result<Option<&'s Tensor>, CommandError> {
    match session.views().find(|(_, view)| view.tensor.name == name) {
        Some((_, view)) => Ok(Some(&view.tensor)),
        None => tensor(session, name, console),
    }
}

fn missing<'s>(
    session: &'s CheckSession,
    name: &str,
    console: &mut Console,
) -> Result<Option<&'s Tensor>, CommandError> {
    if session.report.has_errors() {
        session.report.print(console);
        return Ok(None);
    }
    let tensors = session.tensors().map(|(_, tensor)| tensor.name.as_str());
    let views = session.views().map(|(_, view)| view.tensor.name.as_str());
    let names: Vec<&str> = tensors.chain(views).collect();
    Err(CommandError::Usage(unknown_tensor(name, &names)))
}

/// Values of the symbols of `tensor` by name, from `set`, the texts of `--set`, such as `n=4`.
///
/// # Errors
/// [`CommandError::Usage`] if a text is invalid or names an unknown symbol, a value does not agree with the declaration
/// of its symbol (range and divisor), or a symbol has no value.
pub(crate) fn symbols(
    set: &[String],
    tensor: &Tensor,
) -> Result<BTreeMap<String, i128>, CommandError> {
    let known = tensor.layout.symbols();
    let values = given(set, tensor)?;
    let missing: Vec<String> = known
        .iter()
        .filter(|symbol| !values.contains_key(&symbol.name))
        .map(|symbol| format!("--set {}=VALUE", symbol.name))
        .collect();
    if missing.is_empty() {
        return Ok(values);
    }
    let message = format!("`{}` depends on symbols: add {}", tensor.name, missing.join(" "));
    Err(CommandError::Usage(message))
}

/// Values of the symbols of `tensor` by name, from `set`, the texts of `--set`, such as `n=4`. A symbol without a text
/// has its least value.
///
/// # Errors
/// [`CommandError::Usage`] if a text is invalid or names an unknown symbol, or a value does not agree with the
/// declaration of its symbol (range and divisor).
pub(crate) fn least_symbols(
    set: &[String],
    tensor: &Tensor,
) -> Result<BTreeMap<String, i128>, CommandError> {
    let mut values = given(set, tensor)?;
    for symbol in tensor.layout.symbols() {
        values.entry(symbol.name.clone()).or_insert(symbol.least());
    }
    Ok(values)
}

/// Values of symbols of `tensor` by name, from `set`, the texts of `--set`, such as `n=4`. Of several texts for a
/// symbol, the last one is used. Symbols without a text are omitted.
///
/// # Errors
/// [`CommandError::Usage`] if a text is invalid, a symbol is unknown, or a value is outside of the declared range or
/// not a multiple of the declared divisor.
fn given(set: &[String], tensor: &Tensor) -> Result<BTreeMap<String, i128>, CommandError> {
    let known = tensor.layout.symbols();
    let mut values = BTreeMap::new();
    for text in set {
        let parsed =
            text.split_once('=').and_then(|(n, v)| Some((n.trim(), v.trim().parse().ok()?)));
        let Some((name, value)) = parsed else {
            return Err(CommandError::Usage(format!(
                "`--set {text}`: expected NAME=VALUE with an integer"
            )));
        };
        let Some(symbol) = known.iter().find(|symbol| symbol.name == name) else {
            let near = nearest(name, known.iter().map(|s| s.name.as_str()));
            let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let tensor = &tensor.name;
            return Err(CommandError::Usage(format!("`{tensor}` has no symbol `{name}`{hint}")));
        };
        let (min, max, multiple) = (symbol.min, symbol.max, symbol.multiple.max(1));
        if value < min || value > max || value % multiple != 0 {
            let of =
                if multiple > 1 { format!(", a multiple of {multiple}") } else { String::new() };
            let message = format!("`{name}` is declared as {min} to {max}{of}, got {value}");
            return Err(CommandError::Usage(message));
        }
        values.insert(name.to_owned(), value);
    }
    Ok(values)
}

/// Text of a list of indices: `[1, 2]`.
pub(crate) fn list(index: &[i128]) -> String {
    let index: Vec<String> = index.iter().map(ToString::to_string).collect();
    format!("[{}]", index.join(", "))
}

/// Error in the text of a coordinate. `start` and `end` are the bounds of its byte range in that text.
pub(crate) struct CoordinateArgError {
    start: usize,
    end: usize,
    message: String,
    help: Option<String>,
}

impl CoordinateArgError {
    /// Error with the message `message`, whose byte range is all of `text`.
    pub(crate) fn whole(text: &str, message: String) -> Self {
        Self { start: 0, end: text.len(), message, help: None }
    }

    /// Diagnostic for the error. `source` is the text of the coordinate, with its offset in the input that it comes
    /// from. `name` is shown in place of a file name, such as `<stdin>`.
    pub(crate) fn diagnostic(&self, name: &str, source: DiagnosticSource<'_>) -> Diagnostic {
        let first = source.first_byte;
        let place = FileSpan::new(&Arc::from(name), first + self.start..first + self.end);
        let message = self.message.as_str();
        let mut diagnostic = Diagnostic::error(Code::ShapeCoordinate, message, place, "");
        diagnostic.help.extend(self.help.clone());
        diagnostic
    }
}

/// Parses the indices of a coordinate such as `1, -2,3`, one per axis, outermost first. An empty text is the coordinate
/// of rank 0. The error is about the first word that is missing or no integer of 128 bits.
pub(crate) fn coordinate(text: &str) -> Result<Vec<i128>, CoordinateArgError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let mut index = Vec::new();
    let mut start = 0;
    for part in text.split(',') {
        let word = part.trim();
        let at = start + (part.len() - part.trim_start().len());
        start += part.len() + 1;
        let Ok(value) = word.parse() else {
            let message = match word {
                "" => "missing index".to_owned(),
                _ => format!("`{word}` is not an index"),
            };
            let help = apart(text).map(|meant| format!("write `{meant}`"));
            return Err(CoordinateArgError { start: at, end: at + word.len(), message, help });
        };
        index.push(value);
    }
    Ok(index)
}

/// Help for indices without commas: the coordinate with commas instead of spaces, `1,2` for `1 2`. `None` if a word is
/// not an index, or there is only one word.
fn apart(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split([' ', '\t', ',']).filter(|word| !word.is_empty()).collect();
    let is_index = |word: &&str| word.parse::<i128>().is_ok();
    (words.len() > 1 && words.iter().all(is_index)).then(|| words.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<i128>, (usize, usize, String)> {
        coordinate(text).map_err(|wrong| (wrong.start, wrong.end, wrong.message))
    }

    #[test]
    fn a_coordinate_is_integers_between_commas() {
        assert_eq!(read("1,2"), Ok(vec![1, 2]));
        assert_eq!(read(" -1 , 2 "), Ok(vec![-1, 2]));
        assert_eq!(read(""), Ok(Vec::new()));
        assert_eq!(read("  "), Ok(Vec::new()));
    }

    #[test]
    fn invalid_index_is_underlined() {
        assert_eq!(read("1, x"), Err((3, 4, "`x` is not an index".to_owned())));
        assert_eq!(read("1,,2"), Err((2, 2, "missing index".to_owned())));
        assert_eq!(read("1.5"), Err((0, 3, "`1.5` is not an index".to_owned())));
    }
}
