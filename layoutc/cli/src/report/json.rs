//! Rendering of diagnostics as JSON, one object per line.

use layoutc_compiler::base::diagnostic::{Diagnostic, Fix, Label};
use serde_json::{Map, Number, Value, json};

use super::human::{SourceLookup, severity_word};
use super::source_line::locate;

/// Renders a diagnostic as one line of JSON, including the line end. `lookup` returns the text of a file, or `None` if
/// it is unknown; a label in an unknown file has no line and column.
pub(crate) fn render(diagnostic: &Diagnostic, lookup: &SourceLookup<'_>) -> String {
    let labels: Vec<Value> = diagnostic.labels.iter().map(|label| place(label, lookup)).collect();
    let witness: Vec<Value> = diagnostic.witness.iter().map(|index| integers(index)).collect();
    let fixes: Vec<Value> = diagnostic.fixes.iter().filter_map(|fix| change(fix, lookup)).collect();
    let mut value = json!({
        "kind": "diagnostic",
        "severity": severity_word(diagnostic.severity),
        "code": diagnostic.code.id(),
        "message": diagnostic.message,
        "labels": labels,
        "notes": diagnostic.notes,
        "witness": witness,
        "help": diagnostic.help,
        "docs": format!("layoutc explain {}", diagnostic.code.id()),
    });
    if !fixes.is_empty() {
        value["fixes"] = fixes.into();
    }
    format!("{value}\n")
}

/// JSON object of `fix`, with its title and its text edit. `None` if `lookup` does not know the text that the fix
/// replaces.
fn change(fix: &Fix, lookup: &SourceLookup<'_>) -> Option<Value> {
    let Fix { place, text } = fix;
    let source = lookup(&place.file)?;
    let byte = |byte: usize| byte.checked_sub(source.first_byte);
    let old = source.text.get(byte(place.start)?..byte(place.end)?)?;
    let edit = json!({
        "file": place.file.as_ref(),
        "start": place.start,
        "end": place.end,
        "text": text,
    });
    Some(json!({ "label": fix.label(old), "edits": [edit] }))
}

fn place(label: &Label, lookup: &SourceLookup<'_>) -> Value {
    let mut value = Map::new();
    value.insert("file".to_owned(), Value::from(label.place.file.as_ref()));
    value.insert("start".to_owned(), Value::from(label.place.start));
    value.insert("end".to_owned(), Value::from(label.place.end));
    if let Some(source) = lookup(&label.place.file) {
        let position = locate(source, label.place.start, label.place.end);
        value.insert("line".to_owned(), Value::from(position.line));
        value.insert("column".to_owned(), Value::from(position.column));
    }
    value.insert("message".to_owned(), Value::from(label.message.as_str()));
    value.insert("primary".to_owned(), Value::from(label.primary));
    Value::Object(value)
}

/// Integers as a JSON array. An integer beyond 64 bits is a string, any other one a number.
pub(crate) fn integers(values: &[i128]) -> Value {
    Value::Array(values.iter().map(|value| integer(*value)).collect())
}

/// Integer as a JSON number, or as a string beyond 64 bits.
pub(crate) fn integer(value: i128) -> Value {
    Number::from_i128(value).map_or_else(|| Value::from(value.to_string()), Value::Number)
}
