//! Checks that configured paths stay inside the project and are portable.

/// File names without a number that Windows reserves for devices, in lower case. They are reserved with any extension:
/// `con`, `con.txt`.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul"];

/// Reason why `path`, relative to the project folder with `/` as separator, could leave the project or is not portable;
/// `None` if it is valid.
pub(super) fn fault(path: &str) -> Option<String> {
    if path.is_empty() {
        return Some("the path is empty".to_owned());
    }
    if path.len() > 4096 {
        return Some(format!("a path of {} bytes is too long: the limit is 4096", path.len()));
    }
    if path.starts_with(['/', '~']) {
        return Some("the path is not relative to the project".to_owned());
    }
    path.split('/').find_map(component)
}

fn component(name: &str) -> Option<String> {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let device = DEVICES.contains(&stem.as_str())
        || port.is_some_and(|n| n.len() == 1 && n.bytes().all(|b| b.is_ascii_digit()));
    if name == ".." {
        Some("`..` leads out of the project".to_owned())
    } else if let Some(c) = name.chars().find(|&c| c == '\\' || c == ':' || c.is_control()) {
        Some(format!("the character `{}` is not allowed in a path", printable(c)))
    } else if name.len() > 255 {
        Some(format!("a file name of {} bytes is too long: the limit is 255", name.len()))
    } else if name != "." && name.ends_with(['.', ' ']) {
        Some(format!("`{name}` ends with a dot or a space, which Windows drops"))
    } else if device {
        Some(format!("`{name}` is a device name on Windows"))
    } else {
        None
    }
}

/// The character `c` itself, or its escape (`\n`) for a control character.
fn printable(c: char) -> String {
    if c.is_control() { c.escape_default().to_string() } else { c.to_string() }
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn paths_inside_the_project_are_accepted() {
        for path in ["generated", "a/b.c/d", ".", "layouts/**/*.kdl", "com/console", "aux2"] {
            assert_eq!(fault(path), None, "{path}");
        }
    }

    #[test]
    fn outside_and_nonportable_paths_are_refused() {
        for path in
            ["", "/etc", "~/x", "..", "a/../../b", "C:/x", "C:x", "a\\..\\b", "\\\\host\\x", "a\0b"]
        {
            assert!(fault(path).is_some(), "{path:?}");
        }
        for path in ["a.", "b ", "CON", "con.txt", "x/LPT1.h"] {
            assert!(fault(path).is_some(), "{path:?}");
        }
        assert!(fault(&"a".repeat(256)).is_some() && fault(&"a/".repeat(3000)).is_some());
    }
}
