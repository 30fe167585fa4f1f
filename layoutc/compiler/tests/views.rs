//! Views: the generated C, compiled and run with its test program.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test that runs compilers")]

use crate::common;
use std::sync::Arc;

use common::cc::{compile_and_run, compilers, folder};
use layoutc_compiler::config::{self, Config};
use layoutc_compiler::emit::{GeneratedFile, Settings, Templates, emit};
use layoutc_compiler::model::Manifest;
use layoutc_compiler::{Compiler, MemorySources};

fn manifest(text: &str) -> Manifest {
    let mut checked = Compiler::new(&MemorySources::of("a.kdl", text), &Config::default())
        .check(&["a.kdl".to_owned()]);
    assert_eq!(checked.diagnostics, [], "{text}");
    checked.manifests.remove(0)
}

fn write(name: &str, outputs: &[GeneratedFile]) -> std::path::PathBuf {
    let folder = folder(name);
    common::cc::write(&folder, outputs);
    folder
}

/// Output of a manifest's test program, compiled by every installed compiler.
fn run(name: &str, text: &str, settings: &Settings) -> String {
    let outputs = emit(&manifest(text), settings, name, &Templates::default()).unwrap();
    let folder = write(name, &outputs);
    let (test, source) = (format!("tests/{name}_test.c"), format!("{name}.c"));
    let mut printed = String::new();
    for (k, compiler) in compilers().into_iter().enumerate() {
        let program = format!("{name}_{k}");
        if let Some(text) = compile_and_run(&folder, &program, &[&test, &source], compiler) {
            printed = text;
        }
    }
    printed
}

const ALL: &str = r#"
symbol batch max=64 multiple=4
tensor input dtype=f32 {
    shape { n batch; h 6; w 5; c 16 }
    layout {
        map "(n, h, w, c) -> (n, c // 8, h, w, c % 8)"
    }
}
view input_x4 of=input dtype=f32x4
view channels of=input {
    shape { n batch; h 6; w 5; lane 4 }
    map "(n, h, w, lane) -> (n, h, w, 12 + lane)"
}
view channels_x4 of=channels dtype=f32x4
view reversed of=input {
    shape { n "batch // 4"; w 5 }
    map "(n, w) -> (4 * n + 3, 5, 4 - w, 1)"
}
tensor texture dtype=f16 {
    shape { n 2; h 8; w 8; c 8 }
    layout {
        map "(n, h, w, c) -> (n, c//4, h | w, c%4)"
    }
    memory texture
}
view texels of=texture dtype=f16x4
tensor vectors dtype=f32x4 {
    shape { n 3; w 5 }
}
view scalars of=vectors dtype=f32
view pairs of=scalars dtype=f32x2
tensor qkv dtype=f32 {
    shape { b 1; s 16; which 3; h 3; d 8 }
}
view q of=qkv {
    shape { b 1; s 16; h 3; d 8 }
    map "(b, s, h, d) -> (b, s, 0, h, d)"
}
tensor tiled dtype=bf16 {
    shape { r 20; c 200 }
    layout {
        tile 8 128
        tile 2 1
        fill 1
    }
}
view tile1 of=tiled {
    shape { r 8; c 72 }
    map "(r, c) -> (r + 8, c + 128)"
}
view across of=tiled {
    shape { r 9; c 100 }
    map "(r, c) -> (r + 3, 2 * c)"
}
tensor bias dtype=f64 {
    shape { c 16 }
}
view wide of=bias {
    shape { n batch; h 6; c 16 }
    map "(n, h, c) -> (c)"
}
view pair of=bias {
    shape { a 3; b 3 }
    map "(a, b) -> (a + b)"
}
view flat of=tiled {
    shape { k 6144 }
}
tensor nibbles dtype=i4 nibbles=high-first {
    shape { r 5; c 6 }
}
view corner of=nibbles {
    shape { r 3; c 3 }
    map "(r, c) -> (r + 1, c + 2)"
}
view rows of=nibbles {
    shape { k 2; r 5; c 6 }
    map "(k, r, c) -> (r, c)"
}
view matrix of=nibbles {
    shape { r 6; c 5 }
}
tensor skewed dtype=u8 {
    shape { r 8; c 8 }
    layout {
        map "(r, c) -> (r, c ^ r)"
    }
}
view block of=skewed {
    shape { r 4; c 5 }
    map "(r, c) -> (r + 4, c + 1)"
}
tensor padded dtype=f32 {
    shape { h 4; c 12 }
    layout {
        align h 64
    }
}
view padded_x4 of=padded dtype=f32x4
view threes of=padded dtype=f32x2
tensor points dtype=i16 {
    shape { n 7; xyz 3 }
}
view points_x3 of=points dtype=i16x3
view nothing of=points {
    shape { n 0 }
    map "(n) -> (n, 0)"
}
view one of=points {
    shape {}
    map "() -> (6, 2)"
}
view everything of=tiled
tensor fragment dtype=f32 {
    shape { k 8 }
    memory none
}
view half of=fragment {
    shape { k 4 }
    map "(k) -> (k)"
}
view turned of=input dtype=f32x4 {
    layout {
        order c n h w
    }
}
tensor odd dtype=i8 {
    shape { memory 2; stored 2; packed 2; value 2; lane 2; size 2; bytes 2; slot 2; dense 2; back 4 }
}
view odd_x4 of=odd dtype=i8x4
view odd_names of=odd {
    shape { logical 2; used 2; seen 2; is_inverse 2; index 2; buffer 2; lane 2; dense_bytes 2; slots 4 }
    map "(a, b, c, d, e, f, g, h, i) -> (a, b, c, d, e, f, g, h, 1, i)"
}
"#;

#[test]
fn the_generated_c_of_views_compiles_and_passes_its_tests() {
    let printed = run("views", ALL, &Settings::c());
    for view in [
        "input_x4",
        "channels",
        "channels_x4",
        "reversed",
        "texels",
        "scalars",
        "pairs",
        "q",
        "tile1",
        "across",
        "wide",
        "pair",
        "flat",
        "corner",
        "rows",
        "matrix",
        "block",
        "padded_x4",
        "threes",
        "points_x3",
        "nothing",
        "one",
        "everything",
        "half",
        "odd_x4",
        "odd_names",
        "turned",
    ] {
        assert!(printed.contains(&format!("\n{view}: ok, ")), "{view}:\n{printed}");
    }
    assert!(printed.contains("q: ok, 384 elements of a view of 1152 slots\n"), "{printed}");
    assert!(printed.contains("texels: ok, 256 elements of a view of 256 slots\n"), "{printed}");
}

/// Views as operands and as ends of conversions.
const OPERANDS: &str = r#"
symbol batch max=64
tensor qkv dtype=f32 {
    shape { b batch; s 20; which 3; h 3; d 16 }
}
view q of=qkv {
    shape { b batch; s 20; h 3; d 16 }
    map "(b, s, h, d) -> (b, s, 0, h, d)"
}
view k of=qkv {
    shape { b batch; s 20; h 3; d 16 }
    map "(b, s, h, d) -> (b, s, 1, h, d)"
}
tensor scores dtype=f32 {
    shape { b batch; h 3; s 20; t 20 }
}
kernel attention {
    operands a b c
    compute "c[b, h, s, t] += a[b, s, h, d] * b[b, t, h, d]"
}
instance qk of=attention a=q b=k c=scores
tensor image dtype=f16 {
    shape { h 48; w 64; c 4 }
    layout {
        tile 8 16 4
    }
}
view aligned of=image {
    shape { h 8; w 32; c 4 }
    map "(h, w, c) -> (h + 16, w + 16, c)"
}
view unaligned of=image {
    shape { h 8; w 30; c 4 }
    map "(h, w, c) -> (h + 17, w + 3, c)"
}
view mirrored of=image {
    shape { h 48; w 64 }
    map "(h, w) -> (h, 63 - w, 3)"
}
tensor plain dtype=f32 {
    shape { h 8; w 32; c 4 }
}
tensor narrow dtype=f32 {
    shape { c 4; h 8; w 30 }
}
tensor plane dtype=f32 {
    shape { h 48; w 64 }
}
convert aligned to=plain cast=round
convert plain to=aligned cast=round
convert unaligned to=narrow cast=round
convert narrow to=unaligned cast=round
kernel invert {
    compute "mirrored[h, w] = 1 - plane[h, w]"
}
kernel scaled {
    compute "aligned[h, w, c] = 2 * plain[h, w, c]"
    vectorize c
}
tensor blocked dtype=f32 {
    shape { j 96; k 48 }
    layout {
        map "(j, k) -> (k // 16, j, k % 16)"
    }
}
view right of=blocked {
    shape { j 96; k 32 }
    map "(j, k) -> (j, k + 16)"
}
tensor half dtype=f32 {
    shape { j 96; k 32 }
}
kernel doubled {
    compute "right[j, k] = half[j, k] * 2.0"
    split k by=16
    vectorize k_inner
}
tensor points dtype=f32x4 {
    shape { n 100 }
}
view coordinates of=points dtype=f32
tensor sums dtype=f32 {
    shape { n 400 }
}
kernel gathered {
    compute "sums[n] = 2 * coordinates[n]"
}
kernel scattered {
    compute "coordinates[n] = sums[n]"
}
tensor nibbles dtype=i4 {
    shape { a 16; b 30 }
}
view odd of=nibbles {
    shape { a 16; b 15 }
    map "(a, b) -> (a, 2 * b + 1)"
}
tensor wide dtype=i32 {
    shape { a 16; b 15 }
}
kernel packed {
    compute "odd[a, b] = wide[a, b] + 1"
}
convert odd to=wide
tensor bias dtype=f32 {
    shape { c 64 }
}
view everywhere of=bias {
    shape { n 32; c 64 }
    map "(n, c) -> (c)"
}
tensor biased dtype=f32 {
    shape { n 32; c 64 }
}
kernel add {
    compute "biased[n, c] += everywhere[n, c]"
    accumulate #true
}
convert everywhere to=biased
"#;

#[test]
fn views_are_operands_and_ends_of_conversions() {
    let printed = run("view_operands", OPERANDS, &Settings::c());
    let functions = [
        "qk",
        "aligned_to_plain",
        "plain_to_aligned",
        "unaligned_to_narrow",
        "narrow_to_unaligned",
        "invert",
        "scaled",
        "doubled",
        "gathered",
        "scattered",
        "packed",
        "odd_to_wide",
        "add",
        "everywhere_to_biased",
    ];
    for name in functions {
        assert!(printed.contains(&format!("{name}: ok")), "{name}\n{printed}");
    }
}

#[test]
fn views_pass_their_tests_with_int32_indices_and_openmp() {
    let toml = "[project]\nprefix = \"my_\"\n[target.c]\nindex-type = \"int32_t\"\nopenmp = true\n";
    let config = config::parse(&Arc::from("layoutc.toml"), toml).unwrap();
    let sources = MemorySources::of("a.kdl", ALL);
    let compiler = Compiler::new(&sources, &config);
    let checked = compiler.check(&["a.kdl".to_owned()]);
    let mut outputs = compiler.emit(&checked, &Templates::default()).unwrap();
    for output in &mut outputs {
        output.path = output.path.trim_start_matches("c/").to_owned();
    }
    let folder = write("narrow_views", &outputs);
    for (k, compiler) in compilers().into_iter().enumerate() {
        compile_and_run(&folder, &format!("narrow_{k}"), &["tests/a_test.c", "a.c"], compiler);
    }
}

#[test]
fn test_program_detects_a_wrong_view() {
    let outputs = emit(&manifest(ALL), &Settings::c(), "wrong", &Templates::default()).unwrap();
    let header = outputs[0].text.clone();
    // Shifts the offset function of `q` alone by one lane.
    let begin = header.find("int64_t q_offset(").unwrap();
    let value = begin + header[begin..].find("return ").unwrap() + "return ".len();
    let wrong = format!("{}1 + {}", &header[..value], &header[value..]);
    let mut outputs = outputs;
    outputs[0].text = wrong;
    let folder = write("wrong_views", &outputs);
    let run = std::process::Command::new("gcc")
        .args(["-std=c99", "-O0", "-o", "wrong", "tests/wrong_test.c", "wrong.c"])
        .current_dir(&folder)
        .status()
        .unwrap();
    assert!(run.success());
    let ran = std::process::Command::new(folder.join("wrong")).output().unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(ran.status.code(), Some(1));
    assert!(printed.ends_with("q: wrong offset at (0, 0, 0, 0)\n"), "{printed}");
}

#[test]
fn window_constants_give_origin_and_strides() {
    let outputs = emit(&manifest(ALL), &Settings::c(), "views", &Templates::default()).unwrap();
    let header = &outputs[0].text;
    for line in [
        "#define Q_ORIGIN 0\n",
        "#define Q_STRIDE_S 72\n",
        "#define Q_STRIDE_D 1\n",
        "#define Q_LOGICAL_ELEMENTS 384\n",
        "#define Q_BYTES 4608\n",
        "#define BLOCK_LOGICAL_ELEMENTS 20\n",
        "#define CHANNELS_ORIGIN 244\n",
        "#define TEXELS_PHYSICAL_EXTENT_1 8\n",
        "#define WIDE_STRIDE_N 0\n",
    ] {
        let line = line.split_whitespace().collect::<Vec<_>>();
        let there = header.lines().any(|found| found.split_whitespace().eq(line.iter().copied()));
        assert!(there, "{line:?}");
    }
    assert!(!header.contains("BLOCK_ORIGIN"), "its offset is no sum of strides");
    assert!(!header.contains("wide_store") && !header.contains("wide_pack"));
    assert!(header.contains("wide_load(") && header.contains("void wide_unpack("));
    assert!(!header.contains("half_load") && header.contains("half_offset("));
}
