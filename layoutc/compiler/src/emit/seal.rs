//! A generated file's seal: a hash of what follows it, so that an edit by hand can be told.

/// The line that carries the hash starts with this; 64 hexadecimal digits follow.
pub const SEAL: &str = "// layoutc-hash: ";

const DIGITS: usize = 64;

/// `text` under its seal: one line with the hash of the rest.
pub fn seal(text: &str) -> String {
    format!("{SEAL}{}\n{text}", blake3::hash(text.as_bytes()).to_hex())
}

/// Whether the text below the seal is the text that was sealed; `None` where there is no seal on the first line.
/// Line ends count: a checkout that turns LF into CRLF is an edit.
pub fn holds(text: &str) -> Option<bool> {
    let rest = text.strip_prefix(SEAL)?;
    let (line, below) = rest.split_once('\n')?;
    let digits = line.strip_suffix('\r').unwrap_or(line);
    if digits.len() != DIGITS || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    Some(blake3::hash(below.as_bytes()).to_hex().as_str() == digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_breaks_the_seal() {
        let text = seal("int x;\n");
        assert_eq!(holds(&text), Some(true));
        assert_eq!(holds(&text.replace("int", "char")), Some(false));
        assert_eq!(holds("int x;\n"), None);
        assert_eq!(holds("// layoutc-hash: 12\nint x;\n"), None);
    }
}
