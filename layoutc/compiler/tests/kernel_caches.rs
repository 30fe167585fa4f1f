//! Staging buffers of kernels (`cache A at=k`): results in C, OpenCL and CUDA against C references.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::panic,
    reason = "a test, which writes the program that it runs"
)]

use crate::common::cc::folder;
use crate::common::kernel;
use kernel::{Kernel, Operand, computes, computes_in_opencl};

#[test]
fn matmul_stages_operands_and_output() {
    computes(&Kernel {
        name: "staged_matmul",
        text: "kernel staged_matmul { operands A B C\n  compute \"C[i, j] += A[i, k] * B[k, j]\" }\n",
        operands: vec![
            Operand::f32(
                "A",
                &[("i", 20), ("k", 26)],
                &[
                    "order i k",
                    "order k i",
                    "order i k",
                    "order k i",
                    "tile 4 8",
                    "order i k",
                    "order i k",
                ],
            ),
            Operand::f32(
                "B",
                &[("k", 26), ("j", 36)],
                &[
                    "order k j",
                    "order j k",
                    "tile 8 16",
                    "order k j",
                    "order k j",
                    "order j k",
                    "order k j",
                ],
            ),
            Operand::f32(
                "C",
                &[("i", 20), ("j", 36)],
                &[
                    "order i j",
                    "order j i",
                    "order i j",
                    "order i j",
                    "strides 80 1; padding allow",
                    "order i j",
                    "tile 8 8",
                ],
            ),
        ],
        written: &["C"],
        plain: "for (int i = 0; i < 20; ++i) for (int j = 0; j < 36; ++j) { float sum = 0; for (int k = 0; k < 26; ++k) sum += A[i * 26 + k] * B[k * 36 + j]; C[i * 36 + j] = sum; }",
        numpy: "",
        tolerance: "1e-4",
        schedules: &[
            (
                0,
                "tile i j by=\"16 32\"; split k by=8; cache A at=k_outer { layout { order k i } }; cache B at=k_outer double=#true",
            ),
            (
                1,
                "tile i j by=\"8 16\"; split k by=8; cache A at=k_outer double=#true; cache B at=k_outer double=#true { layout { pad j after=1 } }",
            ),
            (
                2,
                "tile i j by=\"16 10\"; cache B at=j_outer; cache C at=j_outer { layout { order j i } }",
            ),
            (
                3,
                "tile i j by=\"20 36\"; split k by=26; cache A at=k_outer { layout { swizzle 2 0 3 unit=elements } }",
            ),
            (
                4,
                "tile i j by=\"4 32\"; cache A at=k { memory local }; cache B at=k { memory local }",
            ),
            (5, "split k by=10; cache B at=k_outer; loops i j k_outer k_inner"),
            (6, "tile i_outer j_outer by=\"3 5\"; cache C at=j_outer_outer"),
        ],
    });
}

#[test]
fn convolution_stages_tiles_with_a_halo() {
    computes(&Kernel {
        name: "staged_conv",
        text: "kernel staged_conv { operands A W B\n  compute \"B[n, h, w, k] += (A[n, h + r - 1, w + s - 1, c] ?? 0) * W[k, r, s, c]\" }\n",
        operands: vec![
            Operand::f32(
                "A",
                &[("n", 1), ("h", 6), ("w", 7), ("c", 8)],
                &["order n c h w", "order n h w c", "split c by=4; order n c_outer h w c_inner"],
            ),
            Operand::f32(
                "W",
                &[("k", 8), ("r", 3), ("s", 3), ("c", 8)],
                &["order k c r s", "order r s c k", "split k by=4; order k_outer r s c k_inner"],
            ),
            Operand::f32(
                "B",
                &[("n", 1), ("h", 6), ("w", 7), ("k", 8)],
                &["order n k h w", "order n h w k", "split k by=4; order n k_outer h w k_inner"],
            ),
        ],
        written: &["B"],
        plain: "for (int h = 0; h < 6; ++h) for (int w = 0; w < 7; ++w) for (int k = 0; k < 8; ++k) {\n\
                float sum = 0;\n\
                for (int r = 0; r < 3; ++r) for (int s = 0; s < 3; ++s) for (int c = 0; c < 8; ++c) {\n\
                const int y = h + r - 1, x = w + s - 1;\n\
                if (y >= 0 && y < 6 && x >= 0 && x < 7) sum += A[(y * 7 + x) * 8 + c] * W[((k * 3 + r) * 3 + s) * 8 + c];\n\
                }\nB[(h * 7 + w) * 8 + k] = sum; }",
        numpy: "",
        tolerance: "1e-4",
        schedules: &[
            (0, "tile h w by=\"4 4\"; cache A at=w_outer"),
            (
                1,
                "tile w k by=\"4 8\"; cache A at=w_outer; cache W at=c { layout { order c r s k } }",
            ),
            (
                2,
                "tile w by=7; vectorize k_inner; cache A at=h double=#true { layout { order c n h w } }; cache B at=h",
            ),
        ],
    });
}

#[test]
fn elementwise_kernel_stages_operands_and_output() {
    computes(&Kernel {
        name: "staged_turned",
        text: "kernel staged_turned { operands A B\n  compute \"B[j, i] = 2 * A[i, j] + (A[i - 1, j] ?? 7)\" }\n",
        operands: vec![
            Operand::f32(
                "A",
                &[("i", 13), ("j", 18)],
                &["order i j", "order j i", "tile 4 8", "order i j"],
            ),
            Operand::f32(
                "B",
                &[("j", 18), ("i", 13)],
                &["order j i", "order j i", "tile 4 4", "order j i"],
            ),
        ],
        written: &["B"],
        plain: "for (int i = 0; i < 13; ++i) for (int j = 0; j < 18; ++j) B[j * 13 + i] = 2 * A[i * 18 + j] + (i > 0 ? A[(i - 1) * 18 + j] : 7);",
        numpy: "",
        tolerance: "0",
        schedules: &[
            (0, "tile j i by=\"8 8\"; cache A at=i_outer { layout { pad j after=1 } }"),
            (
                1,
                "tile j i by=\"8 8\"; cache A at=i_outer; cache B at=i_outer { layout { order i j } }",
            ),
            (2, "cache A at=i_outer"),
            (3, "cache A at=j"),
        ],
    });
}

#[test]
fn staged_max_reductions_accumulate() {
    computes(&Kernel {
        name: "staged_most",
        text: "kernel staged_most { operands A B\n  range r 3\n  compute \"B[y, x] max= A[2 * y + r - 1, x] ?? -inf\" }\n",
        operands: vec![
            Operand::f32("A", &[("y", 9), ("x", 10)], &["order y x", "order x y"]),
            Operand::f32("B", &[("y", 5), ("x", 10)], &["order y x", "order x y"]),
        ],
        written: &["B"],
        plain: "for (int y = 0; y < 5; ++y) for (int x = 0; x < 10; ++x) { float most = -INFINITY; for (int r = 0; r < 3; ++r) { const int k = 2 * y + r - 1; if (k >= 0 && k < 9) most = fmaxf(most, A[k * 10 + x]); } B[y * 10 + x] = most; }",
        numpy: "",
        tolerance: "0",
        schedules: &[
            (0, "tile y x by=\"2 4\"; cache A at=x_outer; cache B at=x_outer"),
            (1, "tile x by=4; cache A at=r double=#true"),
        ],
    });
}

#[test]
fn staged_tiles_contain_out_of_bounds_values() {
    computes(&Kernel {
        name: "staged_rows",
        text: "kernel staged_rows { operands A W B\n  compute \"B[k, w] += (A[c, w + s - 1] ?? 0) * W[k, c, s]\" }\n",
        operands: vec![
            Operand::f32("A", &[("c", 3), ("w", 44)], &["order c w", "order w c", "order c w"]),
            Operand::f32(
                "W",
                &[("k", 8), ("c", 3), ("s", 3)],
                &["order k c s", "order k c s", "order c s k"],
            ),
            Operand::f32(
                "B",
                &[("k", 8), ("w", 44)],
                &["order k w", "order k w", "split w by=8; order w_outer k w_inner"],
            ),
        ],
        written: &["B"],
        plain: "for (int k = 0; k < 8; ++k) for (int w = 0; w < 44; ++w) { float sum = 0; for (int c = 0; c < 3; ++c) for (int s = 0; s < 3; ++s) { const int x = w + s - 1; if (x >= 0 && x < 44) sum += A[c * 44 + x] * W[(k * 3 + c) * 3 + s]; } B[k * 44 + w] = sum; }",
        numpy: "",
        tolerance: "1e-4",
        schedules: &[
            (0, "tile k w by=\"4 32\"; cache A at=w_outer"),
            (1, "tile k w by=\"8 16\"; cache A at=c { layout { pad w after=3 } }"),
            (2, "cache A at=w_outer"),
        ],
    });
}

/// Thread tiles over two and three loops: extents that are not powers of two, partial tiles, and tiles whose elements
/// do not divide evenly among the work-items.
#[test]
fn work_items_compute_register_tiles() {
    computes(&Kernel {
        name: "staged_grids",
        text: "kernel staged_grids { operands A B C\n  compute \"C[n, i, j] += A[n, i, k] * B[n, k, j]\" }\n",
        operands: vec![
            Operand::f32(
                "A",
                &[("n", 3), ("i", 30), ("k", 13)],
                &["order n i k", "order k n i", "order n i k", "order n i k", "order i n k"],
            ),
            Operand::f32(
                "B",
                &[("n", 3), ("k", 13), ("j", 70)],
                &["order n k j", "order n j k", "order k n j", "order n k j", "order n k j"],
            ),
            Operand::f32(
                "C",
                &[("n", 3), ("i", 30), ("j", 70)],
                &["order n i j", "order n j i", "order i n j", "order n i j", "order n i j"],
            ),
        ],
        written: &["C"],
        plain: "for (int n = 0; n < 3; ++n) for (int i = 0; i < 30; ++i) for (int j = 0; j < 70; ++j) { float sum = 0; for (int k = 0; k < 13; ++k) sum += A[(n * 30 + i) * 13 + k] * B[(n * 13 + k) * 70 + j]; C[(n * 30 + i) * 70 + j] = sum; }",
        numpy: "",
        tolerance: "1e-4",
        schedules: &[
            // A 32×56 tile has 7 elements for each of 256 work-items.
            (
                0,
                "tile i j by=\"32 56\"; split k by=4; unroll k_inner; cache A at=k_outer; cache B at=k_outer",
            ),
            (1, "tile j i by=\"16 32\"; cache A at=k; cache B at=k"),
            // Three loops inside the tile.
            (
                2,
                "tile i j by=\"16 64\"; loops i_outer j_outer k n i_inner j_inner; cache A at=k; cache B at=k",
            ),
            // 20×24 is not a multiple of 256.
            (3, "tile i j by=\"20 24\"; split k by=5; cache B at=k_outer double=#true"),
            (
                4,
                "tile i j by=\"30 128\"; split k by=8; cache A at=k_outer { layout { order k n i } }",
            ),
        ],
    });
    computes(&Kernel {
        name: "staged_most_of_grids",
        text: "kernel staged_most_of_grids { operands A B\n  range r 3\n  compute \"B[y, x] max= A[y + r - 1, x] ?? -3\" }\n",
        operands: vec![
            Operand::f32("A", &[("y", 40), ("x", 37)], &["order y x", "order x y"]),
            Operand::f32("B", &[("y", 40), ("x", 37)], &["order y x", "order y x"]),
        ],
        written: &["B"],
        plain: "for (int y = 0; y < 40; ++y) for (int x = 0; x < 37; ++x) { float most = -INFINITY; for (int r = 0; r < 3; ++r) { const int at = y + r - 1; most = fmaxf(most, at >= 0 && at < 40 ? A[at * 37 + x] : -3.0f); } B[y * 37 + x] = most; }",
        numpy: "",
        tolerance: "1e-6",
        schedules: &[
            (
                0,
                "tile y x by=\"24 32\"; loops y_outer x_outer r y_inner x_inner; cache A at=x_outer",
            ),
            (1, "tile y x by=\"8 64\"; loops y_outer x_outer r y_inner x_inner; cache A at=r"),
        ],
    });
    let text = folder("kernel_staged_most_of_grids_cl").join("a.cl");
    let text = std::fs::read_to_string(text).unwrap();
    // Among work-item grids with equal reads, the one with the most adjacent writes: 4×64 for an 8×64 tile.
    assert!(text.contains("const int x_inner = element & 63;"), "{text}");
}

/// One to four tiles of the reduction axis, with and without double buffering, inside a loop over thread blocks.
#[test]
fn staging_works_with_any_trip_count_and_double_buffering() {
    const ROWS: &[&str] = &["order n i k"; 8];
    computes_in_opencl(&Kernel {
        name: "staged_rounds",
        text: "kernel staged_rounds { operands A B C\n  compute \"C[n, i, j] += A[n, i, k] * B[n, k, j]\" }\n",
        operands: vec![
            Operand::f32("A", &[("n", 3), ("i", 30), ("k", 13)], ROWS),
            Operand::f32("B", &[("n", 3), ("k", 13), ("j", 70)], &["order n k j"]),
            Operand::f32("C", &[("n", 3), ("i", 30), ("j", 70)], &["order n i j"]),
        ],
        written: &["C"],
        plain: "for (int n = 0; n < 3; ++n) for (int i = 0; i < 30; ++i) for (int j = 0; j < 70; ++j) { float sum = 0; for (int k = 0; k < 13; ++k) sum += A[(n * 30 + i) * 13 + k] * B[(n * 13 + k) * 70 + j]; C[(n * 30 + i) * 70 + j] = sum; }",
        numpy: "",
        tolerance: "1e-4",
        schedules: &[
            (0, "tile i j by=\"20 24\"; split k by=13; cache B at=k_outer"),
            (1, "tile i j by=\"20 24\"; split k by=13; cache B at=k_outer double=#true"),
            (2, "tile i j by=\"20 24\"; split k by=7; cache B at=k_outer"),
            (3, "tile i j by=\"20 24\"; split k by=7; cache B at=k_outer double=#true"),
            (4, "tile i j by=\"20 24\"; split k by=5; cache B at=k_outer"),
            (5, "tile i j by=\"20 24\"; split k by=5; cache B at=k_outer double=#true"),
            (6, "tile i j by=\"20 24\"; split k by=4; cache A at=k_outer; cache B at=k_outer"),
            (
                7,
                "tile i j by=\"20 24\"; split k by=4; cache A at=k_outer double=#true; cache B at=k_outer double=#true",
            ),
        ],
    });
}

/// If an f16 staging buffer cannot hold the out-of-bounds value, the iterations that read it are skipped.
#[test]
fn values_a_staging_buffer_cannot_hold_are_skipped() {
    computes(&Kernel {
        name: "staged_halves",
        text: "kernel staged_halves { operands A B\n  compute \"B[y, x] min= A[y - 1, x, r] ?? inf\" }\n",
        operands: vec![
            Operand {
                name: "A",
                dtype: "f16",
                element: "uint16_t",
                shape: &[("y", 6), ("x", 10), ("r", 3)],
                layouts: &["order y x r", "order x y r"],
            },
            Operand::f32("B", &[("y", 6), ("x", 10)], &["order y x"]),
        ],
        written: &["B"],
        // The bits of A are 0x3400 to 0x3500: positive halves, ordered as their bits.
        plain: "for (int y = 0; y < 6; ++y) for (int x = 0; x < 10; ++x) { float least = INFINITY; for (int r = 0; y > 0 && r < 3; ++r) least = fminf(least, (float)(0x400 + (A[((y - 1) * 10 + x) * 3 + r] & 0x3FF)) / 4096); B[y * 10 + x] = least; }",
        numpy: "",
        tolerance: "0",
        schedules: &[
            (0, "tile y x by=\"4 8\"; cache A at=x_outer"),
            (1, "tile y x by=\"4 8\"; cache A at=r double=#true"),
        ],
    });
}

#[test]
fn staging_split_across_work_groups_is_refused() {
    let report = |caches: &str| {
        let text = format!(
            "tensor a dtype=f32 {{ shape {{ i 8; k 4 }} }}\ntensor b dtype=f32 {{ shape {{ k 4; j 8 }} }}\ntensor c dtype=f32 {{ shape {{ i 8; j 8 }} }}\n\
             kernel mm {{ compute \"c[i, j] += a[i, k] * b[k, j]\"; {caches} }}\n"
        );
        kernel::gpu_faults(&text)
    };
    let part =
        "a thread block executes one iteration of `j_outer`, and a part of the block of `i_outer`";
    assert_eq!(report("tile i j by=\"4 4\"; cache c at=i_outer; cache b at=j_outer"), [part]);
    let part = "a thread block executes one iteration of `i`, and a part of the block of `k`";
    assert_eq!(report("cache c at=i; cache b at=k"), [part]);
    assert_eq!(report("tile i j by=\"4 4\"; cache c at=j_outer; cache b at=k"), [""; 0]);
    assert_eq!(
        report("cache b at=i { memory local }"),
        ["an item does one element of `i`, and its block is for several"]
    );
    let wide = "the blocks take 262144 bytes, and at most 49152 bytes a thread block shares";
    let text = "tensor a dtype=f32 { shape { i 256; k 256 } }\ntensor c dtype=f32 { shape { i 256 } }\nkernel s { compute \"c[i] += a[i, k]\"; tile i by=256; cache a at=i_outer }\n";
    assert_eq!(kernel::gpu_faults(text), [wide]);
}
