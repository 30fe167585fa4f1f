//! Kernels on many layouts: emitted C, compiled by every installed compiler with strict flags, and OpenCL and CUDA,
//! against C references over the logical axes.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::panic,
    reason = "a test, which writes the program that it runs"
)]

use crate::common;
use crate::common::check_text::{check_text, check_valid};
use crate::common::kernel;
use common::cc::folder;
use kernel::{Kernel, Operand, computes};
use layoutc_compiler::emit::{Settings, Templates, emit};

/// Layouts of images: planes, channels last, blocks of 4 and of 16 channels, a texture, a swizzle.
const IMAGES: &[&str] = &[
    "order n c h w",
    "order n h w c",
    "split c by=4; order n c_outer h w c_inner",
    "split c by=16; order n c_outer h w c_inner",
    "map \"(n, h, w, c) -> (n, c // 4, h | w, c % 4)\"",
    "map \"(n, h, w, c) -> (n, h, w, c ^ (w % 4))\"; padding allow",
];

#[test]
fn convolution_is_correct_in_every_layout() {
    computes(&Kernel {
        name: "conv",
        text: "kernel conv { operands A W B\n  compute \"B[n, h, w, k] += (A[n, h + r - 1, w + s - 1, c] ?? 0) * W[k, r, s, c]\" }\n",
        operands: vec![
            Operand::f32("A", &[("n", 2), ("h", 6), ("w", 7), ("c", 16)], IMAGES),
            Operand::f32(
                "W",
                &[("k", 20), ("r", 3), ("s", 3), ("c", 16)],
                &[
                    "order k c r s",
                    "order k r s c",
                    "order r s c k",
                    "split k by=16; split c by=16; order k_outer c_outer r s c_inner k_inner",
                ],
            ),
            Operand::f32("B", &[("n", 2), ("h", 6), ("w", 7), ("c", 20)], IMAGES),
        ],
        written: &["B"],
        plain: "for (int n = 0; n < 2; ++n) for (int h = 0; h < 6; ++h) for (int w = 0; w < 7; ++w) for (int k = 0; k < 20; ++k) {\n\
                float sum = 0;\n\
                for (int r = 0; r < 3; ++r) for (int s = 0; s < 3; ++s) for (int c = 0; c < 16; ++c) {\n\
                const int y = h + r - 1, x = w + s - 1;\n\
                if (y >= 0 && y < 6 && x >= 0 && x < 7) sum += A[((n * 6 + y) * 7 + x) * 16 + c] * W[((k * 3 + r) * 3 + s) * 16 + c];\n\
                }\nB[((n * 6 + h) * 7 + w) * 20 + k] = sum; }",
        numpy: "P = np.pad(A, ((0, 0), (1, 1), (1, 1), (0, 0)))\nB = sum(np.einsum('nhwc,kc->nhwk', P[:, r:r + 6, s:s + 7], W[:, r, s]) for r in range(3) for s in range(3))",
        tolerance: "1e-4",
        schedules: &[(3, "tile w by=4; vectorize c_inner"), (1, "parallel n")],
    });
}

#[test]
fn matmul_is_correct_in_every_layout() {
    computes(&Kernel {
        name: "matmul",
        text: "kernel matmul { operands A B C\n  compute \"C[i, j] += A[i, k] * B[k, j]\" }\n",
        operands: vec![
            Operand::f32(
                "A",
                &[("i", 30), ("k", 24)],
                &["order i k", "order k i", "tile 4 8", "strides 32 1; padding allow", "order i k"],
            ),
            Operand::f32(
                "B",
                &[("k", 24), ("j", 70)],
                &["order k j", "order j k", "tile 8 16", "order k j", "order k j"],
            ),
            Operand::f32(
                "C",
                &[("i", 30), ("j", 70)],
                &[
                    "order i j",
                    "order j i",
                    "tile 4 8",
                    "map \"(i, j) -> (i, j ^ (i % 4))\"; padding allow",
                    "strides 80 1; padding allow",
                ],
            ),
        ],
        written: &["C"],
        plain: "for (int i = 0; i < 30; ++i) for (int j = 0; j < 70; ++j) { float sum = 0; for (int k = 0; k < 24; ++k) sum += A[i * 24 + k] * B[k * 70 + j]; C[i * 70 + j] = sum; }",
        numpy: "C = A @ B",
        tolerance: "1e-4",
        schedules: &[(4, "tile i j by=\"4 32\"")],
    });
}

#[test]
fn softmax_is_correct_in_every_layout() {
    computes(&Kernel {
        name: "softmax",
        text: "kernel softmax { operands X Y\n  local m dtype=f32\n  local s dtype=f32\n  compute \"m[i] max= X[i, j]\"\n  compute \"e[i, j] = exp(X[i, j] - m[i])\"\n  compute \"s[i] += e[i, j]\"\n  compute \"Y[i, j] = e[i, j] / s[i]\" }\n",
        operands: vec![
            Operand::f32(
                "X",
                &[("i", 9), ("j", 33)],
                &[
                    "order i j",
                    "order j i",
                    "tile 4 8",
                    "split j by=8; order j_outer i j_inner",
                    "split i by=4; order i_outer j i_inner",
                ],
            ),
            Operand::f32(
                "Y",
                &[("i", 9), ("j", 33)],
                &[
                    "order i j",
                    "order j i",
                    "tile 4 8",
                    "split j by=8; order j_outer i j_inner",
                    "split i by=4; order i_outer j i_inner",
                ],
            ),
        ],
        written: &["Y"],
        plain: "for (int i = 0; i < 9; ++i) { float m = -INFINITY, s = 0; for (int j = 0; j < 33; ++j) m = fmaxf(m, X[i * 33 + j]); for (int j = 0; j < 33; ++j) s += expf(X[i * 33 + j] - m); for (int j = 0; j < 33; ++j) Y[i * 33 + j] = expf(X[i * 33 + j] - m) / s; }",
        numpy: "e = np.exp(X - X.max(1, keepdims=True))\nY = e / e.sum(1, keepdims=True)",
        tolerance: "1e-5",
        schedules: &[],
    });
}

#[test]
fn layer_norm_is_correct_in_every_layout() {
    computes(&Kernel {
        name: "norm",
        text: "kernel norm { operands X G Y\n  local mean dtype=f32\n  local variance dtype=f32\n  compute \"mean[i] += X[i, j] / 20.0\"\n  compute \"variance[i] += (X[i, j] - mean[i]) * (X[i, j] - mean[i]) / 20.0\"\n  compute \"Y[i, j] = (X[i, j] - mean[i]) * rsqrt(variance[i] + 1e-5) * G[j]\" }\n",
        operands: vec![
            Operand::f32(
                "X",
                &[("i", 7), ("j", 20)],
                &[
                    "order i j",
                    "order j i",
                    "tile 4 8",
                    "split j by=8; order j_outer i j_inner",
                    "split i by=4; order i_outer j i_inner",
                ],
            ),
            Operand::f32("G", &[("j", 20)], &["order j"]),
            Operand::f32(
                "Y",
                &[("i", 7), ("j", 20)],
                &[
                    "order j i",
                    "tile 4 8",
                    "order i j",
                    "split j by=8; order j_outer i j_inner",
                    "split i by=4; order i_outer j i_inner",
                ],
            ),
        ],
        written: &["Y"],
        plain: "for (int i = 0; i < 7; ++i) { float m = 0, v = 0; for (int j = 0; j < 20; ++j) m += X[i * 20 + j] / 20; for (int j = 0; j < 20; ++j) v += (X[i * 20 + j] - m) * (X[i * 20 + j] - m) / 20; for (int j = 0; j < 20; ++j) Y[i * 20 + j] = (X[i * 20 + j] - m) / sqrtf(v + 1e-5f) * G[j]; }",
        numpy: "Y = (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-5) * G",
        tolerance: "1e-4",
        schedules: &[],
    });
}

#[test]
fn strided_depthwise_convolution_is_correct_in_every_layout() {
    computes(&Kernel {
        name: "depthwise",
        text: "kernel depthwise { operands A W B\n  compute \"B[n, h, w, c] += (A[n, 2*h + r - 1, 2*w + s - 1, c] ?? 0) * W[r, s, c]\" }\n",
        operands: vec![
            Operand::f32("A", &[("n", 1), ("h", 8), ("w", 9), ("c", 20)], IMAGES),
            Operand::f32("W", &[("r", 3), ("s", 3), ("c", 20)], &["order r s c", "order c r s"]),
            Operand::f32("B", &[("n", 1), ("h", 4), ("w", 5), ("c", 20)], IMAGES),
        ],
        written: &["B"],
        plain: "for (int h = 0; h < 4; ++h) for (int w = 0; w < 5; ++w) for (int c = 0; c < 20; ++c) { float sum = 0; for (int r = 0; r < 3; ++r) for (int s = 0; s < 3; ++s) { const int y = 2 * h + r - 1, x = 2 * w + s - 1; if (y >= 0 && y < 8 && x >= 0 && x < 9) sum += A[(y * 9 + x) * 20 + c] * W[(r * 3 + s) * 20 + c]; } B[(h * 5 + w) * 20 + c] = sum; }",
        numpy: "P = np.pad(A, ((0, 0), (1, 1), (1, 1), (0, 0)))\nB = sum(P[:, r:r + 8:2, s:s + 9:2] * W[r, s] for r in range(3) for s in range(3))",
        tolerance: "1e-5",
        schedules: &[],
    });
}

#[test]
fn pooling_is_correct_in_every_layout() {
    computes(&Kernel {
        name: "pool",
        text: "kernel pool { operands A B\n  range r 3; range s 3\n  compute \"B[n, h, w, c] max= A[n, 2*h + r - 1, 2*w + s - 1, c] ?? -inf\" }\n",
        operands: vec![
            Operand::f32("A", &[("n", 1), ("h", 8), ("w", 9), ("c", 20)], IMAGES),
            Operand::f32("B", &[("n", 1), ("h", 4), ("w", 5), ("c", 20)], IMAGES),
        ],
        written: &["B"],
        plain: "for (int h = 0; h < 4; ++h) for (int w = 0; w < 5; ++w) for (int c = 0; c < 20; ++c) { float most = -INFINITY; for (int r = 0; r < 3; ++r) for (int s = 0; s < 3; ++s) { const int y = 2 * h + r - 1, x = 2 * w + s - 1; if (y >= 0 && y < 8 && x >= 0 && x < 9) most = fmaxf(most, A[(y * 9 + x) * 20 + c]); } B[(h * 5 + w) * 20 + c] = most; }",
        numpy: "P = np.pad(A, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=-np.inf)\nB = np.max([P[:, r:r + 8:2, s:s + 9:2] for r in range(3) for s in range(3)], axis=0)",
        tolerance: "0",
        schedules: &[],
    });
}

#[test]
fn transposed_sum_is_correct_in_every_layout() {
    computes(&Kernel {
        name: "turned",
        text: "kernel turned { operands A B C\n  compute \"C[j, i] = A[i, j] + B[j, i]\" }\n",
        operands: vec![
            Operand::f32(
                "A",
                &[("i", 13), ("j", 18)],
                &[
                    "order i j",
                    "order j i",
                    "tile 4 8",
                    "swizzle 1 2 2 unit=elements; padding allow",
                    "strides 24 1; padding allow",
                ],
            ),
            Operand::f32("B", &[("j", 18), ("i", 13)], &["order j i", "order i j"]),
            Operand::f32(
                "C",
                &[("j", 18), ("i", 13)],
                &[
                    "order j i",
                    "tile 4 4",
                    "order i j",
                    "map \"(j, i) -> (j * 13 + i)\"",
                    "map \"(j, i) -> (17 - j, i)\"",
                ],
            ),
        ],
        written: &["C"],
        plain: "for (int i = 0; i < 13; ++i) for (int j = 0; j < 18; ++j) C[j * 13 + i] = A[i * 18 + j] + B[j * 13 + i];",
        numpy: "C = A.T + B",
        tolerance: "0",
        schedules: &[],
    });
}

#[test]
fn stencil_is_correct_in_every_layout() {
    computes(&Kernel {
        name: "stencil",
        text: "kernel stencil { operands A B\n  compute \"B[y, x] = 0.5 * A[y, x] + 0.125 * ((A[y - 1, x] ?? 0) + (A[y + 1, x] ?? 0) + (A[y, x - 1] ?? 0) + (A[y, x + 1] ?? 0))\" }\n",
        operands: vec![
            Operand::f32(
                "A",
                &[("y", 11), ("x", 14)],
                &[
                    "order y x",
                    "order x y",
                    "tile 4 8",
                    "pad y before=1 after=1; pad x before=1 after=1",
                    "strides 16 1; padding allow",
                ],
            ),
            Operand::f32(
                "B",
                &[("y", 11), ("x", 14)],
                &[
                    "order y x",
                    "tile 4 8",
                    "order x y",
                    "pad y before=1 after=1; pad x before=1 after=1",
                    "order y x",
                ],
            ),
        ],
        written: &["B"],
        plain: "for (int y = 0; y < 11; ++y) for (int x = 0; x < 14; ++x) { float sum = 0; if (y > 0) sum += A[(y - 1) * 14 + x]; if (y < 10) sum += A[(y + 1) * 14 + x]; if (x > 0) sum += A[y * 14 + x - 1]; if (x < 13) sum += A[y * 14 + x + 1]; B[y * 14 + x] = 0.5f * A[y * 14 + x] + 0.125f * sum; }",
        numpy: "P = np.pad(A, 1)\nB = 0.5 * A + 0.125 * (P[:-2, 1:-1] + P[2:, 1:-1] + P[1:-1, :-2] + P[1:-1, 2:])",
        tolerance: "1e-6",
        schedules: &[],
    });
}

#[test]
fn f16_reductions_accumulate_in_f32() {
    computes(&Kernel {
        name: "halves",
        text: "kernel halves { operands A B C\n  compute \"C[i, j] += A[i, k] * B[k, j]\" }\n",
        operands: vec![
            Operand {
                name: "A",
                dtype: "f16",
                element: "uint16_t",
                shape: &[("i", 5), ("k", 12)],
                layouts: &["order i k", "order k i"],
            },
            Operand {
                name: "B",
                dtype: "f16",
                element: "uint16_t",
                shape: &[("k", 12), ("j", 10)],
                layouts: &["order k j", "tile 4 4"],
            },
            Operand::f32("C", &[("i", 5), ("j", 10)], &["order i j", "tile 4 4"]),
        ],
        written: &["C"],
        // The f16 values are 0.25 * (1 + m / 1024), all normal.
        plain: "for (int i = 0; i < 5; ++i) for (int j = 0; j < 10; ++j) { float sum = 0; for (int k = 0; k < 12; ++k) sum += 0.25f * (1 + (float)(A[i * 12 + k] & 1023) / 1024) * (0.25f * (1 + (float)(B[k * 10 + j] & 1023) / 1024)); C[i * 10 + j] = sum; }",
        numpy: "C = A @ B",
        tolerance: "1e-5",
        schedules: &[],
    });
}

#[test]
fn texels_of_many_types_are_read_and_written() {
    let operand = |name, dtype, element, layouts| Operand {
        name,
        dtype,
        element,
        shape: &[("y", 8), ("x", 12)],
        layouts,
    };
    computes(&Kernel {
        name: "texels",
        text: "kernel texels { operands A B C D\n  compute \"C[y, x] = A[y, x] * f32(B[y, x] + (B[y, x - 1] ?? 3))\"\n  compute \"D[y, x] = B[y, x] - 2 * B[7 - y, x]\" }\n",
        operands: vec![
            operand(
                "A",
                "f16",
                "uint16_t",
                &[
                    "map \"(y, x) -> (y | x)\"",
                    "map \"(y, x) -> (x | y)\"",
                    "map \"(y, x) -> (y // 4, x // 4 | y % 4, x % 4)\"",
                    "order y x",
                ],
            ),
            operand(
                "B",
                "i16",
                "int16_t",
                &["map \"(y, x) -> (x | y)\"", "map \"(y, x) -> (y | x)\"", "order x y"],
            ),
            operand(
                "C",
                "f32",
                "float",
                &[
                    "map \"(y, x) -> (y | x)\"",
                    "map \"(y, x) -> (y // 4 | x, y % 4)\"",
                    "map \"(y, x) -> (x | y)\"",
                    "order y x",
                ],
            ),
            operand(
                "D",
                "i32",
                "int32_t",
                &[
                    "map \"(y, x) -> (x | y)\"",
                    "order y x",
                    "map \"(y, x) -> (y | x ^ (y % 4))\"; padding allow",
                ],
            ),
        ],
        written: &["C", "D"],
        // The f16 values are 0.25 * (1 + m / 1024), all normal.
        plain: "for (int y = 0; y < 8; ++y) for (int x = 0; x < 12; ++x) { C[y * 12 + x] = 0.25f * (1 + (float)(A[y * 12 + x] & 1023) / 1024) * (float)(B[y * 12 + x] + (x > 0 ? B[y * 12 + x - 1] : 3)); D[y * 12 + x] = B[y * 12 + x] - 2 * B[(7 - y) * 12 + x]; }",
        numpy: "C = A * (B + np.pad(B, ((0, 0), (1, 0)), constant_values=3)[:, :-1])\nD = B - 2 * B[::-1]",
        tolerance: "1e-6",
        schedules: &[],
    });
}

#[test]
fn i8_reductions_accumulate_in_integers() {
    computes(&Kernel {
        name: "bytes",
        text: "kernel bytes { operands A B C\n  compute \"C[i, j] += A[i, k] * B[k, j]\" }\n",
        operands: vec![
            Operand {
                name: "A",
                dtype: "i8",
                element: "int8_t",
                shape: &[("i", 5), ("k", 12)],
                layouts: &["order i k", "order k i"],
            },
            Operand {
                name: "B",
                dtype: "i8",
                element: "int8_t",
                shape: &[("k", 12), ("j", 10)],
                layouts: &["order k j", "tile 4 4"],
            },
            Operand {
                name: "C",
                dtype: "i32",
                element: "int32_t",
                shape: &[("i", 5), ("j", 10)],
                layouts: &["order i j", "tile 4 4"],
            },
        ],
        written: &["C"],
        plain: "for (int i = 0; i < 5; ++i) for (int j = 0; j < 10; ++j) { int sum = 0; for (int k = 0; k < 12; ++k) sum += A[i * 12 + k] * B[k * 10 + j]; C[i * 10 + j] = sum; }",
        numpy: "C = A @ B",
        tolerance: "0",
        schedules: &[],
    });
}

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
fn strided_operands_are_packed_for_vectorization() {
    computes(&Kernel {
        name: "near",
        text: "kernel near { operands A B C\n  compute \"C[i, j] += A[i, k] * B[k, j]\" }\n",
        operands: vec![
            Operand::f32("A", &[("i", 37), ("k", 70)], &["order i k"]),
            Operand::f32(
                "B",
                &[("k", 70), ("j", 300)],
                &[
                    "order j k",
                    "order k j",
                    "split j by=10; order k j_inner j_outer",
                    "map \"(k, j) -> (j, k ^ (j % 2))\"; padding allow",
                    "order j k",
                ],
            ),
            Operand::f32("C", &[("i", 37), ("j", 300)], &["order i j"]),
        ],
        written: &["C"],
        plain: "for (int i = 0; i < 37; ++i) for (int j = 0; j < 300; ++j) { float sum = 0; for (int k = 0; k < 70; ++k) sum += A[i * 70 + k] * B[k * 300 + j]; C[i * 300 + j] = sum; }",
        numpy: "C = A @ B",
        tolerance: "1e-4",
        schedules: &[(4, "parallel i"), (0, "parallel j")],
    });
    let text = std::fs::read_to_string(folder("kernel_near").join("kernel_near.c")).unwrap();
    let shared = "#pragma omp for nowait\n#endif\n    for (int64_t j_outer";
    assert!(text.contains(shared), "{text}");
    let blocks = text.matches("* LAYOUTC_RESTRICT const B").count();
    let blocks = blocks + text.matches("*LAYOUTC_RESTRICT const B").count();
    assert!(blocks >= 8, "{blocks} blocks: {text}");
}

#[test]
fn long_reductions_use_split_k() {
    computes(&Kernel {
        name: "parts",
        text: "kernel parts { operands A B C\n  compute \"C[i, j] += A[i, k] * B[k, j]\" }\n",
        operands: vec![
            Operand::f32("A", &[("i", 17), ("k", 5001)], &["order i k", "order k i"]),
            Operand::f32("B", &[("k", 5001), ("j", 40)], &["order j k"]),
            Operand::f32("C", &[("i", 17), ("j", 40)], &["order i j", "tile 4 16; fill 0"]),
        ],
        written: &["C"],
        plain: "for (int i = 0; i < 17; ++i) for (int j = 0; j < 40; ++j) { float sum = 0; for (int k = 0; k < 5001; ++k) sum += A[i * 5001 + k] * B[k * 40 + j]; C[i * 40 + j] = sum; }",
        numpy: "C = A @ B",
        tolerance: "1e-4",
        schedules: &[(1, "parallel i_outer")],
    });
    let text = std::fs::read_to_string(folder("kernel_parts").join("kernel_parts.c")).unwrap();
    assert!(text.contains("for (int64_t k_outer = 0; k_outer < "), "{text}");
    computes(&Kernel {
        name: "least",
        text: "kernel least { operands A B C\n  compute \"C[i, j] min= A[i, k] * B[k, j]\" }\n",
        operands: vec![
            Operand::f32("A", &[("i", 17), ("k", 5001)], &["order i k"]),
            Operand::f32("B", &[("k", 5001), ("j", 40)], &["order j k"]),
            Operand::f32("C", &[("i", 17), ("j", 40)], &["order i j"]),
        ],
        written: &["C"],
        plain: "for (int i = 0; i < 17; ++i) for (int j = 0; j < 40; ++j) { float least = A[i * 5001] * B[j]; for (int k = 1; k < 5001; ++k) { float value = A[i * 5001 + k] * B[k * 40 + j]; least = value < least ? value : least; } C[i * 40 + j] = least; }",
        numpy: "",
        tolerance: "0",
        schedules: &[],
    });
    let text = std::fs::read_to_string(folder("kernel_least").join("kernel_least.c")).unwrap();
    assert!(text.contains("for (int64_t k_outer = 0; k_outer < "), "{text}");
}

#[test]
fn leading_output_padding_reads_operands_in_bounds() {
    computes(&Kernel {
        name: "before",
        text: "kernel before { operands A B C\n  compute \"C[i, j] += A[i, k] * B[k, j]\" }\n",
        operands: vec![
            Operand::f32("A", &[("i", 20), ("k", 300)], &["order i k"]),
            Operand::f32("B", &[("k", 300), ("j", 37)], &["order j k"]),
            Operand::f32(
                "C",
                &[("i", 20), ("j", 37)],
                &[
                    "pad i before=1 after=1; padding allow",
                    "order j i; pad j before=1 after=3; pad i multiple=8; fill none",
                    "order j i; pad j before=1 after=3; fill 0",
                ],
            ),
        ],
        written: &["C"],
        plain: "for (int i = 0; i < 20; ++i) for (int j = 0; j < 37; ++j) { float sum = 0; for (int k = 0; k < 300; ++k) sum += A[i * 300 + k] * B[k * 37 + j]; C[i * 37 + j] = sum; }",
        numpy: "C = A @ B",
        tolerance: "1e-4",
        schedules: &[],
    });
}

#[test]
fn loop_invariant_operand_is_packed_once() {
    computes(&Kernel {
        name: "whole",
        text: "kernel whole { operands A W B\n  acc f32\n  compute \"B[h, w, k] += (A[h + r - 1, w, c] ?? 0) * W[k, c, r]\" }\n",
        operands: vec![
            Operand::f32("A", &[("h", 6), ("w", 9), ("c", 5)], &["order h w c", "order c h w"]),
            Operand {
                name: "W",
                dtype: "f16",
                element: "uint16_t",
                shape: &[("k", 16), ("c", 5), ("r", 3)],
                layouts: &["order k c r"],
            },
            Operand::f32("B", &[("h", 6), ("w", 9), ("k", 16)], &["order h w k", "order k h w"]),
        ],
        written: &["B"],
        plain: "for (int h = 0; h < 6; ++h) for (int w = 0; w < 9; ++w) for (int k = 0; k < 16; ++k) { float sum = 0; for (int c = 0; c < 5; ++c) for (int r = 0; r < 3; ++r) if (h + r >= 1 && h + r < 7) sum += A[((h + r - 1) * 9 + w) * 5 + c] * (0.25f * (1 + (float)(W[(k * 5 + c) * 3 + r] & 1023) / 1024)); B[(h * 9 + w) * 16 + k] = sum; }",
        numpy: "",
        tolerance: "1e-4",
        schedules: &[(1, "parallel h"), (0, "parallel w")],
    });
    let text = std::fs::read_to_string(folder("kernel_whole").join("kernel_whole.c")).unwrap();
    assert!(text.contains("const W_block = W_block_of_team;"), "{text}");
}

/// Register tiles of 6×2 vectors of 32 bytes, or 28×1 of 64 bytes, with operand packing of all columns.
#[test]
fn packed_operand_is_shared_by_register_tile_rows() {
    let text = "kernel thin { operands A B C\n  compute \"C[i, j] += A[i, k] * B[k, j]\" }\n\
        tensor a dtype=f32 { shape { i 64; k 1024 } }\n\
        tensor b dtype=f32 { shape { k 1024; j 16 }; layout { order j k } }\n\
        tensor c dtype=f32 { shape { i 64; j 16 } }\n\
        instance run of=thin A=a B=b C=c\n";
    let checked = check_text(text);
    let outputs = emit(&checked.manifests[0], &Settings::c(), "thin", &Templates::default());
    let outputs = outputs.unwrap();
    let source = &outputs.iter().find(|output| output.path == "thin.c").unwrap().text;
    for sums in ["float sum[96];", "float sum[448];", "const B_block = B_memory;"] {
        assert!(source.contains(sums), "{sums}:\n{source}");
    }
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

#[test]
fn reductions_without_vector_axes_use_partial_sums() {
    computes(&Kernel {
        name: "lanes_of_sums",
        text: "kernel lanes_of_sums { operands A X Y S M\n  compute \"Y[i] += A[i, k] * X[k]\"\n  compute \"S[i] += A[i, k]\"\n  compute \"M[i] max= abs(A[i, k])\" }\n",
        operands: vec![
            Operand::f32(
                "A",
                &[("i", 11), ("k", 203)],
                &["order i k", "strides 256 1; padding allow", "order i k", "split k by=29"],
            ),
            Operand::f32("X", &[("k", 203)], &["order k"]),
            Operand::f32("Y", &[("i", 11)], &["order i", "split i by=4"]),
            Operand::f32("S", &[("i", 11)], &["order i"]),
            Operand::f32("M", &[("i", 11)], &["order i"]),
        ],
        written: &["Y", "S", "M"],
        plain: "for (int i = 0; i < 11; ++i) { float y = 0, s = 0, m = 0; for (int k = 0; k < 203; ++k) { const float a = A[i * 203 + k]; y += a * X[k]; s += a; m = fabsf(a) > m ? fabsf(a) : m; } Y[i] = y; S[i] = s; M[i] = m; }",
        numpy: "Y = A @ X\nS = A.sum(1)\nM = np.abs(A).max(1)",
        tolerance: "1e-4",
        schedules: &[(2, "parallel i"), (0, "split k by=7")],
    });
    let text =
        std::fs::read_to_string(folder("kernel_lanes_of_sums").join("kernel_lanes_of_sums.c"));
    let text = text.unwrap();
    assert!(text.contains("for (int64_t k_inner = 0; k_inner < 2; ++k_inner)"), "{text}");
}

#[test]
fn accumulators_start_from_the_existing_output() {
    runs(
        "kernel_lanes_kept",
        "symbol columns min=0 max=1000\ntensor a dtype=i8 { shape { i 5; k columns } }\ntensor y dtype=i32 { shape { i 5 } }\n\
         kernel run { operands A Y; compute \"Y[i] += i32(A[i, k])\"; accumulate #true }\ninstance run of=run A=a Y=y\n",
        "int main(void) {\n\
             signed char *a = (signed char *)malloc(5000);\n\
             int32_t y[5];\n\
             int wrong = 0, i, k, n;\n\
             for (k = 0; k < 5000; ++k) a[k] = (signed char)(k * 7 % 251 - 125);\n\
             for (n = 0; n < 300; ++n) {\n\
                 for (i = 0; i < 5; ++i) y[i] = 1000 * i;\n\
                 run(n, a, y);\n\
                 for (i = 0; i < 5; ++i) {\n\
                     int32_t sum = 1000 * i;\n\
                     for (k = 0; k < n; ++k) sum += a[i * n + k];\n\
                     wrong += y[i] != sum;\n\
                 }\n\
             }\n\
             free(a);\n\
             return wrong != 0;\n}\n",
    );
}

#[test]
fn parallel_loops_stay_outside_the_reduction() {
    computes(&Kernel {
        name: "shared_rounds",
        text: "kernel shared_rounds { operands A B C\n  compute \"C[i, j] += A[i, k] * B[k, j]\"\n  parallel i }\n",
        operands: vec![
            Operand::f32("A", &[("i", 4), ("k", 9)], &["order i k"]),
            Operand::f32("B", &[("k", 9), ("j", 40)], &["order k j", "order j k"]),
            Operand::f32("C", &[("i", 4), ("j", 40)], &["order i j", "order j i"]),
        ],
        written: &["C"],
        plain: "for (int i = 0; i < 4; ++i) for (int j = 0; j < 40; ++j) { float sum = 0; for (int k = 0; k < 9; ++k) sum += A[i * 9 + k] * B[k * 40 + j]; C[i * 40 + j] = sum; }",
        numpy: "C = A @ B",
        tolerance: "1e-4",
        schedules: &[],
    });
    let text =
        std::fs::read_to_string(folder("kernel_shared_rounds").join("kernel_shared_rounds.c"));
    let text = text.unwrap();
    // The parallel region encloses the call, so that the loops are compiled for each vector length.
    assert!(
        text.contains("#pragma omp for\n") && text.contains("#pragma omp parallel\n"),
        "{text}"
    );
    assert!(!text.contains("#pragma omp parallel for"), "{text}");
}

/// RFC 0039: the loops follow the layout of the output, and can be reordered by the names of its axes.
#[test]
fn rfc_example_loops_follow_the_output_layout() {
    const RFC: &str = "map \"(i, j, k) -> (i // 4, jk_merged = 128*j + k, i % 4)\"";
    let kernel = Kernel {
        name: "twice",
        text: "kernel twice { operands A B\n  compute \"B[i, j, k] = 2 * A[i, j, k]\" }\n",
        operands: vec![
            Operand::f32(
                "A",
                &[("i", 16), ("j", 64), ("k", 128)],
                &["map \"(i, j, k) -> (i*64 + j, k // 4, k % 4)\""],
            ),
            Operand::f32("B", &[("i", 16), ("j", 64), ("k", 128)], &[RFC, RFC]),
        ],
        written: &["B"],
        plain: "for (int k = 0; k < 16 * 64 * 128; ++k) B[k] = 2 * A[k];",
        numpy: "B = 2 * A",
        tolerance: "0",
        schedules: &[(1, "loops i_outer i_inner jk_merged")],
    };
    computes(&kernel);
    let text = std::fs::read_to_string(folder("kernel_twice").join("kernel_twice.c")).unwrap();
    for (name, order) in [
        ("twice_0", ["i_outer", "jk_merged", "i_inner"]),
        ("twice_1", ["i_outer", "i_inner", "jk_merged"]),
    ] {
        let start = text.find(&format!(" layoutc_{name}_compute(")).unwrap();
        let body = &text[start..][..text[start..].find("\n}\n").unwrap()];
        let loops = body.lines().filter_map(|line| line.trim().strip_prefix("for (int64_t "));
        let loops: Vec<&str> = loops.filter_map(|rest| rest.split(' ').next()).collect();
        assert_eq!(loops, order, "{body}");
    }
}

/// Compiles the C of a manifest with a main program by every installed compiler, and runs it.
fn runs(stem: &str, manifest: &str, main: &str) {
    let checked = check_valid(manifest);
    let outputs = emit(&checked.manifests[0], &Settings::c(), stem, &Templates::default()).unwrap();
    let folder = folder(stem);
    common::cc::write(&folder, &outputs);
    let include = format!("#include \"{stem}.h\"\n#include <stdlib.h>\n");
    std::fs::write(folder.join("main.c"), include + main).unwrap();
    let source = format!("{stem}.c");
    for (k, compiler) in common::cc::compilers().into_iter().enumerate() {
        let both = ["main.c", source.as_str()];
        let sources = if compiler.2 { &both[..] } else { &both[1..2] };
        common::cc::compile_and_run(&folder, &format!("{stem}_{k}"), sources, compiler);
    }
}

#[test]
fn accumulation_reads_the_output_only_in_bounds() {
    runs(
        "kernel_kept",
        "tensor a dtype=f32 { shape { i 3; k 4 } }\ntensor b dtype=f32 { shape { k 4; j 12 } }\ntensor c dtype=f32 { shape { i 3; j 12 } }\n\
         kernel run { operands A B C; compute \"C[i, j] += A[i, k] * B[k, j]\"; accumulate #true }\n\
         instance tiled of=run A=a B=b C=c { tile i j by=\"2 8\" }\ninstance run of=run A=a B=b C=c\n\
         instance near of=run A=a B=b C=c { tile i j by=\"2 8\"; cache C at=j_outer; parallel i_outer; unroll i_outer }\n",
        "int main(void) {\n\
             float *a = (float *)malloc(48), *b = (float *)malloc(192), *c = (float *)malloc(144);\n\
             int wrong = 0, k;\n\
             for (k = 0; k < 12; ++k) a[k] = (float)k;\n\
             for (k = 0; k < 48; ++k) b[k] = (float)(k % 5);\n\
             for (k = 0; k < 36; ++k) c[k] = 100;\n\
             tiled(a, b, c); run(a, b, c); near(a, b, c);\n\
             for (k = 0; k < 36; ++k) {\n\
                 float sum = 0; int x;\n\
                 for (x = 0; x < 4; ++x) sum += a[k / 12 * 4 + x] * b[x * 12 + k % 12];\n\
                 wrong += c[k] < 99.9f + 3 * sum || c[k] > 100.1f + 3 * sum;\n\
             }\n\
             free(a); free(b); free(c);\n\
             return wrong != 0;\n}\n",
    );
}

/// Combinations of directives: nested parallel loops, a parallel loop that fits the register tile, a tile whose outer loops
/// are ordered around the reduction, a split factor beyond the extent, and an order beside a parallel loop.
#[test]
fn combined_schedule_directives_are_correct() {
    const ROWS: &[&str] = &["order i k"; 6];
    computes(&Kernel {
        name: "combined",
        text: "kernel combined { operands A B C\n  compute \"C[i, j] += A[i, k] * B[k, j]\" }\n",
        operands: vec![
            Operand::f32("A", &[("i", 16), ("k", 20)], ROWS),
            Operand::f32("B", &[("k", 20), ("j", 18)], &["order k j"]),
            Operand::f32("C", &[("i", 16), ("j", 18)], &["order i j"]),
        ],
        written: &["C"],
        plain: "for (int i = 0; i < 16; ++i) for (int j = 0; j < 18; ++j) { float sum = 0; for (int k = 0; k < 20; ++k) sum += A[i * 20 + k] * B[k * 18 + j]; C[i * 18 + j] = sum; }",
        numpy: "",
        tolerance: "1e-5",
        schedules: &[
            (0, "parallel i j"),
            (1, "parallel i"),
            (2, "tile i j by=\"8 8\"; loops i_outer k j_outer"),
            (3, "split i by=9223372036854775807"),
            (4, "loops j i; parallel i"),
            (5, "split k by=7; unroll k_inner; loops j k_outer"),
        ],
    });
    let text = folder("kernel_combined").join("kernel_combined.c");
    let text = std::fs::read_to_string(text).unwrap();
    let body = text.split("combined_1_compute(").nth(1).unwrap();
    let parallel = body.find("omp for").unwrap();
    assert!(parallel < body.find("k < 20").unwrap(), "a loop inside the reduction: {body}");
}

/// Two reductions whose register tiles hold all that they write: both declare an accumulator array outside all loops.
#[test]
fn reductions_without_outer_loops_use_separate_accumulators() {
    computes(&Kernel {
        name: "chained",
        text: "kernel chained { operands A B D C\n  compute \"t[i, j] += A[i, k] * B[k, j]\"\n  compute \"C[i, l] += t[i, j] * D[j, l]\"\n  local t dtype=f32 }\n",
        operands: vec![
            Operand::f32("A", &[("i", 3), ("k", 24)], &["order i k"]),
            Operand::f32("B", &[("k", 24), ("j", 31)], &["order k j"]),
            Operand::f32("D", &[("j", 31), ("l", 8)], &["order j l"]),
            Operand::f32("C", &[("i", 3), ("l", 8)], &["order i l"]),
        ],
        written: &["C"],
        plain: "for (int i = 0; i < 3; ++i) for (int l = 0; l < 8; ++l) { float sum = 0; for (int j = 0; j < 31; ++j) { float t = 0; for (int k = 0; k < 24; ++k) t += A[i * 24 + k] * B[k * 31 + j]; sum += t * D[j * 8 + l]; } C[i * 8 + l] = sum; }",
        numpy: "",
        tolerance: "1e-4",
        schedules: &[],
    });
}

/// A sum over one value needs no accumulator, so that only the test program converts it.
#[test]
fn sums_of_narrow_integers_over_one_value_link() {
    computes(&Kernel {
        name: "narrow",
        text: "kernel narrow { operands A C\n  compute \"C[i] += A[i, j]\" }\n",
        operands: vec![
            Operand {
                name: "A",
                dtype: "i8",
                element: "int8_t",
                shape: &[("i", 13), ("j", 1)],
                layouts: &["order i j"],
            },
            Operand {
                name: "C",
                dtype: "i8",
                element: "int8_t",
                shape: &[("i", 13)],
                layouts: &["order i"],
            },
        ],
        written: &["C"],
        plain: "for (int i = 0; i < 13; ++i) C[i] = A[i];",
        numpy: "",
        tolerance: "0",
        schedules: &[],
    });
}
