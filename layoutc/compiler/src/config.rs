//! The project's configuration.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;

/// `layoutc.toml`.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// `[project]`.
    pub project: Project,
}

/// `[project]`.
#[derive(Debug, Clone)]
pub struct Project {
    /// The project's name.
    pub name: Option<String>,
    /// Globs of manifests.
    pub sources: Vec<String>,
    /// Where outputs go.
    pub out_dir: String,
    /// Where the user's templates are.
    pub templates_dir: String,
}

impl Default for Project {
    fn default() -> Self {
        Self {
            name: None,
            sources: vec!["layouts/**/*.kdl".to_owned()],
            out_dir: "generated".to_owned(),
            templates_dir: "templates".to_owned(),
        }
    }
}

/// The configuration that `text` holds.
pub fn parse(_file: &Arc<str>, _text: &str) -> Result<Config, Vec<Diagnostic>> {
    Ok(Config::default())
}
