//! Sections of the C runtime that the functions of a unit need.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use super::casts;
use crate::passes::{Requirements, Routine, TransposeKind};

/// Section of the C runtime: a source, with the values of its parameters.
///
/// `Display` and `FromStr` have the form `transpose.inc; BYTES=4`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Section {
    pub(super) file: String,
    /// Pairs (name, value) of the parameters.
    pub(super) parameters: Vec<(String, String)>,
}

impl Section {
    /// Section of a source without parameters.
    fn plain(file: &str) -> Self {
        Self { file: file.to_owned(), parameters: Vec::new() }
    }

    /// Section of a source for elements of `bytes` bytes.
    fn sized(file: &str, bytes: u32) -> Self {
        Self::with(file, [("BYTES", bytes.to_string())])
    }

    /// Section of a source with parameters.
    pub(super) fn with<const N: usize>(file: &str, parameters: [(&str, String); N]) -> Self {
        let parameters = parameters.map(|(name, value)| (name.to_owned(), value));
        Self { file: file.to_owned(), parameters: parameters.into() }
    }

    /// Include guard, which sources that are compiled as one share: `LAYOUTC_RUNTIME_TRANSPOSE_4`. Its name has the
    /// values of the parameters that function names contain.
    pub(super) fn guard(&self) -> String {
        let stem = self.file.split('.').next().unwrap_or_default();
        let value = |name: &str| self.parameters.iter().find(|row| row.0 == name).map(|row| &row.1);
        let mut guard = format!("LAYOUTC_RUNTIME_{stem}");
        for value in
            ["CAST", "UNIT", "BYTES", "RANK", "TYPED", "STAGED"].into_iter().filter_map(value)
        {
            guard.push('_');
            guard.push_str(value);
        }
        guard.to_ascii_uppercase()
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        self.parameters.iter().try_for_each(|(name, value)| write!(f, "; {name}={value}"))
    }
}

impl FromStr for Section {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split("; ");
        let file = parts.next().unwrap_or_default().to_owned();
        let parameter = |part: &str| {
            let pair = part.split_once('=').ok_or_else(|| format!("`{part}` is no parameter"))?;
            Ok((pair.0.to_owned(), pair.1.to_owned()))
        };
        Ok(Self { file, parameters: parts.map(parameter).collect::<Result<_, String>>()? })
    }
}

/// Sections for functions with these requirements, each after the sections that it uses; `has_kernels` is true if one of
/// the functions computes elements. Empty if no function needs the runtime.
pub(super) fn of(needs: &Requirements, has_kernels: bool) -> Vec<Section> {
    let has = |routine| needs.routines.contains(&routine);
    let runs = has(Routine::CopyRuns);
    let transposes = transposes(needs);
    let any = |kind| transposes.values().any(|kinds: &BTreeSet<_>| kinds.contains(&kind));
    let (streaming, blocks) = (any(TransposeKind::Streaming), any(TransposeKind::Blocks));
    let interleaves = transposes.keys().any(|bytes| interleaves(*bytes));
    let casts = casts::sections(needs);
    let wanted = [
        ("vectors.h", runs || !transposes.is_empty() || !casts.is_empty()),
        ("alignment.h", runs || !transposes.is_empty() || has_kernels),
        ("dispatch.h", runs || !transposes.is_empty()),
        ("stream.h", runs || streaming || blocks),
        ("zero_runs.h", has(Routine::ZeroRuns)),
        ("copy_runs.h", runs),
        ("registers.h", !transposes.is_empty()),
        ("loads.h", interleaves || blocks),
        ("stream_buffer.h", interleaves || streaming),
        ("consecutive_blocks.h", blocks),
    ];
    let wanted = wanted.into_iter().filter(|row| row.1).map(|row| Section::plain(row.0));
    let sized = transposes.iter().flat_map(|(bytes, kinds)| sized(*bytes, kinds));
    let kernels = has_kernels.then(|| Section::plain("kernels.h"));
    wanted.chain(sized).chain(casts).chain(kernels).collect()
}

/// True if blocks of few rows or columns of elements of `bytes` bytes are interleaved: vectors hold several elements.
fn interleaves(bytes: u32) -> bool {
    bytes < 16
}

fn sized(bytes: u32, kinds: &BTreeSet<TransposeKind>) -> Vec<Section> {
    let single =
        kinds.contains(&TransposeKind::Cached) || kinds.contains(&TransposeKind::Streaming);
    let wanted = [
        ("lanes.inc", interleaves(bytes)),
        ("interleave.inc", interleaves(bytes)),
        ("tiles.inc", single),
        ("transpose.inc", single),
        ("transpose_stream.inc", kinds.contains(&TransposeKind::Streaming)),
        ("transpose_blocks.inc", kinds.contains(&TransposeKind::Blocks)),
    ];
    let wanted = wanted.into_iter().filter(|row| row.1);
    wanted.map(|row| Section::sized(row.0, bytes)).collect()
}

/// Kinds of transposes that are called, by element size in bytes.
fn transposes(needs: &Requirements) -> BTreeMap<u32, BTreeSet<TransposeKind>> {
    let mut all: BTreeMap<u32, BTreeSet<TransposeKind>> = BTreeMap::new();
    for routine in &needs.routines {
        let (bytes, kind) = match routine {
            Routine::Transpose(bytes, kind) => (*bytes, *kind),
            Routine::CastTranspose(cast, together) => {
                let [from, to] = [cast.from(), cast.to()].map(|dtype| dtype.element_bits() / 8);
                // A widening conversion transposes into a buffer in the L1 cache.
                let kind = if to > from { TransposeKind::Cached } else { TransposeKind::Streaming };
                (from.min(to).saturating_mul(*together), kind)
            }
            _ => continue,
        };
        all.entry(bytes).or_default().insert(kind);
    }
    all
}
