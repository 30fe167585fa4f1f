//! Tests that no input makes the parser panic, hang, overflow the stack or report a span outside the file.

use std::fmt::Write as _;

use super::read;

/// Manifest with every item, node and layout step.
pub(super) const FULL: &str = include_str!("full.kdl");

/// Short manifest: a comment, a tensor with a layout, and a conversion.
const SMALL: &str = "// weights\ntensor w dtype=bf16 {\n    shape { i 1000; o 500 }\n    layout {\n        order o i\n        map \"(o, i) -> (o, i // 8, i % 8)\"\n        fill 0\n    }\n}\nconvert w to=v\n";

/// Asserts that the spans of all diagnostics of the manifest `text` are in it, on character boundaries, and that the
/// spans of the names and element types of its tensors contain these.
fn assert_sound(text: &str) {
    let (manifest, faults) = read(text);
    for label in faults.iter().flat_map(|fault| &fault.labels) {
        let (start, end) = (label.place.start, label.place.end);
        assert!(start <= end && text.get(start..end).is_some(), "{start}..{end} of {text:?}");
    }
    assert!(faults.iter().all(|fault| !fault.labels.is_empty()));
    for tensor in &manifest.tensors {
        assert_eq!(text.get(tensor.name.span.clone()), Some(tensor.name.value.as_str()));
        if let Some(dtype) = &tensor.dtype {
            assert_eq!(text.get(dtype.span.clone()), Some(dtype.value.as_str()));
        }
    }
}

/// Calls [`assert_sound`] on variants of `text`. At every byte offset these are a truncation, a deletion, a
/// duplication, `per_place` replacements by a special character, and one by a Cyrillic letter.
fn sweep(text: &str, per_place: usize) {
    let bytes = text.as_bytes();
    let check = |bytes: Vec<u8>| {
        if let Ok(text) = String::from_utf8(bytes) {
            assert_sound(&text);
        }
    };
    for at in 0..bytes.len() {
        check(bytes[..at].to_vec());
        check([&bytes[..at], &bytes[at + 1..]].concat());
        check([&bytes[..=at], &bytes[at..]].concat());
        let nasty = b"\"{}\\/#-=\n\0(;*7";
        for &nasty in nasty.iter().cycle().skip(at * per_place).take(per_place) {
            check([&bytes[..at], &[nasty], &bytes[at + 1..]].concat());
        }
        check([&bytes[..at], "а".as_bytes(), &bytes[at + 1..]].concat());
    }
}

#[test]
fn mutations_of_a_small_manifest_have_valid_spans() {
    sweep(SMALL, 14);
}

#[test]
fn mutations_of_a_full_manifest_have_valid_spans() {
    sweep(FULL, 3);
}

#[test]
fn nesting_of_2000_levels_is_refused_with_one_diagnostic() {
    for (open, close) in [("a {", "}"), ("/-a {", "}"), ("x; /-a {", "}"), ("a /-{", "}")] {
        for text in [open.repeat(2000), open.repeat(2000) + &close.repeat(2000)] {
            let (_, faults) = read(&text);
            let found: Vec<_> = faults.iter().map(|f| (f.code.id(), f.message.as_str())).collect();
            assert_eq!(found, [("kdl::nesting", "blocks nested deeper than 128")], "{open}");
        }
    }
    let (_, faults) = read(&("/*".repeat(2000) + &"*/".repeat(2000)));
    let found: Vec<_> = faults.iter().map(|f| (f.code.id(), f.message.as_str())).collect();
    assert_eq!(found, [("kdl::nesting", "comments nested deeper than 128")]);
}

#[test]
fn the_limit_of_nesting_is_128_levels() {
    let nested = |levels: usize| "a {".repeat(levels) + &"}".repeat(levels);
    assert!(read(&nested(128)).1.iter().all(|fault| fault.code.id() != "kdl::nesting"));
    assert_eq!(read(&nested(129)).1[0].code.id(), "kdl::nesting");
    let place = read(&nested(129)).1[0].labels[0].place.clone();
    assert_eq!((place.start, place.end), (128 * 3 + 2, 128 * 3 + 3));
}

#[test]
fn repeated_type_annotations_are_refused_once() {
    let (_, faults) = read(&("(a)".repeat(2000) + "b"));
    let found: Vec<_> = faults.iter().map(|f| (f.code.id(), f.message.as_str())).collect();
    assert_eq!(found, [("expr::unquoted", "unexpected `(` outside quotes")]);
}

#[test]
fn repeated_punctuation_parses_quickly() {
    for mark in [
        "/-", "/", "(", ")", "[", "{", "}", "=", "\\", "#", "\"", "'", "*", "a=", "a ", "\u{b}",
        ";",
    ] {
        assert_sound(&mark.repeat(5000));
        assert_sound(&format!("tensor a {}", mark.repeat(5000)));
        assert_sound(&format!("tensor a {{ {} }}", mark.repeat(5000)));
    }
    assert_sound(&format!("use \"\"\"{}\"\"\"", "x y\n".repeat(5000)));
    assert_sound(&format!("use \"{}\"", "\\u{41}\\n\\q".repeat(5000)));
    assert_sound(&format!("use {}", ".5".repeat(5000)));
    assert_sound(&format!("/*{}*/ const A 1", "*/ /*".repeat(5000)));
    assert_sound(&format!("const A 1 /{}/", "*".repeat(50_000)));
}

#[test]
fn diagnostics_of_kdl_are_capped_at_20() {
    let (_, faults) = read(&"use 1x\n".repeat(50));
    assert_eq!(faults.len(), 20);
    assert_eq!(faults[19].notes, ["30 more errors in this file are not shown"]);
}

#[test]
fn a_file_of_a_thousand_tensors_is_read_in_full() {
    let mut text = String::new();
    for at in 0..1000 {
        let _ = writeln!(text, "tensor t{at} dtype=f32 {{ shape {{ n {at}; c 4 }} }}");
    }
    let (manifest, faults) = read(&text);
    assert_eq!((manifest.tensors.len(), faults.len()), (1000, 0));
}

#[test]
fn large_node_parses_in_linear_time() {
    let count = 20_000;
    let (mut axes, mut parameters) = (String::new(), String::new());
    for at in 0..count {
        let _ = write!(axes, "a{at} {at};");
        let _ = write!(parameters, " p{at}={at}");
    }
    let (manifest, _) = read(&format!("tensor t dtype=f32 {{ shape {{ {axes} }} }}"));
    assert_eq!(manifest.tensors[0].shape.as_ref().unwrap().axes.len(), count);
    let (manifest, _) = read(&format!("transform t{parameters} {{ }}"));
    assert_eq!(manifest.transforms[0].parameters.len(), count);
}
