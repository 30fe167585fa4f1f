//! What stands where an output goes.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::Path;

use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::{Diagnostic, Severity};
use layoutc_compiler::seal;

use crate::fault::{Fault, placeless};
use crate::project::seen;

use super::{Status, Strictness};

/// What becomes of the output `path` below `root`, or why it must not be written.
pub(crate) fn look(
    root: &Path,
    path: &str,
    text: &str,
    strictness: Strictness,
) -> Result<Result<Status, Box<Diagnostic>>, Fault> {
    if let Some(refusal) = folders(root, path)? {
        return Ok(Err(Box::new(refusal)));
    }
    let file = root.join(path);
    let Some(metadata) = metadata(&file)? else {
        return Ok(Ok(Status::Written));
    };
    if metadata.is_symlink() {
        return Ok(Err(Box::new(link(&file))));
    }
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "a folder" } else { "not a regular file" };
        return Ok(Err(Box::new(blocked(&file, what))));
    }
    let found = fs::read(&file).map_err(|error| Fault::io("read", &file, &error))?;
    if found == text.as_bytes() {
        return Ok(Ok(Status::Unchanged));
    }
    if strictness == Strictness::Force {
        return Ok(Ok(Status::Written));
    }
    Ok(match str::from_utf8(&found).ok().and_then(seal::holds) {
        Some(true) => Ok(Status::Written),
        Some(false) => Err(Box::new(edited(&file))),
        None => Err(Box::new(foreign(&file))),
    })
}

/// The folders between `root` and the output: each is a folder, none leads outside.
fn folders(root: &Path, path: &str) -> Result<Option<Diagnostic>, Fault> {
    let mut folder = root.to_owned();
    let mut parts = path.split('/').collect::<Vec<_>>();
    parts.pop();
    for part in std::iter::once("").chain(parts) {
        if !part.is_empty() {
            folder.push(part);
        }
        let Some(found) = metadata(&folder)? else {
            return Ok(None);
        };
        let real = match fs::canonicalize(&folder) {
            Ok(real) => real,
            // A link to nothing, or to itself.
            Err(_) if found.is_symlink() => return Ok(Some(link(&folder))),
            Err(error) => return Err(Fault::io("find", &folder, &error)),
        };
        if found.is_symlink() && !part.is_empty() {
            let home = fs::canonicalize(root).map_err(|e| Fault::io("find", root, &e))?;
            if !real.starts_with(home) {
                return Ok(Some(link(&folder)));
            }
        }
        let metadata = fs::metadata(&real).map_err(|e| Fault::io("look at", &folder, &e))?;
        if !metadata.is_dir() {
            return Ok(Some(blocked(&folder, "not a folder")));
        }
    }
    Ok(None)
}

/// What is at `path` itself, links not followed; `None` if nothing is.
fn metadata(path: &Path) -> Result<Option<Metadata>, Fault> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Fault::io("look at", path, &error)),
    }
}

fn foreign(file: &Path) -> Diagnostic {
    let file = seen(file);
    placeless(Code::OutputForeign, format!("`{file}` was not written by layoutc"))
        .note("it stands where an output goes")
        .help("move it away, or overwrite it with `--force`")
}

fn blocked(file: &Path, what: &str) -> Diagnostic {
    placeless(Code::OutputForeign, format!("`{}` is {what}", seen(file)))
        .note("an output goes there")
        .help("move it away")
}

fn edited(file: &Path) -> Diagnostic {
    let file = seen(file);
    placeless(Code::OutputEdited, format!("`{file}` was edited since layoutc wrote it"))
        .help("keep the edit in another file, or overwrite it with `--force`")
}

/// An edited output that is not removed.
pub(super) fn kept(file: &Path) -> Diagnostic {
    let file = seen(file);
    let message = format!("`{file}` was edited since layoutc wrote it, and is kept");
    let warning =
        Diagnostic { severity: Severity::Warning, ..placeless(Code::OutputEdited, message) };
    warning.help("remove it yourself if the edit is not needed any more")
}

/// A link where an output or its folder should be.
pub(crate) fn link(path: &Path) -> Diagnostic {
    let target = fs::read_link(path).map_or_else(|_| "?".to_owned(), |to| to.display().to_string());
    placeless(Code::OutputLink, format!("`{}` is a link to `{target}`", seen(path)))
        .note("outputs are not written through links")
        .help("remove the link, or write elsewhere with `--out`")
}
