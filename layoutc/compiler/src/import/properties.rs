//! Properties of the nodes in the imported manifest: attributes of the ONNX operators, including default values, and
//! operands that are constant parameters.

use super::axis_attributes::{AxisAttribute, along};
use super::call::OnnxCall;
use super::defaults::{OnnxValue, defaults};
use super::elements::ConstantElements;
use super::infer::permutation;
use super::kdl_text::word;
use super::letter_assignment::{LetterAssignment, compose_permutations};
use super::network::{NetworkOperator, OnnxNetwork};
use super::operator::{OnnxOperatorKind, WindowKind, is_standard, parameter_name};
use super::proto;
use crate::base::dtype::Scalar;

/// Maximum number of values in a property of a node. An attribute with more values is omitted, unless all values are
/// equal.
const MAX_NUMBERS: usize = 4096;

/// Maximum length of a string in a property of a node, in bytes. A longer attribute is omitted.
const MAX_WORD: usize = 4096;

/// Properties of an operator's node in the manifest, as pairs of key and value in KDL syntax: `("axis", "C")`.
pub(super) fn properties(
    network: &OnnxNetwork<'_>,
    letters: &LetterAssignment,
    operator: &NetworkOperator<'_>,
) -> Vec<(String, String)> {
    let call = network.call(operator);
    let mut all = attributes(network, operator, &call);
    by_letter(&mut all, network, letters, operator);
    if operator.kind == OnnxOperatorKind::Transpose
        && let (Ok(order), Some(from)) = (permutation(&call), operator.read(0))
    {
        // The operand may itself be an alias with permuted axes.
        let own = letters.order.get(from);
        let order = own.map_or_else(|| order.clone(), |own| compose_permutations(&order, own));
        let order = order.into_iter().filter_map(|axis| i64::try_from(axis).ok()).collect();
        replace(&mut all, "perm", Some(OnnxValue::Integers(order)));
    }
    let slots = operator.inputs.iter().map(|operand| operand.slot);
    if operator.inputs.iter().enumerate().any(|(k, operand)| k != operand.slot) {
        let slots = slots.filter_map(|slot| i64::try_from(slot).ok()).collect();
        replace(&mut all, "operands", Some(OnnxValue::Integers(slots)));
    }
    all.into_iter().filter_map(|(key, value)| Some((key, text(&value)?))).collect()
}

/// Properties of an operator's node under ONNX's attribute names, with axes as numbers. They come from the operator's
/// attributes; for a standard operator then from its constant parameter operands, and then from the default values of
/// attributes. The first occurrence of a name wins. Names that are no valid keys of a node are left out.
fn attributes(
    network: &OnnxNetwork<'_>,
    operator: &NetworkOperator<'_>,
    call: &OnnxCall<'_>,
) -> Vec<(String, OnnxValue)> {
    let mut all: Vec<(String, OnnxValue)> = Vec::new();
    let mut add = |key: &str, value: OnnxValue| {
        if is_key(key) && all.iter().all(|(known, _)| known != key) {
            all.push((key.to_owned(), value));
        }
    };
    for attribute in &operator.node.attribute {
        if let Some(value) = own(attribute) {
            add(&attribute.name, value);
        }
    }
    if is_standard(operator.node) {
        for operand in &operator.parameters {
            let name = parameter_name(operator.node, operand.slot, network.opset);
            let shaped = network.tensors.get(operand.tensor).map(|tensor| &tensor.shaped);
            let known = shaped.and_then(|shaped| {
                folded_value(shaped.known.as_ref()?, shaped.dtype, shaped.shape.is_empty())
            });
            if let (Some(name), Some(value)) = (name, known) {
                add(name, value);
            }
        }
        for (name, value) in defaults(call) {
            add(name, value);
        }
    }
    all
}

/// Replaces the properties `axis` and `axes` by the letters of the axes: `axis=1` becomes `axis=C`. Removes the one of
/// the two that the operator does not use. No effect unless the operator is a standard operator that is elementwise, by
/// letter or a global pooling, and names axes.
fn by_letter(
    all: &mut Vec<(String, OnnxValue)>,
    network: &OnnxNetwork<'_>,
    letters: &LetterAssignment,
    operator: &NetworkOperator<'_>,
) {
    let op = operator.node.op_type.as_str();
    let is_letters = matches!(
        operator.kind,
        OnnxOperatorKind::Elementwise
            | OnnxOperatorKind::ByLetter
            | OnnxOperatorKind::Window(WindowKind::GlobalPool)
    );
    if !is_letters || !is_standard(operator.node) {
        return;
    }
    let Some((form, axes)) = along(&network.call(operator)) else { return };
    let is_of_result = ["Concat", "Unsqueeze"].contains(&op);
    let tensor = if is_of_result { operator.outputs.first().copied() } else { operator.read(0) };
    let own = tensor.and_then(|tensor| letters.of.get(tensor));
    let letter = |axis: usize| own.and_then(|own| own.chars().nth(axis)).map(String::from);
    let listed = axes.iter().filter_map(|axis| letter(*axis)).collect::<Vec<_>>().join(",");
    let (axis, axes) = match form {
        AxisAttribute::Axis => (Some(listed), None),
        AxisAttribute::Axes => (None, Some(listed)),
        AxisAttribute::Both => (letter(1), Some(listed)),
    };
    replace(all, "axis", axis.map(OnnxValue::Word));
    replace(all, "axes", axes.filter(|_| op != "Expand").map(OnnxValue::Word));
}

/// Sets the value of the property `key`, which is appended if it is missing; `None` removes the property.
fn replace(all: &mut Vec<(String, OnnxValue)>, key: &str, value: Option<OnnxValue>) {
    let at = all.iter().position(|(known, _)| known == key);
    match (at, value) {
        (Some(at), Some(value)) => {
            if let Some(one) = all.get_mut(at) {
                one.1 = value;
            }
        }
        (Some(at), None) => drop(all.remove(at)),
        (None, Some(value)) => all.push((key.to_owned(), value)),
        (None, None) => {}
    }
}

fn is_key(key: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = key.starts_with(|c: char| c.is_ascii_alphabetic());
    starts && key.chars().all(is_part) && key.len() <= 64 && !["op", "operands"].contains(&key)
}

/// Value of an ONNX attribute as a property; `None` for tensors, graphs, empty lists and invalid UTF-8, which are
/// omitted.
fn own(attribute: &proto::OnnxAttribute) -> Option<OnnxValue> {
    let word = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(str::to_owned);
    if let Some(value) = attribute.i {
        return Some(OnnxValue::Integer(value));
    }
    if let Some(value) = attribute.f {
        return Some(OnnxValue::Float(value));
    }
    if let Some(text) = &attribute.s {
        return Some(OnnxValue::Word(word(text)?));
    }
    if !attribute.ints.is_empty() {
        return Some(OnnxValue::Integers(attribute.ints.clone()));
    }
    if !attribute.floats.is_empty() {
        return Some(OnnxValue::Floats(attribute.floats.clone()));
    }
    let words = attribute.strings.iter().map(|text| word(text)).collect::<Option<Vec<_>>>()?;
    (!words.is_empty()).then(|| OnnxValue::Word(words.join(",")))
}

/// Elements of a constant operand as a property value: a number for a scalar, else a list. `f64` elements become text.
/// `None` for an integer scalar whose element is missing.
fn folded_value(known: &ConstantElements, dtype: Scalar, is_scalar: bool) -> Option<OnnxValue> {
    match known {
        ConstantElements::Integers(values) if is_scalar => {
            values.first().copied().map(OnnxValue::Integer)
        }
        ConstantElements::Integers(values) => Some(OnnxValue::Integers(values.clone())),
        ConstantElements::Floats(values) if dtype == Scalar::F64 => {
            let all: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            Some(OnnxValue::Word(all.join(",")))
        }
        ConstantElements::Floats(values) => {
            #[expect(clippy::cast_possible_truncation, reason = "they are no wider")]
            let values: Vec<f32> = values.iter().map(|value| *value as f32).collect();
            match values.as_slice() {
                [value] if is_scalar => Some(OnnxValue::Float(*value)),
                _ => Some(OnnxValue::Floats(values)),
            }
        }
    }
}

/// Text of a property value in KDL syntax. A list of equal numbers is written as one number, any other list as a
/// string: `"1,2"`. `None` for an empty list, for a list of more than [`MAX_NUMBERS`] values that are not all equal,
/// and for a string of more than [`MAX_WORD`] bytes.
fn text(value: &OnnxValue) -> Option<String> {
    match value {
        OnnxValue::Integer(value) => Some(value.to_string()),
        OnnxValue::Float(value) => Some(float(*value)),
        OnnxValue::Integers(values) => list(values, i64::to_string),
        OnnxValue::Floats(values) => list(values, |value| float(*value)),
        OnnxValue::Word(text) => (text.len() <= MAX_WORD).then(|| word(text)),
    }
}

fn list<T: PartialEq>(values: &[T], text: impl Fn(&T) -> String) -> Option<String> {
    match values {
        [] => None,
        [first, rest @ ..] if rest.iter().all(|one| one == first) => Some(text(first)),
        values if values.len() > MAX_NUMBERS => None,
        values => {
            let all: Vec<String> = values.iter().map(text).collect();
            Some(format!("\"{}\"", all.join(",").replace('"', "")))
        }
    }
}

/// Shortest decimal text that parses to the same float; infinities and NaN as quoted strings: `"inf"`.
fn float(value: f32) -> String {
    let text = format!("{value:?}");
    if value.is_finite() { text } else { format!("\"{}\"", text.to_ascii_lowercase()) }
}
