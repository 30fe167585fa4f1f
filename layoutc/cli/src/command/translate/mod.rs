//! `layoutc translate`: a layout from one notation to another, proven equal. Shardings are a matter of their own.

mod sharding;

use std::sync::Arc;

use layoutc_compiler::diagnostic::Diagnostic;
use layoutc_compiler::dtype::Dtype;
use layoutc_compiler::nearest::nearest;
use layoutc_compiler::notations::sharding::{READ, Target};
use layoutc_compiler::notations::{Asked, Notation, Read, Unread, Written, read, written};
use serde_json::{Map, Value, json};

use crate::args::{Format, Translate, typed};
use crate::console::Console;
use crate::fault::Fault;
use crate::report::Report;
use crate::report::json::integer;

use super::Ending;

/// Prints the text in the other notation, or in all of them.
pub(crate) fn run(args: &Translate, console: &mut Console) -> Result<Ending, Fault> {
    if args.from == READ {
        return sharding::run(args, console);
    }
    let from = notation(&args.from)?;
    let targets = match args.to.as_str() {
        "all" => Notation::ALL.to_vec(),
        word => vec![notation(word)?],
    };
    let shape = args.shape.as_deref().map(|shape| extents(&typed(shape))).transpose()?;
    let names = args.axis_names.as_deref().map(axis_names).transpose()?;
    let dtype = args.dtype.as_deref().map(dtype).transpose()?;
    let sizes = args.set.iter().map(|text| size(text)).collect::<Result<Vec<_>, _>>()?;
    let text = typed(&args.text);
    let asked = Asked {
        from,
        text: &text,
        shape: shape.as_deref(),
        names: names.as_deref(),
        dtype,
        sizes: &sizes,
    };
    let read = match read(asked) {
        Ok(read) => read,
        Err(Unread::Asked(message)) => return Err(Fault::Usage(message)),
        Err(Unread::Faulty(error)) => return Ok(faulty(*error, &text, console)),
    };
    for to in &targets {
        match (written(&read, *to), targets.len()) {
            (Ok(written), count) => told(from, *to, &read, &written, count > 1, console),
            (Err(Unread::Asked(message)), 1) => return Err(Fault::Usage(message)),
            (Err(Unread::Faulty(error)), 1) => return Ok(faulty(*error, &text, console)),
            (Err(Unread::Asked(message)), _) => lacking(from, *to, &read, &message, console),
            (Err(Unread::Faulty(error)), _) => lacking(from, *to, &read, &error.message, console),
        }
    }
    Ok(Ending::Good)
}

/// Prints a fault of the text.
fn faulty(error: Diagnostic, text: &str, console: &mut Console) -> Ending {
    let mut report = Report::default();
    report.text("<text>".to_owned(), Arc::from(text));
    report.add([error]);
    report.print(console);
    Ending::Bad
}

/// Prints a text; among several, behind the name of its notation.
fn told(
    from: Notation,
    to: Notation,
    read: &Read,
    written: &Written,
    is_one_of_several: bool,
    console: &mut Console,
) {
    if console.format == Format::Json {
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

/// Prints, among several, what a notation lacks.
fn lacking(from: Notation, to: Notation, read: &Read, message: &str, console: &mut Console) {
    let line = match console.format {
        Format::Json => json!({
            "from": from.word(),
            "to": to.word(),
            "text": null,
            "shape": read.shape(),
            "same": false,
            "notes": [message],
        })
        .to_string(),
        Format::Text => format!("{:<7} - {message}", to.word()),
    };
    console.result(&format!("{line}\n"));
}

fn notation(word: &str) -> Result<Notation, Fault> {
    Notation::of(word).ok_or_else(|| {
        if Target::of(word).is_some() || word == READ {
            let message = format!("`{word}` is for shardings: `--from {READ} --to xla-v2`");
            return Fault::Usage(message);
        }
        let mut known: Vec<&str> = Notation::ALL.iter().map(|notation| notation.word()).collect();
        known.push(READ);
        let hint = nearest(word, known.iter().copied()).map_or_else(
            || format!("they are {}", known.join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        Fault::Usage(format!("there is no notation `{word}`; {hint}"))
    })
}

/// `2,64,56,56`; nothing: no axes.
fn extents(text: &str) -> Result<Vec<i64>, Fault> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let extent = |part: &str| part.trim().parse().ok().filter(|extent: &i64| *extent >= 0);
    text.split(',').map(extent).collect::<Option<Vec<_>>>().ok_or_else(|| {
        Fault::Usage(format!("`--shape {text}`: write whole numbers from 0, as in 2,64,56,56"))
    })
}

fn axis_names(text: &str) -> Result<Vec<String>, Fault> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    let is_name = |name: &String| {
        let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_word && !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    match names.iter().find(|name| !is_name(name)) {
        None => Ok(names),
        Some(name) => {
            let message = format!("`--axis-names`: `{name}` is no name; write n,c,h,w");
            Err(Fault::Usage(message))
        }
    }
}

fn dtype(word: &str) -> Result<Dtype, Fault> {
    Dtype::parse(word).ok_or_else(|| {
        let hint = Dtype::called_elsewhere(word)
            .map_or(String::new(), |dtype| format!("; it is called `{dtype}`"));
        Fault::Usage(format!("there is no element type `{word}`{hint}"))
    })
}

/// `c16=16`
fn size(text: &str) -> Result<(String, i128), Fault> {
    let parsed = text
        .split_once('=')
        .and_then(|(name, value)| Some((name.trim(), value.trim().parse::<i64>().ok()?)));
    match parsed {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), i128::from(value))),
        _ => Err(Fault::Usage(format!("`--set {text}`: write NAME=VALUE, a whole number"))),
    }
}
