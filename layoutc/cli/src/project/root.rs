//! Root of a project: the nearest folder with a `layoutc.toml`, or the one given by `--root`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::command_error::CommandError;
use crate::paths::{normal, relative_to_cwd};

use super::CONFIG;

/// Strategy for finding the root.
#[derive(Debug, Default)]
pub(super) enum RootSearch {
    /// The nearest folder with a `layoutc.toml` at or above the requested path.
    #[default]
    Nearest,
    /// This absolute folder. Nothing above it is read, and links are not resolved: in a sandbox they lead to files
    /// outside.
    Given(PathBuf),
}

impl RootSearch {
    /// Strategy for the value of `--root`.
    ///
    /// # Errors
    /// The value is not a folder.
    pub(super) fn new(given: Option<&Path>) -> Result<Self, CommandError> {
        let Some(given) = given else { return Ok(Self::Nearest) };
        if !given.is_dir() {
            return Err(CommandError::Usage(format!(
                "`--root`: `{}` is not a folder",
                given.display()
            )));
        }
        Ok(Self::Given(absolute(given)?))
    }

    pub(super) fn is_given(&self) -> bool {
        matches!(self, Self::Given(_))
    }

    /// Absolute path of a folder.
    pub(super) fn folder(&self, given: &Path) -> Result<PathBuf, CommandError> {
        match self {
            Self::Nearest => canonical(given),
            Self::Given(_) => absolute(given),
        }
    }

    /// Root of a command without PATHS, run in the folder `here`.
    pub(super) fn around(&self, here: &Path) -> Result<Option<PathBuf>, CommandError> {
        match self {
            Self::Nearest => nearest(here),
            Self::Given(root) => Ok(Some(root.clone())),
        }
    }

    /// Root of the project that contains `path`, if any.
    ///
    /// # Errors
    /// `path` is not below the folder of `--root`.
    pub(super) fn of(&self, path: &Path) -> Result<Option<PathBuf>, CommandError> {
        match self {
            Self::Nearest => nearest(path),
            Self::Given(root) if path.starts_with(root) => Ok(Some(root.clone())),
            Self::Given(root) => {
                let (path, root) = (relative_to_cwd(path), relative_to_cwd(root));
                Err(CommandError::Usage(format!("`{path}` is outside of `--root` (`{root}`)")))
            }
        }
    }
}

/// Root of the project that contains `path`, if it can be found without an error.
pub(crate) fn root_at(path: &Path) -> Option<PathBuf> {
    nearest(&canonical(path).ok()?).ok()?
}

/// Nearest folder at or above `path` with a `layoutc.toml`.
fn nearest(path: &Path) -> Result<Option<PathBuf>, CommandError> {
    use ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    for folder in path.ancestors() {
        match fs::metadata(folder.join(CONFIG)) {
            Ok(metadata) if metadata.is_file() => return Ok(Some(folder.to_owned())),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), NotFound | NotADirectory | PermissionDenied) => {}
            Err(error) => return Err(CommandError::io("read", &folder.join(CONFIG), &error)),
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
