//! Where a project begins: the nearest folder with a `layoutc.toml`, or the one that `--root` names.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::command_error::CommandError;

use super::CONFIG;
use super::paths::normal;

/// How the folder of a project is found.
#[derive(Debug, Default)]
pub(super) enum RootSearch {
    /// It is the nearest one at or above what is asked for with a `layoutc.toml`.
    #[default]
    Nearest,
    /// It is this one, absolute. Nothing above it is looked at, and paths are what they are called: in a sandbox they
    /// are links, which lead where other files are that nobody asked for.
    Given(PathBuf),
}

impl RootSearch {
    /// What `--root` says.
    ///
    /// # Errors
    /// It names no folder.
    pub(super) fn new(given: Option<&Path>) -> Result<Self, CommandError> {
        let Some(given) = given else { return Ok(Self::Nearest) };
        if !given.is_dir() {
            return Err(CommandError::Usage(format!(
                "`--root`: there is no folder `{}`",
                given.display()
            )));
        }
        Ok(Self::Given(absolute(given)?))
    }

    /// Whether it is one that was named.
    pub(super) fn is_given(&self) -> bool {
        matches!(self, Self::Given(_))
    }

    /// The absolute path of a folder.
    pub(super) fn folder(&self, given: &Path) -> Result<PathBuf, CommandError> {
        match self {
            Self::Nearest => canonical(given),
            Self::Given(_) => absolute(given),
        }
    }

    /// The folder of the project that a command is about which names none, typed in the folder `here`.
    pub(super) fn around(&self, here: &Path) -> Result<Option<PathBuf>, CommandError> {
        match self {
            Self::Nearest => nearest(here),
            Self::Given(root) => Ok(Some(root.clone())),
        }
    }

    /// The folder of the project that `path` belongs to; `None`: it belongs to none.
    ///
    /// # Errors
    /// It is not below the folder that was named.
    pub(super) fn of(&self, path: &Path) -> Result<Option<PathBuf>, CommandError> {
        match self {
            Self::Nearest => nearest(path),
            Self::Given(root) if path.starts_with(root) => Ok(Some(root.clone())),
            Self::Given(root) => {
                let (path, root) = (super::relative_to_cwd(path), super::relative_to_cwd(root));
                Err(CommandError::Usage(format!(
                    "`{path}` is not in `{root}`, which `--root` names"
                )))
            }
        }
    }
}

/// The folder of the project that `path` belongs to, if that can be told at once.
pub(crate) fn root_at(path: &Path) -> Option<PathBuf> {
    nearest(&canonical(path).ok()?).ok()?
}

/// The nearest folder at or above `path` with a `layoutc.toml`.
fn nearest(path: &Path) -> Result<Option<PathBuf>, CommandError> {
    use ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    for folder in path.ancestors() {
        match fs::metadata(folder.join(CONFIG)) {
            Ok(metadata) if metadata.is_file() => return Ok(Some(folder.to_owned())),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), NotFound | NotADirectory | PermissionDenied) => {}
            Err(error) => return Err(CommandError::io("look at", &folder.join(CONFIG), &error)),
        }
    }
    Ok(None)
}

fn canonical(path: &Path) -> Result<PathBuf, CommandError> {
    fs::canonicalize(path).map_err(|error| CommandError::io("find", path, &error))
}

fn absolute(path: &Path) -> Result<PathBuf, CommandError> {
    let absolute =
        std::path::absolute(path).map_err(|error| CommandError::io("find", path, &error))?;
    Ok(normal(&absolute))
}
