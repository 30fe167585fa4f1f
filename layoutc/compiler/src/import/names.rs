//! Names of a model as names of a manifest: ASCII letters, digits and `_`, each once whatever its case.

use std::collections::{BTreeMap, BTreeSet};

/// Whether a target language keeps a word for itself.
pub(crate) type ReservedPredicate<'a> = dyn Fn(&str) -> bool + 'a;

/// The longest name.
const MAX_LENGTH: usize = 96;

/// Names that are given out.
pub(super) struct ManifestNamer<'a> {
    /// In capitals.
    taken: BTreeSet<String>,
    /// How often each name was asked for.
    counts: BTreeMap<String, usize>,
    is_reserved: &'a ReservedPredicate<'a>,
    /// What a name begins with that would begin with a digit.
    before_digit: char,
    /// What a name is called that has no letter.
    fallback: &'static str,
}

impl<'a> ManifestNamer<'a> {
    pub(super) fn new(
        is_reserved: &'a ReservedPredicate<'a>,
        before_digit: char,
        fallback: &'static str,
    ) -> Self {
        let (taken, counts) = (BTreeSet::new(), BTreeMap::new());
        Self { taken, counts, is_reserved, before_digit, fallback }
    }

    /// A new name, as near to a model's as can be; `hint` where that has none.
    pub(super) fn give(&mut self, own: &str, hint: &str) -> String {
        let mut base = word(own);
        if base.is_empty() {
            base = word(hint);
        }
        if base.is_empty() {
            base.push_str(self.fallback);
        }
        if base.starts_with(|c: char| c.is_ascii_digit()) {
            base.insert(0, self.before_digit);
        }
        let count = self.counts.entry(base.clone()).or_insert(0);
        loop {
            *count += 1;
            let name = if *count == 1 { base.clone() } else { format!("{base}_{count}") };
            if !(self.is_reserved)(&name) && self.taken.insert(name.to_ascii_uppercase()) {
                return name;
            }
        }
    }
}

/// Runs of other characters become one `_`; none stands at an end.
fn word(own: &str) -> String {
    let mut word = String::new();
    for c in own.chars() {
        if word.len() >= MAX_LENGTH {
            break;
        }
        if c.is_ascii_alphanumeric() {
            word.push(c);
        } else if !word.is_empty() && !word.ends_with('_') {
            word.push('_');
        }
    }
    word.truncate(word.trim_end_matches('_').len());
    word
}
