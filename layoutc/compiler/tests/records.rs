//! Records: the element types and axes that they define, and the generated C against structures written by hand.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "writes sources and runs compilers"
)]

use crate::common;
use common::cc::{compile_and_run, compilers, folder};
use common::check_text::check_text;
use layoutc_compiler::config::Config;
use layoutc_compiler::emit::Templates;
use layoutc_compiler::query::inspect::tensor_json;
use layoutc_compiler::{Compiler, MemorySources};
use serde_json::json;

/// Element type, axes and labels of each tensor.
fn meant(text: &str) -> Vec<String> {
    let checked = check_text(text);
    assert_eq!(checked.diagnostics, [], "{text}");
    let tensors = &checked.manifests[0].tensors;
    tensors
        .iter()
        .map(|tensor| {
            let json = tensor_json(tensor, "m.kdl");
            let axes: Vec<String> = json["axes"]
                .as_array()
                .unwrap()
                .iter()
                .zip(&tensor.labels)
                .map(|(axis, labels)| {
                    let labels = if labels.is_empty() {
                        String::new()
                    } else {
                        format!(" ({})", labels.join(" "))
                    };
                    format!("{} {}{labels}", axis["name"].as_str().unwrap(), axis["extent"])
                })
                .collect();
            format!("{}: {} [{}]", tensor.name, tensor.dtype, axes.join(", "))
        })
        .collect()
}

const PARTICLES: &str = "\
tensor aos {
    dtype { x f32; y f32; z f32 }
    shape { n 10 }
}
tensor soa like=aos {
    layout { order field n }
}
tensor aosoa like=aos {
    layout { split n by=4; order n_outer field n_inner }
}
convert aos to=soa
convert aos to=aosoa
convert aosoa to=soa
";

#[test]
fn record_axis_is_last_unless_the_shape_places_it() {
    assert_eq!(
        meant(
            "\
tensor a { dtype { x f32; y f32 }; shape { n 4 } }
tensor b { shape { field; n 4 }; dtype { x f32; y f32 } }
tensor c { shape { field 2; n 4 }; dtype { x f32; y f32 } }
tensor d { shape { n 4; field { x; y }; m 3 }; dtype { x f32; y f32 } }
const TWO 2
tensor e { shape { field TWO }; dtype { x i4; y i4 } }
tensor f { shape {}; dtype { only u1 } }
"
        ),
        [
            "a: f32 [n 4, field 2 (x y)]",
            "b: f32 [field 2 (x y), n 4]",
            "c: f32 [field 2 (x y), n 4]",
            "d: f32 [n 4, field 2 (x y), m 3]",
            "e: i4 [field 2 (x y)]",
            "f: u1 [field 1 (only)]",
        ]
    );
}

#[test]
fn like_inherits_record_fields() {
    assert_eq!(
        meant(
            "\
tensor a { dtype { x f32; y f32 }; shape { n 4 } }
tensor same like=a
tensor longer like=a { shape { m 5 } }
tensor wider like=a dtype=f64
tensor wider_still like=wider
tensor plain like=a dtype=f64 { shape { m 5 } }
tensor others like=a { dtype { u i8; v i8; w i8 } }
tensor others_of like=others { shape { field; m 5 } }
tensor of_plain like=plain { dtype { u i8; v i8 } }
"
        ),
        [
            "a: f32 [n 4, field 2 (x y)]",
            "same: f32 [n 4, field 2 (x y)]",
            "longer: f32 [m 5, field 2 (x y)]",
            "wider: f64 [n 4, field 2 (x y)]",
            "wider_still: f64 [n 4, field 2 (x y)]",
            "plain: f64 [m 5]",
            "others: i8 [n 4, field 3 (u v w)]",
            "others_of: i8 [field 3 (u v w), m 5]",
            "of_plain: i8 [m 5, field 2 (u v)]",
        ]
    );
}

#[test]
fn inspect_shows_the_axis_and_the_element_type() {
    let checked = check_text(PARTICLES);
    let json = tensor_json(&checked.manifests[0].tensors[1], "m.kdl");
    assert_eq!(json["dtype"], "f32");
    assert_eq!(json["axes"], json!([{"name": "n", "extent": 10}, {"name": "field", "extent": 3}]));
    assert_eq!(json["storage_map"], json!(["field", "n"]));
    assert_eq!(json["verdict"], "bijective");
}

#[test]
fn fields_of_several_types_or_with_counts_are_one_element() {
    assert_eq!(
        meant(
            "\
const BLOCK 32
tensor q4_0 { dtype { d f16; q u4 32 }; shape { row 8; b 5 } }
tensor like_it like=q4_0 { layout { order b row } }
tensor of_const { dtype { d f16; q u4 BLOCK }; shape { b 5 } }
tensor counted { dtype { q u4 16 2 }; shape { b 5 } }
tensor particles { dtype { x f32; y f32; z f32; id i32 }; shape { n 4 } }
tensor aligned { dtype { tag i8; x f32 align=4 }; shape { n 4 } }
tensor wide { dtype align=\"16\" { x f32; y f32 }; shape { n 4 } }
tensor turned { dtype { d f16; q u4 2 }; shape { n 4 }; nibbles high-first }
"
        ),
        [
            "q4_0: { d f16; q u4 32 } [row 8, b 5]",
            "like_it: { d f16; q u4 32 } [row 8, b 5]",
            "of_const: { d f16; q u4 32 } [b 5]",
            "counted: { q u4 16 2 } [b 5]",
            "particles: { x f32; y f32; z f32; id i32 } [n 4]",
            "aligned: { tag i8; x f32 align=4 } [n 4]",
            "wide: { x f32; y f32 } align=16 [n 4]",
            "turned: { d f16; q u4 2 } high-first [n 4]",
        ]
    );
}

#[test]
fn inspect_shows_the_fields_of_an_element() {
    let checked =
        check_text("tensor q { dtype { tag i8; d f16 align=2; q u4 16 2 }; shape { row 8; b 5 } }");
    assert_eq!(checked.diagnostics, []);
    let json = tensor_json(&checked.manifests[0].tensors[0], "m.kdl");
    assert_eq!(json["element_bits"], 160);
    assert_eq!(json["bytes"], 800);
    assert_eq!(
        json["fields"],
        json!([
            {"name": "tag", "dtype": "i8", "counts": [], "offset_bytes": 0, "bytes": 1},
            {"name": "d", "dtype": "f16", "counts": [], "offset_bytes": 2, "bytes": 2},
            {"name": "q", "dtype": "u4", "counts": [16, 2], "offset_bytes": 4, "bytes": 16},
        ])
    );
    // An alignment pads the 20 bits of the fields to 3 bytes.
    let checked = check_text("tensor q4 { dtype align=1 { d f16; q u4 }; shape { n 40 } }");
    assert_eq!(tensor_json(&checked.manifests[0].tensors[0], "m.kdl")["bytes"], 120);
}

const PROGRAM: &str = r#"
#include <stdio.h>
#include "m.h"

#if AOS_FIELD_X != 0 || AOS_FIELD_Y != 1 || AOS_FIELD_Z != 2 || AOS_EXTENT_FIELD != 3
#error "the fields are in their order"
#endif

static int failed;

static void expect(const char *what, float found, float wanted) {
    if (found != wanted && failed++ < 5) printf("%s: %g, not %g\n", what, (double)found, (double)wanted);
}

struct particle { float x, y, z; };

int main(void) {
    struct particle all[10];
    float dense[30], aos[AOS_PHYSICAL_ELEMENTS], soa[SOA_PHYSICAL_ELEMENTS];
    float aosoa[AOSOA_PHYSICAL_ELEMENTS], again[SOA_PHYSICAL_ELEMENTS];
    for (int k = 0; k < 10; k++) {
        dense[3 * k] = all[k].x = (float)k;
        dense[3 * k + 1] = all[k].y = (float)(100 + k);
        dense[3 * k + 2] = all[k].z = (float)(200 + k);
    }
    aos_pack(dense, aos);
    aos_to_soa(aos, soa);
    aos_to_aosoa(aos, aosoa);
    aosoa_to_soa(aosoa, again);
    for (int k = 0; k < 10; k++) {
        expect("an array of structs", aos[3 * k + 1], all[k].y);
        expect("its offset", aos[aos_offset(k, AOS_FIELD_Z)], all[k].z);
        expect("a struct of arrays", soa[10 + k], all[k].y);
        expect("its offset", soa[soa_offset(k, SOA_FIELD_X)], all[k].x);
        expect("blocks of four", aosoa[k / 4 * 12 + 8 + k % 4], all[k].z);
        expect("their offset", aosoa[aosoa_offset(k, AOSOA_FIELD_Y)], all[k].y);
    }
    for (int k = 0; k < 30; k++) expect("by way of blocks", again[k], soa[k]);
    if (failed) return 1;
    puts("agrees");
    return 0;
}
"#;

#[test]
fn arrays_of_structs_and_structs_of_arrays_run_in_c() {
    let checked = check_text(PARTICLES);
    assert_eq!(checked.diagnostics, []);
    let outputs = Compiler::new(&MemorySources::default(), &Config::default())
        .emit(&checked, &Templates::default())
        .unwrap();
    let folder = folder("records");
    for output in &outputs {
        let name = output.path.strip_prefix("c/").unwrap();
        layoutc_testing::files::write(folder.join(name), &output.text);
    }
    std::fs::write(folder.join("program.c"), PROGRAM).unwrap();
    for (k, compiler) in (0..).zip(compilers()) {
        for (main, says) in [("program.c", "agrees\n"), ("tests/m_test.c", "")] {
            let program = format!("{}_{k}", main.replace(['.', '/'], "_"));
            let printed = compile_and_run(&folder, &program, &[main, "m.c"], compiler.clone());
            assert!(printed.is_none_or(|printed| printed.ends_with(says)), "{main}");
        }
    }
}

const BLOCKS: &str = "\
tensor q4_0 { dtype { d f16; q u4 32 }; shape { row 3; b 5 } }
tensor q8_0 { dtype { d f16; q i8 32 }; shape { row 3; b 5 } }
tensor q4_1 { dtype { d f16; m f16; q u4 32 }; shape { row 3; b 5 } }
tensor q4_k { dtype { d f16; dmin f16; scales u8 12; q u4 256 }; shape { row 3; b 5 } }
tensor mxfp4 { dtype { e f8e8m0fnu; q f4e2m1fn 32 }; shape { row 3; b 5 } }
tensor particle { dtype { x f32; y f32; z f32; id i32 }; shape { row 3; b 5 } }
tensor tagged { dtype { tag i8; x f64 align=8; c u8 }; shape { row 3; b 5 } }
tensor packed { dtype { tag i8; x f64; v f32x4; c c64 2 }; shape { row 3; b 5 } }
";

const AGAINST_C: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "m.h"

static int failed;

struct block_q4_0 { uint16_t d; uint8_t qs[16]; };
struct block_q8_0 { uint16_t d; int8_t qs[32]; };
struct block_q4_1 { uint16_t d, m; uint8_t qs[16]; };
struct block_q4_k { uint16_t d, dmin; uint8_t scales[12]; uint8_t qs[128]; };
struct block_mxfp4 { uint8_t e; uint8_t qs[16]; };
struct block_particle { float x, y, z; int32_t id; };
struct block_tagged { int8_t tag; double x; uint8_t c; };
struct block_packed { int8_t tag; uint8_t x[8], v[16], c[16]; };

/* Blocks of bytes that all differ go to (b, row padded to 4), and what no block fills is 1 in every field. */
#define MOVED(name, ...) static void check_##name(void) { \
    static const struct block_##name fill = __VA_ARGS__; \
    struct block_##name rows[15], moved[20], back[15]; \
    if (sizeof rows != name##_size || sizeof moved != name##_t_size) { failed++; puts(#name ": its size"); return; } \
    memset(&moved, 0, sizeof moved); \
    for (size_t k = 0; k < sizeof rows; k++) ((unsigned char *)rows)[k] = (unsigned char)(k * 7 + k / 256); \
    name##_to_##name##_t((const name##_element *)(const void *)rows, (name##_element *)(void *)moved); \
    for (int b = 0; b < 5; b++) for (int row = 0; row < 4; row++) { \
        const struct block_##name *wanted = row < 3 ? &rows[row * 5 + b] : &fill; \
        if (memcmp(&moved[b * 4 + row], wanted, sizeof fill) != 0) { failed++; printf(#name ": %d, %d\n", row, b); } \
    } \
    name##_t_to_##name((const name##_element *)(const void *)moved, (name##_element *)(void *)back); \
    if (memcmp(rows, back, sizeof rows) != 0) { failed++; puts(#name ": back"); } \
}
"#;

/// C program that checks all blocks; `ones` has the literal of each structure with 1 in every field.
fn against_c(header: &str) -> String {
    let ones: [(&str, &str); 8] = [
        ("q4_0", "{0x3C00, {ONES}}"),
        ("q8_0", "{0x3C00, {1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}}"),
        ("q4_1", "{0x3C00, 0x3C00, {ONES}}"),
        (
            "q4_k",
            "{0x3C00, 0x3C00, {1,1,1,1,1,1,1,1,1,1,1,1}, {ONES, ONES, ONES, ONES, ONES, ONES, ONES, ONES}}",
        ),
        ("mxfp4", "{127, {HALVES}}"),
        ("particle", "{1.0f, 1.0f, 1.0f, 1}"),
        ("tagged", "{0, 0.0, 0}"),
        (
            "packed",
            "{1, {0,0,0,0,0,0,0xF0,0x3F}, {0,0,0x80,0x3F,0,0,0x80,0x3F,0,0,0x80,0x3F,0,0,0x80,0x3F}, \
             {0,0,0x80,0x3F,0,0,0,0,0,0,0x80,0x3F,0,0,0,0}}",
        ),
    ];
    let (nibbles, halves) = (["0x11"; 16].join(","), ["0x22"; 16].join(","));
    let mut text = AGAINST_C.to_owned();
    for (name, one) in ones {
        let (one, upper) =
            (one.replace("ONES", &nibbles).replace("HALVES", &halves), name.to_uppercase());
        text.push_str(&format!(
            "#define {name}_size {upper}_BYTES\n#define {name}_t_size {upper}_T_BYTES\n"
        ));
        let element = header.split_once(&format!("{name}_pack(const ")).unwrap().1;
        let element = element.split_once(' ').unwrap().0;
        text.push_str(&format!("#define {name}_element {element}\nMOVED({name}, {one})\n"));
    }
    text.push_str("int main(void) {\n");
    ones.iter().for_each(|(name, _)| text.push_str(&format!("    check_{name}();\n")));
    text.push_str("    if (failed) return 1;\n    puts(\"agrees\");\n    return 0;\n}\n");
    text
}

#[test]
fn quantization_blocks_equal_handwritten_c_structs() {
    let mut manifest = BLOCKS.to_owned();
    for line in BLOCKS.lines() {
        let name = line.split(' ').nth(1).unwrap();
        let fill = i32::from(name != "tagged");
        manifest.push_str(&format!(
            "tensor {name}_t like={name} {{ layout {{ order b row; pad row multiple=4; fill {fill}; padding allow }} }}\n\
             convert {name} to={name}_t\nconvert {name}_t to={name}\n"
        ));
    }
    let checked = check_text(&manifest);
    assert_eq!(checked.diagnostics, []);
    let outputs = Compiler::new(&MemorySources::default(), &Config::default())
        .emit(&checked, &Templates::default())
        .unwrap();
    let folder = folder("record_blocks");
    for output in &outputs {
        layoutc_testing::files::write(
            folder.join(output.path.strip_prefix("c/").unwrap()),
            &output.text,
        );
    }
    let header = &outputs.iter().find(|output| output.path == "c/m.h").unwrap().text;
    std::fs::write(folder.join("program.c"), against_c(header)).unwrap();
    for (k, compiler) in (0..).zip(compilers()) {
        for (main, says) in [("program.c", "agrees\n"), ("tests/m_test.c", "")] {
            let program = format!("{}_{k}", main.replace(['.', '/'], "_"));
            let printed = compile_and_run(&folder, &program, &[main, "m.c"], compiler.clone());
            assert!(printed.is_none_or(|printed| printed.ends_with(says)), "{main}");
        }
    }
}

#[test]
fn headers_of_all_targets_document_field_indices() {
    let config = "[target.c]\n[target.opencl]\n[target.cuda]\n";
    let config = layoutc_compiler::config::parse(&std::sync::Arc::from("layoutc.toml"), config);
    let outputs = Compiler::new(&MemorySources::default(), &config.unwrap())
        .emit(&check_text(PARTICLES), &Templates::default())
        .unwrap();
    for path in ["c/m.h", "opencl/m.h", "opencl/m.cl", "cuda/m.cuh"] {
        let text = &outputs.iter().find(|output| output.path == path).unwrap().text;
        assert!(text.contains("//   field: x 0, y 1, z 2\n"), "{path}:\n{text}");
    }
    for path in ["c/m.h", "opencl/m.h", "opencl/m.cl", "cuda/m.cuh"] {
        let text = &outputs.iter().find(|output| output.path == path).unwrap().text;
        for (field, value) in [("X", 0), ("Y", 1), ("Z", 2)] {
            let defines = text.lines().any(|line| {
                line.split_whitespace().eq([
                    "#define",
                    &format!("AOSOA_FIELD_{field}"),
                    &value.to_string(),
                ])
            });
            assert!(defines, "{path}: {field}\n{text}");
        }
    }
}
