//! Relayouts with a cast: every pair of types and several kinds of layouts, in process, in C, OpenCL and CUDA. The
//! oracle is the definition in `cast_values`, on all bit patterns worth testing.
#![allow(clippy::disallowed_methods, reason = "writes files, runs compilers")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod harness;
mod layout_pairs;
mod type_pairs;

use crate::cast_values;
use crate::common;
use crate::common::gpu;
use crate::random_manifest;
use layoutc_testing::{Random, cases, is_full};
use std::fmt::Write;

use cast_values::{Type, converted, types, worth_trying};
use common::cc::{folder, run};
use harness::{checked, run_c, run_gpu, write_gpu, written};
use layout_pairs::{LAYOUTS, in_process, layouts};
use layoutc_compiler::base::cast::{Cast, CastEvaluator, CastMode};
use layoutc_compiler::base::dtype::Dtype;
use layoutc_compiler::config::Config;
use random_manifest::{dtypes, manifest as random};
use type_pairs::{is_alike, is_representative, pairs};

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

#[test]
fn c_casts_equal_the_reference() {
    let root = folder("casts_c");
    let (text, cases) = pairs(&root, |from, to| is_full() || is_representative(from, to));
    written(&root, &text, &cases);
    run_c(&root);
}

#[test]
fn opencl_and_cuda_casts_equal_the_reference() {
    let root = folder("casts_gpu");
    // PoCL compiles slowly: the short run has all pairs with f32, and one of each other kind; and no run has all pairs,
    // which are compiled from the same primitives in C.
    let others = [("f64", "f16"), ("f16", "bf16"), ("u64", "f64"), ("i32", "u8"), ("f64", "u64")];
    let chosen = |from: &Type, to: &Type| {
        is_full() && is_representative(from, to)
            || [from.name, to.name].contains(&"f32") && !is_alike(from) && !is_alike(to)
            || others.contains(&(from.name, to.name))
    };
    let (text, cases) = pairs(&root, chosen);
    run_gpu(&root, &text, &cases);
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
