//! Default values of the attributes of ONNX operators.
//!
//! `defaults.txt` has one line per operator and opset version in which the defaults changed:
//! `Conv 1 auto_pad=NOTSET group=1`. It is generated from the schemas of the Python package `onnx` by
//! `models.py --defaults` of the tests. Defaults that ONNX states only in prose (strides are 1) are in this file.

use super::call::OnnxCall;

const TABLE: &str = include_str!("defaults.txt");

/// Value of an operator's attribute: integers, floats or a string.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum OnnxValue {
    Integers(Vec<i64>),
    Integer(i64),
    Floats(Vec<f32>),
    Float(f32),
    Word(String),
}

/// Pairs (attribute name, default value) for the attributes of an operator in the opset of the call. Attributes without
/// a default are not listed.
pub(super) fn defaults(call: &OnnxCall<'_>) -> Vec<(&'static str, OnnxValue)> {
    let mut found = "";
    for line in TABLE.lines() {
        let mut words = line.splitn(3, ' ');
        let (op, version) = (words.next(), words.next().and_then(|word| word.parse::<i64>().ok()));
        if op == Some(call.node.op_type.as_str()) && version.is_some_and(|own| own <= call.opset) {
            found = words.next().unwrap_or_default();
        }
    }
    let pairs = found.split(' ').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, text)| (name, value(text))).chain(windows(call)).collect()
}

fn value(text: &str) -> OnnxValue {
    if let Ok(number) = text.parse() {
        return OnnxValue::Integer(number);
    }
    if let Ok(number) = text.parse() {
        return OnnxValue::Float(number);
    }
    let list: Result<Vec<i64>, _> = text.split(',').map(str::parse).collect();
    list.map_or_else(|_| OnnxValue::Word(text.to_owned()), OnnxValue::Integers)
}

/// Default values of the attributes of a convolution or pooling operator: strides, dilations and output padding, pads
/// unless other attributes determine them, and the kernel's shape from the filter. Strides and dilations are 1, pads
/// and output padding are 0. Only attributes that the operator has in the opset of the call are listed. Empty for other
/// operators.
fn windows(call: &OnnxCall<'_>) -> Vec<(&'static str, OnnxValue)> {
    let op = call.node.op_type.as_str();
    let has_filter = match op {
        "Conv" | "ConvTranspose" | "ConvInteger" | "QLinearConv" => true,
        "MaxPool" | "AveragePool" | "LpPool" => false,
        _ => return Vec::new(),
    };
    let space = call.shape(0).map_or(0, |shape| shape.len().saturating_sub(2));
    let all = |value: i64, times: usize| OnnxValue::Integers(vec![value; times * space]);
    let has_dilations = has_filter
        || match op {
            "MaxPool" => call.opset >= 10,
            "LpPool" => call.opset >= 18,
            _ => call.opset >= 19,
        };
    let mut found = vec![("strides", all(1, 1))];
    found.extend(has_dilations.then(|| ("dilations", all(1, 1))));
    let auto = call.word("auto_pad").unwrap_or("NOTSET");
    if auto == "NOTSET" && call.attribute("output_shape").is_none() {
        found.push(("pads", all(0, 2)));
    }
    if op == "ConvTranspose" {
        found.push(("output_padding", all(0, 1)));
    }
    let filter = if op == "QLinearConv" { 3 } else { 1 };
    if has_filter && let Ok([_, _, kernel @ ..]) = call.shape(filter) {
        let kernel: Result<Vec<i64>, _> = kernel.iter().map(|size| i64::try_from(*size)).collect();
        found.extend(kernel.ok().map(|kernel| ("kernel_shape", OnnxValue::Integers(kernel))));
    }
    found.retain(|(_, value)| *value != OnnxValue::Integers(Vec::new()));
    found
}
