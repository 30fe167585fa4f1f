//! Records: what they mean, what is said of wrong ones, and the C that is made of them.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "writes sources and runs compilers"
)]

use crate::common;
use crate::common::told;
use std::collections::BTreeMap;

use common::cc::{compile_and_run, compilers, folder};
use layoutc_compiler::config::Config;
use layoutc_compiler::emit;
use layoutc_compiler::inspect::tensor_json;
use serde_json::json;
use told::{checked, told_with_help as told};

/// Each tensor's element type, axes and labels.
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
fn fields_of_several_element_types_are_refused_with_the_way_out() {
    told(
        "tensor p { dtype { x f32; y f32; charge i8; mass f64 }; shape { n 4 } }\ntensor q like=p\n",
        &[("dtype::record", "i8", "the field `charge` is i8, and `x` is f32")],
        &["write a tensor for each element type: one of f32, one of i8"],
    );
    told(
        "tensor p { dtype { x float; y f33 }; shape { n 4 } }\n",
        &[
            ("dtype::unknown", "float", "`float` is no element type"),
            ("dtype::unknown", "f33", "`f33` is no element type"),
        ],
        &["did you mean `f32`?", "did you mean `f32`?"],
    );
}

#[test]
fn the_axis_of_a_record_has_an_index_for_each_field() {
    let message = "the axis `field` is not that of the record";
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
        &[("name::hides", "dtype { x f32 }", "the axis `field` hides a const of the same name")],
        &["give the axis another name"],
    );
    told(
        "tensor p { dtype { x f32 }; shape { Field 4 } }\n",
        &[("name::case", "dtype { x f32 }", "the axes `Field` and `field` differ in case only")],
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
