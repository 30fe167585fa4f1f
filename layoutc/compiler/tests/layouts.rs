//! Layouts from manifests, against formulas: swizzle modes, default fills, axes with the name of a symbol, and layouts
//! that targets reject.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::cc::run;
use crate::common::check_text;
use check_text::{check_text as checked, diagnostics as found};
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::base::fill;
use layoutc_compiler::config::{self, Config};
use layoutc_compiler::emit::{EmitJob, Emitter, Templates};
use layoutc_compiler::model::{Manifest, Tensor};
use layoutc_compiler::{Compiler, MemorySources};

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
fn swizzle_modes_match_the_hardware() {
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
                assert_eq!(i128::from(layout.alignment_bytes()), 8 * row, "{text}");
                for (m, k) in (0..rows).flat_map(|m| (0..elements).map(move |k| (m, k))) {
                    let own = (m * elements + k) * bits;
                    let (byte, bit) = (own / 8, own % 8);
                    let place = layout.locate(&[m, k], &[]).unwrap().offset * bits;
                    assert_eq!(place, folded(row, byte) * 8 + bit, "{text}");
                }
                // Full rows need no padding, however few there are.
                if elements == most {
                    let slots = layout.physical_elements().as_const();
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
                let fixed = format!("{before}{cut}{}", behind.split_once('}').unwrap().1);
                tensor(&fixed);
            }
        }
    }
}

#[test]
fn larger_alignment_overrides_the_swizzle_alignment() {
    for steps in [
        "align 4096; swizzle mode=\"128B\"",
        "swizzle mode=\"128B\"; align 4096",
        "swizzle mode=\"128B\"; align 32; align 4096",
    ] {
        let text =
            format!("tensor t dtype=f16 {{ shape {{ m 4; k 64 }}; layout {{ {steps} }} }}\n");
        assert_eq!(tensor(&text).layout.alignment_bytes(), 4096, "{text}");
    }
    for steps in ["swizzle mode=\"128B\"; align 16", "align 16; swizzle mode=\"128B\""] {
        let text =
            format!("tensor t dtype=f16 {{ shape {{ m 4; k 64 }}; layout {{ {steps} }} }}\n");
        let tensor = tensor(&text);
        assert_eq!(tensor.layout.alignment_bytes(), 1024, "{text}");
        assert_eq!(tensor.layout.physical_elements().as_const(), Some(256), "{text}");
    }
    // A swizzle by numbers specifies the map only, not the alignment.
    let text = "tensor t dtype=f16 { shape { m 8; k 128 }; layout { swizzle 3 4 3 unit=bytes } }\n";
    assert_eq!(tensor(text).layout.alignment_bytes(), 64);
}

#[test]
fn scale_factor_padding_is_representable() {
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
fn axis_may_have_the_name_of_its_extent_symbol() {
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

fn settings(text: &str) -> Config {
    config::parse(&Arc::from("layoutc.toml"), text).unwrap()
}

fn refusals(manifest: &Manifest, config: &Config) -> Vec<&'static str> {
    let names = config.target.names();
    let work: Vec<EmitJob<'_>> = names.iter().map(|target| EmitJob { target, manifest }).collect();
    codes(&Emitter::new(config, &Templates::default()).refusals(&work))
}

#[test]
fn target_limits_are_checked_without_emitting_files() {
    let text = "tensor big dtype=f32 { shape { n 65536; m 65536 } }\n\
        tensor img dtype=bf16 { shape { h 4; w 8 }; layout { axis-separators h }; memory texture }\n\
        tensor three dtype=f32 { shape { a 4; h 4; w 8 }; layout { map \"(a, h, w) -> (a | h | w)\" } }\n";
    let checked = checked(text);
    assert_eq!(checked.diagnostics, []);
    let manifest = &checked.manifests[0];
    let all = settings(
        "[project]\nsources = [\"a.kdl\"]\n[target.c]\nindex-type = \"int32_t\"\n[target.opencl]\n[target.cuda]\n",
    );
    let emitted =
        Compiler::new(&MemorySources::default(), &all).emit(&checked, &Templates::default());
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
fn non_utf8_template_is_reported() {
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
        let templates = Templates::new(&config, user, BTreeMap::from([(broken.to_owned(), 7)]));
        let found = Emitter::new(&config, &templates).refusals(&work);
        assert_eq!(found.iter().map(|d| d.message.as_str()).collect::<Vec<_>>(), [text]);
        assert_eq!(codes(&found), ["template::syntax"]);
    }
    // An included template is reported too.
    let user = BTreeMap::from([("own/x.j2".to_owned(), "{% include \"own/y.j2\" %}\n".to_owned())]);
    let templates = Templates::new(&config, user, BTreeMap::from([("own/y.j2".to_owned(), 3)]));
    let found = Emitter::new(&config, &templates).files(&work).unwrap_err();
    assert!(found[0].message.contains("not UTF-8 at byte 3"), "{found:?}");
}

struct Named;

impl layoutc_compiler::SourceLoader for Named {
    fn load(&self, _path: &str) -> Result<String, layoutc_compiler::LoadError> {
        Ok("tensor a dtype=f32 { shape { n 4 } }\n".to_owned())
    }
}

#[test]
fn manifest_names_that_end_an_include_are_refused() {
    for path in ["a\"b.kdl", "a\n#define x\n.kdl", "a\\.kdl", "d\t/a.kdl"] {
        let checked = Compiler::new(&Named, &Config::default()).check(&[path.to_owned()]);
        assert_eq!(codes(&checked.diagnostics), ["name::file"], "{path:?}");
        assert!(!checked.diagnostics[0].message.contains('\n'));
        assert!(checked.manifests.is_empty(), "{path:?}");
    }
    let good = ["ä b'c.kdl".to_owned(), "x/y-z.kdl".to_owned()];
    let checked = Compiler::new(&Named, &Config::default()).check(&good);
    assert_eq!(checked.diagnostics, []);
}

#[test]
fn oversized_manifest_is_refused_with_help() {
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

#[test]
fn symbols_of_unused_manifests_are_not_visible() {
    let both = |a, b| {
        let paths = ["a.kdl", "b.kdl"].map(str::to_owned);
        let sources = MemorySources::from_iter([("a.kdl", a), ("b.kdl", b)]);
        codes(&Compiler::new(&sources, &Config::default()).check(&paths).diagnostics)
    };
    let open = "tensor t dtype=f32 { shape { c S } }";
    assert_eq!(both(open, "symbol S max=64"), ["name::unknown"]);
    let map = "tensor t dtype=f32 { shape { n 8; c 6 }; layout { map \"(n, c) -> (c, n)\" } }";
    assert_eq!(both(map, "symbol n max=64"), [""; 0]);
}

#[test]
fn a_chain_of_uses_has_a_limit() {
    let name = |k: usize| format!("{k}.kdl");
    let codes = |length: usize| {
        let text = |k: usize| {
            if k == length { String::new() } else { format!("use \"{}\"\n", name(k + 1)) }
        };
        let sources: MemorySources = (0..=length).map(|k| (name(k), text(k))).collect();
        let found = Compiler::new(&sources, &Config::default()).check(&[name(0)]).diagnostics;
        found
            .into_iter()
            .map(|fault| (fault.code.id(), fault.labels[0].place.file.to_string()))
            .collect::<Vec<_>>()
    };
    assert_eq!(codes(127), []);
    assert_eq!(codes(128), [("limit::nesting", name(127))]);
}
