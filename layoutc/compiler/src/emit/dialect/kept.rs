//! Sets of words that are asked often and seldom have what is asked for.

/// Words, with marks that most others miss.
#[derive(Debug)]
pub struct Words {
    list: &'static [&'static str],
    marks: [u64; ROWS],
}

const ROWS: usize = 16;

impl Words {
    pub(super) const fn new(list: &'static [&'static str]) -> Self {
        let mut marks = [0; ROWS];
        let mut at = 0;
        while at < list.len() {
            let (row, bit) = mark(list[at]);
            marks[row] |= 1 << bit;
            at += 1;
        }
        Self { list, marks }
    }

    /// Whether `word` is one of them.
    pub fn contains(&self, word: &str) -> bool {
        let (row, bit) = mark(word);
        self.marks[row] >> bit & 1 == 1 && self.list.contains(&word)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.list.iter().copied()
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
