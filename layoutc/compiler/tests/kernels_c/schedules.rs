//! Loop orders and loop schedules.

use crate::common::cc::folder;
use crate::common::kernel::{Kernel, Operand, computes};

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
