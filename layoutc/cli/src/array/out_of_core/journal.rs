//! Journal of a partial file: its provenance, and the number of chunks that are on disk.
//!
//! A provenance line, then lines `done N`. Each ends with a hash of itself and all lines before it; a torn or changed
//! line and everything after it are ignored.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

const MAGIC: &str = "layoutc-part-";
/// Version of the line format.
const VERSION: u32 = 1;
/// Hexadecimal digits of a hash.
const DIGITS: usize = 32;
/// Size limit; anything beyond is ignored.
const MOST_BYTES: u64 = 1 << 20;

/// Provenance of a partial file. No text contains a line break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Provenance {
    /// Hash of the input: path, size, times, header.
    pub(crate) input: String,
    /// Hash of the tensor, its layout and the format of the output.
    pub(crate) layout: String,
    /// Division of the tensor into chunks.
    pub(crate) cut: String,
    /// Device and inode of the partial file.
    pub(crate) part: String,
}

/// Content of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JournalState {
    /// Empty.
    Nothing,
    /// Does not begin as a journal.
    Foreign,
    /// Begins as a journal, but is invalid.
    Damaged,
    /// Provenance of the partial file, and the number of its chunks on disk.
    Part(Provenance, u64),
}

/// A journal open for appending.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    /// Hash of the last valid line.
    last: String,
}

impl Journal {
    /// Reads an open journal, and truncates it after its last valid line if it has a provenance.
    pub(crate) fn open(mut file: File) -> io::Result<(Self, JournalState)> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        (&file).take(MOST_BYTES).read_to_end(&mut bytes)?;
        let (found, last, valid_bytes) = read(&bytes);
        if let JournalState::Part(..) = found {
            file.set_len(valid_bytes)?;
        }
        file.seek(SeekFrom::Start(valid_bytes))?;
        Ok((Self { file, last }, found))
    }

    /// Empties the journal, also on disk.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.last.clear();
        self.file.sync_data()
    }

    /// Writes the provenance to an empty journal and syncs it.
    pub(crate) fn begin(&mut self, origin: &Provenance) -> io::Result<()> {
        self.add(&origin_line(origin))?;
        self.file.sync_data()
    }

    /// Records that the first `pieces` chunks are on disk. Not synced: losing the line only loses progress.
    pub(crate) fn done(&mut self, pieces: u64) -> io::Result<()> {
        self.add(&format!("done {pieces}"))
    }

    fn add(&mut self, text: &str) -> io::Result<()> {
        let hash = hash(&self.last, text);
        self.file.write_all(format!("{text} {hash}\n").as_bytes())?;
        self.last = hash;
        Ok(())
    }
}

fn origin_line(Provenance { input, layout, cut, part }: &Provenance) -> String {
    format!("{MAGIC}{VERSION} input {input} layout {layout} part {part} cut {cut}")
}

fn hash(before: &str, text: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before.as_bytes()).update(b"\n").update(text.as_bytes());
    hasher.finalize().to_hex().as_str().get(..DIGITS).unwrap_or_default().to_owned()
}

/// State, hash of the last valid line, and number of valid bytes.
fn read(bytes: &[u8]) -> (JournalState, String, u64) {
    let (mut last, mut valid_bytes) = (String::new(), 0_u64);
    let mut part: Option<(Provenance, u64)> = None;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some((text, own)) = whole(line) else { break };
        if hash(&last, text) != own {
            break;
        }
        part = match (part.take(), text.strip_prefix("done ").map(str::parse)) {
            (Some((origin, _)), Some(Ok(pieces))) => Some((origin, pieces)),
            (None, None) => match origin(text) {
                Some(origin) => Some((origin, 0)),
                None => break,
            },
            _ => return (JournalState::Damaged, String::new(), 0),
        };
        own.clone_into(&mut last);
        valid_bytes += line.len() as u64;
    }
    match part {
        Some((origin, pieces)) => (JournalState::Part(origin, pieces), last, valid_bytes),
        None if bytes.is_empty() => (JournalState::Nothing, last, 0),
        None if !bytes.starts_with(MAGIC.as_bytes()) && !MAGIC.as_bytes().starts_with(bytes) => {
            (JournalState::Foreign, last, 0)
        }
        None => (JournalState::Damaged, String::new(), 0),
    }
}

/// Text of a line and its hash.
fn whole(line: &[u8]) -> Option<(&str, &str)> {
    let line = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    line.rsplit_once(' ')
}

fn origin(text: &str) -> Option<Provenance> {
    let (version, rest) = text.strip_prefix(MAGIC)?.split_once(" input ")?;
    if version != VERSION.to_string() {
        return None;
    }
    let (input, rest) = rest.split_once(" layout ")?;
    let (layout, rest) = rest.split_once(" part ")?;
    let (part, cut) = rest.split_once(" cut ")?;
    let [input, layout, part, cut] = [input, layout, part, cut].map(str::to_owned);
    Some(Provenance { input, layout, cut, part })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Provenance {
        let [input, layout, part] = ["in", "la", "1:2"].map(str::to_owned);
        Provenance { input, layout, cut: "0x4 1x2".to_owned(), part }
    }

    fn written() -> Vec<u8> {
        let mut journal =
            Journal { file: tempfile::tempfile().expect("a file"), last: String::new() };
        journal.begin(&sample()).expect("it is written");
        for pieces in [3, 9, 12] {
            journal.done(pieces).expect("it is written");
        }
        let mut bytes = Vec::new();
        journal.file.seek(SeekFrom::Start(0)).expect("a file");
        journal.file.read_to_end(&mut bytes).expect("a file");
        bytes
    }

    /// True if a damaged journal may yield `found`: an earlier state, or nothing.
    fn is_possible(found: &JournalState) -> bool {
        match found {
            JournalState::Nothing | JournalState::Foreign | JournalState::Damaged => true,
            JournalState::Part(origin, done) => *origin == sample() && [0, 3, 9, 12].contains(done),
        }
    }

    #[test]
    fn what_is_written_is_read_and_goes_on() {
        let bytes = written();
        assert_eq!(read(&bytes).0, JournalState::Part(sample(), 12));
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&bytes[..bytes.len() - 5]).expect("it is written");
        let (mut journal, found) = Journal::open(file).expect("it is read");
        assert_eq!(found, JournalState::Part(sample(), 9));
        journal.done(11).expect("it is written");
        let (mut journal, found) = Journal::open(journal.file).expect("it is read");
        assert_eq!(found, JournalState::Part(sample(), 11));
        journal.clear().expect("it is written");
        assert_eq!(Journal::open(journal.file).expect("it is read").1, JournalState::Nothing);
    }

    #[test]
    fn a_truncated_journal_yields_an_earlier_state() {
        let bytes = written();
        for end in 0..bytes.len() {
            let (found, _, valid_bytes) = read(&bytes[..end]);
            assert!(is_possible(&found), "{end}: {found:?}");
            assert!(valid_bytes <= end as u64);
        }
    }

    #[test]
    fn a_journal_with_a_flipped_bit_yields_an_earlier_state() {
        let bytes = written();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1 << bit;
                let (found, ..) = read(&bytes);
                assert!(is_possible(&found), "{at} {bit}: {found:?}");
                assert_ne!(found, JournalState::Part(sample(), 12), "{at} {bit}");
            }
        }
    }
}
