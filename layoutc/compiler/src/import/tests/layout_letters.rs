//! Letters of axes, and transpositions that become changes of layout.

use super::fixtures::{along, constant, imported, ints, model, node, turn, value, with_constants};
use crate::import::proto;

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
    // The intermediate has another reader.
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
