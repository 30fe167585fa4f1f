//! Generator of random record types, and their size by the rules of the book.

use super::{TYPES, bits};
use layoutc_testing::Random;

/// `count` records in the syntax of `dtype`. Leaks them, because names of element types are `'static`.
pub(crate) fn records(seed: u64, count: usize) -> Vec<&'static str> {
    let mut random = Random::new(seed);
    (0..count).map(|_| &*Box::leak(record(&mut random).into_boxed_str())).collect()
}

fn record(random: &mut Random) -> String {
    let fields = 1 + random.below(5);
    let (mut text, mut at) = (String::new(), 0);
    for number in 0..fields {
        let (dtype, width, _) = *random.pick(TYPES);
        let counts: Vec<i64> = (0..random.below(3)).map(|_| random.between(1, 9)).collect();
        // The first field gets a count: without one, a record of one field or of equal types would be an axis.
        let counts =
            if number == 0 && counts.is_empty() { vec![random.between(1, 3)] } else { counts };
        let align = match random.below(4) {
            0 => Some(*random.pick(&[1, 2, 4, 8, 16])),
            _ if at % 8 != 0 => Some(1),
            _ => None,
        };
        at = align.map_or(at, |align| up(at, 8 * align)) + width * counts.iter().product::<i64>();
        let counts = counts.iter().fold(String::new(), |text, count| format!("{text} {count}"));
        let align = align.map_or_else(String::new, |align| format!(" align={align}"));
        text.push_str(&format!("f{number} {dtype}{counts}{align}; "));
    }
    let own = match random.below(4) {
        0 => format!("align={} ", random.pick(&[1, 2, 8, 32])),
        _ if at % 8 != 0 => "align=1 ".to_owned(),
        _ => String::new(),
    };
    format!("{own}{{ {text}}}")
}

fn up(at: i64, to: i64) -> i64 {
    (at + to - 1) / to * to
}

/// Size of a record in bits: each field at a multiple of its alignment; the size is a multiple of all alignments.
pub(crate) fn bits_of(text: &str) -> i64 {
    let (own, fields) = text.split_once('{').unwrap();
    let align =
        |word: &str| word.strip_prefix("align=").map(|align| 8 * align.parse::<i64>().unwrap());
    let (mut at, mut most) = (0, align(own.trim()).unwrap_or(1));
    for field in
        fields.trim_end_matches([' ', '}']).split(';').filter(|field| !field.trim().is_empty())
    {
        let words: Vec<&str> = field.split_whitespace().collect();
        let mut own = bits(words[1]);
        for word in &words[2..] {
            match align(word) {
                Some(align) => {
                    at = up(at, align);
                    most = most.max(align);
                }
                None => own *= word.parse::<i64>().unwrap(),
            }
        }
        at += own;
    }
    up(at, most)
}
