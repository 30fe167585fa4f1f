//! Reductions whose results another statement maps one by one: the map is the epilogue of the reduction, over layouts and
//! schedules, in C, OpenCL and CUDA, against C references.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

use crate::common::check_text::check_valid;
use crate::common::kernel;
use kernel::{Kernel, Operand, computes};
use layoutc_compiler::model::compute::KernelInstance;

/// Scale, bias and maximum with 0 of a product, whose output has other layouts than the operands, in registers, in partial tiles
/// and in blocks of shared memory.
#[test]
fn products_are_scaled_and_clamped_in_registers() {
    computes(&Kernel {
        name: "scaled",
        text: "kernel scaled { operands A B S D C\n  compute \"t[i, j] += A[i, k] * B[k, j]\"\n  compute \"C[j, i] = max(t[i, j] * S[j] + D[i, j], 0)\" }\n",
        operands: vec![
            Operand::f32("A", &[("i", 37), ("k", 19)], &["order i k", "order k i", "tile 8 4"]),
            Operand::f32("B", &[("k", 19), ("j", 70)], &["order k j", "order j k"]),
            Operand::f32("S", &[("j", 70)], &["order j"]),
            Operand::f32("D", &[("i", 37), ("j", 70)], &["order i j", "order j i"]),
            Operand::f32(
                "C",
                &[("j", 70), ("i", 37)],
                &[
                    "order j i",
                    "order i j",
                    "order i j",
                    "split j by=16; padding allow; order j_outer i j_inner",
                    "order i j",
                    "order j i",
                ],
            ),
        ],
        written: &["C"],
        plain: "for (int i = 0; i < 37; ++i) for (int j = 0; j < 70; ++j) { float sum = 0; for (int k = 0; k < 19; ++k) sum += A[i * 19 + k] * B[k * 70 + j]; const float v = sum * S[j] + D[i * 70 + j]; C[j * 37 + i] = v > 0 ? v : 0; }",
        numpy: "",
        tolerance: "1e-4",
        schedules: &[
            (1, "tile i j by=\"8 16\""),
            (2, "tile i j by=\"32 32\"; split k by=8; cache A at=k_outer; cache B at=k_outer"),
            (4, "loops i k j; parallel i"),
            (5, "tile j i by=\"16 16\"; cache A at=k; cache B at=k; cache C at=i_outer"),
        ],
    });
}

/// Sums of rows are partial sums; the epilogue uses the sum twice.
#[test]
fn rows_are_normalized_after_partial_sums() {
    computes(&Kernel {
        name: "norms",
        text: "kernel norms { operands x out\n  compute \"s[r] += x[r, c] * x[r, c]\"\n  compute \"out[r] = s[r] / (1 + s[r])\" }\n",
        operands: vec![
            Operand::f32("x", &[("r", 13), ("c", 300)], &["order r c", "order c r", "tile 4 32"]),
            Operand::f32("out", &[("r", 13)], &["order r", "pad r multiple=8; padding allow"]),
        ],
        written: &["out"],
        plain: "for (int r = 0; r < 13; ++r) { float s = 0; for (int c = 0; c < 300; ++c) s += x[r * 300 + c] * x[r * 300 + c]; out[r] = s / (1 + s); }",
        numpy: "",
        tolerance: "1e-4",
        schedules: &[],
    });
}

/// A product with a bias and a maximum with 0 over `k` of this extent, which `plain` computes.
#[track_caller]
fn chunks(
    [text, plain]: [&'static str; 2],
    [a, b, d, c]: [&'static [(&'static str, usize)]; 4],
    schedules: &'static [(usize, &'static str)],
) {
    let layouts =
        &["order i j", "order j i", "split j by=32; padding allow; order j_outer i j_inner"];
    computes(&Kernel {
        name: if schedules.is_empty() { "long_chunks" } else { "chunks" },
        text,
        operands: vec![
            Operand::f32("A", a, &["order i k", "order k i"]),
            Operand::f32("B", b, &["order k j", "order j k"]),
            Operand::f32("D", d, &["order j"]),
            Operand::f32("C", c, layouts),
        ],
        written: &["C"],
        plain,
        numpy: "",
        tolerance: "1e-3",
        schedules,
    });
}

/// A reduction in chunks (split-K) stores sums in the output, and the epilogue of the last chunk maps them: the planner's
/// chunks, and those of schedules, with one value and with partial sums in each.
#[test]
fn chunks_of_a_reduction_share_one_epilogue() {
    let long = [
        "kernel long_chunks { operands A B D C\n  compute \"t[i, j] += A[i, k] * B[k, j]\"\n  compute \"C[i, j] = max(t[i, j] + D[j], 0)\" }\n",
        "for (int i = 0; i < 17; ++i) for (int j = 0; j < 33; ++j) { double sum = 0; for (int k = 0; k < 5000; ++k) sum += A[i * 5000 + k] * B[k * 33 + j]; const float v = (float)(sum + D[j]); C[i * 33 + j] = v > 0 ? v : 0; }",
    ];
    let shapes: [&[_]; 4] = [
        &[("i", 17), ("k", 5000)],
        &[("k", 5000), ("j", 33)],
        &[("j", 33)],
        &[("i", 17), ("j", 33)],
    ];
    chunks(long, shapes, &[]);
    let short = [
        "kernel chunks { operands A B D C\n  compute \"t[i, j] += A[i, k] * B[k, j]\"\n  compute \"C[i, j] = max(t[i, j] + D[j], 0)\" }\n",
        "for (int i = 0; i < 37; ++i) for (int j = 0; j < 70; ++j) { double sum = 0; for (int k = 0; k < 300; ++k) sum += A[i * 300 + k] * B[k * 70 + j]; const float v = (float)(sum + D[j]); C[i * 70 + j] = v > 0 ? v : 0; }",
    ];
    let schedules = &[
        (1, "schedule { split k by=64; loops k_outer i j k_inner; split-k k_outer }"),
        (
            2,
            "schedule { split k by=100; split k_inner by=4; loops k_outer j_outer i j_inner k_inner_outer k_inner_inner; split-k k_outer; partial-sums k_inner_inner }",
        ),
    ];
    let shapes: [&[_]; 4] =
        [&[("i", 37), ("k", 300)], &[("k", 300), ("j", 70)], &[("j", 70)], &[("i", 37), ("j", 70)]];
    chunks(short, shapes, schedules);
}

/// The kernel of a manifest with tensors `a` (i 8, k 8), `b` (i 8), `c` (i 8) and `d` (j 8, i 8).
#[track_caller]
fn checked(kernel: &str) -> KernelInstance {
    let text = format!(
        "tensor a dtype=f32 {{ shape {{ i 8; k 8 }} }}\ntensor b dtype=f32 {{ shape {{ i 8 }} }}\n\
         tensor c dtype=f32 {{ shape {{ i 8 }} }}\ntensor d dtype=f32 {{ shape {{ j 8; i 8 }} }}\n\
         kernel k {{ {kernel} }}\n"
    );
    check_valid(&text).manifests.remove(0).computes.remove(0)
}

#[test]
fn statements_fuse_only_where_each_result_is_used_once() {
    let fused = [
        "compute \"t[i] += a[i, k]\"; compute \"b[i] = t[i] * c[i]\"",
        "compute \"t[i] max= a[i, k]\"; compute \"b[i] = t[i] + t[i]\"",
        "compute \"t[i, j] += a[i, k] * d[j, i]\"; compute \"d[j, i] = t[i, j]\"",
        "compute \"t[i] += a[i, k]\"; compute \"u[i] = t[i] + 1\"; compute \"b[i] = u[i] * u[i]\"",
        "compute \"t[i] += a[i, k]\"; compute \"b[i] = t[i]\"; compute \"c[i] = b[i] + 1\"",
    ];
    let counts = [1, 1, 2, 1, 2];
    for (text, count) in fused.into_iter().zip(counts) {
        let compute = checked(text);
        assert_eq!(compute.statements.len(), count, "{text}");
        assert_eq!(compute.locals.len(), usize::from(text.contains("d[j, i] =")), "{text}");
    }
    let apart = [
        // The intermediate has storage of its own.
        "local t dtype=f32; compute \"t[i] += a[i, k]\"; compute \"b[i] = t[i]\"",
        // A result is used by several elements, or by a reduction, or read at another element.
        "compute \"t[i] += a[i, k]\"; compute \"d[j, i] = t[i]\"",
        "compute \"t[i] += a[i, k]\"; compute \"b[i] += t[i] * d[j, i]\"",
        "compute \"t[i] += a[i, k]\"; compute \"b[i] = t[i] + (t[i - 1] ?? 0)\"",
        "compute \"t[i] += a[i, k]\"; compute \"b[i] = t[7 - i]\"",
        // A later statement reads it too.
        "compute \"t[i] += a[i, k]\"; compute \"b[i] = t[i]\"; compute \"c[i] = t[i] * b[i]\"",
        // Another statement lies between the two.
        "compute \"t[i] += a[i, k]\"; compute \"c[i] = a[i, 0]\"; compute \"b[i] = t[i] * c[i]\"",
        // The reduction reads what the other statement writes.
        "compute \"t[i] += b[i] * a[i, k]\"; compute \"b[i] = t[i]\"",
        "cache t at=i; compute \"t[i] += a[i, k]\"; compute \"b[i] = t[i]\"",
    ];
    for text in apart {
        let compute = checked(text);
        assert!(compute.statements.iter().all(|own| own.epilogue.is_none()), "{text}");
    }
}
