//! `layoutc translate`: translates a layout from one notation to others (TVM, XLA, CuTe …), with a proof that the maps
//! are equal. Shardings are in `sharding`.

mod sharding;

use std::sync::Arc;

use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::base::dtype::Dtype;
use layoutc_compiler::base::nearest::nearest;
use layoutc_compiler::query::notations::sharding::{READ, ShardingFormat};
use layoutc_compiler::query::notations::{
    Notation, ParsedLayout, TranslateError, TranslateRequest, WrittenLayout, read, written,
};
use serde_json::{Map, Value, json};

use crate::args::{TranslateArgs, restore_minus};
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};
use crate::report::Report;
use crate::report::json::integer;

use super::CommandOutcome;

/// Translates the layout on the command line, and prints it in the notation of `--to`, or in all notations. A sharding
/// is translated by [`sharding::run`].
///
/// # Errors
/// [`CommandError::Usage`] if an option is invalid, or the notation of `--to` cannot express the layout. A fault in the
/// text of the layout is printed, and the outcome is [`CommandOutcome::InputError`].
pub(crate) fn run(
    args: &TranslateArgs,
    console: &mut Console,
) -> Result<CommandOutcome, CommandError> {
    if args.from == READ {
        return sharding::run(args, console);
    }
    let from = notation(&args.from)?;
    let targets = match args.to.as_str() {
        "all" => Notation::ALL.to_vec(),
        word => vec![notation(word)?],
    };
    let shape = args.shape.as_deref().map(|shape| extents(&restore_minus(shape))).transpose()?;
    let names = args.axis_names.as_deref().map(axis_names).transpose()?;
    let dtype = args.dtype.as_deref().map(dtype).transpose()?;
    let sizes = args.set.iter().map(|text| size(text)).collect::<Result<Vec<_>, _>>()?;
    let text = restore_minus(&args.text);
    let request = TranslateRequest {
        from,
        text: &text,
        shape: shape.as_deref(),
        names: names.as_deref(),
        dtype,
        sizes: &sizes,
    };
    let read = match read(request) {
        Ok(read) => read,
        Err(TranslateError::InvalidOption(message)) => return Err(CommandError::Usage(message)),
        Err(TranslateError::Faulty(error)) => return Ok(faulty(*error, &text, console)),
    };
    for to in &targets {
        match (written(&read, *to), targets.len()) {
            (Ok(written), count) => print_text(from, *to, &read, &written, count > 1, console),
            (Err(TranslateError::InvalidOption(message)), 1) => {
                return Err(CommandError::Usage(message));
            }
            (Err(TranslateError::Faulty(error)), 1) => return Ok(faulty(*error, &text, console)),
            (Err(TranslateError::InvalidOption(message)), _) => {
                print_inexpressible(from, *to, &read, &message, console);
            }
            (Err(TranslateError::Faulty(error)), _) => {
                print_inexpressible(from, *to, &read, &error.message, console);
            }
        }
    }
    Ok(CommandOutcome::Success)
}

/// Prints `error`, a diagnostic about the text `text` on the command line; returns the outcome for an input error.
fn faulty(error: Diagnostic, text: &str, console: &mut Console) -> CommandOutcome {
    let mut report = Report::default();
    report.text("<text>".to_owned(), Arc::from(text));
    report.add([error]);
    report.print(console);
    CommandOutcome::InputError
}

/// Prints the layout `written` in the notation `to`. As JSON, also prints the source notation `from`, and the shape and
/// the notes of `read`, the layout as it was read. If `is_one_of_several`, the name of the notation precedes the text.
fn print_text(
    from: Notation,
    to: Notation,
    read: &ParsedLayout,
    written: &WrittenLayout,
    is_one_of_several: bool,
    console: &mut Console,
) {
    if console.format == ReportFormat::Json {
        let sizes: Map<String, Value> =
            written.sizes.iter().map(|(name, size)| (name.clone(), integer(*size))).collect();
        let notes = [read.notes.as_slice(), &written.notes].concat();
        let mut object = json!({
            "from": from.word(),
            "to": to.word(),
            "text": written.text,
            "shape": read.shape(),
            "same": true,
            "notes": notes,
        });
        if let (false, Some(object)) = (sizes.is_empty(), object.as_object_mut()) {
            object.insert("sizes".to_owned(), Value::Object(sizes));
        }
        console.result(&format!("{object}\n"));
        return;
    }
    let mut text = written.text.clone();
    for (name, size) in &written.sizes {
        text.push_str(&format!(" --set {name}={size}"));
    }
    let word = if is_one_of_several { format!("{:<7} ", to.word()) } else { String::new() };
    console.result(&format!("{word}{text}\n"));
}

/// Prints `message`, the reason why the layout `read`, which was given in the notation `from`, cannot be written in the
/// notation `to`. It is used only if several notations are requested; for a single one, the reason is an error.
fn print_inexpressible(
    from: Notation,
    to: Notation,
    read: &ParsedLayout,
    message: &str,
    console: &mut Console,
) {
    let line = match console.format {
        ReportFormat::Json => json!({
            "from": from.word(),
            "to": to.word(),
            "text": null,
            "shape": read.shape(),
            "same": false,
            "notes": [message],
        })
        .to_string(),
        ReportFormat::Text => format!("{:<7} - {message}", to.word()),
    };
    console.result(&format!("{line}\n"));
}

fn notation(word: &str) -> Result<Notation, CommandError> {
    Notation::of(word).ok_or_else(|| {
        if ShardingFormat::of(word).is_some() || word == READ {
            let message =
                format!("`{word}` is a notation of shardings: use `--from {READ} --to xla-v2`");
            return CommandError::Usage(message);
        }
        let mut known: Vec<&str> = Notation::ALL.iter().map(|notation| notation.word()).collect();
        known.push(READ);
        let hint = nearest(word, known.iter().copied()).map_or_else(
            || format!("expected one of {}", known.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        CommandError::Usage(format!("unknown notation `{word}`; {hint}"))
    })
}

/// Parses the text of `--shape`, such as `2,64,56,56`, to a list of extents, outermost first. An empty text is the
/// shape of rank 0.
///
/// # Errors
/// [`CommandError::Usage`] if an extent is not an integer from 0 to 2^63 - 1.
fn extents(text: &str) -> Result<Vec<i64>, CommandError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let extent = |part: &str| part.trim().parse().ok().filter(|extent: &i64| *extent >= 0);
    text.split(',').map(extent).collect::<Option<Vec<_>>>().ok_or_else(|| {
        CommandError::Usage(format!(
            "`--shape {text}`: expected non-negative integers, as in 2,64,56,56"
        ))
    })
}

fn axis_names(text: &str) -> Result<Vec<String>, CommandError> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    let is_name = |name: &String| {
        let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_word && !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    match names.iter().find(|name| !is_name(name)) {
        None => Ok(names),
        Some(name) => {
            let message = format!(
                "`--axis-names`: `{name}` is not an identifier; expected names as in n,c,h,w"
            );
            Err(CommandError::Usage(message))
        }
    }
}

fn dtype(word: &str) -> Result<Dtype, CommandError> {
    Dtype::parse(word).ok_or_else(|| {
        let hint = Dtype::from_foreign_name(word)
            .map_or(String::new(), |dtype| format!("; did you mean `{dtype}`?"));
        CommandError::Usage(format!("unknown element type `{word}`{hint}"))
    })
}

/// Parses the text `NAME=VALUE` of `--set`, such as `c16=16`, to a pair of name and value.
///
/// # Errors
/// [`CommandError::Usage`] if the name is empty or the value is not an integer of 64 bits.
fn size(text: &str) -> Result<(String, i128), CommandError> {
    let parsed = text
        .split_once('=')
        .and_then(|(name, value)| Some((name.trim(), value.trim().parse::<i64>().ok()?)));
    match parsed {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), i128::from(value))),
        _ => {
            Err(CommandError::Usage(format!("`--set {text}`: expected NAME=VALUE with an integer")))
        }
    }
}
