//! Fragments of NVIDIA's instructions, by the formulas of the PTX ISA.
//!
//! Source: PTX ISA, Matrix Fragments for mma, ldmatrix, and Register Fragments of `wgmma.mma_async`: `group` is
//! `%laneid >> 2`, `within` is `%laneid % 4`.

use super::{Fragment, check_fragments, check_valid, tensor};

fn group(lane: i128) -> i128 {
    lane >> 2
}

fn within(lane: i128) -> i128 {
    lane % 4
}

/// Row and column of d of `wgmma`: each warp of the four has 16 rows, which are those of an accumulator of `mma`.
fn wgmma(warp_fragment: super::Formula, thread: i128, i: i128) -> (i128, i128) {
    let (row, column) = warp_fragment(thread % 32, i);
    (thread / 32 * 16 + row, column)
}

/// c of `mma.m16n8k*`.
fn c(lane: i128, i: i128) -> (i128, i128) {
    let row = if i < 2 { group(lane) } else { group(lane) + 8 };
    (row, within(lane) * 2 + (i & 1))
}

/// a of `mma.m16n8k16`, 16 bits.
fn a16(lane: i128, i: i128) -> (i128, i128) {
    let is_upper = (0..2).contains(&i) || (4..6).contains(&i);
    let row = if is_upper { group(lane) } else { group(lane) + 8 };
    (row, within(lane) * 2 + (i & 1) + if i < 4 { 0 } else { 8 })
}

/// b of `mma.m16n8k16`, 16 bits.
fn b16(lane: i128, i: i128) -> (i128, i128) {
    (within(lane) * 2 + (i & 1) + if i < 2 { 0 } else { 8 }, group(lane))
}

/// a of `mma.m16n8k8`, tf32.
fn a_tf32(lane: i128, i: i128) -> (i128, i128) {
    let row = if i == 0 || i == 2 { group(lane) } else { group(lane) + 8 };
    (row, within(lane) + if i < 2 { 0 } else { 4 })
}

/// a of `mma.m16n8k32`, 8 bits.
fn a8(lane: i128, i: i128) -> (i128, i128) {
    let is_upper = (0..4).contains(&i) || (8..12).contains(&i);
    let row = if is_upper { group(lane) } else { group(lane) + 8 };
    (row, within(lane) * 4 + (i & 3) + if i < 8 { 0 } else { 16 })
}

/// a of `mma.m16n8k64`, 4 bits.
fn a4(lane: i128, i: i128) -> (i128, i128) {
    let is_upper = (0..8).contains(&i) || (16..24).contains(&i);
    let row = if is_upper { group(lane) } else { group(lane) + 8 };
    (row, within(lane) * 8 + (i & 7) + if i < 16 { 0 } else { 32 })
}

const fn fragment(
    layout: &'static str,
    tile: (i128, i128),
    elements: i128,
    formula: super::Formula,
) -> Fragment {
    Fragment { layout, tile, threads: 32, elements, formula }
}

const MMA: &[Fragment] = &[
    fragment("mma_m16n8_c", (16, 8), 4, c),
    fragment("mma_m16n8k16_a", (16, 16), 8, a16),
    fragment("mma_m16n8k16_b", (16, 8), 4, b16),
    fragment("mma_m16n8k16_c", (16, 8), 4, c),
    fragment("mma_m16n8k8_a", (16, 8), 4, c),
    fragment("mma_m16n8k8_b", (8, 8), 2, |lane, i| (within(lane) * 2 + i, group(lane))),
    fragment("mma_m16n8k8_c", (16, 8), 4, c),
    fragment("mma_m16n8k4_tf32_a", (16, 4), 2, |lane, i| (group(lane) + 8 * i, within(lane))),
    fragment("mma_m16n8k4_tf32_b", (4, 8), 1, |lane, _| (within(lane), group(lane))),
    fragment("mma_m16n8k8_tf32_a", (16, 8), 4, a_tf32),
    fragment("mma_m16n8k8_tf32_b", (8, 8), 2, |lane, i| (within(lane) + 4 * i, group(lane))),
    fragment("mma_m16n8k16_s8_a", (16, 16), 8, |lane, i| {
        let row = if i < 4 { group(lane) } else { group(lane) + 8 };
        (row, within(lane) * 4 + (i & 3))
    }),
    fragment("mma_m16n8k16_s8_b", (16, 8), 4, |lane, i| (within(lane) * 4 + i, group(lane))),
    fragment("mma_m16n8k32_a", (16, 32), 16, a8),
    fragment("mma_m16n8k32_b", (32, 8), 8, |lane, i| {
        (within(lane) * 4 + (i & 3) + if i < 4 { 0 } else { 16 }, group(lane))
    }),
    fragment("mma_m16n8k32_c", (16, 8), 4, c),
    fragment("mma_m16n8k64_a", (16, 64), 32, a4),
    fragment("mma_m16n8k64_b", (64, 8), 16, |lane, i| {
        (within(lane) * 8 + (i & 7) + if i < 8 { 0 } else { 32 }, group(lane))
    }),
    fragment("mma_m16n8k64_c", (16, 8), 4, c),
    fragment("mma_m8n8k4_f64_a", (8, 4), 1, |lane, _| (group(lane), within(lane))),
    fragment("mma_m8n8k4_f64_b", (4, 8), 1, |lane, _| (within(lane), group(lane))),
    fragment("mma_m8n8k4_f64_c", (8, 8), 2, |lane, i| (group(lane), within(lane) * 2 + (i & 1))),
];

/// Elements that `ldmatrix` gives a lane, for matrices numbered down tiles of `DOWN` matrices: of each the row
/// `lane / 4`, and in it two elements.
fn loaded<const DOWN: i128>(lane: i128, i: i128) -> (i128, i128) {
    let matrix = i / 2;
    (matrix % DOWN * 8 + lane / 4, matrix / DOWN * 8 + lane % 4 * 2 + i % 2)
}

/// Like [`loaded`], with each matrix transposed.
fn transposed<const DOWN: i128>(lane: i128, i: i128) -> (i128, i128) {
    let matrix = i / 2;
    (matrix % DOWN * 8 + lane % 4 * 2 + i % 2, matrix / DOWN * 8 + lane / 4)
}

/// Elements of the row to which the address of a lane points: lanes 0 to 7 address matrix 0, 8 to 15 matrix 1, and so
/// on.
fn addressed<const DOWN: i128>(lane: i128, i: i128) -> (i128, i128) {
    let matrix = lane / 8;
    (matrix % DOWN * 8 + lane % 8, matrix / DOWN * 8 + i)
}

const fn address(layout: &'static str, tile: (i128, i128), formula: super::Formula) -> Fragment {
    Fragment { layout, tile, threads: tile.0 * tile.1 / 8, elements: 8, formula }
}

const LDMATRIX: &[Fragment] = &[
    fragment("ldmatrix_x1", (8, 8), 2, loaded::<1>),
    fragment("ldmatrix_x1_trans", (8, 8), 2, transposed::<1>),
    address("ldmatrix_x1_rows", (8, 8), addressed::<1>),
    fragment("ldmatrix_x2", (16, 8), 4, loaded::<2>),
    fragment("ldmatrix_x2 rows=8", (8, 16), 4, loaded::<1>),
    fragment("ldmatrix_x2_trans", (16, 8), 4, transposed::<2>),
    fragment("ldmatrix_x2_trans rows=8", (8, 16), 4, transposed::<1>),
    address("ldmatrix_x2_rows", (16, 8), addressed::<2>),
    address("ldmatrix_x2_rows rows=8", (8, 16), addressed::<1>),
    fragment("ldmatrix_x4", (16, 16), 8, loaded::<2>),
    fragment("ldmatrix_x4 rows=8", (8, 32), 8, loaded::<1>),
    fragment("ldmatrix_x4 rows=32", (32, 8), 8, loaded::<4>),
    fragment("ldmatrix_x4_trans", (16, 16), 8, transposed::<2>),
    fragment("ldmatrix_x4_trans rows=8", (8, 32), 8, transposed::<1>),
    fragment("ldmatrix_x4_trans rows=32", (32, 8), 8, transposed::<4>),
    address("ldmatrix_x4_rows", (16, 16), addressed::<2>),
    address("ldmatrix_x4_rows rows=8", (8, 32), addressed::<1>),
    address("ldmatrix_x4_rows rows=32", (32, 8), addressed::<4>),
];

/// d of `wgmma`: row of the warp as in `mma`, column 8 * (i / 4) + 2 * within + (i & 1).
fn d(thread: i128, i: i128) -> (i128, i128) {
    let (lane, warp) = (thread % 32, thread / 32);
    let row = if i % 4 < 2 { group(lane) } else { group(lane) + 8 };
    (warp * 16 + row, 8 * (i / 4) + within(lane) * 2 + (i & 1))
}

const fn warpgroup(
    layout: &'static str,
    tile: (i128, i128),
    elements: i128,
    formula: super::Formula,
) -> Fragment {
    Fragment { layout, tile, threads: 128, elements, formula }
}

const WGMMA: &[Fragment] = &[
    warpgroup("wgmma_m64_d", (64, 8), 4, d),
    warpgroup("wgmma_m64_d n=24", (64, 24), 12, d),
    warpgroup("wgmma_m64_d n=128", (64, 128), 64, d),
    warpgroup("wgmma_m64_d n=256", (64, 256), 128, d),
    warpgroup("wgmma_m64k16_a", (64, 16), 8, |thread, i| wgmma(a16, thread, i)),
    warpgroup("wgmma_m64k8_a", (64, 8), 4, |thread, i| wgmma(a_tf32, thread, i)),
    warpgroup("wgmma_m64k32_a", (64, 32), 16, |thread, i| wgmma(a8, thread, i)),
];

/// Lanes and columns of tensor memory: row i of D is in lane i.
const TENSOR_MEMORY: &[Fragment] = &[
    Fragment {
        layout: "tcgen05_m128_d",
        tile: (128, 8),
        threads: 128,
        elements: 8,
        formula: |lane, column| (lane, column),
    },
    Fragment {
        layout: "tcgen05_m128_d n=64",
        tile: (128, 64),
        threads: 128,
        elements: 64,
        formula: |lane, column| (lane, column),
    },
];

pub(super) fn all() -> impl Iterator<Item = &'static Fragment> {
    [MMA, LDMATRIX, WGMMA, TENSOR_MEMORY].into_iter().flatten()
}

#[test]
fn fragments_of_mma_match_the_formulas_of_ptx() {
    check_fragments(MMA, "lane");
}

#[test]
fn matrices_of_ldmatrix_match_the_formulas_of_ptx() {
    check_fragments(LDMATRIX, "lane");
}

#[test]
fn fragments_of_wgmma_match_the_formulas_of_ptx() {
    check_fragments(WGMMA, "thread");
}

#[test]
fn accumulators_in_tensor_memory_match_the_formulas_of_ptx() {
    check_fragments(TENSOR_MEMORY, "lane");
}

#[test]
fn ldmatrix_loads_the_operands_of_mma() {
    // A row-major in shared memory; B as [n, k], or as [k, n] with `.trans`.
    for (first, second) in [
        ("m 64; k 64 } ; layout ldmatrix_x4", "m 64; k 64 }; layout mma_m16n8k16_a"),
        (
            "n 64; k 64 } ; layout ldmatrix_x2 rows=8",
            "n 64; k 64 }; layout { order k n; apply mma_m16n8k16_b }",
        ),
        ("k 64; n 64 } ; layout ldmatrix_x2_trans", "k 64; n 64 }; layout mma_m16n8k16_b"),
        ("k 64; n 64 } ; layout ldmatrix_x1_trans", "k 64; n 64 }; layout mma_m16n8k8_b"),
    ] {
        let text = format!(
            "use \"std/nvidia.kdl\"\n\
             tensor a dtype=f16 {{ shape {{ {first}; memory none }}\n\
             tensor b dtype=f16 {{ shape {{ {second}; memory none }}\n"
        );
        let tensors = check_valid(&text).manifests.remove(0).tensors;
        // Tiles of [n, k] and [k, n] have other orders; the threads and registers are those of the instruction.
        let [a, b] = tensors.try_into().unwrap();
        for (row, column) in (0..64).flat_map(|i| (0..64).map(move |j| (i, j))) {
            let [a, b] = [&a, &b].map(|t| super::storage(t, &[row, column])[2..].to_vec());
            assert_eq!(a, b, "{text}: [{row}, {column}]");
        }
    }
}

#[test]
fn scale_factors_match_the_formula_of_cublas() {
    for (rows, columns) in [(128, 4), (256, 12), (200, 7), (1, 1)] {
        let t = tensor(&format!(
            "tensor t dtype=f8e8m0fnu {{ shape {{ e 2; r {rows}; c {columns} }}; \
             layout {{ apply block_scale_128x4; padding allow }} }}"
        ));
        let (down, across) = ((rows + 127) / 128, (columns + 3) / 4);
        for (e, r, c) in super::triples(2, rows, columns) {
            let tile = (e * down + r / 128) * across + c / 4;
            let inside = r % 128 % 32 * 16 + r % 128 / 32 * 4 + c % 4;
            let offset = t.layout.locate(&[e, r, c], &[]).unwrap().offset;
            assert_eq!(offset, tile * 512 + inside, "{rows} x {columns}: [{r}, {c}]");
        }
    }
}
