//! Shapes, extents, labels and names.

use super::check;

#[test]
fn axes_as_properties_get_the_corrected_line() {
    check(
        "tensor a dtype=f32 { shape n=1 h=2 }",
        &[("shape::form", "n=1 h=2", "axes are nodes in a block: properties have no order")],
        &["write `shape { n 1; h 2 }`"],
    );
}

#[test]
fn axes_as_numbers_get_the_corrected_line() {
    check(
        "tensor a dtype=f32 { shape 1 2 }",
        &[("shape::form", "1 2", "axes are nodes in a block: each has a name")],
        &["write `shape { d0 1; d1 2 }`"],
    );
}

#[test]
fn axes_as_arguments_get_the_corrected_line() {
    check(
        "tensor a dtype=f32 { shape n 1 h 2 }",
        &[("shape::form", "n 1 h 2", "axes are nodes in a block: each has a name")],
        &["write `shape { n 1; h 2 }`"],
    );
}

#[test]
fn two_axes_on_one_node_get_the_corrected_line() {
    check(
        "tensor a dtype=f32 { shape { n 1; h 2 w 3 } }",
        &[(
            "shape::form",
            "h 2 w 3",
            "each axis is a separate node: separate them with `;` or a new line",
        )],
        &["write `shape { n 1; h 2; w 3 }`"],
    );
}

#[test]
fn an_axis_with_an_equals_sign_gets_the_corrected_line() {
    check(
        "tensor a dtype=f32 { shape { n=1; h 2 } }",
        &[("shape::form", "n=1", "expected a space after the node name `n`")],
        &["write `n 1`"],
    );
}

#[test]
fn an_axis_with_a_property_gets_the_corrected_line() {
    check(
        "tensor a dtype=f32 { shape { f { x; y }; n 1 h=2 } }",
        &[(
            "shape::form",
            "n 1 h=2",
            "each axis is a separate node: separate them with `;` or a new line",
        )],
        &["write `shape { f { x; y }; n 1; h 2 }`"],
    );
}

#[test]
fn a_negative_extent_is_refused() {
    check(
        "tensor a dtype=f32 { shape { n -1 } }",
        &[("shape::extent", "-1", "an extent cannot be negative: -1")],
        &[
            "write 0 or more",
            "declare an extent known only at run time as a symbol: `symbol batch max=4096`",
        ],
    );
}

#[test]
fn a_fractional_extent_is_refused() {
    check(
        "tensor a dtype=f32 { shape { n 2.5 } }",
        &[("shape::extent", "2.5", "an extent cannot be a number with a fraction or an exponent")],
        &["write an integer, or an expression in quotes"],
    );
}

#[test]
fn a_number_in_quotes_is_no_extent() {
    check(
        "tensor a dtype=f32 { shape { n \"64\"; h \"\"; w \"-1\" } }",
        &[
            ("shape::extent", "\"64\"", "an extent must be a number, not a string"),
            ("shape::extent", "\"\"", "an extent is empty"),
            ("shape::extent", "\"-1\"", "an extent must be a number, not a string"),
        ],
        &["write `64`", "write an integer, or an expression in quotes", "write `-1`"],
    );
}

#[test]
fn other_values_are_no_extents() {
    check(
        "tensor a dtype=f32 { shape { n #true; h #null } }",
        &[
            ("shape::extent", "#true", "an extent cannot be a boolean"),
            ("shape::extent", "#null", "an extent cannot be `#null`"),
        ],
        &["write an integer, or an expression in quotes"; 2],
    );
}

#[test]
fn an_axis_without_an_extent_is_told() {
    check(
        "tensor a dtype=f32 { shape { n } }",
        &[("shape::extent", "n", "axis `n` has no extent")],
        &["write `n 64`"],
    );
}

#[test]
fn an_extent_of_40_digits_is_refused() {
    check(
        "tensor a dtype=f32 { shape { n 1234567890123456789012345678901234567890 } }",
        &[(
            "kdl::number",
            "1234567890123456789012345678901234567890",
            "an integer of 40 digits does not fit 128 bits",
        )],
        &["write a smaller number"],
    );
}

#[test]
fn two_axes_of_one_name_are_refused() {
    check(
        "tensor a dtype=f32 { shape { n 1; h 2; n 3 } }",
        &[("name::duplicate", "n", "two axes are called `n`")],
        &["give one of the two another name, such as `n_2`"],
    );
}

#[test]
fn labels_are_names_alone() {
    check(
        "tensor a dtype=f32 { shape { f { x 1; y { } }; g {}; h 3 { a } } }",
        &[
            ("shape::labels", "x 1", "a label must be a single name"),
            ("shape::labels", "y { }", "a label must be a single name"),
            ("shape::labels", "g {}", "axis `g` has no labels"),
            ("shape::labels", "h 3 { a }", "axis `h` has both an extent and labels"),
        ],
        &[
            "write `field { x; y; z }`",
            "write `field { x; y; z }`",
            "write `g { x; y; z }`, or an extent: `g 64`",
            "leave the extent out: it is 1, the number of labels",
        ],
    );
}

#[test]
fn two_labels_of_one_name_are_refused() {
    check(
        "tensor a dtype=f32 { shape { f { x; x } } }",
        &[("name::duplicate", "x", "two labels are called `x`")],
        &["give one of the two another name"],
    );
}

#[test]
fn a_shape_needs_a_block() {
    check(
        "tensor a dtype=f32 { shape  }",
        &[("kdl::missing", "shape", "`shape` needs a block")],
        &["write it as `shape { n 16; c 4 }`"],
    );
}

#[test]
fn an_empty_name_is_refused() {
    check(
        "tensor a dtype=f32 { shape { \"\" 4 } }",
        &[("name::invalid", "\"\"", "empty name")],
        &["choose another name, such as `input_2`"],
    );
}

#[test]
fn a_name_with_a_comma_gets_a_hint() {
    check(
        "tensor a dtype=f32 { shape { h, 4 } }",
        &[("name::invalid", "h,", "`h,` is not a name")],
        &["write `h`: spaces separate arguments, `;` separates nodes"],
    );
}

#[test]
fn a_confusable_letter_is_shown_by_its_code() {
    check(
        "tensor a dtype=f32 { shape { \u{430}b 4 } }",
        &[("name::invalid", "\u{430}b", "`U+0430b` is not a name")],
        &["choose another name, such as `input_2`"],
    );
}

#[test]
fn a_name_of_more_than_128_characters_is_refused() {
    check(
        "tensor a dtype=f32 { shape { aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 4 } }",
        &[(
            "name::invalid",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "a name of 129 characters is too long: the limit is 128",
        )],
        &["choose another name, such as `input_2`"],
    );
}
