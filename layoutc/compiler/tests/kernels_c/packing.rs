//! Operands that are packed before the inner loops.

use crate::common::cc::folder;
use crate::common::check_text::check_text;
use crate::common::kernel::{Kernel, Operand, computes};
use layoutc_compiler::emit::{Settings, Templates, emit};

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
