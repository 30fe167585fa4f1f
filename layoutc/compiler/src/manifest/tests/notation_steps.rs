//! Tests of reading layouts and tensors in the notations of other tools.

use layoutc_algebra::notation::Notation;

use super::*;
use crate::manifest::syntax::StepKind;

#[test]
fn notations_are_layout_properties_or_steps() {
    let text = "tensor a dtype=f32 { shape { n 4 }; layout einops=\"(n p) -> p n\" p=2 }\n\
                tensor b dtype=f32 { shape { n 4 }; layout { notation tvm=\"N2n\"; fill 0 } }";
    let manifest = good(text);
    let step = |tensor: usize| {
        let layout = manifest.tensors[tensor].layout.as_ref().expect("a layout");
        layout.steps[0].kind.clone()
    };
    let StepKind::Notation { notation, text, sizes } = step(0) else { panic!("no notation") };
    assert_eq!((notation, text.value.as_str()), (Notation::Einops, "(n p) -> p n"));
    assert_eq!((sizes[0].0.value.as_str(), sizes[0].1.value), ("p", 2));
    let StepKind::Notation { notation, .. } = step(1) else { panic!("no notation") };
    assert_eq!(notation, Notation::Tvm);
}

#[test]
fn xla_shape_defines_dtype_and_axes() {
    let manifest = good("tensor a xla=\"bf16[8,16]{1,0:T(2,4)}\" { memory constant }");
    let tensor = &manifest.tensors[0];
    assert_eq!(tensor.dtype.as_ref().map(|text| text.value.as_str()), Some("bf16"));
    let axes = &tensor.shape.as_ref().expect("a shape").axes;
    let names: Vec<&str> = axes.iter().map(|axis| axis.name.value.as_str()).collect();
    assert_eq!(names, ["d0", "d1"]);
    assert!(tensor.memory.is_some());
}
