//! Expressions that are not one plain quoted string.

use super::check;

#[test]
fn a_map_without_quotes_before_a_comment_is_told() {
    check(
        "tensor a dtype=f32 { shape { n 4 }\nlayout {\n map n//4\n } }",
        &[("expr::unquoted", "n//", "`//` begins a comment here: the rest of the line is lost")],
        &[
            "write it as one quoted string: `\"n//4\"`",
            "put a space before `//` to begin a comment",
        ],
    );
}

#[test]
fn a_comment_that_swallowed_a_brace_is_the_only_cause_told() {
    check(
        "tensor a dtype=f32 {\n shape { n 4 }\n layout { map n//4 }\n}",
        &[("expr::unquoted", "n//", "`//` begins a comment here: the rest of the line is lost")],
        &[
            "write it as one quoted string: `\"n//4\"`",
            "put a space before `//` to begin a comment",
        ],
    );
}

#[test]
fn a_number_before_a_comment_is_told_too() {
    check(
        "tensor a dtype=f32 { shape {\n n 64//4\n} }",
        &[("expr::unquoted", "64//", "`//` begins a comment here: the rest of the line is lost")],
        &[
            "write it as one quoted string: `\"64//4\"`",
            "put a space before `//` to begin a comment",
        ],
    );
}

#[test]
fn a_map_with_bare_parentheses_is_told() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { map (n, h) -> (n / 4, h) } }",
        &[("expr::unquoted", "(", "unexpected `(` outside quotes")],
        &["write it as one quoted string: `\"(n, h) -> (n / 4, h)\"`"],
    );
}

#[test]
fn a_map_of_one_bare_word_is_told() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { map n%4 } }",
        &[("expr::unquoted", "n%4", "an expression must be one quoted string")],
        &["write `\"n%4\"`"],
    );
}

#[test]
fn a_property_without_quotes_is_told() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { pad n multiple=LANES*2; pad n multiple=n/4 } }",
        &[
            ("expr::unquoted", "LANES*2", "an expression must be one quoted string"),
            ("expr::unquoted", "/", "unexpected `/` outside quotes"),
        ],
        &["write `\"LANES*2\"`", "write it as one quoted string: `\"n/4\"`"],
    );
}

#[test]
fn escapes_in_an_expression_are_refused() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { map \"n \\u{2b} 1\"; map \"(n) \\\\ 2\"; order \"\\u{6e}\" } }",
        &[
            ("expr::escape", "\\u{2b}", "a map cannot contain escapes"),
            ("expr::escape", "\\\\", "a map cannot contain escapes"),
            ("expr::escape", "\\u{6e}", "an axis cannot contain escapes"),
        ],
        &[
            "write `\"n + 1\"`",
            "write `#\"(n) \\ 2\"#`, a raw string without escapes",
            "write `\"n\"`",
        ],
    );
}

#[test]
fn a_map_over_several_lines_is_refused() {
    let string = "\"\"\"\n  n\n  \"\"\"";
    let text = format!("tensor a dtype=f32 {{ shape {{ n 4 }}; layout {{ map {string}\n}} }}");
    let message = "a string must be on one line, in one pair of quotes";
    check(&text, &[("expr::escape", string, message)], &["write it on one line: `\"n\"`"]);
}
