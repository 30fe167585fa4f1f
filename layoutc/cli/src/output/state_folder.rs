//! The state folder: `.layoutc` beside a project's `layoutc.toml`, or in the folder that `--out` names.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, statat, unlinkat};

use crate::command_error::CommandError;
use crate::state::lock::{StateLock, lock};
use crate::state::{FOLDER, log, memo};

use super::output_dir::OutputDir;
use super::write::{TEMPORARY, sweep, sweep_beside};

/// Keeps version control out of the folder.
const IGNORE: (&str, &str) = (".gitignore", "*\n");

/// The folder in which builds into one output folder remember things.
#[derive(Debug)]
pub(crate) struct StateFolder {
    home: OutputDir,
    /// `None`: it is not there.
    dir: Option<OwnedFd>,
    /// Whether it is made where it is not there.
    is_wanted: bool,
}

impl StateFolder {
    /// The state folder in `base`. One that cannot be entered is none.
    pub(crate) fn find(base: &Path) -> Result<Self, CommandError> {
        let home = OutputDir::new(base, FOLDER);
        let dir = home.open("")?.ok().flatten();
        Ok(Self { home, dir, is_wanted: true })
    }

    /// None in `base`, also where there is one: nothing is remembered, and nothing locked.
    pub(crate) fn none(base: &Path) -> Self {
        Self { home: OutputDir::new(base, FOLDER), dir: None, is_wanted: false }
    }

    /// Its path.
    pub(crate) fn path(&self) -> PathBuf {
        self.home.path()
    }

    /// Its handle, if it is there.
    pub(crate) fn dir(&self) -> Option<&OwnedFd> {
        self.dir.as_ref()
    }

    /// Whether a build was killed while it wrote.
    pub(crate) fn is_littered(&self) -> bool {
        let stands = |dir| statat(dir, TEMPORARY, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        self.dir.as_ref().is_some_and(stands)
    }

    /// Makes it, locks it, and removes what a killed build left there. `wait` is told who holds the lock, and may
    /// refuse. Where there is to be none, or nothing may be written, nothing is locked.
    pub(crate) fn lock(
        &mut self,
        mut wait: impl FnMut(&str) -> Result<(), CommandError>,
    ) -> Result<StateLock, CommandError> {
        loop {
            let made = if self.is_wanted { self.home.make_if_allowed("")? } else { None };
            let Some(made) = made else {
                return Ok(StateLock::nothing());
            };
            self.ignore();
            // A `clean` that held the lock removes the folder with it: then it is made anew.
            if let Some(lock) = lock(&self.path(), &made, &mut wait)? {
                sweep(&made, &self.path());
                self.dir = Some(made);
                return Ok(lock);
            }
        }
    }

    /// Without it a commit may hold what it need not.
    fn ignore(&self) {
        let (name, text) = IGNORE;
        let file = self.path().join(name);
        if fs::symlink_metadata(&file).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            drop(fs::write(file, text));
        }
    }

    /// Removes all that layoutc put into it, and the folder if nothing else is in it.
    pub(crate) fn remove(&self, _lock: &StateLock) {
        let Some(dir) = &self.dir else { return };
        sweep(dir, &self.path());
        sweep_beside(&self.path());
        for name in log::FILES.iter().chain(&memo::FILES).chain(&["lock", "trace.json"]) {
            let _ = unlinkat(dir, *name, AtFlags::empty());
        }
        let folder = self.path();
        let is_bare = fs::read_dir(&folder)
            .is_ok_and(|mut entries| entries.all(|e| e.is_ok_and(|e| e.file_name() == IGNORE.0)));
        if is_bare {
            drop(fs::remove_file(folder.join(IGNORE.0)));
            drop(fs::remove_dir(folder));
        }
    }
}
