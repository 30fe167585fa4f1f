//! Comparison of printed and expected output.

/// Returns true if lines match the expected ones, where `…` matches any lines and all times are equal.
pub(super) fn fits(shown: &[&str], printed: &[String]) -> bool {
    let printed: Vec<String> = printed.iter().map(|line| untimed(line)).collect();
    let pieces: Vec<Vec<String>> = shown
        .split(|line| *line == "…")
        .map(|piece| piece.iter().map(|line| untimed(line)).collect())
        .collect();
    let [first, between @ .., last] = &pieces[..] else { return printed == pieces[0] };
    if !printed.starts_with(first) {
        return false;
    }
    let mut rest = &printed[first.len()..];
    for piece in between.iter().filter(|piece| !piece.is_empty()) {
        let at = rest.windows(piece.len()).position(|lines| lines == piece);
        let Some(at) = at else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// Replaces times and speeds in a line by a placeholder, and normalizes the spaces of such a line.
fn untimed(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_unit = |word: &str| {
        ["ns", "µs", "us", "ms", "s", "GB/s", "MB/s"].contains(&word.trim_matches([',', '.', ')']))
    };
    let is_time = |at: usize| {
        words[at].trim_start_matches('(').parse::<f64>().is_ok()
            && words.get(at + 1).is_some_and(|word| is_unit(word))
    };
    if !(0..words.len()).any(is_time) {
        return line.to_owned();
    }
    let word = |at: usize| if is_time(at) { "N" } else { words[at] };
    (0..words.len()).map(word).collect::<Vec<_>>().join(" ")
}

/// Both texts, without common prefix and suffix.
pub(super) fn difference(shown: &[&str], printed: &[String]) -> String {
    let alike = |(a, b): &(&&str, &String)| **a == b.as_str();
    let head = shown.iter().zip(printed).take_while(alike).count();
    let (shown_rest, printed_rest) = (&shown[head..], &printed[head..]);
    let tail = shown_rest.iter().rev().zip(printed_rest.iter().rev()).take_while(alike).count();
    let same = |line: &&str| format!("  {line}");
    let mut lines: Vec<String> = shown[..head].iter().map(same).collect();
    lines.extend(shown_rest[..shown_rest.len() - tail].iter().map(|line| format!("- {line}")));
    lines.extend(printed_rest[..printed_rest.len() - tail].iter().map(|line| format!("+ {line}")));
    lines.extend(shown_rest[shown_rest.len() - tail..].iter().map(same));
    lines.join("\n")
}
