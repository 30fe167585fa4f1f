//! Extents of a model's inputs and outputs: constants, or dimension parameters that the user sets.

use std::collections::{BTreeMap, BTreeSet};

use super::call::ShapedTensor;
use super::elements::scalar;
use super::error::{ImportError, listed, shown};
use super::{ImportOptions, proto};
use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;

/// Maximum number of open extents that are collected for the error message; further ones are ignored.
const MAX_OPEN: usize = 1000;

/// Checks the names in the options against the model's inputs: a dimension parameter in `sizes` must occur in their
/// shapes, and a name in `shapes` must be the name of an input.
///
/// # Errors
/// [`ImportError::InvalidOption`] for the first name that matches none.
pub(super) fn check_option_names(
    graph: &proto::OnnxGraph,
    options: &ImportOptions<'_>,
) -> Result<(), ImportError> {
    let dims = graph.input.iter().flat_map(dims);
    let names: BTreeSet<&str> = dims.filter_map(|dim| dim.dim_param.as_deref()).collect();
    let inputs: BTreeSet<&str> = graph.input.iter().map(|input| input.name.as_str()).collect();
    let there = |names: &BTreeSet<&str>| match names.len() {
        0 => "there is none".to_owned(),
        _ => {
            let names: Vec<String> = names.iter().take(8).map(|name| shown(name)).collect();
            format!("there is `{}`", names.join("`, `"))
        }
    };
    for (name, _) in options.sizes {
        if !names.contains(name.as_str()) {
            let line = format!("`--set {name}=…`: no input has a dimension of that name");
            return Err(ImportError::InvalidOption(format!("{line}; {}", there(&names))));
        }
    }
    for (name, _) in options.shapes {
        if !inputs.contains(name.as_str()) {
            let line = format!("`--shape {name}=…`: the model has no input of that name");
            return Err(ImportError::InvalidOption(format!("{line}; {}", there(&inputs))));
        }
    }
    Ok(())
}

pub(super) fn tensor_type(value: &proto::OnnxValueInfo) -> Option<&proto::OnnxTensorType> {
    value.r#type.as_ref()?.tensor.as_ref()
}

/// End of the message that a model input is not a tensor, with the kind of the input: `is a sequence`.
pub(super) fn no_tensor(value: &proto::OnnxValueInfo) -> &'static str {
    match &value.r#type {
        Some(own) if own.sequence.is_some() => "is a sequence",
        Some(own) if own.optional.is_some() => "is optional",
        Some(own) if own.map.is_some() => "is a map",
        Some(own) if own.sparse_tensor.is_some() => "is a sparse tensor",
        _ => "is not a tensor",
    }
}

/// Extents that the model declares for an input or output, outermost first; empty if it declares no shape.
pub(super) fn dims(value: &proto::OnnxValueInfo) -> &[proto::OnnxDimension] {
    let shape = tensor_type(value).and_then(|of| of.shape.as_ref());
    shape.map_or(&[], |shape| &shape.dim)
}

/// Extent of an axis: the value that an option sets for its dimension parameter, or the constant that the model
/// declares. `None` if the extent is open: its dimension parameter has no value in the options, or the constant is
/// missing, 0 or negative.
pub(super) fn size(dim: &proto::OnnxDimension, options: &ImportOptions<'_>) -> Option<u64> {
    if let Some(name) = dim.dim_param.as_ref().filter(|name| !name.is_empty()) {
        return options.sizes.iter().find(|(known, _)| known == name).map(|(_, size)| *size);
    }
    dim.dim_value.and_then(|value| u64::try_from(value).ok()).filter(|size| *size > 0)
}

/// True if the extent is open, so that [`size`] is `None`.
pub(super) fn is_open(dim: &proto::OnnxDimension, options: &ImportOptions<'_>) -> bool {
    size(dim, options).is_none()
}

/// Shapes and element types that the model declares for intermediate results and outputs, by tensor name. Tensors with
/// an open extent, without a shape, or with an unsupported element type are omitted.
pub(super) fn declared<'a>(
    graph: &'a proto::OnnxGraph,
    options: &ImportOptions<'_>,
) -> BTreeMap<&'a str, ShapedTensor> {
    let one = |value: &'a proto::OnnxValueInfo| {
        let own = tensor_type(value)?;
        let shape = own.shape.as_ref()?.dim.iter().map(|dim| size(dim, options));
        let shape = shape.collect::<Option<Vec<_>>>()?;
        Some((value.name.as_str(), ShapedTensor::new(scalar(own.elem_type)?, shape)))
    };
    graph.value_info.iter().chain(&graph.output).filter_map(one).collect()
}

/// Shape of an input, outermost extent first: the shape in the options, else the one in the model with dimension
/// parameters replaced by their values. The shape is incomplete if an extent is open (neither the model nor an option
/// sets it): open extents are missing from it, and a description of each is added to `open`, such as `batch` (a
/// dimension parameter), `axis 1 of x` or `the shape of x`. `open` has no duplicates and at most [`MAX_OPEN`] entries.
/// The caller must reject the shape if `open` is not empty.
///
/// # Errors
/// [`ImportError::InvalidOption`] if the shape in the options has another rank than the model's.
pub(super) fn given(
    input: &proto::OnnxValueInfo,
    options: &ImportOptions<'_>,
    open: &mut Vec<String>,
) -> Result<Vec<u64>, ImportError> {
    let name = shown(&input.name);
    let mut leave = |what: String| {
        if open.len() < MAX_OPEN && !open.contains(&what) {
            open.push(what);
        }
    };
    let requested = options.shapes.iter().find(|(known, _)| *known == input.name);
    let own = tensor_type(input).and_then(|of| of.shape.as_ref());
    if let Some((_, shape)) = requested {
        if let Some(rank) = own.map(|own| own.dim.len()).filter(|rank| *rank != shape.len()) {
            let line = format!("`--shape {name}=…`: {} for {rank} axes", listed(shape));
            return Err(ImportError::InvalidOption(line));
        }
        return Ok(shape.clone());
    }
    let Some(own) = own else {
        leave(format!("the shape of `{name}`"));
        return Ok(Vec::new());
    };
    let mut shape = Vec::new();
    for (k, dim) in own.dim.iter().enumerate() {
        match (size(dim, options), &dim.dim_param) {
            (Some(size), _) => shape.push(size),
            (None, Some(param)) => leave(format!("`{}`", shown(param))),
            (None, None) => leave(format!("axis {k} of `{name}`")),
        }
    }
    Ok(shape)
}

/// Error `import::shape` that lists the first 8 of `open`, the descriptions of the open extents; `None` if `open` is
/// empty. If `graph` has a dimension parameter, the help text shows how to set the first one.
pub(super) fn open_extents_warning(
    open: &[String],
    graph: &proto::OnnxGraph,
) -> Option<Diagnostic> {
    if open.is_empty() {
        return None;
    }
    let most = 8;
    let mut listed = open.iter().take(most).cloned().collect::<Vec<_>>().join(", ");
    if open.len() > most {
        listed.push_str(&format!(" and {} more", open.len() - most));
    }
    let mut found = Diagnostic::without_span(
        Code::ImportShape,
        format!("the model leaves extents open: {listed}"),
    );
    let params = graph.input.iter().flat_map(dims).find_map(|dim| dim.dim_param.as_ref());
    found.help.extend(params.map(|name| format!("set them: `--set {}=1`", shown(name))));
    let help = "or set the shape of an input: `--shape NAME=1,3,224,224`";
    Some(found.help(help))
}
