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
            marks = marks.with(list[at]);
            at += 1;
        }
        Self { list, marks }
    }

    /// Whether `word` is one of them.
    pub fn contains(&self, word: &str) -> bool {
        self.marks.may_have(word) && self.list.contains(&word)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.list.iter().copied()
    }
}

/// Names of a file.
#[derive(Debug)]
pub(in crate::emit) struct Names {
    /// Sorted.
    names: Vec<String>,
    marks: Marks,
}

impl Names {
    pub(in crate::emit) fn new(mut names: Vec<String>) -> Self {
        names.sort();
        let marks = names.iter().fold(Marks::NONE, |marks, name| marks.with(name));
        Self { names, marks }
    }

    pub(in crate::emit) fn contains(&self, name: &str) -> bool {
        self.marks.may_have(name)
            && self.names.binary_search_by(|other| other.as_str().cmp(name)).is_ok()
    }
}

/// The marks of a set of words, which most other words miss.
#[derive(Debug, Clone, Copy)]
struct Marks([u64; ROWS]);

const ROWS: usize = 16;

impl Marks {
    const NONE: Self = Self([0; ROWS]);

    const fn with(mut self, word: &str) -> Self {
        let (row, bit) = mark(word);
        self.0[row] |= 1 << bit;
        self
    }

    fn may_have(&self, word: &str) -> bool {
        let (row, bit) = mark(word);
        self.0[row] >> bit & 1 == 1
    }
}

/// Where a word leaves its mark: its length and its ends tell most words apart.
const fn mark(word: &str) -> (usize, usize) {
    let (first, last) = match word.as_bytes() {
        [] => (0, 0),
        [only] => (*only as usize, 0),
        [first, .., last] => (*first as usize, *last as usize),
    };
    ((first + word.len()) % ROWS, (first * 5 + last * 3 + word.len()) % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_its_words_and_no_others() {
        const SET: Words = Words::new(&["int", "x", "while"]);
        assert!(SET.iter().all(|word| SET.contains(word)));
        assert!(["", "X", "in", "ints", "float"].iter().all(|word| !SET.contains(word)));
    }
}
