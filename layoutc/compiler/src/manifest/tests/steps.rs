//! Steps of a layout.

use super::check;

#[test]
fn an_unknown_step_gets_the_nearest() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { splt n by=4 } }",
        &[("name::unknown", "splt", "unknown node `splt` in a layout")],
        &["did you mean `split`?"],
    );
}

#[test]
fn a_step_without_arguments_is_refused() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { order; split by=4; fuse n; tile; strides; axis-separators; map; apply } }",
        &[
            ("kdl::missing", "order", "`order` needs at least 1 argument"),
            ("kdl::missing", "split by=4", "`split` needs one argument"),
            ("kdl::missing", "fuse n", "`fuse` needs at least 2 arguments"),
            ("kdl::missing", "tile", "`tile` needs at least 1 argument"),
            ("kdl::missing", "strides", "`strides` needs at least 1 argument"),
            ("kdl::missing", "axis-separators", "`axis-separators` needs at least 1 argument"),
            ("kdl::missing", "map", "`map` needs one argument"),
            ("kdl::missing", "apply", "`apply` needs one argument"),
        ],
        &[
            "write it as `order AXIS…`",
            "write it as `split AXIS by=4`",
            "write it as `fuse AXIS AXIS… as=NAME`",
            "write it as `tile 8 128`",
            "write it as `strides 1056 1`",
            "write it as `axis-separators AXIS…`",
            "write it as `map \"(n, c) -> (n, c // 4, c % 4)\"`",
            "write it as `apply NAME`",
        ],
    );
}

#[test]
fn a_step_with_too_many_arguments_is_refused() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { map \"n\" 1; pad n 4; align n 4 5 } }",
        &[
            ("kdl::surplus", "1", "`map` takes one argument"),
            ("kdl::surplus", "4", "`pad` takes one argument"),
            ("kdl::surplus", "5", "`align` takes one or two arguments"),
        ],
        &[
            "write it as `map \"(n, c) -> (n, c // 4, c % 4)\"`",
            "write it as `pad AXIS multiple=8`",
            "write it as `align 64`",
        ],
    );
}

#[test]
fn a_step_takes_no_block() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { order n { x } } }",
        &[("kdl::surplus", "{ x }", "`order` takes no block")],
        &["write it as `order AXIS…`"],
    );
}

#[test]
fn a_split_needs_by() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { split n; split n by=\"\"; split n by=4 into=\"a 4b\" } }",
        &[
            ("kdl::missing", "split n", "`split` needs `by=`"),
            ("kdl::value", "\"\"", "`by` is empty"),
            ("name::invalid", "4b", "`4b` is not a name"),
        ],
        &["write it as `split AXIS by=4`", "write one or more, separated by spaces", "write `_4b`"],
    );
}

#[test]
fn a_fused_axis_has_a_name() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { fuse n c as=\"x y\" } }",
        &[("name::invalid", "x y", "`x y` is not a name")],
        &["write `x_y`"],
    );
}

#[test]
fn a_tile_takes_integers_and_names() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { tile 8 1.5; tile 8 as=4 } }",
        &[
            (
                "kdl::value",
                "1.5",
                "a tile's extent cannot be a number with a fraction or an exponent",
            ),
            ("kdl::value", "4", "`as` cannot be an integer"),
        ],
        &["write an integer, or an expression in quotes", "write a word or a quoted string"],
    );
}

#[test]
fn a_pad_needs_one_way_to_pad() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { pad n; pad n multiple=4 before=2; pad n after=1.5 } }",
        &[
            ("kdl::missing", "pad n", "`pad` needs `multiple=`, `before=` or `after=`"),
            (
                "step::form",
                "pad n multiple=4 before=2",
                "`pad` takes either `multiple=`, or `before=` and `after=`",
            ),
            ("kdl::value", "1.5", "`after` cannot be a number with a fraction or an exponent"),
        ],
        &[
            "write it as `pad AXIS multiple=8`",
            "write two `pad` steps",
            "write an integer, or an expression in quotes",
        ],
    );
}

#[test]
fn an_alignment_has_an_axis_or_an_origin() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { align n 64 at=origin; align 64 at=start; align #true } }",
        &[
            ("step::form", "align n 64 at=origin", "`align` takes either an axis or `at=`"),
            ("name::unknown", "start", "unknown value `start` for `at`"),
            ("kdl::value", "#true", "an alignment cannot be a boolean"),
        ],
        &[
            "write two `align` steps",
            "write `origin`",
            "write an integer, or an expression in quotes",
        ],
    );
}

#[test]
fn a_fill_is_a_number_or_none() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { fill zero; fill #null } }",
        &[
            ("name::unknown", "zero", "`fill` must be a number or `none`, not `zero`"),
            ("kdl::value", "#null", "`fill` cannot be `#null`"),
        ],
        &["write `fill 0`, or `fill none` to leave padding as it is", "write a number or `none`"],
    );
}

#[test]
fn padding_is_forbidden_or_allowed() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { padding maybe } }",
        &[("name::unknown", "maybe", "unknown value `maybe` for `padding`")],
        &["write `forbid` or `allow`"],
    );
}

#[test]
fn a_separator_is_a_name_or_a_position() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { axis-separators -1; axis-separators 1.5 } }",
        &[
            ("kdl::value", "-1", "a position cannot be negative: -1"),
            (
                "kdl::value",
                "1.5",
                "a storage axis cannot be a number with a fraction or an exponent",
            ),
        ],
        &["write 0 or more, or the name of an axis", "write a word or a quoted string"],
    );
}

#[test]
fn the_arguments_of_a_transform_are_integers_or_names() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { apply t x=1.5 \"4y\"=3 } }",
        &[
            ("kdl::value", "1.5", "`x` cannot be a number with a fraction or an exponent"),
            ("name::invalid", "4y", "`4y` is not a name"),
        ],
        &["write an integer, or an expression in quotes", "write `_4y`"],
    );
}

#[test]
fn arguments_in_parentheses_or_between_commas_are_to_be_parted_by_blanks() {
    let step =
        |step: &str| format!("tensor a dtype=f32 {{ shape {{ n 4; c 4 }}; layout {{ {step} }} }}");
    for (written, meant) in
        [("tile (2 2)", "tile 2 2"), ("tile (2, N)", "tile 2 N"), ("order (c, n)", "order c n")]
    {
        check(
            &step(written),
            &[("expr::unquoted", "(", "unexpected `(` outside quotes")],
            &[&format!("write `{meant}`: spaces separate arguments")],
        );
    }
    check(
        &step("tile 2,2"),
        &[("kdl::number", "2,2", "`2,2` is not a number")],
        &["write `2 2`: spaces separate arguments"],
    );
}

#[test]
fn a_map_for_the_name_of_a_transform_goes_into_a_block() {
    let message = "expected the name of a transform, found a map";
    check(
        "tensor a dtype=f32 { shape { n 4; c 4 }; layout \"(n, c) -> (c, n)\" }",
        &[("name::invalid", "\"(n, c) -> (c, n)\"", message)],
        &["write `layout { map \"(n, c) -> (c, n)\" }`"],
    );
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout { apply \"(n) -> (n)\" } }",
        &[("name::invalid", "\"(n) -> (n)\"", message)],
        &["write `map \"(n) -> (n)\"`"],
    );
}

#[test]
fn a_swizzle_is_three_numbers_with_their_unit_or_a_mode() {
    let steps =
        |text: &str| format!("tensor a dtype=f32 {{ shape {{ n 8 }}; layout {{ {text} }} }}");
    check(&steps("swizzle 3 4 3 unit=bytes"), &[], &[]);
    check(&steps("swizzle 2 2 -3 unit=elements"), &[], &[]);
    check(&steps("swizzle mode=\"128B\""), &[], &[]);
    check(
        &steps("swizzle 3 4 3"),
        &[("kdl::missing", "swizzle 3 4 3", "`swizzle` needs `unit=bytes` or `unit=elements`")],
        &["write `unit=bytes` for hardware swizzles, `unit=elements` for CuTe's"],
    );
    check(
        &steps("swizzle 3 4 unit=bytes"),
        &[("kdl::missing", "swizzle 3 4 unit=bytes", "`swizzle` needs three numbers, or `mode=`")],
        &["write it as `swizzle 3 4 3 unit=bytes`"],
    );
    check(
        &steps("swizzle mode=\"16B\""),
        &[("name::unknown", "\"16B\"", "unknown value `16B` for `mode`")],
        &["write `\"32B\"`, `\"64B\"` or `\"128B\"`"],
    );
    check(
        &steps("swizzle 3 4 3 unit=bits"),
        &[("name::unknown", "bits", "unknown value `bits` for `unit`")],
        &["write `bytes` or `elements`"],
    );
    check(
        &steps("swizzle 3 4 3 mode=\"128B\""),
        &[(
            "step::form",
            "swizzle 3 4 3 mode=\"128B\"",
            "`swizzle` takes either three numbers and `unit=`, or `mode=`",
        )],
        &["leave `mode=` out, or all the others"],
    );
    check(
        &steps("swizzle 3 x 3 unit=bytes"),
        &[("kdl::value", "x", "a swizzle takes three integers: bits, base and shift")],
        &["write it as `swizzle 3 4 3 unit=bytes`"],
    );
}

#[test]
fn names_with_commas_are_arguments_of_their_own() {
    check(
        "tensor a dtype=f32 { shape { n 4; c 4 }; layout { order \"n, c\"; axis-separators n,c } }",
        &[
            ("name::invalid", "\"n, c\"", "`n, c` is not a name"),
            ("name::invalid", "n,c", "`n,c` is not a name"),
        ],
        &["write each as a separate argument: `n c`", "write each as a separate argument: `n c`"],
    );
}

#[test]
fn a_mode_that_is_meant_is_written_in_quotes() {
    check(
        "tensor a dtype=f32 { shape { n 8 }; layout { swizzle mode=\"128\" } }",
        &[("name::unknown", "\"128\"", "unknown value `128` for `mode`")],
        &["did you mean `\"128B\"`?"],
    );
}
