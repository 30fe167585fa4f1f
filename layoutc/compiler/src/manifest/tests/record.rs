//! Tests of reading record types.

use super::good;

#[test]
fn record_fields_keep_their_order() {
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
