//! Operands and accumulators of AMD's MFMA.
//!
//! Source: AMD matrix instruction calculator, "register to matrix element mapping with no modifiers".

use super::{Fragment, check_fragments};

/// A of an M × K operand: i = lane % M, k = K / (64 / M) * floor(lane / M) + element.
fn a<const M: i128, const EACH: i128>(lane: i128, e: i128) -> (i128, i128) {
    (lane % M, EACH * (lane / M) + e)
}

/// B: like A, with j for i.
fn b<const M: i128, const EACH: i128>(lane: i128, e: i128) -> (i128, i128) {
    let (j, k) = a::<M, EACH>(lane, e);
    (k, j)
}

const fn fragment(
    layout: &'static str,
    tile: (i128, i128),
    elements: i128,
    formula: super::Formula,
) -> Fragment {
    Fragment { layout, tile, threads: 64, elements, formula }
}

const MFMA: &[Fragment] = &[
    fragment("mfma_16x16_c", (16, 16), 4, |lane, gpr| (4 * (lane / 16) + gpr % 4, lane % 16)),
    fragment("mfma_32x32_c", (32, 32), 16, |lane, gpr| {
        (8 * (gpr / 4) + 4 * (lane / 32) + gpr % 4, lane % 32)
    }),
    fragment("mfma_16x16_f64_c", (16, 16), 4, |lane, e| (4 * e + lane / 16, lane % 16)),
    fragment("mfma_16x16x16_a", (16, 16), 4, a::<16, 4>),
    fragment("mfma_16x16x16_b", (16, 16), 4, b::<16, 4>),
    fragment("mfma_32x32x8_a", (32, 8), 4, a::<32, 4>),
    fragment("mfma_32x32x8_b", (8, 32), 4, b::<32, 4>),
    fragment("mfma_16x16x4_a", (16, 4), 1, a::<16, 1>),
    fragment("mfma_16x16x4_b", (4, 16), 1, b::<16, 1>),
    fragment("mfma_32x32x2_a", (32, 2), 1, a::<32, 1>),
    fragment("mfma_32x32x2_b", (2, 32), 1, b::<32, 1>),
    fragment("mfma_16x16x32_a", (16, 32), 8, a::<16, 8>),
    fragment("mfma_16x16x32_b", (32, 16), 8, b::<16, 8>),
    fragment("mfma_32x32x16_a", (32, 16), 8, a::<32, 8>),
    fragment("mfma_32x32x16_b", (16, 32), 8, b::<32, 8>),
];

pub(super) fn all() -> impl Iterator<Item = &'static Fragment> {
    MFMA.iter()
}

#[test]
fn operands_of_mfma_match_the_formulas_of_the_calculator() {
    check_fragments(MFMA, "lane");
}
