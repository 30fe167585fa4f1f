//! Tests of the import: shapes, attributes and extents.

pub(super) mod fixtures;
mod layout_letters;
mod names;
mod refused_models;

use prost::Message;
use prost::bytes::Bytes;

use super::infer::names_of;
use super::letter_assignment::USUAL;
use super::operator::{OnnxOperatorKind, WindowKind};
use super::{ImportError, ImportOptions, import_onnx, proto};
use fixtures::{along, constant, imported, ints, model, node, options, value, with_constants};

/// Line of the imported manifest that declares `y`, a result of `nodes`. `constants` are the model's initializers.
fn result(nodes: Vec<proto::OnnxNode>, constants: Vec<proto::OnnxTensor>) -> String {
    let text = imported(&with_constants(model(nodes), constants)).unwrap().text;
    let line = text.lines().find(|line| line.trim_start().starts_with("out y "));
    line.unwrap_or_else(|| panic!("{text}")).trim().to_owned()
}

fn shape(extents: &str) -> String {
    format!("out y dtype=f32 {{ shape {{ {extents} }} }}")
}

#[test]
fn inferred_shapes_equal_onnx() {
    let y = |op: &str, attributes: Vec<proto::OnnxAttribute>| {
        vec![proto::OnnxNode { attribute: attributes, ..node(op, &["x"], &["y"]) }]
    };
    let kernel = || ints("kernel_shape", &[2, 2]);
    let cases = [
        (y("Relu", vec![]), "N 2; C 3; H 4; W 5"),
        (y("MaxPool", vec![kernel()]), "N 2; C 3; H 3; W 4"),
        (y("MaxPool", vec![kernel(), ints("strides", &[2, 2])]), "N 2; C 3; H 2; W 2"),
        (y("AveragePool", vec![kernel(), ints("pads", &[0, 0, 1, 1])]), "N 2; C 3; H 4; W 5"),
        (y("AveragePool", vec![kernel(), ints("dilations", &[3, 4])]), "N 2; C 3; H 1; W 1"),
        (y("GlobalMaxPool", vec![]), "N 2; C 3; H 1; W 1"),
        (y("Flatten", vec![]), "N 2; C 60"),
        (y("Softmax", vec![]), "N 2; C 3; H 4; W 5"),
    ];
    for (nodes, extents) in cases {
        let op = nodes[0].op_type.clone();
        assert_eq!(result(nodes, vec![]), shape(extents), "{op}");
    }
}

#[test]
fn shapes_are_folded_from_constants() {
    let nodes = vec![
        node("Shape", &["x"], &["s"]),
        node("Gather", &["s", "zero"], &["n"]),
        along(node("Concat", &["n", "rest"], &["t"]), 0),
        node("Reshape", &["x", "t"], &["y"]),
    ];
    let constants = vec![constant("zero", &[0]), constant("rest", &[-1, 4])];
    assert_eq!(result(nodes.clone(), constants.clone()), shape("N 2; C 15; W 4"));
    let found = imported(&with_constants(model(nodes), constants)).unwrap();
    assert_eq!((found.nodes, found.folded), (1, 3));
    assert!(!found.text.contains("rest"), "{}", found.text);
}

#[test]
fn default_attributes_follow_the_opset_version() {
    let line = |version: i64, node: proto::OnnxNode| {
        let mut model = model(vec![node]);
        model.opset_import[0].version = version;
        model.graph.as_mut().unwrap().initializer = vec![
            proto::OnnxTensor { dims: vec![6, 3, 2, 2], data_type: 1, ..constant("w", &[]) },
            constant("axes", &[1, -1]),
            proto::OnnxTensor {
                dims: vec![],
                data_type: 1,
                float_data: vec![-1.5],
                ..constant("low", &[])
            },
        ];
        let text = imported(&model).unwrap().text;
        let line = text.lines().find(|line| line.contains(" op=")).unwrap().trim().to_owned();
        line.strip_suffix(" {").unwrap().split_once(" op=").unwrap().1.to_owned()
    };
    let conv = node("Conv", &["x", "w"], &["y"]);
    let same = "Conv auto_pad=NOTSET group=1 strides=1 dilations=1 pads=0 kernel_shape=2";
    assert_eq!(line(17, conv.clone()), same);
    let upper = proto::OnnxAttribute {
        name: "auto_pad".to_owned(),
        s: Some(Bytes::from_static(b"SAME_UPPER")),
        ..proto::OnnxAttribute::default()
    };
    let upper = proto::OnnxNode { attribute: vec![upper], ..conv };
    let same = "Conv auto_pad=SAME_UPPER group=1 strides=1 dilations=1 kernel_shape=2";
    assert_eq!(line(17, upper), same);
    let softmax = node("Softmax", &["x"], &["y"]);
    assert_eq!(line(13, softmax.clone()), "Softmax axis=W");
    // Before opset 13, all axes from this one on were one.
    assert_eq!(line(11, softmax), "Softmax axes=\"C,H,W\"");
    let sum = node("ReduceSum", &["x", "axes"], &["y"]);
    assert_eq!(line(13, sum), "ReduceSum axes=\"C,W\" keepdims=1 noop_with_empty_axes=0");
    let sum = node("ReduceSum", &["x"], &["y"]);
    assert_eq!(line(11, sum), "ReduceSum keepdims=1 axes=\"N,C,H,W\"");
    assert_eq!(line(17, node("Clip", &["x", "low"], &["y"])), "Clip min=-1.5");
    assert_eq!(line(6, node("Clip", &["x"], &["y"])), "Clip max=3.4028235e38 min=-3.4028235e38");
    let elu = node("Elu", &["x"], &["y"]);
    assert_eq!(line(17, elu), "Elu alpha=1.0");
    // Slots of the operands, if one is omitted before another.
    let clip = node("Clip", &["x", "", "z"], &["y"]);
    let mut scalar = model(vec![node("ReduceMax", &["x"], &["z"]), clip]);
    let graph = scalar.graph.as_mut().unwrap();
    let mut keep = along(graph.node[0].clone(), 0);
    keep.attribute[0].name = "keepdims".to_owned();
    graph.node[0] = keep;
    let text = imported(&scalar).unwrap().text;
    assert!(text.contains("op=Clip operands=\"0,2\" {\n        in x z\n"), "{text}");
}

/// The backend profile `onnx` lists the elementwise operators, the operators with axes by letter, and the default
/// layouts by rank of this module.
#[test]
fn operator_tables_match_the_onnx_profile() {
    let profile = include_str!("../check/graph/profiles/onnx.kdl");
    let listed = |rule: &str| -> Vec<&str> {
        let rule = format!("{rule}=#true");
        let lines = profile.lines().filter(|line| line.split(' ').any(|word| word == rule));
        lines.filter_map(|line| line.trim().strip_prefix("op ")?.split(' ').next()).collect()
    };
    assert_eq!(listed("elementwise"), names_of(&[OnnxOperatorKind::Elementwise]));
    let by_letter = [OnnxOperatorKind::ByLetter, OnnxOperatorKind::Window(WindowKind::GlobalPool)];
    assert_eq!(listed("by-letter"), names_of(&by_letter));
    for (rank, letters) in USUAL.iter().enumerate().skip(2) {
        assert!(profile.contains(&format!("default-layout {rank} {letters}\n")), "{letters}");
    }
}

#[test]
fn open_extents_are_assumed_or_overridden() {
    let mut open = model(vec![node("Relu", &["x"], &["y"])]);
    open.graph.as_mut().unwrap().input = vec![value("x", &[None, Some(3)])];
    let found = imported(&open).unwrap();
    assert_eq!(found.assumed, [("batch".to_owned(), 1)]);
    assert!(found.text.starts_with("// The model leaves extents open; assumed: batch=1\n"));
    let import = |options: &ImportOptions<'_>| import_onnx(open.encode_to_vec(), options);
    let sizes = [("batch".to_owned(), 7)];
    let found = import(&ImportOptions { sizes: &sizes, ..options() }).unwrap();
    assert!(found.text.contains("input x dtype=f32 layout=NC { shape { N 7; C 3 } }"));
    assert_eq!(found.assumed, []);
    let shapes = [("x".to_owned(), vec![5, 6])];
    let found = import(&ImportOptions { shapes: &shapes, ..options() }).unwrap();
    assert!(found.text.contains("shape { N 5; C 6 }"));
    let sizes = [("bath".to_owned(), 7)];
    let wrong = import(&ImportOptions { sizes: &sizes, ..options() });
    assert!(
        matches!(wrong, Err(ImportError::InvalidOption(line)) if line.contains("there is `batch`"))
    );
}
