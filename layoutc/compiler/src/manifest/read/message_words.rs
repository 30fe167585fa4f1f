//! Words of a manifest as messages show them, and lists of words.

/// Word of the manifest for a message, cut after 80 characters; a character that is not printable ASCII becomes
/// `U+0430`.
pub(super) fn show(word: &str) -> String {
    let ascii = |c: char| c.is_ascii_graphic() || c == ' ';
    let spell = |c: char| if ascii(c) { c.to_string() } else { format!("U+{:04X}", u32::from(c)) };
    let mut shown: String = word.chars().take(80).map(spell).collect();
    if word.chars().nth(80).is_some() {
        shown.push('…');
    }
    shown
}

/// List of words for messages: `a`, `b` and `c`.
pub(super) fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// List of words as alternatives for messages: `a`, `b` or `c`.
pub(super) fn alternatives(words: &[&str]) -> String {
    let all = list(words);
    all.rsplit_once(" and ").map_or(all.clone(), |(others, last)| format!("{others} or {last}"))
}
