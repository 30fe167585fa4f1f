//! Models that are refused, and corrupted ones.

use prost::Message;

use layoutc_testing::Random;

use super::fixtures::{along, constant, ints, model, node, options, refused, with_constants};
use crate::base::codes::Code;
use crate::import::{ImportError, MAX_PARTS, import_onnx, proto};

#[test]
fn unsupported_models_are_reported() {
    let with = |node: proto::OnnxNode, attribute: proto::OnnxAttribute| proto::OnnxNode {
        attribute: vec![attribute],
        ..node
    };
    let body = proto::OnnxAttribute {
        name: "body".to_owned(),
        g: Some(Box::default()),
        ..proto::OnnxAttribute::default()
    };
    let text = proto::OnnxTensor {
        name: "w".to_owned(),
        dims: vec![1],
        data_type: 8,
        ..proto::OnnxTensor::default()
    };
    let cases = [
        (model(vec![node("Relu", &["z"], &["y"])]), Code::ImportOperands, "`z`"),
        (model(vec![node("Relu", &["x"], &["z"])]), Code::ImportOperands, "output `y`"),
        (model(vec![node("Odd", &["x"], &["y"])]), Code::ImportShape, "`Odd`"),
        (model(vec![node("NonZero", &["x"], &["y"])]), Code::ImportShape, "`NonZero`"),
        (
            model(vec![with(node("SequenceMap", &["x"], &["y"]), body)]),
            Code::ImportUnsupported,
            "`SequenceMap` operates on sequences",
        ),
        (model(vec![node("MatMul", &["x", "x"], &["y"])]), Code::ImportOperands, "multiply"),
        (model(vec![node("Reshape", &["x", "x"], &["y"])]), Code::ImportShape, "before the model"),
        (
            model(vec![with(node("Relu", &["x"], &["x"]), ints("a", &[]))]),
            Code::ImportMalformed,
            "duplicate tensor name",
        ),
        (
            with_constants(model(vec![node("Add", &["x", "w"], &["y"])]), vec![text]),
            Code::ImportUnsupported,
            "`w` has string elements",
        ),
    ];
    for (model, code, part) in cases {
        let (own, message) = refused(&model);
        assert_eq!(own, code, "{message}");
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn corrupted_model_files_do_not_panic() {
    let nodes = vec![
        node("Shape", &["x"], &["s"]),
        node("Reshape", &["x", "s"], &["r"]),
        proto::OnnxNode {
            attribute: vec![ints("perm", &[0, 2, 3, 1])],
            ..node("Transpose", &["r"], &["t"])
        },
        along(node("Concat", &["t", "t"], &["c"]), 1),
        node("Slice", &["c", "from", "to"], &["y"]),
    ];
    let constants = vec![constant("from", &[0, 1]), constant("to", &[1, i64::MAX])];
    let whole = with_constants(model(nodes), constants).encode_to_vec();
    let mut random = Random::new(7);
    let mut accepted = 0;
    for _ in 0..20_000 {
        let mut file = whole.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(file.len());
            match random.below(4) {
                0 => file.truncate(at.max(1)),
                1 => file.insert(at, random.below(256_u64).to_le_bytes()[0]),
                2 => file[at] ^= 1 << random.below(8),
                _ => file[at] = random.below(256_u64).to_le_bytes()[0],
            }
        }
        accepted += usize::from(import_onnx(file, &options()).is_ok());
    }
    assert!(accepted > 100, "{accepted}");
}

#[test]
fn models_with_too_many_parts_are_refused_before_decoding() {
    // A graph of empty nodes, two bytes each.
    let graph = [0x0a, 0x00].repeat(MAX_PARTS + 1);
    let mut file = vec![0x3a];
    prost::encoding::encode_varint(graph.len().try_into().unwrap(), &mut file);
    file.extend(graph);
    let found = import_onnx(file, &options());
    assert!(matches!(found, Err(ImportError::Faulty(fault)) if fault.code == Code::LimitGraph));
}
