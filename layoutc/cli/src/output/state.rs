//! The state folder of a project: `.layoutc` beside its `layoutc.toml`, and in that one for each other output folder.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, statat, unlinkat};

use crate::fault::Fault;
use crate::state::lock::{Lock, lock};
use crate::state::{FOLDER, log, memo};

use super::folder::Home;
use super::write::{TEMPORARY, sweep, sweep_beside};

/// Keeps version control out of the folder.
const IGNORE: (&str, &str) = (".gitignore", "*\n");

/// The folder in which builds into one output folder remember things.
#[derive(Debug)]
pub(crate) struct StateFolder {
    home: Home,
    /// `None`: it is not there.
    dir: Option<OwnedFd>,
}

impl StateFolder {
    /// The state folder of the project at `root`; `out` is an output folder that is not the project's own. One that
    /// cannot be entered is none.
    pub(crate) fn find(root: &Path, out: Option<&Path>) -> Result<Self, Fault> {
        let below = match out {
            None => FOLDER.to_owned(),
            Some(out) => {
                let hash = blake3::hash(out.as_os_str().as_encoded_bytes()).to_hex();
                format!("{FOLDER}/out-{}", &hash.as_str()[..16])
            }
        };
        let home = Home::new(root, &below);
        let dir = home.open("")?.ok().flatten();
        Ok(Self { home, dir })
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

    /// Makes it, locks it, and removes what a killed build left there. `wait` is told who holds the lock, and may refuse. Where nothing
    /// may be written there is none, and nothing is locked.
    pub(crate) fn lock(
        &mut self,
        wait: impl FnMut(&str) -> Result<(), Fault>,
    ) -> Result<Lock, Fault> {
        let Some(made) = self.home.make_if_allowed("")? else {
            return Ok(Lock::nothing());
        };
        self.ignore();
        let lock = lock(&self.path(), &made, wait)?;
        sweep(&made, &self.path());
        self.dir = Some(made);
        Ok(lock)
    }

    /// Without it a commit may hold what it need not.
    fn ignore(&self) {
        let (name, text) = IGNORE;
        let folder = self.path();
        let top = folder.ancestors().find(|folder| folder.ends_with(FOLDER));
        let file = top.unwrap_or(&folder).join(name);
        if fs::symlink_metadata(&file).is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            drop(fs::write(file, text));
        }
    }

    /// Removes all that layoutc put into it, and the folder if nothing else is in it.
    pub(crate) fn remove(&self, _lock: &Lock) {
        let Some(dir) = &self.dir else { return };
        sweep(dir, &self.path());
        sweep_beside(&self.path());
        for name in log::FILES.iter().chain(&memo::FILES).chain(&["lock", "timings.html"]) {
            let _ = unlinkat(dir, *name, AtFlags::empty());
        }
        let folder = self.path();
        for folder in folder.ancestors() {
            let is_bare = fs::read_dir(folder).is_ok_and(|mut entries| {
                entries.all(|e| e.is_ok_and(|e| e.file_name() == IGNORE.0))
            });
            if !is_bare {
                break;
            }
            drop(fs::remove_file(folder.join(IGNORE.0)));
            if fs::remove_dir(folder).is_err() || folder.ends_with(FOLDER) {
                break;
            }
        }
    }
}
