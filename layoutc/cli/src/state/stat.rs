//! Metadata of files by which a change of the content is detected without reading the file.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat as Raw;
use serde::{Deserialize, Serialize};

/// Metadata that identifies a version of a file: the size in bytes, the times of the last modification and of the last
/// status change in nanoseconds since 1970, and the inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StatBytes", into = "StatBytes")]
pub(crate) struct FileStat {
    bytes: u64,
    modified: i64,
    changed: i64,
    inode: u64,
}

/// The four fields of [`FileStat`] in order, each as 8 bytes, little-endian.
#[derive(Serialize, Deserialize)]
struct StatBytes(#[serde(with = "serde_bytes")] [u8; 32]);

impl From<FileStat> for StatBytes {
    fn from(FileStat { bytes, modified, changed, inode }: FileStat) -> Self {
        let mut packed = [0; 32];
        let numbers = [
            bytes.to_le_bytes(),
            modified.to_le_bytes(),
            changed.to_le_bytes(),
            inode.to_le_bytes(),
        ];
        for (place, number) in packed.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number);
        }
        Self(packed)
    }
}

impl From<StatBytes> for FileStat {
    fn from(StatBytes(packed): StatBytes) -> Self {
        let number = |nth: usize| packed.as_chunks().0.get(nth).copied().unwrap_or_default();
        Self {
            bytes: u64::from_le_bytes(number(0)),
            modified: i64::from_le_bytes(number(1)),
            changed: i64::from_le_bytes(number(2)),
            inode: u64::from_le_bytes(number(3)),
        }
    }
}

/// Maximum granularity of the clock of a file system, in nanoseconds. [`FileStat::if_settled`] trusts metadata only if
/// its latest time is more than this before the time given to it.
const TICK: i64 = 30_000_000;
/// Maximum granularity, in nanoseconds, of the clock of a file system that stores only whole seconds: 1 s, plus a
/// margin of 1 s. It replaces [`TICK`] if the later of the modification time and the status change time is a whole
/// second.
const SECONDS: i64 = 2_000_000_000;

impl FileStat {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.size(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    /// Metadata of a file from `raw`, the result of the system call `stat`.
    #[expect(clippy::useless_conversion, reason = "the types differ between systems")]
    pub(crate) fn of_raw(raw: &Raw) -> Self {
        let nanos = |nanos| i64::try_from(nanos).unwrap_or(0);
        Self {
            bytes: u64::try_from(raw.st_size).unwrap_or(0),
            modified: nanoseconds(raw.st_mtime.into(), nanos(raw.st_mtime_nsec)),
            changed: nanoseconds(raw.st_ctime.into(), nanos(raw.st_ctime_nsec)),
            inode: raw.st_ino.into(),
        }
    }

    /// The metadata itself, or `None` if it might not show a change of the file after `now`, a time before it was
    /// taken. The clock of a file system has a granularity: a file that changed just before `now` can change again with
    /// equal times.
    pub(crate) fn if_settled(self, now: Timestamp) -> Option<Self> {
        let latest = self.modified.max(self.changed);
        let tick = if latest % 1_000_000_000 == 0 { SECONDS } else { TICK };
        (latest.saturating_add(tick) < now.0).then_some(self)
    }
}

/// Time of the system's clock in nanoseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timestamp(i64);

impl Timestamp {
    pub(crate) fn take() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
    }
}

fn nanoseconds(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_of_a_recently_changed_file_is_not_trusted() {
        let at = |nanos| FileStat { bytes: 1, modified: nanos, changed: nanos, inode: 1 };
        let now = Timestamp(10_000_000_001);
        assert_eq!(at(9_999_999_999).if_settled(now), None);
        assert_eq!(at(9_900_000_001).if_settled(now), Some(at(9_900_000_001)));
        // The clock of this file system counts seconds.
        assert_eq!(at(9_000_000_000).if_settled(now), None);
        assert_eq!(at(7_000_000_000).if_settled(now), Some(at(7_000_000_000)));
        // A time in the future never settles.
        assert_eq!(at(99_000_000_001).if_settled(now), None);
    }
}
