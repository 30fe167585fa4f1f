//! Temporary folder of a test, and runs of the binary in it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

pub(crate) use crate::ran::{BLOCKED, BROKEN, Ran, ran};

pub(crate) struct World(tempfile::TempDir);

impl World {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let world = Self(tempfile::tempdir().expect("a folder"));
        for (path, text) in files {
            world.write(path, text);
        }
        world
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        self.write_bytes(path, text.as_bytes());
    }

    pub(crate) fn write_bytes(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, bytes).expect("a file");
    }

    pub(crate) fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    /// All files below a folder, sorted.
    pub(crate) fn files(&self, folder: &str) -> Vec<String> {
        let mut files = Vec::new();
        let mut folders = vec![self.path(folder)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if entry.file_type().expect("a type").is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.0.path()).expect("below");
                    files.push(name.to_string_lossy().into_owned());
                }
            }
        }
        files.sort();
        files
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_in(".", args, "")
    }

    pub(crate) fn run_in(&self, folder: &str, args: &[&str], input: &str) -> Ran {
        ran(&mut self.command(folder, args), input)
    }

    pub(crate) fn command(&self, folder: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_layoutc"));
        command.current_dir(self.path(folder)).args(args).env_remove("NO_COLOR");
        command
    }
}
