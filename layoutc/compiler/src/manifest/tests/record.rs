//! Records.

use super::{check, good};

#[test]
fn a_record_is_its_fields_in_their_order() {
    let manifest = good("tensor p { dtype { x f32; \"y\" f32 }; shape { n 4; field } }");
    let tensor = &manifest.tensors[0];
    assert_eq!(tensor.dtype, None);
    let record = tensor.record.as_ref().unwrap();
    let fields: Vec<(&str, &str)> = record
        .fields
        .iter()
        .map(|field| (field.name.value.as_str(), field.dtype.value.as_str()))
        .collect();
    assert_eq!(fields, [("x", "f32"), ("y", "f32")]);
}

#[test]
fn a_record_has_a_field() {
    check(
        "tensor p { dtype { }; shape { n 4 } }",
        &[("dtype::record", "{ }", "a record needs at least one field")],
        &["write `dtype { x f32; y f32 }`"],
    );
}

#[test]
fn a_field_is_a_name_with_its_element_type() {
    let message = "a field needs a name and an element type";
    check(
        "tensor p { dtype { x; y f32 f32; z f32 at=0; v { a f32 } }; shape { n 4 } }",
        &[
            ("dtype::record", "x", message),
            ("dtype::record", "y f32 f32", message),
            ("dtype::record", "z f32 at=0", message),
            ("dtype::record", "v { a f32 }", message),
        ],
        &[
            "write `x f32`, each field as a separate node",
            "write `y f32`, each field as a separate node",
            "write `z f32`, each field as a separate node",
            "records cannot be nested: write the inner fields next to the others",
        ],
    );
    check(
        "tensor p { dtype { q u4 count=32 }; shape { n 4 } }",
        &[("dtype::record", "q u4 count=32", message)],
        &["write `q u4 32`"],
    );
    check(
        "tensor p { dtype { x 32; y-z f32 }; shape { n 4 } }",
        &[
            ("kdl::value", "32", "an element type cannot be an integer"),
            ("name::invalid", "y-z", "`y-z` is not a name"),
        ],
        &["write a word or a quoted string", "write `y_z`"],
    );
}

#[test]
fn a_field_stands_once() {
    check(
        "tensor p { dtype { x f32; y f32; x f32 }; shape { n 4 } }",
        &[("name::duplicate", "x", "two fields are called `x`")],
        &["give one of the two another name"],
    );
}

#[test]
fn a_tensor_has_an_element_type_or_a_record() {
    let one = "a tensor can have only one `dtype`";
    check(
        "tensor p dtype=f32 { dtype { x f32 }; shape { n 4 } }",
        &[("kdl::twice", "dtype", one)],
        &["leave one of the two out"],
    );
    check(
        "tensor p { dtype { x f32 }; dtype { y f32 }; shape { n 4 } }",
        &[("kdl::twice", "dtype", one)],
        &["leave one of the two out"],
    );
    check(
        "tensor p xla=\"f32[4]{0}\" { dtype { x f32 } }",
        &[(
            "kdl::twice",
            "dtype",
            "`xla=` already gives the element type, the shape and the layout",
        )],
        &["leave this out, or write `layout xla=\"{1,0}\"`"],
    );
    check(
        "tensor p { dtype f32; shape { n 4 } }",
        &[("name::unknown", "dtype", "unknown node `dtype` in a tensor")],
        &["write it as a property of a tensor: `tensor p dtype=f32 { … }`"],
    );
    check(
        "tensor p { dtype x=f32 { y f32 }; shape { n 4 } }",
        &[("name::unknown", "x", "`dtype` has no property `x`")],
        &["leave it out"],
    );
}
