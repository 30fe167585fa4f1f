//! Depfile for build tools, in the syntax that compilers write: a make rule without a recipe, which ninja and `CMake`
//! also read.

use std::path::Path;

use crate::command_error::CommandError;

/// Make rule by which each of `targets` depends on each of `prerequisites`, with one escaped path per line; the empty
/// text if there are no targets.
///
/// # Errors
/// [`CommandError::Usage`] if a path cannot be written such that both make and ninja read it correctly
/// ([`is_expressible`]).
pub(super) fn rule<'a>(
    targets: impl Iterator<Item = &'a Path>,
    prerequisites: impl Iterator<Item = &'a Path>,
) -> Result<String, CommandError> {
    let prerequisites: Vec<String> = prerequisites.map(escaped).collect::<Result<_, _>>()?;
    let targets: Vec<String> = targets.map(escaped).collect::<Result<_, _>>()?;
    if targets.is_empty() {
        return Ok(String::new());
    }
    let separator = " \\\n  ";
    let (targets, prerequisites) = (targets.join(separator), prerequisites.join(separator));
    Ok(format!("{targets}:{separator}{prerequisites}\n"))
}

/// True if a text could be that of a depfile from [`rule`]: it is empty or has the form of such a rule.
pub(super) fn is_rule(text: &str) -> bool {
    let head = text.strip_suffix('\n').and_then(|text| text.rsplit_once('\n'));
    text.is_empty()
        || head.is_some_and(|(head, last)| {
            last.starts_with("  ")
                && head.lines().all(|line| line.ends_with(" \\"))
                && head.lines().any(|line| line.ends_with(": \\"))
        })
}

/// Characters, separated by spaces, that a path in a depfile must not contain: ninja 1.11 ends the path at them, or
/// make interprets them. The space itself may occur in a path.
pub(crate) const UNESCAPABLE: &str = "\\ ; | % = & * < > ? ^ ' \" `";

/// True if `path` can be written such that both make and ninja read it correctly: it has no control character and none
/// of the characters in [`UNESCAPABLE`].
pub(crate) fn is_expressible(path: &str) -> bool {
    let is_unescapable = |c: char| c.is_control() || c != ' ' && UNESCAPABLE.contains(c);
    !path.contains(is_unescapable)
}

/// Path in which the characters that are special to make and ninja are escaped: `$` is doubled; a space, `#` or `:`
/// gets a backslash.
///
/// # Errors
/// [`CommandError::Usage`] if the path is not Unicode, or not expressible ([`is_expressible`]).
fn escaped(path: &Path) -> Result<String, CommandError> {
    let mut text = String::new();
    let Some(known) = path.to_str().filter(|path| is_expressible(path)) else {
        let shown = path.to_string_lossy();
        return Err(CommandError::Usage(format!(
            "`--depfile` cannot express `{shown}`: a path must not contain line breaks or any of {UNESCAPABLE} ; \
             rename it, or build without `--depfile`"
        )));
    };
    for c in known.chars() {
        match c {
            '$' => text.push('$'),
            ' ' | '#' | ':' => text.push('\\'),
            _ => {}
        }
        text.push(c);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(targets: &[&str], prerequisites: &[&str]) -> Result<String, CommandError> {
        let paths = |paths: &[&str]| paths.iter().map(Path::new).map(Path::to_owned).collect();
        let (targets, prerequisites): (Vec<_>, Vec<_>) = (paths(targets), paths(prerequisites));
        rule(
            targets.iter().map(|path: &std::path::PathBuf| path.as_path()),
            prerequisites.iter().map(|path: &std::path::PathBuf| path.as_path()),
        )
    }

    #[test]
    fn make_syntax_in_paths_is_escaped() {
        let text = of(&["o/a.c", "o/a.h"], &["a b.kdl", "$x#y:z.kdl"]).expect("a rule");
        assert_eq!(text, "o/a.c \\\n  o/a.h: \\\n  a\\ b.kdl \\\n  $$x\\#y\\:z.kdl\n");
        assert!(is_rule(&text));
    }

    #[test]
    fn inexpressible_paths_are_refused() {
        for path in ["a\nb", "a\\b", "a;b", "a|b", "%.kdl", "a=b", "a'b", "a&b"] {
            assert!(matches!(of(&["x"], &[path]), Err(CommandError::Usage(_))), "{path}");
            assert!(matches!(of(&[path], &["x"]), Err(CommandError::Usage(_))), "{path}");
        }
    }

    #[test]
    fn foreign_texts_are_not_depfile_rules() {
        assert!(is_rule(""));
        for text in ["a.o: a.c a.h\n", "int x;\n", "tensor t {\n}\n", "x: \\\n", "x: \\\n  y"] {
            assert!(!is_rule(text), "{text}");
        }
    }
}
