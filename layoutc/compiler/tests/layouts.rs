//! Layouts from manifests, against formulas and expected diagnostics: swizzle modes, sizes of foreign layouts,
//! explained padding, default fills, axes with the name of a symbol, and layouts that targets reject.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::cc::run;
use crate::common::check_text;
use check_text::{check_text as checked, diagnostics as found};
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::base::fill;
use layoutc_compiler::config::{self, Config};
use layoutc_compiler::model::{Manifest, Tensor};
use layoutc_compiler::{EmitJob, emit_diagnostics, own_templates};

/// The only tensor of a manifest without diagnostics.
fn tensor(text: &str) -> Tensor {
    let checked = checked(text);
    assert_eq!(checked.diagnostics, [], "{text}");
    checked.manifests[0].tensors[0].clone()
}

fn codes(found: &[Diagnostic]) -> Vec<&'static str> {
    found.iter().map(|told| told.code.id()).collect()
}

/// Bits per element, and a type of that size.
const TYPES: [(i128, &str); 7] = [
    (4, "i4"),
    (8, "f8e4m3fn"),
    (16, "f16"),
    (32, "f32"),
    (64, "f64"),
    (64, "f32x2"),
    (128, "f32x4"),
];

/// Byte offset under the swizzle mode with rows of `row` bytes: CuTe's `Swizzle<B,4,3>` on bytes.
fn folded(row: i128, byte: i128) -> i128 {
    let mask = row / 16 - 1;
    byte ^ ((byte >> 3) & (mask << 4))
}

#[test]
fn swizzle_modes_are_where_the_hardware_puts_them_at_its_alignment_and_no_wider() {
    for row in [32_i128, 64, 128] {
        for (bits, dtype) in TYPES {
            let most = row * 8 / bits;
            for (rows, elements) in
                [1, 2, 4, 7, 8, 9, 64].into_iter().flat_map(|r| [most, most / 2].map(|e| (r, e)))
            {
                let text = format!(
                    "tensor stage dtype={dtype} {{ shape {{ m {rows}; k {elements} }}; layout {{ swizzle mode=\"{row}B\"; padding allow }}; memory shared }}\n"
                );
                let layout = tensor(&text).layout;
                assert_eq!(i128::from(layout.alignment_bytes), 8 * row, "{text}");
                for (m, k) in (0..rows).flat_map(|m| (0..elements).map(move |k| (m, k))) {
                    let own = (m * elements + k) * bits;
                    let (byte, bit) = (own / 8, own % 8);
                    let place = layout.locate(&[m, k], &[]).unwrap().offset * bits;
                    assert_eq!(place, folded(row, byte) * 8 + bit, "{text}");
                }
                // Full rows need no padding, however few there are.
                if elements == most {
                    let slots = layout.physical_elements.as_const();
                    assert_eq!(slots, Some(rows * elements), "{text}");
                }
            }
            for wide in [most + 1, 2 * most, 1000 * most] {
                let text = format!(
                    "tensor stage dtype={dtype} {{ shape {{ m 8; k {wide} }}; layout {{ swizzle mode=\"{row}B\" }}; memory shared }}\n"
                );
                let found = found(&text);
                assert_eq!(codes(&found), ["step::value"], "{text}");
                let help = format!(
                    "split the rows first: `split k into=\"k_panel k_row\" by={most}`, then `order k_panel ... k_row`"
                );
                assert_eq!(found[0].help, [help], "{text}");
                let cut = format!(
                    "layout {{ split k into=\"k_panel k_row\" by={most}; order k_panel ... k_row; swizzle mode=\"{row}B\"; padding allow }}"
                );
                let (before, behind) = text.split_once("layout {").unwrap();
                let mended = format!("{before}{cut}{}", behind.split_once('}').unwrap().1);
                tensor(&mended);
            }
        }
    }
}

#[test]
fn an_alignment_that_is_larger_counts_wherever_it_stands() {
    for steps in [
        "align 4096; swizzle mode=\"128B\"",
        "swizzle mode=\"128B\"; align 4096",
        "swizzle mode=\"128B\"; align 32; align 4096",
    ] {
        let text =
            format!("tensor t dtype=f16 {{ shape {{ m 4; k 64 }}; layout {{ {steps} }} }}\n");
        assert_eq!(tensor(&text).layout.alignment_bytes, 4096, "{text}");
    }
    for steps in ["swizzle mode=\"128B\"; align 16", "align 16; swizzle mode=\"128B\""] {
        let text =
            format!("tensor t dtype=f16 {{ shape {{ m 4; k 64 }}; layout {{ {steps} }} }}\n");
        let tensor = tensor(&text);
        assert_eq!(tensor.layout.alignment_bytes, 1024, "{text}");
        assert_eq!(tensor.layout.physical_elements.as_const(), Some(256), "{text}");
    }
    // A swizzle by numbers specifies the map only, not the alignment.
    let text = "tensor t dtype=f16 { shape { m 8; k 128 }; layout { swizzle 3 4 3 unit=bytes } }\n";
    assert_eq!(tensor(text).layout.alignment_bytes, 64);
}

#[test]
fn rows_of_a_mode_are_known_for_every_value_of_a_symbol() {
    let text = |max: i64| {
        format!(
            "symbol k max={max} multiple=8\ntensor t dtype=f16 {{ shape {{ m 8; c k }}; layout {{ swizzle mode=\"128B\"; padding allow }} }}\n"
        )
    };
    assert_eq!(found(&text(64)), []);
    let found = found(&text(72));
    assert_eq!(codes(&found), ["step::value"]);
    assert_eq!(
        found[0].message,
        "a row of `t` along `c` has up to 144 bytes; the limit of mode `128B` is 128"
    );
    let strided = |strides: &str| {
        format!(
            "tensor t dtype=f16 {{ shape {{ m 64; k 128 }}; layout {{ strides {strides}; swizzle mode=\"128B\"; padding allow }} }}\n"
        )
    };
    // With these strides, the rows of the mode run along `m`.
    assert_eq!(check_text::diagnostics(&strided("1 64")), []);
    assert_eq!(codes(&check_text::diagnostics(&strided("128 1"))), ["step::value"]);
}

#[test]
fn elements_that_do_not_fill_sixteen_bytes_have_no_mode() {
    let text = "tensor t dtype=f32x3 { shape { m 8; k 8 }; layout { swizzle mode=\"128B\" } }\n";
    assert_eq!(codes(&found(text)), ["step::value"]);
}

#[test]
fn padded_xors_and_rotations_are_explained_by_what_they_round_up() {
    for (shape, map) in [
        ("m 8; k 48", "(m, k) -> (m, k // 8 ^ m, k % 8)"),
        ("m 8; k 48", "(m, k) -> (m, (k // 8 ^ m % 8) * 8 + k % 8)"),
        ("m 16; k 44", "(m, k) -> (m, (k // 8) ^ (m % 8), k % 8)"),
        ("m 8; k 6", "(m, k) -> (m, (k + m) % 8)"),
        ("m 30; k 6", "(m, k) -> (m, (k + 3 * m) % 8)"),
        ("m 9; k 12", "(m, k) -> (m, (k // 4 + m) % 4, k % 4)"),
        ("m 9; k 12", "(m, k) -> (m, (k // 4 - m + 9) % 4 * 4 + k % 4)"),
        ("a 3; b 5; c 6", "(a, b, c) -> (a, b ^ a, c ^ b)"),
    ] {
        let text =
            format!("tensor t dtype=f16 {{ shape {{ {shape} }}; layout {{ map \"{map}\" }} }}\n");
        let codes = codes(&found(&text));
        assert!(!codes.contains(&"padding::unexplained"), "{text}: {codes:?}");
        let layout = checked(&text).manifests[0].tensors[0].layout.clone();
        assert_ne!(layout.physical_elements, layout.logical_elements, "{text}");
    }
    for (shape, map) in [
        ("m 8; k 48", "(m, k) -> (m, k // 4 ^ m, k % 8)"),
        ("m 8; k 6", "(m, k) -> (m, 2 * k ^ m)"),
        ("m 8; k 6", "(m, k) -> (m, (2 * k + m) % 16)"),
    ] {
        let text =
            format!("tensor t dtype=f16 {{ shape {{ {shape} }}; layout {{ map \"{map}\" }} }}\n");
        assert_eq!(codes(&found(&text)), ["padding::unexplained"], "{text}");
    }
}

#[test]
fn scale_factors_are_padded_with_what_their_type_holds() {
    let map = "(m, k) -> (m // 128, k // 4, m % 32, m % 128 // 32, k % 4)";
    let text = |more: &str| {
        format!(
            "tensor s dtype=f8e8m0fnu {{ shape {{ m 200; k 7 }}; layout {{ map \"{map}\"{more} }} }}\n"
        )
    };
    for (more, bits) in [
        ("", 0),
        ("; fill 1", 127),
        ("; fill 5.877471754111438e-39", 0),
        ("; fill #nan", 0xFF),
        ("; fill none", 0),
    ] {
        let tensor = tensor(&text(more));
        assert_eq!(fill::bits(tensor.dtype, tensor.fill), Ok(bits), "{more}");
    }
    let found = found(&text("; fill 0"));
    assert_eq!(codes(&found), ["padding::fill"]);
    assert_eq!(
        found[0].help,
        [
            "leave `fill` out: padding then has the least value, 5.877471754111438e-39, whose bits are all 0; `fill 1` is a scale of 1"
        ]
    );
    run("scales", &checked(&text("")).manifests[0]);
}

#[test]
fn an_axis_may_be_called_as_the_symbol_that_it_counts_to() {
    let text = "symbol n max=40\nsymbol c max=20\n\
        tensor x dtype=f32 { shape { n n; c 6; h 3 } }\n\
        tensor y like=x { layout { map \"(n, c, h) -> (n // 4, c, h, n % 4)\"; padding allow } }\n\
        tensor z dtype=f32 { shape { n n; c c; h 3 }; layout { map \"(n, c, h) -> (h, c : c, n % 8, n // 8)\"; padding allow } }\n\
        tensor w dtype=f32 { shape { n n; c c }; layout { order c n } }\n\
        convert x to=y\n";
    let checked = checked(text);
    assert_eq!(checked.diagnostics, []);
    run("axis_and_symbol", &checked.manifests[0]);
    // In a divisor, the name is the symbol.
    let divided = "symbol n max=40\ntensor x dtype=f32 { shape { n n; c 6 }; layout { map \"(n, c) -> (c, n % n)\" } }\n";
    assert_eq!(found(divided), []);
    let hidden = "const n 4\ntensor x dtype=f32 { shape { n 8 } }\n";
    assert_eq!(codes(&found(hidden)), ["name::hides"]);
}

#[test]
fn blanks_in_a_bound_are_told_to_part_numbers() {
    for (by, joined) in [
        ("8 * V", "8*V"),
        ("8 *V", "8*V"),
        ("8* V", "8*V"),
        ("8 * (V + 1)", "8*(V+1)"),
        ("4 2 * V", "4 2*V"),
        ("8 - V", "8-V"),
        ("( V )", "(V)"),
    ] {
        let text = |by: &str| {
            let into = if by.starts_with("4 ") { "into=\"a b c\" " } else { "" };
            format!(
                "const V 2\ntensor a dtype=f32 {{ shape {{ m 96 }}; layout {{ split m {into}by=\"{by}\"; padding allow }} }}\n"
            )
        };
        let told = found(&text(by));
        assert_eq!(codes(&told), ["expr::syntax"], "{by}");
        assert_eq!(told[0].message, format!("spaces separate the numbers in `{by}`"));
        assert_eq!(told[0].help, [format!("write each expression without spaces: `\"{joined}\"`")]);
        let [fix] = told[0].fixes.as_slice() else { panic!("{:?}", told[0].fixes) };
        let text_before = text(by);
        let mended =
            [&text_before[..fix.place.start], fix.text.as_str(), &text_before[fix.place.end..]]
                .concat();
        assert_eq!(mended, text(joined));
        assert_eq!(found(&mended), [], "{mended}");
    }
}

fn settings(text: &str) -> Config {
    config::parse(&Arc::from("layoutc.toml"), text).unwrap()
}

fn refusals(manifest: &Manifest, config: &Config) -> Vec<&'static str> {
    let names = config.target.names();
    let work: Vec<EmitJob<'_>> = names.iter().map(|target| EmitJob { target, manifest }).collect();
    let templates = own_templates(config, BTreeMap::new(), BTreeMap::new());
    codes(&emit_diagnostics(&work, config, &templates))
}

#[test]
fn what_targets_cannot_hold_is_found_without_the_files() {
    let text = "tensor big dtype=f32 { shape { n 65536; m 65536 } }\n\
        tensor img dtype=bf16 { shape { h 4; w 8 }; layout { axis-separators h }; memory texture }\n\
        tensor three dtype=f32 { shape { a 4; h 4; w 8 }; layout { map \"(a, h, w) -> (a | h | w)\" } }\n";
    let checked = checked(text);
    assert_eq!(checked.diagnostics, []);
    let manifest = &checked.manifests[0];
    let all = settings(
        "[project]\nsources = [\"a.kdl\"]\n[target.c]\nindex-type = \"int32_t\"\n[target.opencl]\n[target.cuda]\n",
    );
    let emitted = layoutc_compiler::emit(&checked, &all, &BTreeMap::new());
    let by_build = codes(&emitted.unwrap_err());
    assert_eq!(by_build.len(), 5, "{by_build:?}");
    assert_eq!(refusals(manifest, &all), by_build);
    let one = settings("[project]\nsources = [\"a.kdl\"]\n[target.c]\n");
    assert_eq!(refusals(manifest, &one), <[&str; 0]>::default());
    let own = settings(
        "[project]\nsources = [\"a.kdl\"]\n[target.custom]\ntemplate = \"own/x.j2\"\nextension = \"txt\"\n",
    );
    assert_eq!(refusals(manifest, &own), ["template::missing"]);
}

#[test]
fn a_template_that_is_no_text_is_said_to_be_none() {
    let checked = checked("tensor a dtype=f32 { shape { n 4 } }\n");
    let config = settings(
        "[project]\nsources = [\"a.kdl\"]\n[target.c]\n[target.custom]\ntemplate = \"own/x.j2\"\nextension = \"txt\"\n",
    );
    let names = config.target.names();
    let work: Vec<EmitJob<'_>> =
        names.iter().map(|target| EmitJob { target, manifest: &checked.manifests[0] }).collect();
    for (broken, text) in [
        ("own/x.j2", "template `own/x.j2`: it is not UTF-8 at byte 7"),
        ("c/header.h.j2", "template `c/header.h.j2`: it is not UTF-8 at byte 7"),
    ] {
        let user = BTreeMap::from([("own/x.j2".to_owned(), "x\n".to_owned())]);
        let user = if broken == "own/x.j2" { BTreeMap::new() } else { user };
        let templates = own_templates(&config, user, BTreeMap::from([(broken.to_owned(), 7)]));
        let found = emit_diagnostics(&work, &config, &templates);
        assert_eq!(found.iter().map(|d| d.message.as_str()).collect::<Vec<_>>(), [text]);
        assert_eq!(codes(&found), ["template::syntax"]);
    }
    // An included template is reported too.
    let user = BTreeMap::from([("own/x.j2".to_owned(), "{% include \"own/y.j2\" %}\n".to_owned())]);
    let templates = own_templates(&config, user, BTreeMap::from([("own/y.j2".to_owned(), 3)]));
    let none = layoutc_compiler::env::NoObserver;
    let found = layoutc_compiler::emit_each(&work, &config, &templates, &none).unwrap_err();
    assert!(found[0].message.contains("not UTF-8 at byte 3"), "{found:?}");
}

struct Named;

impl layoutc_compiler::SourceLoader for Named {
    fn load(&self, _path: &str) -> Result<String, layoutc_compiler::LoadError> {
        Ok("tensor a dtype=f32 { shape { n 4 } }\n".to_owned())
    }
}

#[test]
fn a_manifest_whose_name_ends_an_include_is_refused() {
    for path in ["a\"b.kdl", "a\n#define x\n.kdl", "a\\.kdl", "d\t/a.kdl"] {
        let checked = layoutc_compiler::check(&Named, &[path.to_owned()], &Config::default());
        assert_eq!(codes(&checked.diagnostics), ["name::file"], "{path:?}");
        assert!(!checked.diagnostics[0].message.contains('\n'));
        assert!(checked.manifests.is_empty(), "{path:?}");
    }
    let good = ["ä b'c.kdl".to_owned(), "x/y-z.kdl".to_owned()];
    let checked = layoutc_compiler::check(&Named, &good, &Config::default());
    assert_eq!(checked.diagnostics, []);
}

#[test]
fn a_manifest_that_is_too_large_is_told_to_be_divided() {
    let good = "tensor a dtype=f32 { shape { n 4 } }\n";
    let filled = |bytes: usize| format!("{good}// {}\n", "x".repeat(bytes - good.len() - 4));
    assert_eq!(found(&filled(4 << 20)), []);
    let found = found(&filled((4 << 20) + 1));
    assert_eq!(codes(&found), ["name::file"]);
    assert_eq!(found[0].help, ["split it into several manifests"]);
    assert!(
        found[0].message.ends_with("its 4194305 bytes exceed the limit of 4194304"),
        "{found:?}"
    );
}
