//! Protobuf messages of an ONNX file. Fields that are not declared here are skipped.
//!
//! Source: onnx.proto3 of ONNX. Raw bytes of weights are not copied: they are slices of the file's buffer.

use prost::Message;
use prost::bytes::Bytes;

#[derive(Clone, PartialEq, Message)]
pub(super) struct OnnxModel {
    #[prost(message, optional, tag = "7")]
    pub(super) graph: Option<OnnxGraph>,
    #[prost(message, repeated, tag = "8")]
    pub(super) opset_import: Vec<OnnxOpset>,
    #[prost(message, repeated, tag = "25")]
    pub(super) functions: Vec<OnnxFunction>,
}

/// Function that a model defines: nodes that replace an operator with the function's domain and name.
#[derive(Clone, PartialEq, Message)]
pub(super) struct OnnxFunction {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, repeated, tag = "4")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "5")]
    pub(super) output: Vec<String>,
    #[prost(message, repeated, tag = "7")]
    pub(super) node: Vec<OnnxNode>,
    #[prost(message, repeated, tag = "9")]
    pub(super) opset_import: Vec<OnnxOpset>,
    #[prost(string, tag = "10")]
    pub(super) domain: String,
    /// Attributes of the function that have default values, with these values.
    #[prost(message, repeated, tag = "11")]
    pub(super) attribute_proto: Vec<OnnxAttribute>,
    #[prost(string, tag = "13")]
    pub(super) overload: String,
}

/// Operator set that a model or a function uses: its domain, and its version.
#[derive(Clone, PartialEq, Message)]
pub(super) struct OnnxOpset {
    #[prost(string, tag = "1")]
    pub(super) domain: String,
    #[prost(int64, tag = "2")]
    pub(super) version: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OnnxGraph {
    #[prost(message, repeated, tag = "1")]
    pub(super) node: Vec<OnnxNode>,
    #[prost(string, tag = "2")]
    pub(super) name: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) initializer: Vec<OnnxTensor>,
    #[prost(message, repeated, tag = "11")]
    pub(super) input: Vec<OnnxValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub(super) output: Vec<OnnxValueInfo>,
    #[prost(message, repeated, tag = "13")]
    pub(super) value_info: Vec<OnnxValueInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OnnxNode {
    #[prost(string, repeated, tag = "1")]
    pub(super) input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(super) output: Vec<String>,
    #[prost(string, tag = "3")]
    pub(super) name: String,
    #[prost(string, tag = "4")]
    pub(super) op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub(super) attribute: Vec<OnnxAttribute>,
    #[prost(string, tag = "7")]
    pub(super) domain: String,
    #[prost(string, tag = "8")]
    pub(super) overload: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OnnxAttribute {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(float, optional, tag = "2")]
    pub(super) f: Option<f32>,
    #[prost(int64, optional, tag = "3")]
    pub(super) i: Option<i64>,
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub(super) s: Option<Bytes>,
    #[prost(message, optional, tag = "5")]
    pub(super) t: Option<OnnxTensor>,
    #[prost(message, optional, boxed, tag = "6")]
    pub(super) g: Option<Box<OnnxGraph>>,
    #[prost(float, repeated, tag = "7")]
    pub(super) floats: Vec<f32>,
    #[prost(int64, repeated, tag = "8")]
    pub(super) ints: Vec<i64>,
    #[prost(bytes = "bytes", repeated, tag = "9")]
    pub(super) strings: Vec<Bytes>,
    #[prost(message, repeated, tag = "11")]
    pub(super) graphs: Vec<OnnxGraph>,
    /// Name of the attribute of the enclosing function whose value this attribute takes; empty if the attribute has a
    /// value of its own.
    #[prost(string, tag = "21")]
    pub(super) ref_attr_name: String,
}

impl OnnxAttribute {
    /// Subgraphs in the attribute, from the fields `g` and `graphs`.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &OnnxGraph> {
        self.g.as_deref().into_iter().chain(&self.graphs)
    }
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OnnxTensor {
    #[prost(int64, repeated, tag = "1")]
    pub(super) dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    pub(super) data_type: i32,
    #[prost(float, repeated, tag = "4")]
    pub(super) float_data: Vec<f32>,
    #[prost(int32, repeated, tag = "5")]
    pub(super) int32_data: Vec<i32>,
    #[prost(int64, repeated, tag = "7")]
    pub(super) int64_data: Vec<i64>,
    #[prost(string, tag = "8")]
    pub(super) name: String,
    #[prost(bytes = "bytes", tag = "9")]
    pub(super) raw_data: Bytes,
    #[prost(double, repeated, tag = "10")]
    pub(super) double_data: Vec<f64>,
    #[prost(uint64, repeated, tag = "11")]
    pub(super) uint64_data: Vec<u64>,
}

/// Declaration of an input, an output or an intermediate result of a graph: its name and type.
#[derive(Clone, PartialEq, Message)]
pub(super) struct OnnxValueInfo {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(message, optional, tag = "2")]
    pub(super) r#type: Option<OnnxType>,
}

/// Type of a value: the one field that is set gives its kind. Only tensor types are decoded; other kinds remain bytes.
#[derive(Clone, PartialEq, Message)]
pub(super) struct OnnxType {
    #[prost(message, optional, tag = "1")]
    pub(super) tensor: Option<OnnxTensorType>,
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub(super) sequence: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "5")]
    pub(super) map: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "8")]
    pub(super) sparse_tensor: Option<Bytes>,
    #[prost(bytes = "bytes", optional, tag = "9")]
    pub(super) optional: Option<Bytes>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OnnxTensorType {
    #[prost(int32, tag = "1")]
    pub(super) elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) shape: Option<OnnxShape>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OnnxShape {
    #[prost(message, repeated, tag = "1")]
    pub(super) dim: Vec<OnnxDimension>,
}

/// Extent of an axis: a constant, a named dimension parameter, or neither (unknown).
#[derive(Clone, PartialEq, Message)]
pub(super) struct OnnxDimension {
    #[prost(int64, optional, tag = "1")]
    pub(super) dim_value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub(super) dim_param: Option<String>,
}
