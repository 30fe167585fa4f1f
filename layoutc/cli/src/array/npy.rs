//! The .npy format: reads the header of versions 1.0 to 3.0, writes 1.0.
//!
//! Source: `numpy.lib.format`. A file consists of `\x93NUMPY`, the version in two bytes, the length of the
//! header in bytes (in two bytes in version 1, else in four), the header as a Python literal, and the
//! elements.

use std::fmt;

use thiserror::Error;

use super::record;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Maximum number of axes of an array, beyond which a shape is invalid.
const AXES: usize = 64;

/// Reason why the header of a .npy file is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum NpyError {
    #[error("wrong magic bytes")]
    Magic,
    #[error("unsupported version {0}.{1}, expected 1.0 to 3.0")]
    Version(u8, u8),
    #[error("truncated header")]
    Short,
    /// Key that is missing or has an invalid value.
    #[error("missing or invalid `{0}` in the header")]
    Header(&'static str),
    /// Key that occurs twice. It is an error because readers disagree on which of the two values they take.
    #[error("duplicate key `{0}` in the header")]
    Twice(&'static str),
    #[error("unknown key `{0}` in the header, expected `descr`, `fortran_order` and `shape`")]
    Unknown(String),
    /// Text that is not a Python dictionary, or text after the dictionary.
    #[error("the header is not a Python dictionary, or text follows it")]
    Dictionary,
}

/// Element type as a type string of `NumPy` declares it, such as `<f4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NpyDescr {
    /// True if the elements are big-endian, by a `>` at the start of the type string.
    pub(crate) is_big: bool,
    /// `NumPy` kind letter of the elements: `f`, `i`, `u`, `b`, `c`, `V`, or `[` for a structured type. `is_compatible`
    /// rejects any other letter.
    pub(crate) kind: char,
    /// Bytes per element, 0 if the type string contains no valid size.
    pub(crate) bytes: usize,
    /// Text of the element type in the header, such as `<f4` or a list of fields.
    pub(crate) text: String,
}

impl fmt::Display for NpyDescr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Parsed header of a .npy file: the type, order and shape of the array, and the position of its elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NpyHeader {
    pub(crate) descr: NpyDescr,
    /// True if the elements are in Fortran order, where the first axis is the fastest.
    pub(crate) is_fortran: bool,
    /// Extents of the axes in elements, in the order of the header's `shape`.
    pub(crate) shape: Vec<u64>,
    /// Byte offset of the first element in the file.
    pub(crate) start: usize,
}

/// Number of bytes that [`header_length`] needs.
pub(crate) const PREFIX: u64 = 12;

/// Number of bytes in front of the elements of a .npy file, by its first [`PREFIX`] bytes; 0 if they are not those of a
/// .npy file.
pub(crate) fn header_length(prefix: &[u8]) -> u64 {
    match prefix.strip_prefix(MAGIC) {
        Some([1, 0, a, b, ..]) => 10 + u64::from(u16::from_le_bytes([*a, *b])),
        Some([2 | 3, 0, a, b, c, d, ..]) => 12 + u64::from(u32::from_le_bytes([*a, *b, *c, *d])),
        _ => 0,
    }
}

/// Parses the header from the first bytes of a .npy file.
pub(crate) fn read(file: &[u8]) -> Result<NpyHeader, NpyError> {
    let rest = file.strip_prefix(MAGIC).ok_or(NpyError::Magic)?;
    let ([major, minor], rest) = rest.split_first_chunk::<2>().ok_or(NpyError::Short)?;
    let (length, rest) = match (major, minor) {
        (1, 0) => {
            let (length, rest) = rest.split_first_chunk::<2>().ok_or(NpyError::Short)?;
            (u32::from(u16::from_le_bytes(*length)), rest)
        }
        (2 | 3, 0) => {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or(NpyError::Short)?;
            (u32::from_le_bytes(*length), rest)
        }
        _ => return Err(NpyError::Version(*major, *minor)),
    };
    let length = usize::try_from(length).map_err(|_| NpyError::Short)?;
    let (header, elements) = rest.split_at_checked(length).ok_or(NpyError::Short)?;
    let start = file.len() - elements.len();
    let header = String::from_utf8_lossy(header);
    let [descr, fortran, shape] = entries(&header)?;
    let descr = descr.and_then(text).ok_or(NpyError::Header("descr"))?;
    let is_fortran = match fortran {
        Some("True") => true,
        Some("False") => false,
        Some(_) | None => return Err(NpyError::Header("fortran_order")),
    };
    let shape = shape.and_then(tuple).ok_or(NpyError::Header("shape"))?;
    Ok(NpyHeader { descr, is_fortran, shape, start })
}

/// Keys of a header, in the order of the values of [`entries`].
const KEYS: [&str; 3] = ["descr", "fortran_order", "shape"];

/// Unparsed values of a header, in the order of [`KEYS`]; `None` for a missing key.
fn entries(header: &str) -> Result<[Option<&str>; 3], NpyError> {
    let mut values = [None; 3];
    let mut rest = header.trim_start().strip_prefix('{').ok_or(NpyError::Dictionary)?.trim_start();
    while !rest.starts_with('}') {
        let (key, behind) = string(rest).ok_or(NpyError::Dictionary)?;
        let behind = behind.trim_start().strip_prefix(':').ok_or(NpyError::Dictionary)?;
        let (value, behind) = value(behind.trim_start()).ok_or(NpyError::Dictionary)?;
        let Some((name, own)) = KEYS.iter().zip(&mut values).find(|(name, _)| **name == key) else {
            return Err(NpyError::Unknown(key.escape_debug().to_string()));
        };
        if own.replace(value).is_some() {
            return Err(NpyError::Twice(name));
        }
        let behind = behind.trim_start();
        rest = match behind.strip_prefix(',') {
            Some(behind) => behind.trim_start(),
            None if behind.starts_with('}') => behind,
            None => return Err(NpyError::Dictionary),
        };
    }
    let behind = rest.strip_prefix('}').unwrap_or_default();
    if behind.trim().is_empty() { Ok(values) } else { Err(NpyError::Dictionary) }
}

/// Pair `(contents, rest)` of the quoted string at the start of `rest`: its contents, and the text after the closing
/// quote. `None` if there is no such string. Escapes are not decoded, because no key or type contains one.
pub(super) fn string(rest: &str) -> Option<(&str, &str)> {
    let quote = rest.chars().next().filter(|c| ['\'', '"'].contains(c))?;
    rest.get(1..)?.split_once(quote)
}

/// Pair `(value, rest)`: the Python value at the start of `rest`, and the text after it, which starts with a comma or
/// with the closing brace of the dictionary. `None` if neither follows, or if a quote or bracket has no partner.
fn value(rest: &str) -> Option<(&str, &str)> {
    let (mut at, mut open) = (0, 0_usize);
    while let Some(c) = rest.get(at..)?.chars().next() {
        match c {
            '\'' | '"' => {
                let (_, behind) = string(rest.get(at..)?)?;
                at = rest.len() - behind.len();
                continue;
            }
            ',' | '}' if open == 0 => return Some((rest.get(..at)?.trim_end(), rest.get(at..)?)),
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.checked_sub(1)?,
            _ => {}
        }
        at += c.len_utf8();
    }
    None
}

/// Parses a value of `descr`. It is a quoted type string such as `'<f4'`, or the list of fields of a structured type,
/// which gets the kind `[`. `None` for any other text.
pub(super) fn text(rest: &str) -> Option<NpyDescr> {
    let quote = rest.chars().next()?;
    if quote == '[' {
        let bytes = record::bytes(rest).unwrap_or(0);
        return Some(NpyDescr { is_big: false, kind: '[', bytes, text: rest.to_owned() });
    }
    let (inside, behind) = string(rest)?;
    if !behind.is_empty() {
        return None;
    }
    let order = inside.chars().next()?;
    let word = inside.strip_prefix(['<', '>', '|', '=']).unwrap_or(inside);
    let mut letters = word.chars();
    let kind = letters.next()?;
    let bytes = letters.as_str().parse().unwrap_or(0);
    Some(NpyDescr { is_big: order == '>', kind, bytes, text: inside.to_owned() })
}

/// Parses the extents in a Python tuple such as `(3, 4)`, `(3,)` or `()`. An extent may have the suffix `L`, as in old
/// files. `None` for other text or more than 64 extents.
pub(super) fn tuple(rest: &str) -> Option<Vec<u64>> {
    let inside = rest.strip_prefix('(')?.strip_suffix(')')?;
    let words: Vec<&str> = inside.split(',').map(str::trim).collect();
    let words = words.strip_suffix(&[""]).unwrap_or(&words);
    if words.len() > AXES {
        return None;
    }
    words.iter().map(|word| word.strip_suffix('L').unwrap_or(word).parse().ok()).collect()
}

/// Header of a .npy file of version 1.0 in C order, from the magic bytes on. `descr` is the type string of the
/// elements, or the list of the fields of records. The header is padded so that the elements start at a multiple of 64
/// bytes.
pub(crate) fn header(descr: &str, shape: &[u64]) -> Vec<u8> {
    let mut tuple: Vec<String> = shape.iter().map(u64::to_string).collect();
    if let [only] = tuple.as_mut_slice() {
        only.push(',');
    }
    let shape = tuple.join(", ");
    // A list of fields is written without quotes.
    let quote = if descr.starts_with('[') { "" } else { "'" };
    let mut text =
        format!("{{'descr': {quote}{descr}{quote}, 'fortran_order': False, 'shape': ({shape}), }}");
    let before = MAGIC.len() + 4;
    let end = (before + text.len() + 1).next_multiple_of(64);
    text.extend(std::iter::repeat_n(' ', end - before - text.len() - 1));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    // At most 64 axes of 20 digits each.
    bytes.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_headers_parse_back() {
        for shape in [&[][..], &[7], &[2, 3, 0]] {
            let file = header("<f4", shape);
            assert_eq!(file.len() % 64, 0);
            let npy = read(&file).expect("an array");
            assert_eq!((npy.shape.as_slice(), npy.is_fortran), (shape, false));
            assert_eq!(npy.start, file.len());
            assert_eq!((npy.descr.kind, npy.descr.bytes), ('f', 4));
        }
    }

    #[test]
    fn invalid_npy_files_report_the_reason() {
        let file = header("<f4", &[2]);
        for end in 0..file.len() {
            let wanted = if end < MAGIC.len() { NpyError::Magic } else { NpyError::Short };
            assert_eq!(read(&file[..end]), Err(wanted));
        }
        assert_eq!(read(b"\x93NUMPY\x04\x00"), Err(NpyError::Version(4, 0)));
        let with = |header: &[u8]| [b"\x93NUMPY\x02\x00", &[64, 0, 0, 0][..], header].concat();
        let padded = |text: &str| with(format!("{text:64}").as_bytes());
        assert_eq!(read(&padded("{'descr': 7}")), Err(NpyError::Header("descr")));
        let file = padded("{'descr': '>i2', 'fortran_order': True, 'shape': (2L,)}");
        let npy = read(&file).expect("an array");
        assert_eq!((npy.descr.is_big, npy.is_fortran, npy.shape), (true, true, vec![2]));
        let file = padded("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}");
        assert_eq!(read(&file), Err(NpyError::Header("shape")));
    }

    /// Parses a file that consists of a version 2.0 header with the text `text`.
    fn headed(text: &str) -> Result<NpyHeader, NpyError> {
        let length = u32::try_from(text.len()).expect("short").to_le_bytes();
        read(&[b"\x93NUMPY\x02\x00", &length[..], text.as_bytes()].concat())
    }

    #[test]
    fn npy_header_has_exactly_three_keys() {
        let entries = ["'descr': '<f4'", "'fortran_order': False", "'shape': (6, 4, )"];
        let whole = |entries: &[&str], end: &str| format!("{{{}{end}", entries.join(", "));
        // Every order, with and without a comma at the end, quotes of both kinds.
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let entries = order.map(|k| entries[k]);
            for end in ["}", ", }", " , } \n", "}   "] {
                let text = whole(&entries, end);
                for text in [text.replace('\'', "\""), text] {
                    assert_eq!(headed(&text).map(|npy| npy.shape), Ok(vec![6, 4]), "{text}");
                }
            }
            for (k, key) in KEYS.iter().enumerate() {
                let twice = [
                    entries.as_slice(),
                    &[["'descr': '<f8'", "'fortran_order': True", "'shape': ()"][k]],
                ]
                .concat();
                assert_eq!(headed(&whole(&twice, "}")), Err(NpyError::Twice(key)));
                let without = entries.into_iter().filter(|entry| !entry.contains(key));
                let without: Vec<&str> = without.collect();
                assert_eq!(headed(&whole(&without, "}")), Err(NpyError::Header(key)));
            }
            let more = [entries.as_slice(), &["'x': 1"]].concat();
            assert_eq!(headed(&whole(&more, "}")), Err(NpyError::Unknown("x".to_owned())));
            for end in ["", "}x", "} {}", "}\n1", "}}", "]"] {
                assert_eq!(headed(&whole(&entries, end)), Err(NpyError::Dictionary), "{end}");
            }
        }
        for (text, fault) in [
            ("{'descr': '<f4' '<f8', 'fortran_order': False, 'shape': (6,)}", "descr"),
            ("{'descr': '<f4', 'fortran_order': Falsey, 'shape': (6,)}", "fortran_order"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (6,)(7,)}", "shape"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': 6}", "shape"),
        ] {
            assert_eq!(headed(text), Err(NpyError::Header(fault)), "{text}");
        }
        let fields = "{'descr': [('a, }', '<f4'), ('b', '<i2', (3,))], 'fortran_order': False, 'shape': (2,)}";
        assert_eq!(headed(fields).map(|npy| npy.descr.kind), Ok('['));
    }
}
