//! Small ONNX models, and their import.

use prost::Message;

use crate::base::codes::Code;
use crate::import::{ImportError, ImportOptions, ImportedGraph, import_onnx, proto};

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

pub(in crate::import) fn node(op: &str, inputs: &[&str], outputs: &[&str]) -> proto::OnnxNode {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let (input, output) = (owned(inputs), owned(outputs));
    proto::OnnxNode { op_type: op.to_owned(), input, output, ..proto::OnnxNode::default() }
}

pub(in crate::import) fn ints(name: &str, ints: &[i64]) -> proto::OnnxAttribute {
    proto::OnnxAttribute {
        name: name.to_owned(),
        ints: ints.to_vec(),
        ..proto::OnnxAttribute::default()
    }
}

pub(in crate::import) fn along(node: proto::OnnxNode, axis: i64) -> proto::OnnxNode {
    let name = "axis".to_owned();
    let axis = proto::OnnxAttribute { name, i: Some(axis), ..proto::OnnxAttribute::default() };
    proto::OnnxNode { attribute: vec![axis], ..node }
}

pub(in crate::import) fn constant(name: &str, values: &[i64]) -> proto::OnnxTensor {
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
pub(in crate::import) fn model(nodes: Vec<proto::OnnxNode>) -> proto::OnnxModel {
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

pub(in crate::import) fn with_constants(
    mut model: proto::OnnxModel,
    constants: Vec<proto::OnnxTensor>,
) -> proto::OnnxModel {
    model.graph.as_mut().unwrap().initializer = constants;
    model
}

pub(super) fn options<'a>() -> ImportOptions<'a> {
    ImportOptions { name: "g", backend: "onnx", ..ImportOptions::default() }
}

pub(in crate::import) fn imported(model: &proto::OnnxModel) -> Result<ImportedGraph, ImportError> {
    import_onnx(model.encode_to_vec(), &options())
}

pub(in crate::import) fn refused(model: &proto::OnnxModel) -> (Code, String) {
    match imported(model) {
        Err(ImportError::Faulty(fault)) => (fault.code, fault.message),
        other => panic!("{other:?}"),
    }
}

pub(super) fn turn(from: &str, to: &str, perm: &[i64]) -> proto::OnnxNode {
    let attribute = vec![ints("perm", perm)];
    proto::OnnxNode { attribute, ..node("Transpose", &[from], &[to]) }
}
