//! The log: facts in the order in which they were found, only ever added to.
//!
//! It ends where a record is not what was written; what comes after is dropped with the next addition. Each fact is
//! true or outdated on its own, so what is lost is found out again. A file that is not such a log is no log.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, statat};

use crate::fault::Fault;

use super::fact::{Fact, Facts};
use super::file::{self, Durability, Names};
use super::record;
use super::stat::Stat;

/// The file.
pub(crate) const FILES: Names = ["log", "log.new"];
/// The first line, with the version of [`Fact`]: it changes whenever that does.
const HEADER: &[u8] = b"layoutc log 2\n";
/// Facts in one record.
const TOGETHER: usize = 64;
/// Outdated facts that a log may hold beyond as many as there are others.
const SPARE: usize = 4096;

/// The facts on disk.
#[derive(Debug)]
pub(crate) struct Log {
    /// The state folder, for messages.
    folder: PathBuf,
    /// What holds.
    pub(crate) facts: Facts,
    /// How many facts were written to get there.
    written: usize,
    /// The bytes that hold good records; 0: the file is no log of ours.
    good: u64,
    /// The file as it was read.
    stat: Option<Stat>,
}

impl Log {
    /// Reads the log in the state folder, which is `dir` if it is there. One that is no log, or that others keep to
    /// themselves, is an empty one.
    ///
    /// # Errors
    /// The machine would not give it this time: what it knows must not be forgotten for that.
    pub(crate) fn load(folder: &Path, dir: Option<&OwnedFd>) -> Result<Self, Fault> {
        let mut log = Self {
            folder: folder.to_owned(),
            facts: Facts::default(),
            written: 0,
            good: 0,
            stat: None,
        };
        let bytes = match dir.map_or(Ok(None), |dir| log.read(dir)) {
            Ok(Some(bytes)) if bytes.starts_with(HEADER) => bytes,
            Ok(_) => return Ok(log),
            Err(error) => return Err(Fault::io("read", &log.folder.join(FILES[0]), &error)),
        };
        let mut good = HEADER.len();
        let spans = record::spans(&bytes, good);
        let read = |span: &Range<usize>| -> Option<Vec<Fact>> {
            postcard::from_bytes(record::payload(&bytes, span.clone())?).ok()
        };
        let records: Vec<Option<Vec<Fact>>> = spans.par_iter().map(read).collect();
        for (span, facts) in spans.iter().zip(records) {
            let Some(facts) = facts else { break };
            good = span.end;
            log.written += facts.len();
            facts.into_iter().for_each(|fact| log.facts.learn(fact));
        }
        log.good = good as u64;
        let boot = boot();
        if log.facts.boot != boot {
            // What the system had not yet written when it stopped may be lost, whatever the directory says.
            let all = log.facts.inputs.values_mut().chain(log.facts.outputs.values_mut());
            all.for_each(|known| known.stat = None);
        }
        Ok(log)
    }

    fn read(&mut self, dir: &OwnedFd) -> io::Result<Option<Vec<u8>>> {
        let Some((bytes, metadata)) = file::read(dir, FILES)? else { return Ok(None) };
        self.stat = Some(Stat::of(&metadata));
        Ok(Some(bytes))
    }

    /// Whether another build added to it since it was read.
    pub(crate) fn is_outdated(&self, dir: &OwnedFd) -> bool {
        let now = statat(dir, FILES[0], AtFlags::SYMLINK_NOFOLLOW).ok();
        now.as_ref().map(Stat::of_raw) != self.stat
    }

    /// Adds facts. The lock must be held.
    ///
    /// # Errors
    /// The machine's; the log then holds what it held before.
    pub(crate) fn add(
        &mut self,
        dir: &OwnedFd,
        facts: Vec<Fact>,
        durability: Durability,
    ) -> Result<(), Fault> {
        let boot = boot();
        let mut news = Vec::new();
        if self.facts.boot != boot {
            news.push(Fact::Boot(boot));
        }
        news.extend(facts);
        news.iter().for_each(|fact| self.facts.learn(fact.clone()));
        let live = self.facts.len();
        let is_bloated = self.written + news.len() > live * 2 + SPARE;
        let done = if self.good == 0 || is_bloated {
            self.written = live;
            self.replace(dir, durability)
        } else {
            self.written += news.len();
            self.append(dir, &news, durability)
        };
        done.map_err(|error| Fault::io("write", &self.folder.join(FILES[0]), &error))?;
        self.stat =
            statat(dir, FILES[0], AtFlags::SYMLINK_NOFOLLOW).ok().as_ref().map(Stat::of_raw);
        Ok(())
    }

    fn append(&mut self, dir: &OwnedFd, facts: &[Fact], durability: Durability) -> io::Result<()> {
        let bytes = records(facts)?;
        file::append(dir, FILES, self.good, &bytes, durability)?;
        self.good += bytes.len() as u64;
        Ok(())
    }

    /// Writes all that holds anew.
    fn replace(&mut self, dir: &OwnedFd, durability: Durability) -> io::Result<()> {
        let mut bytes = HEADER.to_vec();
        bytes.extend(records(&self.facts.all())?);
        file::replace(dir, FILES, &bytes, durability)?;
        self.good = bytes.len() as u64;
        Ok(())
    }
}

fn records(facts: &[Fact]) -> io::Result<Vec<u8>> {
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
