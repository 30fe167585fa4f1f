//! Files that consist of records with lengths and checksums. Checksums reveal damage by a crash or a bad disk.
//!
//! A file begins with a line that names its kind and version. A record consists of the length of its payload
//! (4 bytes, little-endian), the first 8 bytes of the payload's hash, and the payload.

use std::ops::Range;

/// Number of bytes in a record before its payload.
const HEAD: usize = 12;
/// Maximum length of a payload in bytes.
const LONGEST: usize = 256 << 20;

/// Appends a record with the payload `payload` to `file`, the content of a file. Does nothing if the payload is longer
/// than [`LONGEST`].
pub(crate) fn push(file: &mut Vec<u8>, payload: &[u8]) {
    let Some(length) = u32::try_from(payload.len()).ok().filter(|_| payload.len() <= LONGEST)
    else {
        return;
    };
    file.extend(length.to_le_bytes());
    file.extend(checksum(payload));
    file.extend(payload);
}

/// Byte ranges of the payloads in `file`, the content of a file whose first record begins at byte `start`. Ends at the
/// first record that is not complete. Only lengths are read; [`payload`] verifies the checksum of each.
pub(crate) fn spans(file: &[u8], start: usize) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut at = start;
    while let Some(head) = file.get(at..at + HEAD) {
        let length = head.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let first = at + HEAD;
        let Some(end) = usize::try_from(length).ok().and_then(|length| first.checked_add(length))
        else {
            break;
        };
        if end > file.len() {
            break;
        }
        spans.push(first..end);
        at = end;
    }
    spans
}

/// Payload at `span`, one of the byte ranges of [`spans`] for `file`; `None` if its checksum differs.
pub(crate) fn payload(file: &[u8], span: Range<usize>) -> Option<&[u8]> {
    let sum = file.get(span.start.checked_sub(HEAD - 4)?..span.start)?;
    let payload = file.get(span)?;
    (sum == checksum(payload)).then_some(payload)
}

fn checksum(payload: &[u8]) -> [u8; 8] {
    let hash = blake3::hash(payload);
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(file: &[u8]) -> Vec<&[u8]> {
        spans(file, 2).into_iter().map_while(|span| payload(file, span)).collect()
    }

    #[test]
    fn truncation_or_bit_flip_keeps_only_preceding_records() {
        let mut file = b"h\n".to_vec();
        for record in [b"one".as_slice(), b"", b"three"] {
            push(&mut file, record);
        }
        assert_eq!(good(&file), [b"one".as_slice(), b"", b"three"]);
        let ends = [17, 29, 46];
        for cut in 2..file.len() {
            let whole = ends.iter().filter(|end| **end <= cut).count();
            assert_eq!(good(&file[..cut]).len(), whole, "cut at {cut}");
        }
        for bit in 16..file.len() * 8 {
            let mut flipped = file.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let whole = ends.iter().filter(|end| **end <= bit / 8).count();
            assert_eq!(good(&flipped), good(&file)[..whole], "bit {bit}");
        }
    }
}
