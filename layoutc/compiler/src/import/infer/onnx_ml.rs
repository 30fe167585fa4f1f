//! Shape inference for operators of the domain `ai.onnx.ml` (classical machine learning).

use crate::base::dtype::Scalar;
use crate::import::call::{OnnxCall, ShapedTensor, check_overflow, extent};
use crate::import::elements::element_type;
use crate::import::error::{ShapeError, ShapeResult, listed, mismatch};

/// Number of the string type in ONNX's `TensorProto.DataType`, which layoutc does not have.
const TEXT: i64 = 8;

/// Results of an operator of the domain `ai.onnx.ml`.
///
/// # Errors
/// [`ShapeError::Operator`] if there is no shape rule for the operator, [`ShapeError::Mismatch`] if its operands do not
/// match. [`ShapeError::ElementType`] for results of a type that layoutc does not have, such as strings,
/// [`ShapeError::NotTensor`] for maps.
pub(super) fn learned(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    let input = call.input(0)?;
    let like = |dtype| Ok(vec![ShapedTensor::new(dtype, input.shape.clone())]);
    match call.node.op_type.as_str() {
        "Binarizer" | "Imputer" => like(input.dtype),
        "Scaler" | "Normalizer" => like(Scalar::F32),
        "LabelEncoder" => like(label(call)?),
        "ArrayFeatureExtractor" => {
            let taken = call.shape(1)?.iter().try_fold(1_u64, |all, k| all.checked_mul(*k));
            let taken = check_overflow(taken)?;
            let outer = match input.shape.split_last() {
                Some((_, [])) => [1].as_slice(),
                Some((_, outer)) => outer,
                None => return mismatch("a scalar has no features"),
            };
            Ok(vec![ShapedTensor::new(input.dtype, [outer, &[taken]].concat())])
        }
        "OneHotEncoder" => {
            let strings = call.attribute("cats_strings").map_or(0, |own| own.strings.len());
            let categories = call.integers("cats_int64s").map_or(0, <[i64]>::len).max(strings);
            let categories = check_overflow(u64::try_from(categories).ok())?;
            let shape = [input.shape.as_slice(), &[categories]].concat();
            Ok(vec![ShapedTensor::new(Scalar::F32, shape)])
        }
        "FeatureVectorizer" => {
            let mut columns = 0_u64;
            for k in 0..call.inputs.len() {
                let own = call.shape(k)?.last().copied().unwrap_or(1);
                columns = check_overflow(columns.checked_add(own))?;
            }
            Ok(vec![ShapedTensor::new(Scalar::F32, vec![rows(&input.shape)?, columns])])
        }
        "LinearRegressor" => targets(call, Scalar::F32, "targets"),
        "TreeEnsembleRegressor" => targets(call, Scalar::F32, "n_targets"),
        "TreeEnsemble" => targets(call, input.dtype, "n_targets"),
        "SVMRegressor" => Ok(vec![ShapedTensor::new(Scalar::F32, vec![rows(&input.shape)?, 1])]),
        "LinearClassifier" => classes(call, "classlabels_ints"),
        "TreeEnsembleClassifier" => classes(call, "classlabels_int64s"),
        "ZipMap" | "CastMap" | "DictVectorizer" => Err(ShapeError::NotTensor("maps")),
        _ => Err(ShapeError::Operator),
    }
}

fn rows(shape: &[u64]) -> ShapeResult<u64> {
    match shape {
        [_] => Ok(1),
        [rows, _] => Ok(*rows),
        _ => mismatch(format!("{} is not the shape of rows of features", listed(shape))),
    }
}

fn targets(call: &OnnxCall<'_>, dtype: Scalar, name: &str) -> ShapeResult<Vec<ShapedTensor>> {
    let count = extent(call.integer(name).unwrap_or(1))?;
    Ok(vec![ShapedTensor::new(dtype, vec![rows(call.shape(0)?)?, count])])
}

/// Results of a classifier: the class of each row (`i64`), and a score for each row and class (`f32`). `name` is the
/// attribute that lists the class labels. The error is [`ShapeError::ElementType`] if it has no integer labels, because
/// string labels are not supported.
fn classes(call: &OnnxCall<'_>, name: &str) -> ShapeResult<Vec<ShapedTensor>> {
    let Some(labels) = call.integers(name).filter(|labels| !labels.is_empty()) else {
        return Err(ShapeError::ElementType(TEXT));
    };
    let (rows, classes) =
        (rows(call.shape(0)?)?, check_overflow(u64::try_from(labels.len()).ok())?);
    Ok(vec![
        ShapedTensor::new(Scalar::I64, vec![rows]),
        ShapedTensor::new(Scalar::F32, vec![rows, classes]),
    ])
}

/// Element type of the result of `LabelEncoder`; the error is [`ShapeError::ElementType`] for strings and other types
/// that layoutc does not have.
fn label(call: &OnnxCall<'_>) -> ShapeResult<Scalar> {
    if let Some(own) = call.attribute("values_tensor").and_then(|own| own.t.as_ref()) {
        return element_type(own.data_type);
    }
    let is_there = |name: &str| call.attribute(name).is_some();
    match () {
        () if is_there("values_strings") || is_there("classes_strings") => {
            Err(ShapeError::ElementType(TEXT))
        }
        () if is_there("values_floats") => Ok(Scalar::F32),
        () => Ok(Scalar::I64),
    }
}
