//! Conversion of names in a model to manifest names: ASCII letters, digits and `_`, unique without regard to case.

use std::collections::{BTreeMap, BTreeSet};

use crate::target::keywords::is_reserved;

/// Maximum length in characters of the text that a name of the model is converted to; longer ones are cut. A letter
/// before a digit and a suffix such as `_2` are added to it.
const MAX_LENGTH: usize = 96;

/// Generator of manifest names that are unique without regard to case.
pub(super) struct ManifestNamer {
    /// Names that were returned already, in upper case.
    taken: BTreeSet<String>,
    /// Last number that was tried for each base name, the converted name before a suffix such as `_2` is added. The
    /// number 1 stands for no suffix.
    counts: BTreeMap<String, usize>,
    /// Letter that is put before a name which would start with a digit.
    before_digit: char,
    /// Name that is used if neither the model name nor the hint has an ASCII letter or digit.
    fallback: &'static str,
}

impl ManifestNamer {
    pub(super) fn new(before_digit: char, fallback: &'static str) -> Self {
        let (taken, counts) = (BTreeSet::new(), BTreeMap::new());
        Self { taken, counts, before_digit, fallback }
    }

    /// Unique manifest name: `own` as converted by [`word`]. If `own` has no ASCII letter or digit, `hint` is used,
    /// then the fallback. A name that is taken, or is a reserved word, gets a number: `a/b` gives `a_b`, and `a_b_2`
    /// the second time.
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
            if !is_reserved(&name) && self.taken.insert(name.to_ascii_uppercase()) {
                return name;
            }
        }
    }
}

/// Text of at most [`MAX_LENGTH`] characters in which each run of characters other than ASCII letters and digits is
/// replaced by one `_`, without `_` at its ends: `/a//b.` gives `a_b`.
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
