//! Records: the element types and axes that they define, diagnostics of invalid ones, and the generated C against
//! structures written by hand.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "writes sources and runs compilers"
)]

use crate::common;
use crate::common::check_text;
use std::collections::BTreeMap;

use check_text::{assert_diagnostics_and_help as told, check_text as checked};
use common::cc::{compile_and_run, compilers, folder};
use layoutc_compiler::config::Config;
use layoutc_compiler::emit;
use layoutc_compiler::query::inspect::tensor_json;
use serde_json::json;

/// Element type, axes and labels of each tensor.
fn meant(text: &str) -> Vec<String> {
    let checked = checked(text);
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
fn a_record_is_an_axis_after_those_of_the_shape_or_where_the_shape_places_it() {
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
fn a_tensor_like_a_record_has_its_fields_with_whatever_it_takes_of_it() {
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
    let checked = checked(PARTICLES);
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
        checked("tensor q { dtype { tag i8; d f16 align=2; q u4 16 2 }; shape { row 8; b 5 } }");
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
}

#[test]
fn a_record_of_several_types_is_whole_bytes() {
    // f16 and u4 have 20 bits: a count or an alignment makes whole bytes.
    told(
        "tensor q4 { dtype { d f16; q u4 }; shape { row 8; b 5 } }\n",
        &[(
            "dtype::record",
            "dtype { d f16; q u4 }",
            "a record consists of whole bytes, and these fields have 20 bits",
        )],
        &[
            "give `q` a count that is a multiple of 2: `q u4 32`, or pad the last byte: `dtype align=1 { … }`",
        ],
    );
    for dtype in ["{ d f16; q u4 32 }", "align=1 { d f16; q u4 }"] {
        let text = format!("tensor q4 {{ dtype {dtype}; shape {{ row 8; b 5 }} }}\n");
        let checked = checked(&text);
        assert_eq!(checked.diagnostics, [], "{text}");
        let bytes = if dtype.starts_with('a') { 3 } else { 18 };
        let json = tensor_json(&checked.manifests[0].tensors[0], "m.kdl");
        assert_eq!(json["bytes"], 40 * bytes, "{text}");
    }
    told(
        "tensor p { dtype { q u3 3; d f16 }; shape { n 4 } }\n",
        &[("dtype::record", "d f16", "field `d` starts inside a byte, after 9 bits")],
        &["give `q` a multiple of 8 elements, or start at the next byte: `align=1` after `d`"],
    );
}

#[test]
fn what_makes_no_record_is_told_with_the_figures() {
    told(
        "tensor p { dtype { x f32; q u4 0; r u4 -2 }; shape { n 4 } }\n",
        &[
            ("dtype::record", "0", "field `q` has 0 elements; the minimum is 1"),
            ("dtype::record", "-2", "field `r` has -2 elements; the minimum is 1"),
        ],
        &["write 1 or more, or remove the field"; 2],
    );
    told(
        "tensor p { dtype { x f32; q u8 5000 }; shape { n 4 } }\n",
        &[(
            "dtype::record",
            "dtype { x f32; q u8 5000 }",
            "a record has at most 4096 bytes, and this one has 5004",
        )],
        &["give a field fewer elements, and add an axis to the shape"],
    );
    told(
        "tensor p { dtype { x i8; y f32 align=3 }; shape { n 4 } }\n",
        &[(
            "step::value",
            "3",
            "invalid alignment of a field: expected a power of two from 1 to 4096 bytes, found 3",
        )],
        &["write `2` or `4`"],
    );
    told(
        "tensor p { dtype { x i8; y f32; y f64 }; shape { n 4 } }\n",
        &[("name::duplicate", "y", "two fields are called `y`")],
        &["give one of the two another name"],
    );
    told(
        "tensor p { dtype { x float; y f33; z i8 }; shape { n 4 } }\n",
        &[
            ("dtype::unknown", "float", "unknown element type `float`"),
            ("dtype::unknown", "f33", "unknown element type `f33`"),
        ],
        &["did you mean `f32`?", "did you mean `f32`?"],
    );
    told(
        "tensor p { dtype { x i8; double f32 }; shape { n 4 } }\n",
        &[("name::reserved", "double", "field name `double` is reserved in C")],
        &["rename it, for example to `double_data`"],
    );
    let many = (0..257).fold(String::new(), |text, k| format!("{text}f{k} u8; "));
    told(
        &format!("tensor p {{ dtype {{ {many}}}; shape {{ n 4 }} }}\n"),
        &[(
            "dtype::record",
            &format!("{{ {many}}}"),
            "a record can have at most 256 fields, and this one has 257",
        )],
        &["give a field a count: `q u4 32` is 32 elements"],
    );
}

#[test]
fn an_element_of_fields_is_no_axis_no_number_and_no_other_element() {
    told(
        "tensor p { dtype { x f32; id i32 }; shape { n 4; field } }\n",
        &[("dtype::record", "field", "the fields of this record do not form an axis `field`")],
        &["remove `field`; for a struct of arrays, declare a tensor per field"],
    );
    told(
        "\
tensor a { dtype { x f32; id i32 }; shape { n 4 } }
tensor b { dtype { x f32; id u32 }; shape { n 4 } }
convert a to=b
",
        &[(
            "dtype::convert",
            "convert a to=b",
            "`a` has elements of type { x f32; id i32 } and `b` of type { x f32; id u32 }",
        )],
        &["a conversion copies elements unchanged; give both tensors the same element type"],
    );
    told(
        "\
tensor a { dtype { x f32; id i32 }; shape { n 4 } }
tensor b dtype=f32 { shape { n 4 } }
kernel k { compute \"b[n] = a[n]\" }
",
        &[(
            "dtype::kernel",
            "a",
            "`a` has elements of type { x f32; id i32 }, which has no arithmetic",
        )],
        &["store each field in its own tensor"],
    );
    for (read, field) in [("a.x[n]", ".x"), ("2 * f32(a.id [n])", ".id")] {
        let message =
            format!("kernels that use a field of a record, `{field}`, are not supported yet");
        let text = format!(
            "tensor a {{ dtype {{ x f32; id i32 }}; shape {{ n 4 }} }}\n\
             tensor b dtype=f32 {{ shape {{ n 4 }} }}\nkernel k {{ compute \"b[n] = {read}\" }}\n"
        );
        let help = ["store each field in its own tensor"];
        told(&text, &[("name::not_yet", field, &message)], &help);
    }
    told(
        "\
tensor a { dtype { x f32; id i32 }; shape { n 4 } }
view b of=a dtype=f32
",
        &[("dtype::view", "f32", "cannot view `a` of { x f32; id i32 } as f32")],
        &["remove `dtype`"],
    );
    told(
        "tensor a pack-from=f32 { dtype { x f32; id i32 }; shape { n 4 } }\n",
        &[("dtype::cast", "f32", "`a` of { x f32; id i32 } cannot be packed from f32")],
        &["store each field in its own tensor"],
    );
    told(
        "tensor a { dtype { x f32; q u4 2 }; shape { n 3 }; layout { pad n multiple=4; fill 16 } }\n",
        &[(
            "padding::fill",
            "16",
            "`a` cannot hold the fill value `16` in the field `q` as `u4`: it is out of range",
        )],
        &["give a `fill` that the element type holds, or `fill none`"],
    );
}

#[test]
fn the_axis_of_a_record_has_an_index_for_each_field() {
    let message = "axis `field` does not match the record";
    for shape in ["field 3; n 4", "field { y; x }; n 4", "n 4; field { x; y; z }"] {
        told(
            &format!("tensor p {{ dtype {{ x f32; y f32 }}; shape {{ {shape} }} }}\n"),
            &[("dtype::record", "field", message)],
            &["write `field` alone: its indices are x, y"],
        );
    }
    told(
        "tensor p dtype=f32 { shape { field; n 4 } }\n",
        &[("shape::extent", "field", "axis `field` has no extent")],
        &["write `field 64`, or a record: `dtype { x f32; y f32 }`"],
    );
    told(
        "const field 4\ntensor p { dtype { x f32 }; shape { n field } }\n",
        &[("name::hides", "dtype { x f32 }", "axis `field` shadows a const of the same name")],
        &["give the axis another name"],
    );
    told(
        "tensor p { dtype { x f32 }; shape { Field 4 } }\n",
        &[("name::case", "dtype { x f32 }", "the axes `Field` and `field` differ only in case")],
        &["give one of them another name"],
    );
}

#[test]
fn fields_that_differ_in_case_only_are_refused() {
    let text = "tensor p { dtype { x f32; X f32 }; shape { n 4 } }\n";
    let checked = checked(text);
    assert_eq!(checked.diagnostics, []);
    let faults = emit(&checked, &Config::default(), &BTreeMap::new()).unwrap_err();
    let codes: Vec<&str> = faults.iter().map(|fault| fault.code.id()).collect();
    assert_eq!(codes, ["name::collision"]);
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
    let checked = checked(PARTICLES);
    assert_eq!(checked.diagnostics, []);
    let outputs = emit(&checked, &Config::default(), &BTreeMap::new()).unwrap();
    let folder = folder("records");
    for output in &outputs {
        let name = output.path.strip_prefix("c/").unwrap();
        std::fs::write(folder.join(name), &output.text).unwrap();
    }
    std::fs::write(folder.join("program.c"), PROGRAM).unwrap();
    for (k, compiler) in (0..).zip(compilers()) {
        for (main, says) in [("program.c", "agrees\n"), ("m_test.c", "")] {
            let program = format!("{}_{k}", main.replace('.', "_"));
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
fn blocks_of_quants_move_as_structures_that_are_written_by_hand() {
    let mut manifest = BLOCKS.to_owned();
    for line in BLOCKS.lines() {
        let name = line.split(' ').nth(1).unwrap();
        let fill = i32::from(name != "tagged");
        manifest.push_str(&format!(
            "tensor {name}_t like={name} {{ layout {{ order b row; pad row multiple=4; fill {fill}; padding allow }} }}\n\
             convert {name} to={name}_t\nconvert {name}_t to={name}\n"
        ));
    }
    let checked = checked(&manifest);
    assert_eq!(checked.diagnostics, []);
    let outputs = emit(&checked, &Config::default(), &BTreeMap::new()).unwrap();
    let folder = folder("record_blocks");
    for output in &outputs {
        std::fs::write(folder.join(output.path.strip_prefix("c/").unwrap()), &output.text).unwrap();
    }
    let header = &outputs.iter().find(|output| output.path == "c/m.h").unwrap().text;
    std::fs::write(folder.join("program.c"), against_c(header)).unwrap();
    for (k, compiler) in (0..).zip(compilers()) {
        for (main, says) in [("program.c", "agrees\n"), ("m_test.c", "")] {
            let program = format!("{}_{k}", main.replace('.', "_"));
            let printed = compile_and_run(&folder, &program, &[main, "m.c"], compiler.clone());
            assert!(printed.is_none_or(|printed| printed.ends_with(says)), "{main}");
        }
    }
}

#[test]
fn headers_of_all_targets_say_which_field_is_which() {
    let config = "[target.c]\n[target.opencl]\n[target.cuda]\n";
    let config = layoutc_compiler::config::parse(&std::sync::Arc::from("layoutc.toml"), config);
    let outputs = emit(&checked(PARTICLES), &config.unwrap(), &BTreeMap::new()).unwrap();
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
