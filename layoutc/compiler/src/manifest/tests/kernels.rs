//! Malformed kernels and instances.

use super::check;

#[test]
fn a_kernel_needs_a_block_with_a_statement() {
    check(
        "kernel k\nkernel l { range r 3 }\nkernel m { compute b }\nkernel n { compute \"\" }",
        &[
            ("kdl::missing", "kernel k", "`kernel` needs a block"),
            ("kdl::missing", "kernel l", "`kernel` needs a `compute`"),
            ("expr::unquoted", "b", "an expression must be one quoted string"),
            ("kdl::value", "\"\"", "the statement is empty"),
        ],
        &[
            "write it as `kernel copy { compute \"b[i] = a[i]\" }`",
            "add a statement: `compute \"b[i] = 2 * a[i]\"`",
            "write `\"b\"`",
            "write it as `compute \"b[i] = 2 * a[i]\"`",
        ],
    );
}

#[test]
fn what_stands_once_in_a_kernel_is_given_once() {
    check(
        "kernel k { compute \"b[i] = 1\"; compute \"c[i] = 1\"; acc f32; acc f64; operands A A of; range r 1; range r 2\n\
         local T dtype=f32; local T dtype=f32; loops i; loops j; split i by=2; split i by=4; unroll i i; accumulate 1 }",
        &[
            ("kdl::twice", "acc", "duplicate node `acc`"),
            ("kdl::twice", "A", "duplicate operand `A`"),
            ("name::reserved", "of", "an operand cannot be named `of`"),
            ("kdl::twice", "r", "duplicate range `r`"),
            ("kdl::twice", "T", "duplicate local tensor `T`"),
            ("kdl::twice", "loops", "duplicate node `loops`"),
            ("kdl::twice", "i", "duplicate loop `i`"),
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
            ("name::unknown", "memory", "unknown node `memory` in a local tensor"),
            ("name::unknown", "shape", "unknown node `shape` in a local tensor"),
        ],
        &["write it as `local T dtype=f32`", "move it into a tensor", "move it into a tensor"],
    );
}

#[test]
fn an_instance_is_of_a_kernel_and_has_a_schedule() {
    check(
        "instance i A=a\ninstance j of=k { compute \"b\"; lops i; split i; tile h w by=4; vectorize i j }\nloops i",
        &[
            ("kdl::missing", "instance i A=a", "`instance` needs `of=`"),
            ("name::unknown", "compute", "unknown node `compute` in an instance"),
            ("name::unknown", "lops", "unknown node `lops` in an instance"),
            ("kdl::missing", "split i", "`split` needs `by=`"),
            ("kdl::value", "4", "`tile` names 2 loops, but `by` has 1"),
            ("kdl::surplus", "j", "`vectorize` takes one argument"),
            ("name::unknown", "loops", "unknown node `loops` in a manifest"),
        ],
        &[
            "write it as `instance conv_nchw of=conv A=input W=filters B=output`",
            "move it into a kernel",
            "did you mean `loops`?",
            "write it as `split w by=8`",
            "give one number for each loop: `tile h w by=\"4 8\"`",
            "write it as `vectorize w`",
            "move it into a kernel",
        ],
    );
}
