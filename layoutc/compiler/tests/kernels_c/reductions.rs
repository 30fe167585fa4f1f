//! Reductions: chunks, partial sums and initial values.

use super::runs;
use crate::common::cc::folder;
use crate::common::kernel::{Kernel, Operand, computes};

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
