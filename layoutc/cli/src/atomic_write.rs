//! Atomic replacement of existing files that the user wrote, such as manifests that `layoutc fmt` formats.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use tempfile::Builder;

use crate::command_error::CommandError;

/// Replaces the content of the existing file at `path` by `text`: writes a temporary file in the same folder, then
/// renames it. If `path` is a link, the target of the link is replaced. The new file has the mode of the old one, and
/// also its owner and group if the system permits that.
///
/// # Errors
/// [`CommandError::Machine`] if the file does not exist, or if a system call fails. The file then has its old content.
pub(crate) fn write_atomically(path: &Path, text: &str) -> Result<(), CommandError> {
    let fault = |error: io::Error| CommandError::io("write", path, &error);
    let place = fs::canonicalize(path).map_err(fault)?;
    let metadata = fs::metadata(&place).map_err(fault)?;
    let folder = place.parent().unwrap_or(Path::new("/"));
    let mut builder = Builder::new();
    let new = builder.prefix(".layoutc-").suffix(".tmp").tempfile_in(folder);
    let mut new = new.map_err(fault)?;
    new.write_all(text.as_bytes()).map_err(fault)?;
    // Only root may change the owner.
    drop(fchown(new.as_file(), Some(metadata.uid()), Some(metadata.gid())));
    new.as_file().set_permissions(metadata.permissions()).map_err(fault)?;
    new.persist(&place).map_err(|error| fault(error.error))?;
    Ok(())
}
