use prost::Message;
use prost::bytes::Bytes;

use layoutc_testing::Random;

use super::infer::names_of;
use super::letter_assignment::USUAL;
use super::operator::{OnnxOperatorKind, WindowKind};
use super::{ImportError, ImportOptions, ImportedGraph, import_onnx, proto};
use crate::base::codes::Code;

pub(super) fn value(name: &str, extents: &[Option<i64>]) -> proto::OnnxValueInfo {
    let dim = |extent: &Option<i64>| proto::OnnxDimension {
        dim_value: *extent,
        dim_param: extent.is_none().then(|| "batch".to_owned()),
    };
    let shape = proto::OnnxShape { dim: extents.iter().map(dim).collect() };
    let tensor = Some(proto::OnnxTensorType { elem_type: 1, shape: Some(shape) });
    let r#type = Some(proto::OnnxType { tensor, ..proto::OnnxType::default() });
    proto::OnnxValueInfo { name: name.to_owned(), r#type }
}

pub(super) fn node(op: &str, inputs: &[&str], outputs: &[&str]) -> proto::OnnxNode {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let (input, output) = (owned(inputs), owned(outputs));
    proto::OnnxNode { op_type: op.to_owned(), input, output, ..proto::OnnxNode::default() }
}

pub(super) fn ints(name: &str, ints: &[i64]) -> proto::OnnxAttribute {
    proto::OnnxAttribute {
        name: name.to_owned(),
        ints: ints.to_vec(),
        ..proto::OnnxAttribute::default()
    }
}

pub(super) fn along(node: proto::OnnxNode, axis: i64) -> proto::OnnxNode {
    let name = "axis".to_owned();
    let axis = proto::OnnxAttribute { name, i: Some(axis), ..proto::OnnxAttribute::default() };
    proto::OnnxNode { attribute: vec![axis], ..node }
}

pub(super) fn constant(name: &str, values: &[i64]) -> proto::OnnxTensor {
    let dims = vec![i64::try_from(values.len()).unwrap()];
    let int64_data = values.to_vec();
    proto::OnnxTensor {
        name: name.to_owned(),
        dims,
        data_type: 7,
        int64_data,
        ..Default::default()
    }
}

/// Model with the input `x` [2, 3, 4, 5], the given nodes and the output `y`.
pub(super) fn model(nodes: Vec<proto::OnnxNode>) -> proto::OnnxModel {
    let graph = proto::OnnxGraph {
        node: nodes,
        name: "m".to_owned(),
        input: vec![value("x", &[Some(2), Some(3), Some(4), Some(5)])],
        output: vec![proto::OnnxValueInfo { name: "y".to_owned(), r#type: None }],
        ..proto::OnnxGraph::default()
    };
    let opset_import = vec![proto::OnnxOpset { domain: String::new(), version: 17 }];
    proto::OnnxModel { graph: Some(graph), opset_import, functions: Vec::new() }
}

pub(super) fn with_constants(
    mut model: proto::OnnxModel,
    constants: Vec<proto::OnnxTensor>,
) -> proto::OnnxModel {
    model.graph.as_mut().unwrap().initializer = constants;
    model
}

pub(super) fn options<'a>() -> ImportOptions<'a> {
    ImportOptions { name: "g", backend: "onnx", ..ImportOptions::default() }
}

pub(super) fn imported(model: &proto::OnnxModel) -> Result<ImportedGraph, ImportError> {
    import_onnx(model.encode_to_vec(), &options())
}

/// Declaration of `y` in the manifest.
fn result(nodes: Vec<proto::OnnxNode>, constants: Vec<proto::OnnxTensor>) -> String {
    let text = imported(&with_constants(model(nodes), constants)).unwrap().text;
    let line = text.lines().find(|line| line.trim_start().starts_with("out y "));
    line.unwrap_or_else(|| panic!("{text}")).trim().to_owned()
}

pub(super) fn refused(model: &proto::OnnxModel) -> (Code, String) {
    match imported(model) {
        Err(ImportError::Faulty(fault)) => (fault.code, fault.message),
        other => panic!("{other:?}"),
    }
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
fn a_transposition_is_a_change_of_layout() {
    let turn = |from: &str, to: &str, perm: &[i64]| proto::OnnxNode {
        attribute: vec![ints("perm", perm)],
        ..node("Transpose", &[from], &[to])
    };
    let nodes = vec![
        turn("x", "a", &[0, 3, 1, 2]),
        node("GlobalAveragePool", &["a"], &["b"]),
        node("Mul", &["a", "b"], &["c"]),
        turn("c", "d", &[0, 2, 3, 1]),
        node("Add", &["d", "x"], &["y"]),
    ];
    let found = imported(&model(nodes)).unwrap();
    assert_eq!((found.nodes, found.transposes), (3, 2), "{}", found.text);
    let input = "input x dtype=f32 layout=NHWC { shape { N 2; H 3; W 4; C 5 } }";
    assert!(found.text.contains(input), "{}", found.text);
    assert!(found.text.contains("output y layout=NHWC"), "{}", found.text);
    // A tensor added to its own transpose needs two letters for one axis, so the transposition remains.
    let nodes = vec![
        turn("x", "a", &[1, 0, 2, 3]),
        turn("a", "b", &[1, 0, 2, 3]),
        node("Add", &["a", "b"], &["y"]),
    ];
    let square = |mut model: proto::OnnxModel| {
        model.graph.as_mut().unwrap().input =
            vec![value("x", &[Some(3), Some(3), Some(4), Some(5)])];
        model
    };
    let found = imported(&square(model(nodes))).unwrap();
    assert_eq!((found.nodes, found.transposes), (2, 1), "{}", found.text);
}

#[test]
fn axis_of_layout_agnostic_operators_is_a_letter() {
    let turn = proto::OnnxNode {
        attribute: vec![ints("perm", &[0, 3, 1, 2])],
        ..node("Transpose", &["x"], &["a"])
    };
    let nodes = vec![
        turn,
        node("BatchNormalization", &["a", "s", "s", "s", "s"], &["b"]),
        along(node("Concat", &["b", "b"], &["y"]), -1),
    ];
    let nodes = with_constants(model(nodes), vec![constant("s", &[1; 5])]);
    let text = imported(&nodes).unwrap().text;
    // `x` is NCHW by default, so axis 1 of its transpose is W, and the last one H.
    let batch = "op=BatchNormalization epsilon=1e-5 momentum=0.9 training_mode=0 axis=W {";
    assert!(text.contains(batch), "{text}");
    assert!(text.contains("op=Concat axis=H {"), "{text}");
}

fn turn(from: &str, to: &str, perm: &[i64]) -> proto::OnnxNode {
    let attribute = vec![ints("perm", perm)];
    proto::OnnxNode { attribute, ..node("Transpose", &[from], &[to]) }
}

/// Model with the input `x` [2, 3, 4], the given nodes and outputs.
fn of_three(nodes: Vec<proto::OnnxNode>, outputs: &[&str]) -> proto::OnnxModel {
    let mut model = model(nodes);
    let graph = model.graph.as_mut().unwrap();
    graph.input = vec![value("x", &[Some(2), Some(3), Some(4)])];
    let output = |name: &&str| proto::OnnxValueInfo { name: (*name).to_owned(), r#type: None };
    graph.output = outputs.iter().map(output).collect();
    model
}

#[test]
fn kept_transposes_compose_with_layout_transposes() {
    // The first transposition is `x` in another layout; the second produces an output next to the input `x`.
    let nodes = vec![turn("x", "a", &[1, 2, 0]), turn("a", "y", &[1, 2, 0])];
    let text = imported(&of_three(nodes, &["y"])).unwrap().text;
    let wanted = "op=Transpose perm=\"2,0,1\" {\n        in x\n        out y dtype=f32 { shape { N 4; C 2; W 3 } }";
    assert!(text.contains(wanted), "{text}");
    // After an operator the first result is not an input: all are one tensor, in the axis order of the last.
    let nodes =
        vec![node("Relu", &["x"], &["r"]), turn("r", "a", &[1, 2, 0]), turn("a", "y", &[1, 2, 0])];
    let found = imported(&of_three(nodes.clone(), &["y"])).unwrap();
    assert_eq!((found.nodes, found.transposes), (1, 2), "{}", found.text);
    assert!(found.text.contains("out y dtype=f32 { shape { N 2; C 3; W 4 } }"), "{}", found.text);
    assert!(found.text.contains("output y layout=WNC\n"), "{}", found.text);
    // If the first result is an output too, the second transposition remains.
    let text = imported(&of_three(nodes, &["r", "y"])).unwrap().text;
    assert!(text.contains("op=Transpose perm=\"2,0,1\" {\n        in r\n"), "{text}");
    // Two transpositions that cancel, with a result under its own name.
    let nodes = vec![turn("x", "a", &[1, 2, 0]), turn("a", "y", &[2, 0, 1])];
    let text = imported(&of_three(nodes, &["y"])).unwrap().text;
    let wanted = "op=Transpose perm=\"0,1,2\" {\n        in x\n        out y dtype=f32 { shape { N 2; C 3; W 4 } }";
    assert!(text.contains(wanted), "{text}");
    // With another reader of the intermediate.
    let nodes =
        vec![turn("x", "a", &[0, 2, 1]), node("Relu", &["a"], &["r"]), turn("a", "y", &[0, 2, 1])];
    let text = imported(&of_three(nodes, &["y", "r"])).unwrap().text;
    assert!(text.contains("op=Transpose perm=\"0,1,2\" {\n        in x\n"), "{text}");
    assert!(
        text.contains(
            "op=Relu {\n        in x\n        out r dtype=f32 { shape { N 2; W 4; C 3 } }"
        ),
        "{text}"
    );
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

#[test]
fn shared_constants_have_letters_for_every_use() {
    // A constant of shape [3, 3, 4, 5], added to `x` and multiplied with its transpose.
    let mut square = model(vec![
        node("Add", &["x", "w"], &["a"]),
        turn("x", "t", &[1, 0, 2, 3]),
        node("Mul", &["t", "w"], &["b"]),
        node("Concat", &["a", "b"], &["y"]),
    ]);
    let graph = square.graph.as_mut().unwrap();
    graph.node[3] = along(graph.node[3].clone(), 3);
    graph.input = vec![value("x", &[Some(3), Some(3), Some(4), Some(5)])];
    graph.initializer =
        vec![proto::OnnxTensor { dims: vec![3, 1, 1], ..constant("w", &[1, 2, 3]) }];
    graph.initializer[0].data_type = 1;
    graph.node.remove(3);
    graph.output = ["a", "b"]
        .map(|name| proto::OnnxValueInfo { name: name.to_owned(), r#type: None })
        .to_vec();
    let found = imported(&square).unwrap();
    assert_eq!((found.nodes, found.transposes), (2, 1), "{}", found.text);
    assert!(found.text.contains("constant w dtype=f32 layout=CHW"), "{}", found.text);
    assert!(found.text.contains("constant w_2 dtype=f32 layout=NHW"), "{}", found.text);
    assert!(!found.text.contains("accepts"), "{}", found.text);
    let copies: Vec<&str> = found.map["constants"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["model"].as_str())
        .collect();
    assert_eq!(copies, ["w", "w"]);
}

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

/// The profile has the same elementwise operators, operators with axes by letter, and default layouts by rank.
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
    let graph = [0x0a, 0x00].repeat(super::MAX_PARTS + 1);
    let mut file = vec![0x3a];
    prost::encoding::encode_varint(graph.len().try_into().unwrap(), &mut file);
    file.extend(graph);
    let found = import_onnx(file, &options());
    assert!(matches!(found, Err(ImportError::Faulty(fault)) if fault.code == Code::LimitGraph));
}
