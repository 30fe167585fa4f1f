//! Primitives of the C runtime: alone, for every element size, conversion and vector length, against plain loops
//! (`runtime_c/*.c`), and in generated sources.
#![allow(clippy::unwrap_used, reason = "a test")]
#![allow(clippy::disallowed_methods, reason = "runs compilers")]
#![allow(clippy::print_stdout, reason = "lists skipped cases")]

mod lines;

use crate::common;
use crate::common::check_text::{check_text, check_valid};
use crate::common::processors;
use layoutc_testing::campaign::is_available;
use layoutc_testing::files;
use layoutc_testing::process::{self, is_installed};
use layoutc_testing::{cases, is_full};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use common::cc::{build_and_run, compile_and_run, compilers, folder, run};
use layoutc_compiler::config::{self, Config, IndexType, RuntimeMode};
use layoutc_compiler::emit::{Emitter, Settings, Templates, emit};
use layoutc_compiler::{Compiler, MemorySources};

/// Transposes of every element size, runs, and zero-filled runs. Sizes are symbols; with the bounds of `LARGE`, they
/// may exceed any cache.
const MANIFEST: &str = "tensor one dtype=u8 { shape { r rows; c columns }; layout { order c r } }\n\
    tensor two dtype=f16 { shape { r rows; c columns }; layout { order c r } }\n\
    tensor four dtype=f32 { shape { r rows; c columns }; layout { order c r } }\n\
    tensor eight dtype=f64 { shape { r rows; c columns }; layout { order c r } }\n\
    tensor sixteen dtype=c128 { shape { r rows; c columns }; layout { order c r } }\n\
    tensor cast dtype=f16 pack-from=f32 { shape { r rows; c columns }; layout { order c r } }\n\
    tensor runs dtype=f32 { shape { r rows; a 40; b 50 }; layout { order a r b } }\n\
    tensor padded dtype=f32 { shape { r 250; c 300 }; layout { map \"(r, c) -> (r//8, c//128, r%8, c%128)\" } }\n";

/// Symbols of `MANIFEST`.
const LARGE: &str = "symbol rows max=3000000\nsymbol columns max=3000000\n";

/// Symbols of `MANIFEST` whose largest tensor has fewer than 2^31 bytes.
const SMALL: &str = "symbol rows max=11000\nsymbol columns max=11000\n";

/// Small blocks of every element size, adjacent or interleaved.
fn small_blocks() -> String {
    let sizes = ["u8", "f16", "f32", "f64", "c128"].into_iter().enumerate();
    let follow = |(k, dtype): (usize, &str)| {
        format!(
            "tensor follow_{k} dtype={dtype} {{ shape {{ o 64; i 32; k 9 }}\n\
             layout {{ map \"(o, i, k) -> (o//16, i//16, k, i%16, o%16)\" }} }}\n\
             tensor pairs_{k} dtype={dtype} {{ shape {{ r 64; c 640 }}\n\
             layout {{ map \"(r, c) -> (r//8, c//64, (r%8)//2, c%64, r%2)\" }} }}\n"
        )
    };
    sizes.map(follow).collect()
}

/// Writes the files of the manifest into a folder.
fn written(name: &str, stem: &str, prefix: &str) -> PathBuf {
    written_of(&format!("{LARGE}{MANIFEST}{}", small_blocks()), name, stem, prefix)
}

fn written_of(manifest: &str, name: &str, stem: &str, prefix: &str) -> PathBuf {
    let checked = Compiler::new(&MemorySources::of("blocks.kdl", manifest), &Config::default())
        .check(&["blocks.kdl".to_owned()]);
    assert_eq!(checked.diagnostics, []);
    let settings = Settings { prefix: prefix.to_owned(), ..Settings::c() };
    let outputs = emit(&checked.manifests[0], &settings, stem, &Templates::default());
    let root = folder(name);
    for output in outputs.unwrap() {
        files::write(root.join(&output.path), &output.text);
    }
    root
}

/// Test programs of the runtime alone.
const PROGRAMS: [&str; 2] = ["primitives", "casts"];

/// Folder with the sources of the runtime and of its test programs.
fn harness(name: &str) -> PathBuf {
    let root = folder(name);
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for sources in ["runtime", "tests/runtime_c"] {
        for file in files::files_below(&crate_root.join(sources)) {
            std::fs::copy(&file, root.join(file.file_name().unwrap())).unwrap();
        }
    }
    root
}

/// Compiles and runs the test programs of the runtime. `name` is that of the executables, in front of the program's.
fn compile_and_run_all(root: &Path, name: &str, compiler: &str, flags: &[&'static str]) {
    for program in PROGRAMS {
        let source = format!("{program}.c");
        let mut command = Command::new(compiler);
        let executable = format!("{name}_{program}");
        command.args(flags).args(["-o", &executable, &source, "-lm"]);
        build_and_run(&mut command, root, &executable);
    }
}

#[test]
fn sources_can_be_compiled_as_one() {
    let root = written("as_one", "first", "first_");
    written("as_one", "second", "second_");
    std::fs::write(root.join("all.c"), "#include \"first.c\"\n#include \"second.c\"\n").unwrap();
    for (k, (compiler, flags, _)) in (0..).zip(compilers()) {
        let flags = [flags, vec!["-c"]].concat();
        compile_and_run(&root, &format!("all_{k}"), &["all.c"], (compiler, flags, false));
    }
}

#[test]
fn sources_that_need_different_blocks_can_be_compiled_as_one() {
    let fields = |few: u32, dtype: &str| {
        format!("tensor t dtype={dtype} {{ shape {{ n 300; f {few} }}; layout {{ order f n }} }}\n")
    };
    // Tensors larger than L2 need more routines.
    let large = |columns: u32, dtype: &str| {
        format!(
            "tensor t dtype={dtype} {{ shape {{ n 900001; f {columns} }}; layout {{ order f n }} }}\n"
        )
    };
    let kinds = [
        fields(4, "f32"),
        fields(3, "f32"),
        fields(3, "i16"),
        fields(77, "u8"),
        small_blocks(),
        large(77, "f32"),
        large(3, "f32"),
        large(77, "u8"),
    ];
    let every = cases(4, 2);
    for (k, first) in kinds.iter().enumerate().step_by(every) {
        let name = format!("as_one_{k}");
        let root = written_of(first, &name, "first", "first_");
        let others = kinds.iter().enumerate().filter(|(j, _)| *j != k);
        let mut all = "#include \"first.c\"\n".to_owned();
        for (j, other) in others {
            written_of(other, &name, &format!("other_{j}"), &format!("other_{j}_"));
            all.push_str(&format!("#include \"other_{j}.c\"\n"));
        }
        std::fs::write(root.join("all.c"), all).unwrap();
        for (k, (compiler, flags, _)) in (0..).zip(compilers()) {
            let flags = [flags, vec!["-c"]].concat();
            compile_and_run(&root, &format!("all_{k}"), &["all.c"], (compiler, flags, false));
        }
    }
}

/// Tiny cache sizes and streaming threshold, so that small blocks take every path.
const SMALL_CACHES: [&str; 3] =
    ["-DLAYOUTC_L2_BYTES=1000", "-DLAYOUTC_LLC_BYTES=2000", "-DLAYOUTC_MIN_STREAM_BYTES=500"];

fn vector(bytes: &str) -> &'static str {
    match bytes {
        "64" => "-DLAYOUTC_VECTOR=64",
        "32" => "-DLAYOUTC_VECTOR=32",
        "16" => "-DLAYOUTC_VECTOR=16",
        _ => "-DLAYOUTC_VECTOR=0",
    }
}

#[test]
fn primitives_agree_with_reference_loops() {
    let root = harness("runtime");
    let rounds = cases("-DROUNDS=400", "-DROUNDS=900");
    let address = ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    // Last: vector lengths in the short run.
    let modes: [(&str, &[&str], &[&str]); 4] = [
        ("gcc", &["-O2"], &["64", "16"]),
        ("gcc", &address, &["32", "0"]),
        ("clang", &["-O2"], &["32"]),
        ("tcc", &[], &["0"]),
    ];
    std::thread::scope(|scope| {
        for (compiler, flags, short) in modes.into_iter().filter(|mode| is_installed(mode.0)) {
            let root = &root;
            scope.spawn(move || {
                let all = ["64", "32", "16", "0"].into_iter().enumerate();
                for (k, bytes) in all.filter(|(_, bytes)| is_full() || short.contains(bytes)) {
                    // Alternates, or both in the full run.
                    let streams = ["-DLAYOUTC_STREAM=1", "-DLAYOUTC_STREAM=0"];
                    for &stream in if is_full() { &streams[..] } else { &streams[k % 2..=k % 2] } {
                        let own = [
                            "-Wall",
                            "-Wno-unused-function",
                            "-Werror",
                            rounds,
                            vector(bytes),
                            stream,
                        ];
                        let all = [flags, &SMALL_CACHES, &own].concat();
                        let kind = flags.concat().len();
                        let name = format!("{compiler}{kind}_{bytes}{stream}");
                        compile_and_run_all(root, &name, compiler, &all);
                    }
                }
            });
        }
    });
}

#[test]
fn primitives_with_64_byte_vectors_run_emulated() {
    if !emulates_avx512() {
        return;
    }
    let root = harness("runtime_avx512");
    let rounds = cases("-DROUNDS=400", "-DROUNDS=1500");
    let address = ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let avx2 =
        ["-w", "-Wno-psabi", "-mavx2", "-mf16c", "-include", "avx512.h", rounds, vector("64")];
    let modes: [(&str, &[&str], &str); 2] =
        [("clang", &["-O2"], "-DLAYOUTC_STREAM=0"), ("gcc", &address, "-DLAYOUTC_STREAM=1")];
    let modes = cases(&modes[..1], &modes[..]);
    std::thread::scope(|scope| {
        for (compiler, flags, stream) in modes.iter().filter(|mode| is_installed(mode.0)) {
            let all = [*flags, &SMALL_CACHES, &avx2, &[*stream]].concat();
            let root = &root;
            scope.spawn(move || compile_and_run_all(root, compiler, compiler, &all));
        }
    });
}

/// True on an x86-64 processor with AVX2 and F16C if `SIMDe` is installed; on CI it must be.
fn emulates_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let found = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("f16c")
            && Path::new("/usr/include/simde/x86/avx512.h").exists();
        is_available(found, "AVX2 or SIMDe")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

#[test]
fn primitives_agree_on_other_processors() {
    let root = harness("runtime_processors");
    let rounds = cases("-DROUNDS=100", "-DROUNDS=200");
    processors::on_each(|processor| {
        let vectors = ["-DLAYOUTC_VECTOR=16", "-DLAYOUTC_VECTOR=0"];
        for vector in cases(&vectors[..1], &vectors[..]) {
            let flags = [&["-O2", "-w", rounds, vector][..], &SMALL_CACHES[..2]].concat();
            for program in PROGRAMS {
                processors::run(processor, &root, &[&format!("{program}.c")], &flags);
            }
        }
    });
}

#[test]
fn fields_are_interleaved_and_deinterleaved() {
    for (k, dtype) in ["u8", "f16", "f32", "f64"].into_iter().enumerate() {
        // Half of the pairs in the short run.
        let is_asked = |few: &usize| few << k <= 16 && (is_full() || (few + k).is_multiple_of(2));
        for few in [2, 3, 4].into_iter().filter(is_asked) {
            let one = |count: usize| {
                format!(
                    "tensor fields_{count} dtype={dtype} {{ shape {{ n {count}; f {few} }}; layout {{ order f n }} }}\n"
                )
            };
            let text = [5, 16, 77, 300].map(one).concat();
            let checked = check_valid(&text);
            run(&format!("fields_{dtype}_{few}"), &checked.manifests[0]);
        }
    }
}

#[test]
fn row_padding_is_written_in_the_tile_loop() {
    let text = "tensor tiled dtype=f32 { shape { r 250; c 300 }; layout { tile 8 128; fill 0 } }\n\
        tensor pairs dtype=f16 { shape { r 250; c 300 }; layout { tile 8 128; tile 2 1; fill 0 } }\n";
    let checked = check_valid(text);
    let settings = Settings::c();
    let outputs = emit(&checked.manifests[0], &settings, "a", &Templates::default()).unwrap();
    let body = |name: &str| {
        let (_, rest) =
            outputs[1].text.split_once(&format!("inline void layoutc_{name}(")).unwrap();
        rest.split_once("\n}").unwrap().0.to_owned()
    };
    for (name, last) in [
        (
            "tiled_pack",
            "        layoutc_zero_runs(&physical[r_outer * 3072 + 2092], 512, 8, 336);\n    }\n",
        ),
        (
            "pairs_pack",
            "        layoutc_zero_runs(&physical[r_outer * 3072 + 2136], 512, 4, 336);\n    }\n",
        ),
    ] {
        let body = body(name);
        assert!(body.contains(last), "{body}");
        assert_eq!(body.matches("r_outer < 32").count(), 1, "{body}");
    }
    run("padded_rows", &checked.manifests[0]);
}

#[test]
fn transposes_select_batching_and_streaming_stores() {
    for (shape, call) in [
        // Blocks of 4608 bytes that are not whole cache lines on one side, also in a tensor that fits the caches.
        ("a 40; b 24; c 32; d 23; e 48", "layoutc_transpose_blocks_4(&physical[p1], 2826240, 96, "),
        ("a 3; b 24; c 32; d 23; e 48", "layoutc_transpose_4(&"),
        ("a 8; b 16; c 8; d 4; e 16", "layoutc_transpose_cached_4(&"),
        ("a 61; b 16; c 33; d 63; e 16", "layoutc_transpose_blocks_4(&"),
    ] {
        let text =
            format!("tensor t dtype=f32 {{ shape {{ {shape} }}; layout {{ order e c a d b }} }}");
        let checked = check_text(&text);
        let (settings, templates) = (Settings::c(), Templates::default());
        let outputs = emit(&checked.manifests[0], &settings, "lines", &templates).unwrap();
        let source = &outputs.iter().find(|output| output.path == "lines.c").unwrap().text;
        assert!(source.contains(call), "{shape}: {call}\n{source}");
    }
}

#[test]
fn sources_of_benchmarked_conversions_with_a_shared_runtime_are_short() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/conversion");
    let text = std::fs::read_to_string(root.join("layoutc.toml")).unwrap();
    let mut config = config::parse(&Arc::from("layoutc.toml"), &text).unwrap();
    config.target.c.as_mut().unwrap().runtime = RuntimeMode::Shared;
    let files = root.join("layouts").read_dir().unwrap().map(|file| file.unwrap().path());
    let mut too_long = Vec::new();
    let mut count = 0;
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let sources = MemorySources::of("a.kdl", &text);
        let compiler = Compiler::new(&sources, &config);
        let checked = compiler.check(&["a.kdl".to_owned()]);
        assert_eq!(checked.diagnostics, []);
        let outputs = compiler.emit(&checked, &Templates::default()).unwrap();
        let source = outputs.iter().find(|output| output.path == "c/a.c").unwrap();
        let lines = source.text.lines().count();
        if lines >= 120 {
            too_long.push(format!("{}: {lines}", path.display()));
        }
        count += 1;
    }
    assert_eq!(count, 36);
    assert!(too_long.is_empty(), "{too_long:#?}");
}

/// Configurations with a shared runtime, one for each index type.
fn shared(index: IndexType) -> Config {
    let mut config = Config::default();
    let c = config.target.c.as_mut().unwrap();
    (c.runtime, c.index_type) = (RuntimeMode::Shared, index);
    config
}

/// Folder with the outputs of manifests that share a runtime: those of `MANIFEST`, and conversions in a folder.
fn written_shared(name: &str, index: IndexType) -> PathBuf {
    let casts = "tensor a dtype=f32 { shape { r 300; c 70 }; layout { order c r } }\n\
        tensor b dtype=f16 { shape { r 300; c 70 }; layout { order r c } }\n\
        tensor c dtype=u8 { shape { r 300; c 70 }; layout { order c r } }\n\
        convert a to=b cast=round\nconvert a to=c cast=round\nconvert c to=a cast=round\n";
    let symbols = if index == IndexType::Int32 { SMALL } else { LARGE };
    let moves = format!("{symbols}{MANIFEST}{}", small_blocks());
    let mut sources = MemorySources::of("moves.kdl", &moves);
    sources.insert("deep/casts.kdl", casts);
    let config = shared(index);
    let compiler = Compiler::new(&sources, &config);
    let checked = compiler.check(&["moves.kdl".to_owned(), "deep/casts.kdl".to_owned()]);
    assert_eq!(checked.diagnostics, []);
    let root = folder(name);
    std::fs::create_dir_all(root.join("c/deep")).unwrap();
    for output in compiler.emit(&checked, &Templates::default()).unwrap() {
        files::write(root.join(&output.path), &output.text);
    }
    root
}

#[test]
fn manifests_share_a_runtime() {
    let all = [("shared_64", IndexType::Int64), ("shared_32", IndexType::Int32)];
    for (name, index) in all.into_iter().take(cases(1, 2)) {
        let root = written_shared(name, index);
        let sources = ["c/moves.c", "c/deep/casts.c"];
        let texts = sources.map(|path| std::fs::read_to_string(root.join(path)).unwrap());
        for (text, include) in texts.iter().zip(["layoutc_runtime.h", "../layoutc_runtime.h"]) {
            assert!(text.contains(&format!("#include \"{include}\"\n")), "{text}");
            assert!(!text.contains("_mm"), "{text}");
        }
        for (k, (compiler, flags, runs)) in (0..).zip(compilers()) {
            for test in ["c/tests/moves_test.c", "c/tests/deep/casts_test.c"] {
                let program = format!("test_{k}_{}", test.len());
                let sources = [test, sources[0], sources[1]];
                compile_and_run(&root, &program, &sources, (compiler, flags.clone(), runs));
            }
        }
    }
}

/// Tokens of C text after the preprocessor, without blanks.
fn preprocessed(root: &Path, file: &str) -> String {
    let mut command = Command::new("gcc");
    let command = command.args(["-E", "-P", "-std=c99", file]).current_dir(root);
    let text = process::output(command).unwrap();
    text.split_whitespace().collect()
}

#[test]
fn the_shared_runtime_is_what_the_preprocessor_makes_of_the_sources() {
    if !is_installed("gcc") {
        return;
    }
    let root = harness("runtime_preprocessed");
    let config = shared(IndexType::Int64);
    let header = Emitter::new(&config, &Templates::default()).runtime().unwrap().unwrap();
    std::fs::write(root.join("layoutc_runtime.h"), &header.text).unwrap();
    for vector in ["64", "0"] {
        for (own, include) in [("plain.c", "runtime.h"), ("expanded.c", "layoutc_runtime.h")] {
            let text = format!("#define LAYOUTC_VECTOR {vector}\n#include \"{include}\"\n");
            files::write(root.join(own), text);
        }
        let [plain, expanded] = ["plain.c", "expanded.c"].map(|file| preprocessed(&root, file));
        let without_pragmas = |text: String| {
            text.replace("#pragmaGCCdiagnosticpush", "")
                .replace("#pragmaGCCdiagnosticignored\"-Wunused-function\"", "")
                .replace("#pragmaGCCdiagnosticpop", "")
        };
        assert_eq!(without_pragmas(plain), without_pragmas(expanded), "LAYOUTC_VECTOR={vector}");
    }
}
