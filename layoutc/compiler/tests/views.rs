//! Views: diagnostics of rejected ones, and the generated C, compiled and run with its test program.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test that runs compilers")]

use crate::common;
use crate::common::check_text;
use std::collections::BTreeMap;
use std::sync::Arc;

use check_text::summaries as rows;
use common::cc::{compile_and_run, compilers, folder};
use layoutc_compiler::config::{self, Config};
use layoutc_compiler::emit::{Output, Settings, Templates, emit};
use layoutc_compiler::model::Manifest;
use layoutc_compiler::{MemorySources, check};

fn manifest(text: &str) -> Manifest {
    let mut checked =
        check(&MemorySources::of("a.kdl", text), &["a.kdl".to_owned()], &Config::default());
    assert_eq!(checked.diagnostics, [], "{text}");
    checked.manifests.remove(0)
}

/// Asserts the only diagnostic of `text`: code, marked text and message, then its notes and its help.
#[track_caller]
fn refused(text: &str, expected: (&str, &str, &str), notes: &[&str], help: &[&str]) {
    let found = check(&MemorySources::of("a.kdl", text), &["a.kdl".to_owned()], &Config::default())
        .diagnostics;
    assert_eq!(rows(text, &found), [expected], "{text}");
    assert_eq!(found[0].notes, notes, "{text}");
    assert_eq!(found[0].help, help, "{text}");
}

const INPUT: &str = "tensor t dtype=f32 { shape { h 6; c 8 } }\n";

fn of_input(view: &str) -> String {
    format!("{INPUT}{view}\n")
}

#[test]
fn a_window_stays_inside() {
    refused(
        &of_input("view v of=t { shape { h 6; c 4 }; map \"(h, c) -> (h, c + 5)\" }"),
        ("map::outside", "c + 5", "an index of `v` is out of bounds of `t`"),
        &["v[0, 3] would be t[0, 8], and axis `c` of `t` has extent 8"],
        &["move the window, or give it a smaller shape"],
    );
    refused(
        &of_input("view v of=t { shape { h 6 }; map \"(h) -> (h - 1, 0)\" }"),
        ("map::outside", "h - 1", "an index of `v` is out of bounds of `t`"),
        &["v[0] would be t[-1, 0], and axis `h` of `t` has extent 6"],
        &["move the window, or give it a smaller shape"],
    );
    refused(
        "symbol n min=0 max=64\ntensor t dtype=f32 { shape { k n } }\nview v of=t { shape {}; map \"() -> (0)\" }",
        ("map::unproven", "0", "cannot prove that an index of `v` stays inside `t`"),
        &["axis `k` of `t` has extent n"],
        &["declare facts of the symbols (`min`, `max`, `multiple`), or a smaller shape"],
    );
}

#[test]
fn a_window_beyond_64_bits_is_refused_with_its_own_extents() {
    refused(
        &of_input("view v of=t { shape { a 4611686018427387904; c 8 }; map \"(a, c) -> (0, c)\" }"),
        ("limit::size", "(a, c) -> (0, c)", "the size of `v` does not fit 64 bits"),
        &[
            "its logical extents are 4611686018427387904 × 8",
            "the limit for elements and bytes is 9223372036854775807",
        ],
        &["reduce the extents, or distribute the elements over several tensors"],
    );
}

#[test]
fn a_window_gives_one_index_for_each_axis_and_nothing_else() {
    refused(
        &of_input("view v of=t { shape { h 6 }; map \"(h) -> (h)\" }"),
        ("map::arity", "(h) -> (h)", "the map has 1 index, and `t` has 2 axes"),
        &[],
        &["write one index for each of h, c"],
    );
    refused(
        &of_input("view v of=t { shape { h 6 }; map \"(h) -> (h : 8, 0)\" }"),
        ("step::form", "8", "the map of a window cannot have extents"),
        &[],
        &["remove it: they are those of `t`"],
    );
    refused(
        &of_input("view v of=t { shape { h 6 }; map \"(h) -> (h | 0)\" }"),
        ("step::form", "|", "the map of a window cannot have separators"),
        &[],
        &["remove it: they are those of `t`"],
    );
}

#[test]
fn lanes_divide_what_they_join() {
    let whole = "cannot view the elements of `t` as f32x4";
    refused(
        "tensor t dtype=f32 { shape { h 6; c 30 } }\nview v of=t dtype=f32x4\n",
        ("shape::lanes", "f32x4", whole),
        &[
            "f32x4 is 4 elements of f32; the stride of storage axis `h` is 30 elements, not a multiple of 4",
        ],
        &["pad the axes inside it to a multiple of 4"],
    );
    refused(
        "symbol n max=64\ntensor t dtype=f32 { shape { c n } }\nview v of=t dtype=f32x4\n",
        ("shape::lanes", "f32x4", whole),
        &[
            "f32x4 is 4 elements of f32; storage axis `c` has n slots, not known to be a multiple of 4",
        ],
        &["pad `c` to a multiple of 4"],
    );
    refused(
        "tensor t dtype=f32 { shape { c 6 }; layout { map \"(c) -> (c // 4, c % 4)\" } }\nview v of=t dtype=f32x4\n",
        ("shape::lanes", "f32x4", whole),
        &["f32x4 is 4 elements of f32; axis `c` has 6 elements, not a multiple of 4"],
        &["make the extent a multiple of 4, or declare a `shape` and a `layout` in the view"],
    );
    refused(
        "tensor t dtype=f32 { shape { c 8 }; layout { map \"(c) -> (7 - c)\" } }\nview v of=t dtype=f32x4\n",
        ("shape::lanes", "f32x4", whole),
        &[
            "f32x4 is 4 elements of f32; 4 elements along `c`, from a multiple of 4, are not always contiguous",
        ],
        &["make `c` the innermost axis, or declare a `shape` and a `layout` in the view"],
    );
    refused(
        "tensor t dtype=f32 { shape { h 4; c 4 }; layout { strides 16 2; padding allow } }\nview v of=t dtype=f32x4\n",
        ("shape::lanes", "f32x4", "no axis of `t` has stride 1"),
        &[],
        &["declare a `shape` and a `layout` in `v`"],
    );
    refused(
        "tensor t dtype=f32 { shape { c 8 }; layout { align 8 } }\nview v of=t dtype=f32x4\n",
        ("shape::lanes", "f32x4", "`t` is aligned to 8 bytes, and f32x4 needs 16"),
        &[],
        &["write `align 16` in the layout of `t`"],
    );
}

#[test]
fn elements_become_others_of_the_same_scalars() {
    refused(
        &of_input("view v of=t dtype=u32"),
        ("dtype::view", "u32", "cannot view `t` of f32 as u32"),
        &["a view has the scalars of its buffer"],
        &["remove `dtype`, or use vectors of the same scalars: `f32x4`"],
    );
    refused(
        "tensor t dtype=f32x2 { shape { c 6 } }\nview v of=t dtype=f32x3\n",
        ("dtype::view", "f32x3", "cannot view `t` of f32x2 as f32x3"),
        &["3 lanes are not a multiple of 2"],
        &["use one of `f32`, `f32x4`, `f32x8`, `f32x16`"],
    );
    refused(
        &of_input("view v of=t dtype=f32x2 { shape { h 6 }; map \"(h) -> (h, 0)\" }"),
        ("dtype::view", "f32x2", "cannot view `t` of f32 as f32x2"),
        &[],
        &["remove `dtype`, and declare a view of the window: a window does not change elements"],
    );
}

#[test]
fn a_shape_of_its_own_is_all_of_the_memory() {
    refused(
        &of_input("view v of=t { shape { k 47 } }"),
        ("shape::view", "v", "`v` does not cover the memory of `t`"),
        &["`v` has 188 bytes", "`t` has 192 bytes"],
        &["make it 48 slots of f32, or make it a window with a `map`"],
    );
    let image = "tensor t dtype=f32 { shape { h 6; c 8 }; layout { axis-separators h } }\n";
    refused(
        &format!("{image}view v of=t {{ shape {{ k 48 }} }}\n"),
        ("shape::view", "v", "`v` has 1 physical axis and `t` has 2"),
        &["`v` is [48] elements of f32 in memory", "`t` is [6, 8] elements of f32 in memory"],
        &["write 1 separator in its layout, with `axis-separators`"],
    );
    refused(
        &format!("{image}view v of=t {{ shape {{ h 8; c 6 }}; layout {{ axis-separators h }} }}\n"),
        (
            "shape::view",
            "layout { axis-separators h }",
            "`v` and `t` have different physical extents",
        ),
        &["`v` is [8, 6] elements of f32 in memory", "`t` is [6, 8] elements of f32 in memory"],
        &["choose a layout with the same physical extents, except the last"],
    );
}

#[test]
fn names_of_views_are_names_of_tensors() {
    refused(
        &of_input("view v of=x"),
        ("name::unknown", "x", "there is no tensor `x`"),
        &[],
        &["tensors here: `t`"],
    );
    refused(
        &of_input("view t of=t"),
        ("name::duplicate", "t", "two tensors are called `t`"),
        &[],
        &["give one of them another name"],
    );
    refused(
        &of_input("view T of=t"),
        ("name::case", "T", "the tensors `t` and `T` differ only in case"),
        &[],
        &["give one of them another name"],
    );
    refused(
        &of_input("view int of=t"),
        ("name::reserved", "int", "view name `int` is reserved in C"),
        &[],
        &["rename it, for example to `int_data`"],
    );
    refused(
        "view a of=b\nview b of=c\nview c of=b\n",
        ("name::cycle", "b", "cyclic `of`: b → c → b"),
        &[],
        &["make one of them a view of a tensor"],
    );
    refused(
        &of_input("view v of=t\ntensor u like=v"),
        ("name::unknown", "v", "there is no tensor `v`"),
        &["`v` is a view, and `like` takes a tensor"],
        &["declare a `dtype` and a `shape` instead"],
    );
    refused(
        &of_input("view v of=t\nconvert v to=t"),
        ("name::not_yet", "v", "conversions of views are not supported yet"),
        &[],
        &["use the `pack` and `unpack` of the window, from and to a dense array"],
    );
}

#[test]
fn a_chain_of_views_ends() {
    let mut text = INPUT.to_owned();
    for k in (0..100_000).rev() {
        let of = if k == 0 { "t".to_owned() } else { format!("v{}", k - 1) };
        text.push_str(&format!("view v{k} of={of}\n"));
    }
    refused(
        &text,
        ("limit::steps", "v63", "the chain of views is longer than 64"),
        &[],
        &["make it a view of the tensor"],
    );
}

#[test]
fn what_is_of_something_refused_is_not_told_again() {
    let text = "tensor t dtype=f33 { shape { c 6 } }\nview v of=t\nview w of=v\n";
    refused(
        text,
        ("dtype::unknown", "f33", "unknown element type `f33`"),
        &[],
        &["did you mean `f32`?"],
    );
}

#[test]
fn two_names_that_run_together_are_refused() {
    let text = of_input(
        "view v of=t\nview v_offset of=t { shape {}; map \"() -> (0, 0)\" }\nview v_index of=t",
    );
    let manifest = manifest(&text);
    let names: Vec<&str> = manifest.views.iter().map(|v| v.tensor.name.as_str()).collect();
    assert_eq!(names, ["v", "v_offset", "v_index"]);
    let clash = of_input(
        "view v of=t { shape { bytes 4 }; map \"(bytes) -> (0, bytes)\" }\ntensor v_stride dtype=f32 { shape { bytes 2 } }",
    );
    let manifest = self::manifest(&clash);
    let faults = emit(&manifest, &Settings::c(), "a", &Templates::default()).unwrap_err();
    assert_eq!(faults[0].code.id(), "name::collision");
    assert_eq!(
        faults[0].message,
        "`v_stride_bytes` would be generated twice: for bytes of tensor `v_stride` and for stride_bytes of view `v`"
    );
}

fn write(name: &str, outputs: &[Output]) -> std::path::PathBuf {
    let folder = folder(name);
    common::cc::write(&folder, outputs);
    folder
}

/// Output of a manifest's test program, compiled by every installed compiler.
fn run(name: &str, text: &str, settings: &Settings) -> String {
    let outputs = emit(&manifest(text), settings, name, &Templates::default()).unwrap();
    let folder = write(name, &outputs);
    let (test, source) = (format!("{name}_test.c"), format!("{name}.c"));
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

#[test]
fn with_the_narrow_index_and_all_cores_too() {
    let toml = "[project]\nprefix = \"my_\"\n[target.c]\nindex-type = \"int32_t\"\nopenmp = true\n";
    let config = config::parse(&Arc::from("layoutc.toml"), toml).unwrap();
    let checked = check(&MemorySources::of("a.kdl", ALL), &["a.kdl".to_owned()], &config);
    let outputs = layoutc_compiler::emit(&checked, &config, &BTreeMap::default()).unwrap();
    let flat = |output: &layoutc_compiler::GeneratedFile| Output {
        path: output.path.trim_start_matches("c/").to_owned(),
        text: output.text.clone(),
    };
    let folder = write("narrow_views", &outputs.iter().map(flat).collect::<Vec<_>>());
    for (k, compiler) in compilers().into_iter().enumerate() {
        compile_and_run(&folder, &format!("narrow_{k}"), &["a_test.c", "a.c"], compiler);
    }
}

#[test]
fn a_view_that_goes_wrong_is_caught_by_the_test_program() {
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
        .args(["-std=c99", "-O0", "-o", "wrong", "wrong_test.c", "wrong.c"])
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
fn constants_say_where_a_window_begins_and_how_it_steps() {
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
