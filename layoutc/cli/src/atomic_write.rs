//! Atomic replacement of files that a user wrote.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use tempfile::Builder;

use crate::command_error::CommandError;

/// Replaces the text of the file at `path` by renaming a temporary file in its folder. A link is followed to its
/// target. The new file has the mode of the old one, and its owner if permitted.
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
