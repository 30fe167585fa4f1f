//! Search for sizes of open extents (extents that neither the model nor an option sets) with which shape inference
//! succeeds.

use std::collections::BTreeSet;

use super::error::{ImportError, shown};
use super::extents::{dims, is_open, open_extents_warning, tensor_type};
use super::network::OnnxNetwork;
use super::shape_inference::trace;
use super::{ImportOptions, proto};
use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;

/// Sizes that are tried, in order, for open extents other than batches: typical image sizes, sequence lengths and audio
/// lengths. Batches have size 1.
const SIZES: [u64; 12] = [224, 256, 640, 512, 576, 1024, 16_000, 128, 64, 32, 16, 1];

/// Maximum number of size assignments that are tried before the import fails.
const MAX_TRIES: usize = 64;

/// Maximum number of open extents for which sizes are tried. For a model with more, no size is assumed.
const MAX_SLOTS: usize = 64;

/// Extent that neither the model nor an option sets.
#[derive(Debug, Clone, PartialEq, Eq)]
enum OpenExtent<'a> {
    /// Extent with a dimension parameter, by the parameter's name.
    Named(&'a str),
    /// Extent without a dimension parameter, by the name of the input and the position of the axis, from 0.
    Axis(&'a str, usize),
}

impl OpenExtent<'_> {
    /// Name of the extent in messages: `height` for a dimension parameter, else input and axis as in `x[1]`.
    fn shown(&self) -> String {
        match self {
            Self::Named(name) => shown(name),
            Self::Axis(input, axis) => format!("{}[{axis}]", shown(input)),
        }
    }
}

/// Infers the network of a model, with assumed sizes for its open extents. Returns the network, and pairs (name, size)
/// of the assumed sizes in the order of the model's inputs. No size is assumed if neither the model nor an option gives
/// the rank of an input, or if there are more than [`MAX_SLOTS`] open extents.
///
/// # Errors
/// [`ImportError::InvalidOption`] if an option does not match the model. [`ImportError::Faulty`] if the model is
/// malformed, unsupported or too large, or if no tried assignment of sizes passes shape inference.
pub(super) fn infer_network<'a>(
    graph: &'a proto::OnnxGraph,
    opset: i64,
    options: &ImportOptions<'_>,
) -> Result<(OnnxNetwork<'a>, Vec<(String, u64)>), ImportError> {
    let slots = slots(graph, options).unwrap_or_default();
    if slots.is_empty() {
        return trace(graph, opset, options).map(|network| (network, Vec::new()));
    }
    let mut first: Option<Box<Diagnostic>> = None;
    for sizes in tries(&slots) {
        let chosen: Vec<(&OpenExtent<'_>, u64)> =
            slots.iter().map(|(slot, _)| slot).zip(sizes).collect();
        let ExtentAssignment { sizes, shapes } = with(graph, options, &chosen);
        let assumed = ImportOptions { sizes: &sizes, shapes: &shapes, ..options.clone() };
        match trace(graph, opset, &assumed) {
            Ok(network) => {
                let assumed = chosen.iter().map(|(slot, size)| (slot.shown(), *size));
                return Ok((network, assumed.collect()));
            }
            Err(ImportError::InvalidOption(line)) => return Err(ImportError::InvalidOption(line)),
            Err(ImportError::Faulty(fault)) => match fault.code {
                Code::ImportOperands | Code::ImportShape => first = first.or(Some(fault)),
                _ => return Err(fault.into()),
            },
        }
    }
    Err(no_fit_error(first, &slots, graph).into())
}

/// Error if no assignment of sizes succeeds: `first`, the error of the first assignment, with a note and a help text on
/// the open extents.
fn no_fit_error(
    first: Option<Box<Diagnostic>>,
    slots: &[(OpenExtent<'_>, OpenExtentInfo)],
    graph: &proto::OnnxGraph,
) -> Box<Diagnostic> {
    let open: Vec<String> = slots.iter().map(|(slot, _)| format!("`{}`", slot.shown())).collect();
    let Some(first) = first else {
        let message = "the model leaves extents open";
        return Box::new(Diagnostic::without_span(Code::ImportShape, message));
    };
    let warning = open_extents_warning(&open, graph);
    let mut found = *first;
    found
        .notes
        .extend(warning.iter().map(|warning| format!("{}; other sizes fail too", warning.message)));
    found.help.extend(warning.into_iter().flat_map(|warning| warning.help));
    Box::new(found)
}

/// Properties of an open extent that guide the search for its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OpenExtentInfo {
    is_batch: bool,
    /// True if the model declares the extent as 0, which may be the actual extent or mean "unknown".
    is_zero: bool,
}

/// Open extents of the model's inputs with their properties, in the order of the inputs. Inputs whose shape an option
/// sets have none. `None` if another input has an unknown rank or is no tensor, or if there are more than
/// [`MAX_SLOTS`].
fn slots<'a>(
    graph: &'a proto::OnnxGraph,
    options: &ImportOptions<'_>,
) -> Option<Vec<(OpenExtent<'a>, OpenExtentInfo)>> {
    let mut slots: Vec<(OpenExtent<'a>, OpenExtentInfo)> = Vec::new();
    let constants: BTreeSet<&str> =
        graph.initializer.iter().map(|tensor| tensor.name.as_str()).collect();
    for input in graph.input.iter().filter(|input| !constants.contains(input.name.as_str())) {
        if options.shapes.iter().any(|(name, _)| *name == input.name) {
            continue;
        }
        tensor_type(input)?.shape.as_ref()?;
        let dims = dims(input);
        for (axis, dim) in dims.iter().enumerate().filter(|(_, dim)| is_open(dim, options)) {
            // Some exporters use `?` as the name of every open extent.
            let name = dim.dim_param.as_deref().filter(|name| !["", "?"].contains(name));
            let slot = name.map_or(OpenExtent::Axis(&input.name, axis), OpenExtent::Named);
            let says_so = name.is_some_and(|name| name.to_ascii_lowercase().contains("batch"));
            let is_batch = says_so || (axis == 0 && dims.len() > 1);
            if let Some((_, known)) = slots.iter_mut().find(|(known, _)| *known == slot) {
                known.is_batch |= is_batch;
                continue;
            }
            if slots.len() == MAX_SLOTS {
                return None;
            }
            let is_zero = dim.dim_value == Some(0);
            slots.push((slot, OpenExtentInfo { is_batch, is_zero }));
        }
    }
    Some(slots)
}

/// Assignments of sizes to the open extents, in the order in which they are tried; at most [`MAX_TRIES`], each with one
/// size per extent. Batches have size 1. The first assignments give all other extents one size, for each of [`SIZES`];
/// the next ones set a subset of these extents to 1. An extent that the model declares as 0 has size 0 in the first
/// assignments, also a batch; later ones, as far as the limit allows, treat it like any other.
fn tries(slots: &[(OpenExtent<'_>, OpenExtentInfo)]) -> Vec<Vec<u64>> {
    let is_free = |(_, traits): &&(OpenExtent<'_>, OpenExtentInfo)| !traits.is_batch;
    let others = slots.iter().filter(is_free).count();
    let some_ones = if others > 1 { 1_u64 << others.min(16) } else { 1 };
    let mut tries: Vec<Vec<u64>> = Vec::new();
    for keeps_zeros in [true, false] {
        for ones in 0..some_ones {
            for size in SIZES {
                let sizes = sizes(slots, size, ones, keeps_zeros);
                if tries.len() < MAX_TRIES && !tries.contains(&sizes) {
                    tries.push(sizes);
                }
            }
        }
    }
    tries
}

/// Sizes of the open extents `slots`, in order: `size` for each, with three exceptions. Batches are 1. The k-th extent
/// other than a batch is 1 if bit k of `ones` is set. If `keeps_zeros` is true, extents that the model declares as 0
/// are 0, also batches.
fn sizes(
    slots: &[(OpenExtent<'_>, OpenExtentInfo)],
    size: u64,
    ones: u64,
    keeps_zeros: bool,
) -> Vec<u64> {
    let mut rest = ones;
    let mut sizes = Vec::new();
    for (_, traits) in slots {
        let is_one = traits.is_batch || rest & 1 == 1;
        rest >>= u32::from(!traits.is_batch);
        sizes.push(match (traits.is_zero && keeps_zeros, is_one) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => size,
        });
    }
    sizes
}

/// Assignment of sizes to open extents, in the form of [`ImportOptions`]: `sizes` are values of dimension parameters,
/// `shapes` are shapes of inputs.
struct ExtentAssignment {
    sizes: Vec<(String, u64)>,
    shapes: Vec<(String, Vec<u64>)>,
}

fn with(
    graph: &proto::OnnxGraph,
    options: &ImportOptions<'_>,
    chosen: &[(&OpenExtent<'_>, u64)],
) -> ExtentAssignment {
    let mut with =
        ExtentAssignment { sizes: options.sizes.to_vec(), shapes: options.shapes.to_vec() };
    for (slot, size) in chosen {
        if let OpenExtent::Named(name) = slot {
            with.sizes.push(((*name).to_owned(), *size));
        }
    }
    for input in &graph.input {
        let is_here = |slot: &OpenExtent<'_>| matches!(slot, OpenExtent::Axis(name, _) if *name == input.name);
        if !chosen.iter().any(|(slot, _)| is_here(slot)) {
            continue;
        }
        let known = ImportOptions { sizes: &with.sizes, ..options.clone() };
        let size = |(axis, dim): (usize, &proto::OnnxDimension)| {
            let own = OpenExtent::Axis(&input.name, axis);
            let chosen = chosen.iter().find(|(slot, _)| **slot == own).map(|(_, size)| *size);
            chosen.or_else(|| super::extents::size(dim, &known)).unwrap_or(1)
        };
        let shape = dims(input).iter().enumerate().map(size).collect();
        with.shapes.push((input.name.clone(), shape));
    }
    with
}
