//! Seal of a generated file: a comment in its first line with a hash of the text below it. The hash detects manual
//! edits.

/// Text in the first line of a generated file between the start of the comment, such as `//`, and the 64 hexadecimal
/// digits of the hash.
const MARK: &str = " layoutc-hash: ";

const DIGITS: usize = 64;

/// Comment syntaxes of languages, as tuples (start of a comment, end of a comment, file extensions of the languages).
/// For any other extension a comment starts with `//`.
const COMMENTS: &[(&str, &str, &[&str])] = &[
    ("//", "", &[]),
    (
        "#",
        "",
        &[
            "bash", "bzl", "cfg", "cmake", "conf", "ex", "exs", "gd", "jl", "lock", "mk", "nim",
            "pl", "ps1", "py", "pyi", "pyx", "r", "rb", "sh", "tcl", "toml", "yaml", "yml",
        ],
    ),
    ("--", "", &["ada", "elm", "hs", "lua", "sql", "vhd", "vhdl"]),
    (";", "", &["asm", "clj", "el", "ini", "lisp", "ll", "scm"]),
    ("%", "", &["erl", "m", "pro", "tex"]),
    ("!", "", &["f", "f90", "f95", "f03", "f08"]),
    ("<!--", " -->", &["htm", "html", "markdown", "md", "svg", "xml"]),
    ("(*", " *)", &["ml", "mli", "v"]),
];

/// File extensions of formats without comments, whose files have no seal.
const WITHOUT: &[&str] = &["csv", "json", "jsonl", "npy", "tsv", "txt"];

/// True if files with this extension can carry a seal, in a comment; false for formats without comments. The extension
/// has no dot; case is ignored.
pub fn can_seal(extension: &str) -> bool {
    !WITHOUT.contains(&extension.to_ascii_lowercase().as_str())
}

/// Text of a generated file with its seal: a comment line, in the language of the extension of `path`, with the hash of
/// `text`, then `text`. Only `text` if the format has no comments.
pub fn seal(path: &str, text: &str) -> String {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let extension = extension.to_ascii_lowercase();
    if !can_seal(&extension) {
        return text.to_owned();
    }
    let row = COMMENTS.iter().find(|(.., known)| known.contains(&extension.as_str()));
    let (open, close) = row.map_or(("//", ""), |row| (row.0, row.1));
    let hash = blake3::hash(text.as_bytes()).to_hex();
    [open, MARK, hash.as_str(), close, "\n", text].concat()
}

/// True if the text below the seal has the hash in the seal, false if the text was edited; `None` if the text does not
/// begin with the line of a seal. A text whose line ends were converted from LF to CRLF counts as edited.
pub fn verify_seal(text: &str) -> Option<bool> {
    let (line, below) = text.split_once('\n')?;
    let line = line.strip_suffix('\r').unwrap_or(line);
    let digits = COMMENTS.iter().find_map(|(open, close, _)| {
        line.strip_prefix(open)?.strip_prefix(MARK)?.strip_suffix(close)
    })?;
    if digits.len() != DIGITS || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    Some(blake3::hash(below.as_bytes()).to_hex().as_str() == digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_invalidate_the_content_hash() {
        let text = seal("a.c", "int x;\n");
        assert_eq!(verify_seal(&text), Some(true));
        assert_eq!(verify_seal(&text.replace("int", "char")), Some(false));
        assert_eq!(verify_seal("int x;\n"), None);
        assert_eq!(verify_seal("// layoutc-hash: 12\nint x;\n"), None);
    }

    #[test]
    fn content_hash_is_a_comment_of_the_language() {
        for (path, start) in [("a.py", "# layoutc-hash: "), ("b/a.h", "// layoutc-hash: ")] {
            let text = seal(path, "x\n");
            assert!(text.starts_with(start), "{text}");
            assert_eq!(verify_seal(&text), Some(true));
        }
        let page = seal("a.html", "<p>\n");
        assert!(page.lines().next().is_some_and(|line| line.ends_with(" -->")));
        assert_eq!(verify_seal(&page), Some(true));
    }
}
