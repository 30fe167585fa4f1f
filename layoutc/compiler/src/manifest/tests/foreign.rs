//! Layouts and tensors in foreign notations.

use super::*;
use crate::manifest::syntax::StepKind;

#[test]
fn a_text_stands_behind_a_layout_or_in_it() {
    let text = "tensor a dtype=f32 { shape { n 4 }; layout einops=\"(n p) -> p n\" p=2 }\n\
                tensor b dtype=f32 { shape { n 4 }; layout { notation tvm=\"N2n\"; fill 0 } }";
    let manifest = good(text);
    let step = |tensor: usize| {
        let layout = manifest.tensors[tensor].layout.as_ref().expect("a layout");
        layout.steps[0].kind.clone()
    };
    let StepKind::Foreign { notation, text, sizes } = step(0) else { panic!("no notation") };
    assert_eq!((notation.as_str(), text.value.as_str()), ("einops", "(n p) -> p n"));
    assert_eq!((sizes[0].0.value.as_str(), sizes[0].1.value), ("p", 2));
    let StepKind::Foreign { notation, .. } = step(1) else { panic!("no notation") };
    assert_eq!(notation, "tvm");
}

#[test]
fn a_tensor_takes_all_from_a_text_of_xlas() {
    let manifest = good("tensor a xla=\"bf16[8,16]{1,0:T(2,4)}\" { memory constant }");
    let tensor = &manifest.tensors[0];
    assert_eq!(tensor.dtype.as_ref().map(|text| text.value.as_str()), Some("bf16"));
    let axes = &tensor.shape.as_ref().expect("a shape").axes;
    let names: Vec<&str> = axes.iter().map(|axis| axis.name.value.as_str()).collect();
    assert_eq!(names, ["d0", "d1"]);
    assert!(tensor.memory.is_some());
}

#[test]
fn one_notation_says_it() {
    check(
        "tensor a dtype=f32 { shape { n 4 }; layout tvm=\"N\" glow=\"N\" }\n\
         tensor b dtype=f32 { shape { n 4 }; layout tvm=\"N\" p=2 }\n\
         tensor c dtype=f32 { shape { n 4 }; layout { notation } }\n\
         tensor d dtype=f32 { shape { n 4 }; layout einops=\"n -> n\" n=0 }\n\
         tensor e dtype=f32 tvm=\"N\" { shape { n 4 } }",
        &[
            ("step::form", "glow", "a layout can use only one notation"),
            ("name::unknown", "p", "`tvm=` does not take other properties"),
            ("kdl::missing", "notation", "`notation` needs a layout in a foreign notation"),
            ("kdl::value", "0", "the size of `n` must be a positive integer"),
            ("name::unknown", "tvm", "`tensor` has no property `tvm`"),
        ],
        &[
            "leave one of the two out",
            "leave it out: only `einops=` takes sizes",
            "write it as `notation tvm=\"NCHW16c\"`",
            "write 1 or more",
            "write it on the layout: `layout tvm=\"…\"`",
        ],
    );
}

#[test]
fn a_text_of_xlas_says_what_nothing_else_may_say() {
    check(
        "tensor a dtype=f32 xla=\"f32[4]{0}\"\n\
         tensor b xla=\"f32[4]{0}\" { shape { n 4 } }\n\
         tensor c xla=\"{0}\"\n\
         tensor d xla=\"f33[4]{0}\"",
        &[
            (
                "kdl::twice",
                "dtype",
                "`xla=` already gives the element type, the shape and the layout",
            ),
            (
                "kdl::twice",
                "shape",
                "`xla=` already gives the element type, the shape and the layout",
            ),
            ("kdl::missing", "\"{0}\"", "a tensor needs a type and a shape before its layout"),
            ("notation::value", "f33", "unknown XLA type `f33`"),
        ],
        &[
            "leave this out, or write `layout xla=\"{1,0}\"`",
            "leave this out, or write `layout xla=\"{1,0}\"`",
            "write them: `xla=\"f32[8,128]{1,0}\"`",
            "they are called `f32`, `bf16`, `s8`, `pred`",
        ],
    );
}
