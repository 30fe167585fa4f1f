//! Patterns of `sources`, which select the manifests of a project.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;

use crate::command_error::CommandError;

use crate::paths::is_below;

/// Compiled patterns of `sources` in the configuration of a project.
#[derive(Debug, Clone)]
pub(crate) struct SourceGlobs {
    set: GlobSet,
    /// One folder per pattern, in order: the components of the pattern before the first one with a wildcard, without
    /// the last component; `layouts` for `layouts/**/*.kdl`. Relative to the root of the project; empty for the root
    /// itself.
    pub(crate) folders: Vec<String>,
}

impl SourceGlobs {
    /// Compiles the patterns, which are relative to the root of the project. In them, `*` matches within a folder and
    /// `**` across folders.
    ///
    /// # Errors
    /// [`CommandError::Input`] if a pattern is invalid or leads out of the project.
    pub(crate) fn new(patterns: &[String]) -> Result<Self, CommandError> {
        let mut set = GlobSetBuilder::new();
        let mut folders = Vec::new();
        for pattern in patterns {
            if !is_below(pattern) {
                return Err(refusal(pattern, "must stay inside the project"));
            }
            let glob = GlobBuilder::new(pattern).literal_separator(true).build();
            set.add(glob.map_err(|error| refusal(pattern, &error.kind().to_string()))?);
            folders.push(literal_folder(pattern));
        }
        let set = set.build().map_err(|error| refusal("sources", &error.to_string()))?;
        Ok(Self { set, folders })
    }

    /// True if a pattern matches `path`, which is relative to the root of the project.
    pub(crate) fn matches(&self, path: &Path) -> bool {
        self.set.is_match(path)
    }
}

fn refusal(pattern: &str, reason: &str) -> CommandError {
    let message = format!("invalid pattern `{pattern}` in `sources`: {reason}");
    let help = "write a pattern such as `layouts/**/*.kdl`: `*` matches any name, `**` any folders";
    CommandError::Input(vec![Diagnostic::without_span(Code::ConfigGlob, message).help(help)])
}

/// Leading folder of a pattern, up to the first component with a wildcard: `layouts` of `layouts/**/*.kdl`.
fn literal_folder(pattern: &str) -> String {
    let parts: Vec<&str> = pattern.split('/').collect();
    let folders = parts.len().saturating_sub(1);
    let literal = |part: &&&str| !part.contains(['*', '?', '[', '{', '\\']);
    parts[..folders].iter().take_while(literal).copied().collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_does_not_match_a_path_separator() {
        let globs = SourceGlobs::new(&["layouts/**/*.kdl".into(), "*.kdl".into()]).expect("globs");
        for (path, matches) in [
            ("layouts/a.kdl", true),
            ("layouts/x/y/a.kdl", true),
            ("a.kdl", true),
            ("x/a.kdl", false),
            ("layouts/a.txt", false),
        ] {
            assert_eq!(globs.matches(Path::new(path)), matches, "{path}");
        }
        assert_eq!(globs.folders, ["layouts", ""]);
    }

    #[test]
    fn outside_and_malformed_globs_are_refused() {
        for pattern in ["../*.kdl", "/x/*.kdl", "layouts/[a.kdl", ""] {
            let refused = SourceGlobs::new(&[pattern.to_owned()]).err();
            let Some(CommandError::Input(diagnostics)) = refused else {
                panic!("{pattern}: taken")
            };
            assert_eq!(diagnostics[0].code, Code::ConfigGlob);
        }
    }
}
