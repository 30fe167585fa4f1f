//! Vectorized register tiles, and their rows at the boundary.

use crate::common::cc::folder;
use crate::common::kernel::{Kernel, Operand, computes};

#[test]
fn vectorization_over_two_loops_is_correct() {
    computes(&Kernel {
        name: "lanes",
        text: "kernel lanes { operands A B C\n  compute \"C[i, j] += A[i, k] * B[k, j]\" }\n",
        operands: vec![
            Operand::f32("A", &[("i", 9), ("k", 5)], &["order i k"]),
            Operand::f32("B", &[("k", 5), ("j", 96)], &["order k j"]),
            Operand::f32(
                "C",
                &[("i", 9), ("j", 96)],
                &[
                    "split j by=4; order j_outer i j_inner",
                    "split j by=32; split j_inner by=2; order j_outer j_inner_outer i j_inner_inner",
                    "split j by=48; order j_outer i j_inner",
                ],
            ),
        ],
        written: &["C"],
        plain: "for (int i = 0; i < 9; ++i) for (int j = 0; j < 96; ++j) { float sum = 0; for (int k = 0; k < 5; ++k) sum += A[i * 5 + k] * B[k * 96 + j]; C[i * 96 + j] = sum; }",
        numpy: "C = A @ B",
        tolerance: "1e-5",
        schedules: &[],
    });
    let text = std::fs::read_to_string(folder("kernel_lanes").join("kernel_lanes.c")).unwrap();
    assert!(text.contains("for (int64_t lane = 0; lane < 16; ++lane)"), "{text}");
}

#[test]
fn boundary_tiles_have_constant_row_counts() {
    computes(&Kernel {
        name: "missing_rows",
        text: "kernel missing_rows { operands A W B\n  compute \"B[h, w, k] += (A[h + r - 2, w + s - 2, c] ?? 0) * W[r, s, c, k]\" }\n",
        operands: vec![
            Operand::f32(
                "A",
                &[("h", 4), ("w", 31), ("c", 3)],
                &["order h w c", "order c h w", "order h w c", "tile 2 8 1"],
            ),
            Operand::f32(
                "W",
                &[("r", 5), ("s", 5), ("c", 3), ("k", 32)],
                &["order r s c k", "order r s c k", "order c r s k", "order r s c k"],
            ),
            Operand::f32(
                "B",
                &[("h", 4), ("w", 31), ("k", 32)],
                &[
                    "order h w k",
                    "split k by=16; order k_outer h w k_inner",
                    "order k h w",
                    "tile 2 8 32",
                ],
            ),
        ],
        written: &["B"],
        plain: "for (int h = 0; h < 4; ++h) for (int w = 0; w < 31; ++w) for (int k = 0; k < 32; ++k) { float sum = 0; for (int r = 0; r < 5; ++r) for (int s = 0; s < 5; ++s) for (int c = 0; c < 3; ++c) { const int y = h + r - 2, x = w + s - 2; if (y >= 0 && y < 4 && x >= 0 && x < 31) sum += A[(y * 31 + x) * 3 + c] * W[((r * 5 + s) * 3 + c) * 32 + k]; } B[(h * 31 + w) * 32 + k] = sum; }",
        numpy: "P = np.pad(A, ((2, 2), (2, 2), (0, 0)))\nB = sum(P[r:r + 4, s:s + 31] @ W[r, s] for r in range(5) for s in range(5))",
        tolerance: "1e-4",
        schedules: &[(0, "split w by=7; parallel h")],
    });
    let text = std::fs::read_to_string(folder("kernel_missing_rows").join("kernel_missing_rows.c"));
    let text = text.unwrap();
    for part in [
        "} else if (w_inner_begin_2 <= 0 && w_inner_end_3 == 2) {",
        "} else if (w_inner_begin == 1 && w_inner_end_2 >= 14) {",
        "for (int64_t w_inner = 1; w_inner < 14; ++w_inner) {",
        "LAYOUTC_STORE(16, &",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    // In a register tile of 14 rows, boundary cases only exist for the rows that can be out of bounds.
    assert!(!text.contains("w_inner_end_2 == 13"), "{text}");
}

#[test]
fn infeasible_boundary_cases_are_not_generated() {
    computes(&Kernel {
        name: "one_row_less",
        text: "kernel one_row_less { operands A W B\n  compute \"B[h, w, k] += (A[h + r - 1, w + s - 1, c] ?? 0) * W[r, s, c, k]\" }\n",
        operands: vec![
            Operand::f32("A", &[("h", 3), ("w", 56), ("c", 4)], &["order h w c", "order c h w"]),
            Operand::f32(
                "W",
                &[("r", 3), ("s", 3), ("c", 4), ("k", 32)],
                &["order r s c k", "order r s c k"],
            ),
            Operand::f32("B", &[("h", 3), ("w", 56), ("k", 32)], &["order h w k", "order k h w"]),
        ],
        written: &["B"],
        plain: "for (int h = 0; h < 3; ++h) for (int w = 0; w < 56; ++w) for (int k = 0; k < 32; ++k) { float sum = 0; for (int r = 0; r < 3; ++r) for (int s = 0; s < 3; ++s) for (int c = 0; c < 4; ++c) { const int y = h + r - 1, x = w + s - 1; if (y >= 0 && y < 3 && x >= 0 && x < 56) sum += A[(y * 56 + x) * 4 + c] * W[((r * 3 + s) * 4 + c) * 32 + k]; } B[(h * 56 + w) * 32 + k] = sum; }",
        numpy: "P = np.pad(A, ((1, 1), (1, 1), (0, 0)))\nB = sum(P[r:r + 3, s:s + 56] @ W[r, s] for r in range(3) for s in range(3))",
        tolerance: "1e-4",
        schedules: &[],
    });
    let text = std::fs::read_to_string(folder("kernel_one_row_less").join("kernel_one_row_less.c"));
    let text = text.unwrap();
    let of = |part: &str| text.matches(part).count();
    // In the loops for 64-byte vectors, for all layouts.
    assert_eq!(of("} else if (w_inner_begin <= 0 && w_inner_end == 13) {"), 2, "{text}");
    assert_eq!(of("for (int64_t w_inner = 1; w_inner < 14; ++w_inner) {"), 2, "{text}");
    assert_eq!(of("w_inner < w_inner_end)"), 0, "{text}");
}
