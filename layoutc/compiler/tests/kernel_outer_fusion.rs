//! Outermost loops of consecutive statements: one loop computes all of them where each iteration uses only what it writes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test, which compiles what it generates"
)]

use std::process::Command;

use crate::common::cc::{build_and_run, folder, write};
use crate::common::check_text::check_valid;
use layoutc_compiler::emit::{GeneratedFile, Settings, Templates, emit};

/// C files of `kernel`, on tensors `x` and `z` (r 8, c 9), `v` (r 8) and `p` (r 8, c 9, padded).
#[track_caller]
fn source(kernel: &str) -> Vec<GeneratedFile> {
    let text = format!(
        "tensor x dtype=f32 {{ shape {{ r 8; c 9 }} }}\ntensor z like=x\ntensor v dtype=f32 {{ shape {{ r 8 }} }}\n\
         tensor p like=x {{ layout {{ pad c multiple=16; fill 3; padding allow }} }}\nkernel k {{ {kernel} }}\n"
    );
    let checked = check_valid(&text);
    emit(&checked.manifests[0], &Settings::c(), "m", &Templates::default()).unwrap()
}

/// Number of outermost loops in the function `k` that `kernel` generates.
#[track_caller]
fn outermost_loops(kernel: &str) -> usize {
    let files = source(kernel);
    let file = files.iter().find(|file| file.path == "m.c").unwrap();
    let (_, function) = file.text.split_once("void layoutc_k_compute(").unwrap();
    let function = function.split("\n}").next().unwrap();
    function.lines().filter(|line| line.starts_with("    for (")).count()
}

#[test]
fn rows_are_computed_by_one_loop() {
    let fused = [
        "compute \"m[r] max= x[r, c]\"; compute \"s[r] += exp(x[r, c] - m[r])\"; compute \"z[r, c] = exp(x[r, c] - m[r]) / s[r]\"",
        "compute \"m[r] max= x[r, c]\"; compute \"x[r, c] = x[r, c] - m[r]\"",
        "compute \"v[r] += x[r, c]\"; compute \"z[r, c] = x[r, c] * v[r]\"",
    ];
    for text in fused {
        assert_eq!(outermost_loops(text), 1, "{text}");
    }
    // The padding of `p` is filled before.
    let filled = "compute \"m[r] += x[r, c]\"; compute \"p[r, c] = x[r, c] - m[r]\"";
    assert_eq!(outermost_loops(filled), 2);
}

/// Blocks of a row have buffers of their own in the common loop.
#[test]
fn staged_rows_share_a_loop() {
    let text = "cache x at=r; compute \"m[r] max= x[r, c]\"; compute \"s[r] += exp(x[r, c] - m[r])\"; \
                compute \"z[r, c] = exp(x[r, c] - m[r]) / s[r]\"";
    let folder = folder("staged_rows");
    write(&folder, &source(text));
    let mut command = Command::new("gcc");
    command.args([
        "-std=c11",
        "-Wall",
        "-Werror",
        "-O1",
        "-o",
        "program",
        "m.c",
        "tests/m_test.c",
        "-lm",
    ]);
    build_and_run(&mut command, &folder, "program");
}

#[test]
fn loops_stay_apart_where_an_iteration_uses_others() {
    let apart = [
        // Reads of other rows, before and after they are written.
        "compute \"m[r] max= x[r, c]\"; compute \"z[r, c] = x[r, c] - m[7 - r]\"",
        "compute \"m[r] max= x[r, c]\"; compute \"z[r, c] = x[r, c] - m[0]\"",
        "compute \"v[r] += x[7 - r, c]\"; compute \"x[r, c] = v[r]\"",
        "compute \"z[r, c] = x[r, c]\"; compute \"v[r] += z[r, c] * z[7 - r, c]\"",
        // Nothing in common.
        "compute \"z[r, c] = 1\"; compute \"v[r] += x[r, c]\"",
    ];
    for text in apart {
        assert_eq!(outermost_loops(text), 2, "{text}");
    }
    // The padding of `p` is filled before its elements, which the first statement reads.
    let filled = "compute \"m[r] += p[r, c]\"; compute \"p[r, c] = x[r, c] - m[r]\"";
    assert_eq!(outermost_loops(filled), 3);
}
