//! Accesses next to padding, which stay in bounds.

use super::runs;
use crate::common::kernel::{Kernel, Operand, computes};

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
