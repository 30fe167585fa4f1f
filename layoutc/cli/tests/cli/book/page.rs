//! What stands on a page: its blocks, the commands of a block, its links and anchors.

use std::ops::Range;

/// A fenced block.
pub(super) struct Block<'p> {
    /// The line of the fence, from 0.
    pub(super) line: usize,
    pub(super) language: &'p str,
    pub(super) lines: Vec<&'p str>,
}

/// A command of a page, and what the page says that it prints.
pub(super) struct Shown<'p> {
    /// The line of the command, from 0.
    pub(super) line: usize,
    pub(super) command: String,
    /// The lines below it.
    pub(super) place: Range<usize>,
    pub(super) output: Vec<&'p str>,
}

/// The fenced blocks of a page, in order.
pub(super) fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for (line, text) in page.lines().enumerate() {
        match (&mut open, text.strip_prefix("```")) {
            (None, Some(language)) => {
                let (language, mark) = language.split_once(',').unwrap_or((language, ""));
                let language = if mark == "not-run" { "text" } else { language };
                open = Some(Block { line, language, lines: Vec::new() });
            }
            (None, None) => {}
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(block), None) => block.lines.push(text),
        }
    }
    found
}

/// The commands of a block with what is shown below each; else the line before which one lacks.
pub(super) fn shown<'p>(block: &Block<'p>) -> Result<Vec<Shown<'p>>, usize> {
    let mut all: Vec<Shown<'p>> = Vec::new();
    let mut continues = false;
    for (number, text) in block.lines.iter().enumerate() {
        let line = block.line + 1 + number;
        match (all.last_mut(), text.strip_prefix("$ ")) {
            (Some(last), _) if continues => {
                last.command.push('\n');
                last.command.push_str(text);
                last.place = line + 1..line + 1;
            }
            (_, Some(command)) => {
                let (command, output) = (command.to_owned(), Vec::new());
                all.push(Shown { line, command, place: line + 1..line + 1, output });
            }
            (Some(last), None) => {
                last.output.push(*text);
                last.place.end = line + 1;
            }
            (None, None) => return Err(line),
        }
        continues = all.last().is_some_and(|last| last.output.is_empty()) && text.ends_with('\\');
    }
    for one in &mut all {
        while one.output.last().is_some_and(|line| line.is_empty()) {
            one.output.pop();
            one.place.end -= 1;
        }
    }
    Ok(all)
}

/// What a line says that is a comment of C, of TOML, Python and shells, or of a template.
pub(super) fn comment(line: &str) -> Option<&str> {
    let template = line.strip_prefix("{#").and_then(|rest| rest.strip_suffix("#}"));
    let text = template.or_else(|| line.strip_prefix("//")).or_else(|| line.strip_prefix('#'))?;
    Some(text.trim())
}

/// Whether a comment is the path of a file and nothing else.
pub(super) fn is_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || ['/', '.', '_', '-'].contains(&c);
    let file = text.rsplit('/').next().unwrap_or_default();
    text.chars().all(plain)
        && !text.contains("..")
        && file
            .split_once('.')
            .is_some_and(|(stem, extension)| !stem.is_empty() && !extension.is_empty())
}

/// The relative links of a page, outside of code.
pub(super) fn links(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in page.lines() {
        in_block ^= line.starts_with("```");
        if in_block {
            continue;
        }
        for part in line.split("](").skip(1) {
            let link = part.split_once(')').map_or(part, |(link, _)| link);
            if !link.contains("://") {
                found.push(link);
            }
        }
    }
    found
}

/// The anchors that mdBook gives the headings of a page.
pub(super) fn anchors(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in page.lines() {
        in_block ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if in_block || heading == line || !heading.starts_with(' ') {
            continue;
        }
        let kept = |c: char| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            c if c.is_alphanumeric() => Some(c.to_ascii_lowercase()),
            _ => None,
        };
        found.push(heading.trim().chars().filter_map(kept).collect());
    }
    found
}
