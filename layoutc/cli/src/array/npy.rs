//! The .npy format of `NumPy`: the header of versions 1.0 to 3.0 read, that of 1.0 written.
//!
//! Source: `NumPy`'s `numpy.lib.format`: `\x93NUMPY`, two bytes of version, the length of the header (two bytes in version
//! 1, else four), the header as a literal of Python, the elements.

use std::fmt;

use thiserror::Error;

/// How every .npy file begins.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The most axes of an array.
const AXES: usize = 64;

/// Why a file is no array.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum NpyError {
    /// It begins otherwise.
    #[error("it does not begin as one")]
    Magic,
    /// A version that nobody has written yet.
    #[error("it is of version {0}.{1}, and 1.0 to 3.0 are known")]
    Version(u8, u8),
    /// It ends inside the header.
    #[error("it ends inside its header")]
    Short,
    /// The header is not what the format says.
    #[error("its header has no `{0}` that can be read")]
    Header(&'static str),
}

/// What the elements are, as `NumPy` writes it: `<f4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Descr {
    /// Whether the most significant byte comes first.
    pub(crate) is_big: bool,
    /// `f`, `i`, `u`, `b`, `c`, `V`; others are never wanted.
    pub(crate) kind: char,
    /// Bytes of an element.
    pub(crate) bytes: usize,
    /// As it stands in the file.
    pub(crate) text: String,
}

impl fmt::Display for Descr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What the header of an array says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Npy {
    /// What the elements are.
    pub(crate) descr: Descr,
    /// Whether the first axis is the fastest.
    pub(crate) is_fortran: bool,
    /// The extents, outermost first.
    pub(crate) shape: Vec<u64>,
    /// Where the elements begin in the file, in bytes.
    pub(crate) start: usize,
}

/// Reads the header of an array from the beginning of a file, or from all of it.
pub(crate) fn read(file: &[u8]) -> Result<Npy, NpyError> {
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
    let descr = after(&header, "descr").and_then(text).ok_or(NpyError::Header("descr"))?;
    let is_fortran = match after(&header, "fortran_order") {
        Some(rest) if rest.starts_with("True") => true,
        Some(rest) if rest.starts_with("False") => false,
        _ => return Err(NpyError::Header("fortran_order")),
    };
    let shape = after(&header, "shape").and_then(tuple).ok_or(NpyError::Header("shape"))?;
    Ok(Npy { descr, is_fortran, shape, start })
}

/// What stands behind a key and its colon.
fn after<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let behind = |quote: char| {
        let (_, rest) = header.split_once(&format!("{quote}{key}{quote}"))?;
        Some(rest.trim_start().strip_prefix(':')?.trim_start())
    };
    behind('\'').or_else(|| behind('"'))
}

/// The string that `rest` begins with; a list of fields, as structures have it, is a kind of its own.
fn text(rest: &str) -> Option<Descr> {
    let quote = rest.chars().next()?;
    if quote == '[' {
        let fields = rest.split_once(']')?.0;
        return Some(Descr { is_big: false, kind: '[', bytes: 0, text: format!("{fields}]") });
    }
    let inside = rest.strip_prefix(['\'', '"'])?.split_once(quote)?.0;
    let order = inside.chars().next()?;
    let word = inside.strip_prefix(['<', '>', '|', '=']).unwrap_or(inside);
    let mut letters = word.chars();
    let kind = letters.next()?;
    let bytes = letters.as_str().parse().unwrap_or(0);
    Some(Descr { is_big: order == '>', kind, bytes, text: inside.to_owned() })
}

/// `(3, 4)`, `(3,)`, `()`; old files have `3L`.
fn tuple(rest: &str) -> Option<Vec<u64>> {
    let inside = rest.strip_prefix('(')?.split_once(')')?.0;
    let words: Vec<&str> = inside.split(',').map(str::trim).collect();
    let words = words.strip_suffix(&[""]).unwrap_or(&words);
    if words.len() > AXES {
        return None;
    }
    words.iter().map(|word| word.strip_suffix('L').unwrap_or(word).parse().ok()).collect()
}

/// What stands before the elements, in C order; they begin at a multiple of 64 bytes.
pub(crate) fn header(descr: &str, shape: &[u64]) -> Vec<u8> {
    let mut tuple: Vec<String> = shape.iter().map(u64::to_string).collect();
    if let [only] = tuple.as_mut_slice() {
        only.push(',');
    }
    let shape = tuple.join(", ");
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
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
    fn what_is_written_is_read() {
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
    fn what_is_no_array_says_why() {
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
}
