//! Append-only log of the facts that builds record.
//!
//! The first invalid record ends the log; the next append replaces that record and everything after it. Facts do not
//! depend on each other, so that those before the invalid record can still be used. A file without the header is not a
//! log.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use elsa::sync::FrozenVec;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, statat};

use crate::command_error::CommandError;

use super::fact::{BuildFact, BuildFacts};
use super::file::{self, Durability, FileNames};
use super::record;
use super::stat::FileStat;

pub(crate) const FILES: FileNames = ["log", "log.new"];
/// First line of a log, with the version of [`BuildFact`], which must change with that type.
const HEADER: &[u8] = b"layoutc log 6\n";
/// Maximum number of facts in one record; more facts are spread over several records.
const TOGETHER: usize = 256;
/// Number of outdated facts that the log may contain in addition to a quarter of its current facts. With more, the log
/// is rewritten with its current facts alone.
const SPARE: usize = 1024;

/// Arena for the bytes of logs, from which facts borrow.
#[derive(Default)]
pub(crate) struct LogArena(FrozenVec<Vec<u8>>);

impl fmt::Debug for LogArena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

/// Log of a state folder, with its current facts.
#[derive(Debug)]
pub(crate) struct BuildLog<'a> {
    store: &'a LogArena,
    /// Path of the state folder, for messages.
    folder: PathBuf,
    /// State that follows from the facts in the log.
    pub(crate) facts: BuildFacts<'a>,
    /// Number of facts in the file, including outdated ones.
    written: usize,
    /// Length in bytes of the valid part of the file, 0 if the file is not a log.
    valid_bytes: u64,
    /// Metadata of the file when it was last read or written, `None` if it does not exist.
    stat: Option<FileStat>,
}

impl<'a> BuildLog<'a> {
    /// Reads the log in the state folder with the path `folder` and the handle `dir`, `None` if the folder does not
    /// exist. A missing, invalid or inaccessible file is an empty log. `store` owns the bytes of the log.
    ///
    /// # Errors
    /// [`CommandError::Machine`] for other errors of the system, as an existing log must not be discarded because of
    /// them.
    pub(crate) fn load(
        folder: &Path,
        dir: Option<&OwnedFd>,
        store: &'a LogArena,
    ) -> Result<Self, CommandError> {
        let mut log = Self {
            store,
            folder: folder.to_owned(),
            facts: BuildFacts::default(),
            written: 0,
            valid_bytes: 0,
            stat: None,
        };
        let bytes: &[u8] = match dir.map_or(Ok(None), |dir| log.read(dir)) {
            Ok(Some(bytes)) if bytes.starts_with(HEADER) => store.0.push_get(bytes),
            Ok(_) => return Ok(log),
            Err(error) => return Err(CommandError::io("read", &log.folder.join(FILES[0]), &error)),
        };
        log.facts = BuildFacts::with_room(bytes.len());
        log.valid_bytes = log.learn(bytes, HEADER.len()) as u64;
        let boot = boot();
        if log.facts.boot != boot {
            // Data not yet on disk at an unclean restart may be lost, whatever the metadata says.
            log.facts.forget_stats();
        }
        Ok(log)
    }

    /// Updates the state by the facts in the records of `bytes`, from byte `start` to the first invalid record. Returns
    /// the byte offset of the end of the last valid record; `start` if there is none.
    fn learn(&mut self, bytes: &'a [u8], start: usize) -> usize {
        let mut valid_end = start;
        for span in record::spans(bytes, start) {
            let end = span.end;
            let facts: Option<Vec<BuildFact<'a>>> =
                record::payload(bytes, span).and_then(|payload| postcard::from_bytes(payload).ok());
            let Some(facts) = facts else { break };
            valid_end = end;
            self.written += facts.len();
            facts.into_iter().for_each(|fact| self.facts.learn(fact));
        }
        valid_end
    }

    fn read(&mut self, dir: &OwnedFd) -> io::Result<Option<Vec<u8>>> {
        let Some((bytes, metadata)) = file::read(dir, FILES)? else { return Ok(None) };
        self.stat = Some(FileStat::of(&metadata));
        Ok(Some(bytes))
    }

    /// Reads the log in the state folder `dir` again, as after a build of another process.
    ///
    /// # Errors
    /// The errors of [`Self::load`].
    pub(crate) fn reload(&mut self, dir: &OwnedFd) -> Result<(), CommandError> {
        *self = Self::load(&self.folder, Some(dir), self.store)?;
        Ok(())
    }

    /// True if this log belongs to the state folder at the path `folder`.
    pub(crate) fn is_of(&self, folder: &Path) -> bool {
        self.folder == folder
    }

    /// True if the file in the state folder `dir` changed since this log was last read or written, as by another build.
    pub(crate) fn is_outdated(&self, dir: &OwnedFd) -> bool {
        let now = statat(dir, FILES[0], AtFlags::SYMLINK_NOFOLLOW).ok();
        now.as_ref().map(FileStat::of_raw) != self.stat
    }

    /// Appends `facts` to the file in the state folder `dir` and to the state, and rewrites the file if too many of its
    /// facts are outdated. The lock of the state folder must be held.
    ///
    /// # Errors
    /// [`CommandError::Machine`] if a system call fails. The file then has its former valid content; the state in
    /// memory includes the facts.
    pub(crate) fn add(
        &mut self,
        dir: &OwnedFd,
        facts: Vec<BuildFact<'_>>,
        durability: Durability,
    ) -> Result<(), CommandError> {
        let boot = boot();
        let mut news = Vec::new();
        if self.facts.boot != boot {
            news.push(BuildFact::Boot(&boot));
        }
        news.extend(facts);
        let fault =
            |log: &Self, error| CommandError::io("write", &log.folder.join(FILES[0]), &error);
        let news = self.store.0.push_get(records(&news).map_err(|error| fault(self, error))?);
        self.learn(news, 0);
        let is_bloated = |live: usize| self.written > live + live / 4 + SPARE;
        let is_bloated = is_bloated(self.facts.len()) && is_bloated(self.facts.all().len());
        let done = if self.valid_bytes == 0 || is_bloated {
            self.replace(dir, durability)
        } else {
            self.append(dir, news, durability)
        };
        done.map_err(|error| fault(self, error))?;
        self.stat =
            statat(dir, FILES[0], AtFlags::SYMLINK_NOFOLLOW).ok().as_ref().map(FileStat::of_raw);
        Ok(())
    }

    fn append(&mut self, dir: &OwnedFd, bytes: &[u8], durability: Durability) -> io::Result<()> {
        file::append(dir, FILES, self.valid_bytes, bytes, durability)?;
        self.valid_bytes += bytes.len() as u64;
        Ok(())
    }

    /// Replaces the file in the state folder `dir` by one with the current facts alone.
    fn replace(&mut self, dir: &OwnedFd, durability: Durability) -> io::Result<()> {
        let mut bytes = HEADER.to_vec();
        let facts = self.facts.all();
        bytes.extend(records(&facts)?);
        self.written = facts.len();
        file::replace(dir, FILES, &bytes, durability)?;
        self.valid_bytes = bytes.len() as u64;
        Ok(())
    }
}

fn records(facts: &[BuildFact<'_>]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for together in facts.chunks(TOGETHER) {
        record::push(&mut bytes, &postcard::to_allocvec(together).map_err(io::Error::other)?);
    }
    Ok(bytes)
}

/// Boot id of the machine, empty if unknown.
fn boot() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    boot.trim_end().to_owned()
}
