//! What people bring along from other tools: each is told how it is written here, and what is offered mends it.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::common::check_text;

use check_text::{diagnostics as found, summaries as rows};
use layoutc_compiler::base::diagnostic::Diagnostic;

/// A tensor of axes `n` of 4 and `c` of 8 with this layout.
fn tensor(layout: &str) -> String {
    format!("tensor t dtype=f32 {{ shape {{ n 4; c 8 }}; {layout} }}\n")
}

fn steps(steps: &str) -> String {
    tensor(&format!("layout {{ {steps} }}"))
}

/// The text with the only fix of its only diagnostic carried out.
fn fixed(text: &str, found: &[Diagnostic]) -> String {
    let [Diagnostic { fixes, .. }] = found else { return format!("{found:#?}") };
    let [fix] = fixes.as_slice() else { return format!("{fixes:#?}") };
    [&text[..fix.place.start], &fix.text, &text[fix.place.end..]].concat()
}

/// Asserts that `wrong` has one diagnostic with this help, and that its fix makes it `right`, of which nothing is told.
#[track_caller]
fn mends(wrong: &str, help: &str, right: &str) {
    let told = found(wrong);
    assert_eq!(fixed(wrong, &told), right);
    assert_eq!(told[0].help, [help], "{wrong}");
    assert_eq!(found(right), [], "{right}");
}

/// Asserts the only diagnostic of `text`: code and marked text, then the help.
#[track_caller]
fn helps(text: &str, code: &str, marked: &str, help: &str) {
    let told = found(text);
    let rows: Vec<_> = rows(text, &told).into_iter().map(|row| (row.0, row.1)).collect();
    assert_eq!(rows, [(code, marked)], "{text}");
    assert_eq!(told[0].help, [help], "{text}");
}

#[test]
fn a_list_in_brackets_is_arguments() {
    for (wrong, help, right) in [
        ("order [c n]", "write `order c n`: spaces separate arguments", "order c n"),
        ("order [c, n]", "write `order c n`: spaces separate arguments", "order c n"),
        ("order = [c, n]", "write `order c n`: spaces separate arguments", "order c n"),
        ("order: [\"c\", \"n\"]", "write `order c n`: spaces separate arguments", "order c n"),
        ("tile [2, 4]", "write `tile 2 4`: spaces separate arguments", "tile 2 4"),
        ("split c into=[a, b] by=4", "write `into=\"a b\"`", "split c into=\"a b\" by=4"),
        ("split c by=[4]", "write `by=4`", "split c by=4"),
        ("map [c, n]", "write it as one quoted string: `\"(c, n)\"`", "map \"(c, n)\""),
    ] {
        mends(&steps(wrong), help, &steps(right));
    }
    let help = "write the order of the axes as a step: `layout { order c n }`";
    mends(&tensor("layout [c, n]"), help, &tensor("layout { order c n }"));
}

#[test]
fn a_shape_in_brackets_is_a_block() {
    for (wrong, right) in [
        ("shape [4, 8]", "shape { d0 4; d1 8 }"),
        ("shape (4, 8)", "shape { d0 4; d1 8 }"),
        ("shape = [4, 8]", "shape { d0 4; d1 8 }"),
        ("shape: [n: 4, c: 8]", "shape { n 4; c 8 }"),
        ("shape [n 4, c 8]", "shape { n 4; c 8 }"),
        ("shape [n=4 c=8]", "shape { n 4; c 8 }"),
        ("shape n:4 c:8", "shape { n 4; c 8 }"),
        ("shape \"4, 8\"", "shape { d0 4; d1 8 }"),
    ] {
        let text = |shape: &str| format!("tensor t dtype=f32 {{ {shape} }}\n");
        mends(&text(wrong), &format!("write `{right}`"), &text(right));
    }
    let text = |axes: &str| format!("tensor t dtype=f32 {{ shape {{ {axes} }} }}\n");
    mends(&text("[4, 8]"), "write `d0 4; d1 8`", &text("d0 4; d1 8"));
    mends(&text("n 4 * 16"), "write `shape { n \"4 * 16\" }`", &text("n \"4 * 16\""));
    mends(&text("n 4K"), "write `4096`: 4 Ki", &text("n 4096"));
    mends(&text("n 4*16"), "write `\"4*16\"`, an expression in quotes", &text("n \"4*16\""));
    let help = "write it in the block: `shape { d0 4; d1 8 }`";
    helps("tensor t dtype=f32 shape=[4, 8] { }\n", "expr::unquoted", "[", help);
    let symbol = "declare an extent known only at run time as a symbol: `symbol batch max=4096`";
    helps(&text("n \"?\""), "shape::extent", "\"?\"", symbol);
}

#[test]
fn a_corrected_shape_keeps_its_comments_by_not_being_offered() {
    let told = found("tensor t dtype=f32 { shape { n 1; h 2 w 3 // wide\n} }\n");
    assert_eq!((told[0].help.len(), told[0].fixes.len()), (1, 0));
    let told = found("tensor t dtype=f32 { shape { n 1; /* high */ h 2 w 3 } }\n");
    assert_eq!((told[0].help.len(), told[0].fixes.len()), (1, 0));
}

#[test]
fn a_map_of_another_language_is_written_in_ours() {
    for (wrong, right) in [
        ("[c, n]", "(c, n)"),
        ("(n, c) -> [c, n]", "(n, c) -> (c, n)"),
        ("n, c -> c, n", "(n, c) -> (c, n)"),
        ("(n, c) => (c, n)", "(n, c) -> (c, n)"),
        ("(n, c) \u{2192} (c, n)", "(n, c) -> (c, n)"),
        ("(n, c): (c, n)", "(n, c) -> (c, n)"),
        ("lambda n, c: (c, n)", "(n, c) -> (c, n)"),
        ("lambda n, c: [n, te.AXIS_SEPARATOR, c // 4, c % 4]", "(n, c) -> (n | c // 4, c % 4)"),
        ("(n, c) -> (n, c floordiv 4, c mod 4)", "(n, c) -> (n, c // 4, c % 4)"),
        ("(n, c) -> (n, c >> 2, c & 3)", "(n, c) -> (n, c // 4, c & 3)"),
        ("(n, c) -> (n, c // 2**2, c % 2**2)", "(n, c) -> (n, c // 4, c % 4)"),
        ("(n, c) -> (n, c // 4.0, c % 4)", "(n, c) -> (n, c // 4, c % 4)"),
        ("(n, c) -> (n, c // 4, c % 4", "(n, c) -> (n, c // 4, c % 4)"),
        ("(n, c) -> (n, c xor 1)", "(n, c) -> (n, c ^ 1)"),
        ("(n, c) -> (n, (c // 4, c % 4))", "(n, c) -> (n, c // 4, c % 4)"),
    ] {
        let text = |map: &str| steps(&format!("map \"{map}\""));
        mends(&text(wrong), &format!("write `{right}`"), &text(right));
    }
    let text = |index: &str| steps(&format!("map \"(n, c) -> (n, {index})\""));
    mends(&text("xor(c, 1)"), "write `c ^ 1`", &text("c ^ 1"));
    mends(
        &steps("map \"(n, c) -> (n, o: c // 4, i = c % 4)\""),
        "write `o = c // 4` to name a storage axis",
        &steps("map \"(n, c) -> (n, o = c // 4, i = c % 4)\""),
    );
    let power = "write the value of the power: there is no `**`";
    helps(&text("c ** 2"), "expr::syntax", "*", power);
    let choice = "write an index as arithmetic: it has no comparisons and no conditionals";
    helps(&text("c < 4"), "expr::syntax", "<", choice);
}

#[test]
fn an_escape_is_marked_and_its_string_written_without() {
    for (escape, plain) in [("\\n", " "), ("\\t", " "), ("\\u{20}", " "), ("\\s", " ")] {
        let wrong = steps(&format!("map \"(n, c) ->{escape}(c, n)\""));
        let right = steps(&format!("map \"(n, c) ->{plain}(c, n)\""));
        helps(&wrong, "expr::escape", escape, &format!("write `\"(n, c) ->{plain}(c, n)\"`"));
        assert_eq!(fixed(&wrong, &found(&wrong)), right);
        assert_eq!(found(&right), []);
    }
    let help = "write `#\"(n, c \\ 4)\"#`, a raw string without escapes";
    helps(&steps("map \"(n, c \\\\ 4)\""), "expr::escape", "\\\\", help);
    let lines = "map \"\"\"\n  (n, c) ->\n  (c, n)\n  \"\"\"";
    let help = "write it on one line: `\"(n, c) -> (c, n)\"`";
    mends(&steps(lines), help, &steps("map \"(n, c) -> (c, n)\""));
}

#[test]
fn an_exclusive_or_that_loses_a_side_keeps_it() {
    mends(
        &steps("map \"(n, c) -> (n ^ c)\"; padding allow"),
        "`^` is exclusive or, not a power: keep one of its operands too: `(n ^ c, c)`",
        &steps("map \"(n, c) -> (n ^ c, c)\"; padding allow"),
    );
}

#[test]
fn an_axis_is_no_number() {
    for step in ["split c by=\"c\"", "split c by=c", "pad c multiple=c", "tile c", "strides c 1"] {
        let text = steps(step);
        let help = "write a number: the extent of `c` is `8`";
        let told = found(&text);
        assert_eq!(told[0].message, "expected a number, found the axis `c`", "{text}");
        assert_eq!((told.len(), told[0].help.as_slice()), (1, &[help.to_owned()][..]), "{text}");
    }
    let text = "tensor t dtype=f32 { shape { n 4; m n } }\n";
    helps(text, "name::unknown", "n", "write a number: the extent of `n` is `4`");
}

#[test]
fn a_property_that_is_no_notation_is_named_with_the_nearest() {
    mends(&tensor("layout tmv=\"NC\""), "did you mean `tvm`?", &tensor("layout tvm=\"NC\""));
    mends(&tensor("layout TVM=\"NC\""), "did you mean `tvm`?", &tensor("layout tvm=\"NC\""));
    for (word, help) in [
        (
            "torch",
            "write strides in elements as a step: `layout { strides 64 1 }`, or `mdspan=\"layout_stride<64, 1>\"`",
        ),
        ("jax", "write JAX layouts in XLA's notation: `xla=\"{1,0}\"`"),
        ("order", "write the axis order as a step: `layout { order c n }`"),
        ("zork", "write one of these, or the layout as steps: `layout { order c n }`"),
    ] {
        helps(&tensor(&format!("layout {word}=\"x\"")), "name::unknown", word, help);
        helps(&steps(&format!("notation {word}=\"x\"")), "name::unknown", word, help);
    }
}

#[test]
fn the_layouts_of_other_tools_are_no_transforms() {
    for (word, help) in [
        ("NC4c", "write it in TVM's notation: `layout tvm=\"NC4c\"`"),
        ("aB4b", "write it in oneDNN's notation: `layout onednn=\"aB4b\"`"),
        ("row_major", "remove the layout: a tensor without one is row-major"),
        ("column_major", "write `layout { order c n }`"),
        ("mine", "declare it first: there are no transforms here"),
    ] {
        helps(&tensor(&format!("layout {word}")), "name::unknown", word, help);
    }
}

#[test]
fn a_name_in_place_of_what_is_none_is_one_that_nothing_else_has() {
    let text = "tensor t dtype=f32 { shape { c-b 4; c_b 8; c.b 2 } }\n";
    let told = found(text);
    let offered: Vec<_> = told.iter().flat_map(|d| &d.fixes).map(|f| f.text.as_str()).collect();
    assert_eq!(offered, ["c_b_2", "c_b_3"]);
    let told = found("tensor t dtype=f32 { shape { n-x 4; c 8 }; layout { order c n-x } }\n");
    let offered: Vec<_> = told.iter().flat_map(|d| &d.fixes).map(|f| f.text.as_str()).collect();
    assert_eq!(offered, ["n_x", "n_x"]);
    let split = steps("split c into=\"co,ci\" by=4");
    mends(&split, "separate them with spaces: `\"co ci\"`", &steps("split c into=\"co ci\" by=4"));
}

#[test]
fn strides_under_which_elements_meet_get_those_that_keep_them_apart() {
    let more = "make each stride larger than the span of the smaller ones";
    for (wrong, right) in [("4 1", "8 1"), ("1 1", "8 1"), ("0 1", "8 1"), ("2 4", "2 7")] {
        let help = format!("{more}: `strides {right}`");
        let right = format!("strides {right}");
        let told = found(&steps(&format!("strides {wrong}")));
        assert_eq!(told[0].help, [help]);
        assert_eq!(fixed(&steps(&format!("strides {wrong}")), &told), steps(&right));
        assert_eq!(found(&steps(&format!("{right}; padding allow"))), []);
    }
    for (wrong, right) in [
        ("numpy=\"(16, 4)\"", "numpy=\"(32, 4)\""),
        ("mdspan=\"layout_stride<4, 1>\"", "mdspan=\"layout_stride<8, 1>\""),
        ("mlir=\"strided<[4, 1]>\"", "mlir=\"strided<[8, 1]>\""),
    ] {
        let written = right.split('"').nth(1).unwrap();
        let text = |layout: &str| tensor(&format!("layout {layout}"));
        mends(&text(wrong), &format!("{more}: `{written}`"), &text(right));
    }
    let cute = tensor("layout cute=\"(4,8):(4,1)\"");
    helps(&cute, "map::not_injective", "(4,8):(4,1)", more);
    // With a map before them the strides are at fault, which drop what the map keeps.
    let text = steps("map \"(n, c) -> (n, c // 4, c % 4)\"; strides 8 4 0");
    helps(&text, "map::not_injective", "strides 8 4 0", &format!("{more}: `strides 8 4 29`"));
}

#[test]
fn a_foreign_map_that_is_not_one_to_one_says_what_to_keep() {
    let text = tensor("layout mlir=\"affine_map<(i, j) -> (i, j mod 4)>\"");
    let marked = "affine_map<(i, j) -> (i, j mod 4)>";
    let help = "keep the quotient too: add the result `j floordiv 4`";
    helps(&text, "map::not_injective", marked, help);
    let text = tensor("layout mlir=\"(i, j) -> (j)\"");
    let help = "keep the index too: add the result `i`";
    helps(&text, "map::not_injective", "(i, j) -> (j)", help);
    let bases = "{n: [[1], [2]], c: [[4], [8], [8]]} -> {offset: 32}";
    let help = "make the images linearly independent over GF(2): none is zero or the xor of others";
    helps(&tensor(&format!("layout triton=\"{bases}\"")), "map::not_injective", bases, help);
}

#[test]
fn a_text_of_mlirs_strides_is_shown_as_one_for_these_axes() {
    for text in ["strided<[8, 1]", "strided<8, 1>", "strided [8, 1]"] {
        let told = found(&tensor(&format!("layout mlir=\"{text}\"")));
        assert_eq!(told[0].help, ["it is written as in `strided<[8, 1]>`"], "{text}");
    }
    assert_eq!(found(&tensor("layout mlir=\"strided<[8, 1]>\"")), []);
}

#[test]
fn padding_is_unexplained_beside_a_star_too() {
    let codes = |map: &str| {
        let text =
            format!("tensor t dtype=f32 {{ shape {{ n 4; c 33 }}; layout {{ map \"{map}\" }} }}\n");
        found(&text).iter().map(|told| told.code.id()).collect::<Vec<_>>()
    };
    assert_eq!(codes("(n, c) -> (n, c // 4, c % 8)"), ["padding::unexplained"]);
    assert_eq!(codes("(*outer, c) -> (*outer, c // 4, c % 8)"), ["padding::unexplained"]);
    assert_eq!(codes("(*outer, c) -> (*outer, c // 4, c % 8 : 10)"), ["padding::large"]);
}

#[test]
fn a_tool_that_goes_another_way_with_packed_blocks_is_told_of() {
    let text = tensor("layout tvm=\"NC[2n4c]\"");
    helps(
        &text,
        "notation::remark",
        "2n4c",
        "leave the brackets out for TVM: `2n4c` puts each element at the same place",
    );
    assert_eq!(found(&tensor("layout tvm=\"NC[4n4c]\"")), []);
    assert_eq!(found(&tensor("layout tvm=\"NC2n4c\"")), []);
}

#[test]
fn words_of_other_languages_get_ours() {
    let manifest = |text: &str, marked: &str, help: &str| {
        let told = found(text);
        let about =
            told.iter().find(|d| &text[d.labels[0].place.start..d.labels[0].place.end] == marked);
        assert_eq!(about.map(|d| d.help.as_slice()), Some(&[help.to_owned()][..]), "{told:#?}");
    };
    manifest("import \"a.kdl\"\n", "import", "did you mean `use`?");
    manifest("let LANES 4\n", "let", "did you mean `const`?");
    manifest("# a comment\n", "#", "a comment begins with `//`: write `// a comment`");
    manifest("-- a comment\n", "--", "a comment begins with `//`");
    manifest("const LANES = 4\n", "const LANES = 4", "write `const LANES 4`");
    manifest("symbol n 1..4096\n", "1..4096", "write `min=1 max=4096` for a range");
    let with = |head: &str| format!("tensor t {head} {{ shape {{ n 4 }} }}\n");
    manifest(&with("dtype=torch.float16"), "torch.float16", "did you mean `f16`?");
    let block = "write it as a node in the block: `tensor … { memory … }`";
    manifest(&with("dtype=f32 memory=shared"), "memory", block);
    manifest(&steps("permute c n"), "permute", "did you mean `order`?");
    manifest(&steps("order 1 0"), "1", "write its name: `order c n`");
    manifest(&steps("split c factor=4"), "factor", "did you mean `by`?");
    manifest(&steps("tile 2x4"), "2x4", "write `2 4`: spaces separate arguments");
    manifest(&steps("swizzle \"128B\""), "\"128B\"", "write `swizzle mode=\"128B\"`");
    manifest(&steps("swizzle 128B"), "128B", "write `mode=\"128B\"` for a hardware swizzle");
    for (step, word, help) in [
        ("align 64B", "64B", "write `64`"),
        ("align 16KB", "16KB", "write `16384`: 16 KiB in bytes"),
        ("pad c multiple=4Ki", "4Ki", "write `4096`: 4 Ki"),
        ("split c by=8x8", "8x8", "write `8 8`: spaces separate arguments"),
    ] {
        manifest(&steps(step), word, help);
    }
    manifest(
        &steps("tile n=2 c=4"),
        "n",
        "write the tile extents of the last axes, without names: `tile 8 128`",
    );
    manifest(
        "tensor t {\n dtype = f32\n}\n",
        "dtype = f32",
        "write it as a property: `tensor … dtype=f32`",
    );
    manifest(
        "tensor t {\n dtype: f32\n}\n",
        "dtype:",
        "write it as a property of a tensor: `tensor t dtype=f32 { … }`",
    );
    manifest(
        &tensor("layout row-major"),
        "row-major",
        "remove the layout: a tensor without one is row-major",
    );
    manifest(&tensor("memory __shared__"), "__shared__", "did you mean `shared`?");
    manifest(
        &tensor("require contiguous=c"),
        "contiguous",
        "write the axis as an argument: `require contiguous c`",
    );
    let two = "tensor a dtype=f32 { shape { n 4 } }\ntensor b like=a\n";
    manifest(&format!("{two}convert a -> b\n"), "-> b", "write `convert a to=b`");
    let kernel = |value: &str| format!("{two}kernel k {{ compute \"b[n] = {value}\" }}\n");
    manifest(&kernel("a[n] ** 2"), "*", "write a power as `pow(x, 2)`, or as a product: `x * x`");
    manifest(&kernel("relu(a[n])"), "relu", "write `max(x, 0)`");
    let quoted = "write it as one quoted string: `compute \"b[n] = 2 * a[n]\"`";
    manifest(&format!("{two}kernel k {{ b[n] = 2 * a[n] }}\n"), "[", quoted);
}

#[test]
fn a_map_without_quotes_that_lost_its_brace_to_a_comment_is_the_only_fault() {
    let text = "tensor t dtype=f32 {\n shape { n 4; c 8 }\n layout { map (n, c) -> (n, c // 4, c % 4) }\n}\n";
    let help = "write it as one quoted string: `\"(n, c) -> (n, c // 4, c % 4)\"`";
    helps(text, "expr::unquoted", "(", help);
}

#[test]
fn slips_in_foreign_texts_get_the_text_that_was_meant() {
    let row = |layout: &str| found(&tensor(&format!("layout {layout}")))[0].help.join("; ");
    for (layout, help) in [
        ("xla=\"{1,-1}\"", "dimensions count from 0, the first one"),
        ("xla=\"{1,0:T(-1,8)}\"", "write `*`, which merges an axis into the next one"),
        ("xla=\"{1,0:T(8,-1)}\"", "write 1 or more"),
        ("xla=\"[1,0]\"", "write a layout in braces: `{1,0}`"),
        ("xla=\"1,0\"", "write a layout in braces: `{1,0}`"),
        ("xla=\"{1 0}\"", "separate the dimensions by commas: `{1,0}`"),
        ("xla=\"T(8,128)\"", "write it in the braces of a layout: `{1,0:T(8,128)}`"),
        ("einops=\"n c -> n\"", "write `c` on the right side too, where it goes"),
        ("einops=\"n -> n\"", "write 2 parts on the left side, or `...` for the others"),
        ("einops=\"n c => c n\"", "write `->` in place of `=>`"),
        ("einops=\"n c -> c*n\"", "write a product of parts as a group, without a sign: `(h w)`"),
        ("einops=\"n, c -> c, n\"", "separate names by blanks: `b c h w`"),
        ("einops=\"n c -> (c n\"", "close it with `)`"),
        ("einops=\"n c -> c n)\"", "take it out, or open the group with `(`"),
        ("einops=\"n c -> ((c) n)\"", "a group holds only names: `(a b c)`"),
        (
            "einops=\"... c -> c ... ...\"",
            "write `...` once: it matches all axes that are not named",
        ),
        ("einops=\"n (c b) -> n b c\"", "pass the sizes of all but one of them: `b=4`"),
        ("mlir=\"(i, j) -> (i, j / 4)\"", "write a quotient as `d0 floordiv 4`"),
        ("tvm=\"nc4c\"", "write axes as capitals: `NC4c`"),
        ("onednn=\"AB\"", "write axes without blocks as `ab`"),
        ("numpy=\"(8, 1)\"", "strides count bytes; if these count elements, write `(32, 4)`"),
        ("mdspan=\"std::layout_right\"", "leave the namespace out: `layout_right`"),
    ] {
        assert_eq!(row(layout), help, "{layout}");
    }
    let one = "tensor t dtype=f32 { shape { n 1; c 8 }; layout einops=\"n c -> c\" }\n";
    assert_eq!(found(one)[0].help, ["write `1` in place of `n`: its extent is 1"]);
}

#[test]
fn strings_of_other_languages_are_shown_in_double_quotes() {
    let with = |dtype: &str| format!("tensor t dtype={dtype} {{ shape {{ n 4 }} }}\n");
    mends(&with("'f32'"), "write `\"f32\"`", &with("\"f32\""));
    let map = |map: &str| steps(&format!("map {map}"));
    let help = "write it as one quoted string: `\"(n, c) -> (c, n)\"`";
    for quotes in [["'", "'"], ["`", "`"], ["\u{201c}", "\u{201d}"]] {
        let wrong = map(&quotes.join("(n, c) -> (c, n)"));
        let told = found(&wrong);
        assert_eq!(fixed(&wrong, &told), map("\"(n, c) -> (c, n)\""), "{told:#?}");
        assert_eq!(told[0].help, [help]);
    }
}
