//! Fragments of NVIDIA's instructions, by the layouts of CuTe: (thread, value) to the column-major index in the tile.
//!
//! Source: CUTLASS, `cute/atom/mma_traits_sm80.hpp` and `mma_traits_sm90_gmma.hpp`. The tile of B is (n, k) there.

use super::{storage, tensor};

/// Modes of a layout, as pairs of extent and stride, the first the fastest.
type Modes = &'static [(i128, i128)];

/// Order of the axes of a tile.
#[derive(Clone, Copy, PartialEq)]
enum Tile {
    /// (m, k) or (m, n).
    AsHere,
    /// (n, k), for the rows k and the columns n of B.
    Swapped,
}

/// Transform, axis order of CuTe's tile, rows of CuTe's tile, thread modes, value modes.
type Row = (&'static str, Tile, i128, Modes, Modes);

const ACCUMULATOR: Modes = &[(2, 16), (2, 8)];

const LAYOUTS: &[Row] = &[
    ("mma_m16n8_c", Tile::AsHere, 16, &[(4, 32), (8, 1)], ACCUMULATOR),
    ("mma_m16n8k16_a", Tile::AsHere, 16, &[(4, 32), (8, 1)], &[(2, 16), (2, 8), (2, 128)]),
    ("mma_m16n8k16_b", Tile::Swapped, 8, &[(4, 16), (8, 1)], &[(2, 8), (2, 64)]),
    ("mma_m16n8k8_a", Tile::AsHere, 16, &[(4, 32), (8, 1)], ACCUMULATOR),
    ("mma_m16n8k8_b", Tile::Swapped, 8, &[(4, 16), (8, 1)], &[(2, 8)]),
    ("mma_m16n8k4_tf32_a", Tile::AsHere, 16, &[(4, 16), (8, 1)], &[(2, 8)]),
    ("mma_m16n8k4_tf32_b", Tile::Swapped, 8, &[(4, 8), (8, 1)], &[(1, 0)]),
    ("mma_m16n8k8_tf32_a", Tile::AsHere, 16, &[(4, 16), (8, 1)], &[(2, 8), (2, 64)]),
    ("mma_m16n8k8_tf32_b", Tile::Swapped, 8, &[(4, 8), (8, 1)], &[(2, 32)]),
    ("mma_m16n8k16_s8_a", Tile::AsHere, 16, &[(4, 64), (8, 1)], &[(4, 16), (2, 8)]),
    ("mma_m16n8k16_s8_b", Tile::Swapped, 8, &[(4, 32), (8, 1)], &[(4, 8)]),
    ("mma_m16n8k32_a", Tile::AsHere, 16, &[(4, 64), (8, 1)], &[(4, 16), (2, 8), (2, 256)]),
    ("mma_m16n8k32_b", Tile::Swapped, 8, &[(4, 32), (8, 1)], &[(4, 8), (2, 128)]),
    ("mma_m8n8k4_f64_a", Tile::AsHere, 8, &[(4, 8), (8, 1)], &[(1, 0)]),
    ("mma_m8n8k4_f64_b", Tile::Swapped, 8, &[(4, 8), (8, 1)], &[(1, 0)]),
    ("mma_m8n8k4_f64_c", Tile::AsHere, 8, &[(4, 16), (8, 1)], &[(2, 8)]),
    ("wgmma_m64_d", Tile::AsHere, 64, &[(4, 128), (8, 1), (4, 16)], &[(2, 64), (2, 8)]),
    (
        "wgmma_m64_d n=96",
        Tile::AsHere,
        64,
        &[(4, 128), (8, 1), (4, 16)],
        &[(2, 64), (2, 8), (12, 512)],
    ),
    (
        "wgmma_m64_d n=256",
        Tile::AsHere,
        64,
        &[(4, 128), (8, 1), (4, 16)],
        &[(2, 64), (2, 8), (32, 512)],
    ),
    ("wgmma_m64k8_a", Tile::AsHere, 64, &[(4, 64), (8, 1), (4, 16)], &[(2, 8), (2, 256)]),
    (
        "wgmma_m64k16_a",
        Tile::AsHere,
        64,
        &[(4, 128), (8, 1), (4, 16)],
        &[(2, 64), (2, 8), (2, 512)],
    ),
    (
        "wgmma_m64k32_a",
        Tile::AsHere,
        64,
        &[(4, 256), (8, 1), (4, 16)],
        &[(4, 64), (2, 8), (2, 1024)],
    ),
];

/// Value of a layout at an index.
fn value(modes: Modes, mut index: i128) -> i128 {
    let mut sum = 0;
    for (extent, stride) in modes {
        sum += index % extent * stride;
        index /= extent;
    }
    sum
}

fn size(modes: Modes) -> i128 {
    modes.iter().map(|(extent, _)| extent).product()
}

#[test]
fn fragments_match_the_layouts_of_cute() {
    for (layout, order, first, threads, values) in LAYOUTS {
        let second = size(threads) * size(values) / first;
        let (rows, columns) =
            if *order == Tile::AsHere { (*first, second) } else { (second, *first) };
        let t = tensor(&format!(
            "tensor t dtype=u8 {{ shape {{ r {rows}; c {columns} }}; layout {layout}; memory none }}"
        ));
        for (thread, element) in
            (0..size(threads)).flat_map(|t| (0..size(values)).map(move |v| (t, v)))
        {
            let index = value(threads, thread) + value(values, element);
            let (a, b) = (index % first, index / first);
            let logical = if *order == Tile::AsHere { [a, b] } else { [b, a] };
            assert_eq!(storage(&t, &logical), [0, 0, thread, element], "{layout}: {logical:?}");
        }
    }
}
