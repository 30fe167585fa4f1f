//! Suggests valid names for words that are not valid names: `in_nchw` for `in-nchw`.

use std::collections::{BTreeMap, BTreeSet};

use super::text::{NAME_LIMIT, is_name};
use crate::manifest::lex::{self, KdlToken, KdlTokenKind};

/// Suggested names of a file: for each word that is not a valid name, a valid name that no other word of the file has.
#[derive(Debug)]
pub(super) struct Renames(BTreeMap<String, String>);

impl Renames {
    /// Computes the suggestions for all words of the file with the text `text`.
    pub(super) fn of(text: &str) -> Self {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let parts = text.split(|c| !is_part(c)).filter(|part| is_name(part));
        // Names that differ only in case are rejected too.
        let mut taken: BTreeSet<String> = parts.map(str::to_ascii_lowercase).collect();
        let mut renames = BTreeMap::new();
        for token in lex::lex_lossy(text) {
            let words = content(text, &token);
            let words = words.split_whitespace().chain([words]);
            // A word that ends with a mark of another language, as `name:`, is not a name.
            for word in words.filter(|word| !word.ends_with([',', ':'])) {
                let Some(near) = near(word).filter(|_| !renames.contains_key(word)) else {
                    continue;
                };
                let mut name = near.clone();
                let mut count = 2;
                while !taken.insert(name.to_ascii_lowercase()) {
                    name = format!("{near}_{count}");
                    count += 1;
                }
                renames.insert(word.to_owned(), name);
            }
        }
        Self(renames)
    }

    /// Suggested name for a word of the file; `None` if the word is a valid name, is not ASCII, has no letter or digit,
    /// ends with `,` or `:`, or is too long.
    pub(super) fn get(&self, word: &str) -> Option<&str> {
        self.0.get(word).map(String::as_str)
    }
}

/// Text of a name or string token without quotes; empty for other tokens.
fn content<'t>(text: &'t str, token: &KdlToken) -> &'t str {
    let source = text.get(token.span.clone()).unwrap_or_default();
    match token.kind {
        KdlTokenKind::Bare => source,
        KdlTokenKind::Quoted { .. } => source.trim_matches('#').trim_matches('"'),
        _ => "",
    }
}

/// Valid name for `word`. Every character that a name cannot contain becomes `_`, and a leading digit gets a `_` before
/// it: `in_nchw` for `in-nchw`. `None` if `word` is a valid name, has no letter or digit, or is not ASCII, or if the
/// result is longer than [`NAME_LIMIT`].
fn near(word: &str) -> Option<String> {
    if !word.chars().any(|c| c.is_ascii_alphanumeric()) || !word.is_ascii() {
        return None;
    }
    let start = if word.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    let sanitize = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = start.chars().chain(word.chars().map(sanitize)).collect();
    (name != word && name.len() <= NAME_LIMIT).then_some(name)
}
