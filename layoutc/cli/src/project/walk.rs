//! The files below a folder, in one order on every machine.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, ReadDir};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::fault::Fault;

/// A folder with files in it.
#[derive(Debug)]
pub(crate) struct Folder {
    /// The folder.
    pub(crate) path: PathBuf,
    /// The names of its files.
    pub(crate) names: Vec<OsString>,
}

/// What was found below a folder.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    /// The folders with files in them.
    pub(crate) folders: Vec<Folder>,
    /// The folders that were entered by a link, as they were reached.
    pub(crate) links: Vec<PathBuf>,
}

impl Walk {
    /// The files by their paths, in order.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let paths = |folder: &Folder| folder.names.iter().map(|n| folder.path.join(n)).collect();
        let mut files: Vec<PathBuf> = self.folders.iter().flat_map::<Vec<_>, _>(paths).collect();
        files.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
        files
    }
}

/// All files at and below `folder`. Hidden names are left out; linked folders are entered, each real folder once, real
/// ones first, so that a loop of links ends and no link hides what it points to. A folder that is not there has no
/// files.
pub(crate) fn below(folder: &Path) -> Result<Walk, Fault> {
    walk(folder, &|_| true)
}

/// The same without what links lead to outside `root`.
pub(crate) fn within(folder: &Path, root: &Path) -> Result<Walk, Fault> {
    let root = fs::canonicalize(root).map_err(|error| Fault::io("find", root, &error))?;
    let follows = |path: &Path| fs::canonicalize(path).is_ok_and(|real| real.starts_with(&root));
    walk(folder, &follows)
}

fn walk(folder: &Path, follows: &dyn Fn(&Path) -> bool) -> Result<Walk, Fault> {
    let mut found = Walk::default();
    let mut seen = BTreeSet::new();
    let mut links = vec![folder.to_owned()];
    while !links.is_empty() {
        let mut folders = std::mem::take(&mut links);
        folders.sort();
        folders.reverse();
        while let Some(folder) = folders.pop() {
            let names = enter(&folder, follows, &mut seen, &mut folders, &mut links)?;
            if !names.is_empty() {
                found.folders.push(Folder { path: folder, names });
            }
        }
        found.links.extend_from_slice(&links);
    }
    Ok(found)
}

/// The names of the files in a folder; the folders in it, and what is linked, are added to the others.
fn enter(
    folder: &Path,
    follows: &dyn Fn(&Path) -> bool,
    seen: &mut BTreeSet<PathBuf>,
    folders: &mut Vec<PathBuf>,
    links: &mut Vec<PathBuf>,
) -> Result<Vec<OsString>, Fault> {
    let mut names = Vec::new();
    let fault = |error| Fault::io("read", folder, &error);
    match fs::canonicalize(folder) {
        Ok(real) => {
            if !seen.insert(real) {
                return Ok(names);
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(names),
        Err(error) => return Err(fault(error)),
    }
    for entry in entries(folder).map_err(fault)? {
        let entry = entry.map_err(fault)?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let kind = entry.file_type().map_err(fault)?;
        if kind.is_dir() {
            folders.push(entry.path());
        } else if kind.is_symlink() && follows(&entry.path()) {
            // A dangling link is no file and no folder.
            match fs::metadata(entry.path()) {
                Ok(target) if target.is_dir() => links.push(entry.path()),
                Ok(target) if target.is_file() => names.push(name),
                Ok(_) | Err(_) => {}
            }
        } else if kind.is_file() {
            names.push(name);
        }
    }
    Ok(names)
}

/// What is in a folder, also where a signal comes while it is opened.
pub(crate) fn entries(folder: &Path) -> io::Result<ReadDir> {
    loop {
        match fs::read_dir(folder) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            opened => return opened,
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_that_loop_end_and_hidden_names_are_left_out() {
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
        let found = below(root).expect("files").files();
        let names: Vec<_> = found.iter().map(|f| f.strip_prefix(root).expect("below")).collect();
        assert_eq!(names, ["a.kdl", "b/c/y.kdl", "b/x.kdl"].map(Path::new));
    }

    #[test]
    fn links_out_of_the_root_are_not_followed_where_they_must_not_be() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("project");
        fs::create_dir_all(root.join("templates")).expect("folders");
        fs::create_dir_all(root.join("shared")).expect("folders");
        fs::write(root.join("shared/a.j2"), "").expect("a file");
        fs::write(folder.path().join("b.j2"), "").expect("a file");
        symlink("../../b.j2", root.join("templates/b.j2")).expect("a link");
        symlink("../..", root.join("templates/out")).expect("a link");
        symlink("../shared", root.join("templates/in")).expect("a link");
        let found = within(&root.join("templates"), &root).expect("files");
        assert_eq!(found.links, [root.join("templates/in")]);
        assert_eq!(found.files(), [root.join("templates/in/a.j2")]);
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_files() {
        let found = below(Path::new("/nowhere/at/all")).expect("no fault");
        assert!(found.files().is_empty());
    }
}
