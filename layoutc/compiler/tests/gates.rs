//! Gates (`require`) and memory spaces: code, span, notes and help for layouts that do not meet them.
#![allow(clippy::unwrap_used, reason = "a test")]

use layoutc_compiler::base::diagnostic::Diagnostic;
use layoutc_compiler::config::Config;
use layoutc_compiler::emit::Templates;
use layoutc_compiler::model::Tensor;
use layoutc_compiler::query::inspect::tensor_json;
use layoutc_compiler::{CheckedProject, Compiler, MemorySources};

fn checked(text: &str) -> CheckedProject {
    Compiler::new(&MemorySources::of("a.kdl", text), &Config::default())
        .check(&["a.kdl".to_owned()])
}

/// Diagnostics of a text: code, marked text, notes, help.
fn told(text: &str) -> Vec<(&'static str, String, Vec<String>, Vec<String>)> {
    let row = |fault: &Diagnostic| {
        let place = &fault.labels[0].place;
        let marked = text[place.start..place.end].to_owned();
        (fault.code.id(), marked, fault.notes.clone(), fault.help.clone())
    };
    checked(text).diagnostics.iter().map(row).collect()
}

/// Asserts the only diagnostic of a text.
#[track_caller]
fn only(text: &str, (code, marked): (&str, &str), notes: &[&str], help: &[&str]) {
    let found = told(text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0, found[0].1.as_str()), (code, marked), "{text}");
    assert_eq!(found[0].2, notes, "{text}");
    assert_eq!(found[0].3, help, "{text}");
}

#[track_caller]
fn good(text: &str) -> Vec<Tensor> {
    let checked = checked(text);
    assert_eq!(checked.diagnostics, [], "{text}");
    checked.manifests[0].tensors.clone()
}

fn tensor(shape: &str, layout: &str, gates: &str) -> String {
    format!(
        "symbol rows max=4096\nsymbol fours max=4096 multiple=4\ntensor t dtype=f32 {{ shape {{ {shape} }}; layout {{ {layout} }}; require {gates} }}\n"
    )
}

#[test]
fn gates_that_hold_say_nothing() {
    for (shape, layout, gates) in [
        ("n 8; c 32", "", "bijective contiguous c vector=4 padding-below=0.1 bytes-below=1025"),
        ("n 8; c 30", "pad c multiple=4", "padding-below=0.0626 vector=4 contiguous c"),
        ("n 8; c 30", "map \"(n, c) -> (c // 4, n, c % 4)\"", "vector=4"),
        ("n 8; c 32", "order c n", "vector=8 contiguous n"),
        ("n rows; c 32", "", "bijective contiguous c vector=16 bytes-below=\"513 KiB\""),
        ("n 8; c fours", "map \"(n, c) -> (c // 4, n, c % 4)\"", "bijective vector=4"),
        ("n 8; c rows", "map \"(n, c) -> (c // 4, n, c % 4)\"", "vector=4"),
        ("x 8; y 8", "map \"(x, y) -> (x, y ^ (x // 4 * 4))\"", "vector=4"),
        ("n 0; c 7", "", "bijective contiguous c vector=4"),
        ("c 1; n 1", "", "contiguous c contiguous n"),
    ] {
        good(&tensor(shape, layout, gates));
    }
}

#[test]
fn padding_is_told_with_its_share_and_the_facts_that_avoid_it() {
    only(
        &tensor("n 8; c 30", "pad c multiple=32", "bijective"),
        ("gate::bijective", "bijective"),
        &["240 elements in 256 slots: 6.25 % is padding"],
        &["choose tiles and alignments that divide the extents"],
    );
    only(
        &tensor("n 8; c rows", "pad c multiple=4", "bijective"),
        ("gate::bijective", "bijective"),
        &["8 elements in 32 slots for `rows` = 1: 75 % is padding"],
        &["holds when `rows` is a multiple of 4: add `multiple=4` to its symbol"],
    );
    only(
        &tensor("n 8; c fours", "pad c multiple=6", "padding-below=0.3"),
        ("gate::padding", "padding-below=0.3"),
        &["32 elements in 48 slots for `fours` = 4: 33.33 % is padding"],
        &["holds when `fours` is a multiple of 12: change its symbol to `multiple=12`"],
    );
    only(
        &tensor("n rows; c 30", "pad c multiple=32", "bijective"),
        ("gate::bijective", "bijective"),
        &["30 elements in 32 slots for `rows` = 1: 6.25 % is padding"],
        &["choose tiles and alignments that divide the extents"],
    );
}

#[test]
fn a_share_is_compared_exactly() {
    let at = |gate: &str| tensor("c 9", "pad c multiple=10", gate);
    let figure = ["9 elements in 10 slots: 10 % is padding"];
    let enough = "choose tiles and alignments with less padding, or write `padding-below=0.11`";
    only(&at("padding-below=0.10"), ("gate::padding", "padding-below=0.10"), &figure, &[enough]);
    good(&at("padding-below=0.1000000000001"));
    good(&at("padding-below=1"));
    for share in ["0", "0.0", "1.5", "-0.1", "#nan", "x", "1e-30"] {
        let found = told(&at(&format!("padding-below={share}")));
        assert_eq!(found.len(), 1, "{share}");
        assert_eq!((found[0].0, found[0].1.as_str()), ("kdl::value", share));
    }
}

#[test]
fn bytes_have_units_and_the_greatest_size_that_keeps_them() {
    only(
        &tensor("n 256; c 1024", "", "bytes-below=\"1 MiB\""),
        ("gate::bytes", "bytes-below=\"1 MiB\""),
        &["it has 1048576 bytes (1 MiB)"],
        &["reduce it by 1 byte: less padding, a smaller extent, or elements of fewer bits"],
    );
    for limit in ["1048577", "\"1.048577 MB\"", "\"1025 KiB\"", "\"1025 kib\"", "\"0.002GB\""] {
        good(&tensor("n 256; c 1024", "", &format!("bytes-below={limit}")));
    }
    only(
        &tensor("n rows; c 1024", "", "bytes-below=\"1 MiB\""),
        ("gate::bytes", "bytes-below=\"1 MiB\""),
        &["it has 16777216 bytes (16 MiB) for `rows` = 4096"],
        &["holds when `rows` is at most 255: change its symbol to `max=255`"],
    );
    for size in ["\"1 ZiB\"", "\"99999999999 GiB\"", "\"0.3 B\"", "1.5", "#true"] {
        let found = told(&tensor("n 4", "", &format!("bytes-below={size}")));
        assert_eq!(found.len(), 1, "{size}");
        assert_eq!((found[0].0, found[0].1.as_str()), ("kdl::value", size));
    }
}

#[test]
fn neighbours_that_are_apart_are_named() {
    only(
        &tensor("n 8; c 32", "map \"(n, c) -> (c // 4, n, c % 4)\"", "contiguous c"),
        ("gate::contiguous", "contiguous c"),
        &[
            "t[0, 3] is at offset 3 and t[0, 4] is at offset 32",
            "runs of 4 elements are contiguous",
        ],
        &["if contiguous groups are enough, write `require vector=4`"],
    );
    only(
        &tensor("n rows; c 32", "", "contiguous n"),
        ("gate::contiguous", "contiguous n"),
        &["t[0, 0] is at offset 0 and t[1, 0] is at offset 32 for `rows` = 2"],
        &["make `n` the last storage axis: `order ... n`"],
    );
    only(
        &tensor("n 8; c 32", "", "contiguous k"),
        ("step::axis", "k"),
        &[],
        &["axes here: `n`, `c`"],
    );
}

#[test]
fn what_is_no_vector_access_says_why() {
    let gate = ("gate::vector", "vector=4");
    only(
        &tensor("n 8; c 30", "", "vector=4"),
        gate,
        &[
            "the last group along `c` has 2 of 4 elements, and it is not proven that padding follows them",
        ],
        &["round the extent up before the other steps: `pad c multiple=4`"],
    );
    only(
        &tensor("n 8; c 32", "pad c before=1", "vector=4"),
        gate,
        &["t[0, 0] is at offset 1, which is not a multiple of 4"],
        &["make paddings and strides multiples of 4"],
    );
    only(
        &tensor("n 8; c 32", "map \"(n, c) -> (c // 2, n, c % 2)\"", "vector=4"),
        gate,
        &["t[0, 0] is at offset 0 and t[0, 2] is at offset 16"],
        &["make `c % 4` the last storage axis: `split c by=4`"],
    );
    only(
        &tensor("n 8; c 32", "strides 64 2; padding allow", "vector=4"),
        gate,
        &["no axis has stride 1", "the stride of `n` is 64", "the stride of `c` is 2"],
        &["make the stride of the last axis in memory 1"],
    );
    only(
        &tensor("n 8; c 32", "align 8", "vector=4"),
        gate,
        &["they have 16 bytes, and the base address is aligned to 8"],
        &["add `align 16` to the layout"],
    );
    only(
        &tensor("n 8; c rows", "", "vector=4"),
        gate,
        &[
            "the last group along `c` may have fewer than 4 elements, and it is not proven that padding follows them",
        ],
        &[
            "holds when `rows` is a multiple of 4: add `multiple=4` to its symbol",
            "round the extent up before the other steps: `pad c multiple=4`",
        ],
    );
    for lanes in ["3", "1", "0", "-4", "131072"] {
        let found = told(&tensor("n 8", "", &format!("vector={lanes}")));
        assert_eq!((found.len(), found[0].0, found[0].1.as_str()), (1, "step::value", lanes));
    }
}

#[test]
fn layouts_are_the_same_however_they_are_written() {
    let both = |layout: &str| {
        format!(
            "tensor a dtype=f32 {{ shape {{ n 4; c 32 }}; layout {{ map \"(n, c) -> (c // 8, n, c % 8)\" }}; require same-as=b }}\n\
             tensor b dtype=f32 {{ shape {{ c 32; n 4 }}; layout {{ {layout} }} }}\n"
        )
    };
    good(&both("split c by=8; order c_outer n c_inner"));
    only(
        &both("order n c"),
        ("gate::same_as", "same-as=b"),
        &["a[0, 8] is at offset 32 and b[0, 8] at offset 8"],
        &["give `b` the layout of `a`, or remove the gate if they may differ"],
    );
    only(
        &both("split c by=8; order c_outer n c_inner; axis-separators c_outer"),
        ("gate::same_as", "same-as=b"),
        &["`a` has 1 axis in memory and `b` has 2"],
        &["write the same `axis-separators` in both"],
    );
    only(
        "tensor a dtype=f32 { shape { n 4 }; require same-as=aa }\ntensor aaa dtype=f32 { shape { n 4 } }\n",
        ("name::unknown", "aa"),
        &[],
        &["did you mean `a`?"],
    );
    only(
        "tensor a dtype=f32 { shape { n 4 }; require same-as=b }\ntensor b dtype=f32 { shape { m 4 } }\n",
        ("gate::same_as", "same-as=b"),
        &["the axes of `a` are n", "the axes of `b` are m"],
        &["declare the same axes in both, in any order"],
    );
    only(
        "tensor a dtype=f32 { shape { n 4 }; require same-as=b }\ntensor b dtype=f16 { shape { n 4 } }\n",
        ("gate::same_as", "same-as=b"),
        &["`a` has elements of type f32 and `b` of type f16"],
        &["use element types of the same size"],
    );
}

#[test]
fn a_space_has_a_size_an_alignment_and_a_number_of_xla() {
    let manifest = "use \"spaces.kdl\"\n\
        tensor a dtype=f32 { shape { n 1024 }; memory vmem; require fits }\n\
        tensor b xla=\"f32[8,128]{1,0:T(8,128)S(1)}\"\n\
        tensor c dtype=f32 { shape { n 4 }; layout { align 1024 }; memory vmem }\n";
    let spaces =
        "const PAGE 512\nmemory-space vmem bytes=\"4 KiB\" align=PAGE xla=1\nmemory-space smem\n";
    let files = [("a.kdl", manifest), ("spaces.kdl", spaces)];
    let config = Config::default();
    let sources = files.iter().copied().collect::<MemorySources>();
    let compiler = Compiler::new(&sources, &config);
    let checked = compiler.check(&["a.kdl".to_owned()]);
    assert_eq!(checked.diagnostics, []);
    let tensors = &checked.manifests[0].tensors;
    let json: Vec<_> = tensors.iter().map(|tensor| tensor_json(tensor, "a.kdl")).collect();
    assert_eq!(json.iter().map(|j| j["memory"].as_str().unwrap()).collect::<Vec<_>>(), ["vmem"; 3]);
    let alignments: Vec<_> = json.iter().map(|j| j["alignment"].as_i64().unwrap()).collect();
    assert_eq!(alignments, [512, 512, 1024]);
    let outputs = compiler.emit(&checked, &Templates::default()).unwrap();
    let header = &outputs.iter().find(|output| output.path.ends_with("a.h")).unwrap().text;
    assert!(header.contains("\n//   memory space: vmem, of 4096 bytes\n"), "{}", &header[..1500]);
    let mut lines = header.lines().filter(|line| line.starts_with("#define A_ALIGNMENT"));
    assert!(lines.next().unwrap().ends_with(" 512"), "{header}");
}

#[test]
fn a_tensor_larger_than_its_space_does_not_fit() {
    let space = "memory-space vmem bytes=\"4 KiB\"\nmemory-space smem\nsymbol rows max=64\n";
    let fits = |memory: &str, extent: &str| {
        format!(
            "{space}tensor a dtype=f32 {{ shape {{ n {extent}; c 32 }}; {memory}; require fits }}\n"
        )
    };
    good(&fits("memory vmem", "32"));
    only(
        &fits("memory vmem", "33"),
        ("gate::fits", "fits"),
        &["it has 4224 bytes (about 4.12 KiB)", "`vmem` has 4096 bytes (4 KiB)"],
        &["reduce it by 128 bytes: less padding, a smaller extent, or elements of fewer bits"],
    );
    only(
        &fits("memory vmem", "rows"),
        ("gate::fits", "fits"),
        &["it has 8192 bytes (8 KiB) for `rows` = 64", "`vmem` has 4096 bytes (4 KiB)"],
        &["holds when `rows` is at most 32: change its symbol to `max=32`"],
    );
    only(
        &fits("memory smem", "4"),
        ("gate::fits", "fits"),
        &[],
        &["declare it: `memory-space smem bytes=\"16 MiB\"`"],
    );
    let found = told(&fits("memory texture", "4"));
    assert_eq!((found.len(), found[0].0), (1, "gate::fits"));
    assert_eq!(found[0].2, ["its memory is `texture`, which has no size"]);
}

#[test]
fn memories_are_named_once_and_known() {
    only(
        "memory-space vmem bytes=1\ntensor a dtype=f32 { shape { n 4 }; memory vmen }\n",
        ("name::unknown", "vmen"),
        &[],
        &["did you mean `vmem`?"],
    );
    only(
        "tensor a dtype=f32 { shape { n 4 }; memory textur }\n",
        ("name::unknown", "textur"),
        &[],
        &["did you mean `texture`?"],
    );
    for (text, code, marked) in [
        ("memory-space a\nmemory-space a bytes=4\n", "name::duplicate", "a"),
        ("memory-space shared\n", "name::duplicate", "shared"),
        ("memory-space a xla=1\nmemory-space b xla=1\n", "name::duplicate", "1"),
        ("memory-space a bytes=0\n", "step::value", "0"),
        ("memory-space a align=12\n", "step::value", "12"),
        ("memory-space a xla=0\n", "kdl::value", "0"),
        ("memory-space a bytes=NONE\n", "name::unknown", "NONE"),
        ("memory-space\n", "kdl::missing", "memory-space"),
        ("memory-space a size=4\n", "name::unknown", "size"),
    ] {
        let found = told(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!((found[0].0, found[0].1.as_str()), (code, marked), "{text}");
    }
}

#[test]
fn a_space_of_xla_that_nobody_names_is_told_of() {
    let layout = "xla=\"f32[8,128]{1,0:T(8,128)S(1)}\"";
    only(
        &format!("memory-space a xla=2\ntensor t {layout}\n"),
        ("notation::remark", "1"),
        &[],
        &["declare it at the top: `memory-space NAME xla=1`"],
    );
    only(
        &format!("memory-space a xla=1\ntensor t {layout} {{ memory global }}\n"),
        ("notation::remark", "1"),
        &[],
        &["write `memory a`, or remove `S(1)`"],
    );
}

#[test]
fn a_gate_is_written_as_it_is_said() {
    for (gate, code, marked) in [
        ("", "kdl::missing", "require"),
        ("contiguous", "kdl::missing", "contiguous"),
        ("bijectiv", "name::unknown", "bijectiv"),
        ("4", "name::unknown", "4"),
        ("vectors=4", "name::unknown", "vectors"),
        ("contiguous 4", "kdl::value", "4"),
        ("vector=4 vector=8", "kdl::twice", "vector"),
        ("vector=x", "name::unknown", "x"),
    ] {
        let text = format!("tensor t dtype=f32 {{ shape {{ n 8 }}; require {gate} }}\n");
        let found = told(&text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        let marked_text = found[0].1.trim();
        assert_eq!((found[0].0, marked_text), (code, marked), "{text}");
    }
}

#[test]
fn what_is_refused_for_some_sizes_says_for_which_it_holds() {
    let refused = |layout: &str| {
        let text = format!(
            "symbol rows\nsymbol fours max=4096 multiple=2\ntensor t dtype=f32 {{ shape {{ n rows; c fours }}; layout {{ {layout} }} }}\n"
        );
        let found = told(&text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        (found[0].0, found[0].3.first().cloned().unwrap_or_default())
    };
    let multiple =
        "holds when `rows` is a multiple of 4: add `multiple=4` to its symbol".to_owned();
    assert_eq!(
        refused("map \"(n, c) -> (n // 4 : rows // 4, c, n % 4)\""),
        ("map::unproven", multiple.clone())
    );
    assert_eq!(refused("split n by=4; padding forbid"), ("padding::forbidden", multiple));
    assert_eq!(
        refused("split c by=4; padding forbid").1,
        "holds when `fours` is a multiple of 4: change its symbol to `multiple=4`"
    );
    assert_eq!(
        refused("map \"(n, c) -> (n % 32, c)\"").1,
        "holds when `rows` is at most 32: add `max=32` to its symbol"
    );
    assert_eq!(
        refused("map \"(n, c) -> (n % 32 * 64 + n // 32, c)\"").1,
        "holds when `rows` is at most 2048: add `max=2048` to its symbol"
    );
    assert_eq!(
        refused("split n by=4; split c by=8; padding forbid").1,
        "holds when `rows` is a multiple of 8 and `fours` is a multiple of 8: add `multiple=8` to `rows`, change `fours` to `multiple=8`"
    );
    // No fact makes this map injective.
    let (code, help) = refused("map \"(n, c) -> (n * 0, c)\"");
    assert_eq!((code, help.contains("holds when")), ("map::not_injective", false));
}

#[test]
fn the_order_of_axes_that_needs_least_is_named_where_it_needs_less() {
    let warned = |shape: &str, layout: &str| {
        let text = format!("tensor t dtype=f32 {{ shape {{ {shape} }}; layout {{ {layout} }} }}\n");
        let found = told(&text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!(found[0].0, "padding::large");
        found[0].3.clone()
    };
    let rest = "choose tiles and alignments that divide the extents, or write `padding allow`";
    let named = |shape: &str, layout: &str, order: &str| {
        assert_eq!(warned(shape, layout), [order, rest], "{shape} {layout}");
    };
    named(
        "n 64; c 3",
        "map \"(n, c) -> (n, c // 16, c % 16)\"",
        "`order c n` before the other steps needs the fewest slots: 192 slots, 0 % of them padding",
    );
    named(
        "a 2; b 128; c 3",
        "tile 8 128",
        "`order a c b` before the other steps needs the fewest slots: 2048 slots, 62 % of them padding",
    );
    assert_eq!(warned("a 3; b 3", "tile 8 128"), [rest]);
    let many = "a 64; b 2; c 2; d 2; e 2; f 2; g 2; h 3";
    named(
        many,
        "map \"(a, b, c, d, e, f, g, h) -> (a, b, c, d, e, f, g, h // 64, h % 64)\"",
        "`order h b c d e f g a` before the other steps needs the fewest slots: 12288 slots, 0 % of them padding",
    );
}

#[test]
fn an_aligned_first_element_and_a_swizzle_do_not_go_together() {
    for steps in [
        "align 64 at=origin; swizzle 2 2 3 unit=elements",
        "swizzle 2 2 3 unit=elements; align 64 at=origin",
    ] {
        let text =
            format!("tensor t dtype=f32 {{ shape {{ n 8; c 32 }}; layout {{ {steps} }} }}\n");
        let found = told(&text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        let last = steps.split("; ").last().unwrap();
        assert_eq!((found[0].0, found[0].1.as_str()), ("step::form", last));
    }
}
