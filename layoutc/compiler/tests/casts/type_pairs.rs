//! Pairs of types with the expected casts of all bit patterns worth testing.

use std::fmt::Write;
use std::path::Path;

use super::harness::{Case, buffer};
use super::{MODES, cast};
use crate::cast_values::{Type, converted, types, worth_trying};
use layoutc_compiler::base::cast::CastMode;

/// Manifest with a tensor per pair of types, and the expected result of its pack by definition, or of unpack if the
/// logical type is packed, which only tensors may be. Its elements are the bit patterns worth testing.
pub(super) fn pairs(root: &Path, of: impl Fn(&Type, &Type) -> bool) -> (String, Vec<Case>) {
    let types = types();
    let (mut text, mut cases) = (String::new(), Vec::new());
    for from in &types {
        let values = worth_trying(from, &types);
        let read = format!("{}.in", from.name);
        let source = buffer(from.bits, values.iter().copied());
        std::fs::write(root.join(&read), &source).unwrap();
        for (to, (word, mode)) in types.iter().flat_map(|to| MODES.map(|mode| (to, mode))) {
            let shared = [from, to].map(|ty| ty.bits < 8);
            let wanted = cast(from, to, mode).is_some_and(|cast| cast.mode() == mode);
            if !wanted || shared == [true, true] || !of(from, to) {
                continue;
            }
            let name = format!("{}_{}_{word}", from.name, to.name);
            let (own, logical, function) =
                if shared[0] { (from, to, "unpack") } else { (to, from, "pack") };
            writeln!(
                text,
                "tensor {name} dtype={} pack-from={} cast={word} {{ shape {{ i {} }} }}",
                own.name,
                logical.name,
                values.len()
            )
            .unwrap();
            let saturates = mode == CastMode::Saturate;
            let out = values.iter().map(|bits| converted(from, to, saturates, *bits));
            let out = buffer(to.bits, out);
            let written = format!("{name}.out");
            std::fs::write(root.join(&written), &out).unwrap();
            cases.push(Case {
                name: format!("{name}_{function}"),
                read: read.clone(),
                read_bytes: source.len(),
                written,
                written_bytes: out.len(),
            });
        }
    }
    (text, cases)
}

/// True if neither type is similar to another one, or the other type of the pair is `f32`, `f64` or `i8`.
pub(super) fn is_representative(from: &Type, to: &Type) -> bool {
    let through = |ty: &Type| ["f32", "f64", "i8"].contains(&ty.name);
    (!is_alike(from) || through(to)) && (!is_alike(to) || through(from))
}

/// True for types similar to others, of which some runs test only some pairs.
pub(super) fn is_alike(ty: &Type) -> bool {
    ["i6", "i5", "i3", "u6", "u5", "u3", "f6e2m3fn", "f8e5m2fnuz"].contains(&ty.name)
}
