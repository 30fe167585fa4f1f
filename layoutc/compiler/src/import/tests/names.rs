//! Names in the manifest, and their map to names in the model.

use super::fixtures::{constant, imported, model, node, turn, with_constants};
use crate::import::proto;

#[test]
fn import_map_has_model_names_and_folded_values() {
    let mut named = node("Relu", &["x"], &["conv1/out:0"]);
    named.name = "conv1/relu".to_owned();
    let nodes = vec![
        named,
        turn("conv1/out:0", "t", &[0, 2, 3, 1]),
        node("Identity", &["half"], &["h"]),
        node("Add", &["half", "h"], &["one"]),
        node("Mul", &["t", "one"], &["y"]),
    ];
    let half = proto::OnnxTensor {
        dims: vec![1],
        data_type: 1,
        float_data: vec![0.1],
        ..constant("half", &[])
    };
    let found = imported(&with_constants(model(nodes), vec![half])).unwrap();
    assert!(
        found.text.contains("    // \"conv1/relu\"\n    node conv1_relu op=Relu {\n"),
        "{}",
        found.text
    );
    assert!(
        found.text.contains("        // \"conv1/out:0\"; as NHWC \"t\"\n        out conv1_out_0 "),
        "{}",
        found.text
    );
    let wanted = serde_json::json!({
        "nodes": [
            { "name": "conv1_relu", "model": "conv1/relu", "op": "Relu" },
            { "name": "Mul_y", "model": "", "op": "Mul" },
        ],
        "tensors": [
            { "model": "one", "name": "one", "axes": ["C"] },
            { "model": "x", "name": "x", "axes": ["N", "C", "H", "W"] },
            { "model": "conv1/out:0", "name": "conv1_out_0", "axes": ["N", "C", "H", "W"] },
            { "model": "t", "name": "conv1_out_0", "axes": ["N", "H", "W", "C"] },
            { "model": "y", "name": "y", "axes": ["N", "H", "W", "C"] },
        ],
        "constants": [
            { "name": "one", "model": "one", "source": "elements", "elements": [0.2] },
        ],
    });
    let sorted = |value: &serde_json::Value, key: &str| {
        let mut list = value[key].as_array().unwrap().clone();
        list.sort_by_key(ToString::to_string);
        list
    };
    for key in ["nodes", "tensors", "constants"] {
        assert_eq!(sorted(&found.map, key), sorted(&wanted, key), "{}", found.map);
    }
}

#[test]
fn model_names_become_valid_manifest_names() {
    let mut named = node("Relu", &["x"], &["int"]);
    named.name = "/layer.1/Relu".to_owned();
    let nodes = vec![
        named,
        node("Relu", &["int"], &["7"]),
        node("Neg", &["7"], &["a:0"]),
        node("Neg", &["a:0"], &["A.0"]),
        node("Abs", &["A.0"], &["é"]),
        node("Abs", &["é"], &["y"]),
    ];
    let text = imported(&model(nodes)).unwrap().text;
    for part in [
        "node layer_1_Relu op=Relu",
        "out int_2 ",
        "out t7 ",
        "out a_0 ",
        "out A_0_2 ",
        "out tensor ",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}
