//! Tests of subgraphs and functions.

use super::proto;
use super::tests::fixtures::{
    along, constant, imported, ints, model, node, refused, with_constants,
};
use crate::base::codes::Code;

fn result(name: &str) -> proto::OnnxValueInfo {
    proto::OnnxValueInfo { name: name.to_owned(), r#type: None }
}

/// Graph with named inputs and outputs.
fn graph(inputs: &[&str], nodes: Vec<proto::OnnxNode>, outputs: &[&str]) -> proto::OnnxGraph {
    proto::OnnxGraph {
        node: nodes,
        input: inputs.iter().map(|name| result(name)).collect(),
        output: outputs.iter().map(|name| result(name)).collect(),
        ..proto::OnnxGraph::default()
    }
}

fn with(mut node: proto::OnnxNode, bodies: Vec<(&str, proto::OnnxGraph)>) -> proto::OnnxNode {
    for (name, body) in bodies {
        let (name, g) = (name.to_owned(), Some(Box::new(body)));
        node.attribute.push(proto::OnnxAttribute { name, g, ..proto::OnnxAttribute::default() });
    }
    node
}

fn integer(name: &str, value: i64) -> proto::OnnxAttribute {
    let name = name.to_owned();
    proto::OnnxAttribute { name, i: Some(value), ..proto::OnnxAttribute::default() }
}

/// `If` on the tensor named `condition`, with the branches `yes` and `no` of one operator each. The result is `y`.
fn branches(condition: &str, yes: proto::OnnxNode, no: proto::OnnxNode) -> proto::OnnxNode {
    let bodies = vec![
        ("then_branch", graph(&[], vec![yes], &["inner"])),
        ("else_branch", graph(&[], vec![no], &["inner"])),
    ];
    with(node("If", &[condition], &["y"]), bodies)
}

fn truth(name: &str, value: i64) -> proto::OnnxTensor {
    let (name, int32_data) = (name.to_owned(), vec![i32::try_from(value).unwrap()]);
    proto::OnnxTensor { name, data_type: 9, int32_data, ..proto::OnnxTensor::default() }
}

#[test]
fn constant_branch_replaces_the_operator() {
    for (value, op) in [(1, "Relu"), (0, "Neg")] {
        let choice =
            branches("c", node("Relu", &["x"], &["inner"]), node("Neg", &["x"], &["inner"]));
        let found =
            imported(&with_constants(model(vec![choice]), vec![truth("c", value)])).unwrap();
        assert_eq!((found.nodes, found.folded), (1, 1), "{}", found.text);
        assert!(found.text.contains(&format!("op={op} {{\n        in x\n")), "{}", found.text);
        assert!(found.text.contains("output y "), "{}", found.text);
    }
}

#[test]
fn run_time_branches_are_one_operator() {
    let compare = || vec![node("ReduceMax", &["x"], &["most"]), node("Cast", &["most"], &["c"])];
    let cast = |mut nodes: Vec<proto::OnnxNode>| {
        nodes[0].attribute.push(integer("keepdims", 0));
        nodes[1].attribute.push(integer("to", 9));
        nodes
    };
    let mut nodes = cast(compare());
    nodes.push(branches("c", node("Relu", &["x"], &["inner"]), node("Neg", &["x"], &["inner"])));
    let found = imported(&model(nodes)).unwrap();
    assert!(found.text.contains("op=If {\n        in c x\n"), "{}", found.text);
    // Branches with different shapes have no common shape.
    let mut nodes = cast(compare());
    nodes.push(branches("c", node("Relu", &["x"], &["inner"]), node("Shape", &["x"], &["inner"])));
    let (code, message) = refused(&model(nodes));
    assert_eq!(code, Code::ImportShape);
    assert!(message.contains("`If`"), "{message}");
    // A branch with mismatched shapes is never taken.
    let mut nodes = cast(compare());
    let no = node("MatMul", &["x", "x"], &["inner"]);
    nodes.push(branches("c", node("Relu", &["x"], &["inner"]), no));
    assert!(imported(&model(nodes)).unwrap().text.contains("out y dtype=f32"));
}

/// `Loop` that counts up from 0 while the count is less than the tensor named `condition`. `Relu(x)` of each iteration
/// is a scan output.
fn counted(condition: &str) -> Vec<proto::OnnxNode> {
    let body = vec![
        node("Add", &["count", "one"], &["next"]),
        node("Less", &["next", condition], &["goes_on"]),
        node("Relu", &["x"], &["each"]),
    ];
    let body = graph(&["turn", "before", "count"], body, &["goes_on", "next", "each"]);
    vec![with(node("Loop", &["", "begins", "zero"], &["last", "y"]), vec![("body", body)])]
}

#[test]
fn loop_trip_counts_are_inferred() {
    let constants = || {
        let number = |name: &str, value: i64| proto::OnnxTensor {
            dims: Vec::new(),
            ..constant(name, &[value])
        };
        vec![number("zero", 0), number("one", 1), number("limit", 7), truth("begins", 1)]
    };
    let found = imported(&with_constants(model(counted("limit")), constants())).unwrap();
    let result = "out y dtype=f32 { shape { N 7; C 2; D 3; H 4; W 5 } }";
    assert!(found.text.contains("op=Loop"), "{}", found.text);
    assert!(found.text.contains("N 7;") || found.text.contains(result), "{}", found.text);
    // An unknown limit, and one that is never reached.
    let mut nodes = vec![node("ReduceMax", &["x"], &["most"]), node("Cast", &["most"], &["data"])];
    nodes[0].attribute.push(integer("keepdims", 0));
    nodes[1].attribute.push(integer("to", 7));
    nodes.extend(counted("data"));
    let (code, message) = refused(&with_constants(model(nodes), constants()));
    assert_eq!(code, Code::ImportShape, "{message}");
    let mut constants = constants();
    constants[1].int64_data = vec![0];
    let (code, message) = refused(&with_constants(model(counted("limit")), constants));
    assert_eq!(code, Code::ImportShape, "{message}");
}

#[test]
fn loop_carried_values_keep_their_shape() {
    let body = vec![
        node("Identity", &["before"], &["goes_on"]),
        along(node("Concat", &["all", "all"], &["next"]), 0),
    ];
    let body = graph(&["turn", "before", "all"], body, &["goes_on", "next"]);
    let turns = |count: i64| {
        let looped = node("Loop", &["turns", "", "x"], &["y"]);
        let looped = with(looped, vec![("body", body.clone())]);
        with_constants(model(vec![looped]), vec![constant("turns", &[count])])
    };
    // A constant trip count allows a growing shape: 2 becomes 16.
    let found = imported(&turns(3)).unwrap();
    assert!(found.text.contains("out y dtype=f32 { shape { N 16; C 3; H 4; W 5 } }"));
    let mut open = turns(3);
    open.graph.as_mut().unwrap().initializer.clear();
    open.graph.as_mut().unwrap().node.insert(0, node("NonZero", &["x"], &["turns"]));
    assert_eq!(refused(&open).0, Code::ImportShape);
}

fn function(name: &str, nodes: Vec<proto::OnnxNode>) -> proto::OnnxFunction {
    proto::OnnxFunction {
        name: name.to_owned(),
        input: vec!["a".to_owned()],
        output: vec!["b".to_owned()],
        node: nodes,
        domain: "own".to_owned(),
        ..proto::OnnxFunction::default()
    }
}

fn call(name: &str, input: &str, output: &str) -> proto::OnnxNode {
    proto::OnnxNode { domain: "own".to_owned(), ..node(name, &[input], &[output]) }
}

#[test]
fn functions_are_inlined() {
    let refers = |name: &str| proto::OnnxAttribute {
        name: name.to_owned(),
        ref_attr_name: "order".to_owned(),
        ..proto::OnnxAttribute::default()
    };
    let mut turn = node("Transpose", &["inner"], &["b"]);
    turn.attribute.push(refers("perm"));
    let mut file = model(vec![call("Turn", "x", "z"), call("Turn", "z", "y")]);
    file.functions = vec![function("Turn", vec![node("Relu", &["a"], &["inner"]), turn])];
    let order = ints("order", &[3, 0, 1, 2]);
    for node in &mut file.graph.as_mut().unwrap().node {
        node.attribute.push(order.clone());
    }
    let found = imported(&file).unwrap();
    assert_eq!((found.nodes, found.transposes), (2, 2), "{}", found.text);
    assert!(found.text.contains("output "), "{}", found.text);
}

#[test]
fn recursive_and_oversized_functions_are_refused() {
    let mut file = model(vec![call("F", "x", "y")]);
    file.functions = vec![function("F", vec![call("F", "a", "b")])];
    let (code, message) = refused(&file);
    assert_eq!(code, Code::LimitGraph, "{message}");
    // Each function calls the next one twice.
    let pair = |k: usize| {
        let next = format!("F{}", k + 1);
        function(&format!("F{k}"), vec![call(&next, "a", "i"), call(&next, "i", "b")])
    };
    let mut file = model(vec![call("F0", "x", "y")]);
    file.functions = (0..23).map(pair).collect();
    file.functions.push(function("F23", vec![node("Relu", &["a"], &["b"])]));
    let (code, message) = refused(&file);
    assert_eq!(code, Code::LimitGraph, "{message}");
}

#[test]
fn subgraph_nesting_depth_is_limited() {
    let nested = |depth: usize| {
        let mut inner = node("Relu", &["x"], &["inner"]);
        for _ in 0..depth {
            let other = node("Relu", &["x"], &["inner"]);
            let mut outer = branches("c", inner, other);
            outer.output = vec!["inner".to_owned()];
            inner = outer;
        }
        inner.output = vec!["y".to_owned()];
        with_constants(model(vec![inner]), vec![truth("c", 1)])
    };
    assert_eq!(imported(&nested(23)).unwrap().nodes, 1);
    assert_eq!(refused(&nested(24)).0, Code::LimitGraph);
}
