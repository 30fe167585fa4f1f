//! Kernels and instances that are not written as they are to be.

use super::check;

#[test]
fn a_kernel_needs_a_block_with_a_statement() {
    check(
        "kernel k\nkernel l { range r 3 }\nkernel m { compute b }\nkernel n { compute \"\" }",
        &[
            ("kdl::missing", "kernel k", "`kernel` needs a block"),
            ("kdl::missing", "kernel l", "`kernel` needs a `compute`"),
            ("expr::unquoted", "b", "an expression is one quoted string"),
            ("kdl::value", "\"\"", "what is computed is empty"),
        ],
        &[
            "it is written `kernel copy { compute \"b[i] = a[i]\" }`",
            "write what it does: `compute \"b[i] = 2 * a[i]\"`",
            "write `\"b\"`",
            "it is written `compute \"b[i] = 2 * a[i]\"`",
        ],
    );
}

#[test]
fn what_stands_once_in_a_kernel_is_given_once() {
    check(
        "kernel k { compute \"b[i] = 1\"; compute \"c[i] = 1\"; acc f32; acc f64; operands A A of; range r 1; range r 2\n\
         local T dtype=f32; local T dtype=f32; loops i; loops j; split i by=2; split i by=4; unroll i i; accumulate 1 }",
        &[
            ("kdl::twice", "acc", "`acc` is given twice"),
            ("kdl::twice", "A", "the operand `A` is given twice"),
            ("name::reserved", "of", "no operand can be called `of`"),
            ("kdl::twice", "r", "the range of `r` is given twice"),
            ("kdl::twice", "T", "the local tensor `T` is given twice"),
            ("kdl::twice", "loops", "`loops` is given twice"),
            ("kdl::twice", "i", "`i` is given twice"),
            ("kdl::value", "1", "`accumulate` cannot be an integer"),
        ],
        &[
            "leave one of the two out",
            "leave one of the two out",
            "give it another name",
            "leave one of the two out",
            "leave one of the two out",
            "leave one of the two out",
            "leave one of the two out",
            "write `#true` or `#false`",
        ],
    );
}

#[test]
fn a_local_tensor_has_an_element_type_and_a_layout() {
    check(
        "kernel k { compute \"b[i] = 1\"; local T { memory shared }; local U dtype=f32 { shape { i 4 } } }",
        &[
            ("kdl::missing", "local T", "`local` needs an element type"),
            ("name::unknown", "memory", "`memory` is nothing that stands in a local tensor"),
            ("name::unknown", "shape", "`shape` is nothing that stands in a local tensor"),
        ],
        &["it is written `local T dtype=f32`", "it stands in a tensor", "it stands in a tensor"],
    );
}

#[test]
fn an_instance_is_of_a_kernel_and_has_a_schedule() {
    check(
        "instance i A=a\ninstance j of=k { compute \"b\"; lops i; split i; tile h w by=4; vectorize i j }\nloops i",
        &[
            ("kdl::missing", "instance i A=a", "`instance` needs `of=`"),
            ("name::unknown", "compute", "`compute` is nothing that stands in an instance"),
            ("name::unknown", "lops", "`lops` is nothing that stands in an instance"),
            ("kdl::missing", "split i", "`split` needs `by=`"),
            ("kdl::value", "4", "2 loops, and 1 in `by`"),
            ("kdl::surplus", "j", "`vectorize` takes one argument"),
            ("name::unknown", "loops", "`loops` is nothing that stands in a manifest"),
        ],
        &[
            "it is written `instance conv_nchw of=conv A=input W=filters B=output`",
            "it stands in a kernel",
            "did you mean `loops`?",
            "it is written `split w by=8`",
            "give one number for each loop: `tile h w by=\"4 8\"`",
            "it is written `vectorize w`",
            "it stands in a kernel",
        ],
    );
}
