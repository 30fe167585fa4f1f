//! Files below a folder, in an order that does not depend on the machine.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, DirEntry, FileType};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::command_error::CommandError;

#[derive(Debug)]
pub(crate) struct FolderFiles {
    pub(crate) path: PathBuf,
    /// Names of the files in the folder.
    pub(crate) names: Vec<OsString>,
}

/// Folders and files that a walk of a folder found.
#[derive(Debug, Default)]
pub(crate) struct FileTree {
    /// Folders that contain files, with the names of the files.
    pub(crate) folders: Vec<FolderFiles>,
    /// Links to folders that were followed, and links to missing files, by the paths by which the walk reached them.
    pub(crate) links: BTreeSet<PathBuf>,
}

impl FileTree {
    /// Paths of all files in the folders, sorted.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let paths =
            |folder: &FolderFiles| folder.names.iter().map(|n| folder.path.join(n)).collect();
        let mut files: Vec<PathBuf> = self.folders.iter().flat_map::<Vec<_>, _>(paths).collect();
        files.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
        files
    }
}

/// All files in and below `folder`; hidden ones are omitted. Linked folders are entered too, each real folder once.
/// They come after the folders that are not links, so that loops end and no link hides its target. A missing folder has
/// no files.
///
/// # Errors
/// [`CommandError::Machine`] if a folder cannot be read.
pub(crate) fn below(folder: &Path) -> Result<FileTree, CommandError> {
    walk(folder, &|_| true)
}

/// All files in and below `folder`, as [`below`] finds them. If `root` is given, links that lead outside of the folder
/// `root` are not followed.
///
/// # Errors
/// [`CommandError::Machine`] if a folder cannot be read, or `root` does not exist.
pub(crate) fn within(folder: &Path, root: Option<&Path>) -> Result<FileTree, CommandError> {
    let Some(root) = root else { return below(folder) };
    let root = fs::canonicalize(root).map_err(|error| CommandError::io("find", root, &error))?;
    let follows = |path: &Path| fs::canonicalize(path).is_ok_and(|real| real.starts_with(&root));
    walk(folder, &follows)
}

fn walk(folder: &Path, follows: &dyn Fn(&Path) -> bool) -> Result<FileTree, CommandError> {
    let mut found = FileTree::default();
    let mut seen = BTreeSet::new();
    let mut linked = vec![folder.to_owned()];
    while !linked.is_empty() {
        let mut folders = std::mem::take(&mut linked);
        folders.sort();
        folders.reverse();
        while let Some(folder) = folders.pop() {
            let mut entered = enter(&folder, follows, &mut seen)?;
            folders.append(&mut entered.folders);
            found.links.extend(entered.linked.iter().cloned());
            found.links.extend(entered.dangling);
            linked.append(&mut entered.linked);
            if !entered.names.is_empty() {
                found.folders.push(FolderFiles { path: folder, names: entered.names });
            }
        }
    }
    Ok(found)
}

#[derive(Default)]
struct FolderEntries {
    names: Vec<OsString>,
    folders: Vec<PathBuf>,
    /// Paths of the links to folders.
    linked: Vec<PathBuf>,
    /// Paths of the links to missing files.
    dangling: Vec<PathBuf>,
}

/// Entries of the folder at `folder`; hidden ones are omitted. Empty if the folder does not exist, or if its real path
/// is in `seen`; otherwise that path is added to `seen`. `follows` returns true for the path of a link whose target is
/// included.
fn enter(
    folder: &Path,
    follows: &dyn Fn(&Path) -> bool,
    seen: &mut BTreeSet<PathBuf>,
) -> Result<FolderEntries, CommandError> {
    let mut entered = FolderEntries::default();
    let fault = |error| CommandError::io("read", folder, &error);
    match fs::canonicalize(folder) {
        Ok(real) => {
            if !seen.insert(real) {
                return Ok(entered);
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(entered),
        Err(error) => return Err(fault(error)),
    }
    for entry in entries(folder).map_err(fault)? {
        let (entry, kind) = entry.map_err(fault)?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() {
            entered.folders.push(entry.path());
        } else if kind.is_symlink() {
            match fs::metadata(entry.path()) {
                Ok(_) if !follows(&entry.path()) => {}
                Ok(target) if target.is_dir() => entered.linked.push(entry.path()),
                Ok(target) if target.is_file() => entered.names.push(name),
                Ok(_) => {}
                Err(_) => entered.dangling.push(entry.path()),
            }
        } else if kind.is_file() {
            entered.names.push(name);
        }
    }
    Ok(entered)
}

/// Entries of the folder at `folder` with their types; none if the folder does not exist. Retries after a signal, and
/// skips entries that another process removed meanwhile.
pub(crate) fn entries(
    folder: &Path,
) -> io::Result<impl Iterator<Item = io::Result<(DirEntry, FileType)>>> {
    let opened = loop {
        match fs::read_dir(folder) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::NotFound => break None,
            opened => break Some(opened?),
        }
    };
    let with_type = |entry: io::Result<DirEntry>| {
        let typed = entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind)));
        match typed {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            typed => Some(typed),
        }
    };
    Ok(opened.into_iter().flatten().filter_map(with_type))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn link_loops_end_and_hidden_files_are_skipped() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        fs::create_dir_all(root.join("b/c")).expect("folders");
        fs::create_dir_all(root.join(".git")).expect("a folder");
        for file in ["b/x.kdl", "b/c/y.kdl", "a.kdl", ".git/z.kdl", ".hidden.kdl"] {
            fs::write(root.join(file), "").expect("a file");
        }
        symlink("..", root.join("b/up")).expect("a link");
        symlink("b", root.join("aa")).expect("a link");
        symlink("nowhere", root.join("gone")).expect("a link");
        let found = below(root).expect("files");
        assert_eq!(found.links, ["aa", "b/up", "gone"].map(|link| root.join(link)).into());
        let found = found.files();
        let names: Vec<_> = found.iter().map(|f| f.strip_prefix(root).expect("below")).collect();
        assert_eq!(names, ["a.kdl", "b/c/y.kdl", "b/x.kdl"].map(Path::new));
    }

    #[test]
    fn confined_walk_ignores_links_out_of_the_root() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("project");
        fs::create_dir_all(root.join("templates")).expect("folders");
        fs::create_dir_all(root.join("shared")).expect("folders");
        fs::write(root.join("shared/a.j2"), "").expect("a file");
        fs::write(folder.path().join("b.j2"), "").expect("a file");
        symlink("../../b.j2", root.join("templates/b.j2")).expect("a link");
        symlink("../..", root.join("templates/out")).expect("a link");
        symlink("../shared", root.join("templates/in")).expect("a link");
        let found = within(&root.join("templates"), Some(&root)).expect("files");
        assert_eq!(found.links, [root.join("templates/in")].into());
        assert_eq!(found.files(), [root.join("templates/in/a.j2")]);
    }

    #[test]
    fn missing_folder_has_no_files() {
        let found = below(Path::new("/nowhere/at/all")).expect("no fault");
        assert!(found.files().is_empty());
    }
}
