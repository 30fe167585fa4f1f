//! Sections of the C runtime that convert the elements of runs and of transposed blocks.

use std::collections::{BTreeMap, BTreeSet};

use super::sections::Section;
use crate::base::cast::{Cast, CastMode};
use crate::base::dtype::Dtype;
use crate::emit::{dialect, element};
use crate::passes::{Requirements, Routine};

/// Primitives of one conversion.
#[derive(Default)]
struct Primitives {
    runs: bool,
    /// Numbers of adjacent elements that are transposed as a unit.
    units: BTreeSet<u32>,
}

/// Sections for the conversions of runs and blocks, sorted by the name of the conversion.
pub(super) fn sections(needs: &Requirements) -> Vec<Section> {
    let mut all: BTreeMap<String, (Cast, Primitives)> = BTreeMap::new();
    for routine in &needs.routines {
        let (Routine::CastRuns(cast) | Routine::CastTranspose(cast, _)) = routine else { continue };
        let (_, primitives) =
            all.entry(cast.name()).or_insert_with(|| (*cast, Primitives::default()));
        match routine {
            Routine::CastTranspose(_, together) => {
                primitives.units.insert(*together);
            }
            _ => primitives.runs = true,
        }
    }
    all.values().flat_map(|(cast, primitives)| of(*cast, primitives)).collect()
}

fn of(cast: Cast, primitives: &Primitives) -> Vec<Section> {
    let vectors = vectors(cast);
    let [from, to] = [cast.from(), cast.to()];
    let bytes = |dtype: Dtype| dtype.element_bits() / 8;
    let ty = |dtype: Dtype| element::type_name(&dialect::C, &dtype.to_string(), true);
    let types = || [("CAST", cast.name()), ("FROM", ty(from)), ("TO", ty(to))];
    let widths = || [("FROM_BYTES", bytes(from).to_string()), ("TO_BYTES", bytes(to).to_string())];
    let mut sections: Vec<Section> = vectors.iter().map(|(section, _)| section.clone()).collect();
    let [name, from_type, to_type] = types();
    let width = vectors.map_or(0, |(_, bytes)| bytes).to_string();
    sections
        .push(Section::with("cast_run.inc", [name, from_type, to_type, ("VECTOR_BYTES", width)]));
    if primitives.runs {
        let ([name, from_type, to_type], [from_bytes, to_bytes]) = (types(), widths());
        let parameters = [name, from_type, to_type, from_bytes, to_bytes];
        sections.push(Section::with("cast_runs.inc", parameters));
    }
    for unit in &primitives.units {
        let ([name, from_type, to_type], [from_bytes, to_bytes]) = (types(), widths());
        let unit_bytes = bytes(from).min(bytes(to)).saturating_mul(*unit);
        let own = [("UNIT", unit.to_string()), ("BYTES", unit_bytes.to_string())];
        let [unit, unit_bytes] = own;
        let parameters = [name, from_type, to_type, from_bytes, to_bytes, unit, unit_bytes];
        sections.push(Section::with("cast_transpose.inc", parameters));
    }
    sections
}

/// Section with the conversion by vectors, and the bytes of its longest vectors; `None` if the compiler vectorizes the
/// conversion of elements.
fn vectors(cast: Cast) -> Option<(Section, u32)> {
    let flag = |is_set: bool| u8::from(is_set).to_string();
    let saturates = || ("SATURATES", flag(cast.mode() == CastMode::Saturate));
    let name = ("CAST", cast.name());
    let [from, to] = [cast.from(), cast.to()].map(|dtype| dtype.to_string());
    Some(match (from.as_str(), to.as_str()) {
        ("f32", "f16") => (Section::with("cast_f32_to_f16.inc", [name, saturates()]), 64),
        ("f32", "bf16") => (Section::with("cast_f32_to_bf16.inc", [name, saturates()]), 64),
        ("f16", "f32") => (Section::with("cast_f16_to_f32.inc", [name]), 64),
        ("bf16", "f32") => (Section::with("cast_bf16_to_f32.inc", [name]), 64),
        ("f32", "i8" | "u8") => {
            (Section::with("cast_f32_to_byte.inc", [name, ("SIGNED", flag(to == "i8"))]), 32)
        }
        ("i8" | "u8", "f32") => {
            (Section::with("cast_byte_to_f32.inc", [name, ("SIGNED", flag(from == "i8"))]), 64)
        }
        _ => return None,
    })
}

/// True for a section that the source of a unit defines even if it shares the other ones: it calls the conversion of an
/// element, which the header of the unit defines.
pub(super) fn is_of_unit(section: &Section) -> bool {
    ["cast_run.inc", "cast_runs.inc", "cast_transpose.inc"].contains(&section.file.as_str())
}
