//! Element types of operands: texels, narrow floats and narrow integers.

use crate::common::kernel::{Kernel, Operand, computes};

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
