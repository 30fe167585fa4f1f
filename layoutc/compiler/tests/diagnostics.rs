//! Diagnostics of common mistakes in manifests: code, span, message and help.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::common::check_text;
use std::collections::BTreeMap;
use std::sync::Arc;

use check_text::summaries as rows;
use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::config::{self, Config};
use layoutc_compiler::{MemorySources, check, emit};

fn found(text: &str, config: &Config) -> Vec<Diagnostic> {
    let checked = check(&MemorySources::of("a.kdl", text), &["a.kdl".to_owned()], config);
    let mut found = checked.diagnostics.clone();
    if checked.is_good() {
        found.extend(emit(&checked, config, &BTreeMap::new()).err().unwrap_or_default());
    }
    found
}

/// Asserts the only diagnostic of `text`: code, marked text and message, then the help.
#[track_caller]
fn told_of(text: &str, config: &Config, expected: (&str, &str, &str), help: &[&str]) {
    let found = found(text, config);
    assert_eq!(rows(text, &found), [expected], "{text}");
    assert_eq!(found[0].help, help, "{text}");
}

#[track_caller]
fn told(text: &str, expected: (&str, &str, &str), help: &[&str]) {
    told_of(text, &Config::default(), expected, help);
}

fn tensor(shape: &str, layout: &str) -> String {
    format!("tensor t dtype=f32 {{ shape {{ {shape} }}; layout {{ {layout} }} }}\n")
}

#[test]
fn an_element_type_of_another_language_gets_ours() {
    for (word, ours) in [("float32", "f32"), ("half", "f16"), ("uint8", "u8"), ("float4", "f32x4")]
    {
        told(
            &format!("tensor t dtype={word} {{ shape {{ n 4 }} }}\n"),
            ("dtype::unknown", word, &format!("unknown element type `{word}`")),
            &[&format!("did you mean `{ours}`?")],
        );
    }
}

#[test]
fn the_list_of_element_types_has_vectors() {
    told(
        "tensor t dtype=zork { shape { n 4 } }\n",
        ("dtype::unknown", "zork", "unknown element type `zork`"),
        &[
            "expected one of f64, f32, f16, bf16, f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f8e8m0fnu, f6e2m3fn, f6e3m2fn, \
             f4e2m1fn, i64, i32, i16, i8, i6, i5, i4, i3, i2, u64, u32, u16, u8, u6, u5, u4, u3, u2, u1, bool, c64, c128, or a vector of 2, 3, 4, 8, 16 lanes: `f32x4`",
        ],
    );
}

#[test]
fn a_size_that_nothing_declares_is_to_be_declared() {
    let unknown = |name: &'static str| {
        format!("unknown name `{name}`: expected an axis, const, parameter or symbol")
    };
    let help =
        "declare it above: `const N 16`, or `symbol N max=4096` if it is known only at run time";
    let fault = unknown("N");
    told("tensor t dtype=f32 { shape { n N } }\n", ("name::unknown", "N", &fault), &[help]);
    told(&tensor("n 64", "tile N"), ("name::unknown", "N", &fault), &[help]);
    told(
        "const BLOCK 4\ntensor t dtype=f32 { shape { n BLOK } }\n",
        ("name::unknown", "BLOK", &unknown("BLOK")),
        &["did you mean `BLOCK`?"],
    );
}

#[test]
fn an_index_below_0_gets_the_simplest_one_that_is_not() {
    for (index, raised) in
        [("h - 1", "h"), ("h - 3", "h"), ("(h) // 2 - 1", "(h) // 2"), ("2 - h", "2 - h + 5")]
    {
        told(
            &tensor("h 8", &format!("map \"(h) -> ({index})\"")),
            ("map::negative", index, "an index of `t` is negative"),
            &[&format!("start the index at 0: write `{raised}`")],
        );
    }
}

#[test]
fn a_quotient_and_a_remainder_by_less_get_one_divisor() {
    told(
        &tensor("n 4; c 32", "map \"(n, c) -> (n, c // 4, c % 3)\""),
        ("map::not_injective", "c // 4, c % 3", "two elements of `t` share a slot"),
        &["use one divisor for quotient and remainder: write `c % 4` in place of `c % 3`"],
    );
}

#[test]
fn a_conversion_of_an_unknown_tensor_lists_those_there_are() {
    told(
        "tensor a dtype=f32 { shape { n 4 } }\nconvert input to=a\n",
        ("name::unknown", "input", "there is no tensor `input`"),
        &["tensors here: `a`"],
    );
}

#[test]
fn what_no_image_holds_goes_to_a_buffer_without_its_separators() {
    let config = |more: &str| {
        config::parse(&Arc::from("layoutc.toml"), &format!("[target.opencl]\n{more}")).unwrap()
    };
    let text = "tensor t dtype=f64 { shape { h 4; w 64 }; layout { axis-separators h }; memory texture }\n";
    told_of(
        text,
        &config(""),
        ("target::format", "f64", "an image of `f64` elements does not exist on `opencl`"),
        &["keep the tensor in a buffer: `memory global`, and no separator"],
    );
    told_of(
        &text.replace("f64", "f32"),
        &config("image-max = [8, 16384]\n"),
        (
            "target::image_size",
            "memory texture",
            "the image of `t` is 16 texels wide; on `opencl` the most is 8",
        ),
        &[
            "move the separator, or keep the tensor in a buffer: `memory global`, and no separator; `image-max` in \
             `[target.opencl]` says what the device has",
        ],
    );
}

#[test]
fn padding_of_one_slip_is_told_once_at_the_step_that_makes_it() {
    let text = tensor("n 20; c 3", "order c n; map \"(c, n) -> (c, n // 4, n % 16)\"; fill 0");
    let map = "(c, n) -> (c, n // 4, n % 16)";
    told(
        &text,
        ("padding::unexplained", map, "`t` has padding that does not come from rounding up"),
        &[
            "write `padding allow` if it is intended; otherwise use one divisor for quotient and remainder: write `n % 4` in place of `n % 16`",
        ],
    );
    assert_eq!(
        found(&text, &Config::default())[0].notes,
        ["60 elements in 240 slots: 75 % is padding"]
    );
    told(
        &tensor("n 8; c 33", "tile 8 128; order n_outer c_outer c_inner n_inner"),
        ("padding::large", "tile 8 128", "74 % of `t` is padding"),
        &["choose tiles and alignments that divide the extents, or write `padding allow`"],
    );
}

#[test]
fn rounding_up_before_a_map_that_is_enumerated_explains_its_padding() {
    let split = "split k into=\"ko piece ki\" by=\"8 8\"";
    let swizzle =
        |piece: &str| format!("map \"(row, ko, p, ki) -> (row, ko, piece = {piece}, ki)\"");
    let rounded = tensor("row 8; k 1000", &format!("{split}; {}", swizzle("p ^ row")));
    assert_eq!(found(&rounded, &Config::default()), []);
    let more = tensor("row 8; k 1000", &format!("{split}; {}", swizzle("(p ^ row) * 2")));
    let codes: Vec<_> = found(&more, &Config::default()).iter().map(|d| d.code.id()).collect();
    assert_eq!(codes, ["padding::unexplained"]);
}

#[test]
fn a_box_that_no_curve_goes_through_gets_one_that_it_does() {
    let code = "expr::function";
    told(
        &tensor("h 4096; w 2048", "map \"(h, w) -> (hilbert(h, w))\""),
        (
            code,
            "hilbert(h, w)",
            "box of 4096 by 2048 has 8388608 cells, but `hilbert` supports at most 4194304",
        ),
        &["tile first, and order the tiles: `(hilbert(h // 8, w // 8), h % 8, w % 8)`"],
    );
    let message = "argument of `hilbert` has a symbolic extent, expected a constant one";
    for (symbol, help) in [
        (
            "symbol n max=100",
            "write a box that fits every size after the arguments, here of 100 rows: `hilbert(h, w, 100, 64)`",
        ),
        (
            "symbol n",
            "declare a smaller `max` of the symbol, and write the box after the arguments: `hilbert(h, w, 64, 64)`",
        ),
    ] {
        let tensor = tensor("h n; w 8", "map \"(h, w) -> (hilbert(h, w))\"");
        told(&format!("{symbol}\n{tensor}"), (code, "h", message), &[help]);
    }
    told(
        &tensor("h 8; w 8", "map \"(h, w) -> (hilbert(h, w, 8, 6))\""),
        (code, "w", "index goes up to 7, but the box ends at 5"),
        &["use a box with an extent of at least 8 here"],
    );
}

#[test]
fn tiles_along_a_curve_are_rounded_up_and_other_slots_are_not_explained() {
    let tiles = |inner: &str| {
        let map = format!("map \"(h, w) -> (hilbert(h // 4, w // 4), h % 4, {inner})\"");
        tensor("h 22; w 31", &map)
    };
    assert_eq!(found(&tiles("w % 4"), &Config::default()), []);
    let text = tiles("w % 8");
    let place = &text[text.find("(h, w) ->").unwrap()..text.find("\" } }").unwrap()];
    told(
        &text,
        ("padding::unexplained", place, "`t` has padding that does not come from rounding up"),
        &[
            "write `padding allow` if it is intended; otherwise use one divisor for quotient and remainder",
        ],
    );
}

#[test]
fn symbols_of_a_manifest_that_is_not_used_mean_nothing() {
    let both = |a, b| {
        let paths = ["a.kdl", "b.kdl"].map(str::to_owned);
        let found = check(
            &MemorySources::from_iter([("a.kdl", a), ("b.kdl", b)]),
            &paths,
            &Config::default(),
        )
        .diagnostics;
        found.into_iter().map(|told| told.code.id()).collect::<Vec<_>>()
    };
    let open = "tensor t dtype=f32 { shape { c S } }";
    assert_eq!(both(open, "symbol S max=64"), ["name::unknown"]);
    let map = "tensor t dtype=f32 { shape { n 8; c 6 }; layout { map \"(n, c) -> (c, n)\" } }";
    assert_eq!(both(map, "symbol n max=64"), Vec::<&str>::new());
}

#[test]
fn an_extent_that_cannot_be_read_leads_to_nothing_else() {
    let text = "const X \"4 *\"\ntensor t dtype=f32 { shape { w X; c 4 }; layout { order c w } }\n";
    let found = found(text, &Config::default());
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(&text[found[0].labels[0].place.start..][..1], "\"");
}

#[test]
fn a_function_that_is_meant_takes_as_many_values() {
    let kernel = |value: &str| {
        let tensors = "tensor a dtype=f32 { shape { n 8 } }\ntensor b dtype=f32 like=a\n";
        format!("{tensors}kernel k {{ compute \"b[n] = {value}\" }}\n")
    };
    let help = |text: &str| found(text, &Config::default())[0].help.concat();
    assert_eq!(help(&kernel("tnah(a[n])")), "did you mean `tanh`?");
    // `min` takes two arguments and is not offered.
    assert!(help(&kernel("sin(a[n])")).starts_with("expected one of abs, exp"));
}

#[test]
fn what_mends_a_map_in_a_transform_is_told_and_not_done() {
    let text = "transform t { map \"(n, c) -> (n, c // 4)\" }\ntensor a dtype=f32 { shape { n 4; c 8 }; layout t }\n";
    let in_transform = found(text, &Config::default());
    assert_eq!((in_transform[0].help.len(), in_transform[0].fixes.len()), (1, 0));
    let text =
        "tensor a dtype=f32 { shape { n 4; c 8 }; layout { map \"(n, c) -> (n, c // 4)\" } }\n";
    let in_layout = found(text, &Config::default());
    assert_eq!(in_layout[0].fixes.len(), 1);
    assert_eq!(in_layout[0].help, in_transform[0].help);
}

#[test]
fn small_letters_of_tvm_alone_are_meant_as_axes() {
    let text = "tensor a dtype=f32 { shape { n 4; c 8 }; layout tvm=\"nc\" }\n";
    assert_eq!(found(text, &Config::default())[0].help, ["write axes as capitals: `NC`"]);
}
