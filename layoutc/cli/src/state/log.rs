//! The log: facts in the order in which they were found, only ever added to.
//!
//! It ends where a record is not what was written; what comes after is dropped with the next addition. Each fact is
//! true or outdated on its own, so what is lost is found out again. A file that is not such a log is no log.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, statat, unlinkat};
use rustix::io::{Errno, retry_on_intr};

use crate::fault::Fault;

use super::fact::{Fact, Facts};
use super::record;
use super::stat::Stat;

/// The file's name.
const NAME: &str = "log";
/// Takes its place when it is written anew.
const NEW: &str = "log.new";
/// All files that this writes.
pub(crate) const FILES: [&str; 2] = [NAME, NEW];
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

/// Whether an addition is on the disk itself when it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// It is: what it says of outputs must not be forgotten, or a lost one would not be missed.
    Synced,
    /// It need not be: it only spares work.
    Hint,
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
            Err(error) => return Err(Fault::io("read", &log.folder.join(NAME), &error)),
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
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let mut file = match retry_on_intr(|| openat(dir, NAME, flags, Mode::empty())) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO | Errno::ACCESS | Errno::PERM) => {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Ok(None);
        }
        self.stat = Some(Stat::of(&metadata));
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
        file.read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Whether another build added to it since it was read.
    pub(crate) fn is_outdated(&self, dir: &OwnedFd) -> bool {
        let now = statat(dir, NAME, AtFlags::SYMLINK_NOFOLLOW).ok();
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
        done.map_err(|error| Fault::io("write", &self.folder.join(NAME), &error))?;
        self.stat = statat(dir, NAME, AtFlags::SYMLINK_NOFOLLOW).ok().as_ref().map(Stat::of_raw);
        Ok(())
    }

    fn append(&mut self, dir: &OwnedFd, facts: &[Fact], durability: Durability) -> io::Result<()> {
        let bytes = records(facts)?;
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(retry_on_intr(|| openat(dir, NAME, flags, Mode::empty()))?);
        if file.metadata()?.len() != self.good {
            file.set_len(self.good)?;
        }
        file.seek(SeekFrom::Start(self.good))?;
        let written = file.write_all(&bytes).and_then(|()| sync(&file, durability));
        match written {
            Ok(()) => self.good += bytes.len() as u64,
            // What was half written is not read either way.
            Err(_) => drop(file.set_len(self.good)),
        }
        written
    }

    /// Writes all that holds into a new file that takes the old one's place.
    fn replace(&mut self, dir: &OwnedFd, durability: Durability) -> io::Result<()> {
        let mut bytes = HEADER.to_vec();
        bytes.extend(records(&self.facts.all())?);
        let written = write_new(dir, NEW, &bytes, durability)
            .and_then(|()| Ok(retry_on_intr(|| renameat(dir, NEW, dir, NAME))?));
        match written {
            Ok(()) => self.good = bytes.len() as u64,
            Err(_) => {
                let _ = unlinkat(dir, NEW, AtFlags::empty());
            }
        }
        written
    }
}

fn records(facts: &[Fact]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for together in facts.chunks(TOGETHER) {
        record::push(&mut bytes, &postcard::to_allocvec(together).map_err(io::Error::other)?);
    }
    Ok(bytes)
}

/// Makes a file anew, in place of one that was left behind.
pub(super) fn write_new(
    dir: impl AsFd,
    name: &str,
    bytes: &[u8],
    durability: Durability,
) -> io::Result<()> {
    let flags =
        OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o666);
    let mut file = File::from(retry_on_intr(|| openat(dir.as_fd(), name, flags, mode))?);
    file.write_all(bytes)?;
    sync(&file, durability)
}

fn sync(file: &File, durability: Durability) -> io::Result<()> {
    match durability {
        Durability::Synced => file.sync_data(),
        Durability::Hint => Ok(()),
    }
}

/// Names this start of the machine; empty where the system does not say.
fn boot() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    boot.trim_end().to_owned()
}
