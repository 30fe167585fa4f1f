//! Set of the identifiers at file scope, with a fast negative lookup.

use crate::target::word_set::{Marks, mark};

/// Identifier at file scope; ordered by hash first, which decides most comparisons.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    hash: u64,
    name: String,
}

impl From<String> for Name {
    fn from(name: String) -> Self {
        Self { hash: hash(&name), name }
    }
}

impl Name {
    pub(super) fn as_str(&self) -> &str {
        &self.name
    }
}

/// FNV-1a hash. Source: Fowler, Noll and Vo, draft-eastlake-fnv.
fn hash(name: &str) -> u64 {
    let add = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    name.bytes().fold(0xCBF2_9CE4_8422_2325, add)
}

/// Set of identifiers at file scope.
#[derive(Debug)]
pub(super) struct Names {
    /// Identifiers in ascending order: by hash, then by name.
    names: Vec<Name>,
    marks: Marks,
}

impl Names {
    pub(super) fn new(mut names: Vec<Name>) -> Self {
        names.sort();
        let mut marks = Marks::NONE;
        names.iter().for_each(|name| marks.add(name.as_str()));
        Self { names, marks }
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        if !self.marks.may_have(mark(name)) {
            return false;
        }
        let sought = (hash(name), name);
        self.names.binary_search_by(|own| (own.hash, own.as_str()).cmp(&sought)).is_ok()
    }
}
