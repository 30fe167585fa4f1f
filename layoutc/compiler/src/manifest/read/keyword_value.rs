//! Keywords as values of nodes and properties, and the diagnostics for other values.

use super::ManifestReader;
use super::message_words::{alternatives, list, show};
use crate::base::codes::Code;
use crate::base::nearest::nearest;
use crate::manifest::tree::Entry;

impl ManifestReader<'_, '_> {
    /// Value of `entry`, which must be one of the keywords in `words`, pairs (keyword, value). `None`, after a report,
    /// for any other entry. `subject` is the node or property in the message: `` `padding` ``.
    pub(super) fn keyword<T: Clone>(
        &mut self,
        subject: &str,
        entry: &Entry,
        words: &[(&str, T)],
    ) -> Option<T> {
        let found = words.iter().find(|(word, _)| entry.text() == Some(word));
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.unknown_word(subject, entry, &known);
        }
        found.map(|(_, value)| value.clone())
    }

    /// Reports a value that is not among the keywords `known`. The help text has the keyword that is spelled most
    /// similarly, or all keywords if none is similar. `subject` is the node or property in the message:
    /// `` `padding` ``.
    pub(super) fn unknown_word(&mut self, subject: &str, entry: &Entry, known: &[&str]) {
        let written = self.text.get(entry.content.clone()).unwrap_or_default();
        let message = format!("unknown value `{}` for {subject}", show(written));
        let near = nearest(written, known.iter().copied());
        let fault = self.faults.error(Code::NameUnknown, message, entry.span.clone(), "");
        match near {
            Some(near) => fault.add_suggestion(as_written(near)),
            None => {
                let known: Vec<String> = known.iter().map(|word| as_written(word)).collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                fault.add_help(format!("write {}", alternatives(&known)));
            }
        }
        let of = if known.len() == 1 { "" } else { "one of " };
        fault.add_note(format!("expected {of}{}", list(known)));
    }
}

/// Keyword as it is written in a manifest: quoted if it begins with a digit, as in `"128B"`.
fn as_written(word: &str) -> String {
    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
    if is_number { format!("\"{word}\"") } else { word.to_owned() }
}
