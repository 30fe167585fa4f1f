//! State folder: `.layoutc` next to `layoutc.toml`, or in the folder of `--out`. It holds the build log, cached
//! results, the file that is locked, and temporary files.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, statat, unlinkat};

use crate::command_error::CommandError;
use crate::state::lock::{StateLock, lock};
use crate::state::{FOLDER, log, memo};

use super::output_dir::OutputDir;
use super::write::{TEMPORARY, sweep, sweep_targets_folder};

/// Name and text of the file that excludes the state folder from version control.
const IGNORE: (&str, &str) = (".gitignore", "*\n");

/// State folder of a project or of a folder given by `--out`.
#[derive(Debug)]
pub(crate) struct StateFolder {
    home: OutputDir,
    /// Handle of the folder, `None` if it does not exist.
    dir: Option<OwnedFd>,
    /// True if [`Self::lock`] may create the folder; false for a build that stores no state.
    is_wanted: bool,
}

impl StateFolder {
    /// State folder in the folder `base`. A state folder that must not be opened, such as a link out of `base`, counts
    /// as missing.
    ///
    /// # Errors
    /// [`CommandError::Machine`] if it cannot be opened.
    pub(crate) fn find(base: &Path) -> Result<Self, CommandError> {
        let home = OutputDir::new(base, FOLDER);
        let dir = home.open("")?.ok().flatten();
        Ok(Self { home, dir, is_wanted: true })
    }

    /// State folder that stays absent, for builds that store and lock nothing. `base` is the folder that would contain
    /// it.
    pub(crate) fn none(base: &Path) -> Self {
        Self { home: OutputDir::new(base, FOLDER), dir: None, is_wanted: false }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.home.path()
    }

    /// Handle of the folder, `None` if it does not exist.
    pub(crate) fn dir(&self) -> Option<&OwnedFd> {
        self.dir.as_ref()
    }

    /// True if the folder of temporary files exists, as after a build that was killed while it wrote.
    pub(crate) fn is_littered(&self) -> bool {
        let stands = |dir| statat(dir, TEMPORARY, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        self.dir.as_ref().is_some_and(stands)
    }

    /// Creates and locks the state folder, and removes temporary files of a killed build. If another build holds the
    /// lock, calls `wait` with a description of that build; then waits for the lock, unless `wait` returns an error.
    /// The returned lock is not held if this build stores no state, if the folder must not or cannot be created, or if
    /// the file system does not support locks.
    ///
    /// # Errors
    /// [`CommandError::Machine`] if a system call fails, and any error of `wait`.
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
            // A `clean` that held the lock removed the folder; create it again.
            if let Some(lock) = lock(&self.path(), &made, &mut wait)? {
                sweep(&made, &self.path());
                self.dir = Some(made);
                return Ok(lock);
            }
        }
    }

    /// Writes the file that excludes the state folder from version control, unless it exists. Ignores failures.
    fn ignore(&self) {
        let (name, text) = IGNORE;
        let file = self.path().join(name);
        if fs::symlink_metadata(&file).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            drop(fs::write(file, text));
        }
    }

    /// Removes the files of layoutc in the state folder, and the folder itself if nothing else is in it. The lock of
    /// the folder must be held. Failures are ignored.
    pub(crate) fn remove(&self, _lock: &StateLock) {
        let Some(dir) = &self.dir else { return };
        sweep(dir, &self.path());
        sweep_targets_folder(&self.path());
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
