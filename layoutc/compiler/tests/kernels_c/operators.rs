//! Operators of neural networks in every layout.

use crate::common::kernel::{Kernel, Operand, computes};

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
