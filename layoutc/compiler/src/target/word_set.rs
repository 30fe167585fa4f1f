//! Constant sets of words with a fast negative lookup: a 4096-bit Bloom filter with one hash rejects most other words.

/// Constant set of words. A lookup consults the filter `marks` before the list.
#[derive(Debug)]
pub(crate) struct Words {
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

    /// True if `word` is in the set.
    pub(super) fn contains(&self, word: Marked<'_>) -> bool {
        self.marks.may_have(word.mark) && self.list.contains(&word.word)
    }

    /// Words of the set, in the order of the list from which the set was made.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.list.iter().copied()
    }
}

/// Word with its hash, which is the position (row, bit) of its bit in [`Marks`]. The hash is computed once for lookups
/// in several sets.
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

/// Bloom filter of a word set, as rows of 64 bits: the bit at (row, bit) is set if a word of the set has this hash. A
/// clear bit proves that no word with this hash is in the set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marks([u64; ROWS]);

const ROWS: usize = 64;

impl Marks {
    pub(crate) const NONE: Self = Self([0; ROWS]);

    pub(crate) const fn add(&mut self, word: &str) {
        let (row, bit) = mark(word);
        self.0[row] |= 1 << bit;
    }

    pub(crate) fn may_have(&self, (row, bit): (usize, usize)) -> bool {
        self.0[row] >> bit & 1 == 1
    }
}

/// Hash of a word, as the pair (row, bit) of its bit in [`Marks`]. It depends on the length of the word and its first,
/// middle and last byte.
pub(crate) const fn mark(word: &str) -> (usize, usize) {
    let word = word.as_bytes();
    let (Some(first), Some(last)) = (word.first(), word.last()) else { return (0, 0) };
    let (first, last, middle) = (*first as usize, *last as usize, word[word.len() / 2] as usize);
    ((first * 3 + middle + word.len() * 7) % ROWS, (last * 5 + middle * 3 + word.len()) % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_set_contains_exactly_its_words() {
        const SET: Words = Words::new(&["int", "x", "while"]);
        let has = |word| SET.contains(Marked::new(word));
        assert!(SET.iter().all(has));
        assert!(!["", "X", "in", "ints", "float"].into_iter().any(has));
    }
}
