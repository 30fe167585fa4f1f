//! Files and temporary folders of tests.

use std::fs;
use std::path::{Path, PathBuf};

/// Text of the file at `path`. Panics if it cannot be read or is not UTF-8.
#[track_caller]
pub fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

/// Writes the bytes `content` to the file at `path`, and creates the folders that it is in. Panics on an error.
#[track_caller]
pub fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
    let path = path.as_ref();
    let folders = path.parent().map_or(Ok(()), fs::create_dir_all);
    folders
        .and_then(|()| fs::write(path, content))
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

/// Paths of all files in `folder` and its subfolders, sorted; empty if the folder does not exist. Each path begins with
/// `folder`.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder { &mut folders } else { &mut files }.push(entry.path());
        }
    }
    files.sort();
    files
}

/// Temporary folder of a test, removed on drop.
#[derive(Debug)]
pub struct TempFolder(tempfile::TempDir);

impl TempFolder {
    /// Temporary folder with the files `files`, each given as the pair of its path in the folder and its text.
    pub fn new(files: &[(&str, &str)]) -> Self {
        Self::with(tempfile::tempdir(), files)
    }

    /// Temporary folder with the files `files`, pairs of path and text, in memory (`/dev/shm`), where syncs cost
    /// nothing. On disk, as from [`TempFolder::new`], if the system has no `/dev/shm`.
    pub fn in_memory(files: &[(&str, &str)]) -> Self {
        let memory = Path::new("/dev/shm");
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Self::with(folder, files)
    }

    fn with(folder: std::io::Result<tempfile::TempDir>, files: &[(&str, &str)]) -> Self {
        let folder = Self(folder.unwrap());
        for (path, text) in files {
            folder.write(path, text);
        }
        folder
    }

    /// Absolute path of the file at `path`, relative to the temporary folder, or of the folder itself if `path` is
    /// empty.
    pub fn path(&self, path: &str) -> PathBuf {
        if path.is_empty() { self.0.path().to_owned() } else { self.0.path().join(path) }
    }

    /// Writes `content` to the file at `path`, relative to the temporary folder, and creates the folders that it is in.
    /// Panics on an error.
    #[track_caller]
    pub fn write(&self, path: &str, content: &(impl AsRef<[u8]> + ?Sized)) {
        write(self.path(path), content);
    }

    /// Text of the file at `path`, relative to the temporary folder; `None` if it is missing, unreadable or not UTF-8.
    pub fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    /// Bytes of the file at `path`, relative to the temporary folder. Panics if it cannot be read.
    #[track_caller]
    pub fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap_or_else(|error| panic!("cannot read {path}: {error}"))
    }

    /// Paths of all files in the subfolder `folder` and below, relative to the temporary folder, sorted. All files of
    /// the temporary folder if `folder` is empty; none if the subfolder does not exist.
    pub fn files(&self, folder: &str) -> Vec<String> {
        let relative =
            |path: &Path| path.strip_prefix(self.0.path()).unwrap().to_string_lossy().into_owned();
        files_below(&self.path(folder)).iter().map(|path| relative(path)).collect()
    }
}
