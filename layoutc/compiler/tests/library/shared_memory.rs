//! Operands of `wgmma` in shared memory, by the canonical layouts of CUTLASS in units of 16 bytes, with their leading
//! and stride byte offsets.
//!
//! Source: CUTLASS, `cute/atom/mma_traits_sm90_gmma.hpp`, canonical layouts of `make_gmma_desc`; PTX ISA, Shared Memory
//! Matrix Layout of `wgmma.mma_async`.

use super::tensor;

pub(super) const LAYOUTS: &[&str] = &[
    "matrix_tiles",
    "block_scale_128x4",
    "wgmma_k_major",
    "wgmma_k_major_32b",
    "wgmma_k_major_64b",
    "wgmma_k_major_128b",
    "wgmma_mn_major",
    "wgmma_mn_major_32b",
    "wgmma_mn_major_64b",
    "wgmma_mn_major_128b",
];

/// Element types with their bytes.
const TYPES: [(&str, i128); 3] = [("f8e4m3fn", 1), ("bf16", 2), ("f32", 4)];

/// `Swizzle<bits, 4, 3>` of a byte address.
fn swizzle(bits: u32, byte: i128) -> i128 {
    byte ^ ((byte >> 3) & (((1 << bits) - 1) << 4))
}

/// Checks the byte address of each element of an operand of `mn` × `k` elements.
fn check(
    layout: &str,
    (dtype, size): (&str, i128),
    (mn, k): (i128, i128),
    address: &dyn Fn(i128, i128) -> i128,
) {
    let t = tensor(&format!(
        "tensor t dtype={dtype} {{ shape {{ r {mn}; c {k} }}; layout {layout}; memory shared }}"
    ));
    assert_eq!(t.layout.physical_elements().as_const(), Some(mn * k), "{layout}");
    for (r, c) in (0..mn).flat_map(|r| (0..k).map(move |c| (r, c))) {
        let byte = t.layout.locate(&[r, c], &[]).unwrap().offset * size;
        assert_eq!(byte, address(r, c), "{layout} of {dtype}: [{r}, {c}]");
    }
}

#[test]
fn operands_without_a_swizzle_are_core_matrices() {
    for (dtype, size) in TYPES {
        let chunk = 16 / size;
        for (down, across) in [(8, 4), (16, 2), (3, 5)] {
            let (lbo, sbo) = (128, 128 * across);
            // ((8, m), (T, 2)) : ((1T, SBO), (1, LBO))
            let k_major =
                |r: i128, c: i128| r % 8 * 16 + r / 8 * sbo + c % chunk * size + c / chunk * lbo;
            let layout = format!("wgmma_k_major chunk={chunk}");
            check(&layout, (dtype, size), (8 * down, chunk * across), &k_major);
            // ((T, 1, m), (8, k)) : ((1, T, SBO), (1T, LBO))
            let mn_major =
                |r: i128, c: i128| r % chunk * size + r / chunk * sbo + c % 8 * 16 + c / 8 * lbo;
            let layout = format!("wgmma_mn_major chunk={chunk}");
            check(&layout, (dtype, size), (chunk * down, 8 * across), &mn_major);
        }
    }
}

#[test]
fn operands_with_a_swizzle_are_rows_of_the_mode() {
    for (bits, width) in [(1, 32), (2, 64), (3, 128)] {
        for (dtype, size) in TYPES {
            let (row, sbo) = (width / size, 8 * width);
            for (down, across) in [(8, 1), (16, 4), (3, 2)] {
                // ((8, m), (T, 2)) : ((wT, SBO), (1, T)), and panels one after another.
                let panel = down * sbo;
                let k_major = |r: i128, c: i128| {
                    let inside = r % 8 * width + r / 8 * sbo + c % row * size;
                    swizzle(bits, inside) + c / row * panel
                };
                let layout = format!("wgmma_k_major_{width}b row={row}");
                check(&layout, (dtype, size), (8 * down, row * across), &k_major);
                // ((T, w, m), (8, k)) : ((1, T, LBO), (wT, SBO))
                let lbo = across * sbo;
                let mn_major = |r: i128, c: i128| {
                    swizzle(bits, c % 8 * width + c / 8 * sbo + r % row * size) + r / row * lbo
                };
                let layout = format!("wgmma_mn_major_{width}b row={row}");
                check(&layout, (dtype, size), (row * down, 8 * across), &mn_major);
            }
        }
    }
}

#[test]
fn swizzled_operands_align_their_base_address() {
    for (width, align) in [(32, 256), (64, 512), (128, 1024)] {
        for major in ["k", "mn"] {
            let layout = format!("wgmma_{major}_major_{width}b");
            let t = tensor(&format!(
                "tensor t dtype=f16 {{ shape {{ r 64; c 64 }}; layout {layout}; memory shared }}"
            ));
            assert_eq!(t.layout.alignment_bytes(), align, "{layout}");
        }
    }
}

#[test]
fn tiles_are_row_major_and_so_are_their_elements() {
    let t = tensor(
        "tensor t dtype=u8 { shape { b 2; r 40; c 24 }; layout { apply matrix_tiles rows=8 columns=4 } }",
    );
    for (b, r, c) in super::triples(2, 40, 24) {
        let expected = [b, r / 8, c / 4, r % 8, c % 4];
        assert_eq!(super::storage(&t, &[b, r, c]), expected);
    }
}
