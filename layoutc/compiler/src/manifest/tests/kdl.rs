//! KDL syntax errors, independent of the nodes.

use super::check;

#[test]
fn an_unclosed_brace_gives_one_diagnostic() {
    check(
        "tensor a dtype=f32 { shape { n 16 }\ntensor b dtype=f32 { shape { n 16 } }",
        &[("kdl::syntax", "{", "unclosed block")],
        &["close it with `}`"],
    );
}

#[test]
fn a_brace_too_many_gives_one_diagnostic() {
    check(
        "tensor a dtype=f32 {\n    shape { n 16 } }\n    layout t\n}",
        &[("kdl::syntax", "}", "unmatched `}`")],
        &["remove it, or an earlier `}` that closes a block too early"],
    );
}

#[test]
fn a_string_without_an_end_does_not_blame_the_braces_it_swallowed() {
    check(
        "tensor a dtype=\"f32 {\n    shape { n 16 }\n}",
        &[("kdl::syntax", "\"f32 {", "this string is not closed on its line")],
        &["close it with `\"`"],
    );
}

#[test]
fn a_string_in_triple_quotes_without_an_end_is_told_at_its_beginning() {
    check(
        "use \"\"\"\nabc\n",
        &[("kdl::syntax", "\"\"\"\nabc\n", "unclosed string")],
        &["close it with `\"\"\"`"],
    );
}

#[test]
fn a_raw_string_without_an_end_is_told_on_its_line() {
    check(
        "use #\"abc\"\n",
        &[("kdl::syntax", "#\"abc\"", "this string is not closed on its line")],
        &["close it with `\"#`"],
    );
}

#[test]
fn a_comment_without_an_end_is_told_at_its_beginning() {
    check(
        "const A 1 /* x /* y */",
        &[("kdl::syntax", "/*", "unclosed comment")],
        &["close it with `*/`; comments nest"],
    );
}

#[test]
fn nul_bidi_and_inner_bom_are_refused() {
    check(
        "const A\u{0} 1\nconst B \"x\u{202e}y\"\n// \u{200f}\n/* \u{feff} */",
        &[
            ("kdl::character", "\0", "the character U+0000 is not allowed in a manifest"),
            ("kdl::character", "\u{202e}", "the character U+202E is not allowed in a manifest"),
            ("kdl::character", "\u{200f}", "the character U+200F is not allowed in a manifest"),
            ("kdl::character", "\u{feff}", "the character U+FEFF is not allowed in a manifest"),
        ],
        &[
            "remove it: it is invisible or changes the text direction",
            "remove it: it is invisible or changes the text direction",
            "remove it: it is invisible or changes the text direction",
            "remove it: it is invisible or changes the text direction",
        ],
    );
}

#[test]
fn a_block_without_a_name_is_refused() {
    check(
        "{ a }",
        &[("kdl::syntax", "{", "block without a node name")],
        &["write the `{` on the line of its node"],
    );
}

#[test]
fn a_second_block_is_refused() {
    check(
        "tensor a dtype=f32 { shape {} } { x }",
        &[("kdl::syntax", "{", "a node can have only one block")],
        &["write all its nodes in one block"],
    );
}

#[test]
fn a_node_behind_a_block_needs_a_semicolon() {
    check(
        "tensor a dtype=f32 { shape { n 4 } layout { fill 0 } }",
        &[("kdl::syntax", "layout", "unexpected word after the block of a node")],
        &["write `;` before the next node, or begin a new line"],
    );
    check(
        "tensor a { shape { n 4 } } dtype=f32",
        &[
            ("kdl::missing", "tensor a", "`tensor` needs an element type"),
            ("kdl::syntax", "dtype", "unexpected word after the block of a node"),
        ],
        &["write `dtype=f32`, or `like=` another tensor", "write it before the block"],
    );
}

#[test]
fn slash_dash_with_nothing_behind_it_is_refused() {
    check(
        "const A 1\n/-",
        &[("kdl::syntax", "/-", "nothing follows this `/-`")],
        &["remove it, or write it before a node"],
    );
}

#[test]
fn an_integer_beyond_128_bits_is_told_by_its_digits() {
    check(
        "const A 1234567890123456789012345678901234567890\nconst B -170141183460469231731687303715884105728",
        &[
            (
                "kdl::number",
                "1234567890123456789012345678901234567890",
                "an integer of 40 digits does not fit 128 bits",
            ),
            (
                "kdl::number",
                "-170141183460469231731687303715884105728",
                "an integer of 39 digits does not fit 128 bits",
            ),
        ],
        &["write a smaller number"; 2],
    );
}

#[test]
fn a_float_beyond_64_bits_is_refused() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { fill 1e999999999 } }",
        &[("kdl::number", "1e999999999", "`1e999999999` is larger than any 64-bit float")],
        &["write a smaller number"],
    );
}

#[test]
fn a_float_of_very_many_digits_is_refused() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { fill 0.333333333333333333333333333333333333333 } }",
        &[(
            "kdl::number",
            "0.333333333333333333333333333333333333333",
            "`0.33333333333333333333333333333333333333…` has more digits than a number can hold",
        )],
        &["write at most 38 digits before the point and 38 after it"],
    );
}

#[test]
fn a_malformed_number_is_refused() {
    check(
        "const A 0x\nconst B 12ab\nconst C 1.\nconst D 0b12\nconst E 3,",
        &[
            ("kdl::number", "0x", "`0x` is not a number"),
            ("kdl::number", "12ab", "`12ab` is not a number"),
            ("kdl::number", "1.", "`1.` is not a number"),
            ("kdl::number", "0b12", "`0b12` is not a number"),
            ("kdl::number", "3,", "`3,` is not a number"),
        ],
        &[
            "write only digits, a name that begins with a letter, or a quoted string",
            "write only digits, a name that begins with a letter, or a quoted string",
            "write only digits, a name that begins with a letter, or a quoted string",
            "write only digits, a name that begins with a letter, or a quoted string",
            "write `3`: spaces separate arguments, `;` separates nodes",
        ],
    );
}

#[test]
fn a_number_cannot_be_a_name() {
    check(
        "5x 4\nlayout 4=5",
        &[
            ("kdl::syntax", "5x", "expected a name, found the number `5x`"),
            ("kdl::syntax", "4", "expected a name, found the number `4`"),
        ],
        &["begin the name with a letter or `_`"; 2],
    );
}

#[test]
fn kdl_1_keywords_and_raw_strings_get_a_hint() {
    check(
        "tensor a dtype=true\nuse r\"abc\"\nuse r#\"abc\"#",
        &[
            ("kdl::syntax", "true", "`true` is a keyword"),
            ("kdl::syntax", "r", "`r` does not begin a raw string"),
            ("kdl::syntax", "r", "`r` does not begin a raw string"),
        ],
        &[
            "KDL 2 writes it `#true`",
            "KDL 1 wrote keywords without `#`; manifests are KDL 2",
            "KDL 1 wrote `r\"…\"`; KDL 2 writes `#\"…\"#`",
            "KDL 1 wrote `r\"…\"`; KDL 2 writes `#\"…\"#`",
        ],
    );
}

#[test]
fn an_unknown_keyword_is_refused() {
    check(
        "use #tru",
        &[("kdl::syntax", "#tru", "`#tru` is not a KDL keyword")],
        &["did you mean `#true`?"],
    );
}

#[test]
fn an_unknown_escape_is_refused() {
    check(
        "use \"a\\q\"\nuse \"\\u{zz}\"",
        &[
            ("kdl::syntax", "\\q", "`\\q` is not a KDL escape sequence"),
            ("kdl::syntax", "\\u", "`\\u` is not a KDL escape sequence"),
        ],
        &[
            "use a raw string, `#\"…\"#`, which has no escapes",
            "use a raw string, `#\"…\"#`, which has no escapes",
        ],
    );
}

#[test]
fn words_without_a_blank_between_them_are_refused() {
    check(
        "use \"a\"b",
        &[("kdl::syntax", "\"a\"b", "missing space between two words")],
        &["write `\"a\" b`"],
    );
}

#[test]
fn a_property_without_a_value_is_refused() {
    check(
        "symbol s min=\nsymbol t min= =1",
        &[
            ("kdl::syntax", "=", "misplaced `=`: it belongs between a property and its value"),
            ("kdl::syntax", "=", "misplaced `=`: it belongs between a property and its value"),
        ],
        &["write `name=value`, or leave the `=` out"; 2],
    );
}

#[test]
fn a_property_in_the_place_of_a_node_is_refused() {
    check(
        "n = 1",
        &[("kdl::syntax", "n = 1", "expected a space after the node name `n`")],
        &["write `n 1`"],
    );
}

#[test]
fn a_backslash_within_a_line_is_refused() {
    check(
        "const A \\ 1",
        &[(
            "kdl::syntax",
            "\\",
            "a `\\` outside quotes continues a line and must be its last character",
        )],
        &["leave it out, or begin a new line after it"],
    );
}

#[test]
fn a_string_in_triple_quotes_has_no_use() {
    let message = "a string must be on one line, in one pair of quotes";
    let text = "use \"\"\"a\"\"\"";
    let help = ["write it on one line: `\"a\"`"];
    check(text, &[("expr::escape", "\"\"\"a\"\"\"", message)], &help);
}
