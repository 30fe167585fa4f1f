//! Temporary folder of a test, and runs of the binary in it.

use std::ffi::OsString;
use std::ops::Deref;
use std::path::Path;
use std::process::Command;

use layoutc_testing::files::TempFolder;
use layoutc_testing::process::Finished;

pub(crate) use crate::manifests::{BLOCKED, BROKEN};

/// A temporary folder in which the binary runs.
pub(crate) struct Sandbox(TempFolder);

impl Deref for Sandbox {
    type Target = TempFolder;

    fn deref(&self) -> &TempFolder {
        &self.0
    }
}

impl Sandbox {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self(TempFolder::new(files))
    }

    pub(crate) fn run(&self, args: &[&str]) -> Finished {
        self.run_in(".", args, "")
    }

    pub(crate) fn run_in(&self, folder: &str, args: &[&str], input: &str) -> Finished {
        Finished::run(&mut self.command(folder, args), input)
    }

    /// Runs `pack` or `unpack` on a tensor of `a.kdl`.
    pub(crate) fn convert(&self, command: &str, tensor: &str, more: &[&str]) -> Finished {
        self.run(&[&[command, "a.kdl", tensor], more].concat())
    }

    pub(crate) fn command(&self, folder: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_layoutc"));
        command.current_dir(self.path(folder)).args(args).env_remove("NO_COLOR");
        command
    }
}

/// `PATH`, with layoutc in front.
pub(crate) fn path_with_layoutc() -> OsString {
    let binary = Path::new(env!("CARGO_BIN_EXE_layoutc")).parent().expect("a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(binary.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).expect("a path")
}
