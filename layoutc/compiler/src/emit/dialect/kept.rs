//! Sets of words that are asked often and seldom have what is asked for.

/// Words of a language.
#[derive(Debug)]
pub struct Words {
    list: &'static [&'static str],
    marks: Marks,
}

impl Words {
    pub(super) const fn new(list: &'static [&'static str]) -> Self {
        let mut marks = Marks::NONE;
        let mut at = 0;
        while at < list.len() {
            marks.add(list[at]);
            at += 1;
        }
        Self { list, marks }
    }

    /// Whether `word` is one of them.
    pub(super) fn contains(&self, word: Marked<'_>) -> bool {
        self.marks.may_have(word.mark) && self.list.contains(&word.word)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.list.iter().copied()
    }
}

/// A word with its mark, for asking several sets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marked<'a> {
    pub(super) word: &'a str,
    mark: (usize, usize),
}

impl<'a> Marked<'a> {
    pub(super) const fn new(word: &'a str) -> Self {
        Self { word, mark: mark(word) }
    }
}

/// A name of a file. The hash goes first in its order: it tells most names apart at once.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::emit) struct Name {
    hash: u64,
    name: String,
}

impl From<String> for Name {
    fn from(name: String) -> Self {
        Self { hash: hash(&name), name }
    }
}

impl Name {
    pub(in crate::emit) fn as_str(&self) -> &str {
        &self.name
    }
}

/// Source: Fowler, Noll and Vo, FNV-1a, draft-eastlake-fnv.
fn hash(name: &str) -> u64 {
    let add = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    name.bytes().fold(0xCBF2_9CE4_8422_2325, add)
}

/// Names of a file.
#[derive(Debug)]
pub(in crate::emit) struct Names {
    /// In their order.
    names: Vec<Name>,
    marks: Marks,
}

impl Names {
    pub(in crate::emit) fn new(mut names: Vec<Name>) -> Self {
        names.sort();
        let mut marks = Marks::NONE;
        names.iter().for_each(|name| marks.add(name.as_str()));
        Self { names, marks }
    }

    pub(in crate::emit) fn contains(&self, name: &str) -> bool {
        if !self.marks.may_have(mark(name)) {
            return false;
        }
        let sought = (hash(name), name);
        self.names.binary_search_by(|own| (own.hash, own.as_str()).cmp(&sought)).is_ok()
    }
}

/// The marks of a set of words, which most other words miss.
#[derive(Debug, Clone, Copy)]
struct Marks([u64; ROWS]);

const ROWS: usize = 64;

impl Marks {
    const NONE: Self = Self([0; ROWS]);

    const fn add(&mut self, word: &str) {
        let (row, bit) = mark(word);
        self.0[row] |= 1 << bit;
    }

    fn may_have(&self, (row, bit): (usize, usize)) -> bool {
        self.0[row] >> bit & 1 == 1
    }
}

/// Where a word leaves its mark: its length, its ends and its middle tell most words apart.
const fn mark(word: &str) -> (usize, usize) {
    let word = word.as_bytes();
    let (Some(first), Some(last)) = (word.first(), word.last()) else { return (0, 0) };
    let (first, last, middle) = (*first as usize, *last as usize, word[word.len() / 2] as usize);
    ((first * 3 + middle + word.len() * 7) % ROWS, (last * 5 + middle * 3 + word.len()) % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_its_words_and_no_others() {
        const SET: Words = Words::new(&["int", "x", "while"]);
        let has = |word| SET.contains(Marked::new(word));
        assert!(SET.iter().all(has));
        assert!(!["", "X", "in", "ints", "float"].into_iter().any(has));
    }
}
