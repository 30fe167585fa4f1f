//! The seal in a generated file.

/// Whether `text` is as it was written; `None` when layoutc did not write it.
pub fn holds(text: &str) -> Option<bool> {
    let (head, body) = text.split_once('\n')?;
    Some(head.strip_prefix("// sealed ")? == body.len().to_string())
}
