//! The log: facts in the order in which they were found, only ever added to.
//!
//! It ends where a record is not what was written; what comes after is dropped with the next addition. Each fact is
//! true or outdated on its own, so what is lost is found out again. A file that is not such a log is no log.

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

/// The file.
pub(crate) const FILES: FileNames = ["log", "log.new"];
/// The first line, with the version of [`BuildFact`]: it changes whenever that does.
const HEADER: &[u8] = b"layoutc log 5\n";
/// Facts in one record.
const TOGETHER: usize = 256;
/// Outdated facts that a log may hold beyond a quarter of the others.
const SPARE: usize = 1024;

/// Holds what logs read: their facts are not copied.
#[derive(Default)]
pub(crate) struct LogArena(FrozenVec<Vec<u8>>);

impl fmt::Debug for LogArena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

/// The facts on disk.
#[derive(Debug)]
pub(crate) struct BuildLog<'a> {
    store: &'a LogArena,
    /// The state folder, for messages.
    folder: PathBuf,
    /// What holds.
    pub(crate) facts: BuildFacts<'a>,
    /// How many facts were written to get there.
    written: usize,
    /// The bytes that hold good records; 0: the file is no log of ours.
    good: u64,
    /// The file as it was read.
    stat: Option<FileStat>,
}

impl<'a> BuildLog<'a> {
    /// Reads the log in the state folder, which is `dir` if it is there. One that is no log, or that others keep to
    /// themselves, is an empty one.
    ///
    /// # Errors
    /// The machine would not give it this time: what it knows must not be forgotten for that.
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
            good: 0,
            stat: None,
        };
        let bytes: &[u8] = match dir.map_or(Ok(None), |dir| log.read(dir)) {
            Ok(Some(bytes)) if bytes.starts_with(HEADER) => store.0.push_get(bytes),
            Ok(_) => return Ok(log),
            Err(error) => return Err(CommandError::io("read", &log.folder.join(FILES[0]), &error)),
        };
        log.facts = BuildFacts::with_room(bytes.len());
        log.good = log.learn(bytes, HEADER.len()) as u64;
        let boot = boot();
        if log.facts.boot != boot {
            // What the system had not yet written when it stopped may be lost, whatever the directory says.
            log.facts.forget_stats();
        }
        Ok(log)
    }

    /// Learns the facts in the records of `bytes` from `start` on; where the last good one ends.
    fn learn(&mut self, bytes: &'a [u8], start: usize) -> usize {
        let mut good = start;
        for span in record::spans(bytes, start) {
            let end = span.end;
            let facts: Option<Vec<BuildFact<'a>>> =
                record::payload(bytes, span).and_then(|payload| postcard::from_bytes(payload).ok());
            let Some(facts) = facts else { break };
            good = end;
            self.written += facts.len();
            facts.into_iter().for_each(|fact| self.facts.learn(fact));
        }
        good
    }

    fn read(&mut self, dir: &OwnedFd) -> io::Result<Option<Vec<u8>>> {
        let Some((bytes, metadata)) = file::read(dir, FILES)? else { return Ok(None) };
        self.stat = Some(FileStat::of(&metadata));
        Ok(Some(bytes))
    }

    /// Reads it again.
    pub(crate) fn reload(&mut self, dir: &OwnedFd) -> Result<(), CommandError> {
        *self = Self::load(&self.folder, Some(dir), self.store)?;
        Ok(())
    }

    /// Whether it is the log in this state folder.
    pub(crate) fn is_of(&self, folder: &Path) -> bool {
        self.folder == folder
    }

    /// Whether another build added to it since it was read.
    pub(crate) fn is_outdated(&self, dir: &OwnedFd) -> bool {
        let now = statat(dir, FILES[0], AtFlags::SYMLINK_NOFOLLOW).ok();
        now.as_ref().map(FileStat::of_raw) != self.stat
    }

    /// Adds facts. The lock must be held.
    ///
    /// # Errors
    /// The machine's; the log then holds what it held before.
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
        let done = if self.good == 0 || is_bloated {
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
        file::append(dir, FILES, self.good, bytes, durability)?;
        self.good += bytes.len() as u64;
        Ok(())
    }

    /// Writes all that holds anew.
    fn replace(&mut self, dir: &OwnedFd, durability: Durability) -> io::Result<()> {
        let mut bytes = HEADER.to_vec();
        let facts = self.facts.all();
        bytes.extend(records(&facts)?);
        self.written = facts.len();
        file::replace(dir, FILES, &bytes, durability)?;
        self.good = bytes.len() as u64;
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

/// Names this start of the machine; empty where the system does not say.
fn boot() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    boot.trim_end().to_owned()
}
