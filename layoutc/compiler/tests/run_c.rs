//! Emitted C, compiled by every compiler with strict flags and run with its test program.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test that runs compilers")]

use crate::common;
use common::cc::{compile_and_run, compilers, folder, run, run_with, write};
use common::{
    ZERO, convert, manifest, mapped, nchw4c, nchw4c_texture, permuted, proven, row_major, tensor,
};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::symbol::Symbol;
use layoutc_compiler::base::codes::Code;
use layoutc_compiler::emit::{Settings, Templates, dialect, emit};
use layoutc_compiler::model::{Fill, FillValue, Memory};
use layoutc_compiler::target::keywords;
use layoutc_testing::is_full;

/// `[h, w]` in XLA's 8×128 tiles, the last ones partial.
fn xla_tiles(h: i128, w: i128) -> Layout {
    mapped(&[("h", h), ("w", w)], "(h, w) -> (h // 8, w // 128, h % 8 : 8, w % 128 : 128)")
}

/// A batch known at run time.
fn batch(multiple: i128) -> Symbol {
    Symbol { name: "batch".to_owned(), min: 1, max: 4096, multiple }
}

/// `(b // 4, c, b % 4)` of `[b, c]` with `b` known at run time.
fn blocked_batch(multiple: i128) -> Layout {
    let map = "(b, c) -> (b // 4, c, b % 4)";
    proven(&[batch(multiple)], &[("b", "batch"), ("c", "5")], &[map], &[], &[]).unwrap()
}

/// A halo of one row on each side; `index` is the row of `h`.
fn halo(index: &str) -> Layout {
    mapped(&[("h", 6), ("w", 3)], &format!("(h, w) -> ({index} : 8, w)"))
}

/// Row-major `[5, 6]` with a row stride of 8 elements.
fn pitched() -> Layout {
    proven(&[], &[("i", "5"), ("j", "6")], &[], &[], &[8, 1]).unwrap()
}

/// `7 * i + 3 * j`: proven by enumeration, without an inverse.
fn odd_strides() -> Layout {
    mapped(&[("i", 3), ("j", 2)], "(i, j) -> (7 * i + 3 * j)")
}

/// A halo in blocks of 4.
const BLOCKED_HALO: &str = "(h) -> ((h + 1) // 4, (h + 1) % 4)";

fn every_layout() -> Vec<(&'static str, Layout)> {
    vec![
        ("rows", row_major(&[("a", 3), ("b", 5), ("c", 7)])),
        ("nchw4c", nchw4c([2, 6, 5, 8])),
        ("nchw4c_padded", nchw4c([2, 3, 5, 6])),
        ("texture", nchw4c_texture([2, 6, 5, 8])),
        ("texture_padded", nchw4c_texture([2, 3, 5, 7])),
        ("small", nchw4c([1, 1, 1, 3])),
        ("tiles", xla_tiles(10, 200)),
        ("one_tile", xla_tiles(3, 5)),
        ("batch", blocked_batch(1)),
        ("batch4", blocked_batch(4)),
        ("halo", halo("h + 1")),
        ("reversed", halo("6 - h")),
        ("blocked_halo", mapped(&[("h", 9)], BLOCKED_HALO)),
        ("minor_first", mapped(&[("h", 9)], "(h) -> ((h + 1) % 4, (h + 1) // 4)")),
        ("fused", mapped(&[("h", 4), ("w", 5)], "(h, w) -> ((h * 5 + w) // 3, (h * 5 + w) % 3)")),
        // Not a sum of digits, but with an inverse.
        ("swizzled", mapped(&[("h", 11), ("w", 16)], "(h, w) -> (h, w ^ h % 8)")),
        ("odd", odd_strides()),
        ("odd_pair", mapped(&[("i", 3), ("j", 2)], "(i, j) -> (7 * i + 3 * j | 0 * i)")),
        ("pitched", pitched()),
        ("turned", permuted(&[("r", 70), ("s", 100)], &[1, 0])),
        ("scalar", row_major(&[])),
        ("empty", row_major(&[("x", 3), ("y", 0)])),
        ("units", row_major(&[("x", 1), ("y", 4), ("z", 1)])),
    ]
}

#[test]
fn every_layout_round_trips() {
    let tensors = every_layout().into_iter().map(|(name, layout)| {
        let fill = Fill::Value(FillValue::Float(-1.5));
        tensor(name, "f32", layout, fill)
    });
    let tensors: Vec<_> = tensors.collect();
    let count = tensors.len();
    let printed = run("every_layout", &manifest(tensors, Vec::new()));
    assert!(printed.lines().count() >= count, "{printed}");
}

#[test]
fn every_element_size_round_trips() {
    let names = [
        "f64",
        "f32",
        "f16",
        "bf16",
        "f8e4m3fn",
        "f8e4m3fnuz",
        "f8e5m2",
        "f8e5m2fnuz",
        "f8e8m0fnu",
        "f6e2m3fn",
        "f6e3m2fn",
        "f4e2m1fn",
        "i64",
        "i32",
        "i16",
        "i8",
        "i6",
        "i5",
        "i4",
        "i3",
        "i2",
        "u64",
        "u32",
        "u16",
        "u8",
        "u6",
        "u5",
        "u4",
        "u3",
        "u2",
        "u1",
        "bool",
        "c64",
        "c128",
        "f32x4",
        "u8x3",
        "f16x8",
        "c64x2",
        "i64x16",
    ];
    // The short run has one type of each size, signed and unsigned.
    let few = [
        "f64", "f16", "f6e3m2fn", "f4e2m1fn", "i8", "i5", "i4", "i2", "u4", "u3", "u1", "c64",
        "f32x4", "u8x3",
    ];
    let one = Fill::Value(FillValue::Integer(1));
    let mut tensors = Vec::new();
    for dtype in names.into_iter().filter(|dtype| is_full() || few.contains(dtype)) {
        for (name, layout, fill) in [
            ("padded", nchw4c_texture([2, 3, 5, 7]), one),
            ("whole", row_major(&[("a", 3), ("b", 3)]), ZERO),
        ] {
            tensors.push(tensor(&format!("{dtype}_{name}"), dtype, layout, fill));
            let mut high =
                tensor(&format!("{dtype}_{name}_high"), dtype, row_major(&[("a", 7)]), ZERO);
            high.high_first = true;
            if high.dtype.element_bits() < 8 {
                tensors.push(high);
            }
        }
    }
    for dtype in ["u4", "u1", "f64", "f32x4"] {
        for (name, layout, fill) in [
            ("untouched", xla_tiles(3, 5), Fill::Nothing),
            ("symbolic", blocked_batch(1), one),
            ("searched", odd_strides(), one),
        ] {
            tensors.push(tensor(&format!("{dtype}_{name}"), dtype, layout, fill));
        }
    }
    run("every_element", &manifest(tensors, Vec::new()));
}

#[test]
fn infinities_and_limits_are_fill_values() {
    let cases = [
        ("f32", FillValue::Float(f64::NEG_INFINITY)),
        ("f64", FillValue::Float(f64::INFINITY)),
        ("f16", FillValue::Float(f64::NEG_INFINITY)),
        ("i64", FillValue::Integer(i128::from(i64::MIN))),
        ("i32", FillValue::Integer(i128::from(i32::MIN))),
        ("u64", FillValue::Integer(i128::from(u64::MAX))),
        ("u32", FillValue::Integer(i128::from(u32::MAX))),
        ("i8", FillValue::Integer(-128)),
        ("i4", FillValue::Integer(-8)),
        ("c128", FillValue::Float(0.1)),
        ("f32x3", FillValue::Float(1e-40)),
    ];
    let tensors = cases.iter().map(|(dtype, fill)| {
        tensor(&format!("t_{dtype}"), dtype, nchw4c([1, 2, 3, 5]), Fill::Value(*fill))
    });
    run("limits", &manifest(tensors.collect(), Vec::new()));
}

#[test]
fn conversions_agree_with_both_definitions() {
    let layouts = [
        ("rows", row_major(&[("n", 2), ("h", 6), ("w", 5), ("c", 7)])),
        ("blocked", nchw4c([2, 6, 5, 7])),
        ("texture", nchw4c_texture([2, 6, 5, 7])),
        ("planes", permuted(&[("n", 2), ("h", 6), ("w", 5), ("c", 7)], &[0, 3, 1, 2])),
        ("other", permuted(&[("c", 7), ("w", 5), ("h", 6), ("n", 2)], &[3, 0, 2, 1])),
    ];
    let tensors: Vec<_> =
        layouts.into_iter().map(|(name, layout)| tensor(name, "u16", layout, ZERO)).collect();
    let mut converts = Vec::new();
    for from in 0..5 {
        for to in 0..5 {
            if from != to {
                let turned = (from == 4) != (to == 4);
                let axes = if turned { [3, 2, 1, 0] } else { [0, 1, 2, 3] };
                converts.push(convert(from, to, &axes));
            }
        }
    }
    let printed = run("conversions", &manifest(tensors, converts));
    assert_eq!(printed.lines().filter(|line| line.contains("_to_")).count(), 20, "{printed}");
}

#[test]
fn conversions_of_packed_symbolic_and_searched_tensors_run() {
    let one = Fill::Value(FillValue::Integer(1));
    let rows = proven(&[batch(1)], &[("b", "batch"), ("c", "5")], &[], &[], &[]).unwrap();
    let tensors = vec![
        tensor("rows", "i4", rows, one),
        tensor("blocked", "i4", blocked_batch(1), one),
        tensor("odd", "f64", odd_strides(), one),
        tensor("plain", "f64", row_major(&[("i", 3), ("j", 2)]), one),
        tensor("turned", "f64", permuted(&[("i", 3), ("j", 2)], &[1, 0]), one),
    ];
    let pair = |from, to| convert(from, to, &[0, 1]);
    let converts = vec![pair(0, 1), pair(1, 0), pair(2, 3), pair(3, 2), pair(3, 4), pair(4, 2)];
    run("packed", &manifest(tensors, converts));
}

#[test]
fn a_tensor_without_memory_has_index_functions_only() {
    let mut fragment = tensor("fragment", "f16", nchw4c([1, 2, 2, 4]), ZERO);
    fragment.memory = Memory::None;
    let outputs =
        emit(&manifest(vec![fragment.clone()], vec![]), &Settings::c(), "f", &Templates::default());
    assert!(!outputs.unwrap()[0].text.contains("fragment_pack"));
    run("fragment", &manifest(vec![fragment], vec![]));
}

#[test]
fn awkward_names_compile() {
    let layout = row_major(&[("logical", 2), ("physical", 3), ("p1", 2), ("l0", 2), ("slot", 2)]);
    let mut tensors = vec![tensor("awkward", "f32", layout, ZERO)];
    let layout = permuted(
        &[("int", 2), ("errno", 3), ("class", 2), ("y0", 5), ("fill", 2)],
        &[4, 3, 2, 1, 0],
    );
    tensors.push(tensor("reserved", "u4", layout, ZERO));
    // Every reserved word of C, C++ and the library as the name of an axis.
    let words: Vec<&str> = keywords::C.words().collect();
    for (k, words) in words.chunks(12).enumerate() {
        let axes: Vec<(&str, i128)> =
            words.iter().enumerate().map(|(k, word)| (*word, if k < 3 { 2 } else { 1 })).collect();
        let order: Vec<usize> = (0..axes.len()).rev().collect();
        tensors.push(tensor(&format!("words{k}"), "f32", permuted(&axes, &order), ZERO));
    }
    run("awkward", &manifest(tensors, vec![]));
}

#[test]
fn float_helpers_agree_with_the_formats() {
    let names = [
        "f16",
        "bf16",
        "f8e4m3fn",
        "f8e4m3fnuz",
        "f8e5m2",
        "f8e5m2fnuz",
        "f8e8m0fnu",
        "f6e2m3fn",
        "f6e3m2fn",
        "f4e2m1fn",
    ];
    let tensors = names.map(|name| tensor(name, name, row_major(&[("n", 3)]), ZERO));
    let manifest = manifest(tensors.into(), vec![]);
    let outputs = emit(&manifest, &Settings::c(), "floats", &Templates::default()).unwrap();
    let folder = folder("floats");
    write(&folder, &outputs);
    std::fs::write(folder.join("floats_main.c"), include_str!("floats.c")).unwrap();
    for compiler in compilers() {
        let printed = compile_and_run(&folder, "floats_main", &["floats_main.c"], compiler);
        assert!(printed.is_none_or(|printed| printed == "ok\n"));
    }
}

#[test]
fn int32_indices_run_if_they_fit() {
    let fill = Fill::Value(FillValue::Integer(1));
    let mut tensors: Vec<_> = every_layout()
        .into_iter()
        .map(|(name, layout)| tensor(name, "i16", layout, fill))
        .collect();
    for dtype in ["u4", "u1"] {
        tensors.push(tensor(&format!("{dtype}_odd"), dtype, odd_strides(), fill));
        tensors.push(tensor(
            &format!("{dtype}_halo"),
            dtype,
            mapped(&[("h", 9)], BLOCKED_HALO),
            fill,
        ));
    }
    // The last element has the greatest offset of `int32_t`.
    tensors.push(tensor("largest", "u8", row_major(&[("h", 2_147_483_647), ("w", 1)]), fill));
    let manifest = manifest(tensors, Vec::new());
    let settings = Settings { dialect: &dialect::C_INT32, ..Settings::c() };
    for output in emit(&manifest, &settings, "index32", &Templates::default()).unwrap() {
        assert!(!output.text.contains("int64_t"), "{}", output.path);
    }
    let printed = run_with("index32", &manifest, &settings);
    assert!(printed.contains("\nlargest: ok at the corners only"), "{printed}");
}

#[test]
fn tensor_beyond_the_index_type_is_refused() {
    let tensors = vec![
        tensor("bytes", "f32", row_major(&[("n", 65536), ("c", 8192)]), ZERO),
        tensor("elements", "u1", row_major(&[("n", 65536), ("c", 65536)]), ZERO),
        tensor("fits", "u8", row_major(&[("n", 65536), ("c", 8192)]), ZERO),
    ];
    let manifest = manifest(tensors, Vec::new());
    let settings = Settings { dialect: &dialect::C_INT32, ..Settings::c() };
    let faults = emit(&manifest, &settings, "a", &Templates::default()).unwrap_err();
    assert!(faults.iter().all(|fault| fault.code == Code::LimitIndexType));
    let messages: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "`bytes` does not fit `int32_t`: it takes up to 2147483648 bytes, and the type ends at 2147483647",
            "`elements` does not fit `int32_t`: it takes up to 4294967296 elements, and the type ends at 2147483647",
        ]
    );
}

#[test]
fn common_contiguous_runs_use_memcpy() {
    let rows = || row_major(&[("n", 3), ("h", 4), ("w", 5), ("c", 6)]);
    let planes = permuted(&[("n", 3), ("h", 4), ("w", 5), ("c", 6)], &[3, 0, 1, 2]);
    let tensors = vec![
        tensor("same", "f32", rows(), ZERO),
        tensor("nibbles", "u4", rows(), ZERO),
        tensor("planes", "f32", planes, ZERO),
        tensor("blocks", "f64", nchw4c([2, 3, 5, 8]), ZERO),
        tensor("pitched", "i32", pitched(), ZERO),
    ];
    let manifest = manifest(tensors, vec![convert(0, 2, &[0, 1, 2, 3])]);
    let outputs = emit(&manifest, &Settings::c(), "runs", &Templates::default()).unwrap();
    let body = |name: &str| {
        let text = &outputs[1].text;
        let by_vectors = text.split_once(&format!("inline void layoutc_{name}("));
        let (_, rest) = by_vectors.or_else(|| text.split_once(&format!("void {name}("))).unwrap();
        rest.split_once("\n}").unwrap().0.split_once("{\n").unwrap().1.to_owned()
    };
    assert_eq!(body("same_pack"), "    memcpy(physical, logical, 1440);");
    assert!(body("nibbles_pack").contains("for (int64_t n_to_c = 0; n_to_c < 360; ++n_to_c) {"));
    // A transpose of 60 rows by 6 columns: no runs, and a single call without a loop.
    assert_eq!(
        body("same_to_planes"),
        "    layoutc_transpose_cached_4(planes, 240, same, 24, 60, 6, 1440);"
    );
    assert!(body("blocks_pack").contains("memcpy(&physical[p2], &logical[l2], 32);"));
    assert!(body("pitched_pack").contains("memcpy(&physical[p0], &logical[l0], 24);"));
    run("runs", &manifest);
}
