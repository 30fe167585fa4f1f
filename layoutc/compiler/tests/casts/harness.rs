//! Programs in C, OpenCL and CUDA that call pack and unpack functions on files, and compare the results.

use layoutc_testing::is_full;
use layoutc_testing::process::is_installed;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::common::cc::compile_and_run;
use crate::common::check_text::check_text;
use crate::common::gpu::Platform;
use crate::common::{gpu, moves};
use layoutc_compiler::base::diagnostic::Severity;
use layoutc_compiler::config::{Config, TargetCuda, TargetOpenCl, TargetsConfig};
use layoutc_compiler::emit::{Settings, Templates, emit};
use layoutc_compiler::model::Manifest;
use layoutc_compiler::{Compiler, MemorySources};

/// A function to call, with the files of its input and its expected output.
pub(super) struct Case {
    /// Name of the function.
    pub(super) name: String,
    pub(super) read: String,
    pub(super) read_bytes: usize,
    pub(super) written: String,
    pub(super) written_bytes: usize,
}

pub(super) fn checked(text: &str) -> Manifest {
    let checked = check_text(text);
    let found = checked.diagnostics.iter();
    let errors: Vec<_> = found.filter(|found| found.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
    checked.manifests.into_iter().next().unwrap()
}

/// Elements as little-endian bytes; packed elements as a bit stream, low bits first.
pub(super) fn buffer(bits: u32, values: impl Iterator<Item = u64>) -> Vec<u8> {
    if bits >= 8 {
        let bytes = usize::try_from(bits / 8).unwrap();
        return values.flat_map(|value| value.to_le_bytes()[..bytes].to_vec()).collect();
    }
    let values: Vec<u64> = values.collect();
    let stream: Vec<u64> =
        values.iter().flat_map(|value| (0..bits).map(move |bit| value >> bit & 1)).collect();
    let byte = |bits: &[u64]| {
        let parts = (0..).zip(bits).map(|(k, bit)| bit << k);
        u8::try_from(parts.fold(0, |all: u64, part: u64| all | part)).unwrap()
    };
    stream.chunks(8).map(byte).collect()
}

const HARNESS: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "m.h"

static unsigned char *load(const char *name, size_t bytes) {
    unsigned char *const all = malloc(bytes + 1);
    char path[4096];
    FILE *file;
    snprintf(path, sizeof path, "%s/%s", ROOT, name);
    file = fopen(path, "rb");
    if (!all || !file || fread(all, 1, bytes, file) != bytes) {
        printf("%s is not there\n", name);
        exit(2);
    }
    fclose(file);
    return all;
}

static int differ(const char *what, const unsigned char *found, const char *name, size_t bytes) {
    unsigned char *const wanted = load(name, bytes);
    for (size_t k = 0; k < bytes; ++k) {
        if (found[k] != wanted[k]) {
            printf("%s: byte %zu is 0x%02X, and should be 0x%02X\n", what, k, found[k], wanted[k]);
            return 1;
        }
    }
    free(wanted);
    return 0;
}

"#;

fn harness(root: &Path, cases: &[Case]) -> String {
    let head = format!("#define ROOT \"{}\"\n{HARNESS}", root.display());
    let mut text = format!("{head}int main(void) {{\n    int failed = 0;\n");
    for Case { name, read, read_bytes, written, written_bytes } in cases {
        writeln!(
            text,
            "    {{\n        unsigned char *const from = load(\"{read}\", {read_bytes});\n        \
             unsigned char *const to = malloc({written_bytes} + 1);\n        memset(to, 0xAA, {written_bytes});\n        \
             {name}((const void *)from, (void *)to);\n        failed |= differ(\"{name}\", to, \"{written}\", {written_bytes});\n        \
             free(from);\n        free(to);\n    }}"
        )
        .unwrap();
    }
    text.push_str("    return failed;\n}\n");
    text
}

/// Writes the generated C of a manifest and the harness.
pub(super) fn written(root: &Path, text: &str, cases: &[Case]) {
    let outputs = emit(&checked(text), &Settings::c(), "m", &Templates::default()).unwrap();
    for output in outputs {
        layoutc_testing::files::write(root.join(&output.path), &output.text);
    }
    std::fs::write(root.join("harness.c"), harness(root, cases)).unwrap();
}

/// Runs the harness with every compiler and vector length; with more flags under `LAYOUTC_FULL=1`.
pub(super) fn run_c(root: &Path) {
    let address = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let flags = |flags: &[&'static str]| flags.to_vec();
    let mut modes: Vec<(&str, Vec<&str>)> = vec![
        ("gcc", [flags(&["-O0"]), address.to_vec()].concat()),
        ("gcc", flags(&["-O2", "-DLAYOUTC_VECTOR=32"])),
        ("clang", flags(&["-O1", "-DLAYOUTC_VECTOR=0"])),
        ("tcc", Vec::new()),
    ];
    if is_full() {
        modes.extend([
            ("gcc", flags(&["-O3", "-DLAYOUTC_VECTOR=0"])),
            ("clang", flags(&["-O2"])),
            ("clang", [flags(&["-O0", "-DLAYOUTC_VECTOR=32"]), address.to_vec()].concat()),
        ]);
    }
    std::thread::scope(|scope| {
        for (k, (compiler, flags)) in (0..).zip(modes).filter(|(_, mode)| is_installed(mode.0)) {
            scope.spawn(move || {
                let mode = (compiler, [flags, vec!["-Wall", "-Werror"]].concat(), true);
                compile_and_run(root, &format!("harness_{k}"), &["harness.c", "m.c"], mode);
            });
        }
    });
}

/// Writes the generated OpenCL and CUDA files.
pub(super) fn write_gpu(root: &Path, text: &str) {
    let (opencl, cuda) = (Some(TargetOpenCl::default()), Some(TargetCuda::default()));
    let target =
        TargetsConfig { c: None, opencl, cuda, hip: None, rust: None, own: BTreeMap::new() };
    let config = Config { target, ..Config::default() };
    let sources = MemorySources::of("m.kdl", text);
    let compiler = Compiler::new(&sources, &config);
    let checked = compiler.check(&["m.kdl".to_owned()]);
    for output in compiler.emit(&checked, &Templates::default()).unwrap() {
        let name = output.path.rsplit('/').next().unwrap().to_owned();
        layoutc_testing::files::write(root.join(name), &output.text);
    }
}

pub(super) fn run_gpu(root: &Path, text: &str, cases: &[Case]) {
    write_gpu(root, text);
    let mut job = "options -cl-opt-disable\nprogram m.cl\nguard 64\n".to_owned();
    let mut driver = "#include \"m.cuh\"\n#include \"driver.h\"\n\nint main(void) {\n".to_owned();
    let header = std::fs::read_to_string(root.join("m.h")).unwrap();
    for Case { name, read, read_bytes, written, written_bytes } in cases {
        let stated = format!("{}_GLOBAL_SIZE_0", name.to_uppercase());
        let items = moves::constant(&header, &stated).unwrap().div_ceil(256) * 256;
        writeln!(
            job,
            "buffer from {read_bytes} file {read}\nbuffer to {written_bytes} fill 170\n\
             run {name} {items} local 256 args mem from mem to\ncompare to {written}\nfree from\nfree to"
        )
        .unwrap();
        writeln!(
            driver,
            "    {{\n        const Buffer from(\"{read}\", {read_bytes});\n        const Buffer to(\"\", {written_bytes});\n        \
             done({name}(from, to, nullptr), \"{name}\");\n        to.expect(\"{name}\", \"{written}\");\n    }}"
        )
        .unwrap();
    }
    driver.push_str("    return 0;\n}\n");
    std::fs::write(root.join("casts.job"), job).unwrap();
    std::fs::write(root.join("driver.h"), include_str!("../gpu/driver.h")).unwrap();
    std::fs::write(root.join("main.cpp"), driver).unwrap();
    for platform in gpu::platforms().into_iter().filter(|one| *one == Platform::Pocl) {
        gpu::run_cl(platform, root, &["casts.job"]).unwrap_or_else(|error| panic!("{error}"));
    }
    for compiler in gpu::cuda_compilers() {
        let program = gpu::compile_for_cpu(&compiler, root, &["m.cu", "main.cpp"], "cpu");
        let ran = program.and_then(|program| gpu::run_program(&program, &[]));
        ran.unwrap_or_else(|error| panic!("{error}"));
    }
    let Some(nvcc) = gpu::nvcc() else { return };
    gpu::compile_with_nvcc(&nvcc, root, "m.cu", gpu::ARCHS)
        .unwrap_or_else(|error| panic!("{error}"));
    if gpu::gpu() {
        let program = gpu::compile_for_gpu(&nvcc, root, &["m.cu", "main.cpp"], "gpu").unwrap();
        gpu::run_program(&program, &[]).unwrap_or_else(|error| panic!("{error}"));
    }
}
