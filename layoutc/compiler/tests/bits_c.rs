//! Emitted pack, unpack and convert preserve every bit of signalling NaNs, also on 32-bit x86 without SSE, where
//! assigning a float goes through an x87 register and quiets them. `LAYOUTC_FULL=1` runs 24 manifests.
#![allow(clippy::disallowed_methods, reason = "writes sources and runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::common::cc::folder;
use crate::common::compile_cache;
use crate::random_manifest::{built, manifest};
use layoutc_algebra::expr::Var;
use layoutc_compiler::config::Config;
use layoutc_compiler::model::{Manifest, Tensor};
use layoutc_testing::campaign::is_available;
use layoutc_testing::process::is_installed;
use layoutc_testing::{Random, cases};

/// Flags for 32-bit x86 without SSE and without a C library.
const FLAGS: &[&str] = &[
    "-std=gnu99",
    "-m32",
    "-march=i586",
    "-fno-pic",
    "-fno-pie",
    "-static",
    "-nostdlib",
    "-ffreestanding",
    "-fbuiltin",
    "-fno-stack-protector",
    "-Wall",
    "-Wextra",
    "-Werror",
];

/// Layout of the original fault: its conversion copies single elements.
const TURNED: &str = r#"
tensor rows dtype=f32 { shape { n 3; c 5 } }
tensor turned dtype=f32 {
    shape { n 3; c 5 }
    layout { map "(n, c) -> (n ^ 1, (c + n) % 5)"; padding allow }
}
convert rows to=turned
convert turned to=rows
"#;

/// C functions that fill a buffer with distinct signalling NaNs and check them.
const HELPERS: &str = r#"
#include "m.h"
#include <string.h>
#define BYTES (1 << 20)
static double dense[BYTES / 8], laid[BYTES / 8], other[BYTES / 8], back[BYTES / 8];

static void fill(int bytes, int64_t count) {
    for (int64_t k = 0; k < count; ++k) {
        const uint64_t wide = UINT64_C(0x7ff0000000000001) + (uint64_t)k * 3;
        const uint32_t single = UINT32_C(0x7f800001) + (uint32_t)k * 3;
        const void *const from = bytes == 8 ? (const void *)&wide : (const void *)&single;
        memcpy((char *)dense + k * bytes, from, (size_t)bytes);
    }
}

static int kept(int bytes, int64_t count) {
    for (int64_t k = 0; k < bytes * count; ++k) {
        if (((const char *)dense)[k] != ((const char *)back)[k]) {
            return 0;
        }
    }
    return 1;
}

static int signalling(int bytes, int64_t count) {
    for (int64_t k = 0; k < count; ++k) {
        uint32_t high;
        memcpy(&high, (const char *)back + (k + 1) * bytes - 4, 4);
        if (bytes == 8 ? (high & 0xFFF80000) != 0x7FF00000 : (high & 0xFFC00000) != 0x7F800000) {
            return 0;
        }
    }
    return 1;
}
"#;

/// Program whose exit status is the number of the first move that loses a bit.
fn driver(manifest: &Manifest, size: i64) -> String {
    let mut text = format!("{HELPERS}\nint run(void) {{\n");
    let args = |tensor: &Tensor| {
        if tensor.layout.symbols().is_empty() { String::new() } else { format!("{size}, ") }
    };
    // Bytes per number, and their count: a complex element has two, a vector one per lane.
    let numbers = |tensor: &Tensor| {
        let at = |var| matches!(var, Var::Symbol(_)).then_some(i128::from(size));
        let elements = tensor.layout.logical_elements().evaluate(&at).unwrap();
        let bytes = if tensor.dtype.to_string() == "f64" { 8 } else { 4 };
        format!("{bytes}, {}", elements * i128::from(tensor.dtype.element_bits() / 8 / bytes))
    };
    let mut status = 0;
    for tensor in &manifest.tensors {
        let (name, args, numbers) = (&tensor.name, args(tensor), numbers(tensor));
        status += 1;
        writeln!(
            text,
            "    fill({numbers});
    memset(back, 0, BYTES);
    {name}_pack({args}(const void *)dense, (void *)laid);
    {name}_unpack({args}(const void *)laid, (void *)back);
    if (!kept({numbers})) {{ return {status}; }}"
        )
        .unwrap();
    }
    for convert in &manifest.converts {
        let [from, to] = crate::common::positions(convert).map(|k| &manifest.tensors[k]);
        let (args, numbers) = (args(to), numbers(to));
        status += 1;
        let (from, to) = (&from.name, &to.name);
        writeln!(
            text,
            "    fill({numbers});
    memset(back, 0, BYTES);
    {from}_pack({args}(const void *)dense, (void *)laid);
    {from}_to_{to}({args}(const void *)laid, (void *)other);
    {to}_unpack({args}(const void *)other, (void *)back);
    if (!signalling({numbers})) {{ return {status}; }}"
        )
        .unwrap();
    }
    text.push_str("    return 0;\n}\n");
    text
}

/// Exit status of a program for 32-bit x86; `None` if neither the machine nor an emulator runs it.
fn status(program: &Path) -> Option<i32> {
    let ran = Command::new(program).status();
    let ran = ran.or_else(|_| Command::new("qemu-i386").arg(program).status());
    ran.ok().and_then(|status| status.code())
}

/// Compiles and runs the C of a manifest with gcc and clang.
fn moves_keep_bits(name: &str, text: &str, sizes: &[i64]) {
    let (checked, outputs) = built(text, &Config::default()).unwrap();
    let folder = folder(&format!("bits_c_{name}"));
    for file in ["m.h", "m.c"] {
        std::fs::write(folder.join(file), &outputs[file]).unwrap();
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bits");
    let include = format!("-I{}", own.display());
    let start = own.join("start.c");
    for size in sizes {
        let driver_file = format!("driver_{size}.c");
        std::fs::write(folder.join(&driver_file), driver(&checked.manifests[0], *size)).unwrap();
        for (compiler, level) in [("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O2")] {
            if !is_installed(compiler) {
                continue;
            }
            let program = format!("moves_{size}_{compiler}{level}");
            let mut command = Command::new(compiler);
            command.args(FLAGS).args([level, &include, "-o", &program, &driver_file, "m.c"]);
            command.arg(&start);
            if compiler == "gcc" {
                command.args(["-mfpmath=387", "-no-pie"]);
            }
            compile_cache::compile(&mut command, &folder, Some(&program), &[&own])
                .unwrap_or_else(|message| panic!("{message}\n{text}"));
            let status = status(&folder.join(&program));
            if !is_available(status.is_some(), "a processor or emulator of 32-bit x86") {
                return;
            }
            assert_eq!(status, Some(0), "{compiler} {level}, size {size}\n{text}");
        }
    }
}

#[test]
fn transposes_preserve_signaling_nans_on_x86_without_sse() {
    moves_keep_bits("turned", TURNED, &[0]);
    moves_keep_bits("turned_f64", &TURNED.replace("f32", "f64"), &[0]);
}

#[test]
fn random_layouts_preserve_signaling_nans_without_sse() {
    for seed in 0..cases(4, 12) {
        let mut random = Random::new(5_100_000 + seed);
        let config = Config::default();
        let floats = ["f32", "f64", "c64", "f32x4"];
        let manifest = manifest(&mut random, 5, &config, &floats, |_, tensor| tensor);
        moves_keep_bits(&format!("seed_{seed}"), &manifest.text(), &manifest.sizes);
    }
}
