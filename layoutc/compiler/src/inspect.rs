//! What is known of a tensor.

use serde_json::{Value, json};

use crate::model::Tensor;

/// As JSON.
pub fn tensor_json(tensor: &Tensor) -> Value {
    json!({ "kind": "tensor", "name": tensor.name, "file": tensor.file })
}

/// As text.
pub fn tensor_text(tensor: &Tensor) -> String {
    format!("{}\n", tensor.name)
}
