//! Cache on disk of expensive results of the compiler, by a hash of everything that they depend on.
//!
//! The file is read on first use, and the checksum of a result is verified when the result is requested. The
//! file belongs to one binary of layoutc, and another binary starts a new file.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use indexmap::IndexMap;
use layoutc_compiler::env::{CacheKey, ResultCache};
use rustc_hash::FxBuildHasher;
use rustix::fd::OwnedFd;

use super::fact::ContentHash;
use super::file::{self, Durability, FileNames};
use super::record;

pub(crate) const FILES: FileNames = ["memo", "memo.new"];
/// First line of the file, after which the hash of the layoutc binary follows.
const HEADER: &[u8] = b"layoutc memo 1\n";
/// Byte offset of the first record in the file.
const START: usize = HEADER.len() + 32;
/// Number of bytes that the file may have in addition to twice the size of the results that may still be used. A larger
/// file is rewritten without the unused results.
const GROWTH: u64 = 8 << 20;

/// Cache of compiler results on disk, for the builds with one state folder.
#[derive(Debug)]
pub(crate) struct DiskMemo {
    dir: Option<OwnedFd>,
    tool: ContentHash,
    old: OnceLock<MemoFile>,
    new: Mutex<BTreeMap<CacheKey, Vec<u8>>>,
}

/// Content of the cache file when it was read.
#[derive(Debug, Default)]
struct MemoFile {
    bytes: Vec<u8>,
    /// Byte range in the file of the payload of each record, by the cache key with which the payload begins.
    spans: IndexMap<CacheKey, Range<usize>, FxBuildHasher>,
}

impl DiskMemo {
    /// Cache for the layoutc binary with the hash `tool`, stored in the state folder `dir`. Without a folder, results
    /// are cached only in memory.
    pub(crate) fn new(dir: Option<OwnedFd>, tool: ContentHash) -> Self {
        Self { dir, tool, old: OnceLock::new(), new: Mutex::default() }
    }

    fn old(&self) -> &MemoFile {
        self.old.get_or_init(|| {
            let read = self.dir.as_ref().and_then(|dir| file::read(dir, FILES).ok().flatten());
            let bytes = read.map(|(bytes, _)| bytes).unwrap_or_default();
            let is_ours =
                bytes.strip_prefix(HEADER).is_some_and(|rest| rest.starts_with(&self.tool.0));
            if !is_ours {
                return MemoFile::default();
            }
            let spans = record::spans(&bytes, START).into_iter().filter_map(|span| {
                let key = bytes.get(span.clone())?.first_chunk()?;
                Some((CacheKey(*key), span))
            });
            MemoFile { spans: spans.collect(), bytes }
        })
    }

    /// Appends the results that were stored since the last call to the file in the state folder `dir`. The lock of the
    /// state folder must be held. `live` returns the keys of the results that may be used again. If the file is much
    /// larger than these results ([`GROWTH`]), all other old results are dropped.
    ///
    /// # Errors
    /// An error of the system in writing the file. Results that were not stored are then computed again by a later
    /// build.
    pub(crate) fn flush(
        &self,
        dir: &OwnedFd,
        live: &dyn Fn() -> BTreeSet<CacheKey>,
    ) -> io::Result<()> {
        let new = std::mem::take(&mut *self.new.lock().unwrap_or_else(PoisonError::into_inner));
        if new.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        for (key, value) in &new {
            record::push(&mut bytes, &[key.0.as_slice(), value].concat());
        }
        let old = self.old();
        if old.bytes.is_empty() {
            return self.replace(dir, &bytes, &BTreeSet::new());
        }
        let size = old.bytes.len() as u64;
        if size > GROWTH {
            let live = live();
            let live_spans = old.spans.iter().filter(|(key, _)| live.contains(key));
            let live_bytes: u64 = live_spans.map(|(_, span)| span.len() as u64).sum();
            if size > live_bytes * 2 + GROWTH {
                return self.replace(dir, &bytes, &live);
            }
        }
        let valid_bytes = old.spans.values().map(|span| span.end).max().unwrap_or(START) as u64;
        file::append(dir, FILES, valid_bytes, &bytes, Durability::Hint)
    }

    /// Replaces the file in the state folder `dir` by one with the old results of the keys `live`, followed by the
    /// records `new`.
    fn replace(&self, dir: &OwnedFd, new: &[u8], live: &BTreeSet<CacheKey>) -> io::Result<()> {
        let mut bytes = [HEADER, &self.tool.0].concat();
        let old = self.old();
        for span in old.spans.iter().filter(|(key, _)| live.contains(key)).map(|(_, span)| span) {
            if let Some(payload) = record::payload(&old.bytes, span.clone()) {
                record::push(&mut bytes, payload);
            }
        }
        bytes.extend(new);
        file::replace(dir, FILES, &bytes, Durability::Hint)
    }
}

impl ResultCache for DiskMemo {
    fn recall(&self, key: &CacheKey) -> Option<Vec<u8>> {
        let new = self.new.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = new.get(key) {
            return Some(value.clone());
        }
        drop(new);
        let old = self.old();
        let payload = record::payload(&old.bytes, old.spans.get(key)?.clone())?;
        payload.get(key.0.len()..).map(<[u8]>::to_vec)
    }

    fn store(&self, key: &CacheKey, value: Vec<u8>) {
        self.new.lock().unwrap_or_else(PoisonError::into_inner).insert(*key, value);
    }
}
