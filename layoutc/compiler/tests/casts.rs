//! Relayouts with a cast: every pair of types and several kinds of layouts, in process, in C, OpenCL and CUDA. The
//! oracle is the definition in `cast_values`, on all bit patterns worth testing.
#![allow(clippy::disallowed_methods, reason = "writes files, runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use crate::cast_values;
use crate::common;
use crate::common::check_text::check_text;
use crate::common::{gpu, moves};
use crate::random_manifest;
use layoutc_testing::process::is_installed;
use layoutc_testing::{Random, cases, is_full};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use cast_values::{Type, converted, types, worth_trying};
use common::cc::{compile_and_run, folder, run};
use gpu::Platform;
use layoutc_compiler::base::cast::{Cast, CastEvaluator, CastMode};
use layoutc_compiler::base::diagnostic::Severity;
use layoutc_compiler::base::dtype::Dtype;
use layoutc_compiler::config::{Config, TargetCuda, TargetOpenCl, TargetsConfig};
use layoutc_compiler::emit::{Settings, Templates, emit};
use layoutc_compiler::model::{Manifest, Tensor};
use layoutc_compiler::run::{pack, unpack};
use layoutc_compiler::{Compiler, MemorySources};
use random_manifest::{dtypes, manifest as random};

const MODES: [(&str, CastMode); 2] = [("round", CastMode::Round), ("saturate", CastMode::Saturate)];

fn dtype(name: &str) -> Dtype {
    Dtype::parse(name).unwrap()
}

fn cast(from: &Type, to: &Type, mode: CastMode) -> Option<Cast> {
    Cast::new(dtype(from.name), dtype(to.name), mode).unwrap()
}

#[test]
fn cast_evaluator_equals_the_reference() {
    let types = types();
    for from in &types {
        let values = worth_trying(from, &types);
        for (to, (word, mode)) in types.iter().flat_map(|to| MODES.map(|mode| (to, mode))) {
            let Some(cast) = cast(from, to, mode) else { continue };
            let converter = CastEvaluator::new(cast);
            for bits in &values {
                let wanted = converted(from, to, mode == CastMode::Saturate, *bits);
                let found = converter.convert(*bits);
                let (from, to) = (from.name, to.name);
                assert_eq!(
                    found, wanted,
                    "{from} 0x{bits:X} to {to}, {word}: 0x{found:X}, 0x{wanted:X}"
                );
            }
        }
    }
}

/// The values of all codes equal those of `ml_dtypes`.
#[test]
fn small_floats_match_ml_dtypes() {
    let lines = include_str!("cast_values/ml_dtypes.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let (name, values) = line.split_once(' ').unwrap();
        let cast = Cast::new(dtype(name), dtype("f32"), CastMode::Round).unwrap().unwrap();
        let converter = CastEvaluator::new(cast);
        for (code, value) in (0..).zip(values.split(' ')) {
            let wanted = u64::from_str_radix(value, 16).unwrap();
            let found = converter.convert(code);
            // The payload of a NaN is implementation-defined.
            let is_nan = |bits: u64| bits & 0x7FFF_FFFF > 0x7F80_0000;
            let same_nan = is_nan(found) && is_nan(wanted) && found >> 31 == wanted >> 31;
            assert!(found == wanted || same_nan, "{name} 0x{code:X}: 0x{found:X}, 0x{wanted:X}");
        }
    }
}

#[test]
fn lossless_casts_round_trip() {
    let types = types();
    for (from, to) in types.iter().flat_map(|from| types.iter().map(move |to| (from, to))) {
        let Some(there) = cast(from, to, CastMode::Round).filter(|cast| cast.is_lossless()) else {
            continue;
        };
        let back = CastEvaluator::new(cast(to, from, CastMode::Round).unwrap());
        let there = CastEvaluator::new(there);
        for bits in worth_trying(from, &types) {
            // A NaN comes back quiet; f4e2m1fn has no NaN.
            let once = back.convert(there.convert(bits));
            let twice = back.convert(there.convert(once));
            assert_eq!(once, twice, "{} 0x{bits:X} through {}", from.name, to.name);
            let quiet = once ^ bits;
            assert!(
                quiet == 0 || from.is_float() && quiet.is_power_of_two(),
                "{} 0x{bits:X}",
                from.name
            );
        }
    }
}

/// A function to call, with the files of its input and its expected output.
struct Case {
    /// Name of the function.
    name: String,
    read: String,
    read_bytes: usize,
    written: String,
    written_bytes: usize,
}

fn checked(text: &str) -> Manifest {
    let checked = check_text(text);
    let found = checked.diagnostics.iter();
    let errors: Vec<_> = found.filter(|found| found.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
    checked.manifests.into_iter().next().unwrap()
}

/// Elements as little-endian bytes; packed elements as a bit stream, low bits first.
fn buffer(bits: u32, values: impl Iterator<Item = u64>) -> Vec<u8> {
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

/// Manifest with a tensor per pair of types, and the expected result of its pack by definition, or of unpack if the
/// logical type is packed, which only tensors may be. Its elements are the bit patterns worth testing.
fn pairs(root: &Path, of: impl Fn(&Type, &Type) -> bool) -> (String, Vec<Case>) {
    let types = types();
    let (mut text, mut cases) = (String::new(), Vec::new());
    for from in &types {
        let values = worth_trying(from, &types);
        let read = format!("{}.in", from.name);
        let source = buffer(from.bits, values.iter().copied());
        std::fs::write(root.join(&read), &source).unwrap();
        for (to, (word, mode)) in types.iter().flat_map(|to| MODES.map(|mode| (to, mode))) {
            let shared = [from, to].map(|ty| ty.bits < 8);
            let wanted = cast(from, to, mode).is_some_and(|cast| cast.mode() == mode);
            if !wanted || shared == [true, true] || !of(from, to) {
                continue;
            }
            let name = format!("{}_{}_{word}", from.name, to.name);
            let (own, logical, function) =
                if shared[0] { (from, to, "unpack") } else { (to, from, "pack") };
            writeln!(
                text,
                "tensor {name} dtype={} pack-from={} cast={word} {{ shape {{ i {} }} }}",
                own.name,
                logical.name,
                values.len()
            )
            .unwrap();
            let saturates = mode == CastMode::Saturate;
            let out = values.iter().map(|bits| converted(from, to, saturates, *bits));
            let out = buffer(to.bits, out);
            let written = format!("{name}.out");
            std::fs::write(root.join(&written), &out).unwrap();
            cases.push(Case {
                name: format!("{name}_{function}"),
                read: read.clone(),
                read_bytes: source.len(),
                written,
                written_bytes: out.len(),
            });
        }
    }
    (text, cases)
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
fn written(root: &Path, text: &str, cases: &[Case]) {
    let outputs = emit(&checked(text), &Settings::c(), "m", &Templates::default()).unwrap();
    for output in outputs {
        std::fs::write(root.join(&output.path), &output.text).unwrap();
    }
    std::fs::write(root.join("harness.c"), harness(root, cases)).unwrap();
}

/// Runs the harness with every compiler and vector length; with more flags under `LAYOUTC_FULL=1`.
fn run_c(root: &Path) {
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

/// True for types similar to others: the short run only tests some of their pairs.
fn is_alike(ty: &Type) -> bool {
    ["i6", "i5", "i3", "u6", "u5", "u3", "f6e2m3fn", "f8e5m2fnuz"].contains(&ty.name)
}

#[test]
fn c_casts_equal_the_reference() {
    let root = folder("casts_c");
    let through = ["f32", "f64", "i8"];
    let chosen = |from: &Type, to: &Type| {
        is_full()
            || (!is_alike(from) || through.contains(&to.name))
                && (!is_alike(to) || through.contains(&from.name))
    };
    let (text, cases) = pairs(&root, chosen);
    written(&root, &text, &cases);
    run_c(&root);
}

#[test]
fn opencl_and_cuda_casts_equal_the_reference() {
    let root = folder("casts_gpu");
    // PoCL compiles slowly: the short run has all pairs with f32, and one of each other kind.
    let others = [("f64", "f16"), ("f16", "bf16"), ("u64", "f64"), ("i32", "u8"), ("f64", "u64")];
    let chosen = |from: &Type, to: &Type| {
        is_full()
            || [from.name, to.name].contains(&"f32") && !is_alike(from) && !is_alike(to)
            || others.contains(&(from.name, to.name))
    };
    let (text, cases) = pairs(&root, chosen);
    run_gpu(&root, &text, &cases);
}

/// Writes the generated OpenCL and CUDA files.
fn write_gpu(root: &Path, text: &str) {
    let (opencl, cuda) = (Some(TargetOpenCl::default()), Some(TargetCuda::default()));
    let target = TargetsConfig { c: None, opencl, cuda, own: BTreeMap::new() };
    let config = Config { target, ..Config::default() };
    let sources = MemorySources::of("m.kdl", text);
    let compiler = Compiler::new(&sources, &config);
    let checked = compiler.check(&["m.kdl".to_owned()]);
    for output in compiler.emit(&checked, &Templates::default()).unwrap() {
        let name = output.path.rsplit('/').next().unwrap().to_owned();
        std::fs::write(root.join(name), &output.text).unwrap();
    }
}

#[test]
fn cuda_sources_define_only_called_functions() {
    let root = folder("casts_called");
    for (own, logical, called) in [
        ("i8", "f32", vec!["layoutc_cuda_f32_bits"]),
        ("f16", "f32", vec!["layoutc_cuda_f32_bits", "layoutc_cuda_f32_from_bits"]),
        ("u32", "f64", vec!["layoutc_cuda_f64_bits", "layoutc_cuda_f64_from_bits"]),
    ] {
        write_gpu(
            &root,
            &format!(
                "tensor a dtype={own} pack-from={logical} cast=round {{ shape {{ i 40; j 50 }} }}\n"
            ),
        );
        let source = std::fs::read_to_string(root.join("m.cu")).unwrap();
        let defined = source.lines().filter_map(|line| line.strip_prefix("static __device__ "));
        let defined = defined.map(|head| head.split(['(', ' ']).nth(1).unwrap());
        let defined: Vec<&str> = defined.collect();
        for name in &defined {
            assert!(source.matches(&format!("{name}(")).count() > 1, "{name}:\n{source}");
        }
        let bits: Vec<&str> = defined.into_iter().filter(|name| name.ends_with("_bits")).collect();
        assert_eq!(bits, called, "{logical} to {own}");
        if let Some(nvcc) = gpu::nvcc() {
            let compiled = gpu::compile_with_nvcc(&nvcc, &root, "m.cu", &[80]);
            compiled.unwrap_or_else(|error| panic!("{error}\n{source}"));
        }
    }
}

fn run_gpu(root: &Path, text: &str, cases: &[Case]) {
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
    std::fs::write(root.join("driver.h"), include_str!("gpu/driver.h")).unwrap();
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

/// Layouts of `n 2; c 70; h 20; w 21`: equal, transposed, blocked, padded, tiled, with contiguous runs, and one that is
/// not a sum of digits.
const LAYOUTS: [(&str, &str); 8] = [
    ("same", ""),
    ("nhwc", "layout { order n h w c }"),
    ("blocked", "layout tvm=\"NCHW16c\""),
    ("filled", "layout { split c by=8; order n c_outer h w c_inner; fill 1 }"),
    ("pitch", "layout { pad w multiple=32; fill 0 }"),
    ("tiled", "layout { tile 8 16 }"),
    ("together", "layout { split w by=4; order n w_outer h c w_inner }"),
    ("swizzled", "layout { map \"(n, c, h, w) -> (n, c, w ^ h % 4, h)\"; fill 0; padding allow }"),
];

/// Pairs of element types, those with vector code first.
const PAIRS: [(&str, &str, &str); 14] = [
    ("f32", "f16", "round"),
    ("f16", "f32", "round"),
    ("f32", "bf16", "saturate"),
    ("bf16", "f32", "round"),
    ("f32", "i8", "round"),
    ("i8", "f32", "round"),
    ("f32", "u8", "round"),
    ("u8", "f32", "round"),
    ("f64", "f32", "saturate"),
    ("f32", "f64", "round"),
    ("f16", "bf16", "round"),
    ("i32", "f32", "round"),
    ("f32", "i4", "round"),
    ("f32", "f8e4m3fn", "saturate"),
];

fn layouts() -> String {
    let mut text = String::new();
    for (k, (from, to, mode)) in PAIRS.into_iter().enumerate() {
        // Pairs without vector code differ in the element only.
        let layouts = if k < 8 { &LAYOUTS[..] } else { &LAYOUTS[1..3] };
        for (name, layout) in layouts {
            writeln!(
            text,
            "tensor {name}_{from}_{to} dtype={to} pack-from={from} cast={mode} {{ shape {{ n 2; c 70; h 20; w 21 }}; {layout} }}"
        )
        .unwrap();
        }
    }
    text
}

/// Cases of pack and unpack of every tensor, with the results of the run in process.
fn in_process(root: &Path, tensors: &[Tensor]) -> Vec<Case> {
    let mut cases = Vec::new();
    for (seed, tensor) in (1..).zip(tensors) {
        let name = &tensor.name;
        let symbols = BTreeMap::new();
        let (packs, unpacks) = (pack(tensor, &symbols).unwrap(), unpack(tensor, &symbols).unwrap());
        let mut random = Random::new(seed);
        let logical = random.bytes(packs.from_bytes);
        let (mut physical, mut back) = (vec![0xAA; packs.to_bytes], vec![0xAA; packs.from_bytes]);
        packs.run(&logical, &mut physical).unwrap();
        unpacks.run(&physical, &mut back).unwrap();
        let files = [("logical", &logical), ("physical", &physical), ("back", &back)];
        for (what, bytes) in files {
            std::fs::write(root.join(format!("{name}.{what}")), bytes).unwrap();
        }
        for (function, from, to, sizes) in [
            ("pack", "logical", "physical", [logical.len(), physical.len()]),
            ("unpack", "physical", "back", [physical.len(), back.len()]),
        ] {
            cases.push(Case {
                name: format!("{name}_{function}"),
                read: format!("{name}.{from}"),
                read_bytes: sizes[0],
                written: format!("{name}.{to}"),
                written_bytes: sizes[1],
            });
        }
    }
    cases
}

#[test]
fn c_casts_equal_in_process_casts_for_every_layout() {
    let root = folder("casts_layouts");
    let text = layouts();
    let cases = in_process(&root, &checked(&text).tensors);
    written(&root, &text, &cases);
    run_c(&root);
}

#[test]
fn gpu_casts_equal_in_process_casts_for_every_layout() {
    let root = folder("casts_layouts_gpu");
    // The first pair with every layout, and every pair with the blocked layout.
    let layouts = layouts();
    let lines = layouts.lines().enumerate();
    let few = lines.filter(|(k, line)| *k < LAYOUTS.len() || line.starts_with("tensor blocked"));
    let text = few.map(|(_, line)| line).collect::<Vec<_>>().join("\n");
    let cases = in_process(&root, &checked(&text).tensors);
    run_gpu(&root, &text, &cases);
}

#[test]
fn layout_conversions_with_casts_pass_the_generated_test() {
    let mut text = "symbol batch max=40\n".to_owned();
    let shape = "shape { n batch; c 70; h 12; w 9 }";
    let layouts =
        ["", "layout { order n h w c }", "layout tvm=\"NCHW16c\"", "layout { order w c h n }"];
    for (k, (dtype, layout)) in
        ["f32", "f16", "i8", "bf16", "i4", "f64"].iter().zip(layouts.iter().cycle()).enumerate()
    {
        writeln!(text, "tensor t{k} dtype={dtype} {{ {shape}; {layout} }}").unwrap();
    }
    for (from, to) in (0..6).flat_map(|from| (0..6).map(move |to| (from, to))) {
        let mode = if (from + to) % 2 == 0 { "round" } else { "saturate" };
        if from != to {
            writeln!(text, "convert t{from} to=t{to} cast={mode}").unwrap();
        }
    }
    let printed = run("casts_converts", &checked(&text));
    assert!(printed.contains("t4_to_t3: ok"), "{printed}");
}

#[test]
fn example_with_casts_passes_the_generated_test() {
    let text = include_str!("../../../examples/mixed-precision/layouts/network.kdl");
    let printed = run("casts_example", &checked(text));
    assert!(
        printed.contains("weights: ok") && printed.contains("quantized_to_activations: ok"),
        "{printed}"
    );
}

#[test]
fn casts_coexist_with_views_and_reserved_names() {
    let text = r#"symbol batch max=9
tensor act dtype=f16 pack-from=f32 cast=saturate {
    shape { n batch; h 12; w 12; c 32 }
    layout { map "(n, h, w, c) -> (n, c // 8, h, w, c % 8)" }
}
tensor wanted dtype=i4 pack-from=f32 {
    shape { wanted batch; read 9; value 7; outside 5 }
    layout { order wanted outside read value }
}
view vec of=act dtype=f16x8
view win of=act { shape { h 4; w 4; c 32 }; map "(h, w, c) -> (0, h + 1, w + 2, c)" }
"#;
    let manifest = checked(text);
    // A window does not convert the elements.
    assert_eq!(manifest.views[1].tensor.logical_dtype(), dtype("f16"));
    run("casts_views", &manifest);
}

#[test]
fn cast_sources_have_no_unused_functions() {
    for (name, layout) in
        [("same", ""), ("turned", "layout { order b a }"), ("runs", "layout { pad b multiple=32 }")]
    {
        for dtype in ["f16", "i8", "u16"] {
            let text = format!(
                "tensor t dtype={dtype} pack-from=f32 {{ shape {{ a 40; b 50 }}; {layout} }}"
            );
            run(&format!("casts_{name}_{dtype}"), &checked(&text));
        }
    }
}

#[test]
fn a_tensor_without_elements_has_its_conversions() {
    let text = "tensor none dtype=i16 pack-from=f64 { shape { a 0; b 5 } }\n\
                tensor other dtype=u8 { shape { a 0; b 5 } }\nconvert none to=other cast=saturate";
    run("casts_none", &checked(text));
}

#[test]
fn random_layouts_with_casts_pass_the_generated_test() {
    for seed in 0..cases(3, 6) {
        let mut source = Random::new(9_000_000 + seed);
        let castable: Vec<&str> = dtypes()
            .into_iter()
            .filter(|name| layoutc_compiler::base::cast::is_castable(dtype(name)))
            .collect();
        let manifest = random(&mut source, 6, &Config::default(), &castable, |_, tensor| tensor);
        let logical = ["f32", "f16", "f64", "bf16", "i8", "u16", "i32"];
        let mut text = String::new();
        for line in manifest.text().lines() {
            let line = match line.strip_suffix(" {").filter(|line| line.starts_with("tensor ")) {
                Some(head) => {
                    let (mode, from) = (source.pick(&["round", "saturate"]), source.pick(&logical));
                    format!("{head} pack-from={from} cast={mode} {{")
                }
                None => line.to_owned(),
            };
            writeln!(text, "{line}").unwrap();
        }
        text.push_str("convert t4 to=t0 cast=round\nconvert t0 to=t5 cast=saturate\nconvert t5 to=t4 cast=round\n");
        run(&format!("casts_random_{seed}"), &checked(&text));
    }
}

#[test]
fn equal_types_drop_the_cast() {
    let text = "tensor a dtype=f16 pack-from=f16 cast=saturate { shape { n 4 } }\n\
                tensor b like=a { layout { pad n multiple=8; padding allow } }\nconvert a to=b cast=round";
    let manifest = checked(text);
    assert_eq!(manifest.tensors[0].pack_from, None);
    assert_eq!(manifest.tensors[1].pack_from, None);
    assert_eq!(manifest.converts[0].cast, None);
}

#[test]
fn record_is_packed_from_one_type() {
    let text = "tensor a pack-from=f32 { dtype { x f16; y f16 }; shape { n 4 } }";
    assert_eq!(checked(text).tensors[0].logical_dtype(), dtype("f32"));
}
