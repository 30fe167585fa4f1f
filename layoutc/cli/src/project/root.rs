//! Root of a project: the nearest folder with a `layoutc.toml`, or the one given by `--root`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::command_error::CommandError;
use crate::paths::{normal, relative_to_cwd};

use super::CONFIG;

/// Strategy to find the root of a project.
#[derive(Debug, Default)]
pub(super) enum RootSearch {
    /// Nearest folder with a `layoutc.toml`, at or above the requested path.
    #[default]
    Nearest,
    /// Folder at this absolute path. Nothing above it is read. Links are not resolved, because in a sandbox they lead
    /// to files outside of it.
    Given(PathBuf),
}

impl RootSearch {
    /// Strategy for `given`, the value of `--root`. Without a value, it is the search for the nearest folder with a
    /// `layoutc.toml`.
    ///
    /// # Errors
    /// [`CommandError::Usage`] if the value is not the path of a folder. [`CommandError::Machine`] if the working
    /// directory is unknown.
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

    /// Absolute path of the folder at `given`. Links are resolved, unless the root is given by `--root`.
    ///
    /// # Errors
    /// [`CommandError::Machine`] if the path cannot be resolved.
    pub(super) fn folder(&self, given: &Path) -> Result<PathBuf, CommandError> {
        match self {
            Self::Nearest => canonical(given),
            Self::Given(_) => absolute(given),
        }
    }

    /// Root of the project for a command without PATHS that runs in the folder `here`: the nearest folder at or above
    /// `here` with a `layoutc.toml`, or the folder of `--root`. `None` outside of any project.
    ///
    /// # Errors
    /// [`CommandError::Machine`] if a configuration file cannot be examined.
    pub(super) fn around(&self, here: &Path) -> Result<Option<PathBuf>, CommandError> {
        match self {
            Self::Nearest => nearest(here),
            Self::Given(root) => Ok(Some(root.clone())),
        }
    }

    /// Root of the project that contains the absolute path `path`, `None` if there is none.
    ///
    /// # Errors
    /// [`CommandError::Usage`] if the path is not below the folder of `--root`. [`CommandError::Machine`] if a
    /// configuration file cannot be examined.
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

/// Root of the project that contains `path`: the nearest folder at or above it with a `layoutc.toml`. `None` if there
/// is none, if `path` cannot be resolved, or if a configuration file cannot be examined.
pub(crate) fn root_at(path: &Path) -> Option<PathBuf> {
    nearest(&canonical(path).ok()?).ok()?
}

/// Path of the nearest folder at or above `path` that contains a file `layoutc.toml`, `None` if there is none. Folders
/// without permission are passed over.
///
/// # Errors
/// [`CommandError::Machine`] if a configuration file cannot be examined for any other reason.
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
