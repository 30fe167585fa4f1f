//! Map from the names of a model to the names of its manifest, with the order of axes and the source of constants.

use serde_json::{Value, json};

use super::elements::ConstantElements;
use super::letter_assignment::LetterAssignment;
use super::network::{NetworkTensor, OnnxNetwork};
use crate::base::dtype::Scalar;

/// Object that `import --format json` prints, with three lists of objects:
/// - `nodes`: manifest name (`name`), name in the model (`model`), ONNX operator (`op`)
/// - `tensors`: name in the model (`model`), manifest name (`name`), letters of the axes in the model's order (`axes`)
/// - `constants`: manifest name (`name`), name in the model (`model`), origin of the elements (`source`: `file`,
///   `elements` or `computed`), and for the origin `elements` the elements (`elements`)
///
/// `names` are the manifest names of the tensors and `nodes` those of the operators, by position in the network.
/// `is_written` is true for the positions of the tensors that the manifest declares.
pub(super) fn map(
    network: &OnnxNetwork<'_>,
    letters: &LetterAssignment,
    names: &[String],
    nodes: &[String],
    is_written: &dyn Fn(usize) -> bool,
) -> Value {
    let nodes = network.operators.iter().zip(nodes).map(|(operator, name)| {
        json!({ "name": name, "model": operator.node.name, "op": operator.node.op_type })
    });
    let root = |k: usize| letters.same.get(k).copied().unwrap_or(k);
    let name = |k: usize| names.get(root(k)).map_or("", String::as_str);
    let written = || network.tensors.iter().enumerate().filter(|(k, _)| is_written(root(*k)));
    let tensors = written().filter(|(_, tensor)| !tensor.name.is_empty()).map(|(k, tensor)| {
        let own = letters.of.get(k).map_or("", String::as_str);
        let axes: Vec<String> = own.chars().map(String::from).collect();
        json!({ "model": tensor.name, "name": name(k), "axes": axes })
    });
    let constants = written().filter(|(_, tensor)| tensor.is_constant);
    let constants = constants.map(|(k, tensor)| constant(tensor, name(k)));
    json!({
        "nodes": nodes.collect::<Vec<_>>(),
        "tensors": tensors.collect::<Vec<_>>(),
        "constants": constants.collect::<Vec<_>>(),
    })
}

fn constant(tensor: &NetworkTensor<'_>, name: &str) -> Value {
    let known = tensor.shaped.known.as_ref().filter(|_| !tensor.is_stored);
    let source = match (tensor.is_stored, known) {
        (true, _) => "file",
        (false, Some(_)) => "elements",
        (false, None) => "computed",
    };
    let mut object = json!({ "name": name, "model": tensor.name, "source": source });
    if let Some(known) = known {
        object["elements"] = match known {
            ConstantElements::Integers(values) => values.clone().into(),
            ConstantElements::Floats(values) => {
                values.iter().map(|value| float(*value, tensor.shaped.dtype)).collect()
            }
        };
    }
    object
}

/// JSON number for `value`: the shortest one that parses to the same value of type `dtype`. Infinities and NaN become
/// strings: `"inf"`.
fn float(value: f64, dtype: Scalar) -> Value {
    if !value.is_finite() {
        return format!("{value:?}").to_ascii_lowercase().into();
    }
    #[expect(clippy::cast_possible_truncation, reason = "narrower types have no more digits")]
    let short = format!("{:?}", value as f32).parse().unwrap_or(value);
    if dtype == Scalar::F64 { value.into() } else { short.into() }
}
