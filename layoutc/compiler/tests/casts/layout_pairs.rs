//! Pairs of layouts with casts between them, and the expected results of casts in process.

use layoutc_testing::Random;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use super::harness::Case;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::pack::{pack, unpack};

/// Layouts of `n 2; c 70; h 20; w 21`: equal, transposed, blocked, padded, tiled, with contiguous runs, and one that is
/// not a sum of digits.
pub(super) const LAYOUTS: [(&str, &str); 8] = [
    ("same", ""),
    ("nhwc", "layout { order n h w c }"),
    ("blocked", "layout tvm=\"NCHW16c\""),
    ("filled", "layout { split c by=8; order n c_outer h w c_inner; fill 1 }"),
    ("pitch", "layout { pad w multiple=32; fill 0 }"),
    ("tiled", "layout { tile 8 16 }"),
    ("together", "layout { split w by=4; order n w_outer h c w_inner }"),
    ("swizzled", "layout { map \"(n, c, h, w) -> (n, c, w ^ h % 4, h)\"; fill 0; padding allow }"),
];

/// Pairs of element types, those with vector code first.
const PAIRS: [(&str, &str, &str); 14] = [
    ("f32", "f16", "round"),
    ("f16", "f32", "round"),
    ("f32", "bf16", "saturate"),
    ("bf16", "f32", "round"),
    ("f32", "i8", "round"),
    ("i8", "f32", "round"),
    ("f32", "u8", "round"),
    ("u8", "f32", "round"),
    ("f64", "f32", "saturate"),
    ("f32", "f64", "round"),
    ("f16", "bf16", "round"),
    ("i32", "f32", "round"),
    ("f32", "i4", "round"),
    ("f32", "f8e4m3fn", "saturate"),
];

pub(super) fn layouts() -> String {
    let mut text = String::new();
    for (k, (from, to, mode)) in PAIRS.into_iter().enumerate() {
        // Pairs without vector code differ in the element only.
        let layouts = if k < 8 { &LAYOUTS[..] } else { &LAYOUTS[1..3] };
        for (name, layout) in layouts {
            writeln!(
            text,
            "tensor {name}_{from}_{to} dtype={to} pack-from={from} cast={mode} {{ shape {{ n 2; c 70; h 20; w 21 }}; {layout} }}"
        )
        .unwrap();
        }
    }
    text
}

/// Cases of pack and unpack of every tensor, with the results of the run in process.
pub(super) fn in_process(root: &Path, tensors: &[Tensor]) -> Vec<Case> {
    let mut cases = Vec::new();
    for (seed, tensor) in (1..).zip(tensors) {
        let name = &tensor.name;
        let symbols = BTreeMap::new();
        let (packs, unpacks) = (pack(tensor, &symbols).unwrap(), unpack(tensor, &symbols).unwrap());
        let mut random = Random::new(seed);
        let logical = random.bytes(packs.from_bytes);
        let (mut physical, mut back) = (vec![0xAA; packs.to_bytes], vec![0xAA; packs.from_bytes]);
        packs.run(&logical, &mut physical).unwrap();
        unpacks.run(&physical, &mut back).unwrap();
        let files = [("logical", &logical), ("physical", &physical), ("back", &back)];
        for (what, bytes) in files {
            std::fs::write(root.join(format!("{name}.{what}")), bytes).unwrap();
        }
        for (function, from, to, sizes) in [
            ("pack", "logical", "physical", [logical.len(), physical.len()]),
            ("unpack", "physical", "back", [physical.len(), back.len()]),
        ] {
            cases.push(Case {
                name: format!("{name}_{function}"),
                read: format!("{name}.{from}"),
                read_bytes: sizes[0],
                written: format!("{name}.{to}"),
                written_bytes: sizes[1],
            });
        }
    }
    cases
}
