//! What is told of a part of a file: what it comes from, and how many of its pieces are on the disk.
//!
//! A line for what it is, then lines `done N`. Each ends with a hash of itself and of all before it: what was torn or
//! changed counts for nothing, nor does anything behind it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// How every journal begins.
const MAGIC: &str = "layoutc-part-";
/// What its lines are.
const VERSION: u32 = 1;
/// Hexadecimal digits of a hash.
const DIGITS: usize = 32;
/// A journal is not longer; what is behind that counts for nothing.
const MOST_BYTES: u64 = 1 << 20;

/// What a part of a file is of. None of the texts has a line break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Provenance {
    /// A hash of the input: where it is, how long it is, when it changed, its header.
    pub(crate) input: String,
    /// A hash of the tensor, its layout and how the output is written.
    pub(crate) layout: String,
    /// How the tensor is cut into pieces.
    pub(crate) cut: String,
    /// The part itself: its device and inode.
    pub(crate) part: String,
}

/// What a journal says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JournalState {
    /// Nothing was written yet.
    Nothing,
    /// What begins as no journal does.
    Foreign,
    /// A journal, but not as it was written.
    Damaged,
    /// What the part is of, and how many of its pieces are on the disk.
    Part(Provenance, u64),
}

/// A journal that is written.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    /// The hash of the last good line.
    last: String,
}

impl Journal {
    /// Reads what stands in an open file; where it tells of a part, what is written goes behind its last good line.
    pub(crate) fn open(mut file: File) -> io::Result<(Self, JournalState)> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        (&file).take(MOST_BYTES).read_to_end(&mut bytes)?;
        let (found, last, good) = read(&bytes);
        if let JournalState::Part(..) = found {
            file.set_len(good)?;
        }
        file.seek(SeekFrom::Start(good))?;
        Ok((Self { file, last }, found))
    }

    /// Forgets everything, on the disk too.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.last.clear();
        self.file.sync_data()
    }

    /// Says in an empty journal what the part is of.
    pub(crate) fn begin(&mut self, origin: &Provenance) -> io::Result<()> {
        self.add(&origin_line(origin))?;
        self.file.sync_data()
    }

    /// Says that the first `pieces` pieces are on the disk. The line itself may be lost: less is done then.
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

/// What bytes say, the hash of the last good line, and how many bytes are good.
fn read(bytes: &[u8]) -> (JournalState, String, u64) {
    let (mut last, mut good) = (String::new(), 0_u64);
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
        good += line.len() as u64;
    }
    match part {
        Some((origin, pieces)) => (JournalState::Part(origin, pieces), last, good),
        None if bytes.is_empty() => (JournalState::Nothing, last, 0),
        None if !bytes.starts_with(MAGIC.as_bytes()) && !MAGIC.as_bytes().starts_with(bytes) => {
            (JournalState::Foreign, last, 0)
        }
        None => (JournalState::Damaged, String::new(), 0),
    }
}

/// The text of a line and its hash.
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

    /// What a journal may say that was damaged: what it said once, or nothing.
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
    fn a_journal_cut_at_any_byte_says_less_and_nothing_else() {
        let bytes = written();
        for end in 0..bytes.len() {
            let (found, _, good) = read(&bytes[..end]);
            assert!(is_possible(&found), "{end}: {found:?}");
            assert!(good <= end as u64);
        }
    }

    #[test]
    fn a_journal_with_any_bit_turned_says_less_and_nothing_else() {
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
